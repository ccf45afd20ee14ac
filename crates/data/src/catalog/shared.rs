//! Files that more than one dataset reads: what one learns from, another only takes the texts of.

use super::DataFile;

pub(super) const WMD_TWITTER: DataFile = DataFile {
    path: "wmd/twitter.tsv.gz",
    bytes: 76_914,
    sha256: "2a3c86a1d22159bfbc44e6a4d0a116e121e6a1c21a60dd8b85c6aa23b959510d",
};
pub(super) const ECBPLUS_DOCS: DataFile = DataFile {
    path: "ecbplus/docs.jsonl.gz",
    bytes: 1_872_400,
    sha256: "8f6740853fec6cb40043dbc9c9bbb81419e60557180cc2c9a28ddf4682e1af68",
};
pub(super) const STSB_TRAIN: DataFile = DataFile {
    path: "stsb/train.tsv",
    bytes: 882_700,
    sha256: "ccefbd64f7af0c57c560eb2d97a035fff337be6f469fa66aeda03620bfe5d077",
};
pub(super) const STSB_DEV: DataFile = DataFile {
    path: "stsb/dev.tsv",
    bytes: 253_657,
    sha256: "5c5d65b88ffe327867d1b9813a67addbb9dfffb812976da40e0f11cff356aa53",
};
pub(super) const MRPC_TRAIN: DataFile = DataFile {
    path: "mrpc/train.tsv",
    bytes: 919_448,
    sha256: "41ef57a1e783c83230609943bc772106bda1b4e3d89bf170cc49a3644117366b",
};
pub(super) const MRPC_DEV: DataFile = DataFile {
    path: "mrpc/dev.tsv",
    bytes: 103_246,
    sha256: "a7d5a90703e679e0416cbe099c87e3da31cc387ce169bfc92ba4671864faecf7",
};
pub(super) const RTE_TRAIN: DataFile = DataFile {
    path: "rte/train.tsv",
    bytes: 846_223,
    sha256: "fad8953c326fc4725f92215d649c9ffd0bc6b8042631daee69669edc8351cbda",
};
pub(super) const RTE_DEV: DataFile = DataFile {
    path: "rte/dev.tsv",
    bytes: 90_340,
    sha256: "08d3d632056457367c90dbce3534cc1c4ded9101bfb2f7115012722a4c9e1e2c",
};
pub(super) const TREC_TRAIN: DataFile = DataFile {
    path: "qc_kelp/train.klp.gz",
    bytes: 1_420_295,
    sha256: "ffae7694fc5664e228e4daf30bf17b93d987276e6c38cddca485a5a63beb0175",
};
pub(super) const FORUM_TRAIN_PART2: DataFile = DataFile {
    path: "cqa_semeval2016/train_part2.jsonl.gz",
    bytes: 379_594,
    sha256: "a4ec2e85be392fc2b7e61ac968cf1a5fc14f845c8174ee369b57cb752d80c2cf",
};
pub(super) const FORUM_TRAIN_PART1_PARTIAL: DataFile = DataFile {
    path: "cqa_semeval2016/train_part1_partial.jsonl.gz",
    bytes: 684_300,
    sha256: "41cd50e57cd34c9a98f2d87fba96e28063f1870000dd0ac2104be388d44508bf",
};
pub(super) const FORUM_TRAIN_2015DEV: DataFile = DataFile {
    path: "cqa_semeval2016/train_2015dev.jsonl.gz",
    bytes: 167_810,
    sha256: "3b2fcf16fb5f0b28b6ea688282232611c956823ca109ca6fa1544be49ff00b71",
};
pub(super) const FORUM_TRAIN_2015TEST: DataFile = DataFile {
    path: "cqa_semeval2016/train_2015test.jsonl.gz",
    bytes: 199_926,
    sha256: "061c0cfd6b067f873c7c97b9aa7c2bd5ace5ca9864af2fa2e62cc43c500b8bba",
};
pub(super) const FORUM_DEV: DataFile = DataFile {
    path: "cqa_semeval2016/dev.jsonl.gz",
    bytes: 243_387,
    sha256: "456f57d59390f1f92b16dcb40b8433ec09913aae6ff0104461d9ac7596884ed3",
};
pub(super) const CLINC150_TRAIN: DataFile = DataFile {
    path: "intent/clinc150/train.tsv.gz",
    bytes: 154_086,
    sha256: "752fdf3de10a5f22d356ddcb03da567f29351086daceb0399132887eb8aefd2a",
};
pub(super) const SNIPS_TRAIN: DataFile = DataFile {
    path: "intent/snips/train.tsv.gz",
    bytes: 202_539,
    sha256: "bff0d78f856b195aecbf3f7bcbf8f032dea0fdb7bbf9091edaa8586b67cafaeb",
};
pub(super) const ATIS_TRAIN: DataFile = DataFile {
    path: "intent/atis/train.tsv.gz",
    bytes: 101_047,
    sha256: "2ee4df155aabe85bf32be6003abc036ef151ea46f4a1793da369d481e8884951",
};

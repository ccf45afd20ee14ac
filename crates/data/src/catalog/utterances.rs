//! Utterances with intents by domain, and texts without labels (paper 2, matrix sketching for sentence representations).

use std::path::Path;

use super::{DataFile, Dataset, Holds, find, locate, wrong_kind};
use crate::documents::LabelledDocuments;
use crate::error::DataError;
use crate::intents::{self, IntentLayout};
use crate::texts::{self, TextLayout};

/// Loads utterances with intents by the name of their dataset: one set of documents a domain, labelled by intent, with a split of its own.
///
/// ```
/// let domains = landmark_data::catalog::load_intents("utterances", None)?;
/// assert_eq!(domains.iter().map(|domain| domain.name()).collect::<Vec<_>>(), ["home", "travel"]);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
///
/// # Errors
/// As [`locate`] and [`LabelledDocuments::read`]; [`DataError::WrongKind`] for a dataset of another kind.
pub fn load_intents(name: &str, data_dir: Option<&Path>) -> Result<Vec<LabelledDocuments>, DataError> {
    let dataset = find(name)?;
    match &dataset.holds {
        Holds::EmbeddedIntents => crate::embedded::utterances(),
        Holds::Intents { layout } => intents::read(name, &locate(name, data_dir)?, *layout),
        other => Err(wrong_kind(dataset, other, "utterances with intents")),
    }
}

/// Loads texts without labels, in the order of the files; `each` gets one after the other.
///
/// # Errors
/// As [`locate`]; [`DataError::WrongKind`] for a dataset of another kind; a malformed line, named by file and line.
pub fn load_texts(name: &str, data_dir: Option<&Path>, each: &mut dyn FnMut(&str)) -> Result<(), DataError> {
    let dataset = find(name)?;
    let Holds::Texts { layouts } = dataset.holds else {
        return Err(wrong_kind(dataset, &dataset.holds, "texts without labels"));
    };
    for (path, layout) in locate(name, data_dir)?.iter().zip(layouts) {
        texts::read(path, *layout, each)?;
    }
    Ok(())
}

pub(super) static UTTERANCES: &[Dataset] = &[
    Dataset {
        name: "utterances",
        title: "Embedded sample: requests at home and on a journey, with templates",
        holds: Holds::EmbeddedIntents,
        files: &[],
        licence: "MIT OR Apache-2.0 (written for this project)",
        how_to_get: "ships inside",
        caveat: "a sample for trying things out, no benchmark",
        published: None,
    },
    Dataset {
        name: "clinc150",
        title: "CLINC150: ten domains of fifteen intents",
        holds: Holds::Intents { layout: IntentLayout::Domains { outside: "oos" } },
        files: &[
            DataFile {
                path: "intent/clinc150/train.tsv.gz",
                bytes: 154_086,
                sha256: "752fdf3de10a5f22d356ddcb03da567f29351086daceb0399132887eb8aefd2a",
            },
            DataFile {
                path: "intent/clinc150/test.tsv.gz",
                bytes: 69_192,
                sha256: "8d03cee39ccaf84900869494552a426cc5c3ea121d149756a8bac485dfa4e7d2",
            },
            DataFile {
                path: "intent/clinc150/domains.json",
                bytes: 3_818,
                sha256: "b947b579d3b8e74b06f93b01083d8efaff2888b43a3e362533bd88a6e1211b3a",
            },
        ],
        licence: "CC BY 3.0",
        how_to_get: "`data/data_full.json` and `data/domains.json` of https://github.com/clinc/oos-eval at commit 828f809, \
                     as columns `intent text`",
        caveat: "15,000/4,500 utterances; those outside of all domains (`oos`) are left out; the validation part only serves as text without labels",
        published: None,
    },
    Dataset {
        name: "snips",
        title: "SNIPS 2017 custom intents",
        holds: Holds::Intents { layout: IntentLayout::One },
        files: &[
            DataFile {
                path: "intent/snips/train.tsv.gz",
                bytes: 202_539,
                sha256: "bff0d78f856b195aecbf3f7bcbf8f032dea0fdb7bbf9091edaa8586b67cafaeb",
            },
            DataFile {
                path: "intent/snips/test.tsv.gz",
                bytes: 12_846,
                sha256: "65c495d94edc402fa3d035b510faa33c61ad8332604675494daaeed37fa7c8bb",
            },
        ],
        licence: "CC0 1.0",
        how_to_get: "`2017-06-custom-intent-engines/` of https://github.com/sonos/nlu-benchmark, as columns `intent text`",
        caveat: "13,784/700 utterances; the usual split holds 700 of the training ones out for development",
        published: None,
    },
    Dataset {
        name: "atis",
        title: "ATIS: requests about flights",
        holds: Holds::Intents { layout: IntentLayout::One },
        files: &[
            DataFile {
                path: "intent/atis/train.tsv.gz",
                bytes: 101_047,
                sha256: "2ee4df155aabe85bf32be6003abc036ef151ea46f4a1793da369d481e8884951",
            },
            DataFile {
                path: "intent/atis/test.tsv.gz",
                bytes: 15_241,
                sha256: "0235b17c3afc57996b9e5af9ebfb5bf0e586a0e60dd43a67353636f16e9550be",
            },
        ],
        licence: "unstated",
        how_to_get: "`data/atis.{train,test}.w-intent.iob` of https://github.com/yvchen/JointSLU, as columns `intent text slots`",
        caveat: "4,978/893 utterances; several intents of one utterance are one label joined by `#`, some of which only the test part has",
        published: None,
    },
    Dataset {
        name: "sentences",
        title: "Texts without labels: utterances, questions, sentences, tweets, forum posts",
        holds: Holds::Texts {
            layouts: &[
                TextLayout::Tsv(&["text"]),
                TextLayout::Tsv(&["text"]),
                TextLayout::Tsv(&["text"]),
                TextLayout::Tsv(&["text"]),
                TextLayout::Tsv(&["text"]),
                TextLayout::KelpText("quest"),
                TextLayout::Tsv(&["sentence1", "sentence2"]),
                TextLayout::Tsv(&["sentence1", "sentence2"]),
                TextLayout::Tsv(&["sentence1", "sentence2"]),
                TextLayout::Tsv(&["sentence1", "sentence2"]),
                TextLayout::Tsv(&["sentence1", "sentence2"]),
                TextLayout::Tsv(&["sentence1", "sentence2"]),
                TextLayout::Tsv(&["premise", "hypothesis"]),
                TextLayout::Tsv(&["premise", "hypothesis"]),
                TextLayout::Tsv(&["premise", "hypothesis"]),
                TextLayout::Threads,
                TextLayout::Threads,
                TextLayout::Threads,
                TextLayout::Threads,
                TextLayout::Threads,
                TextLayout::SentenceTokens,
            ],
        },
        files: &[
            DataFile {
                path: "intent/clinc150/train.tsv.gz",
                bytes: 154_086,
                sha256: "752fdf3de10a5f22d356ddcb03da567f29351086daceb0399132887eb8aefd2a",
            },
            DataFile {
                path: "intent/clinc150/val.tsv.gz",
                bytes: 38_596,
                sha256: "bb4c020f562e939840459bf7735d698b89658519ae13ac25c3a4e621901cab16",
            },
            DataFile {
                path: "intent/snips/train.tsv.gz",
                bytes: 202_539,
                sha256: "bff0d78f856b195aecbf3f7bcbf8f032dea0fdb7bbf9091edaa8586b67cafaeb",
            },
            DataFile {
                path: "intent/atis/train.tsv.gz",
                bytes: 101_047,
                sha256: "2ee4df155aabe85bf32be6003abc036ef151ea46f4a1793da369d481e8884951",
            },
            DataFile {
                path: "wmd/twitter.tsv.gz",
                bytes: 76_914,
                sha256: "2a3c86a1d22159bfbc44e6a4d0a116e121e6a1c21a60dd8b85c6aa23b959510d",
            },
            DataFile {
                path: "qc_kelp/train.klp.gz",
                bytes: 1_420_295,
                sha256: "ffae7694fc5664e228e4daf30bf17b93d987276e6c38cddca485a5a63beb0175",
            },
            DataFile {
                path: "stsb/train.tsv",
                bytes: 882_700,
                sha256: "ccefbd64f7af0c57c560eb2d97a035fff337be6f469fa66aeda03620bfe5d077",
            },
            DataFile {
                path: "stsb/dev.tsv",
                bytes: 253_657,
                sha256: "5c5d65b88ffe327867d1b9813a67addbb9dfffb812976da40e0f11cff356aa53",
            },
            DataFile {
                path: "stsb/test.tsv",
                bytes: 203_119,
                sha256: "e82aed16d8aa8b6befe7e8faa2dd73d696f144f540bed8b80d7f8a87326e44bb",
            },
            DataFile {
                path: "mrpc/train.tsv",
                bytes: 919_448,
                sha256: "41ef57a1e783c83230609943bc772106bda1b4e3d89bf170cc49a3644117366b",
            },
            DataFile {
                path: "mrpc/dev.tsv",
                bytes: 103_246,
                sha256: "a7d5a90703e679e0416cbe099c87e3da31cc387ce169bfc92ba4671864faecf7",
            },
            DataFile {
                path: "mrpc/test.tsv",
                bytes: 431_147,
                sha256: "2da7c650a986d42dd618fd729f7d3b80131f54e13b1e1202ba074095be1c3104",
            },
            DataFile {
                path: "rte/train.tsv",
                bytes: 846_223,
                sha256: "fad8953c326fc4725f92215d649c9ffd0bc6b8042631daee69669edc8351cbda",
            },
            DataFile {
                path: "rte/dev.tsv",
                bytes: 90_340,
                sha256: "08d3d632056457367c90dbce3534cc1c4ded9101bfb2f7115012722a4c9e1e2c",
            },
            DataFile {
                path: "rte/test.tsv",
                bytes: 939_972,
                sha256: "344c39046b870f2865f5b981e2f4b4776e69d3b7879f0e2e820e11a8aa180f18",
            },
            DataFile {
                path: "cqa_semeval2016/train_part1_partial.jsonl.gz",
                bytes: 684_300,
                sha256: "41cd50e57cd34c9a98f2d87fba96e28063f1870000dd0ac2104be388d44508bf",
            },
            DataFile {
                path: "cqa_semeval2016/train_part2.jsonl.gz",
                bytes: 379_594,
                sha256: "a4ec2e85be392fc2b7e61ac968cf1a5fc14f845c8174ee369b57cb752d80c2cf",
            },
            DataFile {
                path: "cqa_semeval2016/train_2015dev.jsonl.gz",
                bytes: 167_810,
                sha256: "3b2fcf16fb5f0b28b6ea688282232611c956823ca109ca6fa1544be49ff00b71",
            },
            DataFile {
                path: "cqa_semeval2016/train_2015test.jsonl.gz",
                bytes: 199_926,
                sha256: "061c0cfd6b067f873c7c97b9aa7c2bd5ace5ca9864af2fa2e62cc43c500b8bba",
            },
            DataFile {
                path: "cqa_semeval2016/dev.jsonl.gz",
                bytes: 243_387,
                sha256: "456f57d59390f1f92b16dcb40b8433ec09913aae6ff0104461d9ac7596884ed3",
            },
            DataFile {
                path: "ecbplus/docs.jsonl.gz",
                bytes: 1_872_400,
                sha256: "8f6740853fec6cb40043dbc9c9bbb81419e60557180cc2c9a28ddf4682e1af68",
            },
        ],
        licence: "that of each source",
        how_to_get: "the files of the other datasets: https://github.com/clinc/oos-eval, https://github.com/sonos/nlu-benchmark, \
                     https://github.com/yvchen/JointSLU, https://github.com/SAG-KeLP/kelp-full, the GLUE sets STS-B, MRPC and RTE, SemEval-2016 task 3, \
                     ECB+, https://github.com/mkusner/wmd",
        caveat: "the test parts of the intent corpora and of the forum posts are not among them; the paper has 17 billion queries of a search engine",
        published: None,
    },
];

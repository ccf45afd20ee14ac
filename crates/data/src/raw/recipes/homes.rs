//! Canonical homes: where a corpus or a set of vectors is published itself, often more of it than the copies have that ours came from.
//!
//! None of them could be reached from where this was written. So a download counts by a digest that several who use it publish, or by the
//! id that a commit of git names it by; where there is neither, what comes first is recorded and shown, and must come again.
//! Their conversions are tested on small files of the same form; what a GLUE archive gives must be the very text that the copies gave.

use super::{Address, Pin, Recipe, Source};
use crate::raw::Conversion;
use crate::raw::archive::{Members, Unpack};

/// A file of the catalog that is used as it is published, and counts by the sha256 of the catalog.
#[derive(Debug, PartialEq, Eq)]
pub struct Published {
    /// Path below the data folder.
    pub file: &'static str,
    /// Its addresses, the first tried first.
    pub addresses: &'static [&'static str],
}

pub static PUBLISHED: &[Published] = &[
    Published {
        file: "vectors/GoogleNews-vectors-negative300.bin.gz",
        addresses: &["https://s3.amazonaws.com/dl4j-distribution/GoogleNews-vectors-negative300.bin.gz"],
    },
    Published {
        file: "vectors/glove.6B.zip",
        addresses: &[
            "https://nlp.stanford.edu/data/glove.6B.zip",
            "https://downloads.cs.stanford.edu/nlp/data/glove.6B.zip",
        ],
    },
    Published {
        file: "vectors/glove.840B.300d.zip",
        addresses: &[
            "https://nlp.stanford.edu/data/glove.840B.300d.zip",
            "https://downloads.cs.stanford.edu/nlp/data/glove.840B.300d.zip",
        ],
    },
];

pub fn published(file: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|published| published.file == file)
}

macro_rules! glue {
    ($archive:literal, $bytes:literal, $sha256:literal) => {
        Source {
            addresses: &[Address {
                url: concat!("https://dl.fbaipublicfiles.com/glue/data/", $archive, ".zip"),
                unpack: Unpack::Zip(Members { below: &[$archive], ending: ".tsv" }),
            }],
            bytes: $bytes,
            pin: Pin::Download($sha256),
        }
    };
}

static GLUE_STS: Source = glue!("STS-B", 802_872, "e60a6393de5a8b5b9bac5020a1554b54e3691f9d600b775bd131e613ac179c85");
static GLUE_RTE: Source = glue!("RTE", 697_150, "6bf86de103ecd335f3441bd43574d23fef87ecc695977a63b82d5efb206556ee");
/// GLUE has no archive of this corpus: its split is a list of ids over the corpus itself.
static GLUE_MSR: Source = Source {
    addresses: &[Address {
        url: "https://dl.fbaipublicfiles.com/senteval/senteval_data/msr_paraphrase_train.txt",
        unpack: Unpack::File("msr_paraphrase_train.txt"),
    }],
    bytes: 1_047_044,
    pin: Pin::Download("60a9b09084528f0673eedee2b69cb941920f0b8cd0eeccefc464a98768457f89"),
};
static GLUE_MSR_TEST: Source = Source {
    addresses: &[Address {
        url: "https://dl.fbaipublicfiles.com/senteval/senteval_data/msr_paraphrase_test.txt",
        unpack: Unpack::File("msr_paraphrase_test.txt"),
    }],
    bytes: 441_275,
    pin: Pin::Download("a04e271090879aaba6423d65b94950c089298587d9c084bf9cd7439bd785f784"),
};
static GLUE_MSR_DEV_IDS: Source = Source {
    addresses: &[Address {
        url: "https://dl.fbaipublicfiles.com/glue/data/mrpc_dev_ids.tsv",
        unpack: Unpack::File("mrpc_dev_ids.tsv"),
    }],
    bytes: 6_222,
    pin: Pin::Download("971d7767d81b997fd9060ade0ec23c4fc31cbb226a55d1bd4a1bac474eb81dc7"),
};

static FORUM_PART1: Source = Source {
    addresses: &[
        Address {
            url: "https://raw.githubusercontent.com/bnsriram/NLPCommunityQuestionAnswering/8e89aea3ad9f3157088acdbfc4955413d30ebb9d/v3.2/train/SemEval2016-Task3-CQA-QL-train-part1-subtaskA.xml",
            unpack: Unpack::File("SemEval2016-Task3-CQA-QL-train-part1-subtaskA.xml"),
        },
        Address {
            url: "https://alt.qcri.org/semeval2016/task3/data/uploads/semeval2016-task3-cqa-ql-traindev-v3.2.zip",
            unpack: Unpack::Zip(Members { below: &["SemEval2016-Task3-CQA-QL-train-part1-subtaskA.xml"], ending: "" }),
        },
    ],
    bytes: 6_000_000,
    pin: Pin::GitBlob("d535d07e699054c1384247e50ce4a16365e4dff1"),
};
static FORUM_TEST: Source = Source {
    addresses: &[
        Address {
            url: "https://alt.qcri.org/semeval2016/task3/data/uploads/semeval2016_task3_tests.zip",
            unpack: Unpack::Zip(Members { below: &["SemEval2016-Task3-CQA-QL-test-subtaskA.xml"], ending: "" }),
        },
        Address {
            url: "https://alt.qcri.org/semeval2016/task3/data/uploads/semeval2016_task3_test.zip",
            unpack: Unpack::Zip(Members { below: &["SemEval2016-Task3-CQA-QL-test-subtaskA.xml"], ending: "" }),
        },
    ],
    bytes: 10_000_000,
    pin: Pin::Unknown,
};

/// Recipes of canonical homes. Where the text is known they stand behind those of [`RECIPES`](super::RECIPES).
pub(super) static HOMES: &[Recipe] = &[
    Recipe {
        file: "cqa_semeval2016/test_full.jsonl.gz",
        text_sha256: "",
        sources: &[&FORUM_TEST],
        conversion: Conversion::SemEval("SemEval2016-Task3-CQA-QL-test-subtaskA.xml"),
    },
    Recipe {
        file: "cqa_semeval2016/train_part1.jsonl.gz",
        text_sha256: "",
        sources: &[&FORUM_PART1],
        conversion: Conversion::SemEval("SemEval2016-Task3-CQA-QL-train-part1-subtaskA.xml"),
    },
    Recipe {
        file: "mrpc/dev.tsv",
        text_sha256: "a7d5a90703e679e0416cbe099c87e3da31cc387ce169bfc92ba4671864faecf7",
        sources: &[&GLUE_MSR, &GLUE_MSR_DEV_IDS],
        conversion: Conversion::GlueParaphrases {
            table: "msr_paraphrase_train.txt",
            ids: "mrpc_dev_ids.tsv",
            is_named: true,
        },
    },
    Recipe {
        file: "mrpc/test.tsv",
        text_sha256: "2da7c650a986d42dd618fd729f7d3b80131f54e13b1e1202ba074095be1c3104",
        sources: &[&GLUE_MSR_TEST],
        conversion: Conversion::Paraphrases { tables: &["msr_paraphrase_test.txt"], order: None },
    },
    Recipe {
        file: "mrpc/train.tsv",
        text_sha256: "41ef57a1e783c83230609943bc772106bda1b4e3d89bf170cc49a3644117366b",
        sources: &[&GLUE_MSR, &GLUE_MSR_DEV_IDS],
        conversion: Conversion::GlueParaphrases {
            table: "msr_paraphrase_train.txt",
            ids: "mrpc_dev_ids.tsv",
            is_named: false,
        },
    },
    Recipe {
        file: "rte/dev.tsv",
        text_sha256: "08d3d632056457367c90dbce3534cc1c4ded9101bfb2f7115012722a4c9e1e2c",
        sources: &[&GLUE_RTE],
        conversion: Conversion::GlueRte("RTE/dev.tsv"),
    },
    Recipe {
        file: "rte/test.tsv",
        text_sha256: "344c39046b870f2865f5b981e2f4b4776e69d3b7879f0e2e820e11a8aa180f18",
        sources: &[&GLUE_RTE],
        conversion: Conversion::GlueRte("RTE/test.tsv"),
    },
    Recipe {
        file: "rte/train.tsv",
        text_sha256: "fad8953c326fc4725f92215d649c9ffd0bc6b8042631daee69669edc8351cbda",
        sources: &[&GLUE_RTE],
        conversion: Conversion::GlueRte("RTE/train.tsv"),
    },
    Recipe {
        file: "stsb/dev.tsv",
        text_sha256: "5c5d65b88ffe327867d1b9813a67addbb9dfffb812976da40e0f11cff356aa53",
        sources: &[&GLUE_STS],
        conversion: Conversion::GlueSts("STS-B/dev.tsv"),
    },
    Recipe {
        file: "stsb/train.tsv",
        text_sha256: "ccefbd64f7af0c57c560eb2d97a035fff337be6f469fa66aeda03620bfe5d077",
        sources: &[&GLUE_STS],
        conversion: Conversion::GlueSts("STS-B/train.tsv"),
    },
];

//! Labelled pairs of sentences: STS-B, MRPC, RTE, and the sample inside.

use std::path::Path;

use super::{DataFile, Dataset, Holds, find, locate, wrong_kind};
use crate::error::DataError;
use crate::pairs::{PairColumns, PairScale, SentencePairs};

/// Pairs to learn from and pairs to judge by.
#[derive(Debug, Clone, PartialEq)]
pub struct PairParts {
    /// To learn from.
    pub train: SentencePairs,
    /// To judge by.
    pub dev: SentencePairs,
    /// Whether targets are grades rather than yes or no.
    pub are_graded: bool,
}

/// Loads labelled pairs by the name of their dataset.
///
/// # Errors
/// As [`locate`] and [`SentencePairs::read`]; [`DataError::WrongKind`] for a dataset of another kind.
pub fn load_pairs(name: &str, data_dir: Option<&Path>) -> Result<PairParts, DataError> {
    let dataset = find(name)?;
    match &dataset.holds {
        Holds::EmbeddedPairs => {
            let (train, dev) = crate::embedded::pairs()?;
            Ok(PairParts { train, dev, are_graded: true })
        }
        Holds::Pairs { columns } => {
            let paths = locate(name, data_dir)?;
            let read = |place: usize| SentencePairs::read(&paths[place], columns);
            Ok(PairParts { train: read(0)?, dev: read(1)?, are_graded: columns.scale == PairScale::Grade })
        }
        other => Err(wrong_kind(dataset, other, "labelled pairs of sentences")),
    }
}

pub(super) static PAIRS: &[Dataset] = &[
    Dataset {
        name: "stsb",
        title: "STS benchmark: pairs of sentences graded from 0 to 5",
        holds: Holds::Pairs {
            columns: PairColumns { first: "sentence1", second: "sentence2", target: "score", scale: PairScale::Grade },
        },
        files: &[
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
        ],
        licence: "scores CC BY-SA 4.0; each source of sentences keeps its own terms",
        how_to_get: "https://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark, as 7 tab-separated columns with a header line: genre file year id score sentence1 sentence2",
        caveat: "5,749 pairs to train on and 1,500 to judge by, as in GLUE; the paper speaks of 1,469 pairs",
        published: None,
    },
    Dataset {
        name: "mrpc",
        title: "Microsoft paraphrase corpus with the split of GLUE",
        holds: Holds::Pairs {
            columns: PairColumns {
                first: "sentence1",
                second: "sentence2",
                target: "label",
                scale: PairScale::Label { yes: "1", no: "0" },
            },
        },
        files: &[
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
        ],
        licence: "Microsoft Research Paraphrase Corpus licence",
        how_to_get: "https://www.microsoft.com/en-us/download/details.aspx?id=52398, split as GLUE does: label id1 id2 sentence1 sentence2",
        caveat: "3,668 pairs to train on and 408 to judge by",
        published: None,
    },
    Dataset {
        name: "rte",
        title: "Recognising textual entailment (GLUE)",
        holds: Holds::Pairs {
            columns: PairColumns {
                first: "premise",
                second: "hypothesis",
                target: "label",
                scale: PairScale::Label { yes: "entailment", no: "not_entailment" },
            },
        },
        files: &[
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
        ],
        licence: "unstated (GLUE's redistribution of PASCAL RTE1-3 and RTE5; research use)",
        how_to_get: "https://gluebenchmark.com/tasks, as tab-separated columns with a header line: label idx premise hypothesis",
        caveat: "2,490 pairs to train on and 277 to judge by; the labels of its test set are hidden",
        published: None,
    },
    Dataset {
        name: "embedded_pairs",
        title: "Embedded sample: graded pairs of sentences",
        holds: Holds::EmbeddedPairs,
        files: &[],
        licence: "MIT OR Apache-2.0 (written for this project)",
        how_to_get: "ships inside",
        caveat: "96 pairs to train on and 32 to judge by, a sample for trying things out, no benchmark",
        published: None,
    },
];

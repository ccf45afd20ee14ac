//! Labelled pairs of sentences: STS-B, MRPC, RTE, and the sample inside.

use std::path::Path;

use super::shared::{MRPC_DEV, MRPC_TRAIN, RTE_DEV, RTE_TRAIN, STSB_DEV, STSB_TRAIN};
use super::{Dataset, Holds, find, locate, wrong_kind};
use crate::error::DataError;
use crate::pairs::{PairColumns, PairScale, SentencePairs};

/// Pairs to learn from and pairs to judge by.
#[derive(Debug, Clone, PartialEq)]
pub struct PairParts {
    pub train: SentencePairs,
    pub dev: SentencePairs,
    /// True where targets are grades rather than yes or no.
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
        files: &[STSB_TRAIN, STSB_DEV],
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
        files: &[MRPC_TRAIN, MRPC_DEV],
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
        files: &[RTE_TRAIN, RTE_DEV],
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

//! Utterances with intents by domain, and texts without labels (paper 2, matrix sketching for sentence representations).

use std::path::Path;

use super::shared::{
    ATIS_TRAIN, CLINC150_TRAIN, ECBPLUS_DOCS, FORUM_DEV, FORUM_TRAIN_2015DEV, FORUM_TRAIN_2015TEST,
    FORUM_TRAIN_PART1_PARTIAL, FORUM_TRAIN_PART2, MRPC_DEV, MRPC_TRAIN, RTE_DEV, RTE_TRAIN, SNIPS_TRAIN, STSB_DEV,
    STSB_TRAIN, TREC_TRAIN, WMD_TWITTER,
};
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
            CLINC150_TRAIN,
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
            SNIPS_TRAIN,
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
            ATIS_TRAIN,
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
            CLINC150_TRAIN,
            DataFile {
                path: "intent/clinc150/val.tsv.gz",
                bytes: 38_596,
                sha256: "bb4c020f562e939840459bf7735d698b89658519ae13ac25c3a4e621901cab16",
            },
            SNIPS_TRAIN,
            ATIS_TRAIN,
            WMD_TWITTER,
            TREC_TRAIN,
            STSB_TRAIN,
            STSB_DEV,
            DataFile {
                path: "stsb/test.tsv",
                bytes: 203_119,
                sha256: "e82aed16d8aa8b6befe7e8faa2dd73d696f144f540bed8b80d7f8a87326e44bb",
            },
            MRPC_TRAIN,
            MRPC_DEV,
            DataFile {
                path: "mrpc/test.tsv",
                bytes: 431_147,
                sha256: "2da7c650a986d42dd618fd729f7d3b80131f54e13b1e1202ba074095be1c3104",
            },
            RTE_TRAIN,
            RTE_DEV,
            DataFile {
                path: "rte/test.tsv",
                bytes: 939_972,
                sha256: "344c39046b870f2865f5b981e2f4b4776e69d3b7879f0e2e820e11a8aa180f18",
            },
            FORUM_TRAIN_PART1_PARTIAL,
            FORUM_TRAIN_PART2,
            FORUM_TRAIN_2015DEV,
            FORUM_TRAIN_2015TEST,
            FORUM_DEV,
            ECBPLUS_DOCS,
        ],
        licence: "that of each source",
        how_to_get: "the files of the other datasets: https://github.com/clinc/oos-eval, https://github.com/sonos/nlu-benchmark, \
                     https://github.com/yvchen/JointSLU, https://github.com/SAG-KeLP/kelp-full, the GLUE sets STS-B, MRPC and RTE, SemEval-2016 task 3, \
                     ECB+, https://github.com/mkusner/wmd",
        caveat: "the test parts of the intent corpora and of the forum posts are not among them; the paper has 17 billion queries of a search engine",
        published: None,
    },
];

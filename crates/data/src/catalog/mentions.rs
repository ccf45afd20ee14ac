//! Documents with mentions of events and entities, for coreference across documents.

use std::path::Path;

use super::shared::ECBPLUS_DOCS;
use super::{DataFile, Dataset, Holds, find, locate, wrong_kind};
use crate::error::DataError;
use crate::mentions::MentionCorpus;

/// Loads documents with mentions by the name of their dataset.
///
/// ```
/// use landmark_data::{CorefPart, MentionKinds};
/// let news = landmark_data::catalog::load_mentions("news", None)?;
/// assert_eq!(news.topics(CorefPart::Test), ["storm", "merger"]);
/// assert!(news.counts(CorefPart::Test, MentionKinds::Events).mentions > 0);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
///
/// # Errors
/// As [`locate`] and [`MentionCorpus::read`]; [`DataError::WrongKind`] for a dataset of another kind.
pub fn load_mentions(name: &str, data_dir: Option<&Path>) -> Result<MentionCorpus, DataError> {
    let dataset = find(name)?;
    match dataset.holds {
        Holds::EmbeddedMentions => crate::embedded::news(),
        Holds::Mentions => match &locate(name, data_dir)?[..] {
            [documents, mentions] => MentionCorpus::read(name, documents, mentions),
            _ => Err(wrong_kind(dataset, &dataset.holds, "a file of documents and one of mentions")),
        },
        _ => Err(wrong_kind(dataset, &dataset.holds, "documents with mentions")),
    }
}

pub(super) static MENTIONS: &[Dataset] = &[
    Dataset {
        name: "news",
        title: "Embedded sample: news stories on six made-up events, with gold mentions",
        holds: Holds::EmbeddedMentions,
        files: &[],
        licence: "MIT OR Apache-2.0 (written for this project)",
        how_to_get: "ships inside",
        caveat: "18 stories, a sample for trying things out, no benchmark",
        published: None,
    },
    Dataset {
        name: "ecbplus",
        title: "ECB+: event and entity coreference across news documents",
        holds: Holds::Mentions,
        files: &[
            ECBPLUS_DOCS,
            DataFile {
                path: "ecbplus/mentions.jsonl.gz",
                bytes: 255_941,
                sha256: "115e35505110d4effdeb2aae38104b39c302a81df6bcc878ef700890bd01d008",
            },
        ],
        licence: "CC BY 3.0 (annotation); the news texts belong to their publishers",
        how_to_get: "`ECB+_LREC2014` of http://www.newsreader-project.eu/results/data/the-ecb-corpus/, also in \
                     https://github.com/tommasoc80/EventStoryLine; these files are JSON lines of its XML by the rules of Cattan et al. 2021",
        caveat: "982 documents; mentions of validated sentences only; train/dev/test 3,808/1,245/1,780 event and 4,758/1,476/2,055 entity \
                 mentions, as published",
        published: None,
    },
];

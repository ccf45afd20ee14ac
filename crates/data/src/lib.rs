//! landmark-data: datasets in, typed items out.
//!
//! One way through: the [`catalog`] finds and checks files (or a path names your own), [`LabelledDocuments`] reads them,
//! [`Corpus`] cuts them into words, [`WordVectors`] are read for these words or learned from them ([`ppmi_svd`]), and
//! [`Corpus::bags`] gives the items of word mover's distance. [`matrices`] are similarities that need no oracle.
//!
//! ```
//! use landmark_data::{Corpus, PpmiParams, TokenRules, embedded, ppmi_svd};
//! let documents = embedded::documents()?;
//! let corpus = Corpus::tokenize(&documents, &TokenRules::default());
//! let vectors = ppmi_svd(&corpus, &PpmiParams::default(), 2022)?;
//! println!("{}", corpus.coverage(&vectors));
//! let (bags, kept) = corpus.bags(&vectors).drop_empty();
//! let documents = documents.subset(&kept);
//! assert_eq!(bags.len(), documents.len());
//! # Ok::<(), landmark_data::DataError>(())
//! ```

pub mod bag_of_words;
mod bound;
pub mod catalog;
pub mod character_ngrams;
pub mod conll;
mod contained;
pub mod corpus;
pub mod cqa;
pub mod dependencies;
pub mod documents;
pub mod embedded;
mod error;
pub mod feature_hashing;
pub mod intents;
pub mod kelp;
mod lines;
pub mod matrices;
pub mod mentions;
pub mod npy;
pub mod pairs;
pub mod raw;
pub mod relevancy;
pub mod rows;
pub mod splits;
pub mod synthetic;
#[cfg(test)]
mod test_files;
pub mod text_stream;
pub mod texts;
pub mod threads;
pub mod tokens;
pub mod tree;
pub mod unpack;
pub mod word_vectors;

pub use bag_of_words::BagsOfWords;
pub use contained::contained;
pub use corpus::{Corpus, Coverage, TokenRules};
pub use documents::{Columns, Headers, LabelledDocuments};
pub use error::DataError;
pub use kelp::{KelpExamples, NamedVectors, TreeExample};
pub use mentions::{CorefPart, Mention, MentionCorpus, MentionKind, MentionKinds, NewsDocument};
pub use pairs::SentencePairs;
pub use rows::{RowFormat, Rows};
pub use splits::{Part, Split, stratified_sample};
pub use threads::{Comment, CommentLabel, Thread, Threads};
pub use tree::{BracketError, Tree, TreeBuilder};
pub use word_vectors::{PpmiParams, VectorFiles, VectorFormat, WordVectors, ppmi_svd};

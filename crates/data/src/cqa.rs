//! Questions and comments as learners see them: annotated words, shallow trees with links between the two texts, and
//! features of the pair and of the thread (Filice et al. 2016, "KeLP at SemEval-2016 Task 3", whose kernels Croce, Filice & Basili 2016 use).
//!
#![cfg_attr(feature = "tagger", doc = "```")]
#![cfg_attr(not(feature = "tagger"), doc = "```ignore")]
//! use landmark_data::cqa::{Annotator, shallow_trees};
//! let annotator = Annotator::new();
//! let question = annotator.annotate("Where can I find a cheap bike?");
//! let comment = annotator.annotate("There is a bike shop in the old market.");
//! let (question, comment) = shallow_trees(&question, &comment);
//! assert!(question.to_string().contains("(REL-NOUN bike)") && comment.to_string().contains("(REL-NOUN bike)"));
//! ```

mod annotation;
#[cfg(feature = "tagger")]
mod annotator;
mod features;
mod shallow_trees;
mod similarities;
mod thread_features;

pub use annotation::{Annotated, Chunk, Token};
#[cfg(feature = "tagger")]
pub use annotator::Annotator;
pub use features::{FeatureTable, NoTagger, Pairs, require_tagger};
pub use shallow_trees::shallow_trees;
pub use similarities::{SIMILARITIES, TextSimilarities};
pub use thread_features::{THREAD_FEATURES, thread_features};

//! Kinds of items, by which oracles and proxies state what they read and datasets what they have.

use landmark_yaml::Problem;

use super::dataset::{DatasetConfig, Items};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Documents, whose words have vectors.
    Documents,
    Trees,
    Pairs,
    Texts,
    Matrix,
    Mentions,
}

impl ItemKind {
    /// Every kind that a dataset of a sweep can have.
    pub const ALL: &'static [Self] = &[Self::Documents, Self::Trees, Self::Pairs, Self::Texts, Self::Matrix];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents with word vectors",
            Self::Trees => "questions with trees",
            Self::Pairs => "sentences of labeled pairs",
            Self::Texts => "texts",
            Self::Matrix => "a matrix",
            Self::Mentions => "mentions",
        }
    }

    /// Source of such items in a configuration.
    const fn source(self) -> &'static str {
        match self {
            Self::Documents => {
                "`twitter` and its like, or `{ name: texts, path: …, vectors: … }` with `vectors: { kind: ppmi_svd }` or a file of yours"
            }
            Self::Trees => "`trec`, or yours: `{ name: trees, path: … }`",
            Self::Pairs => "`stsb`, `mrpc`, `rte`, `embedded_pairs`, or yours: `{ name: pairs, path: … }`",
            Self::Texts => "`{ name: texts, path: … }`",
            Self::Matrix => "`{ name: precomputed, path: … }`",
            Self::Mentions => "the experiment `coref`",
        }
    }
}

impl DatasetConfig {
    /// The kinds as which its items can be read.
    pub fn kinds(&self) -> &'static [ItemKind] {
        match &self.items {
            Items::Documents(_) => &[ItemKind::Documents],
            Items::Questions(_) => &[ItemKind::Trees],
            Items::Pairs(pairs) => match &pairs.own {
                None => &[ItemKind::Pairs],
                Some(own) if own.vectors.is_none() => &[ItemKind::Pairs, ItemKind::Texts],
                Some(_) => &[ItemKind::Pairs, ItemKind::Texts, ItemKind::Documents],
            },
            Items::Matrix(_) | Items::Random(_) => &[ItemKind::Matrix],
            Items::Texts(_) | Items::TwoLists(_) => match self.texts().and_then(|texts| texts.vectors.as_ref()) {
                Some(_) => &[ItemKind::Texts, ItemKind::Documents],
                None => &[ItemKind::Texts],
            },
        }
    }

    /// The error about an oracle or a proxy that reads none of these kinds.
    pub(super) fn unread_by(&self, reader: &str, reads: &[ItemKind]) -> Option<Problem> {
        let kinds = self.kinds();
        if reads.iter().any(|kind| kinds.contains(kind)) {
            return None;
        }
        let names = |kinds: &[ItemKind], joint| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(joint);
        let message = format!(
            "{reader} reads {}, but the dataset `{}` has {}",
            names(reads, " or "),
            self.name,
            names(kinds, " and ")
        );
        let sources = reads.iter().map(|kind| format!("{}: {}", kind.name(), kind.source()));
        Some(Problem::new(message).help(sources.collect::<Vec<_>>().join("; ")))
    }
}

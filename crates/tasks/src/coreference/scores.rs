//! The figures of the CoNLL shared tasks. With key clusters k, response clusters r and their overlaps |k ∩ r|:
//!
//! ```text
//! MUC    R = Σ_k (|k| − parts(k)) / Σ_k (|k| − 1)     parts: response clusters that k falls into, missing mentions one each
//! B³     R = Σ_k Σ_r |k ∩ r|² / |k|  /  Σ_k |k|
//! CEAFm  R = Φ / Σ_k |k|, P = Φ / Σ_r |r|             Φ: the best one-to-one alignment of clusters, φ3 = |k ∩ r|
//! CEAFe  R = Φ / #k,      P = Φ / #r                  φ4 = 2|k ∩ r| / (|k| + |r|)
//! LEA    R = Σ_k |k| · found links / links of k  /  Σ_k |k|     a cluster of one has one link, to itself
//! CoNLL  = (MUC + B³ + CEAFe)/3                                 of the F1
//! ```
//!
//! Precision is recall with key and response exchanged; sums run over all documents; 0/0 = 0; mentions that only one side has stay and
//! count as missed or made up. Sources: Vilain et al. 1995; Bagga & Baldwin 1998; Luo 2005; Pradhan et al. 2014; Moosavi & Strube
//! 2016; BLANC in `blanc.rs`. Cost: O(mentions), the alignment on the overlaps alone (`assignment.rs`).

use std::fmt::Display;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::CorefError;
use super::assignment::max_weight_matching;
use super::blanc::Links;
use super::contingency::{Contingency, Singletons};
use super::precision_recall::{Fraction, PrecisionRecall};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CorefScores {
    pub mentions: PrecisionRecall,
    pub muc: PrecisionRecall,
    pub b_cubed: PrecisionRecall,
    /// Aligned clusters, by mentions.
    pub ceaf_m: PrecisionRecall,
    /// Aligned clusters, each counting the same.
    pub ceaf_e: PrecisionRecall,
    /// Links and missing links.
    pub blanc: PrecisionRecall,
    /// Links, by the size of their cluster.
    pub lea: PrecisionRecall,
    /// Mean F1 of MUC, B³ and CEAFe.
    pub conll: f64,
    pub key_mentions: usize,
    pub key_clusters: usize,
    pub response_mentions: usize,
    pub response_clusters: usize,
}

/// The clusters of one document: key and response.
pub type Sides<'a, M> = (&'a [Vec<M>], &'a [Vec<M>]);

/// Scores the clusters of each document, (key, response). A mention is whatever names it within its document; across documents,
/// all mentions of a topic are one document.
pub fn score_coreference<M: Hash + Eq + Display>(
    documents: &[Sides<'_, M>],
    singletons: Singletons,
) -> Result<CorefScores, CorefError> {
    let mut links = Links::default();
    let (mut recall, mut precision) = (OneSide::default(), OneSide::default());
    let (mut by_mentions, mut by_entities) = (0.0, 0.0);
    let (mut common, mut key, mut response) = (0, (0, 0), (0, 0));
    for (number, (of_key, of_response)) in documents.iter().enumerate() {
        let document = Contingency::new(of_key, of_response, singletons, number)?;
        let transposed = document.transposed();
        recall.add(&document);
        precision.add(&transposed);
        links.add(&document);
        by_mentions += aligned(&document, |shared, _, _| shared);
        by_entities += aligned(&document, |shared, key, response| 2.0 * shared / (key + response));
        common += document.common();
        key = (key.0 + document.key_mentions(), key.1 + document.key_sizes.len());
        response = (response.0 + document.response_mentions(), response.1 + document.response_sizes.len());
    }
    let of = |part: f64, key: usize, response: usize| {
        let whole = |count: usize| Fraction { part, whole: count as f64 };
        PrecisionRecall::new(whole(response), whole(key))
    };
    let (muc, b_cubed) =
        (PrecisionRecall::new(precision.muc, recall.muc), PrecisionRecall::new(precision.b_cubed, recall.b_cubed));
    let ceaf_e = of(by_entities, key.1, response.1);
    Ok(CorefScores {
        mentions: of(common as f64, key.0, response.0),
        muc,
        b_cubed,
        ceaf_m: of(by_mentions, key.0, response.0),
        ceaf_e,
        blanc: links.score(),
        lea: PrecisionRecall::new(precision.lea, recall.lea),
        conll: (muc.f1 + b_cubed.f1 + ceaf_e.f1) / 3.0,
        key_mentions: key.0,
        key_clusters: key.1,
        response_mentions: response.0,
        response_clusters: response.1,
    })
}

/// Sums for recall; with key and response exchanged, for precision.
#[derive(Debug, Clone, Copy, Default)]
struct OneSide {
    muc: Fraction,
    b_cubed: Fraction,
    lea: Fraction,
}

impl OneSide {
    fn add(&mut self, document: &Contingency) {
        for (&size, cells) in document.key_sizes.iter().zip(&document.overlaps) {
            let found: usize = cells.iter().map(|cell| cell.1).sum();
            let parts = cells.len() + size - found;
            let whole = size as f64;
            self.muc.add(((size - parts) as f64, whole - 1.0));
            let squares: f64 = cells.iter().map(|cell| (cell.1 as f64).powi(2)).sum();
            self.b_cubed.add((squares / whole, whole));
            let links = |size: usize| (size * size.saturating_sub(1)) as f64 / 2.0;
            let share = if size == 1 {
                // found only where it is alone in the response, too
                f64::from(u8::from(cells.iter().any(|cell| document.response_sizes[cell.0] == 1)))
            } else {
                cells.iter().map(|cell| links(cell.1)).sum::<f64>() / links(size)
            };
            self.lea.add((whole * share, whole));
        }
    }
}

/// The weight of the best one-to-one alignment of clusters under a similarity of overlap and sizes.
fn aligned(document: &Contingency, similarity: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let weigh = |(cells, &key): (&Vec<(usize, usize)>, &usize)| -> Vec<(usize, f64)> {
        let edge = |&(response, shared): &(usize, usize)| {
            let of_response = document.response_sizes[response] as f64;
            (response, similarity(shared as f64, key as f64, of_response))
        };
        cells.iter().map(edge).collect()
    };
    let rows: Vec<Vec<(usize, f64)>> = document.overlaps.iter().zip(&document.key_sizes).map(weigh).collect();
    max_weight_matching(&rows, document.response_sizes.len())
}

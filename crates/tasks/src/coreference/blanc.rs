//! BLANC (Recasens & Hovy 2011) for mentions that need not agree (Luo, Pradhan, Recasens & Hovy 2014, §3): links within clusters and
//! links across are scored apart and averaged.
//!
//! ```text
//! R_c = |C_k ∩ C_r| / |C_k|   P_c = |C_k ∩ C_r| / |C_r|      R_n, P_n alike for the pairs that do not corefer
//! R = (R_c + R_n)/2           P = (P_c + P_n)/2              BLANC = (F_c + F_n)/2
//! ```
//!
//! A key without coreferent pairs is scored by the others alone, a key of one cluster by the coreferent ones alone. Links are counted
//! from overlaps, in O(mentions).

use super::contingency::Contingency;
use super::precision_recall::{Fraction, PrecisionRecall};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Links {
    key_coreferent: u64,
    response_coreferent: u64,
    common_coreferent: u64,
    key_others: u64,
    response_others: u64,
    common_others: u64,
    key_mentions: u64,
    response_mentions: u64,
    common_mentions: u64,
}

fn pairs(mentions: u64) -> u64 {
    mentions * mentions.saturating_sub(1) / 2
}

impl Links {
    pub(super) fn add(&mut self, document: &Contingency) {
        let within = |sizes: &[usize]| sizes.iter().map(|&size| pairs(size as u64)).sum::<u64>();
        let (key, response) = (document.key_mentions() as u64, document.response_mentions() as u64);
        let common = document.common() as u64;
        let (key_within, response_within) = (within(&document.key_sizes), within(&document.response_sizes));
        let both: u64 = document.overlaps.iter().flatten().map(|cell| pairs(cell.1 as u64)).sum();
        // pairs of common mentions: one cluster in the key, one in the response
        let found = |cells: &Vec<(usize, usize)>| pairs(cells.iter().map(|cell| cell.1 as u64).sum());
        let same_in_key: u64 = document.overlaps.iter().map(found).sum();
        let same_in_response: u64 = document.transposed().overlaps.iter().map(found).sum();
        self.key_coreferent += key_within;
        self.response_coreferent += response_within;
        self.common_coreferent += both;
        self.key_others += pairs(key) - key_within;
        self.response_others += pairs(response) - response_within;
        self.common_others += pairs(common) + both - same_in_key - same_in_response;
        self.key_mentions += key;
        self.response_mentions += response;
        self.common_mentions += common;
    }

    pub(super) fn score(&self) -> PrecisionRecall {
        let of = |common: u64, key: u64, response: u64| {
            let recall = Fraction { part: common as f64, whole: key as f64 };
            PrecisionRecall::new(Fraction { part: common as f64, whole: response as f64 }, recall)
        };
        let coreferent = of(self.common_coreferent, self.key_coreferent, self.response_coreferent);
        let others = of(self.common_others, self.key_others, self.response_others);
        match (self.key_coreferent, self.key_others) {
            // one mention, or none: right if it is found and nothing else
            (0, 0) => {
                let same = self.key_mentions == self.common_mentions
                    && self.response_mentions == self.common_mentions
                    && self.common_mentions > 0;
                let value = f64::from(u8::from(same));
                PrecisionRecall { precision: value, recall: value, f1: value }
            }
            (0, _) => others,
            (_, 0) => coreferent,
            _ => PrecisionRecall {
                precision: 0.5 * (coreferent.precision + others.precision),
                recall: 0.5 * (coreferent.recall + others.recall),
                f1: 0.5 * (coreferent.f1 + others.f1),
            },
        }
    }
}

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

/// Counts in the key, in the response and in both.
type Counts = [u64; 3];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Links {
    coreferent: Counts,
    others: Counts,
    mentions: Counts,
}

fn pairs(mentions: u64) -> u64 {
    mentions * mentions.saturating_sub(1) / 2
}

impl Links {
    pub(super) fn add(&mut self, document: &Contingency) {
        let within = |sizes: &[usize]| sizes.iter().map(|&size| pairs(size as u64)).sum::<u64>();
        let both: u64 = document.overlaps.iter().flatten().map(|cell| pairs(cell.1 as u64)).sum();
        let coreferent = [within(&document.key_sizes), within(&document.response_sizes), both];
        let mentions =
            [document.key_mentions(), document.response_mentions(), document.common()].map(|count| count as u64);
        // pairs of common mentions: one cluster in the key, one in the response
        let found = |cells: &Vec<(usize, usize)>| pairs(cells.iter().map(|cell| cell.1 as u64).sum());
        let same_in_key: u64 = document.overlaps.iter().map(found).sum();
        let same_in_response: u64 = document.transposed().overlaps.iter().map(found).sum();
        let [key, response, common] = mentions.map(pairs);
        let others = [key - coreferent[0], response - coreferent[1], common + both - same_in_key - same_in_response];
        let sums = [(&mut self.coreferent, coreferent), (&mut self.others, others), (&mut self.mentions, mentions)];
        for (sum, counts) in sums {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    pub(super) fn score(&self) -> PrecisionRecall {
        let of = |[key, response, common]: Counts| {
            let share = |whole: u64| Fraction { part: common as f64, whole: whole as f64 };
            PrecisionRecall::new(share(response), share(key))
        };
        let (coreferent, others) = (of(self.coreferent), of(self.others));
        match (self.coreferent[0], self.others[0]) {
            // one mention, or none: right if it is found and nothing else
            (0, 0) => {
                let [key, response, common] = self.mentions;
                let value = f64::from(u8::from(key == common && response == common && common > 0));
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

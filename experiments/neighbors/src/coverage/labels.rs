//! Threshold on a proxy from a budget of labels: what a stated recall of all pairs is measured against.
//!
//! ```text
//! sample of L records, with replacement, by w(x) = .9 √p(x)/Σ√p + .1/N;  m(x) = 1/(N w(x)), o(x) = 1 where the record is wanted
//! R(τ) = Σ_{p ≥ τ} o m / Σ o m;  τ₀ = max { τ : R(τ) ≥ ρ };  Z₁ = 1[p ≥ τ₀] o m, Z₂ = 1[p < τ₀] o m
//! ρ' = UB(Z₁)/(UB(Z₁) + LB(Z₂)), UB and LB = mean ± σ √(2 ln(2/δ)/L);  the answer: max { τ : R(τ) ≥ ρ' }
//! ```
//! SUPG (Kang, Gan, Bailis, Hashimoto & Zaharia 2020, algorithm 4, recall target), whose thresholds LOTUS (Patel et al. 2024) takes for its cascades. Its bounds are
//! those of a normal approximation, so its statement is asymptotic. No call: the labels are there.
//!
//! Cost: N for the weights, L log L for the thresholds.

use landmark_core::rank::RankCmp;
use landmark_neighbors::recall::Target;
use rand::Rng;
use rand::distributions::{Distribution, WeightedIndex};

/// Share of the sample that is drawn by the proxy; the rest is uniform, so that no weight is near 0.
const BY_PROXY: f64 = 0.9;

/// A sample of records, by the square root of a proxy that lies between 0 and 1.
#[derive(Debug, Clone)]
pub(super) struct LabelSample {
    /// Numbers of the records, with repetitions: those that take a label.
    pub(super) records: Vec<usize>,
    /// m of each: 1/(N w).
    weights: Vec<f64>,
    /// p of each.
    proxies: Vec<f64>,
}

impl LabelSample {
    /// `labels` draws from the records whose proxies these are. Proxies are scaled to lie between 0 and 1; where they are all equal, the
    /// sample is uniform. Empty of no record, or of no label.
    pub(super) fn draw(proxies: &[f64], labels: usize, rng: &mut impl Rng) -> Self {
        let (least, most) =
            proxies.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &p| (least.min(p), most.max(p)));
        let spread = most - least;
        let root = |&p: &f64| if spread > 0.0 { ((p - least) / spread).sqrt() } else { 1.0 };
        let (sum, count) = (proxies.iter().map(root).sum::<f64>(), proxies.len() as f64);
        let probability = |p: &f64| BY_PROXY * root(p) / sum + (1.0 - BY_PROXY) / count;
        let Ok(index) = WeightedIndex::new(proxies.iter().map(probability)) else {
            return Self { records: Vec::new(), weights: Vec::new(), proxies: Vec::new() };
        };
        let records: Vec<usize> = (0..labels).map(|_| index.sample(rng)).collect();
        let weights = records.iter().map(|&record| 1.0 / (count * probability(&proxies[record]))).collect();
        let proxies = records.iter().map(|&record| proxies[record]).collect();
        Self { records, weights, proxies }
    }

    /// τ: records whose proxy is at least this hold the target's share of those that are wanted, at its confidence. −∞, all records, where no
    /// record of the sample is wanted. `is_wanted` has a label a draw, in the order of [`records`](Self::records).
    ///
    /// # Panics
    /// When there are more or fewer labels than draws.
    pub(super) fn threshold(&self, is_wanted: &[bool], target: Target) -> f64 {
        assert_eq!(is_wanted.len(), self.records.len(), "a label for each draw");
        let mut positives: Vec<(f64, f64)> = (0..is_wanted.len())
            .filter(|&draw| is_wanted[draw])
            .map(|draw| (self.proxies[draw], self.weights[draw]))
            .collect();
        positives.sort_by(|one, other| other.0.rank_cmp(&one.0));
        let first = highest(&positives, target.recall());
        let draws = is_wanted.len() as f64;
        let reach = (2.0 * (2.0 / target.delta()).ln() / draws).sqrt();
        // mean and deviation over all draws, most of which are 0
        let moments = |is_of: &dyn Fn(f64) -> bool| {
            let of = || positives.iter().filter(|one| is_of(one.0)).map(|one| one.1);
            let mean = of().sum::<f64>() / draws;
            (mean, (of().map(|m| m * m).sum::<f64>() / draws - mean * mean).max(0.0).sqrt())
        };
        let ((above, above_sd), (below, below_sd)) = (moments(&|p| p >= first), moments(&|p| p < first));
        let (most_above, least_below) = (above + above_sd * reach, (below - below_sd * reach).max(0.0));
        highest(&positives, most_above / (most_above + least_below).max(f64::MIN_POSITIVE))
    }
}

/// max { τ : R(τ) ≥ `recall` }, over positives with their weights, the highest proxy first; −∞ where there are none.
fn highest(positives: &[(f64, f64)], recall: f64) -> f64 {
    let all: f64 = positives.iter().map(|one| one.1).sum();
    let mut above = 0.0;
    for &(proxy, weight) in positives {
        above += weight;
        // what rounding loses of a sum is no positive
        if above >= recall * all * (1.0 - 1e-12) {
            return proxy;
        }
    }
    f64::NEG_INFINITY
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;

    use super::*;

    #[test]
    fn thresholds_are_those_worked_out_by_hand() {
        // uniform weights: ten draws, five positives at .9, .8, .7, .6 and .2
        let proxies = vec![0.9, 0.8, 0.7, 0.6, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1];
        let sample = LabelSample { records: (0..10).collect(), weights: vec![1.0; 10], proxies };
        let is_wanted: Vec<bool> = (0..10).map(|draw| draw < 5).collect();
        let target = Target::new(0.6, 0.5).unwrap();
        // R(.7) = .6, so Z1 has three ones and Z2 two: UB = .3 + √.21 · √(2 ln 4/10) = .541, LB = max(0, .2 − .4 · .527) = 0, ρ' = 1
        assert_eq!(sample.threshold(&is_wanted, target), 0.2);
        // a hundred times the draws: UB = .324, LB = .179, ρ' = .645, which R reaches at .6
        let times = |values: &[f64]| values.iter().flat_map(|&value| vec![value; 100]).collect::<Vec<f64>>();
        let many = LabelSample { records: vec![0; 1000], weights: vec![1.0; 1000], proxies: times(&sample.proxies) };
        let labels: Vec<bool> = is_wanted.iter().flat_map(|&label| [label; 100]).collect();
        assert_eq!(many.threshold(&labels, target), 0.6);
        assert_eq!(sample.threshold(&[false; 10], target), f64::NEG_INFINITY, "nothing was seen: all records");
    }

    #[test]
    fn weights_undo_the_choice_of_the_sample() {
        let proxies: Vec<f64> = (0..1000).map(|record| (f64::from(record) / 1000.0).powi(3)).collect();
        let sample = LabelSample::draw(&proxies, 100_000, &mut stream(1, "labels", "sample", 0));
        let share = |least: usize| {
            let of = |record: &&usize| **record >= least;
            sample.records.iter().zip(&sample.weights).filter(|(record, _)| of(record)).map(|(_, m)| m).sum::<f64>()
                / 100_000.0
        };
        assert!((share(0) - 1.0).abs() < 0.02 && (share(900) - 0.1).abs() < 0.01, "{} {}", share(0), share(900));
        let drawn = sample.records.iter().filter(|&&record| record >= 900).count();
        assert!(drawn > 20_000, "likely records are drawn more often than their number says: {drawn}");
        assert!(LabelSample::draw(&[], 5, &mut stream(1, "labels", "sample", 0)).records.is_empty());
        assert_eq!(LabelSample::draw(&[0.5; 4], 9, &mut stream(1, "labels", "sample", 0)).weights, [1.0; 9]);
    }

    #[test]
    fn a_stated_recall_of_many_likely_records_holds() {
        // wanted with probability p³: 200 draws of 2,000 labels among 20,000 records
        let proxies: Vec<f64> = (0..20_000).map(|record| f64::from(record) / 20_000.0).collect();
        let mut rng = stream(2, "labels", "wanted", 0);
        let is_wanted: Vec<bool> = proxies.iter().map(|p| rng.r#gen::<f64>() < p.powi(3)).collect();
        let all = is_wanted.iter().filter(|&&wanted| wanted).count() as f64;
        let target = Target::new(0.9, 0.1).unwrap();
        let mut held = 0;
        for _ in 0..200 {
            let sample = LabelSample::draw(&proxies, 2000, &mut rng);
            let labels: Vec<bool> = sample.records.iter().map(|&record| is_wanted[record]).collect();
            let least = sample.threshold(&labels, target);
            let found = (0..proxies.len()).filter(|&record| is_wanted[record] && proxies[record] >= least).count();
            held += usize::from(found as f64 >= 0.9 * all);
        }
        assert!(held >= 180, "{held} of 200");
    }
}

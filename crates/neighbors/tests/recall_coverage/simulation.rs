//! Populations whose recall is known, and the share of draws in which a stated recall is true.

use landmark_core::normal::standard_normal;
use landmark_core::stats::clopper_pearson_lower;
use landmark_core::stream::{Rng, stream};
use landmark_neighbors::recall::{AuditPath, Bound, Target};
use ndarray::Array2;
use rand::Rng as _;
use rand::seq::index::sample;

/// Growth of the effort from step to step.
const GROWTH: f64 = 1.2;

/// A search over n items: the effort at which each of an item's k neighbors is found.
pub(crate) struct Search {
    found_at: Array2<f64>,
    efforts: Vec<f64>,
}

impl Search {
    /// Items differ in how hard they are by exp(spread · N(0, 1)): the larger the spread, the more alike the neighbors of an item.
    pub(crate) fn new(n: usize, k: usize, spread: f64, rng: &mut Rng) -> Self {
        let hardness: Vec<f64> = (0..n).map(|_| (spread * standard_normal(rng)).exp()).collect();
        let found_at = Array2::from_shape_fn((n, k), |(item, _)| -(1.0 - rng.r#gen::<f64>()).ln() * hardness[item]);
        let efforts = (0..60).map(|step| 0.05 * GROWTH.powi(step)).collect();
        Self { found_at, efforts }
    }

    fn share(&self, item: usize, effort: f64) -> f64 {
        let row = self.found_at.row(item);
        row.iter().filter(|&&at| at <= effort).count() as f64 / row.len() as f64
    }

    fn recall(&self, effort: f64) -> f64 {
        self.found_at.iter().filter(|&&at| at <= effort).count() as f64 / self.found_at.len() as f64
    }

    /// The recall of all lists where an audit of `rows` uniform items stops; `None` where it never does.
    pub(crate) fn stop(&self, rows: usize, target: Target, bound: Bound, rng: &mut Rng) -> Option<f64> {
        let (n, _) = self.found_at.dim();
        let audited: Vec<usize> = sample(rng, n, rows).into_vec();
        let path = AuditPath::new(n, 0, rows, target, bound).ok()?;
        let reaches = |&effort: &f64| {
            let shares: Vec<f64> = audited.iter().map(|&item| self.share(item, effort)).collect();
            path.reaches(&shares)
        };
        // shares grow with the effort, and every bound with the shares
        let first = self.efforts.partition_point(|effort| !reaches(effort));
        self.efforts.get(first).map(|&effort| self.recall(effort))
    }

    /// The rule that spacings replace, for k > 1: Clopper-Pearson at n* = (k v / deff) / (1 - v/n), with the median of the last five
    /// design effects deff = k u / (m (1 - m)) of the shares' mean m and variance u where 1/2 < m and m is at most ρ or the first such mean.
    pub(crate) fn stop_by_design_effect(&self, rows: usize, target: Target, rng: &mut Rng) -> Option<f64> {
        let (n, k) = self.found_at.dim();
        let audited: Vec<usize> = sample(rng, n, rows).into_vec();
        let (v, k) = (rows as f64, k as f64);
        let (mut effects, mut least) = (Vec::new(), None);
        for &effort in &self.efforts {
            let shares: Vec<f64> = audited.iter().map(|&item| self.share(item, effort)).collect();
            let mean = shares.iter().sum::<f64>() / v;
            let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (v - 1.0);
            if mean > 0.5 && mean < 1.0 && variance > 0.0 && mean <= target.recall().max(*least.get_or_insert(mean)) {
                effects.push(k * variance / (mean * (1.0 - mean)));
            }
            let mut last = effects[effects.len().saturating_sub(5)..].to_vec();
            last.sort_by(f64::total_cmp);
            let effect = match last.len() {
                0 => k,
                count => 0.5 * (last[(count - 1) / 2] + last[count / 2]),
            };
            let finds = (k * v / effect.clamp(1.0, k)) / (1.0 - v / n as f64);
            if clopper_pearson_lower(mean * finds, finds, target.delta()) >= target.recall() {
                return Some(self.recall(effort));
            }
        }
        None
    }

    /// A share of the items finds nothing at any effort; the others find all sooner or later.
    pub(crate) fn out_of_reach(mut self, share: f64) -> Self {
        // a number of items
        let lost = (share * self.found_at.nrows() as f64).round() as usize;
        self.found_at.slice_mut(ndarray::s![..lost, ..]).fill(f64::INFINITY);
        self
    }

    /// The same where the estimate itself is believed.
    pub(crate) fn plug_in(&self, rows: usize, target: Target, rng: &mut Rng) -> Option<f64> {
        let audited: Vec<usize> = sample(rng, self.found_at.nrows(), rows).into_vec();
        self.efforts.iter().copied().find_map(|effort| {
            let mean = audited.iter().map(|&item| self.share(item, effort)).sum::<f64>() / rows as f64;
            (mean >= target.recall()).then(|| self.recall(effort))
        })
    }
}

/// Draws of one kind: how many stated a recall, and how many of these were right.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Coverage {
    pub(crate) stated: u32,
    pub(crate) right: u32,
    /// Σ of the true recall where one was stated.
    pub(crate) recall: f64,
}

impl Coverage {
    /// Over `draws` named streams.
    pub(crate) fn of(draws: u64, target: Target, mut draw: impl FnMut(&mut Rng) -> Option<f64>) -> Self {
        let mut all = Self::default();
        for number in 0..draws {
            let Some(recall) = draw(&mut stream(2026, "coverage", "draw", number)) else { continue };
            all.stated += 1;
            all.right += u32::from(recall >= target.recall());
            all.recall += recall;
        }
        all
    }

    /// Share of the statements that are true.
    pub(crate) fn share(&self) -> f64 {
        f64::from(self.right) / f64::from(self.stated)
    }

    /// Mean true recall where one was stated.
    pub(crate) fn mean_recall(&self) -> f64 {
        self.recall / f64::from(self.stated)
    }

    /// 1 − δ less three binomial standard errors.
    pub(crate) fn least(&self, target: Target) -> f64 {
        let delta = target.delta();
        1.0 - delta - 3.0 * (delta * (1.0 - delta) / f64::from(self.stated)).sqrt()
    }
}

/// (ρ, δ) that are looked at.
pub(crate) fn targets() -> [Target; 3] {
    [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)].map(|(recall, delta)| Target::new(recall, delta).expect("inside (0, 1)"))
}

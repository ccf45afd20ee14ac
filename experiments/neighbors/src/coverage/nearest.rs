//! Lists of neighbors: a search in rounds continues until it states a recall of ρ (`recall::nearest_to`), by the default bound and by one that is a
//! theorem. Compared with them: the same search believing the plain estimate of 30 audited rows, which are not charged.

use std::collections::HashSet;
use std::sync::Arc;

use landmark_core::oracle::{Metered, Oracle, OracleShape, ask_pairs};
use landmark_neighbors::nearest::{Known, RoundsParams, Search, Step};
use landmark_neighbors::recall::{Audit, AuditError, AuditedSearch, Target, growing, nearest_to, share_found};
use rand::seq::index::sample;

use super::{Draw, Stated, Statements, Way};
use landmark_harness::job::JobError;

/// What is drawn, and what is not charged.
pub(super) const DRAWN: &str =
    "Over draws of columns and audited rows; the 30 rows of the plain estimate are not charged.";

/// Audited rows that are believed as they are.
const BELIEVED: usize = 30;

/// Statements of a draw, for each target; `None` where the search does not get there even at its end.
pub(super) fn statements(draw: &Draw<'_>, k: usize, targets: &[Target]) -> Result<Vec<Option<Statements>>, JobError> {
    let n = draw.oracle.len();
    let lists = Lists { draw, k: k.min(n.saturating_sub(1)), proxies: vec![Arc::clone(&draw.proxy)] };
    let path = lists.path()?;
    let mut believed = sample(&mut draw.stream("believed rows"), n, BELIEVED.min(n)).into_vec();
    believed.sort_unstable();
    let mut statements = Vec::with_capacity(targets.len());
    for &target in targets {
        let Some(by_truth) = path.first(target.recall(), PathStep::mean) else {
            statements.push(None);
            continue;
        };
        let mut by = Vec::new();
        for (id, name, is_strict) in [("default", "default bound", false), ("strict", "strict bound", true)] {
            by.push((Way::new(id, name), lists.stated(target, is_strict)?));
        }
        let plain = path.first(target.recall(), |step| step.mean_of(&believed));
        by.push((Way::new("plug_in", "30 rows believed"), plain));
        statements.push(Some(Statements { by_truth, by }));
    }
    Ok(statements)
}

/// Shares of every item's true neighbors that were asked for, step by step.
struct Path {
    steps: Vec<PathStep>,
}

struct PathStep {
    asked: u64,
    shares: Vec<f64>,
}

impl PathStep {
    fn mean(&self) -> f64 {
        self.shares.iter().sum::<f64>() / self.shares.len() as f64
    }

    fn mean_of(&self, items: &[usize]) -> f64 {
        items.iter().map(|&item| self.shares[item]).sum::<f64>() / items.len() as f64
    }
}

impl Path {
    /// The first step at which `seen` is at least ρ. Rows that `seen` looks at beyond those asked for are not charged: a plain estimate has them for
    /// nothing here, which flatters it.
    fn first(&self, recall: f64, seen: impl Fn(&PathStep) -> f64) -> Option<Stated> {
        let step = self.steps.iter().find(|step| seen(step) >= recall)?;
        Some(Stated { recall: step.mean(), calls: step.asked })
    }
}

/// Lists of the k nearest.
struct Lists<'a> {
    draw: &'a Draw<'a>,
    k: usize,
    proxies: Vec<Arc<dyn Oracle>>,
}

impl Lists<'_> {
    fn params(&self) -> RoundsParams {
        let n = self.draw.oracle.len();
        RoundsParams { k: self.k, calls_per_item: n, ..RoundsParams::default() }
    }

    /// The search without an audit, to its end.
    fn path(&self) -> Result<Path, JobError> {
        let failed = |error: landmark_neighbors::nearest::NeighborError| JobError::Failed(error.into());
        let n = self.draw.oracle.len();
        let rounds = growing(self.params(), n).check().map_err(|error| JobError::Failed(error.into()))?;
        let mut search =
            Search::new(rounds, OracleShape::of(self.draw.oracle), self.proxies.clone(), &self.draw.landmarks)
                .map_err(failed)?;
        let mut asked: Vec<HashSet<usize>> = vec![HashSet::new(); n];
        let mut steps = Vec::new();
        while let Some(batch) = search.next_batch().map_err(failed)? {
            let mut scores = vec![0.0; batch.pairs.len()];
            ask_pairs(self.draw.oracle, &batch.pairs, &mut scores)?;
            search.record(&batch.pairs, &scores).map_err(failed)?;
            for &(i, j) in &batch.pairs {
                asked[i].insert(j);
                asked[j].insert(i);
            }
            if matches!(batch.step, Step::Proxy(_)) {
                continue;
            }
            let row = |i: usize| self.draw.oracle.matrix().row(i).to_vec();
            let share = |i: usize| share_found(&row(i), i, self.k, |j| asked[i].contains(&j));
            let shares: Vec<f64> = (0..n).map(share).collect();
            let is_over = shares.iter().all(|&share| share >= 1.0);
            steps.push(PathStep { asked: search.asked(), shares });
            if is_over {
                break;
            }
        }
        Ok(Path { steps })
    }

    /// The search that stops where its bound does; `None` where it refuses.
    fn stated(&self, target: Target, is_strict: bool) -> Result<Option<Stated>, JobError> {
        let metered = Metered::new(self.draw.oracle);
        let mut rng = self.draw.stream("audited rows");
        let audit = Audit { target, is_strict, rows: None, calls: None };
        let wanted = AuditedSearch {
            proxies: &self.proxies,
            params: self.params(),
            landmarks: &self.draw.landmarks,
            known: Known::default(),
            contents: None,
        };
        let found = nearest_to(&metered, wanted, audit, &mut rng);
        let found = match found {
            Ok(found) if found.refused.is_none() => found,
            Ok(_) | Err(AuditError::TooFew(_)) => return Ok(None),
            Err(error) => return Err(JobError::Failed(error.into())),
        };
        let shares = found.lists.iter().enumerate().map(|(item, list)| {
            let listed: HashSet<usize> = list.iter().map(|near| near.item).collect();
            share_found(&self.draw.oracle.matrix().row(item).to_vec(), item, self.k, |j| listed.contains(&j))
        });
        let recall = shares.sum::<f64>() / self.draw.oracle.len() as f64;
        Ok(Some(Stated { recall, calls: metered.spent().evaluations }))
    }
}

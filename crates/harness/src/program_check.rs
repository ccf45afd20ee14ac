//! Cheap checks of a user's program or endpoint before its scores are evaluated: what it states about itself, on a few pairs.
//!
//! ```text
//! symmetric     16 pairs of the plan, asked in the other order as well (8 of an endpoint, which is checked by these alone)
//! identity      16 pairs that the store holds under this identity, asked again
//! similarity    no item less like itself than any two are alike: distances would pass for similarities
//! ```
//! Cost: at most 32 evaluations in addition to the matrix, which are kept nowhere; none where nothing is to be evaluated. A run makes them
//! before its jobs; a command that chooses its pairs on the way when it asks for the first that the store lacks (`metered_store/checked.rs`; the
//! first two of them).

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Oracle, Pair};

use crate::job::JobError;
use crate::metered_store::checked::{LOOKED_THROUGH, apart, order_refusal, refuse_another_score};
use crate::metered_store::scattered_pairs;
use crate::oracles::scorer::Scorer;
use crate::sweep::context::SweepContext;

/// Items whose similarity to themselves is looked at.
const ITEMS: usize = 4;

/// Pairs of the plan to be asked again.
struct Picked {
    /// To be asked in the other order.
    both_orders: Vec<Pair>,
    /// In the store already.
    stored: Vec<Pair>,
}

impl Picked {
    fn of(context: &SweepContext<'_>, entries: &EntrySet) -> Result<Self, JobError> {
        let (problem, metered) = (context.problem, context.metered);
        let mut picked = Self { both_orders: Vec::new(), stored: Vec::new() };
        let most = context.matrix.oracle.settings().checks();
        let Some(scorer) = problem.scorer().filter(|_| most > 0) else { return Ok(picked) };
        if metered.other_order().is_some() {
            return Ok(picked);
        }
        let is_symmetric = scorer.is_symmetric();
        let Scorer::Program(_) = scorer else {
            let scattered = scattered_pairs(entries, metered.shape().len).take(LOOKED_THROUGH);
            return Ok(Self { both_orders: apart(scattered.filter(|_| is_symmetric), most), ..picked });
        };
        let (all, missing) = (entries.evaluations(), metered.missing(entries));
        for pair in scattered_pairs(entries, metered.shape().len).take(LOOKED_THROUGH) {
            if is_symmetric && picked.both_orders.len() < most {
                picked.both_orders.push(pair);
            }
            if missing < all && picked.stored.len() < most && !picked.stored.contains(&(pair.1, pair.0)) {
                let mut one = EntrySet::new(metered.shape());
                one.add_entry(pair.0, pair.1);
                if metered.missing(&one) == 0 {
                    picked.stored.push(pair);
                }
            }
            let is_full = picked.stored.len() == most || missing == all;
            if is_full && (picked.both_orders.len() == most || !is_symmetric) {
                break;
            }
        }
        Ok(picked)
    }

    fn evaluations(&self, per_pair: u64) -> u64 {
        self.both_orders.len() as u64 + self.stored.len() as u64 * per_pair.max(1)
    }
}

/// Evaluations that the checks take, where anything is left to be evaluated and the budget pays for both.
pub fn calls(context: &SweepContext<'_>, entries: &EntrySet) -> Result<u64, JobError> {
    let (checks, is_paid) = priced(context, entries)?;
    Ok(if is_paid { checks } else { 0 })
}

/// True where the budget leaves nothing for checks that would be made.
pub fn are_left_out(context: &SweepContext<'_>, entries: &EntrySet) -> Result<bool, JobError> {
    let (checks, is_paid) = priced(context, entries)?;
    Ok(checks > 0 && !is_paid)
}

/// Evaluations of the checks, none where nothing is missing, and whether the budget pays for them in addition to what is missing.
fn priced(context: &SweepContext<'_>, entries: &EntrySet) -> Result<(u64, bool), JobError> {
    let missing = context.metered.missing(entries);
    if missing == 0 {
        return Ok((0, true));
    }
    let checks = Picked::of(context, entries)?.evaluations(context.metered.shape().evaluations_per_pair);
    Ok((checks, context.matrix.budget.limit().is_none_or(|limit| missing + checks <= limit)))
}

/// Makes the checks that [`calls`] counts; warnings come back.
pub fn check(context: &SweepContext<'_>, entries: &EntrySet) -> Result<Vec<String>, JobError> {
    let Some(scorer) = context.problem.scorer().filter(|_| matches!(calls(context, entries), Ok(1..))) else {
        return Ok(Vec::new());
    };
    let picked = Picked::of(context, entries)?;
    let scores_of = |oracle: &dyn Oracle, pairs: &[Pair]| -> Result<Vec<f64>, JobError> {
        let mut scores = vec![0.0; pairs.len()];
        oracle.evaluate(pairs, &mut scores)?;
        Ok(scores)
    };
    let in_words = |reason: String| JobError::from(reason.as_str());
    // before anything is added to what the store holds
    let kept = scores_of(context.metered.scores().as_ref(), &picked.stored)?;
    let again = scores_of(context.problem.raw.as_ref(), &picked.stored)?;
    refuse_another_score(scorer, &picked.stored, &kept, &again).map_err(in_words)?;
    // these are evaluations of the plan, and kept
    let forward = scores_of(context.metered.scores().as_ref(), &picked.both_orders)?;
    let raw = context.problem.raw.as_ref();
    if let Some(reason) = order_refusal(scorer, &picked.both_orders, &forward, |pairs| scores_of(raw, pairs))? {
        return Err(in_words(reason));
    }
    let Scorer::Program(program) = scorer else { return Ok(Vec::new()) };
    let columns = entries.columns();
    let of_itself = match program.greeting().diagonal {
        Some(diagonal) => vec![diagonal],
        None => scores_of(
            context.metered.scores().as_ref(),
            &columns.iter().take(ITEMS).map(|&j| (j, j)).collect::<Vec<_>>(),
        )?,
    };
    let others: Vec<f64> = forward.into_iter().chain(kept).collect();
    Ok(below_the_rest(&of_itself, &others).filter(|_| context.matrix.oracle.gamma().is_none()).into_iter().collect())
}

/// The warning where every item is less like itself than any two are alike.
pub fn below_the_rest(of_themselves: &[f64], of_others: &[f64]) -> Option<String> {
    let most = of_themselves.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = of_others.iter().copied().fold(f64::INFINITY, f64::min);
    let are_there = !of_themselves.is_empty() && of_others.len() > 1;
    (are_there && most < least).then(|| {
        format!(
            "items are less like themselves (at most {most:.4}) than like each other (at least {least:.4}): if these are distances, set \
             `oracle.gamma`, which uses exp(−γ·d)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::below_the_rest;

    #[test]
    fn distances_are_known_from_similarities_by_their_diagonal() {
        assert!(below_the_rest(&[0.0, 0.0], &[3.0, 0.5]).is_some());
        assert_eq!(below_the_rest(&[1.0, 1.0], &[0.3, 0.9]), None);
        assert_eq!(below_the_rest(&[0.0, 0.2], &[0.1, 0.9]), None, "one of them is among the rest");
        assert_eq!(below_the_rest(&[], &[0.1, 0.9]), None);
    }
}

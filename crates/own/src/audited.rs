//! `landmark topk --target-recall ρ`: lists of neighbors that hold a share ρ of the true ones with probability 1 − δ.
//!
//! ```text
//! audited (default)   v uniform items are evaluated against all and hidden; a search in rounds continues until they show that it is enough.
//!                     `--calls-per-item` bounds both together. Factors that are there are known from the start
//! --from-factors      each item's candidates by the factors are scored, as deep as held-out landmark columns require (`from_factors.rs`)
//! ```

use std::sync::Arc;

use crate::own_data::{FACTORS, Statement};
use landmark_core::entries::EntrySet;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape};
use landmark_core::stream::{Rng, stream};
use landmark_harness::invocation::Invocation;
use landmark_harness::run::{self, Ended, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::nearest::{NeighborError, RoundsParams};
use landmark_neighbors::recall::{
    Audit, AuditError, Audited, AuditedSearch, Enough, Target, audited_items, nearest_to,
};
use landmark_report::amounts::count;
use miette::{IntoDiagnostic, Report, Result};
use serde_json::json;

use crate::calls::{Answer, Place, announce, checks, known_in_words, proxies};
use crate::from_factors::{Recalled, from_factors};
use crate::known::{Basis, basis, with_stored};
use crate::neighbors::{Lists, top_k};
use crate::own::{one_list_only, own_matrix, refused, target};

/// Calls per item, beyond those of the audit, at which a search gives up if no other number is set.
const CALLS_PER_ITEM: usize = 100;

/// Lists the `k` most similar items of every item, with a stated recall; [`Ended::BudgetExhausted`] where it is not reached.
pub fn top_k_with_recall(invocation: &Invocation, wanted: &Recalled) -> Result<(String, Ended)> {
    let target = target(wanted.target, wanted.delta)?;
    let reason = "a recall is guaranteed for lists of one list (`mine --target-recall` guarantees one of pairs)";
    one_list_only(own_matrix(&invocation.config()?)?, reason)?;
    if own_matrix(&invocation.config()?)?.oracle.settings().is_given() && !wanted.dry_run {
        return top_k(invocation, Lists { k: wanted.k, ..Lists::default() });
    }
    if wanted.from_factors {
        return from_factors(invocation, wanted, target).map(|text| (text, Ended::Done));
    }
    let place = Place::of(invocation, wanted.budget, wanted.dry_run)?;
    let found = run::with_sweep(&place.config, &place.matrix, &place.options, |context| {
        let found = Wanted::of(&context, wanted, target).and_then(|search| match wanted.dry_run {
            true => search.call_estimate(&context).map(Err),
            false => search.run(&context, place.options.quiet).map(Ok),
        });
        context.metered.flush()?;
        Ok(found)
    });
    let (answer, statement) = match found.map_err(|error: RunError| Report::from(error))?? {
        Ok(found) => found,
        Err(text) => return Ok((text, Ended::Done)),
    };
    let text = place.write(answer)?;
    let has_page = run::results_folder(&place.config, &place.options).join(FACTORS).exists();
    if invocation.out.is_none() && has_page {
        run::report_again(&place.config, &place.options)?;
    }
    Ok((text, if statement.reached { Ended::Done } else { Ended::BudgetExhausted }))
}

/// A search with a recall, before its first call.
struct Wanted<'a> {
    recalled: &'a Recalled,
    audit: Audit,
    params: RoundsParams,
    proxies: Vec<Arc<dyn Oracle>>,
    landmarks: Landmarks,
    basis: Basis,
}

impl<'a> Wanted<'a> {
    fn of(context: &SweepContext<'_>, recalled: &'a Recalled, target: Target) -> Result<Self> {
        let items = context.problem.items();
        let calls = recalled.calls_per_item.map(|calls| calls as u64 * items as u64);
        let audit = Audit { target, is_strict: recalled.is_strict, rows: recalled.audit, calls };
        let most = recalled.calls_per_item.unwrap_or(CALLS_PER_ITEM).min(items.saturating_sub(1)).max(1);
        let (k, share) = (recalled.k, recalled.share);
        let params = RoundsParams { k, calls_per_item: most, share, ..RoundsParams::default() };
        // the order that uniform factors draw from: their columns are there
        let landmarks = context.problem.uniform_landmarks(context.run.seed, 0);
        let (_, proxies) = proxies(context)?;
        Ok(Self { recalled, audit, params, proxies, landmarks, basis: basis(context)? })
    }

    fn searched<'b>(&'b self, context: &'b SweepContext<'_>) -> AuditedSearch<'b> {
        AuditedSearch {
            proxies: &self.proxies,
            params: self.params.clone(),
            landmarks: &self.landmarks,
            known: self.basis.known.clone(),
            contents: context.problem.contents.as_deref(),
        }
    }

    /// The audited rows, and the calls that the store lacks for them.
    fn audited(&self, context: &SweepContext<'_>) -> Result<(usize, u64, EntrySet)> {
        let shape = context.metered.shape();
        let items = audited_items(shape, self.searched(context), self.audit, &mut rng(context))
            .map_err(|error| self.no_recall(shape, error))?;
        let mut set = context.metered.entries();
        for &item in &items {
            (0..shape.len).filter(|&other| other != item).for_each(|other| set.add_entry(item, other));
        }
        Ok((items.len(), context.metered.missing(&set), set))
    }

    /// The call estimate: exact for audited rows, an upper bound for what they decide.
    fn call_estimate(&self, context: &SweepContext<'_>) -> Result<String> {
        let (rows, _, set) = self.audited(context)?;
        let shape = context.metered.shape();
        let (n, price) = (shape.len as u64, shape.evaluations_per_pair.max(1));
        let whole = set.evaluations();
        let most = self.audit.calls.unwrap_or(whole + n * self.params.calls_per_item as u64);
        Ok(format!(
            "{}{}{} calls for {rows} audited rows, and {} at most in all; stored scores are reused\n{}",
            self.basis.note,
            known_in_words(&self.basis.known),
            count(whole),
            count(most.min(n * n.saturating_sub(1) / 2 * price)),
            checks(context)
        ))
    }

    /// A search in rounds that audited rows stop.
    fn run(self, context: &SweepContext<'_>, quiet: bool) -> Result<(Answer, Statement)> {
        let shape = context.metered.shape();
        self.refuse_small_budget(context)?;
        announce(context, &self.proxies, quiet).map_err(Report::from_err)?;
        let (n, k, audit) = (shape.len, self.recalled.k, self.audit);
        let oracle = context.similarities(context.fixed_gamma()).map_err(RunError::from)?;
        let found = nearest_to(oracle.as_ref(), self.searched(context), audit, &mut rng(context));
        let found = found.map_err(|error| self.no_recall(shape, error))?;
        let Audited { mut lists, landmarks, rows, bound, steps, refused, is_cut_short } = found;
        with_stored(context, &mut lists, (k, None), true)?;
        let last = steps.last().copied();
        let evaluations = context.metered.spent().evaluations;
        let statement = Statement {
            k: Some(k.min(n.saturating_sub(1))),
            at_least: None,
            target_recall: audit.target.recall(),
            delta: audit.target.delta(),
            reached: refused.is_none(),
            recall: last.map_or(0.0, |step| step.recall),
            // the bound of the step at which the search stopped was chosen by looking
            lower: match refused {
                None => audit.target.recall(),
                Some(_) => last.map_or(0.0, |step| step.lower),
            },
            bound: bound.to_string(),
            rows: rows.len(),
            landmarks,
            scored_pairs: last.map_or(0, |step| step.asked),
            evaluations,
            calls_per_item: evaluations as f64 / n.max(1) as f64,
            // the bound of a search that ended early was looked at in every round
            guaranteed: refused.is_none(),
            enough: refused.map(|enough| in_words(enough, is_cut_short)),
        };
        let text = format!("{}{}{}", self.basis.note, known_in_words(&self.basis.known), statement.lines());
        let mut info = serde_json::to_value(&statement).into_diagnostic()?;
        info["items"] = json!(n);
        info["audited"] = json!(rows);
        info["steps"] = json!(steps);
        info["seed"] = json!(context.run.seed);
        info["oracle"] = json!(context.problem.raw.identity().to_hex());
        Ok((Answer { lists, text, info }, statement))
    }

    /// A budget that ends within the audited rows shows nothing: it is an error before the first call.
    fn refuse_small_budget(&self, context: &SweepContext<'_>) -> Result<()> {
        let Some(budget) = context.matrix.budget.limit() else { return Ok(()) };
        let (rows, missing, _) = self.audited(context)?;
        let needed = missing + if missing > 0 { context.most_checks() } else { 0 };
        if needed <= budget {
            return Ok(());
        }
        let message = format!(
            "cannot guarantee a recall with a budget of {} calls: the {rows} audited rows alone take {}",
            count(budget),
            count(needed)
        );
        let help = format!(
            "use at least `--budget {needed}`, and more for the search; or search without a guarantee by `--calls-per-item {}`",
            (budget / context.problem.items().max(1) as u64).max(1)
        );
        Err(refused(message, help))
    }

    /// Too few audited rows, too few calls for them, or what else went wrong.
    fn no_recall(&self, shape: OracleShape, error: AuditError) -> Report {
        match error {
            AuditError::TooFew(error) => refused(error.to_string(), "raise `--audit`"),
            AuditError::TooFewCalls { rows, needed, given } => {
                let n = shape.len.max(1) as u64;
                let message = format!(
                    "cannot guarantee a recall with `--calls-per-item {}`: the {rows} audited rows alone take {} calls, and {} are allowed",
                    given / n,
                    count(needed),
                    count(given)
                );
                let help = format!(
                    "use at least `--calls-per-item {}`, and more for the search; or leave out `--target-recall`",
                    needed.div_ceil(n)
                );
                refused(message, help)
            }
            AuditError::Search(NeighborError::Oracle(error)) => RunError::from(error).into(),
            other => Report::from_err(other),
        }
    }
}

/// Draws the audited rows.
fn rng(context: &SweepContext<'_>) -> Rng {
    stream(context.run.seed, context.problem.dataset.as_str(), "audit", 0)
}

/// What would have been enough.
fn in_words(enough: Enough, is_cut_short: bool) -> String {
    let ended = if is_cut_short { "the budget ended first; " } else { "" };
    match enough {
        Enough::Pairs(pairs) => format!(
            "{ended}about {} more pairs are needed by the current estimates; raise `--calls-per-item` or the budget",
            count(pairs)
        ),
        Enough::Unknown if is_cut_short => {
            "the budget ended before enough true neighbors were candidates; raise `--budget`".to_owned()
        }
        Enough::Rows(rows) => format!("{ended}about {rows} audited rows are needed; use `--audit {rows}`"),
        Enough::Unknown => {
            "too many true neighbors are no candidates; raise `--calls-per-item`, or use a better proxy".to_owned()
        }
    }
}

//! `runner topk --target-recall ρ`: lists of neighbours that hold a share ρ of the true ones with probability 1 − δ.
//!
//! ```text
//! audited (default)   v uniform items are evaluated against all and hidden; a search in rounds goes on until they say that it is enough
//! --from-factors      each item's candidates by the factors are scored, as deep as held-out landmark columns say (`from_factors.rs`)
//! ```

use landmark_core::oracle::{OracleError, OracleShape};
use landmark_core::stream::stream;
use landmark_harness::experiments::own_data::{FACTORS, Statement};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::run::{self, Ended, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbours::nearest::{NeighbourError, RoundsParams};
use landmark_neighbours::recall::{Audit, AuditError, Audited, Bound, Enough, nearest_to};
use landmark_report::amounts::count;
use miette::{IntoDiagnostic, Report, Result};
use serde_json::json;

use crate::calls::{Answer, Place, announce, checks, proxies};
use crate::from_factors::{Recalled, from_factors};
use crate::neighbours::{Lists, top_k};
use crate::own::{own_matrix, target};

/// Calls an item at which a search gives up where nothing is said.
const CALLS_PER_ITEM: usize = 100;

/// Lists the `k` most similar items of every item, with a stated recall; [`Ended::BudgetExhausted`] where it is not reached.
///
/// # Errors
/// A recall that can't be stated, and whatever stops a run.
pub fn top_k_with_recall(invocation: &Invocation, wanted: &Recalled) -> Result<(String, Ended)> {
    let target = target(wanted.target, wanted.delta)?;
    if own_matrix(&invocation.config()?)?.oracle.settings().is_given() && !wanted.dry_run {
        return top_k(invocation, Lists { k: wanted.k, ..Lists::default() });
    }
    if wanted.from_factors {
        return from_factors(invocation, wanted, target).map(|text| (text, Ended::Done));
    }
    let place = Place::of(invocation, wanted.budget, wanted.dry_run)?;
    let audit = Audit { target, is_strict: wanted.is_strict, rows: wanted.audit };
    let found = run::with_sweep(&place.config, &place.matrix, &place.options, |context| {
        let found = if wanted.dry_run {
            Ok(Err(bill(&context, wanted, audit)))
        } else {
            search(&context, wanted, audit, place.options.quiet)
        };
        context.metered.flush()?;
        found.map_or_else(|report| Ok(Err(report)), |found| Ok(Ok(found)))
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

fn params(wanted: &Recalled, items: usize) -> RoundsParams {
    let most = wanted.calls_per_item.unwrap_or(CALLS_PER_ITEM).min(items.saturating_sub(1)).max(1);
    RoundsParams { k: wanted.k, calls_per_item: most, share: wanted.share, ..RoundsParams::default() }
}

/// The bill: exact for audited rows, an upper bound for what they decide.
fn bill(context: &SweepContext<'_>, wanted: &Recalled, audit: Audit) -> String {
    let OracleShape { len, evaluations_per_pair, .. } = context.metered.shape();
    let rows = audit.rows.unwrap_or_else(|| Bound::of(wanted.k, audit.is_strict).rows(audit.target)).min(len);
    let (n, v, price) = (len as u64, rows as u64, evaluations_per_pair.max(1));
    let whole = v * n.saturating_sub(1) - v * v.saturating_sub(1) / 2;
    // calls an item are calls, not pairs
    let searched = n * params(wanted, len).calls_per_item as u64 / price;
    let most = (whole + searched).min(n * n.saturating_sub(1) / 2);
    let calls = |pairs: u64| count(pairs * price);
    format!(
        "{} evaluations for {rows} audited rows, and {} at most in all; those that the store holds are not made again\n{}",
        calls(whole),
        calls(most),
        checks(context)
    )
}

/// A search in rounds, heeding audited rows.
fn search(
    context: &SweepContext<'_>,
    wanted: &Recalled,
    audit: Audit,
    quiet: bool,
) -> Result<Result<(Answer, Statement), String>> {
    let (n, gamma) = (context.problem.items(), context.fixed_gamma());
    let oracle = context.similarities(gamma).map_err(RunError::from)?;
    let names = (context.run.seed, context.problem.dataset.as_str());
    // the order that uniform factors draw from: their columns are there
    let landmarks = context.problem.uniform_landmarks(context.run.seed, 0);
    let mut rng = stream(names.0, names.1, "audit", 0);
    let (_, proxies) = proxies(context)?;
    announce(context, &proxies, quiet).map_err(Report::from_err)?;
    let found = nearest_to(oracle.as_ref(), &proxies, params(wanted, n), &landmarks, audit, &mut rng);
    let Audited { lists, landmarks, rows, bound, steps, refused } = found.map_err(no_recall)?;
    let last = steps.last().copied();
    let evaluations = context.metered.spent().evaluations;
    let statement = Statement {
        k: Some(wanted.k.min(n.saturating_sub(1))),
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
        enough: refused.map(in_words),
    };
    let text = statement.lines();
    let mut info = serde_json::to_value(&statement).into_diagnostic()?;
    info["items"] = json!(n);
    info["audited"] = json!(rows);
    info["steps"] = json!(steps);
    info["seed"] = json!(context.run.seed);
    info["oracle"] = json!(context.problem.raw.identity().to_hex());
    Ok(Ok((Answer { lists, text, info }, statement)))
}

/// What would have been enough.
fn in_words(enough: Enough) -> String {
    match enough {
        Enough::Pairs(pairs) => format!(
            "about {} further pairs would be enough by the estimates as they stand; raise `--calls-per-item` or the budget",
            count(pairs)
        ),
        Enough::Rows(rows) => format!("about {rows} audited rows would be enough, `--audit {rows}`"),
        Enough::Unknown => {
            "too many of the true neighbours are no candidates: raise `--calls-per-item`, or give a better proxy"
                .to_owned()
        }
    }
}

/// A budget that ends in the audited rows, too few of them, or what else went wrong.
fn no_recall(error: AuditError) -> Report {
    match error {
        AuditError::TooFew(error) => UsageError::new(error.to_string(), Some("raise `--audit`".to_owned())).into(),
        AuditError::Search(NeighbourError::Oracle(OracleError::BudgetExhausted { budget, spent, requested })) => {
            let message = format!("the budget of {budget} evaluations ends before the audited rows are evaluated");
            let help = format!("raise it above {}; what was evaluated is kept", spent + requested);
            UsageError::new(message, Some(help)).into()
        }
        AuditError::Search(NeighbourError::Oracle(error)) => RunError::from(error).into(),
        other => Report::from_err(other),
    }
}

//! `landmark topk`, modes `search` and `exact`: neighbors by exact scores, from a number of calls.
//!
//! No factors are needed. If there are some, the search stands on them: it knows their columns and pairs, and they are one of its proxies. A killed
//! search starts again, asks for the same pairs, and finds what it had in the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::own_data;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleError, OracleShape};
use landmark_harness::config::{Budget, Config, MatrixSubject, ProxyConfig, ProxyKind};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::items::OwnItems;
use landmark_harness::oracles::wmd::WmdConfig;
use landmark_harness::progress::Progress;
use landmark_harness::run::{self, Ended, RunError, RunOptions};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::nearest::{
    Known, Neighbor, NeighborError, Rounds, RoundsParams, Search, nearest_within_bounds,
};
use landmark_report::amounts::count;
use landmark_report::write_file;
use miette::{IntoDiagnostic, Report, Result};
use serde_json::json;

use crate::candidates;
use crate::known::{Basis, SearchScores, basis, with_stored};
use crate::named::Named;
use crate::own::{check_out, draw_again, ended, one_list_only, own_matrix, refused, write_table};

mod words;

pub(crate) use words::{announce, checks, known_in_words};
use words::{lines, own_work, stands_on_something};

/// Pairs asked of the oracle at a time where no budget may end in their midst.
const PAIRS_AT_A_TIME: usize = 1 << 16;

/// The same under a budget: what it cuts off is no more than that.
const PAIRS_UNDER_A_BUDGET: usize = 256;

/// How the neighbors are found.
#[derive(Debug, Clone)]
pub enum Calls {
    /// Calls per item, in rounds, and the file of candidates that they begin with.
    Rounds(Rounds, Option<PathBuf>),
    /// As many as it takes to prove the k nearest, by the bounds among the proxies.
    Proven(usize),
}

impl Calls {
    /// A search with `calls_per_item` calls per item.
    pub fn in_rounds(
        k: usize,
        calls_per_item: usize,
        rounds: usize,
        share: f64,
        candidates: Option<PathBuf>,
    ) -> Result<Self> {
        let params = RoundsParams { k, calls_per_item, rounds, share, ..RoundsParams::default() };
        let rounds = params.check().map_err(|error| UsageError::new(error.to_string(), None))?;
        Ok(Self::Rounds(rounds, candidates))
    }
}

/// Where the search looks, and where its answer goes.
pub(crate) struct Place {
    pub(crate) config: Config,
    pub(crate) matrix: MatrixSubject,
    pub(crate) options: RunOptions,
    items: Option<OwnItems>,
    pub(crate) table: PathBuf,
    /// The page of the run that the answer is written next to.
    page: Option<PathBuf>,
}

/// What a search found, and how.
pub(crate) struct Answer {
    pub(crate) lists: Vec<Vec<Neighbor>>,
    /// The lines that report what it took.
    pub(crate) text: String,
    /// The same for programs.
    pub(crate) info: serde_json::Value,
}

/// Lists the most similar items of every item, scored by the oracle itself; [`Ended::BudgetExhausted`] where a budget ends first: that of the
/// configuration, or `budget` evaluations in its place.
pub fn top_k_by_calls(
    invocation: &Invocation,
    calls: &Calls,
    budget: Option<u64>,
    dry_run: bool,
) -> Result<(String, Ended)> {
    let place = Place::of(invocation, budget, dry_run)?;
    let calls = &place.across(calls)?;
    let found = run::with_sweep(&place.config, &place.matrix, &place.options, |context| {
        let found = match calls {
            Calls::Rounds(rounds, candidates) if dry_run => place.dry(&context, rounds, candidates.as_deref()),
            Calls::Proven(k) if dry_run => Err(dry_bounds(&context, *k)),
            Calls::Rounds(rounds, candidates) => place.search(&context, rounds, candidates.as_deref()),
            Calls::Proven(k) => place.prove(&context, *k),
        };
        context.metered.flush()?;
        Ok(found)
    });
    match found? {
        Ok((answer, ended)) => Ok((place.write(answer)?, ended)),
        Err(NoAnswer::DryRun(text)) => Ok((text, Ended::Done)),
        Err(NoAnswer::CutShort(text)) => Ok((text, Ended::BudgetExhausted)),
        Err(NoAnswer::Failed(report)) => Err(report),
    }
}

/// Reason why there are no lists.
enum NoAnswer {
    /// The call estimate was asked for.
    DryRun(String),
    /// The budget ended before anything was proven.
    CutShort(String),
    Failed(Report),
}

/// Lists, and whether a budget ended before they were finished.
type Found = Result<(Answer, Ended), NoAnswer>;

impl From<Report> for NoAnswer {
    fn from(report: Report) -> Self {
        Self::Failed(report)
    }
}

impl From<RunError> for NoAnswer {
    fn from(error: RunError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<OracleError> for NoAnswer {
    fn from(error: OracleError) -> Self {
        RunError::from(error).into()
    }
}

impl From<NeighborError> for NoAnswer {
    fn from(error: NeighborError) -> Self {
        Self::Failed(Report::from_err(error))
    }
}

/// Proxies as the configuration names them, and as similarities.
pub(crate) type Proxies<'a> = (Option<&'a ProxyConfig>, Vec<Arc<dyn Oracle>>);

/// Proxies of the method, seen through γ.
pub(crate) fn proxies<'a>(context: &SweepContext<'a>) -> Result<Proxies<'a>, RunError> {
    let wanted = context.matrix.methods.first().and_then(|method| method.proxy.as_ref());
    let proxies = context.problem.proxies(wanted, context.fixed_gamma())?;
    Ok((wanted, proxies))
}

/// A search that knows what there is.
pub(crate) fn opened(
    rounds: Rounds,
    shape: OracleShape,
    proxies: Vec<Arc<dyn Oracle>>,
    landmarks: &Landmarks,
    known: Known,
) -> Result<Search, NeighborError> {
    match stands_on_something(&known) {
        true => Search::knowing(rounds, shape, proxies, landmarks, known),
        false => Search::new(rounds, shape, proxies, landmarks),
    }
}

fn dry_bounds(context: &SweepContext<'_>, k: usize) -> NoAnswer {
    let (n, shape) = (context.problem.items() as u64, context.metered.shape());
    let most = n * n.saturating_sub(1) / 2;
    let least = (n * (k as u64).min(n.saturating_sub(1))).div_ceil(2);
    let calls = |pairs: u64| pairs * shape.evaluations_per_pair;
    let mut text = format!(
        "between {} and {} calls: the number that proves the {k} nearest of each of {} items depends on the scores\n",
        count(calls(least)),
        count(calls(most)),
        count(n)
    ) + &checks(context);
    if let Some(limit) = context.matrix.budget.limit().filter(|&limit| limit < calls(most)) {
        text += &format!("the budget of {} calls may end before that, and then nothing is listed\n", count(limit));
    }
    NoAnswer::DryRun(text)
}

impl Place {
    /// Under the configuration's budget, or `entries` evaluations in its place.
    pub(crate) fn of(invocation: &Invocation, entries: Option<u64>, dry_run: bool) -> Result<Self> {
        let config = invocation.config()?;
        let mut matrix = own_matrix(&config)?.clone();
        check_out(invocation)?;
        if entries.is_some() {
            matrix.budget = Budget { calls: entries, ..Budget::default() };
        }
        let options = RunOptions { dry_run, ..invocation.options.clone() };
        let folder = run::results_folder(&config, &options);
        let texts = matrix.dataset.texts().map(|texts| OwnItems::of(texts, options.data.as_deref()));
        let items = texts.transpose().map_err(UsageError::of)?;
        let table = invocation.out.clone().unwrap_or_else(|| folder.join(own_data::NEIGHBORS));
        let page = invocation.out.is_none().then(|| folder.join("report.html"));
        Ok(Self { config, matrix, options, items, table, page })
    }

    /// The same search, of two lists across them.
    fn across(&self, calls: &Calls) -> Result<Calls> {
        match calls {
            Calls::Rounds(rounds, None) => {
                let params = RoundsParams { left: self.named().left(), ..rounds.params().clone() };
                Ok(Calls::Rounds(params.check().into_diagnostic()?, None))
            }
            Calls::Rounds(..) => one_list_only(&self.matrix, "`--candidates` are of one list").map(|()| calls.clone()),
            Calls::Proven(_) => {
                let reason = "`--mode exact` proves the neighbors within one list";
                one_list_only(&self.matrix, reason).map(|()| calls.clone())
            }
        }
    }

    /// Items, of two lists those of either.
    fn items_in_words(&self, items: usize) -> String {
        match self.named().left() {
            Some(left) => format!("{} × {} items", count(left as u64), count((items - left) as u64)),
            None => format!("{} items", count(items as u64)),
        }
    }

    /// The call estimate; not one call is made.
    fn dry(&self, context: &SweepContext<'_>, rounds: &Rounds, candidates: Option<&Path>) -> Found {
        candidates.map(|path| candidates::read(path, context.problem.items(), self.items.as_ref())).transpose()?;
        let (wanted, proxies) = proxies(context)?;
        let Basis { known, note } = basis(context)?;
        let (shape, (_, rounds)) = (context.metered.shape(), SearchScores::of(context, context.fixed_gamma(), rounds)?);
        let planned = match stands_on_something(&known) {
            true => rounds.call_plan_beyond(shape, true, known.distinct()),
            false => rounds.call_plan(shape, !proxies.is_empty() || candidates.is_some()),
        };
        let by = wanted.map_or_else(|| "no proxy".to_owned(), ProxyConfig::label);
        let items = self.items_in_words(context.problem.items());
        let mut text = format!("{items}, {by}\n{note}{}{}{}", known_in_words(&known), lines(&planned), checks(context));
        own_work(context.problem.items(), &proxies)?.into_iter().for_each(|work| text += &format!("{work}\n"));
        let limit = context.matrix.budget.limit().filter(|&limit| limit < planned.calls);
        if let Some(limit) = limit {
            text += &format!(
                "the budget of {} calls ends before that, unless the other scores are stored; lower `--calls-per-item` to {}\n",
                count(limit),
                count(limit / (self.named().left().unwrap_or(context.problem.items()) as u64).max(1))
            );
        }
        Err(NoAnswer::DryRun(text))
    }

    /// Without a budget: for a command whose calls are few and known before the first.
    pub(crate) fn unlimited(invocation: &Invocation, dry_run: bool) -> Result<Self> {
        let place = Self::of(invocation, None, dry_run)?;
        Ok(Self { matrix: MatrixSubject { budget: Budget::default(), ..place.matrix }, ..place })
    }

    pub(crate) fn named(&self) -> Named<'_> {
        Named(self.items.as_ref())
    }

    /// A search in rounds, to the end of its calls or of the budget.
    fn search(&self, context: &SweepContext<'_>, rounds: &Rounds, candidates: Option<&Path>) -> Found {
        let gamma = context.fixed_gamma();
        let (scores, rounds) = SearchScores::of(context, gamma, rounds)?;
        let (wanted, proxies) = proxies(context)?;
        announce(context, &proxies, self.options.quiet)?;
        let n = context.problem.items();
        let landmarks = context.problem.uniform_landmarks(self.config.run.seed, 0);
        let Basis { known, note } = basis(context)?;
        let (mut text, is_known) = (note + &known_in_words(&known), stands_on_something(&known));
        let (known_pairs, given) = (known.distinct(), proxies.len());
        let shape = OracleShape::of(scores.wanted());
        let looked_through: Vec<_> = proxies.first().into_iter().chain(&known.seed).cloned().collect();
        let mut search = opened(rounds.clone(), shape, proxies, &landmarks, known)?;
        if rounds.params().left.is_none() && candidates::are_indexed(n, &looked_through) {
            let (indexed, words) = candidates::indexed(&looked_through, rounds.width(n), self.config.run.seed)?;
            text += &words;
            search = search.within(indexed)?;
        }
        if let Some(path) = candidates {
            search = search.with_candidates(candidates::read(path, n, self.items.as_ref())?, shape)?;
        }
        let progress =
            Progress::start(search.call_plan().calls, "evaluations", self.options.quiet, context.metered.counter());
        let is_limited = context.matrix.budget.limit().is_some() || context.matrix.budget.seconds.is_some();
        let at_a_time = if is_limited { PAIRS_UNDER_A_BUDGET } else { PAIRS_AT_A_TIME };
        let mut is_cut_short = false;
        'search: while let Some(batch) = search.next_batch()? {
            for pairs in batch.pairs.chunks(at_a_time) {
                match scores.ask(&mut search, &batch, pairs) {
                    Ok(_) => {}
                    Err(error) if error.is_exhausted() => {
                        is_cut_short = true;
                        break 'search;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        drop(progress);
        let planned = search.call_plan().clone();
        let mut found = search.finish()?;
        let params = rounds.params();
        with_stored(context, &mut found.lists, (params.k, params.left), is_known || planned.is_plain)?;
        let spent = context.metered.spent().evaluations;
        // fewer than planned if the search ran out of candidates
        let calls = found.calls;
        text += &match is_cut_short {
            true => {
                format!("the budget ended first: {} of {} calls were made now\n", count(spent), count(planned.calls))
            }
            false => format!("{} calls, {} of them new\n", count(calls), count(spent)),
        };
        if planned.trial > 0 && planned.columns == 0 {
            text += "skipped the landmark columns: hubness varied little, so those calls went to candidate pairs\n";
        }
        let kriged = found.rounds.iter().filter(|round| round.lambda.is_some()).count();
        let kinds: Vec<&ProxyKind> = wanted.into_iter().flat_map(ProxyConfig::kinds).collect();
        let other = if is_known { "factors" } else { "candidates" };
        let info = json!({
            "k": params.k,
            "calls_per_item": params.calls_per_item,
            "items": n,
            "left_items": params.left,
            "calls": if is_cut_short { planned.calls } else { calls },
            "pairs": if is_cut_short { planned.pairs } else { found.pairs },
            "known_pairs": known_pairs,
            "second_orders": planned.second_orders,
            "complete": !is_cut_short,
            "failed_pairs": found.failed,
            "columns": planned.columns,
            "trial_pairs": planned.trial,
            "plain_reranking": planned.is_plain,
            "rounds": planned.rounds,
            "share": params.share,
            "estimates": found.rounds,
            "kriged": kriged,
            // the factors of a run stand behind the proxies that were given
            "proxies": found.proxies.iter().map(|&at| if at < given { kinds[at].id() } else { other }).collect::<Vec<_>>(),
            "seed": self.config.run.seed,
            "oracle": context.problem.raw.identity().to_hex(),
            "gamma": gamma,
        });
        Ok((Answer { lists: found.lists, text, info }, ended(is_cut_short)))
    }

    /// The exact neighbors, by the bounds among the proxies; a budget that ends first leaves none.
    fn prove(&self, context: &SweepContext<'_>, k: usize) -> Found {
        let gamma = context.fixed_gamma();
        let is_distance = context.matrix.oracle.settings_of::<WmdConfig>().is_some();
        let wanted = context.matrix.methods.first().and_then(|method| method.proxy.as_ref());
        let kinds: Vec<&ProxyKind> = wanted.into_iter().flat_map(ProxyConfig::kinds).collect();
        let is_bound = |kind: &&ProxyKind| matches!(kind, ProxyKind::Rwmd | ProxyKind::Wcd);
        if kinds.is_empty() || !kinds.iter().all(is_bound) || !is_distance {
            let message = "cannot find exact neighbors: `--mode exact` requires proxies that bound the score";
            let help = "use `oracle: wmd` with `proxy: [rwmd, wcd]`, or `--calls-per-item` instead";
            return Err(refused(message, help).into());
        }
        let oracle = context.similarities(gamma)?;
        let bounds = context.problem.proxies(wanted, gamma)?;
        let n = context.problem.items() as u64;
        let all = n * n.saturating_sub(1) / 2;
        let done = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&done);
        let progress = Progress::start(all, "pairs at most", self.options.quiet, move || seen.load(Ordering::Relaxed));
        let found = nearest_within_bounds(&oracle, &bounds, k, |pairs| done.store(pairs, Ordering::Relaxed));
        drop(progress);
        let found = match found {
            Ok(found) => found,
            Err(NeighborError::Oracle(error)) if error.is_exhausted() => {
                return Err(NoAnswer::CutShort(format!(
                    "the budget ended before the {k} nearest of each item were proven: nothing is listed\n\
                     {} new calls, which are stored: a larger budget continues from there\n",
                    count(context.metered.spent().evaluations)
                )));
            }
            Err(NeighborError::Oracle(error)) => return Err(error.into()),
            Err(error) => return Err(error.into()),
        };
        let spent = context.metered.spent().evaluations;
        // counts far below 2^52
        let share = 100.0 * found.pairs as f64 / all.max(1) as f64;
        let text = format!(
            "proven with {} of {} pairs ({share:.1}%), {} new calls\n",
            count(found.pairs),
            count(all),
            count(spent)
        );
        let info = json!({
            "k": k,
            "items": n,
            "pairs": found.pairs,
            "calls": found.pairs * context.metered.shape().evaluations_per_pair,
            "all_pairs": all,
            "recall": 1.0,
            "bounds": kinds.iter().map(|kind| kind.id()).collect::<Vec<_>>(),
            "rounds": found.rounds,
            "oracle": context.problem.raw.identity().to_hex(),
            "gamma": gamma,
        });
        Ok((Answer { lists: found.lists, text, info }, Ended::Done))
    }

    /// Writes the lists, and next to them what they took.
    pub(crate) fn write(&self, answer: Answer) -> Result<String> {
        let Answer { lists, text, mut info } = answer;
        let entries = lists.iter().map(Vec::len).sum::<usize>();
        let proven = lists.iter().flatten().filter(|one| one.exact).count();
        write_table(&self.table, Named(self.items.as_ref()).neighbors(&lists))?;
        info["listed"] = json!(entries);
        info["listed_exactly"] = json!(proven);
        let summary = self.table.with_extension("json");
        let mut bytes = serde_json::to_vec_pretty(&info).into_diagnostic()?;
        bytes.push(b'\n');
        write_file(&summary, &bytes).into_diagnostic()?;
        [&self.table, &summary].into_iter().for_each(|path| self.options.record.file(path));
        self.options.record.fact("search", &info);
        let listed = lists.first().map_or(0, Vec::len);
        let drawn = match self.page.as_ref().filter(|page| page.exists()) {
            Some(_) => draw_again(&self.config, &self.options),
            None => String::new(),
        };
        let (what, of) = match self.named().left() {
            Some(_) => ("items of the right list", " of the left list"),
            None => ("neighbors", ""),
        };
        Ok(format!(
            "{text}the {listed} nearest {what} of each of {} items{of}: `{}`; {} of {} have an exact score\n{drawn}",
            count(lists.len() as u64),
            self.table.display(),
            count(proven as u64),
            count(entries as u64)
        ))
    }
}

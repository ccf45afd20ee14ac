//! Checks across sections, which no section can make alone.

use landmark_core::approximation::Known;
use landmark_yaml::{Problem, Section, list};

use super::matrix::MatrixSubject;
use super::values::Tuned;
use crate::oracles::wmd::WmdConfig;
use crate::oracles::{OracleSpec, Orders};

/// A name becomes a folder.
pub(super) fn name(name: &str, section: &Section<'_>) -> bool {
    let is_good = !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    if !is_good {
        section.refuse(
            "name",
            format!("`name` is `{name}`, but must be letters, digits, `_`, `-` or `.`: it names a folder"),
        );
    }
    is_good
}

/// The folder `runs/<profile>` holds the runs of a profile, and is no folder of a run. A name is refused in every profile, the default among them.
pub(super) fn is_no_profile(name: &str, profiles: &[String], section: &Section<'_>) -> bool {
    let is_free = !profiles.iter().any(|profile| profile == name);
    if !is_free {
        section.refuse(
            "name",
            format!("`name` is `{name}`, which is the name of a profile: its folder of results holds the runs of that profile; call the run otherwise, for example `{name}_run`"),
        );
    }
    is_free
}

/// Sections that contradict each other.
pub(super) fn together(matrix: &MatrixSubject, section: &Section<'_>, known: &[&'static OracleSpec]) {
    let experiment = matrix.experiment;
    readable(matrix, section, known);
    if matrix.dataset.has_two_lists() && !experiment.makes_factors() {
        let id = experiment.entry.id;
        let problem = Problem::new(format!("`experiment: {id}` reads one list of items, and `two_lists` has two"));
        let place = section.place_of("experiment");
        section.problems().add(problem.at(place).help("use `experiment: own_data`, or a dataset of one list"));
    }
    (experiment.check)(matrix, section);
    if !experiment.searches() && matrix.oracle.gamma() == Some(Tuned::Search) {
        section.refuse(
            "oracle",
            format!("`oracle.gamma` is searched for by classification; `{}` needs a number", experiment.entry.id),
        );
    }
    if matrix.budget.money.is_some() && matrix.budget.cost_per_entry.is_none() && !matrix.oracle.settings().is_priced()
    {
        section.refuse("budget", "`budget.money` needs `budget.cost_per_entry`: what does one evaluation cost?");
    }
    if !matrix.search.rank.is_empty() {
        if !experiment.searches() {
            section.refuse("tuning", format!("`tuning.rank` is for `classification`, not `{}`", experiment.entry.id));
        }
        if section.has("ranks") {
            section.refuse("ranks", "`ranks` and `tuning.rank` exclude each other: ranks are given or searched for");
        }
        if matrix.target_error.is_some() {
            section.refuse("target_error", "`target_error` and `tuning.rank` exclude each other: both choose the rank");
        }
    }
    for method in matrix.methods.iter().filter(|method| method.id == "wme") {
        let is_wmd = matrix.oracle.settings_of::<WmdConfig>().is_some();
        let problem = match () {
            () if !is_wmd => {
                "`wme` makes features of documents under word mover's distance, which is not the oracle here"
            }
            () if method.proxy.is_some() || method.known != Known::NOTHING => {
                "`wme` evaluates no entry of the matrix: it takes neither `known` nor a `proxy`"
            }
            () => continue,
        };
        section.problems().add(Problem::new(problem).at(method.place));
    }
    one_order(matrix, section);
    if matrix.target_error.is_some() && matrix.error_estimate.is_none() {
        section
            .refuse("target_error", "`target_error` is held against an `error_estimate`, but there is none: add one");
    }
}

/// The oracle and the proxies read items of the kinds that the dataset has.
fn readable(matrix: &MatrixSubject, section: &Section<'_>, known: &[&'static OracleSpec]) {
    let (dataset, oracle, experiment) = (&matrix.dataset, &matrix.oracle, matrix.experiment);
    if let Some(problem) = dataset.unread_by(&format!("`{}`", oracle.kind()), oracle.reads()) {
        let suits = |spec: &&&OracleSpec| spec.reads.iter().any(|kind| dataset.kinds().contains(kind));
        let others: Vec<&str> = known.iter().filter(suits).map(|spec| spec.entry.id).collect();
        let place = section.place_of("oracle");
        section.problems().add(problem.and(&format!(": use {}", list(&others))).at(place));
    } else if let Some(message) = oracle.settings().refusal(dataset.kinds()) {
        section.refuse("oracle", message);
    }
    let own = matrix.own.iter().flat_map(|own| own.proxies());
    let key = experiment.entry.keys.section().unwrap_or("experiment");
    for kind in own {
        if let Some(problem) = dataset.unread_by(&format!("the proxy `{}`", kind.id()), kind.reads()) {
            section.problems().add(problem.at(section.place_of(key)));
        } else if kind.is_distance() && oracle.gamma().is_none() {
            let message = format!(
                "the proxy `{}` is a distance, and this oracle has no `gamma` that would make a similarity of it",
                kind.id()
            );
            section.refuse(key, message);
        }
    }
    if matrix.queries().is_some() && dataset.texts().is_none() {
        let problem =
            Problem::new(format!("queries are searched among texts, which the dataset `{}` is not", dataset.name));
        section.problems().add(problem.at(dataset.place).help("use `{ name: texts, path: … }`"));
    }
    for method in &matrix.methods {
        let Some(proxy) = &method.proxy else { continue };
        for kind in proxy.kinds() {
            if let Some(problem) = dataset.unread_by(&format!("the proxy `{}`", kind.id()), kind.reads()) {
                section.problems().add(problem.at(method.place));
            }
        }
    }
}

/// Requirements of methods that are fitted to one order a pair: a score with two orders whose mean is wanted.
fn one_order(matrix: &MatrixSubject, section: &Section<'_>) {
    let experiment = matrix.experiment;
    for method in matrix.methods.iter().filter(|method| method.order.is_some()) {
        if !matches!(matrix.oracle.orders(), Some(Orders::Mean | Orders::Random)) {
            let message = format!("`{}` reads one order a pair, but the score is not the mean of both", method.name);
            let problem = Problem::new(message).at(method.place);
            section
                .problems()
                .add(problem.help("set `oracle.order: mean` (of a program or a matrix: `symmetrize: mean`)"));
        }
    }
    if !matrix.reads_one_order() {
        return;
    }
    if !experiment.is_about_errors() && !experiment.makes_factors() {
        let id = experiment.entry.id;
        section.refuse(
            "experiment",
            format!("`{id}` reads both orders of a pair: set them to `mean`, and leave out `order: random`"),
        );
    }
    for method in matrix.methods.iter().filter(|method| !method.entry.draws || method.id == "wme") {
        if method.order.is_some() {
            let message = format!("`{}` reads no columns, of one order or of both", method.id);
            section.problems().add(Problem::new(message).at(method.place).help("leave `order` out"));
        }
    }
    // such a fit is made several times over what was planned once
    for method in matrix.methods.iter().filter(|method| matrix.is_by_one_order(method) && method.chooses_pairs()) {
        let what = if method.entries.is_columns() { method.id } else { "entries: scattered" };
        let message = format!(
            "`{what}` and one order a pair exclude each other: one order a pair takes several fits, and each would choose pairs of its own"
        );
        let help = "set the order to `mean`, or read columns alone";
        section.problems().add(Problem::new(message).at(method.place).help(help));
    }
    if matrix.target_error.is_some() {
        let message =
            "`target_error` judges by the entries that the fit sees, and one order a pair is not what is wanted";
        section.refuse("target_error", message);
    }
    if matrix.budget.seconds.is_some() && experiment.makes_factors() {
        let message = "`budget.seconds` grows the rank by the entries that the fit sees, and one order a pair is not what is wanted";
        section.refuse("budget", message);
    }
}

//! Wrong statements of a recall of pairs, counted over all draws, on populations chosen to break the rule.

use std::collections::HashSet;
use std::convert::Infallible;

use landmark_core::oracle::Pair;
use landmark_core::stream::stream;
use landmark_neighbors::recall::{
    AuditedPairs, Batch, PairQuery, PairSource, PairsEnd, Target, most_unseen, pairs_with_recall,
};
use rand::Rng;
use rayon::prelude::*;

const DRAWS: u64 = 1000;

/// Scores of all pairs, and the order of their estimates.
struct Population {
    items: usize,
    /// Uniform items whose columns are known, others in each draw.
    columns: usize,
    /// Pairs by estimate, best first.
    order: Vec<Pair>,
    positives: HashSet<Pair>,
}

impl Population {
    /// `is_positive` and `estimate` of each pair.
    fn new(items: usize, mut pair: impl FnMut(usize, usize) -> (bool, f64)) -> Self {
        let mut all = Vec::new();
        let mut positives = HashSet::new();
        for i in 0..items {
            for j in i + 1..items {
                let (is_positive, estimate) = pair(i, j);
                if is_positive {
                    positives.insert((i, j));
                }
                all.push((estimate, (i, j)));
            }
        }
        all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        Self { items, columns: 0, order: all.into_iter().map(|(_, pair)| pair).collect(), positives }
    }

    fn with_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// Groups of `sizes`, in each of which pairs are positive; the estimate of a group has an error that its members share.
    fn groups(items: usize, sizes: &[usize], shared: f64, unseen: usize, rng: &mut impl Rng) -> Self {
        let mut group = vec![usize::MAX; items];
        let (mut next, mut number, mut errors) = (0, 0, Vec::new());
        'all: for &size in sizes.iter().cycle() {
            for _ in 0..size {
                if next == items || number >= sizes.len() {
                    break 'all;
                }
                group[next] = number;
                next += 1;
            }
            errors.push(shared * (rng.r#gen::<f64>() - 0.5));
            number += 1;
        }
        errors.resize(number + 1, 0.0);
        Self::new(items, |i, j| {
            let is_positive = group[i] != usize::MAX && group[i] == group[j];
            // the estimate does not see the first groups at all
            let signal = if is_positive && group[i] >= unseen { 1.0 + errors[group[i]] } else { 0.0 };
            (is_positive, signal + 0.4 * rng.r#gen::<f64>())
        })
    }
}

/// One search of a population: some items have known columns, and there may be a budget.
struct Draw<'a> {
    population: &'a Population,
    /// Unknown pairs, best first.
    order: Vec<Pair>,
    is_column: Vec<bool>,
    left: usize,
    evaluated: usize,
    /// False for a rule that believes its first cut.
    audits: bool,
    /// True once an audit was asked for.
    asked: bool,
}

impl<'a> Draw<'a> {
    /// Without columns, and without a budget.
    fn whole(population: &'a Population, order: Vec<Pair>) -> Self {
        let is_column = vec![false; population.items];
        Self { population, order, is_column, left: usize::MAX, evaluated: 0, audits: true, asked: false }
    }
}

impl PairSource for Draw<'_> {
    type Error = Infallible;

    fn is_known(&self, (i, j): Pair) -> bool {
        self.is_column[i] || self.is_column[j]
    }

    fn best(&mut self, count: usize) -> Vec<Pair> {
        self.order[..count.min(self.order.len())].to_vec()
    }

    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>, Infallible> {
        let paid = &pairs[..pairs.len().min(self.left)];
        self.left -= paid.len();
        self.evaluated += paid.len();
        Ok(paid.iter().map(|pair| f64::from(u8::from(self.population.positives.contains(pair)))).collect())
    }

    fn may_evaluate(&mut self, batch: &Batch<'_>) -> Result<bool, Infallible> {
        self.asked |= batch.audited_of.is_some();
        Ok(self.audits || batch.audited_of.is_none())
    }
}

/// What came of all draws, as shares of them.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Statements that are false.
    wrong: f64,
    /// The target was reached by an audit, or by all pairs.
    reached: f64,
    /// It was reached by an audit.
    by_audit: f64,
    /// Mean calls per item, columns included.
    calls: f64,
}

fn outcome(population: &Population, target: Target, budget: usize, audits: bool) -> Outcome {
    let n = population.items;
    let total = population.positives.len() as f64;
    let of_draw = |number: u64| -> [u64; 4] {
        let mut rng = stream(7, "coverage", "pairs", number);
        let mut is_column = vec![false; n];
        rand::seq::index::sample(&mut rng, n, population.columns).into_iter().for_each(|item| is_column[item] = true);
        let is_known = |&&(i, j): &&Pair| is_column[i] || is_column[j];
        let known = population.order.iter().filter(is_known).count();
        let in_columns = population.positives.iter().filter(|pair| is_known(pair)).count();
        let order: Vec<Pair> = population.order.iter().filter(|pair| !is_known(pair)).copied().collect();
        let mut draw = Draw { is_column: is_column.clone(), left: budget, audits, ..Draw::whole(population, order) };
        let query =
            PairQuery { items: n, at_least: 0.5, target, known: known as u64, known_positives: in_columns as u64 };
        let found = pairs_with_recall(query, &mut draw, &mut rng).unwrap_or_else(|never| match never {});
        let share = (found.found.len() + in_columns) as f64 / total.max(1.0);
        let stated = match found.end {
            PairsEnd::Reached => target.recall(),
            PairsEnd::Exact => 1.0,
            PairsEnd::Below { lower } => lower,
            // the rule that believes its first cut states the target there
            PairsEnd::NotAudited { .. } if !audits && draw.asked => target.recall(),
            PairsEnd::NothingFound { .. } | PairsEnd::NotAudited { .. } => 0.0,
        };
        let is_wrong = total > 0.0 && share < stated - 1e-12;
        let is_reached = matches!(found.end, PairsEnd::Reached | PairsEnd::Exact);
        let is_audited = found.end == PairsEnd::Reached;
        [is_wrong.into(), is_reached.into(), is_audited.into(), (draw.evaluated + known) as u64]
    };
    let sum = |one: [u64; 4], other: [u64; 4]| std::array::from_fn(|at| one[at] + other[at]);
    let counts = (0..DRAWS).into_par_iter().map(of_draw).reduce(|| [0; 4], sum);
    let [wrong, reached, by_audit, calls] = counts.map(|count| count as f64 / DRAWS as f64);
    Outcome { wrong, reached, by_audit, calls: calls / n as f64 }
}

fn targets() -> [Target; 3] {
    [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)].map(|(recall, delta)| Target::new(recall, delta).expect("a target"))
}

/// δ and three standard errors of its estimate.
fn most(target: Target) -> f64 {
    let delta = target.delta();
    delta + 3.0 * (delta * (1.0 - delta) / DRAWS as f64).sqrt()
}

fn populations() -> Vec<(&'static str, Population)> {
    let rng = &mut stream(3, "coverage", "populations", 0);
    let sizes = |count: usize, size: usize| vec![size; count];
    let mixed: Vec<usize> = (0..30).map(|at| 1 + at % 6).collect();
    let mut giant = sizes(45, 2);
    giant.insert(0, 14);
    vec![
        (
            "groups with a shared error, n = 116, 23 columns",
            Population::groups(116, &mixed, 3.0, 0, rng).with_columns(23),
        ),
        ("groups with a shared error, n = 116", Population::groups(116, &mixed, 3.0, 0, rng)),
        ("a fifth of 30 groups unseen, n = 150", Population::groups(150, &sizes(30, 5), 0.4, 6, rng)),
        ("a giant unseen group, n = 104", Population::groups(104, &giant, 0.2, 1, rng)),
        (
            "an unseen hub of 40, n = 100",
            Population::new(100, |i, j| {
                let is_hub = i == 0 && j <= 40;
                let is_pair = i >= 50 && i % 2 == 0 && j == i + 1;
                (is_hub || is_pair, f64::from(u8::from(is_pair)) + 0.5 * rng.r#gen::<f64>())
            }),
        ),
        (
            "one positive, first, n = 60",
            Population::new(60, |i, j| ((i, j) == (3, 9), if (i, j) == (3, 9) { 2.0 } else { rng.r#gen() })),
        ),
        (
            "three positives, one first, n = 60",
            Population::new(60, |i, j| (i < 3 && j == i + 30, if (i, j) == (0, 30) { 2.0 } else { rng.r#gen() })),
        ),
        ("small, n = 50, 25 columns", Population::groups(50, &sizes(12, 4), 3.0, 2, rng).with_columns(25)),
        (
            "ties, n = 100",
            Population::new(100, |i, j| (i / 4 == j / 4, f64::from(u8::from(i / 8 == j / 8 && i / 4 % 4 > 0)))),
        ),
        ("half of all pairs, n = 60", Population::new(60, |i, j| ((i + j) % 2 == 0, rng.r#gen()))),
        ("worthless order, n = 80", Population::new(80, |i, j| (i / 4 == j / 4, rng.r#gen()))),
        (
            "order upside down, n = 60, 10 columns",
            Population::new(60, |i, j| (i / 3 == j / 3, f64::from(u8::from(i / 3 != j / 3)))).with_columns(10),
        ),
    ]
}

#[test]
fn a_recall_of_pairs_is_wrong_in_no_more_draws_than_stated_and_belief_in_the_first_cut_is() {
    let mut believed = 0;
    for (name, population) in populations() {
        let mut cells = Vec::new();
        let mut is_refuted = false;
        for target in targets() {
            let seen = outcome(&population, target, usize::MAX, true);
            let without = outcome(&population, target, usize::MAX, false);
            cells.push(format!("{:.3} | {:.3} | {:.2} | {:.1}", seen.wrong, without.wrong, seen.by_audit, seen.calls));
            assert!(seen.wrong <= most(target), "{name} {target:?}: {seen:?}");
            assert!(seen.reached > 0.999, "{name} {target:?} states: {seen:?}");
            is_refuted |= without.wrong > most(target);
        }
        println!("| {name} | {} |", cells.join(" | "));
        believed += u32::from(is_refuted);
    }
    // the populations can refute a rule: without its audit this one is wrong on most of them
    assert!(believed >= 6, "{believed} populations refute belief in the first cut");
}

#[test]
fn a_search_that_finds_nothing_says_so_and_states_nothing() {
    for population in [
        Population::new(60, |_, _| (false, 0.5)),
        Population::new(60, |i, j| ((i, j) == (3, 9), f64::from(u8::from((i, j) != (3, 9))))),
    ] {
        let mut draw = Draw::whole(&population, population.order.clone());
        let query = PairQuery { items: 60, at_least: 0.5, target: targets()[1], known: 0, known_positives: 0 };
        let mut rng = stream(7, "coverage", "nothing", 0);
        let found = pairs_with_recall(query, &mut draw, &mut rng).unwrap_or_else(|never| match never {});
        let PairsEnd::NothingFound { sample } = found.end else { panic!("{:?}", found.end) };
        // that a single positive is not there takes nine tenths of the pairs that are left
        assert!(
            !draw.asked && sample == (0.9 * found.below_cut as f64).ceil() as u64,
            "{sample} of {}",
            found.below_cut
        );
    }
}

#[test]
fn pairs_without_an_estimate_come_last_and_are_not_left_out() {
    // a third of the pairs has no place in the order, positives among them
    let population = Population::groups(40, &[4; 10], 0.4, 3, &mut stream(3, "coverage", "holes", 0));
    let order: Vec<Pair> = population.order.iter().copied().filter(|(i, j)| (i + j) % 3 > 0).collect();
    let target = Target::new(0.99, 0.001).expect("a target");
    let mut draw = Draw::whole(&population, order);
    let query = PairQuery { items: 40, at_least: 0.5, target, known: 0, known_positives: 0 };
    let mut rng = stream(7, "coverage", "holes", 0);
    let found = pairs_with_recall(query, &mut draw, &mut rng).unwrap_or_else(|never| match never {});
    assert!(matches!(found.end, PairsEnd::Exact | PairsEnd::Reached), "{:?}", found.end);
    assert!(found.found.len() as f64 >= 0.99 * population.positives.len() as f64);
}

#[test]
fn the_bound_of_a_search_that_a_budget_ends_is_wrong_in_no_more_draws_than_stated() {
    let mut ended = 0.0;
    for (name, population) in populations() {
        let target = targets()[1];
        let whole = outcome(&population, target, usize::MAX, true);
        let known =
            population.columns as f64 * (1.0 - (population.columns as f64 + 1.0) / (2.0 * population.items as f64));
        for share in [0.5, 1.2] {
            let budget = (share * (whole.calls - known) * population.items as f64) as usize;
            let seen = outcome(&population, target, budget, true);
            ended += 1.0 - seen.reached;
            assert!(seen.wrong <= most(target), "{name} {target:?} {budget}: {seen:?}");
        }
    }
    assert!(ended > 1.0, "some searches end before their target");
}

/// Pairs (i, j) in their order, positive if i = 0 and j is at most some item.
struct Rows {
    items: usize,
    positive_to: usize,
    left: usize,
    evaluated: Vec<Pair>,
    sample: Vec<Pair>,
    /// The score of a pair that is not positive.
    other: f64,
}

impl PairSource for Rows {
    type Error = Infallible;

    fn is_known(&self, _: Pair) -> bool {
        false
    }

    fn best(&mut self, count: usize) -> Vec<Pair> {
        let n = self.items;
        (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).take(count).collect()
    }

    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>, Infallible> {
        let paid = &pairs[..pairs.len().min(self.left)];
        self.left -= paid.len();
        self.evaluated.extend(paid);
        let score = |&(i, j): &Pair| if i == 0 && j <= self.positive_to { 1.0 } else { self.other };
        Ok(paid.iter().map(score).collect())
    }

    fn may_evaluate(&mut self, batch: &Batch<'_>) -> Result<bool, Infallible> {
        if batch.audited_of.is_some() {
            self.sample = batch.pairs.to_vec();
        }
        Ok(true)
    }
}

fn rows(items: usize, positive_to: usize, left: usize, other: f64) -> (Rows, AuditedPairs) {
    let mut source = Rows { items, positive_to, left, evaluated: Vec::new(), sample: Vec::new(), other };
    let query = PairQuery { items, at_least: 0.5, target: targets()[1], known: 0, known_positives: 0 };
    let mut rng = stream(7, "coverage", "rows", 0);
    let found = pairs_with_recall(query, &mut source, &mut rng).unwrap_or_else(|never| match never {});
    (source, found)
}

#[test]
fn a_sample_of_many_pairs_is_distinct_and_below_the_cut_and_no_pair_is_evaluated_twice() {
    // 4.5 million pairs, which are not listed
    let (source, found) = rows(3000, 2500, usize::MAX, 0.0);
    assert_eq!(found.end, PairsEnd::Reached);
    let distinct: HashSet<Pair> = source.evaluated.iter().copied().collect();
    assert_eq!((distinct.len(), source.sample.len() as u64), (source.evaluated.len(), found.audited));
    assert_eq!(source.evaluated.len() as u64, found.by_estimate + found.audited);
    let above: HashSet<Pair> = source.evaluated[..found.by_estimate as usize].iter().copied().collect();
    assert!(source.sample.iter().all(|pair| !above.contains(pair) && pair.0 < pair.1));
    // uniform: half of the first items lie below the median of min(i, j), n (1 - sqrt(1/2))
    let median = 3000.0 * (1.0 - 0.5_f64.sqrt());
    let below =
        source.sample.iter().filter(|pair| (pair.0 as f64) < median).count() as f64 / source.sample.len() as f64;
    assert!((below - 0.5).abs() < 4.0 * 0.5 / (source.sample.len() as f64).sqrt(), "{below}");
}

#[test]
fn a_budget_that_ends_amid_the_sample_leaves_the_pairs_that_were_found_and_no_statement() {
    let (whole, _) = rows(120, 100, usize::MAX, 0.0);
    let before = whole.evaluated.len() - whole.sample.len();
    let (cut, found) = rows(120, 100, before + whole.sample.len() / 2, 0.0);
    assert_eq!(found.end, PairsEnd::NotAudited { sample: Some(whole.sample.len() as u64) });
    assert_eq!((found.found.len(), cut.evaluated.len()), (100, before + whole.sample.len() / 2));
}

#[test]
fn a_search_that_ends_after_its_audit_states_the_bound_of_its_first_cut() {
    let population = Population::groups(60, &[4; 15], 3.0, 4, &mut stream(3, "coverage", "below", 0));
    let query = PairQuery { items: 60, at_least: 0.5, target: targets()[2], known: 0, known_positives: 0 };
    let mut seen = 0;
    for (number, left) in (0..20).flat_map(|number| (200..1700).step_by(100).map(move |left| (number, left))) {
        let order = population.order.clone();
        let is_column = vec![false; 60];
        let mut draw =
            Draw { population: &population, order, is_column, left, evaluated: 0, audits: true, asked: false };
        let mut rng = stream(7, "coverage", "below", number);
        let found = pairs_with_recall(query, &mut draw, &mut rng).unwrap_or_else(|never| match never {});
        let PairsEnd::Below { lower } = found.end else { continue };
        seen += 1;
        // pairs above the first cut and the sample; those passed since are not in the bound
        let first = 60 * 59 / 2 - found.below_cut;
        let is_first = |pair: &Pair| population.order[..first as usize].contains(pair);
        let above = found.found.iter().filter(|(pair, _)| is_first(pair)).count() as u64;
        let bounds = (0..=found.found.len() as u64 - above).map(|sampled| {
            let found_first = (above + sampled) as f64;
            found_first / (found_first + most_unseen(found.below_cut, found.audited, sampled, 0.05) as f64)
        });
        assert!(bounds.into_iter().any(|bound| (bound - lower).abs() < 1e-12), "{found:?}");
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn few_pairs_are_all_evaluated_and_a_pair_without_a_score_is_below_the_threshold() {
    let (source, found) = rows(6, 2, usize::MAX, f64::NAN);
    assert_eq!((found.end, found.recall, source.evaluated.len()), (PairsEnd::Exact, 1.0, 15));
    assert_eq!(found.found, [((0, 1), 1.0), ((0, 2), 1.0)]);
    let (_, found) = rows(120, 100, usize::MAX, f64::NAN);
    assert!(found.end == PairsEnd::Reached && found.missed == 0 && found.found.len() == 100, "{found:?}");
}

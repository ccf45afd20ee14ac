//! What a search takes, in words before its first call.

use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::nearest::{CallPlan, Known, NeighborError, PROCESS_ITEMS, scan_seconds};
use landmark_report::amounts::{count, counted, duration};

use crate::candidates;

/// Items from which on the work in addition to the calls is announced.
const MANY_ITEMS: usize = 20_000;

/// What a search of many items does itself before the calls that its proxies choose, and how long that takes here; nothing for few items.
pub(super) fn own_work(items: usize, proxies: &[Arc<dyn Oracle>]) -> Result<Option<String>, NeighborError> {
    if items < MANY_ITEMS || proxies.is_empty() {
        return Ok(None);
    }
    let process = match items > PROCESS_ITEMS {
        true => format!("; above {} items it fits no Gaussian process over pairs", count(PROCESS_ITEMS as u64)),
        false => String::new(),
    };
    if candidates::are_indexed(items, &proxies[..1]) {
        let text = "before it calls the score for chosen pairs, Landmark builds an index of the proxy";
        return Ok(Some(text.to_owned() + &process));
    }
    let pairs = count(items as u64 * (items as u64 - 1) / 2);
    let time = duration(scan_seconds(items, proxies)?);
    Ok(Some(format!(
        "before it calls the score for chosen pairs, Landmark compares all {pairs} pairs by the proxy: about {time} here{process}"
    )))
}

/// Prints this on standard error, before the work begins.
pub(crate) fn announce(
    context: &SweepContext<'_>,
    proxies: &[Arc<dyn Oracle>],
    quiet: bool,
) -> Result<(), NeighborError> {
    let work = if quiet { None } else { own_work(context.problem.items(), proxies)? };
    work.into_iter().for_each(|text| eprintln!("{text}"));
    Ok(())
}

/// Evaluations, in addition to an estimate, by which a program is checked, as a line.
pub(crate) fn checks(context: &SweepContext<'_>) -> String {
    match context.most_checks() {
        0 => String::new(),
        most => format!("and at most {} to check the scorer (`oracle.checks`)\n", count(most)),
    }
}

/// True if there are factors to search by, or pairs that are known from the start.
pub(super) fn stands_on_something(known: &Known) -> bool {
    known.seed.is_some() || !known.pairs.is_empty()
}

/// What a search stands on, as a line; none if it starts from nothing.
pub(crate) fn known_in_words(known: &Known) -> String {
    match stands_on_something(known) {
        true => format!(
            "starts from factors of {}: {} pairs are known\n",
            counted(known.columns.len() as u64, "landmark"),
            count(known.distinct())
        ),
        false => String::new(),
    }
}

/// A call estimate in words.
pub(super) fn lines(planned: &CallPlan) -> String {
    let mut text = String::new();
    if planned.columns > 0 {
        text += &format!("{} pairs of {} columns\n", count(planned.column_pairs), planned.columns);
    }
    if planned.trial > 0 {
        text += &format!(
            "{} of these first; the rounds get the others if hubness predicts no more than the proxy\n",
            count(planned.trial)
        );
    }
    if planned.first > 0 {
        text += &format!("{} pairs chosen by the proxy\n", count(planned.first));
    }
    if !planned.rounds.is_empty() {
        let sizes: Vec<String> = planned.rounds.iter().map(|&pairs| count(pairs)).collect();
        text += &format!("{} rounds of {} pairs\n", sizes.len(), sizes.join(", "));
    }
    if planned.second_orders > 0 {
        text += &format!(
            "each pair in one order, drawn by its items; the other order of the best {} at the end\n",
            count(planned.second_orders)
        );
    }
    text + &format!("exactly {} calls; stored scores are reused\n", count(planned.calls))
}

#[cfg(test)]
mod tests {
    use landmark_core::oracle::{VectorFunction, VectorKernel};
    use ndarray::Array2;

    use super::*;

    #[test]
    fn a_search_of_many_items_states_how_long_its_own_work_takes() {
        let proxy = |items: usize| -> Vec<Arc<dyn Oracle>> {
            let vectors = Array2::from_shape_fn((items, 2), |(i, j)| (i + j) as f64 / items as f64);
            vec![Arc::new(VectorKernel::new(vectors, VectorFunction::Rbf { gamma: 1.0 }).unwrap())]
        };
        let of_millions = own_work(1_000_000, &proxy(MANY_ITEMS)).unwrap().unwrap();
        assert!(of_millions.ends_with("; above 300,000 items it fits no Gaussian process over pairs"), "{of_millions}");
        let text = own_work(MANY_ITEMS, &proxy(MANY_ITEMS)).unwrap().unwrap();
        assert!(text.contains("all 199,990,000 pairs by the proxy: about ") && !text.contains("Gaussian"), "{text}");
        assert_eq!(own_work(1000, &proxy(1000)).unwrap(), None);
        assert_eq!(own_work(MANY_ITEMS, &[]).unwrap(), None);
    }
}

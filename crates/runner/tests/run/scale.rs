//! Shares of a configuration, by the real binary: what they evaluate, what a killed one costs, and what they refuse.
#![cfg(unix)]

use crate::own_data::{asked, place, slow_place, twice};
use crate::scratch::{Printed, Scratch, number_before};

fn in_one_process() -> Vec<u8> {
    let scratch = place();
    scratch.run_well("--quiet");
    factors(&scratch)
}

fn factors(scratch: &Scratch) -> Vec<u8> {
    std::fs::read(scratch.path("runs/mine/factors/vectors.npy")).unwrap()
}

fn share(scratch: &Scratch, share: &str) -> Printed {
    scratch.well(&["config.yaml", "--share", share])
}

#[test]
fn shares_at_once_score_each_planned_pair_once_and_the_run_equals_one_process_bit_for_bit() {
    let scratch = slow_place();
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    std::thread::scope(|scope| {
        let shared = &scratch;
        let shares: Vec<_> = (0..3).map(|k| scope.spawn(move || share(shared, &format!("{k}/3")))).collect();
        let evaluated: u64 =
            shares.into_iter().map(|seen| number_before(&seen.join().unwrap().err, " entries evaluated")).sum();
        assert_eq!(evaluated, planned);
    });
    assert_eq!((asked(&scratch).len() as u64, twice(&scratch)), (planned, 0));
    // done again, a share finds all of it
    let seen = share(&scratch, "1/3");
    seen.reports(&["share 1/3: 0 entries evaluated, 0 of all shares left"]);
    scratch.run_well("");
    assert_eq!(asked(&scratch).len() as u64, planned, "the run after the shares evaluates nothing");
    assert_eq!(factors(&scratch), in_one_process());
}

#[test]
fn what_cannot_be_shared_is_explained() {
    let scratch = place();
    let refused = |more: &str, words: &str| scratch.complains(&format!("--share 0/2 {more}"), &[words]);
    refused("--set target_error=0.1", "expected fixed `ranks`");
    refused("--set landmarks=farthest", "expected fixed `ranks`");
    refused("--set budget.calls=10", "`budget` allows 10");
    refused("--dry-run", "cannot be used with");
    scratch.say("config.yaml --share 2/2").must_complain("K counts from 0");
    assert!(asked(&scratch).is_empty());
}

//! Scripts of operations, faults and kills against the [model](crate::model).

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::model::{Figures, check};

#[test]
fn whatever_fails_or_is_killed_no_answer_is_wrong_and_nothing_secure_is_asked_for_again() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256);
    let mut runner = TestRunner::new(ProptestConfig { cases, max_shrink_iters: 300, ..ProptestConfig::default() });
    let total = Cell::new(Figures::default());
    let script = proptest::collection::vec(any::<u8>(), 2..400);
    let outcome = runner.run(&script, |script| {
        let mut sum = total.get();
        sum += check(&script);
        total.set(sum);
        Ok(())
    });
    outcome.unwrap();
    println!("{cases} scripts: {:?}", total.get());
}

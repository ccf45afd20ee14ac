//! Scripts of operations, faults and kills against the [model](crate::model).

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::model::check;

/// One process reads the log of another that lives, which then ends without a tile: its calls stood in nothing but the log, which the first
/// removed because it held them.
#[test]
fn calls_that_were_read_from_a_living_process_are_published_when_it_is_gone() {
    check(&[
        8, 2, 234, 0, 94, 227, 242, 46, 105, 98, 17, 81, 139, 40, 2, 32, 253, 183, 148, 91, 227, 71, 88, 144, 235, 169,
        95, 74, 216, 36, 217, 134, 205, 169, 48, 120, 16, 217, 62, 178, 72, 169, 110, 226, 28,
    ]);
}

#[test]
fn whatever_fails_or_is_killed_no_answer_is_wrong_and_nothing_secure_is_asked_for_again() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256);
    let mut runner = TestRunner::new(ProptestConfig { cases, max_shrink_iters: 300, ..ProptestConfig::default() });
    let script = proptest::collection::vec(any::<u8>(), 2..400);
    runner
        .run(&script, |script| {
            check(&script);
            Ok(())
        })
        .unwrap();
}

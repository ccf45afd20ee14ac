//! The accounting of plans against what a meter really counts.

use proptest::prelude::*;

use super::*;
use crate::oracle::tests::Ledger;
use crate::oracle::{Metered, Oracle, Remembered, Symmetrization, Symmetrized, block_of};

const N: usize = 40;

fn block() -> impl Strategy<Value = EntryBlock> {
    let some = || proptest::sample::subsequence((0..N).collect::<Vec<_>>(), 0..=N).prop_shuffle();
    let rows = prop_oneof![
        1 => Just(Rows::All),
        1 => Just(Rows::These((0..N).rev().collect())),
        2 => some().prop_map(Rows::These),
    ];
    let all: Vec<usize> = (0..N).collect();
    (rows, prop_oneof![3 => some(), 1 => Just(all).prop_shuffle()]).prop_map(|(rows, cols)| EntryBlock { rows, cols })
}

fn run(oracle: &dyn Oracle, plan: &EntryPlan) {
    for block in &plan.blocks {
        let rows = match &block.rows {
            Rows::All => (0..N).collect(),
            Rows::These(rows) => rows.clone(),
        };
        block_of(oracle, &rows, &block.cols).unwrap();
    }
}

proptest! {
    #[test]
    fn a_union_of_plans_costs_what_a_memory_evaluates(
        plans in prop::collection::vec(prop::collection::vec(block(), 1..4), 1..4),
        symmetric in any::<bool>(), known in any::<bool>(), both_orders in any::<bool>(),
    ) {
        let symmetry = if symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let ledger = Ledger::random(N, symmetry, known, 11);
        let raw: Box<dyn Oracle> =
            if both_orders { Box::new(Symmetrized::new(ledger, Symmetrization::Mean)) } else { Box::new(ledger) };
        let oracle = Remembered::new(Metered::new(raw));
        let mut union = EntrySet::new(OracleShape::of(&oracle));
        for blocks in plans {
            let plan = EntryPlan::exact(blocks);
            union.add(&plan);
            if plan.blocks.len().is_multiple_of(2) { run(&oracle, &plan) } else { oracle.evaluate_plan(&plan).unwrap() }
            prop_assert_eq!(oracle.inner().spent().evaluations, union.evaluations());
        }
        // asking for the listing again, as a store does, is free and complete
        let before = oracle.inner().spent().evaluations;
        let all: Vec<usize> = (0..N).collect();
        block_of(&oracle, &all, &union.columns()).unwrap();
        block_of(&oracle, &union.rows(), &all).unwrap();
        let scattered = union.scattered();
        oracle.evaluate(&scattered, &mut vec![0.0; scattered.len()]).unwrap();
        prop_assert_eq!(oracle.inner().spent().evaluations, before);
        prop_assert!(scattered.iter().all(|&(i, j)| union.contains(i, j)));
        prop_assert!(scattered.windows(2).all(|pair| (pair[0].1, pair[0].0) < (pair[1].1, pair[1].0)));
    }
}

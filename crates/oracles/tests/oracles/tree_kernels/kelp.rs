//! KeLP's recorded scores on TREC's test questions. Ignored unless asked for; needs `LANDMARK_DATA`.

use std::path::PathBuf;
use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_data::catalog;
use landmark_oracles::combined::Normalized;
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn partial_trees_have_the_499_scores_that_kelp_recorded() {
    let folder = std::env::var_os(catalog::DATA_VARIABLE).expect("`LANDMARK_DATA` names the folder of the corpora");
    let folder = PathBuf::from(folder);
    let examples = catalog::load_kelp("trec", Some(&folder)).unwrap();
    let ids: Vec<String> = (1..=500).map(|line| format!("test/{line}")).collect();
    let forest = Arc::new(Forest::new(&examples.trees("grct", &ids).unwrap()).unwrap());
    let kernel = TreeKernel::new(forest, TreeKernelParams::ptk().check().unwrap());
    let kernel = Normalized::new(Box::new(kernel)).unwrap();
    let wanted = std::fs::read_to_string(folder.join("qc_kelp/expected_ptk_scores.txt")).unwrap();
    let wanted: Vec<f64> = wanted.lines().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(wanted.len(), 499);
    let pairs: Vec<(usize, usize)> = (0..499).map(|i| (i, i + 1)).collect();
    let mut seen = vec![0.0; pairs.len()];
    kernel.evaluate(&pairs, &mut seen).unwrap();
    for ((&(i, _), seen), wanted) in pairs.iter().zip(&seen).zip(&wanted) {
        // KeLP counts in 32 bits and sums a few hundred terms
        assert!((seen - wanted).abs() < 1e-6, "line {}: {seen} and {wanted}", i + 1);
    }
}

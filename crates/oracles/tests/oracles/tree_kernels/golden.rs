//! Values of independent implementations, some of them by enumerating fragments.

use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};
use serde_json::Value;

use super::{Table, kernel, score, trees};

#[test]
fn every_kernel_has_its_golden_values() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tree_kernels.json")).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let tolerance = golden["tol_rel"].as_f64().unwrap();
    let table = golden["sptk_sim"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry[0].as_str().unwrap(), entry[1].as_str().unwrap(), entry[2].as_f64().unwrap()));
    let table = Table::new(table);
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() > 10);
    for case in cases {
        let both = trees(&[case["a"].as_str().unwrap(), case["b"].as_str().unwrap()]);
        let (lambda, mu) = (case["lam"].as_f64().unwrap(), case["mu"].as_f64().unwrap());
        let ptk = |terminal_factor| TreeKernelParams::Ptk { lambda, mu, terminal_factor };
        let smoothed = TreeKernelParams::Sptk { lambda, mu, terminal_factor: 1.0 }.check().unwrap();
        let forest = Arc::new(Forest::new(&both).unwrap());
        let kernels = [
            ("sst", kernel(&both, TreeKernelParams::Sst { lambda, leaves: false })),
            ("sst_leaves", kernel(&both, TreeKernelParams::Sst { lambda, leaves: true })),
            ("st", kernel(&both, TreeKernelParams::St { lambda, leaves: false })),
            ("st_leaves", kernel(&both, TreeKernelParams::St { lambda, leaves: true })),
            ("ptk_gap", kernel(&both, ptk(1.0))),
            ("ptk_gap_tf5", kernel(&both, ptk(5.0))),
            ("sptk_gap", TreeKernel::smoothed(forest, smoothed, &table).unwrap()),
        ];
        for (name, kernel) in kernels {
            let wanted = case[name].as_f64().unwrap();
            let seen = score(&kernel, 0, 1);
            assert!((seen - wanted).abs() <= tolerance * wanted.abs(), "{name} of {case}: {seen}");
            assert_eq!(seen, score(&kernel, 1, 0));
            assert!(kernel.known_diagonal().is_none());
        }
    }
}

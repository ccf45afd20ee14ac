//! The similarity functions, as a configuration names them.

use landmark_harness::oracles::{OracleSpec, cross_encoder, http, precomputed, string, subprocess, tree_kernel, wmd};

pub static ORACLES: &[&OracleSpec] = &[
    &wmd::WMD,
    &tree_kernel::TREE_KERNEL,
    &cross_encoder::CROSS_ENCODER,
    &precomputed::PRECOMPUTED,
    &string::STRING,
    &subprocess::SUBPROCESS,
    &http::HTTP,
];

#[cfg(test)]
mod tests {
    use landmark_harness::config::ItemKind;

    use super::*;

    #[test]
    fn items_of_every_kind_have_an_oracle() {
        for kind in ItemKind::ALL {
            assert!(ORACLES.iter().any(|oracle| oracle.reads.contains(kind)), "no oracle reads {}", kind.name());
        }
    }
}

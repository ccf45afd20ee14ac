//! The similarity functions, as a configuration names them.

use landmark_harness::oracles::OracleSpec;
use landmark_harness::oracles::cross_encoder::CrossEncoderSpec;
use landmark_harness::oracles::precomputed::PrecomputedSpec;
use landmark_harness::oracles::subprocess::SubprocessSpec;
use landmark_harness::oracles::tree_kernel::TreeKernelSpec;
use landmark_harness::oracles::wmd::WmdSpec;

/// Every oracle.
pub static ORACLES: &[&dyn OracleSpec] =
    &[&WmdSpec, &TreeKernelSpec, &CrossEncoderSpec, &PrecomputedSpec, &SubprocessSpec];

#[cfg(test)]
mod tests {
    use landmark_harness::config::ItemKind;

    use super::*;

    #[test]
    fn items_of_every_kind_have_an_oracle() {
        for kind in ItemKind::ALL {
            assert!(ORACLES.iter().any(|oracle| oracle.reads().contains(kind)), "no oracle reads {}", kind.name());
        }
    }
}

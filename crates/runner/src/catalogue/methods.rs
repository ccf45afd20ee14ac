//! The approximators, as a configuration names them.

use landmark_core::approximate::{
    Exact, Nystrom, Optimal, ShiftRidgeParams, SiCurParams, Skeleton, SmsNystromParams, StaCur,
};
use landmark_harness::config::method_entry::{MethodEntry, NoParams, read_method};
use landmark_oracles::wmd::wme::WmeMethodParams;
use landmark_yaml::parameter;
/// Every method, in the order of the papers, ours last.
pub static METHODS: &[MethodEntry] = &[
    MethodEntry {
        id: "nystrom",
        summary: "classic Nyström: exact on PSD matrices of low rank, explodes on indefinite ones",
        formula: "C W⁺ Cᵀ",
        entries: "n·s",
        source: "Williams & Seeger 2001; SMS-Nyström paper, §2",
        parameters: &[],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, |NoParams {}| Ok(Nystrom)),
    },
    MethodEntry {
        id: "sms_nystrom",
        summary: "Nyström of the matrix shifted by its estimated smallest eigenvalue",
        formula: "(C + eE)(W + eI)⁻¹(C + eE)ᵀ, e = −α·min(0, λmin(K[S2, S2]))",
        entries: "n·s1 + (s2 − s1)²",
        source: "SMS-Nyström paper, §3, algorithm 1",
        parameters: &[
            parameter("alpha", "1.5", "α ≥ 0, how far beyond λmin to shift"),
            parameter("z", "2.0", "z ≥ 1, |S2| / |S1|"),
            parameter("outer_shift", "true", "shift C as well as W; `false` is what the authors' program computes"),
            parameter("correct_diagonal", "false", "subtract e again where K̃ carries it"),
            parameter("rescale", "none", "divide by ‖W‖ / ‖W + eI‖: `none`, `spectral` or `frobenius`"),
        ],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, SmsNystromParams::check),
    },
    MethodEntry {
        id: "skeleton",
        summary: "columns and rows of two independent landmark sets",
        formula: "K[:, S1] (K[S2, S1])⁺ K[S2, :], S1 and S2 independent, s1 = s2",
        entries: "n·(s1 + s2), less overlaps",
        source: "SMS-Nyström paper, §2",
        parameters: &[],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, |NoParams {}| Ok(Skeleton)),
    },
    MethodEntry {
        id: "sicur",
        summary: "skeleton with the columns among the rows: stable on indefinite matrices",
        formula: "K[:, S1] (K[S2, S1])⁺ K[S2, :], S1 ⊂ S2",
        entries: "n·s2",
        source: "SMS-Nyström paper, §3",
        parameters: &[parameter("ratio", "2.0", "|S2| / |S1| ≥ 1")],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, SiCurParams::check),
    },
    MethodEntry {
        id: "stacur",
        summary: "CUR with the core of Drineas, Kannan & Mahoney; poor on indefinite matrices",
        formula: "(n/s)·C (CᵀC)⁺ K[S1, S2] K[S2, :]",
        entries: "n·s (same) or 2n·s",
        source: "SMS-Nyström paper, §3",
        parameters: &[parameter("same", "true", "rows at the landmarks of the columns, or at independent ones")],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, Ok::<StaCur, _>),
    },
    MethodEntry {
        id: "wme",
        summary: "baseline: word mover's embeddings, random features of another kernel; for documents only",
        formula: "φ(X) φ(X)ᵀ, φ_r(x) = exp(−γ·WMD(x, ω_r)) / √R, ω_r random documents",
        entries: "none of K; n·R distances to random documents",
        source: "Wu et al. 2018; SMS-Nyström paper, §4.1",
        parameters: &[parameter("max_words", "9", "Dmax, the most words of a random document; R is the rank")],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, WmeMethodParams::check),
    },
    MethodEntry {
        id: "optimal",
        summary: "the best approximation of its rank; needs all of K, so it is the cap and no method",
        formula: "Σ λᵢ vᵢ vᵢᵀ over the s largest |λᵢ|",
        entries: "n²",
        source: "Eckart & Young 1936",
        parameters: &[],
        draws: false,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, |NoParams {}| Ok(Optimal)),
    },
    MethodEntry {
        id: "exact",
        summary: "the matrix itself",
        formula: "K",
        entries: "n²",
        source: "SMS-Nyström paper, table 2",
        parameters: &[],
        draws: false,
        sized: false,
        read: |node, path, problems| read_method(node, path, problems, |NoParams {}| Ok(Exact)),
    },
    MethodEntry {
        id: "shift_ridge",
        summary: "ours: shift and ridge chosen by predicting held-out landmark columns, at no extra entry",
        formula: "C V g(w) Vᵀ Cᵀ, W = V diag(w) Vᵀ, g(w) = (w + a) / ((w + a)² + ρ²)",
        entries: "n·s",
        source: "this project",
        parameters: &[
            parameter(
                "shifts",
                "[0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0]",
                "candidates for a, times max(0, −λmin(W))",
            ),
            parameter("ridges", "[0.0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.15]", "candidates for ρ, times max|w|"),
            parameter("folds", "3", "how often a part of the landmarks is held out"),
            parameter("held_out", "0.25", "the part held out, at most 0.5"),
            parameter("validation_rows", "400", "rows a prediction is judged on, at most"),
            parameter("clip", "false", "clip g at 0, so that K̃ is positive semi-definite"),
            parameter("allow_zero", "false", "let K̃ = 0 compete, for residuals that may hold nothing"),
            parameter("fixed", "null", "no choice: `{ shift: a, ridge: ρ }` in the units of K"),
        ],
        draws: true,
        sized: true,
        read: |node, path, problems| read_method(node, path, problems, ShiftRidgeParams::check),
    },
];

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use landmark_yaml::Problems;
    use landmark_yaml::parse;

    #[test]
    fn the_registry_lists_exactly_the_parameters_a_method_takes_with_their_defaults() {
        for method in METHODS {
            let problems = Problems::default();
            let built = (method.read)(&parse("{}", 0).unwrap(), method.id, &problems).unwrap();
            let value = |text: &str| serde_json::from_str(text).unwrap_or(Json::String(text.to_owned()));
            let listed: Vec<_> = method.parameters.iter().map(|p| (p.name, value(p.default))).collect();
            let written: Vec<_> = built.params.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
            assert_eq!(listed, written, "`{}`", method.id);
            assert_eq!(built.approximator.id(), method.id);
        }
    }
}

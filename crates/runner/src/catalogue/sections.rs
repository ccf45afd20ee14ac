//! Sections that stand beside dataset, oracle and methods in the configuration of a sweep.

use landmark_yaml::{Entry, parameter};

/// Every one of them.
pub static SECTIONS: &[Entry] = &[
    Entry {
        id: "search",
        summary: "how γ, C and the rank are chosen: by cross-validation on the training items",
        parameters: &[
            parameter("strategy", "grid", "`grid`: every candidate; `random`; `tpe`: tree-structured Parzen estimator"),
            parameter("folds", "10", "folds of the cross-validation"),
            parameter("trials", "30", "candidates that `random` and `tpe` try"),
            parameter(
                "gamma",
                "{ from: 0.01, to: 10, steps: 7 }",
                "candidates for γ: a list, or a range (`scale: linear`; logarithmic unless said)",
            ),
            parameter("c", "{ from: 0.01, to: 1000, steps: 6 }", "candidates for C"),
            parameter(
                "rank",
                "none",
                "`{ small: [50, 550], large: [551, 4096] }`: ranks are searched for, instead of `ranks`",
            ),
            parameter(
                "s2",
                "none",
                "candidates for |S2|/|S1| of methods with a second set: `{ from: 1.2, to: 2.5, scale: linear }`",
            ),
            parameter("max_words", "none", "candidates for the most words of WME's random documents: `[3, 9, 15]`"),
            parameter(
                "wme",
                "none",
                "`{ gamma: …, c: … }`: candidates of WME where they differ from those of the others",
            ),
        ],
        source: "SMS-Nyström paper, appendix A; Bergstra et al. 2011",
    },
    Entry {
        id: "budget",
        summary: "hard limits of one run: what is finished is written, the next run goes on",
        parameters: &[
            parameter("entries", "none", "evaluations of the oracle"),
            parameter("seconds", "none", "wall seconds of buying"),
            parameter("money", "none", "what may be paid, in the currency of `cost_per_entry`"),
            parameter("cost_per_entry", "none", "what an evaluation costs"),
        ],
        source: "this project",
    },
    Entry {
        id: "error_estimate",
        summary: "the relative error, learned from random entries evaluated for it, with its interval",
        parameters: &[
            parameter("samples", "1000", "entries bought beyond the fit"),
            parameter("confidence", "0.95", "level of the interval"),
        ],
        source: "this project",
    },
];

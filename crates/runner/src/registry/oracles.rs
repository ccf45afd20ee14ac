//! The similarity functions, as a configuration names them.

use landmark_yaml::{Entry, parameter, required};

/// Every oracle.
pub static ORACLES: &[Entry] = &[
    Entry {
        id: "wmd",
        summary: "exp(−γ · word mover's distance) between documents, exact optimal transport",
        parameters: &[
            parameter("gamma", "search", "γ: a number, or `search` to choose it by cross-validation"),
            parameter(
                "empty_documents",
                "error",
                "a document without a known word: `error`, `drop`, or `{ distance: d }`",
            ),
            parameter(
                "negligible",
                "none",
                "ε: similarities that WCD or RWMD prove below it at every γ are not solved (`1e-6`), and counted",
            ),
        ],
        source: "Kusner et al. 2015; SMS-Nyström paper, §4.1",
    },
    Entry {
        id: "tree_kernel",
        summary: "normalised tree kernel between dependency trees: shared fragments, weighed by size",
        parameters: &[
            parameter("kernel", "ptk", "`bow`, `st`, `sst`, `ptk` or `sptk`"),
            parameter(
                "trees",
                "grct",
                "the representation that is compared: `grct`, `lct` (default of `sptk`), `loct`, …",
            ),
            parameter("lambda", "0.4", "decay of gaps (`ptk`, `sptk`), of depth (`st`, `sst`)"),
            parameter("mu", "0.4", "decay of depth (`ptk`, `sptk`)"),
            parameter("terminal_factor", "5", "what a match with a leaf is worth more (`ptk`; `sptk`: 0.2)"),
            parameter("leaves", "none", "whether equal leaves count λ (`st`, `sst`: true)"),
            parameter("vectors", "none", "word vectors whose cosine makes lemmas similar (`sptk`: `self300`)"),
            parameter("threshold", "none", "cosines below this count 0 (`sptk`: 0.01)"),
        ],
        source: "Collins & Duffy 2001; Moschitti 2006; Croce, Moschitti & Basili 2011",
    },
    Entry {
        id: "cross_encoder",
        summary: "BERT or RoBERTa that reads both texts of a pair at once: fine-tuned on labelled pairs, or a model of yours over texts of yours",
        parameters: &[
            parameter("model", "all-MiniLM-L6-v2", "a folder, a name among the models, or `tiny` (random, inside)"),
            parameter("order", "mean", "of both orders `mean` or `max`, at twice the price; `as_given`: asymmetric"),
            parameter("score", "probability", "`probability`, `regression` (the output itself) or `label`"),
            parameter("max_length", "128", "tokens of a pair at most; what is longer is cut, and counted"),
            parameter("precision", "f32", "of products: `f32` or `bf16`"),
            parameter("device", "auto", "`auto`, `cpu`, `cuda` or `cuda:1`; `auto` takes every GPU there is"),
            parameter(
                "fine_tune",
                "none",
                "`{ epochs: 4, batch: 32, learning_rate: 1e-4, warmup: 0.1, weight_decay: 0.01, clip: 1.0, loss: bce, patience: none, average: none, … }`",
            ),
        ],
        source: "Devlin et al. 2019; SMS-Nyström paper, §4.2",
    },
    Entry {
        id: "precomputed",
        summary: "a matrix that is already there, read from the dataset",
        parameters: &[
            parameter("gamma", "none", "turns distances into exp(−γ·d); absent: the matrix holds similarities"),
            parameter("symmetrize", "none", "an asymmetric matrix becomes the `mean`, `max` or `min` of both orders"),
        ],
        source: "any `.npy`",
    },
    Entry {
        id: "subprocess",
        summary: "any program in any language: JSON lines over its standard input and output",
        parameters: &[
            required("command", "[python3, score.py]", "the program and its arguments; runs in the folder of the file"),
            parameter("processes", "1", "how many of it run at a time"),
            parameter("batch", "256", "pairs in a batch, at most"),
            parameter("timeout_seconds", "60", "how long a batch may take before the program counts as hanging"),
            parameter("start_seconds", "300", "how long it may take to greet: loading a model takes time"),
            parameter("failed_pairs", "error", "a pair that it cannot score: `error`, or `{ score: 0 }`, counted"),
            parameter("environment", "{}", "variables it sees beside ours"),
            parameter("gamma", "none", "turns distances into exp(−γ·d); absent: the scores are similarities"),
            parameter("symmetrize", "none", "an asymmetric score becomes the `mean`, `max` or `min` of both orders"),
        ],
        source: "yours; the protocol is in docs/own_data.md",
    },
];

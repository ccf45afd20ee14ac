//! What a factored matrix is used for.

use super::{Entry, parameter};

/// Every task.
pub static TASKS: &[Entry] = &[Entry {
    id: "classification",
    summary: "linear SVM by dual coordinate descent on the embedding, kernel SVM on the exact matrix",
    parameters: &[
        parameter("c", "search", "cost of an error: a number, or `search`"),
        parameter("loss", "squared_hinge", "`hinge` or `squared_hinge`"),
        parameter("multi_class", "one_vs_rest", "`one_vs_rest` or `crammer_singer`"),
    ],
    source: "Hsieh et al. 2008; Crammer & Singer 2001",
}];

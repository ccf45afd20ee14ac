//! landmark-python: the compiled half of `landmark` for Python.
//!
//! The estimator, its checks and its words are Python (`python/landmark`); here is what must not run in the interpreter: the metered store, the
//! fits, searches, solvers. Arrays go in and out as NumPy has them, settings as JSON. Two frozen types carry state from call to call
//! ([`oracle`], [`metered_store`]), three more hold a sketch, a map or a projector ([`features`], [`fit`]).
//!
//! A score that is a Python function is called by the thread that asked for the fit, which waits meanwhile and responds to Ctrl-C
//! ([`session`]; which items it is handed, [`called`]). Everything else runs on threads that hold no lock of the interpreter.

mod arrow;
mod audit;
mod called;
mod errors;
mod factor_neighbors;
mod features;
mod fit;
mod machines;
mod metered_store;
mod methods;
mod neighbors;
mod one_order;
mod oracle;
mod pairs;
mod pool;
mod reading;
mod scores;
mod session;
mod transport;

/// The module `landmark._native`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::{arrow_items, arrow_table};
    #[pymodule_export]
    use super::audit::{audit_pairs, audited_rows, recall_of_lists, recall_of_pairs, share_of_nearest};
    #[pymodule_export]
    use super::errors::{BudgetExhausted, NotFiniteError, StoreFailure};
    #[pymodule_export]
    use super::factor_neighbors::{best_pairs, nearest_vectors, top_k};
    #[pymodule_export]
    use super::features::{FrequentDirections, StructuredFeatures};
    #[pymodule_export]
    use super::fit::Projector;
    #[pymodule_export]
    use super::machines::{average_linkage, coreference_scores, linkage_clusters, ranking_scores, train_linear_svm};
    #[pymodule_export]
    use super::metered_store::MeteredStore;
    #[pymodule_export]
    use super::methods::{landmark_policies, methods};
    #[pymodule_export]
    use super::oracle::Oracle;
    #[pymodule_export]
    use super::pool::ScorePool;
    #[pymodule_export]
    use super::transport::emd;
}

//! Errors as Python has them: an exception of the score comes back as itself, everything else by its kind.

use std::error::Error;
use std::fmt;

use landmark_core::approximate::ApproximateError;
use landmark_core::landmarks::LandmarkError;
use landmark_core::oracle::OracleError;
use landmark_neighbors::nearest::NeighborError;
use landmark_neighbors::recall::AuditError;
use landmark_store::StoreError;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    landmark,
    BudgetExhausted,
    PyException,
    "The budget of calls is at its end; what was scored is kept."
);
pyo3::create_exception!(
    landmark,
    NotFiniteError,
    PyValueError,
    "A score that is NaN or infinite; `pair` has the two items."
);
pyo3::create_exception!(landmark, StoreFailure, PyOSError, "The store could not be opened, read or written.");

/// An exception of the score on its way through the mathematics.
#[derive(Debug)]
pub(crate) struct Raised(pub(crate) PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Raised {}

/// A `ValueError` with the message of an error and of what caused it.
pub(crate) fn value(error: &dyn Error) -> PyErr {
    PyValueError::new_err(in_full(error))
}

/// Keys of a configuration and options of the program as Python names them.
const IN_PYTHON: &[(&str, &str)] = &[
    ("`--store`", "`store`"),
    (
        "drop them (`oracle.empty_documents: drop`), set their distance from all others (`{ distance: 1.0 }`)",
        "drop them, give `empty`, their distance from all others",
    ),
    ("set `oracle.failed_pairs: { score: 0 }`", "give `failed`, the score of such pairs"),
    ("`oracle.failed_pairs: { score: 0 }`", "`Program(…, failed=0.0)`"),
];

/// A message in the words of Python.
pub(crate) fn in_python(message: &str) -> String {
    IN_PYTHON.iter().fold(message.to_owned(), |message, (program, python)| message.replace(program, python))
}

/// The message of an error and of its causes.
fn in_full(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text += &format!(": {next}");
        }
        cause = error.source();
    }
    in_python(&text)
}

pub(crate) fn of_store(error: &StoreError) -> PyErr {
    StoreFailure::new_err(in_full(error))
}

pub(crate) fn of_oracle(py: Python<'_>, error: &OracleError) -> PyErr {
    match error {
        OracleError::NotFinite { i, j, value } => {
            let raised = NotFiniteError::new_err(format!(
                "the score of the pair ({i}, {j}) is {value}, but must be finite{}",
                if i == j {
                    ". It is that of an item with itself: give `diagonal` where it is known without a call"
                } else {
                    ""
                }
            ));
            // an exception is an ordinary object; should it refuse, the message names the pair all the same
            let _ = raised.value(py).setattr("pair", (*i, *j));
            raised
        }
        OracleError::Failed { what, source } => match (source.downcast_ref(), source.downcast_ref()) {
            (Some(Raised(raised)), _) => raised.clone_ref(py),
            (None, Some(error)) => of_store(error),
            (None, None) => PyValueError::new_err(format!("the score failed on {what}: {}", in_full(source.as_ref()))),
        },
        error if error.is_exhausted() => BudgetExhausted::new_err(error.to_string()),
        error => value(error),
    }
}

pub(crate) fn of_fit(py: Python<'_>, error: &ApproximateError) -> PyErr {
    match error {
        ApproximateError::Oracle(error) | ApproximateError::Landmarks(LandmarkError::Oracle(error)) => {
            of_oracle(py, error)
        }
        error => value(error),
    }
}

pub(crate) fn of_search(py: Python<'_>, error: &NeighborError) -> PyErr {
    match error {
        NeighborError::Oracle(error) | NeighborError::Proxy { source: error, .. } => of_oracle(py, error),
        error => value(error),
    }
}

pub(crate) fn of_audit(py: Python<'_>, error: &AuditError) -> PyErr {
    match error {
        AuditError::Search(error) => of_search(py, error),
        error => value(error),
    }
}

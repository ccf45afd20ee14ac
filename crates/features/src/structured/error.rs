//! Errors of a structured embedding or its input.

use landmark_core::parameter::BadParameter;

/// Why a structured matrix, its features or an estimate can't be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredError {
    #[error("{what} is 0, but must be at least 1")]
    Empty { what: &'static str },
    #[error("{what} has length {given}, but must have {wanted}")]
    Length { what: &'static str, given: usize, wanted: usize },
    #[error("a Walsh–Hadamard transform needs a power of two, but the length is {length}; pad with zeros to {next}")]
    NotPowerOfTwo { length: usize, next: usize },
    #[error("item {row} has {value} at position {column}; values must be finite. Look at this item")]
    NotFinite { row: usize, column: usize, value: f64 },
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error("the {which} vector is zero, so the angle is undefined; leave it out")]
    ZeroVector { which: &'static str },
    #[error("{rows} × {cols} numbers do not fit in memory; choose a structured family, which stores O(rows + columns)")]
    Memory { rows: usize, cols: usize },
    #[error("{0}")]
    Linfa(String),
}

pub(super) fn require_some(what: &'static str, number: usize) -> Result<(), StructuredError> {
    if number == 0 { Err(StructuredError::Empty { what }) } else { Ok(()) }
}

pub(super) fn require_length(what: &'static str, given: usize, wanted: usize) -> Result<(), StructuredError> {
    if given == wanted { Ok(()) } else { Err(StructuredError::Length { what, given, wanted }) }
}

impl From<linfa::Error> for StructuredError {
    fn from(error: linfa::Error) -> Self {
        Self::Linfa(error.to_string())
    }
}

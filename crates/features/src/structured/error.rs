//! Errors of a structured embedding or its input.

/// Why a structured matrix, its features or an estimate can't be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// No rows, no columns, no vectors, no layers.
    #[error("{what} is 0, but must be at least 1")]
    Empty {
        /// Name of the quantity that is 0.
        what: &'static str,
    },
    /// A vector or matrix of the wrong size.
    #[error("{what} has length {given}, but must have {wanted}")]
    Length {
        /// Name of the vector or matrix.
        what: &'static str,
        /// The length seen.
        given: usize,
        /// The length wanted.
        wanted: usize,
    },
    /// The Walsh–Hadamard transform of an odd length.
    #[error("a Walsh–Hadamard transform needs a power of two, but the length is {length}; pad with zeros to {next}")]
    NotPowerOfTwo {
        /// The length seen.
        length: usize,
        /// The next power of two.
        next: usize,
    },
    /// NaN or an infinity in the input.
    #[error("item {row} has {value} at position {column}; values must be finite. Look at this item")]
    NotFinite {
        /// Row of the batch.
        row: usize,
        /// Position in the vector.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A parameter outside its range.
    #[error("`{owner}`: `{parameter}` is {value}, but must be {wanted}")]
    Parameter {
        /// Family or kernel id.
        owner: &'static str,
        /// Parameter name as in the configuration.
        parameter: &'static str,
        /// The value seen.
        value: String,
        /// The range wanted.
        wanted: &'static str,
    },
    /// An angle with a vector that has no direction.
    #[error("the {which} vector is zero, so the angle is undefined; leave it out")]
    ZeroVector {
        /// `first` or `second`.
        which: &'static str,
    },
    /// A matrix that does not fit in memory.
    #[error("{rows} × {cols} numbers do not fit in memory; choose a structured family, which stores O(rows + columns)")]
    Memory {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
    },
    /// An error of linfa's own.
    #[error("{0}")]
    Linfa(String),
}

/// At least one of it.
pub(super) fn require_some(what: &'static str, number: usize) -> Result<(), StructuredError> {
    if number == 0 { Err(StructuredError::Empty { what }) } else { Ok(()) }
}

/// Exactly this long.
pub(super) fn require_length(what: &'static str, given: usize, wanted: usize) -> Result<(), StructuredError> {
    if given == wanted { Ok(()) } else { Err(StructuredError::Length { what, given, wanted }) }
}

impl From<linfa::Error> for StructuredError {
    fn from(error: linfa::Error) -> Self {
        Self::Linfa(error.to_string())
    }
}

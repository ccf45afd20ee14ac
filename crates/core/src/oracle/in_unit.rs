//! Scores times a power of two, for arithmetic whose products would leave the range of f64.

use ndarray::ArrayViewMut2;

use super::{Identity, Oracle, OracleError, OracleShape, Pair};

/// An oracle whose scores are multiplied by a power of two, which rounds nothing.
#[derive(Debug)]
pub struct InUnit<O> {
    pub(crate) inner: O,
    pub(crate) unit: f64,
}

impl<O: Oracle> InUnit<O> {
    /// The scores of `inner` times `unit`.
    pub fn new(inner: O, unit: f64) -> Self {
        Self { inner, unit }
    }
}

impl<O: Oracle> Oracle for InUnit<O> {
    fn shape(&self) -> OracleShape {
        let shape = self.inner.shape();
        OracleShape { known_diagonal: shape.known_diagonal.map(|value| self.unit * value), ..shape }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("unit", &self.unit.to_le_bytes()), ("inner", self.inner.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.evaluate(pairs, out)?;
        out.iter_mut().for_each(|score| *score *= self.unit);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.inner.block(rows, cols, out.view_mut())?;
        out.mapv_inplace(|score| score * self.unit);
        Ok(())
    }
}

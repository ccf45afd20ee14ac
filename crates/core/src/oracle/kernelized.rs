//! A score turned into a similarity, entry by entry and for free: `exp(−γ·d)`.
//!
//! Sits above the store, so that what is stored is the raw distance and a search over γ evaluates nothing. Its identity
//! covers the parameters; a known diagonal maps through.

use ndarray::{ArrayViewMut2, CowArray, Ix2};

use super::{Identity, Oracle, OracleError, OracleShape, Pair, ask_block, ask_pairs, check_finite, check_finite_block};
use crate::parameter::BadParameter;

/// The function applied to every score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    Identity,
    /// `exp(−γ·d)`: word mover's similarity of papers 000/001.
    Exponential {
        /// γ > 0, in 1 / units of the distance.
        gamma: f64,
    },
}

impl Kernel {
    pub fn apply(&self, score: f64) -> f64 {
        match *self {
            Self::Identity => score,
            Self::Exponential { gamma } => (-gamma * score).exp(),
        }
    }

    fn check(&self) -> Result<(), OracleError> {
        match *self {
            Self::Exponential { gamma } if !(gamma.is_finite() && gamma > 0.0) => {
                Err(BadParameter::new("gamma", gamma, "a finite number above 0").into())
            }
            _ => Ok(()),
        }
    }

    /// Names the parameter that makes an infinity of a finite score.
    fn out_of_range(&self, error: OracleError) -> OracleError {
        match *self {
            Self::Exponential { gamma } if matches!(error, OracleError::NotFinite { .. }) => {
                let wanted =
                    "small enough that exp(−γ·d) is finite for the most negative score d; distances are not negative";
                BadParameter::new("gamma", gamma, wanted).into()
            }
            _ => error,
        }
    }
}

/// An oracle whose scores pass through a [`Kernel`].
#[derive(Debug, Clone)]
pub struct Kernelized<O> {
    inner: O,
    kernel: Kernel,
}

impl<O: Oracle> Kernelized<O> {
    /// Wraps an oracle.
    ///
    /// # Errors
    /// A parameter that is not finite, or a γ that is not above 0.
    pub fn new(inner: O, kernel: Kernel) -> Result<Self, OracleError> {
        kernel.check()?;
        Ok(Self { inner, kernel })
    }

    pub fn inner(&self) -> &O {
        &self.inner
    }

    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
}

impl<O: Oracle> Oracle for Kernelized<O> {
    fn shape(&self) -> OracleShape {
        let shape = self.inner.shape();
        let known_diagonal = shape.known_diagonal.map(|score| self.kernel.apply(score));
        OracleShape { known_diagonal, is_checked: true, ..shape }
    }

    fn identity(&self) -> Identity {
        let Kernel::Exponential { gamma } = self.kernel else { return self.inner.identity() };
        Identity::of(&[
            ("kind", b"kernelized"),
            ("kernel", b"exponential"),
            ("first", &gamma.to_le_bytes()),
            ("second", &0.0_f64.to_le_bytes()),
            ("inner", self.inner.identity().as_bytes()),
        ])
    }

    /// Of a finite score too a kernel can make an infinity.
    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        self.inner.features()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        ask_pairs(&self.inner, pairs, out)?;
        out.iter_mut().for_each(|score| *score = self.kernel.apply(*score));
        check_finite(pairs, out).map_err(|error| self.kernel.out_of_range(error))
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        ask_block(&self.inner, rows, cols, out.view_mut())?;
        out.par_map_inplace(|score| *score = self.kernel.apply(*score));
        check_finite_block(rows, cols, out.view()).map_err(|error| self.kernel.out_of_range(error))
    }
}

//! An approximation of the same matrix in another unit.

use std::sync::Arc;

use ndarray::Array2;

use super::{AdditiveTerm, Approximation, Diagonal, Embedding, Factors, General, NewScores, Signed};
use crate::approximate::ApproximateError;
use crate::oracle::{InUnit, OracleError};

impl Approximation {
    /// Approximates `unit` times the matrix. `unit` is a power of 16, so that its square root rounds nothing either.
    #[must_use]
    pub(crate) fn in_unit(self, unit: f64) -> Self {
        if unit == 1.0 {
            return self;
        }
        let root = unit.sqrt();
        let factors = match self.factors {
            Factors::Signed(signed) => Factors::Signed(Signed {
                vectors: signed.vectors * root,
                projector: signed.projector.map(|projector| projector / root),
                ..signed
            }),
            Factors::General(General { left, right, left_projector, right_projector }) => Factors::General(General {
                left: left * root,
                right: right * root,
                left_projector: left_projector / root,
                right_projector: right_projector / root,
            }),
            Factors::Dense(matrix) => Factors::Dense(matrix * unit),
        };
        let scaled = |values: Vec<f64>| values.into_iter().map(|value| unit * value).collect::<Vec<f64>>();
        let diagonal = self.diagonal.map(|diagonal| match diagonal {
            Diagonal::Constant(value) => Diagonal::Constant(unit * value),
            Diagonal::Each(values) => Diagonal::Each(scaled(values)),
        });
        let report = crate::fit_report::FitReport {
            shift: unit * self.report.shift,
            ridge: unit * self.report.ridge,
            lambda_min: self.report.lambda_min.map(|value| unit * value),
            ..self.report
        };
        Self {
            factors,
            landmarks: self.landmarks,
            diagonal_shift: self.diagonal_shift.map(scaled),
            known: self.known.map(|known| known.in_unit(unit)),
            addend: self.addend.map(|inner| Arc::new(InUnit::new(inner, unit)) as Arc<dyn AdditiveTerm>),
            range: self.range.map(|(least, greatest)| (unit * least, unit * greatest)),
            scattered: self.scattered.map(|placed| placed.in_unit(unit)),
            diagonal,
            report,
        }
    }
}

impl AdditiveTerm for InUnit<Arc<dyn AdditiveTerm>> {
    fn apply(&self, x: &[f64], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.apply(x, out)?;
        out.iter_mut().for_each(|value| *value *= self.unit);
        Ok(())
    }

    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        let Embedding { vectors, signature, projector, with_addend } = self.inner.embedding()?;
        // an addend is embedded by its values at the anchors, and has no addend of its own
        let root = self.unit.sqrt();
        let projector = projector.map(|projector| projector / root);
        Ok(Embedding { vectors: vectors * root, signature, projector, with_addend })
    }

    fn anchors(&self) -> &[usize] {
        self.inner.anchors()
    }

    fn link(&self, new: &NewScores<'_, '_>) -> Array2<f64> {
        let similarities = &new.similarities / self.unit;
        self.inner.link(&NewScores { similarities: similarities.view(), ..*new }) * self.unit
    }
}

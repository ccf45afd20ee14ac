//! Sums, products and powers of kernels.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, check_finite, check_pairs};

use super::{BoxedOracle, CombineError, common_len, parameter, symmetry_of};

/// Σ w_p k_p(x, y).
pub struct WeightedSum {
    parts: Vec<(f64, BoxedOracle)>,
    len: usize,
}

impl WeightedSum {
    /// Of these kernels with these weights.
    ///
    /// # Errors
    /// No part, parts over different items, a weight that is not finite.
    pub fn new(parts: Vec<(f64, BoxedOracle)>) -> Result<Self, CombineError> {
        let len = common_len(parts.iter().map(|(_, part)| part))?;
        for &(weight, _) in &parts {
            parameter("weight", weight, weight.is_finite(), "a finite number")?;
        }
        Ok(Self { parts, len })
    }
}

impl Oracle for WeightedSum {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.parts.iter().map(|(weight, part)| Some(weight * part.known_diagonal()?)).sum(),
            calls_at_once: self.parts.iter().map(|(_, part)| part.calls_at_once()).max().unwrap_or(1),
            ..OracleShape::new(self.len, symmetry_of(self.parts.iter().map(|(_, part)| part)))
        }
    }

    fn identity(&self) -> Identity {
        let parts: Vec<_> = self.parts.iter().map(|(w, part)| (w.to_le_bytes(), part.identity())).collect();
        let mut labelled: Vec<(&str, &[u8])> = vec![("kind", b"weighted_sum")];
        for (weight, identity) in &parts {
            labelled.extend([("weight", &weight[..]), ("part", identity.as_bytes())]);
        }
        Identity::of(&labelled)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len, pairs, out.len())?;
        out.fill(0.0);
        let mut scores = vec![0.0; pairs.len()];
        for (weight, part) in &self.parts {
            part.evaluate(pairs, &mut scores)?;
            check_finite(pairs, &scores)?;
            out.iter_mut().zip(&scores).for_each(|(out, score)| *out += weight * score);
        }
        Ok(())
    }
}

/// Π k_p(x, y).
pub struct Product {
    parts: Vec<BoxedOracle>,
    len: usize,
}

impl Product {
    /// Of these kernels.
    ///
    /// # Errors
    /// No part, parts over different items.
    pub fn new(parts: Vec<BoxedOracle>) -> Result<Self, CombineError> {
        let len = common_len(parts.iter())?;
        Ok(Self { parts, len })
    }
}

impl Oracle for Product {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.parts.iter().map(|part| part.known_diagonal()).product(),
            calls_at_once: self.parts.iter().map(|part| part.calls_at_once()).max().unwrap_or(1),
            ..OracleShape::new(self.len, symmetry_of(self.parts.iter()))
        }
    }

    fn identity(&self) -> Identity {
        let parts: Vec<Identity> = self.parts.iter().map(|part| part.identity()).collect();
        let mut labelled: Vec<(&str, &[u8])> = vec![("kind", b"product")];
        labelled.extend(parts.iter().map(|identity| ("part", &identity.as_bytes()[..])));
        Identity::of(&labelled)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len, pairs, out.len())?;
        out.fill(1.0);
        let mut scores = vec![0.0; pairs.len()];
        for part in &self.parts {
            part.evaluate(pairs, &mut scores)?;
            check_finite(pairs, &scores)?;
            out.iter_mut().zip(&scores).for_each(|(out, score)| *out *= score);
        }
        Ok(())
    }
}

/// (a k(x, y) + c)^d.
pub struct Polynomial {
    inner: BoxedOracle,
    scale: f64,
    offset: f64,
    degree: i32,
}

impl Polynomial {
    /// With scale a > 0, offset c ≥ 0 and degree d of at least 1: then it stays a kernel.
    ///
    /// # Errors
    /// A number outside its range.
    pub fn new(inner: BoxedOracle, scale: f64, offset: f64, degree: i32) -> Result<Self, CombineError> {
        parameter("scale", scale, scale > 0.0 && scale.is_finite(), "a finite number above 0")?;
        parameter("offset", offset, offset >= 0.0 && offset.is_finite(), "a finite number, 0 or above")?;
        parameter("degree", f64::from(degree), degree >= 1, "a whole number, 1 or above")?;
        Ok(Self { inner, scale, offset, degree })
    }

    fn apply(&self, score: f64) -> f64 {
        (self.scale * score + self.offset).powi(self.degree)
    }
}

impl Oracle for Polynomial {
    fn shape(&self) -> OracleShape {
        let shape = self.inner.shape();
        let known_diagonal = shape.known_diagonal.map(|score| self.apply(score));
        OracleShape { known_diagonal, is_checked: false, ..shape }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[
            ("kind", b"polynomial"),
            ("scale", &self.scale.to_le_bytes()),
            ("offset", &self.offset.to_le_bytes()),
            ("degree", &self.degree.to_le_bytes()),
            ("inner", self.inner.identity().as_bytes()),
        ])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.evaluate(pairs, out)?;
        out.iter_mut().for_each(|score| *score = self.apply(*score));
        check_finite(pairs, out)
    }
}

//! LEVEL0: four predictions of every pair from some columns, each a polynomial of the proxies and a low rank.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

use super::StackParams;
use super::columns::{Columns, Part, Polynomials};
use crate::approximate::scattered::ridge::Linear;
use crate::approximate::{Approximate, ApproximateError, ShiftRidgeParams};
use crate::approximation::{Factors, Known};
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use crate::stream::Rng;

/// Sharpness of the similarity of two items' vectors.
const SHARPNESS: f64 = 3.0;

const NUGGET: f64 = 0.2;

/// G_E: how alike two items are by their vectors.
#[derive(Debug)]
pub(super) struct Similar {
    unit: Array2<f64>,
    scale: f64,
}

impl Similar {
    /// Of n × d vectors, whose mean is taken off.
    pub(super) fn of(vectors: &Array2<f64>) -> Self {
        let mean = vectors.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(vectors.ncols()));
        let unit = unit_rows(vectors - &mean);
        let diagonal = unit.rows().into_iter().map(|row| (SHARPNESS * (row.dot(&row) - 1.0)).exp()).sum::<f64>();
        Self { unit, scale: diagonal / (vectors.nrows() as f64).max(1.0) }
    }

    /// G_E[:, items].
    pub(super) fn columns(&self, items: &[usize]) -> Array2<f64> {
        let chosen = self.unit.select(Axis(0), items);
        linalg::product(self.unit.view(), chosen.t()).mapv(|cosine| (SHARPNESS * (cosine - 1.0)).exp() / self.scale)
    }

    pub(super) fn diagonal(&self) -> Array1<f64> {
        self.unit.rows().into_iter().map(|row| (SHARPNESS * (row.dot(&row) - 1.0)).exp() / self.scale).collect()
    }
}

/// Rows of length 1; those of length 0 as they are.
pub(super) fn unit_rows(mut rows: Array2<f64>) -> Array2<f64> {
    for mut row in rows.rows_mut() {
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
    rows
}

/// One link: q, and what shift_ridge and kriging add to it.
struct Linked {
    /// Degree of the main proxy, then 2 of each other; none of any without a proxy.
    polynomials: Polynomials,
    base: Part,
    kriged: Part,
}

/// All of LEVEL0.
pub(super) struct Level0 {
    links: Vec<Linked>,
    effects: Array1<f64>,
    proxies: usize,
}

impl Level0 {
    pub(super) fn fit(
        columns: &Columns,
        similar: Option<&Similar>,
        params: StackParams,
        rng: &mut Rng,
    ) -> Result<Self, ApproximateError> {
        let mut links = Vec::new();
        let mut effects = Array1::zeros(columns.len());
        let counts =
            if columns.proxies.len() > 1 { vec![1, columns.proxies.len()] } else { vec![columns.proxies.len()] };
        for (number, proxies) in counts.into_iter().enumerate() {
            let polynomials = Polynomials::fit(columns, proxies, params.degree)?;
            let mut residual = &columns.scores - &polynomials.block(columns.scores.dim(), &columns.proxies);
            let base = shift_ridge(&columns.items, &residual, proxies > 0, rng)?;
            // a self-similarity holds no information on other pairs
            columns.items.iter().enumerate().for_each(|(b, &t)| residual[[t, b]] = 0.0);
            if number == 0 {
                effects = item_effects(&columns.items, &residual);
            }
            let kriged = krige_columns(&columns.items, residual, similar)?;
            links.push(Linked { polynomials, base, kriged });
        }
        Ok(Self { links, effects, proxies: columns.proxies.len() })
    }

    pub(super) fn width(&self) -> usize {
        2 * self.links.len() + 2 * self.proxies + 2
    }

    /// Features of a pair: V, p and p² of each proxy, the sum of both effects and its square. `features` comes empty.
    pub(super) fn features(
        &self,
        i: usize,
        j: usize,
        values: impl Iterator<Item = f64>,
        proxies: impl Iterator<Item = f64>,
        features: &mut Vec<f64>,
    ) {
        features.extend(values);
        features.extend(proxies.flat_map(|p| [p, p * p]));
        let both = self.effects[i] + self.effects[j];
        features.extend([both, both * both]);
    }

    /// The V of a pair, whose proxies are given. Rank flops.
    pub(super) fn predictions(&self, (i, j): Pair, proxies: ArrayView1<'_, f64>) -> Vec<f64> {
        let mut values = Vec::with_capacity(2 * self.links.len());
        for link in &self.links {
            let q = link.polynomials.at(proxies.iter().copied());
            values.extend([&link.base, &link.kriged].map(|(left, right)| q + left.row(i).dot(&right.row(j))));
        }
        values
    }

    /// The V of a block, whose proxies are given.
    pub(super) fn blocks(&self, rows: &[usize], cols: &[usize], proxies: &[Array2<f64>]) -> Vec<Array2<f64>> {
        let mut blocks = Vec::new();
        for link in &self.links {
            let q = link.polynomials.block((rows.len(), cols.len()), proxies);
            for (left, right) in [&link.base, &link.kriged] {
                let (left, right) = (left.select(Axis(0), rows), right.select(Axis(0), cols));
                let mut block = q.clone();
                linalg::add_product(left.view(), right.t(), 1.0, block.view_mut());
                blocks.push(block);
            }
        }
        blocks
    }

    /// The polynomial of m.
    pub(super) fn polynomials(&self, linear: &Linear) -> Polynomials {
        let mut sum = Polynomials::constant(linear.constant);
        for (number, link) in self.links.iter().enumerate() {
            let weight = linear.weights[2 * number] + linear.weights[2 * number + 1];
            sum.add(weight, &link.polynomials);
        }
        let first = 2 * self.links.len();
        let last = self.width() - 2;
        for (k, weights) in linear.weights[first..last].chunks_exact(2).enumerate() {
            sum.add_powers(k, &[0.0, weights[0], weights[1]]);
        }
        sum
    }

    /// The low rank of m.
    pub(super) fn parts(&self, linear: &Linear) -> Vec<Part> {
        let mut parts = Vec::new();
        for (number, link) in self.links.iter().enumerate() {
            for (offset, (left, right)) in [&link.base, &link.kriged].into_iter().enumerate() {
                parts.push((left * linear.weights[2 * number + offset], right.clone()));
            }
        }
        let last = self.width();
        let [sum, square] = [linear.weights[last - 2], linear.weights[last - 1]];
        // sum (a_i + a_j) + square (a_i + a_j)², on the columns 1, a, a²
        let n = self.effects.len();
        let right = Array2::from_shape_fn((n, 3), |(i, k)| self.effects[i].powi([0, 1, 2][k]));
        let core = ndarray::array![[0.0, sum, square], [sum, 2.0 * square, 0.0], [square, 0.0, 0.0]];
        parts.push((right.dot(&core), right));
        parts
    }
}

/// Σ_j R_ij / (count + 1) over the other columns j.
pub(super) fn item_effects(items: &[usize], residual: &Array2<f64>) -> Array1<f64> {
    let mut counts = Array1::from_elem(residual.nrows(), items.len() as f64);
    items.iter().for_each(|&t| counts[t] -= 1.0);
    residual.sum_axis(Axis(1)) / (counts + 1.0)
}

/// shift_ridge of residual columns, the self-similarities as they are.
fn shift_ridge(
    items: &[usize],
    residual: &Array2<f64>,
    allow_zero: bool,
    rng: &mut Rng,
) -> Result<Part, ApproximateError> {
    let oracle = Held::new(items, residual.view());
    let landmarks = Landmarks::from_orders(residual.nrows(), items.to_vec(), Vec::new());
    let method = ShiftRidgeParams { allow_zero, ..ShiftRidgeParams::default() }.check()?;
    let fit = method.fit(&oracle, &landmarks, items.len(), Known::NOTHING, rng)?;
    let Factors::Signed(signed) = fit.factors() else {
        return Ok((Array2::zeros((residual.nrows(), 0)), Array2::zeros((residual.nrows(), 0))));
    };
    let right = signed.vectors.clone();
    let mut left = right.clone();
    left.slice_mut(s![.., signed.positive..]).mapv_inplace(|value| -value);
    Ok((left, right))
}

/// R α + (R α)ᵀ − αᵀ W α of residual columns without self-similarities.
pub(super) fn krige_columns(
    items: &[usize],
    residual: Array2<f64>,
    similar: Option<&Similar>,
) -> Result<Part, ApproximateError> {
    let s = items.len();
    let mut rows = residual.clone();
    for mut row in rows.rows_mut() {
        let size = (row.dot(&row) / s as f64).sqrt();
        if size > 0.0 {
            row /= size;
        }
    }
    let mean = rows.rows().into_iter().map(|row| row.dot(&row)).sum::<f64>() / rows.nrows() as f64;
    let chosen = rows.select(Axis(0), items);
    // G[:,S]
    let mut kernel = linalg::product(rows.view(), chosen.t());
    if mean > 0.0 {
        kernel /= mean;
    }
    kernel += 1.0;
    if let Some(similar) = similar {
        kernel += &similar.columns(items);
    }
    let eigen = linalg::eigh(kernel.select(Axis(0), items).view())?;
    let inverse =
        linalg::product((&eigen.vectors / &eigen.values.mapv(|w| w.max(0.0) + NUGGET)).view(), eigen.vectors.t());
    // αᵀ, n × s
    let weights = linalg::product(kernel.view(), inverse.view());
    let corner = residual.select(Axis(0), items);
    let mut other = residual.clone();
    linalg::add_product(weights.view(), corner.view(), -1.0, other.view_mut());
    let next_to = |a: &Array2<f64>, b: &Array2<f64>| linalg::hstack(&[a.view(), b.view()]);
    Ok((next_to(&residual, &weights), next_to(&weights, &other)))
}

/// Columns in memory as an oracle that knows nothing else.
struct Held<'a> {
    place: Vec<Option<usize>>,
    columns: ArrayView2<'a, f64>,
}

impl<'a> Held<'a> {
    fn new(items: &[usize], columns: ArrayView2<'a, f64>) -> Self {
        let mut place = vec![None; columns.nrows()];
        items.iter().enumerate().for_each(|(b, &t)| place[t] = Some(b));
        Self { place, columns }
    }
}

impl Oracle for Held<'_> {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.columns.nrows())
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"held")])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        for (&(i, j), out) in pairs.iter().zip(out) {
            *out = match (self.place[j], self.place[i]) {
                (Some(b), _) => self.columns[[i, b]],
                (None, Some(a)) => self.columns[[j, a]],
                (None, None) => f64::NAN,
            };
        }
        Ok(())
    }
}

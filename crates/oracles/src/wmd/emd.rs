//! Earth mover's distance between two weighted point sets, exactly.
//!
//! `emd(C, a, b) = min Σ f_ij C_ij` over flows f ≥ 0 with row sums a and column sums b (Rubner, Tomasi & Guibas 2000),
//! solved by the transportation simplex of `transport.rs`.
//!
//! **Masses.** Each side is divided by its own sum and rounded to whole units of 1/5,342,931,457,063,200 (the least common
//! multiple of 1…40, which fits in 53 bits), the largest mass taking up what the rounding leaves, so that both sides agree
//! exactly. Masses k/T with T ≤ 40, as short texts have them, are exact; otherwise a mass moves by less than 2⁻⁵², and the
//! distance by less than (m + n)·2⁻⁵²·max|C|. A mass below half a unit counts as zero. The result is scaled back by the sum
//! of `a`; sums that differ by more than [`SUM_TOLERANCE`], relatively, are refused.
//!
//! Cost: see `transport.rs`. With a warm [`EmdScratch`] nothing is allocated.

use ndarray::Array2;

use super::transport::Transportation;

/// Units of a whole document: lcm(1, …, 40) < 2⁵³.
pub(super) const UNITS: f64 = 5_342_931_457_063_200.0;

/// Largest difference of the sums of the two sides, relative to the larger: beyond rounding (of f32, to be generous) the
/// masses are not two distributions of the same thing.
pub const SUM_TOLERANCE: f64 = 1e-6;

/// One of the two point sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Side {
    /// The rows of the costs.
    #[error("a")]
    Rows,
    /// The columns of the costs.
    #[error("b")]
    Columns,
}

/// Why an earth mover's distance is not defined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmdError {
    #[error("{seen} costs for {rows} × {columns} points; want {rows} rows of {columns}, row by row")]
    Shape { rows: usize, columns: usize, seen: usize },
    #[error("mass {index} of `{side}` is {value}; want a finite number ≥ 0")]
    Mass { side: Side, index: usize, value: f64 },
    #[error("`{side}` has no mass; want at least one mass > 0")]
    NoMass { side: Side },
    #[error("the masses sum to {a} and to {b}; normalize both sides to the same sum")]
    Unbalanced { a: f64, b: f64 },
    #[error("the cost of ({row}, {column}) is {value}; want a finite number")]
    Cost { row: usize, column: usize, value: f64 },
}

/// Room for [`emd`], reused from one pair to the next and grown to the largest problem seen (8·mn + 80·(m + n) bytes).
#[derive(Debug, Clone, Default)]
pub struct EmdScratch {
    pub(super) problem: Transportation,
    pub(super) rows: Support,
    pub(super) columns: Support,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Support {
    pub(super) points: Vec<u32>,
    pub(super) units: Vec<f64>,
}

impl Support {
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.units.clear();
    }

    pub(super) fn push(&mut self, point: usize, units: f64) {
        self.points.push(point as u32);
        self.units.push(units);
    }

    fn len(&self) -> usize {
        self.points.len()
    }
}

/// A cheapest flow with the potentials that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transport {
    /// Σ flow · cost, in cost × mass.
    pub distance: f64,
    /// Mass carried from row i to column j, m × n.
    pub flow: Array2<f64>,
    /// u, one a row; `u_i + v_j ≤ C_ij` up to rounding, and `Σ a u + Σ b v = distance`.
    pub row_potentials: Vec<f64>,
    /// v, one a column.
    pub column_potentials: Vec<f64>,
}

/// Earth mover's distance of the masses `a` (m) and `b` (n) under `costs` (m × n, row by row), in cost × mass. Costs may
/// be any finite numbers; they need not be a metric.
///
/// ```
/// use landmark_oracles::wmd::{EmdScratch, emd};
/// let mut scratch = EmdScratch::default();
/// // half the mass stays, half moves by 3
/// let distance = emd(&[0.0, 3.0, 3.0, 0.0], &[1.0, 0.0], &[0.5, 0.5], &mut scratch)?;
/// assert_eq!(distance, 1.5);
/// # Ok::<(), landmark_oracles::wmd::EmdError>(())
/// ```
///
/// # Errors
/// [`EmdError`] for costs of another shape, a cost that is not finite, a mass that is negative or not finite, a side
/// without mass, sums that differ by more than [`SUM_TOLERANCE`].
pub fn emd(costs: &[f64], a: &[f64], b: &[f64], scratch: &mut EmdScratch) -> Result<f64, EmdError> {
    let mass = prepare(costs, a, b, scratch)?;
    scratch.load(|i| &costs[i * b.len()..][..b.len()], a.len() > b.len());
    let exponent = scratch.scaled();
    Ok(shifted(scratch.problem.solve() / UNITS * mass, exponent))
}

/// value · 2^exponent, in two steps: 2¹⁰⁷⁴ itself is no f64.
fn shifted(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

/// As [`emd`], with the flow and the potentials. Allocates its result.
pub fn emd_with_flow(costs: &[f64], a: &[f64], b: &[f64], scratch: &mut EmdScratch) -> Result<Transport, EmdError> {
    let (m, n) = (a.len(), b.len());
    let mass = prepare(costs, a, b, scratch)?;
    scratch.load(|i| &costs[i * n..][..n], false);
    let exponent = scratch.scaled();
    let distance = shifted(scratch.problem.solve() / UNITS * mass, exponent);
    let mut flow = Array2::zeros((m, n));
    for (i, j, units) in scratch.problem.flows() {
        flow[[scratch.rows.points[i] as usize, scratch.columns.points[j] as usize]] = units / UNITS * mass;
    }
    let (u, v) = scratch.problem.duals();
    let mut row_potentials = vec![f64::INFINITY; m];
    let mut column_potentials = vec![f64::INFINITY; n];
    scratch.columns.points.iter().zip(v).for_each(|(&j, &v)| column_potentials[j as usize] = shifted(v, exponent));
    scratch.rows.points.iter().zip(u).for_each(|(&i, &u)| row_potentials[i as usize] = shifted(u, exponent));
    // points without mass take the largest potential that their costs allow
    for i in (0..m).filter(|i| !scratch.rows.points.contains(&(*i as u32))) {
        let row = &costs[i * n..][..n];
        row_potentials[i] = scratch
            .columns
            .points
            .iter()
            .map(|&j| row[j as usize] - column_potentials[j as usize])
            .fold(f64::INFINITY, f64::min);
    }
    for j in (0..n).filter(|j| !scratch.columns.points.contains(&(*j as u32))) {
        column_potentials[j] = (0..m).map(|i| costs[i * n + j] - row_potentials[i]).fold(f64::INFINITY, f64::min);
    }
    Ok(Transport { distance, flow, row_potentials, column_potentials })
}

/// Checks the input and fills both supports; returns the sum of `a`.
fn prepare(costs: &[f64], a: &[f64], b: &[f64], scratch: &mut EmdScratch) -> Result<f64, EmdError> {
    let (m, n) = (a.len(), b.len());
    if costs.len() != m * n {
        return Err(EmdError::Shape { rows: m, columns: n, seen: costs.len() });
    }
    let sum_a = total(a, Side::Rows)?;
    let sum_b = total(b, Side::Columns)?;
    if (sum_a - sum_b).abs() > SUM_TOLERANCE * sum_a.max(sum_b) {
        return Err(EmdError::Unbalanced { a: sum_a, b: sum_b });
    }
    if let Some(k) = costs.iter().position(|cost| !cost.is_finite()) {
        return Err(EmdError::Cost { row: k / n, column: k % n, value: costs[k] });
    }
    for (support, masses, sum) in [(&mut scratch.rows, a, sum_a), (&mut scratch.columns, b, sum_b)] {
        support.clear();
        whole_units(masses, sum, |point, units| support.push(point, units));
    }
    Ok(sum_a)
}

fn total(masses: &[f64], side: Side) -> Result<f64, EmdError> {
    if let Some(index) = masses.iter().position(|mass| !mass.is_finite() || *mass < 0.0) {
        return Err(EmdError::Mass { side, index, value: masses[index] });
    }
    let sum: f64 = masses.iter().sum();
    if sum > 0.0 && sum.is_finite() { Ok(sum) } else { Err(EmdError::NoMass { side }) }
}

/// Hands each mass > 0 to `each` as whole units that sum to [`UNITS`]: rounded to nearest, the largest takes the rest.
pub(super) fn whole_units(masses: &[f64], sum: f64, mut each: impl FnMut(usize, f64)) {
    let units = |mass: f64| (mass / sum * UNITS).round();
    let (mut largest, mut rounded) = (0, 0.0);
    for (k, &mass) in masses.iter().enumerate() {
        rounded += units(mass);
        if mass > masses[largest] {
            largest = k;
        }
    }
    let rest = UNITS - rounded;
    for (k, &mass) in masses.iter().enumerate() {
        let units = if k == largest { units(mass) + rest } else { units(mass) };
        if units > 0.0 {
            each(k, units);
        }
    }
}

impl EmdScratch {
    /// Divides the costs of the problem that was loaded by a power of two, if they are near the ends of the range, and returns its exponent: sums of
    /// flow × cost overflow near the largest numbers, and tolerances vanish near the smallest. This rounds nothing.
    fn scaled(&mut self) -> i32 {
        /// With 53 bits of flow and as many of tolerance nothing leaves the range of f64 up to here.
        const PLAIN: i32 = 600;
        let largest = self.problem.largest();
        let exponent = if largest > 0.0 { largest.log2().floor() as i32 } else { 0 };
        if exponent.abs() <= PLAIN {
            return 0;
        }
        self.problem.scale(|cost| shifted(cost, -exponent));
        exponent
    }

    /// Hands the supports and their costs (`row(i)` holds those of point i of the rows) to the solver, or the transposed
    /// problem, which costs the same.
    #[inline(always)]
    pub(super) fn load<'a>(&mut self, row: impl Fn(usize) -> &'a [f64], transposed: bool) {
        let (rows, columns, problem) = (&self.rows, &self.columns, &mut self.problem);
        if transposed {
            problem.reshape(columns.len(), rows.len());
            for (at, &i) in rows.points.iter().enumerate() {
                problem.fill_column(at, row(i as usize), &columns.points);
            }
            problem.supply.copy_from_slice(&columns.units);
            problem.demand.copy_from_slice(&rows.units);
        } else {
            problem.reshape(rows.len(), columns.len());
            for (at, &i) in rows.points.iter().enumerate() {
                let costs = row(i as usize);
                let to = problem.row_mut(at);
                if columns.len() == costs.len() {
                    to.copy_from_slice(costs);
                } else {
                    to.iter_mut().zip(&columns.points).for_each(|(to, &j)| *to = costs[j as usize]);
                }
            }
            problem.supply.copy_from_slice(&rows.units);
            problem.demand.copy_from_slice(&columns.units);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_divides_by_every_number_up_to_40() {
        assert!(UNITS < 2_f64.powi(53));
        assert!((1..=40).all(|k| UNITS % f64::from(k) == 0.0));
    }

    #[test]
    fn masses_become_whole_units_that_sum_exactly() {
        for masses in [vec![1.0 / 3.0; 3], vec![0.1, 1e-9, 0.0, 0.9], vec![1.0 / 57.0; 57], vec![1e-30, 7.0]] {
            let mut units = Vec::new();
            whole_units(&masses, masses.iter().sum(), |_, unit| units.push(unit));
            assert_eq!(units.iter().sum::<f64>(), UNITS);
            assert!(units.iter().all(|unit| *unit > 0.0 && unit.fract() == 0.0));
        }
    }

    #[test]
    fn costs_near_the_ends_of_the_range_cost_what_ordinary_ones_do() {
        let (a, b) = ([0.5, 0.2, 0.3], [0.1, 0.6, 0.3]);
        let costs = [1.0, 4.0, 2.5, 3.0, 1.5, 0.5, 2.0, 5.0, 1.0];
        let scratch = &mut EmdScratch::default();
        let plain = emd_with_flow(&costs, &a, &b, scratch).unwrap();
        // powers of two round nothing
        for exponent in [1000, 700, -700, -1000] {
            let far = costs.map(|cost| cost * 2_f64.powi(exponent));
            assert_eq!(emd(&far, &a, &b, scratch).unwrap(), plain.distance * 2_f64.powi(exponent), "2^{exponent}");
            let with_flow = emd_with_flow(&far, &a, &b, scratch).unwrap();
            assert_eq!(with_flow.flow, plain.flow);
            assert_eq!(with_flow.row_potentials[1], plain.row_potentials[1] * 2_f64.powi(exponent));
        }
        for size in [1e300, 1e-300, 1.5e308, 1e-320] {
            let distance = emd(&[0.0, size, size, 0.0], &[1.0, 0.0], &[0.5, 0.5], scratch).unwrap();
            assert!((distance / size - 0.5).abs() < 1e-3, "{size}: {distance}");
        }
    }

    #[test]
    fn refuses_what_has_no_distance_and_names_it() {
        let scratch = &mut EmdScratch::default();
        let mut message = |costs: &[f64], a: &[f64], b: &[f64]| emd(costs, a, b, scratch).unwrap_err().to_string();
        assert_eq!(message(&[1.0], &[1.0], &[0.5, 0.5]), "1 costs for 1 × 2 points; want 1 rows of 2, row by row");
        assert_eq!(message(&[1.0], &[-1.0], &[1.0]), "mass 0 of `a` is -1; want a finite number ≥ 0");
        assert_eq!(message(&[1.0], &[1.0], &[f64::NAN]), "mass 0 of `b` is NaN; want a finite number ≥ 0");
        assert_eq!(message(&[1.0], &[1.0], &[0.0]), "`b` has no mass; want at least one mass > 0");
        assert_eq!(message(&[], &[], &[]), "`a` has no mass; want at least one mass > 0");
        let unbalanced = "the masses sum to 1 and to 2; normalize both sides to the same sum";
        assert_eq!(message(&[1.0], &[1.0], &[2.0]), unbalanced);
        let infinite = message(&[1.0, f64::INFINITY], &[1.0], &[0.5, 0.5]);
        assert_eq!(infinite, "the cost of (0, 1) is inf; want a finite number");
    }
}

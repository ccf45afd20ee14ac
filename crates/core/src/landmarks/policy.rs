//! Policies by name: the columns that each reads, and its choice.
//!
//! Measured within ±5 % of uniform on the matrices of the papers, so uniform stays the default; a corpus with a long tail of
//! outliers is where the others earn their price.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use serde::Serialize;

use super::leverage;
use super::sequential::{self, Farthest, KMeansPlusPlus, RpCholesky};
use super::{LandmarkError, Landmarks, check_order, permutation};
use crate::entries::{Certainty, EntryBlock, EntryPlan, Rows};
use crate::oracle::{Oracle, OracleShape, Remembered, Symmetry};
use crate::parameter::BadParameter;
use crate::stream::Rng;

/// Rule by which landmarks are chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(tag = "policy", rename_all = "snake_case")]
pub enum LandmarkPolicy {
    /// Uniformly at random, without replacement. Free.
    #[default]
    Uniform,
    /// A list, most important first. Free.
    Given {
        /// Distinct item numbers from 0.
        indices: Vec<usize>,
    },
    /// Two rounds: uniform ones first, then by the ridge leverage of every item's row in their columns.
    Leverage {
        /// The part drawn uniformly, 0 < part ≤ 1.
        first_round: f64,
    },
    /// Randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2022): by what is left of the diagonal.
    #[serde(rename = "rpcholesky")]
    RpCholesky,
    /// k-means++ seeding (Arthur & Vassilvitskii 2007) in the kernel's own geometry.
    #[serde(rename = "kmeans++")]
    KMeansPlusPlus,
    /// Farthest point (Gonzalez 1985): the item whose best similarity to the landmarks is lowest.
    Farthest,
}

/// Evaluations of [`LandmarkPolicy::select`]. Its columns are columns of landmarks, so a fit behind the same memory or
/// store gets them for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SelectionPlan {
    pub columns: usize,
    /// True where all self-similarities are read too.
    pub diagonal: bool,
    /// Exact, or no more than this because the choice may end early.
    pub certainty: Certainty,
}

impl SelectionPlan {
    const FREE: Self = Self { columns: 0, diagonal: false, certainty: Certainty::Exact };

    /// The entries that choosing these landmarks read.
    pub fn entries(&self, landmarks: &Landmarks) -> EntryPlan {
        let columns = &landmarks.order()[..self.columns.min(landmarks.order().len())];
        let mut plan = EntryPlan { certainty: self.certainty, ..EntryPlan::columns(columns) };
        if self.diagonal {
            let read: HashSet<usize> = columns.iter().copied().collect();
            let others = (0..landmarks.len()).filter(|i| !read.contains(i));
            plan.blocks.extend(others.map(|i| EntryBlock { rows: Rows::These(vec![i]), cols: vec![i] }));
        }
        plan
    }

    /// Calls of the similarity function, if nothing of it is evaluated yet.
    pub fn evaluations(&self, shape: OracleShape) -> u64 {
        let (n, columns) = (shape.len as u64, self.columns as u64);
        let off_diagonal = columns * n - columns * (columns + 1) / 2;
        shape.evaluations(off_diagonal, if self.diagonal { n } else { columns })
    }
}

impl LandmarkPolicy {
    pub fn id(&self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Given { .. } => "given",
            Self::Leverage { .. } => "leverage",
            Self::RpCholesky => "rpcholesky",
            Self::KMeansPlusPlus => "kmeans++",
            Self::Farthest => "farthest",
        }
    }

    /// Evaluations that choosing `size` landmarks costs. Pure: no oracle call.
    ///
    /// # Errors
    /// An impossible size or list, a parameter out of range, an asymmetric oracle for a policy that looks at scores.
    pub fn plan(&self, shape: OracleShape, size: usize) -> Result<SelectionPlan, LandmarkError> {
        self.plan_up_to(shape, size, size)
    }

    /// The same with the order continued to `longest` ≥ `size` landmarks, as [`select_up_to`](Self::select_up_to) does.
    pub fn plan_up_to(&self, shape: OracleShape, size: usize, longest: usize) -> Result<SelectionPlan, LandmarkError> {
        let longest = longest.max(size);
        self.check(shape, size)?;
        self.check(shape, longest)?;
        let sequential = |diagonal, certainty| SelectionPlan { columns: longest - 1, diagonal, certainty };
        Ok(match self {
            Self::Uniform | Self::Given { .. } => SelectionPlan::FREE,
            Self::Leverage { first_round } => {
                SelectionPlan { columns: first_size(*first_round, size), ..SelectionPlan::FREE }
            }
            Self::RpCholesky | Self::KMeansPlusPlus => sequential(true, Certainty::UpperBound),
            Self::Farthest => sequential(false, Certainty::Exact),
        })
    }

    /// Chooses. Evaluates what [`plan`](Self::plan) names, each entry once.
    ///
    /// `rpcholesky`, `kmeans++` and `farthest` choose one after the other, so that from one state of `rng` fewer
    /// landmarks are a prefix of more; so does `uniform`, whose order is all n items. Costs O(n·size) in addition to the
    /// columns, `rpcholesky` and `leverage` O(n·size²).
    pub fn select(&self, oracle: &dyn Oracle, size: usize, rng: &mut Rng) -> Result<Landmarks, LandmarkError> {
        self.select_up_to(oracle, size, size, rng)
    }

    /// The same with the order continued to `longest` ≥ `size` landmarks. Neither the first `size` nor the independent
    /// order depends on `longest`, so a method that needs more moves no landmark of the others.
    pub fn select_up_to(
        &self,
        oracle: &dyn Oracle,
        size: usize,
        longest: usize,
        rng: &mut Rng,
    ) -> Result<Landmarks, LandmarkError> {
        let n = oracle.len();
        let longest = longest.max(size);
        self.check(OracleShape::of(oracle), size)?;
        self.check(OracleShape::of(oracle), longest)?;
        let memory = Remembered::new(oracle);
        let order = match self {
            Self::Uniform => return Ok(Landmarks::uniform(n, rng)),
            Self::Given { indices } => return Landmarks::given(n, indices, rng),
            Self::Leverage { first_round } => {
                let first: Vec<usize> = permutation(n, rng).into_iter().take(first_size(*first_round, size)).collect();
                leverage::extend(&memory, first, longest, rng)?
            }
            Self::RpCholesky => sequential::choose(&memory, RpCholesky::new(&memory)?, size, longest, rng)?,
            Self::KMeansPlusPlus => sequential::choose(&memory, KMeansPlusPlus::new(&memory)?, size, longest, rng)?,
            Self::Farthest => sequential::choose(&memory, Farthest::new(n), size, longest, rng)?,
        };
        let mut independent: Vec<usize> = (0..n).collect();
        independent.shuffle(rng);
        Ok(Landmarks::from_orders(n, order, independent))
    }

    fn check(&self, shape: OracleShape, size: usize) -> Result<(), LandmarkError> {
        let available = match self {
            Self::Given { indices } => {
                check_order(shape.len, indices)?;
                indices.len()
            }
            _ => shape.len,
        };
        if size == 0 || size > available {
            return Err(LandmarkError::Size { size, available });
        }
        if let Self::Leverage { first_round: value } = *self
            && !(value > 0.0 && value <= 1.0)
        {
            let bad = BadParameter::new("first_round", value, "above 0 and at most 1");
            return Err(BadParameter { owner: format!("landmark policy `{}`", self.id()), ..bad }.into());
        }
        match (self, shape.symmetry) {
            (Self::Uniform | Self::Given { .. }, _) | (_, Symmetry::Symmetric) => Ok(()),
            (_, Symmetry::Asymmetric) => Err(LandmarkError::Asymmetric { policy: self.id() }),
        }
    }
}

/// Landmarks of the uniform round: at least one. The product is between 0 and `size`.
fn first_size(first_round: f64, size: usize) -> usize {
    ((first_round * size as f64).ceil() as usize).clamp(1, size)
}

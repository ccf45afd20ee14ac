//! Families of structured Gaussian matrices.
//!
//! Choromanski & Fagan 2016, §2.2. All conventions are those of the paper's P-models: row i is gᵀPᵢ, rows marginally N(0, I).
//!
//! | id | A | budget t | a row costs |
//! |---|---|---|---|
//! | `dense` | independent | mn | mn |
//! | `circulant` | A[i][j] = g[(j − i) mod n] | n a block of n rows | n log n |
//! | `toeplitz` | A[i][j] = g[j − i + m − 1] | n + m − 1 | (n + m) log n |
//! | `hankel` | A[i][j] = g[i + j] | n + m − 1 | (n + m) log n |
//! | `low_displacement` | Σ_k Circ(g_k) Skew(h_k), h_k of `nonzeros` entries ±1/√(nonzeros·rank) | n·rank a block | rank·n log n |
//! | `fastfood` | HGΠHB/√N | N a block, N the power of two ≥ n | N log N |
//! | `hd3` | HD₃HD₂HD₁/N | 3N signs a block | N log N |

use landmark_core::parameter::BadParameter;
use landmark_core::stream::Rng;
use serde::{Deserialize, Serialize};

use super::error::require_some;
use super::named::name_or_map;
use super::transforms::FftPlans;
use super::{StructuredError, StructuredMatrix};

mod circulant;
mod dense;
mod fastfood;
mod hankel;
mod hd3;
mod low_displacement;

pub(super) use circulant::Circulant;
use dense::Dense;
use fastfood::Fastfood;
pub(super) use hankel::Hankel;
use hd3::Hd3;
pub(super) use low_displacement::LowDisplacement;

/// Structure of the matrix, with its parameters. In a configuration a name, or a map with the key `id` and the family's own keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "id", rename_all = "snake_case")]
pub enum Family {
    /// Independent entries: the reference.
    Dense,
    /// One Gaussian row and its right shifts.
    #[default]
    Circulant,
    /// Constant along diagonals.
    Toeplitz,
    /// Constant along anti-diagonals.
    Hankel,
    /// Σ_k Circ(g_k) Skew(h_k) of displacement rank `rank`.
    LowDisplacement {
        /// r ≥ 1, the number of terms.
        rank: usize,
        /// a, the nonzeros of each h_k. With 1 every row is exactly N(0, I); with more only on average over the h_k.
        nonzeros: usize,
    },
    /// Le, Sarlós & Smola 2013 without (or with) their scaling S.
    Fastfood {
        /// True where rows get independent lengths (S) instead of a common one. The matrix is then no P-model.
        independent_norms: bool,
    },
    /// Three blocks HD: rows exactly orthogonal, entries not Gaussian.
    Hd3,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(tag = "id", rename_all = "snake_case", deny_unknown_fields)]
enum Map {
    Dense {},
    Circulant {},
    Toeplitz {},
    Hankel {},
    LowDisplacement {
        rank: usize,
        nonzeros: usize,
    },
    Fastfood {
        #[serde(default)]
        independent_norms: bool,
    },
    Hd3 {},
}

impl From<Map> for Family {
    fn from(map: Map) -> Self {
        match map {
            Map::Dense {} => Self::Dense,
            Map::Circulant {} => Self::Circulant,
            Map::Toeplitz {} => Self::Toeplitz,
            Map::Hankel {} => Self::Hankel,
            Map::LowDisplacement { rank, nonzeros } => Self::LowDisplacement { rank, nonzeros },
            Map::Fastfood { independent_norms } => Self::Fastfood { independent_norms },
            Map::Hd3 {} => Self::Hd3,
        }
    }
}

name_or_map!(Family by Map, "the name of a family, or a map with the key `id`");

impl Family {
    /// Every id, in the order of the documentation.
    pub const IDS: [&'static str; 7] =
        ["dense", "circulant", "toeplitz", "hankel", "low_displacement", "fastfood", "hd3"];

    pub fn id(&self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Circulant => "circulant",
            Self::Toeplitz => "toeplitz",
            Self::Hankel => "hankel",
            Self::LowDisplacement { .. } => "low_displacement",
            Self::Fastfood { .. } => "fastfood",
            Self::Hd3 => "hd3",
        }
    }

    /// Check that the parameters suit some number of columns.
    pub fn check(self) -> Result<Self, StructuredError> {
        if let Self::LowDisplacement { rank, nonzeros } = self {
            for (parameter, value) in [("rank", rank), ("nonzeros", nonzeros)] {
                if value == 0 {
                    return Err(BadParameter::new(parameter, value, "at least 1").of(self.id()).into());
                }
            }
        }
        Ok(self)
    }

    /// Draws an m × n matrix. The same state of `rng` gives the same matrix.
    ///
    /// # Errors
    /// m or n = 0, parameters out of range, a dense matrix that does not fit in memory.
    pub fn draw(
        self,
        rows: usize,
        cols: usize,
        rng: &mut Rng,
        plans: &mut FftPlans,
    ) -> Result<Box<dyn StructuredMatrix>, StructuredError> {
        require_some("the number of rows (features)", rows)?;
        require_some("the number of columns (input dimensions)", cols)?;
        Ok(match self.check()? {
            Self::Dense => Box::new(Dense::draw(rows, cols, rng)?),
            Self::Circulant => Box::new(Circulant::draw(rows, cols, rng, plans)?),
            Self::Toeplitz => Box::new(Hankel::draw(rows, cols, true, rng, plans)?),
            Self::Hankel => Box::new(Hankel::draw(rows, cols, false, rng, plans)?),
            Self::LowDisplacement { rank, nonzeros } => {
                Box::new(LowDisplacement::draw(rows, cols, rank, nonzeros, rng, plans)?)
            }
            Self::Fastfood { independent_norms } => Box::new(Fastfood::draw(rows, cols, independent_norms, rng)),
            Self::Hd3 => Box::new(Hd3::draw(rows, cols, rng)),
        })
    }
}

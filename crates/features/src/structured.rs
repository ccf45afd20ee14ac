//! Structured nonlinear embeddings: random features whose Gaussian matrix is recycled from few random numbers.
//!
//! Λ_f(x, y) = E[f(r·x) f(r·y)], r ~ N(0, I), is estimated by Λ̂ = (1/m) Σᵢ f(A D₁HD₀ x)ᵢ f(A D₁HD₀ y)ᵢ with a structured
//! m × n matrix A instead of m independent Gaussian rows. Choromanski & Fagan 2016, "Fast nonlinear embeddings via structured
//! matrices", §2: A's i-th row is gᵀPᵢ for one budget of randomness g of t ≪ mn numbers ("P-model", [`p_model`]).
//!
//! From the bottom up: [`transforms`] (Walsh–Hadamard, circulant, skew-circulant and Hankel products), [`Family`] and
//! [`StructuredMatrix`] (dense, circulant, Toeplitz, Hankel, low displacement rank, Fastfood, HD₃HD₂HD₁), [`Rotation`]
//! (D₁HD₀), [`SphericalKernel`] (f and its closed form), [`StructuredFeatures`] (all of it; a linfa `Transformer`).
//!
//! Cost of a row: O((n + m) log n) flops and O(n + m) numbers instead of O(nm) of both.

mod chunks;
mod error;
mod family;
mod features;
mod kernel;
mod matrix;
mod named;
pub mod p_model;
mod rotation;
mod signs;
pub mod transforms;

pub use error::StructuredError;
pub use family::Family;
pub use features::{StructuredFeatures, StructuredFeaturesParams, ValidStructuredFeatures};
pub use kernel::{SphericalKernel, angle};
pub use matrix::StructuredMatrix;
pub use rotation::Rotation;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod tests;

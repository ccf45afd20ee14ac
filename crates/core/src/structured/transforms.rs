//! Fast transforms: Walsh–Hadamard in place, and products with circulant, skew-circulant and Hankel matrices by FFT.
//!
//! All products keep their spectra and plans: what a product costs is its own transforms. Rows of a batch are transformed
//! one by one, so that a result depends neither on its neighbours nor on the number of threads.

mod circulant;
mod hadamard;
mod hankel;
mod plans;
mod skew_circulant;

pub use circulant::CirculantProduct;
pub(super) use hadamard::transform as hadamard;
pub use hadamard::{HadamardScalar, padded_length, walsh_hadamard, walsh_hadamard_padded, walsh_hadamard_rows};
pub use hankel::HankelProduct;
pub(super) use plans::RealPlan;
pub use plans::{Plans, Room};
pub(super) use plans::{add_product, multiply, sized};
pub use skew_circulant::SkewCirculantProduct;
pub(super) use skew_circulant::SkewSpectrum;

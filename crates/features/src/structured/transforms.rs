//! Fast transforms: Walsh–Hadamard in place, and products with circulant, skew-circulant and Hankel matrices by FFT.
//!
//! All products keep their spectra and plans: what a product costs is its own transforms. Rows of a batch are transformed
//! one by one, so that a result depends neither on its neighbors nor on the number of threads.

mod circulant;
mod fft;
mod hadamard;
mod hankel;
mod skew_circulant;

pub use circulant::CirculantProduct;
pub(super) use fft::RealPlan;
pub use fft::{FftPlans, Room};
pub(super) use fft::{add_product, multiply, sized};
pub(super) use hadamard::transform as hadamard;
pub use hadamard::{padded_length, walsh_hadamard};
pub use hankel::HankelProduct;
pub(super) use skew_circulant::SkewSpectrum;

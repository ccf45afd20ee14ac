//! One file a family.

mod circulant;
mod dense;
mod fastfood;
mod hankel;
mod hd3;
mod low_displacement;

pub(super) use circulant::Circulant;
pub(super) use dense::Dense;
pub(super) use fastfood::Fastfood;
pub(super) use hankel::Hankel;
pub(super) use hd3::Hd3;
pub(super) use low_displacement::LowDisplacement;

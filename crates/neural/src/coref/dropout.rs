//! Dropout whose masks come from a stream of ours: libtorch's generator is one for the whole process, so that a training would depend on
//! whatever else draws from it.

use std::cell::RefCell;

use landmark_core::stream::Rng;
use rand::RngCore as _;
use tch::{TchError, Tensor};

/// Sets a share of values to 0 and scales the others up.
pub(super) struct Dropout {
    /// Bytes below this are dropped: the share in 256ths.
    cut: u8,
    rng: Option<RefCell<Rng>>,
}

impl Dropout {
    pub(super) fn none() -> Self {
        Self { cut: 0, rng: None }
    }

    /// Drops this share, to the nearest 256th.
    pub(super) fn new(share: f64, rng: Rng) -> Self {
        // between 0 and 255
        let cut = (256.0 * share).round().clamp(0.0, 255.0) as u8;
        Self { cut, rng: (cut > 0).then(|| RefCell::new(rng)) }
    }

    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let Some(rng) = &self.rng else { return Ok(x.shallow_clone()) };
        let mut bytes = vec![0_u8; x.numel()];
        rng.borrow_mut().fill_bytes(&mut bytes);
        let kept = 256.0 / (256.0 - f32::from(self.cut));
        let mask: Vec<f32> = bytes.into_iter().map(|byte| if byte < self.cut { 0.0 } else { kept }).collect();
        x.f_mul(&Tensor::f_from_slice(&mask)?.f_view(&x.size()[..])?.f_to_device(x.device())?)
    }
}

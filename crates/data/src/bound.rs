//! What a packed file may unpack to.

use std::io::{Error, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that any packed file may unpack to.
pub const FREE: u64 = 64 << 20;
/// Times its own size that a larger one may.
pub const RATIO: u64 = 100;
/// Bytes that none may exceed, unless [`raise`] sets another bound.
pub const MOST: u64 = 16 << 30;
/// Key of a configuration that sets another bound.
pub const KEY: &str = "max_unpacked_gib";

/// The bound that was set, or 0.
static SET: AtomicU64 = AtomicU64::new(0);

/// Sets the bytes that a packed file may unpack to in this process, in place of ratio and size. Of several bounds the largest holds.
pub fn raise(bytes: u64) {
    SET.fetch_max(bytes, Ordering::Relaxed);
}

/// Bytes that a file of `packed` bytes may unpack to.
pub fn most(packed: u64) -> u64 {
    match SET.load(Ordering::Relaxed) {
        0 => packed.saturating_mul(RATIO).clamp(FREE, MOST),
        set => set,
    }
}

/// More than a packed file may unpack to. Readers hand it on within an [`Error`] of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it unpacks to more than {}, the most for a file of {}; unpack it yourself, or set `{KEY}` in the configuration",
    in_words(*.most),
    in_words(*.packed)
)]
pub struct TooLarge {
    pub packed: u64,
    pub most: u64,
}

impl TooLarge {
    /// For a file of `packed` bytes.
    pub fn of(packed: u64) -> Self {
        Self { packed, most: most(packed) }
    }

    /// The [`TooLarge`] inside an error of a reader, if that is its cause.
    pub fn within(error: &Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<TooLarge> for Error {
    fn from(error: TooLarge) -> Self {
        Self::new(ErrorKind::InvalidData, error)
    }
}

fn in_words(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|&(power, _)| bytes >= 1 << power) {
        Some((power, unit)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1_u32 << power)),
        None => format!("{bytes} bytes"),
    }
}

/// A reader of unpacked bytes that ends in an error where there are too many.
pub struct Bounded<R> {
    inside: R,
    bound: TooLarge,
    left: u64,
}

impl<R: Read> Bounded<R> {
    /// Bounds what `packed` bytes unpack to.
    pub fn new(inside: R, packed: u64) -> Self {
        let bound = TooLarge::of(packed);
        Self { inside, bound, left: bound.most }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inside.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or(self.bound)?;
        Ok(read)
    }
}

//! Named random streams: every draw comes from a ChaCha stream named by (seed, dataset, purpose, replicate).
//!
//! Adding a method or a plot to a configuration therefore changes no landmark of the others, every method of a
//! replicate sees the same landmarks, and nothing depends on the number of threads.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

/// The generator behind every draw.
pub type Rng = ChaCha12Rng;

/// A generator that depends on nothing but its four names.
///
/// ```
/// use landmark_core::stream::stream;
/// use rand::Rng;
/// let a: u64 = stream(2022, "twitter", "landmarks", 0).r#gen();
/// assert_eq!(a, stream(2022, "twitter", "landmarks", 0).r#gen::<u64>());
/// assert_ne!(a, stream(2022, "twitter", "landmarks", 1).r#gen::<u64>());
/// ```
pub fn stream(seed: u64, dataset: &str, purpose: &str, replicate: u64) -> Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"landmark stream v1");
    hasher.update(&seed.to_le_bytes());
    for name in [dataset, purpose] {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    hasher.update(&replicate.to_le_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}

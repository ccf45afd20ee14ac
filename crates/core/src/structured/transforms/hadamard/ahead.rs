//! Memory that is asked for before it is needed: hints, which change no result. Elsewhere than on x86-64 nothing is asked for.

/// Asks for memory before it is needed, a cache line at a time.
pub(super) struct Ahead {
    next: usize,
    end: usize,
}

impl Ahead {
    pub(super) const LINE: usize = 64;

    /// Asks for memory from `next` to `end`.
    #[inline(always)]
    pub(super) const fn new(next: usize, end: usize) -> Self {
        Self { next, end }
    }

    /// Asks for nothing.
    #[inline(always)]
    pub(super) const fn none() -> Self {
        Self { next: 0, end: 0 }
    }

    /// Asks for the next line, if there is one.
    #[inline(always)]
    pub(super) fn fetch(&mut self) {
        if self.next < self.end {
            fetch::<false, u8>(std::ptr::without_provenance(self.next));
            self.next += Self::LINE;
        }
    }
}

/// Asks for the cache line of `address`, which need not be valid: into the first-level cache if it is NEAR, else the second.
#[inline(always)]
pub(super) fn fetch<const NEAR: bool, T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint, whatever the address
        unsafe {
            if NEAR {
                _mm_prefetch::<_MM_HINT_T0>(address.cast());
            } else {
                _mm_prefetch::<_MM_HINT_T1>(address.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

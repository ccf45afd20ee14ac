//! Four f64 or eight f32 as one value: AVX2 where the processor has it, arrays elsewhere; the same bits from both.
//!
//! The levels inside a register need its numbers in another order, which compilers do not find by themselves: y = s∘x + x', where x'
//! has the halves of each pair exchanged and s = ±1. The product by ±1 is exact, so that fusing it with the addition changes nothing.

/// L numbers as they lie in memory.
pub(super) type Cell<const L: usize, V> = [<V as Lanes<L>>::Scalar; L];

/// L numbers of one kind.
pub(super) trait Lanes<const L: usize>: Copy {
    type Scalar: Copy + Default;
    /// One of them.
    type Single: Lanes<1, Scalar = Self::Scalar>;

    fn load(from: &[Self::Scalar; L]) -> Self;
    fn store(self, to: &mut [Self::Scalar; L]);
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The transform of the L numbers: levels 1, 2 … L/2.
    fn transformed(self) -> Self;
}

macro_rules! array_lanes {
    ($scalar:ty, $lanes:literal) => {
        impl Lanes<$lanes> for [$scalar; $lanes] {
            type Scalar = $scalar;
            type Single = [$scalar; 1];

            #[inline(always)]
            fn load(from: &Self) -> Self {
                *from
            }

            #[inline(always)]
            fn store(self, to: &mut Self) {
                *to = self;
            }

            #[inline(always)]
            fn plus(mut self, other: Self) -> Self {
                self.iter_mut().zip(other).for_each(|(x, y)| *x += y);
                self
            }

            #[inline(always)]
            fn minus(mut self, other: Self) -> Self {
                self.iter_mut().zip(other).for_each(|(x, y)| *x -= y);
                self
            }

            #[inline(always)]
            fn transformed(mut self) -> Self {
                let mut distance = 1;
                while distance < $lanes {
                    for i in (0..$lanes).filter(|i| i & distance == 0) {
                        let (x, y) = (self[i], self[i + distance]);
                        (self[i], self[i + distance]) = (x + y, x - y);
                    }
                    distance *= 2;
                }
                self
            }
        }
    };
}

array_lanes!(f64, 4);
array_lanes!(f32, 8);
array_lanes!(f64, 1);
array_lanes!(f32, 1);

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! SAFETY of all calls here: a register is only made by `load`, which nothing calls but `by_cache` compiled for AVX2 and FMA,
    //! after both were detected; a reference to an array is valid for reading, or writing, all of it.

    use std::arch::x86_64::*;

    use super::Lanes;

    impl Lanes<4> for __m256d {
        type Scalar = f64;
        type Single = [f64; 1];

        #[inline(always)]
        fn load(from: &[f64; 4]) -> Self {
            unsafe { _mm256_loadu_pd(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, to: &mut [f64; 4]) {
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self) }
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            unsafe { _mm256_add_pd(self, other) }
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            unsafe { _mm256_sub_pd(self, other) }
        }

        #[inline(always)]
        fn transformed(self) -> Self {
            unsafe {
                let signs = _mm256_setr_pd(1.0, -1.0, 1.0, -1.0);
                let x = _mm256_fmadd_pd(self, signs, _mm256_permute_pd::<0b0101>(self));
                let signs = _mm256_setr_pd(1.0, 1.0, -1.0, -1.0);
                _mm256_fmadd_pd(x, signs, _mm256_permute2f128_pd::<1>(x, x))
            }
        }
    }

    impl Lanes<8> for __m256 {
        type Scalar = f32;
        type Single = [f32; 1];

        #[inline(always)]
        fn load(from: &[f32; 8]) -> Self {
            unsafe { _mm256_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; 8]) {
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self) }
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            unsafe { _mm256_add_ps(self, other) }
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            unsafe { _mm256_sub_ps(self, other) }
        }

        #[inline(always)]
        fn transformed(self) -> Self {
            unsafe {
                let signs = _mm256_setr_ps(1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0);
                let x = _mm256_fmadd_ps(self, signs, _mm256_permute_ps::<0b10_11_00_01>(self));
                let signs = _mm256_setr_ps(1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0);
                let x = _mm256_fmadd_ps(x, signs, _mm256_permute_ps::<0b01_00_11_10>(x));
                let signs = _mm256_setr_ps(1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0);
                _mm256_fmadd_ps(x, signs, _mm256_permute2f128_ps::<1>(x, x))
            }
        }
    }
}

/// The transform of R registers, the highest level first.
#[inline(always)]
pub(super) fn butterflies<const L: usize, V: Lanes<L>, const R: usize>(x: &mut [V; R]) {
    let mut distance = R / 2;
    while distance > 0 {
        for i in 0..R {
            if i & distance == 0 {
                let (a, b) = (x[i], x[i + distance]);
                (x[i], x[i + distance]) = (a.plus(b), a.minus(b));
            }
        }
        distance /= 2;
    }
}

//! One loop, compiled a second time for AVX2.
//!
//! Both versions do the same additions and multiplications in the same order, never fused, so that a result has the same bits
//! on every processor; only the time differs. AVX-512 is left out: the compiler leaves short loops of fixed length scalar there.

/// Defines the function `$name` that runs `$body` (an `#[inline(always)]` function) compiled for AVX2 where this
/// processor has it and for the build's baseline elsewhere.
macro_rules! widest_registers {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:path) => {
        $(#[$doc])*
        $visibility fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,popcnt")]
                fn avx2($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    // SAFETY: both features were just detected
                    return unsafe { avx2($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}
pub(crate) use widest_registers;

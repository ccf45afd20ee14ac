//! One loop, compiled once for each width of the processor's vector registers.
//!
//! Each version does the same additions and multiplications in the same order, never fused, so that a result has the same
//! bits on every processor; only the time differs.

/// Defines the function `$name` that runs `$body` (an `#[inline(always)]` function) compiled for AVX-512, for AVX2 or for
/// the build's baseline, whichever is the widest that this processor has.
macro_rules! widest_registers {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:path) => {
        $(#[$doc])*
        $visibility fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
                fn avx512($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                #[target_feature(enable = "avx2,popcnt")]
                fn avx2($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("popcnt")
                {
                    // SAFETY: the four features were just detected
                    return unsafe { avx512($($argument),*) };
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
pub(super) use widest_registers;

//! Rows of costs less prices, eight lanes at a time: the inner loops of the transportation solver.
//!
//! Whichever registers they are compiled for, the same additions are done in the same order, so that a result has the same bits on every
//! processor; only the time differs.

/// Independent partial results that a loop keeps: 8 × f64 fills one 512-bit register, two of 256 bits or four of 128.
pub(super) const LANES: usize = 8;

/// `n` rounded up to whole registers.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// min of `costs[k] − prices[k]`; +∞ where every price is −∞. Both slices fill whole registers.
#[inline(always)]
pub(super) fn cheapest(costs: &[f64], prices: &[f64]) -> f64 {
    let mut best = [f64::INFINITY; LANES];
    for (costs, prices) in costs.as_chunks::<LANES>().0.iter().zip(prices.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            let reduced = costs[lane] - prices[lane];
            best[lane] = if reduced < best[lane] { reduced } else { best[lane] };
        }
    }
    best.into_iter().fold(f64::INFINITY, |a, b| if b < a { b } else { a })
}

/// The first k whose `costs[k] − prices[k]` is `value`, as found by [`cheapest`].
#[inline(always)]
pub(super) fn position_of(value: f64, costs: &[f64], prices: &[f64]) -> usize {
    for (chunk, (costs, prices)) in costs.as_chunks::<LANES>().0.iter().zip(prices.as_chunks::<LANES>().0).enumerate() {
        let mut hits = 0_u32;
        for lane in 0..LANES {
            hits |= u32::from(costs[lane] - prices[lane] == value) << lane;
        }
        if hits != 0 {
            return chunk * LANES + hits.trailing_zeros() as usize;
        }
    }
    unreachable!("the minimum of a row is one of its values")
}

/// By how much the second smallest of `costs[k] − prices[k]` exceeds the smallest: what it costs to miss the best.
#[inline(always)]
pub(super) fn regret(costs: &[f64], prices: &[f64]) -> f64 {
    let mut best = [f64::INFINITY; LANES];
    let mut second = [f64::INFINITY; LANES];
    for (costs, prices) in costs.as_chunks::<LANES>().0.iter().zip(prices.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            let reduced = costs[lane] - prices[lane];
            let (low, high) = if reduced < best[lane] { (reduced, best[lane]) } else { (best[lane], reduced) };
            best[lane] = low;
            second[lane] = if high < second[lane] { high } else { second[lane] };
        }
    }
    let (mut first, mut next) = (f64::INFINITY, f64::INFINITY);
    for value in best.into_iter().chain(second) {
        if value < first {
            (first, next) = (value, first);
        } else if value < next {
            next = value;
        }
    }
    next - first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_cheapest_column_and_its_regret() {
        let costs = [4.0, 2.5, 7.0, 3.0, 9.0, 0.0, 0.0, 0.0, 8.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut prices = [0.0; 16];
        prices[5..8].fill(f64::NEG_INFINITY);
        prices[10..].fill(f64::NEG_INFINITY);
        assert_eq!(cheapest(&costs, &prices), 2.0);
        assert_eq!(position_of(2.0, &costs, &prices), 9);
        assert_eq!(regret(&costs, &prices), 0.5);
        assert_eq!(cheapest(&costs, &[f64::NEG_INFINITY; 16]), f64::INFINITY);
    }
}

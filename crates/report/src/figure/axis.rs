//! Axes: limits, round ticks, and their labels.

use crate::amounts::thousands;
use crate::results::Notation;

/// One axis in drawing coordinates: the value itself, or its decimal logarithm.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(crate) ticks: Vec<(f64, String)>,
    log: bool,
}

impl Axis {
    /// A linear axis from `low` to `high` with about `wanted` round ticks.
    pub(crate) fn linear(low: f64, high: f64, wanted: usize, notation: Notation) -> Self {
        // values that differ by rounding alone are one value: between them no step would move a tick
        let is_wide = high - low > 1e-9 * low.abs().max(high.abs());
        let (low, high) = if is_wide { (low, high) } else { (low - 0.5, low + 0.5) };
        let step = round_step((high - low) / wanted as f64);
        // a hair of the step, so that a limit meant to be a tick is one
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let decimals = decimals_of(if notation == Notation::Percent { 100.0 * step } else { step });
        let mut ticks = Vec::new();
        let mut number = first;
        while number <= last {
            ticks.push((number * step, label(number * step, decimals, notation)));
            number += 1.0;
        }
        Self { low, high, ticks, log: false }
    }

    /// A logarithmic axis; decades are ticks, and 2 and 5 of each where there are few.
    pub(crate) fn log(low: f64, high: f64) -> Self {
        let (low, high) = (low.log10(), high.log10());
        let (low, high) = if high - low > 0.3 { (low, high) } else { (low - 0.2, high + 0.2) };
        let mantissas: &[f64] = if high - low < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = ((high - low) / 7.0).ceil().max(1.0);
        let mut ticks = Vec::new();
        let mut decade = low.floor();
        while decade <= high {
            for mantissa in mantissas {
                let at = decade + mantissa.log10();
                if at >= low - 1e-9 && at <= high + 1e-9 && decade.rem_euclid(every) == 0.0 {
                    ticks.push((at, log_label(*mantissa, decade)));
                }
            }
            decade += 1.0;
        }
        Self { low, high, ticks, log: true }
    }

    /// Place of a value between 0 (low) and 1 (high); `None` for what a logarithm does not have.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let value = match self.log {
            true if value > 0.0 => value.log10(),
            true => return None,
            false => value,
        };
        Some((value - self.low) / (self.high - self.low))
    }

    pub(super) fn ends(&self) -> (f64, f64) {
        if self.log { (10f64.powf(self.low), 10f64.powf(self.high)) } else { (self.low, self.high) }
    }

    /// From `low` to `high` without a tick.
    pub(super) fn bare(low: f64, high: f64) -> Self {
        Self { low, high, ticks: Vec::new(), log: false }
    }

    pub(crate) fn place_of_tick(&self, tick: f64) -> f64 {
        (tick - self.low) / (self.high - self.low)
    }
}

/// Limits that hold all values with a margin, and the given ends where the metric has them. A limit is not stretched to where no value is.
pub(super) fn limits(values: impl Iterator<Item = f64>, ends: (Option<f64>, Option<f64>)) -> (f64, f64) {
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if least > most {
        return (ends.0.unwrap_or(0.0), ends.1.unwrap_or(1.0));
    }
    let margin = if most > least { 0.06 * (most - least) } else { 0.1 * most.abs().max(0.1) };
    let low = ends.0.unwrap_or(least - margin);
    let high = ends.1.map_or(most + margin, |end| end.min(most + margin));
    (low, high)
}

/// 1, 2, 2.5 or 5 times a power of ten, at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

fn decimals_of(step: f64) -> usize {
    (0..=8)
        .find(|&decimals| {
            let scaled = step * 10f64.powi(decimals);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .and_then(|decimals| usize::try_from(decimals).ok())
        .unwrap_or(8)
}

fn label(value: f64, decimals: usize, notation: Notation) -> String {
    let value = if notation == Notation::Percent { 100.0 * value } else { value };
    // −0 is 0
    let value = if value.abs() < 1e-12 { 0.0 } else { value };
    thousands(&format!("{value:.decimals$}"))
}

/// 0.02, 5, 200, 10⁵.
fn log_label(mantissa: f64, decade: f64) -> String {
    if (-4.0..=4.0).contains(&decade) {
        let decimals = if decade < 0.0 { (1..=4).find(|d| f64::from(*d) >= -decade).unwrap_or(4) } else { 0 };
        let decimals = usize::try_from(decimals).unwrap_or(0);
        return thousands(&format!("{:.decimals$}", mantissa * 10f64.powf(decade)));
    }
    let exponent: String = format!("{decade:.0}")
        .chars()
        .map(|c| {
            if c == '-' {
                '⁻'
            } else {
                ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c.to_digit(10).unwrap_or(0) as usize]
            }
        })
        .collect();
    if mantissa == 1.0 { format!("10{exponent}") } else { format!("{mantissa:.0}·10{exponent}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn values_that_differ_by_rounding_have_an_axis_that_ends() {
        for low in [0.951_229_424_500_714, 1.0, -3.0, 0.0] {
            let axis = Axis::linear(low, low + 2.0 * f64::EPSILON * low.abs(), 5, Notation::Fixed(3));
            assert!((2..20).contains(&axis.ticks.len()), "{low}: {} ticks", axis.ticks.len());
        }
    }

    #[test]
    fn ticks_are_round_and_hold_the_limits_that_are_round() {
        assert_eq!(
            labels(&Axis::linear(0.0, 1.2, 6, Notation::Fixed(3))),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]
        );
        assert_eq!(labels(&Axis::linear(0.713, 0.768, 5, Notation::Percent)), ["72", "74", "76"]);
        assert_eq!(labels(&Axis::linear(-10.0, 4000.0, 5, Notation::Whole)), ["0", "1,000", "2,000", "3,000", "4,000"]);
        assert_eq!(labels(&Axis::linear(-0.3, 0.3, 4, Notation::Fixed(3))), ["−0.2", "0.0", "0.2"]);
    }

    #[test]
    fn a_constant_still_has_an_axis() {
        let axis = Axis::linear(3.0, 3.0, 4, Notation::Fixed(1));
        assert!(axis.high > axis.low && !axis.ticks.is_empty());
    }

    #[test]
    fn a_logarithmic_axis_labels_decades() {
        assert_eq!(
            labels(&Axis::log(0.009, 3.0)),
            ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"][..].to_vec()
        );
        assert_eq!(labels(&Axis::log(1.0, 1e6)), ["1", "10", "100", "1,000", "10,000", "10⁵", "10⁶"]);
        assert_eq!(Axis::log(0.1, 10.0).place(0.0), None);
        assert_eq!(Axis::log(0.1, 10.0).place(1.0), Some(0.5));
    }

    #[test]
    fn limits_keep_the_metrics_ends_but_show_no_empty_half() {
        assert_eq!(limits([0.1, 0.2].into_iter(), (Some(0.0), Some(1.2))), (0.0, 0.2 + 0.06 * 0.1));
        assert_eq!(limits([0.1, 7.0].into_iter(), (Some(0.0), Some(1.2))).1, 1.2);
        assert_eq!(limits([].into_iter(), (None, None)), (0.0, 1.0));
    }
}

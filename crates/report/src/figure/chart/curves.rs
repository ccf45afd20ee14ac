//! Curves of methods across an axis.

use super::super::axis::{Axis, limits};
use super::super::style::{Marker, SeriesStyle};
use super::{Panel, Series, Shape, Styles, methods, remember, title, x_axis};
use crate::amounts::count;
use crate::groups::Group;
use crate::results::{Direction, Notation};

/// A mean this number of times the middle one has exploded: it is cut, and an arrow shows where it is.
const EXPLODES: f64 = 30.0;

/// The middle of some numbers.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(1.0)
}

pub(super) fn curves(
    part: &[Group<'_>],
    styles: &Styles<'_>,
    across: &'static str,
    log_y: bool,
    y_limits: Option<(f64, f64)>,
    legend: &mut Vec<(String, SeriesStyle)>,
) -> Panel {
    let spec = part[0].row.metric.spec();
    // a method that was measured at one size while others have several does not depend on size: it is a level, and does not stretch the axis.
    // A cap at one size is a level in any case: a line without marks would show nothing of a single point
    let many = methods(part).len() < part.len();
    let alone = |method: &str| {
        let mut here = part.iter().filter(|group| group.row.subject.method == method);
        here.next().is_some_and(|group| many || group.row.subject.is_cap) && here.next().is_none()
    };
    let sized: Vec<Group<'_>> = part.iter().filter(|group| !alone(&group.row.subject.method)).cloned().collect();
    let x = x_axis(if sized.is_empty() { part } else { &sized }, across);
    let low_high = |group: &Group<'_>| group.estimate.interval.unwrap_or((group.estimate.mean, group.estimate.mean));
    let means = || part.iter().map(|group| group.estimate.mean);
    let y = if log_y {
        // what lies nine decades below the rest is rounding, not a size that an axis has to hold
        let rounding = 1e-9 * means().fold(0.0, f64::max);
        let positive = means().filter(|mean| *mean > rounding);
        let (least, most) = positive.fold((f64::INFINITY, 0.0f64), |(a, b), mean| (a.min(mean), b.max(mean)));
        let most = most.min(EXPLODES * middle(means()));
        let (low, high) = y_limits.unwrap_or((least / 1.2, (most * 1.2).min(1e4 * least)));
        if low < high { Axis::log(low, high) } else { Axis::log(0.1, 1.0) }
    } else {
        let (low, high) = y_limits.unwrap_or_else(|| limits(means(), spec.limits));
        Axis::linear(low, high, 6, spec.notation)
    };
    let mut series = Vec::new();
    for method in methods(part) {
        let style = styles.of_method(method);
        let of_method = part.iter().filter(|group| group.row.subject.method == method);
        let mut points: Vec<_> = of_method
            .map(|group| {
                let (low, high) = low_high(group);
                (group.row.along(across), group.estimate.mean, low, high)
            })
            .collect();
        let mut style_here = style;
        if alone(method) {
            let (_, mean, low, high) = points[0];
            let (left, right) = x.ends();
            points = vec![(left, mean, low, high), (right, mean, low, high)];
            style_here.marker = Marker::None;
        }
        if log_y {
            // down to 0 it would color the whole plot below the curve
            points
                .iter_mut()
                .filter(|(_, mean, low, _)| *low <= 0.0 && *mean > 0.0)
                .for_each(|point| point.2 = point.1);
        }
        let is_on_axis = |mean: f64| y.place(mean).is_some_and(|place| (0.0..=1.0).contains(&place));
        let visible = points.iter().any(|point| is_on_axis(point.1));
        for (_, mean, low, high) in points.iter_mut().filter(|point| !is_on_axis(point.1)) {
            // the interval of a mean that is off the axis would color the whole plot
            (*low, *high) = (*mean, *mean);
        }
        let name = if visible { method.to_string() } else { format!("{method} (off the axis)") };
        // a method that shows in one panel is not off the axis of the figure
        legend.retain(|(known, _)| !(visible && *known == format!("{method} (off the axis)")));
        if visible || legend.iter().all(|(known, _)| known != method) {
            remember(legend, &name, style_here);
        }
        series.push(Series { style: style_here, shape: Shape::Curve(points) });
    }
    let above = above(&series, &x, &y, spec.notation);
    keep_two_bands(&mut series, spec.better);
    count_covering(&mut series, &x, &y);
    for (method, one) in methods(part).into_iter().zip(&series) {
        if let Some((_, style)) = legend.iter_mut().find(|(name, _)| name == method) {
            style.covered_by = style.covered_by.max(one.style.covered_by);
        }
    }
    Panel { title: title(part[0].row), x, y, series, labels: Vec::new(), above }
}

/// Share of the height of a plot below which two points cannot be distinguished.
const SAME_PLACE: f64 = 0.015;

/// Leaves the intervals of the two curves that end best: more of them hide each other.
pub(super) fn keep_two_bands(series: &mut [Series], better: Direction) {
    let mut ends: Vec<(usize, f64)> = Vec::new();
    for (place, one) in series.iter().enumerate().filter(|(_, one)| one.style.color.is_some()) {
        if let Shape::Curve(points) = &one.shape {
            ends.extend(points.last().filter(|_| one.has_band()).map(|point| (place, point.1)));
        }
    }
    ends.sort_by(|one, other| match better {
        Direction::Higher => other.1.total_cmp(&one.1),
        Direction::Lower => one.1.total_cmp(&other.1),
        Direction::Neither => std::cmp::Ordering::Equal,
    });
    let kept: Vec<usize> = ends.into_iter().take(2).map(|(place, _)| place).collect();
    for (_, one) in series.iter_mut().enumerate().filter(|(place, _)| !kept.contains(place)) {
        if let Shape::Curve(points) = &mut one.shape {
            points.iter_mut().for_each(|point| (point.2, point.3) = (point.1, point.1));
        }
    }
}

/// Counts for each curve the later ones that lie on it.
pub(super) fn count_covering(series: &mut [Series], x: &Axis, y: &Axis) {
    let places = |series: &Series| -> Vec<(f64, f64)> {
        let Shape::Curve(points) = &series.shape else { return Vec::new() };
        points.iter().filter_map(|&(at, mean, ..)| Some((x.place(at)?, y.place(mean)?))).collect()
    };
    let all: Vec<Vec<(f64, f64)>> = series.iter().map(places).collect();
    for (place, one) in series.iter_mut().enumerate() {
        let lies_on = |other: &&Vec<(f64, f64)>| {
            let shared = other.iter().filter_map(|(x, y)| {
                let here = all[place].iter().find(|(at, _)| (at - x).abs() < 1e-9)?;
                Some((here.1 - y).abs())
            });
            let apart: Vec<f64> = shared.collect();
            apart.len() > 1 && apart.iter().all(|apart| *apart < SAME_PLACE)
        };
        one.style.covered_by = all[place + 1..].iter().filter(lies_on).count();
    }
}

/// An arrow with its value for every series that leaves the plot: at the place where it is highest.
fn above(series: &[Series], x: &Axis, y: &Axis, notation: Notation) -> Vec<(f64, f64, String, Option<usize>)> {
    let mut all: Vec<(f64, f64, String, Option<usize>)> = Vec::new();
    for one in series {
        let Shape::Curve(points) = &one.shape else { continue };
        let is_above = |point: &&(f64, f64, f64, f64)| y.place(point.1).is_some_and(|place| place > 1.0);
        let Some(highest) = points.iter().filter(is_above).max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        // one below the other where they stand at the same place
        let near = |other: &f64| (x.place(*other).unwrap_or(0.0) - x.place(highest.0).unwrap_or(0.0)).abs() < 0.12;
        let lines = all.iter().filter(|(other, ..)| near(other)).count();
        // decimals of thousands carry no information
        let value = if highest.1 < 1000.0 { notation.show(highest.1) } else { count(highest.1.round() as u64) };
        all.push((highest.0, lines as f64, format!("↑ {value}"), one.style.color));
    }
    all
}

//! A figure in plain data: panels, axes, series, legend.

use super::axis::{Axis, limits};
use super::style::{Marker, SeriesStyle};
use crate::error::ReportError;
use crate::groups::{Group, Order, comparison_words, groups, panels};
use crate::input::ReportInput;
use crate::results::{Axis as Along, Notation, ResultRow};
use crate::spec::{Caveat, FigureKind, FigureSpec, distinct};

mod curves;

use curves::curves;

/// A figure before it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    pub(super) panels: Vec<Panel>,
    pub(super) x_label: String,
    pub(super) y_label: String,
    pub(super) legend: Vec<(String, SeriesStyle)>,
    /// Caveats in small type below.
    pub(super) caveat: String,
}

#[derive(Debug, Clone)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    /// Small type in the plot: x, y, text.
    pub(super) labels: Vec<(f64, f64, String)>,
    /// What lies above the plot: x, height below its top in lines of type, the text, the color of its series.
    pub(super) above: Vec<(f64, f64, String, Option<usize>)>,
}

#[derive(Debug, Clone)]
pub(super) struct Series {
    pub(super) style: SeriesStyle,
    pub(super) shape: Shape,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// x, mean, low, high.
    Curve(Vec<(f64, f64, f64, f64)>),
    Points(Vec<(f64, f64)>),
    /// left, right, height; from the bottom of the axis.
    Bars(Vec<(f64, f64, f64)>),
    /// Thin gray lines between two points.
    Segments(Vec<[(f64, f64); 2]>),
}

impl Panel {
    fn bands(&self) -> usize {
        self.series.iter().filter(|series| series.has_band()).count()
    }
}

impl Series {
    pub(super) fn has_band(&self) -> bool {
        matches!(&self.shape, Shape::Curve(points) if points.len() > 1 && points.iter().any(|(_, _, low, high)| high > low))
    }

    /// True of a curve of whose interval only the upper half is drawn somewhere.
    fn has_half_band(&self) -> bool {
        matches!(&self.shape, Shape::Curve(points) if points.iter().any(|(_, mean, low, high)| low == mean && high > mean))
    }
}

impl Chart {
    pub(super) fn build(spec: &FigureSpec, input: &ReportInput<'_>) -> Result<Self, ReportError> {
        let groups = groups(input.rows, &spec.select)?;
        if groups.is_empty() {
            return Err(ReportError::EmptyFigure { figure: spec.id.clone(), metric: spec.select.metric.id() });
        }
        let styles = Styles::of(input.rows);
        let (mut has_half_bands, mut caveats) = (false, caveats(input, &groups));
        let mut chart = Self {
            panels: Vec::new(),
            x_label: String::new(),
            y_label: spec.select.metric.spec().axis.to_string(),
            legend: Vec::new(),
            caveat: String::new(),
        };
        for part in panels(&groups) {
            let panel = match spec.kind {
                // drawn above
                FigureKind::Graphs(_) => continue,
                FigureKind::Curve { across, log_y, y_limits } => {
                    chart.x_label = Along::of(across).label.to_string();
                    let panel = curves(part, &styles, across, log_y, y_limits, &mut chart.legend);
                    has_half_bands |= log_y && panel.series.iter().any(Series::has_half_band);
                    panel
                }
                FigureKind::Points { across } => {
                    chart.x_label = Along::of(across).label.to_string();
                    points(part, &styles, across, &mut chart.legend)
                }
                FigureKind::Spectrum { first, last } => {
                    chart.x_label = "position by magnitude".to_string();
                    spectrum(part, first, last, &mut chart.legend)
                }
                FigureKind::Histogram { bins, log_y } => {
                    chart.x_label = spec.select.metric.spec().axis.to_string();
                    chart.y_label = "how often".to_string();
                    histogram(part, &styles, bins, log_y, &mut chart.legend)
                }
            };
            chart.panels.push(panel);
        }
        if has_half_bands {
            caveats.push("of an interval that reaches 0, which a logarithm lacks, the upper half".to_owned());
        }
        if let Some(most) = chart.panels.iter().map(Panel::bands).max().filter(|most| *most > 0) {
            let of = if most > 1 { " of the two curves that end best" } else { "" };
            caveats.push(format!("shaded: 95 % interval{of}"));
        }
        if chart.legend.iter().any(|(_, style)| style.has_rim()) {
            caveats.push("pale rim: another curve coincides with this one".to_owned());
        }
        chart.caveat = caveats.join(" · ");
        // one entry states what the heading states already
        if chart.legend.len() == 1 && !matches!(spec.kind, FigureKind::Curve { .. }) {
            chart.legend.clear();
        }
        Ok(chart)
    }
}

/// The caveats of the run and of the datasets that are shown, as plain text.
pub(super) fn caveats(input: &ReportInput<'_>, groups: &[Group<'_>]) -> Vec<String> {
    let shown = |dataset: &String| groups.iter().any(|group| group.row.subject.dataset == *dataset);
    let concerns = |caveat: &&Caveat| caveat.dataset.as_ref().is_none_or(shown);
    input.caveats.iter().filter(concerns).map(|caveat| caveat.words().replace('`', "")).collect()
}

/// Style of each method: by first appearance in all rows, so that it is the same in every figure of a report.
struct Styles<'a> {
    names: Vec<(&'a str, SeriesStyle)>,
}

impl<'a> Styles<'a> {
    fn of(rows: &'a [ResultRow]) -> Self {
        let (mut methods, mut caps) = (Order::starting(&[]), Order::starting(&[]));
        let mut names: Vec<(&str, SeriesStyle)> = Vec::new();
        for row in rows {
            if names.iter().all(|(name, _)| *name != row.subject.method) {
                let style = if row.subject.is_cap {
                    SeriesStyle::of_cap(caps.place(&row.subject.method))
                } else {
                    SeriesStyle::of_method(methods.place(&row.subject.method))
                };
                names.push((&row.subject.method, style));
            }
        }
        Self { names }
    }

    fn of_method(&self, method: &str) -> SeriesStyle {
        self.names
            .iter()
            .find(|(name, _)| *name == method)
            .map_or_else(|| SeriesStyle::of_method(0), |(_, style)| *style)
    }
}

fn title(row: &ResultRow) -> String {
    let words = comparison_words(&row.comparison);
    if words.is_empty() { row.subject.dataset.clone() } else { format!("{} · {words}", row.subject.dataset) }
}

fn remember(legend: &mut Vec<(String, SeriesStyle)>, name: &str, style: SeriesStyle) {
    if legend.iter().all(|(known, _)| known != name) {
        legend.push((name.to_string(), style));
    }
}

/// The methods of a part, in the order of their groups.
fn methods<'a>(part: &'a [Group<'a>]) -> Vec<&'a str> {
    distinct(part.iter().map(|group| group.row.subject.method.as_str()))
}

fn x_axis(part: &[Group<'_>], across: &'static str) -> Axis {
    let xs = part.iter().map(|group| group.row.along(across));
    let (low, high) = limits(xs, (None, None));
    // sizes start at 0: nothing evaluated
    if Along::of(across).is_logarithmic {
        let positive = part.iter().map(|group| group.row.along(across)).filter(|x| *x > 0.0);
        let (least, most) = positive.fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
        return if least < most {
            Axis::log(least / 1.15, most * 1.15)
        } else {
            Axis::log(0.8 * most.max(1.0), 1.25 * most.max(1.0))
        };
    }
    Axis::linear(low.max(0.0), high, 6, Along::of(across).notation)
}

fn points(
    part: &[Group<'_>],
    styles: &Styles<'_>,
    across: &'static str,
    legend: &mut Vec<(String, SeriesStyle)>,
) -> Panel {
    let spec = part[0].row.metric.spec();
    let values = part.iter().flat_map(|group| group.values.iter().map(|(_, value)| *value));
    let (low, high) = limits(values, (None, None));
    let mut series = Vec::new();
    for method in methods(part) {
        let style = SeriesStyle { width: 0.0, ..styles.of_method(method) };
        let of_method = part.iter().filter(|group| group.row.subject.method == method);
        let points =
            of_method.flat_map(|group| group.values.iter().map(|(_, value)| (group.row.along(across), *value)));
        series.push(Series { style, shape: Shape::Points(points.collect()) });
        remember(legend, method, style);
    }
    Panel {
        title: title(part[0].row),
        x: x_axis(part, across),
        y: Axis::linear(low, high, 6, spec.notation),
        series,
        labels: Vec::new(),
        above: Vec::new(),
    }
}

fn spectrum(part: &[Group<'_>], first: u64, last: u64, legend: &mut Vec<(String, SeriesStyle)>) -> Panel {
    let shown = part.iter().filter(|group| group.row.axes.number("position").is_some());
    let shown = shown.map(|group| (group.row.count("position"), group.estimate.mean));
    let shown: Vec<_> = shown.filter(|(position, _)| (first..=last).contains(position)).collect();
    let (low, high) = limits(shown.iter().map(|(_, value)| *value), (None, None));
    let signs = [
        ("positive", 0, Marker::Disc, shown.iter().filter(|(_, value)| *value >= 0.0).collect::<Vec<_>>()),
        ("negative", 1, Marker::Triangle, shown.iter().filter(|(_, value)| *value < 0.0).collect()),
    ];
    let mut series = Vec::new();
    for (name, color, marker, points) in signs {
        let style = SeriesStyle::marks(color, marker);
        let points: Vec<_> = points.into_iter().map(|(position, value)| (*position as f64, *value)).collect();
        if !points.is_empty() {
            remember(legend, name, style);
            series.push(Series { style, shape: Shape::Points(points) });
        }
    }
    let end = shown.iter().map(|(position, _)| *position).max().unwrap_or(last);
    let margin = 0.015 * (end - first.min(end)) as f64;
    Panel {
        title: title(part[0].row),
        x: Axis::linear(first as f64 - margin, end as f64 + margin, 6, Notation::Whole),
        y: Axis::linear(low, high, 6, Notation::Fixed(3)),
        series,
        labels: Vec::new(),
        above: Vec::new(),
    }
}

fn histogram(
    part: &[Group<'_>],
    styles: &Styles<'_>,
    bins: usize,
    log_y: bool,
    legend: &mut Vec<(String, SeriesStyle)>,
) -> Panel {
    let all = || part.iter().flat_map(|group| group.values.iter().map(|(_, value)| *value));
    let (least, most) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    let width = ((most - least) / bins as f64).max(f64::MIN_POSITIVE);
    let mut series = Vec::new();
    let mut highest = 1u32;
    for method in methods(part) {
        let mut counts = vec![0u32; bins];
        for (_, value) in part.iter().filter(|group| group.row.subject.method == method).flat_map(|group| &group.values)
        {
            // in [0, bins]: the value lies between least and most
            let bin = ((value - least) / width).floor() as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        highest = counts.iter().copied().max().unwrap_or(1).max(highest);
        let left = |bin: usize| least + bin as f64 * width;
        let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let bars = bars.map(|(bin, &count)| (left(bin), left(bin + 1), f64::from(count))).collect();
        let mut style = SeriesStyle { marker: Marker::Square, width: 0.0, ..styles.of_method(method) };
        // alone in its figure, the exact matrix needs no gray
        style.color = style.color.or((methods(part).len() == 1).then_some(0));
        remember(legend, method, style);
        series.push(Series { style, shape: Shape::Bars(bars) });
    }
    let high = f64::from(highest);
    Panel {
        title: title(part[0].row),
        x: Axis::linear(least, most, 6, Notation::Fixed(3)),
        y: if log_y { Axis::log(0.7, high * 1.3) } else { Axis::linear(0.0, high * 1.05, 5, Notation::Whole) },
        series,
        labels: Vec::new(),
        above: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::curves::{count_covering, keep_two_bands};
    use super::*;
    use crate::fixture;
    use crate::results::{Direction, Metric};

    /// x, mean, low, high of each point of a curve.
    type Curve = Vec<(f64, f64, f64, f64)>;

    /// Curves of the errors, where those of Nyström from `columns` on are far above all others; and the legend.
    fn exploding_from(columns: u64) -> (Vec<Curve>, Vec<String>) {
        let mut rows = fixture::rows();
        // two methods and the optimum: both have a band
        rows.retain(|row| row.subject.is_cap || ["Nyström", "SMS-Nyström"].contains(&row.subject.method.as_str()));
        let explodes = |row: &&mut ResultRow| {
            row.subject.method == "Nyström" && row.metric == Metric::RelativeError && row.count("columns") >= columns
        };
        rows.iter_mut().filter(explodes).for_each(|row| row.value *= 1e5);
        let reference = fixture::reference();
        let input = fixture::input(&rows, &reference);
        let is_curve = |spec: &&FigureSpec| matches!(spec.kind, FigureKind::Curve { log_y: true, .. });
        let mut chart = Chart::build(input.figures.iter().find(is_curve).unwrap(), &input).unwrap();
        let curves = chart.panels.remove(0).series.into_iter().filter_map(|series| match series.shape {
            Shape::Curve(points) => Some(points),
            _ => None,
        });
        (curves.collect(), chart.legend.into_iter().map(|(name, _)| name).collect())
    }

    const FAR_ABOVE: f64 = 1e3;

    #[test]
    fn a_cap_of_one_size_is_a_level_across_the_plot() {
        let mut rows = fixture::rows();
        rows.retain(|row| row.metric == Metric::RelativeError && row.count("columns") == 100);
        let reference = fixture::reference();
        let input = fixture::input(&rows, &reference);
        let is_curve = |spec: &&FigureSpec| matches!(spec.kind, FigureKind::Curve { log_y: true, .. });
        let chart = Chart::build(input.figures.iter().find(is_curve).unwrap(), &input).unwrap();
        let panel = &chart.panels[0];
        let levels: Vec<_> = panel
            .series
            .iter()
            .filter_map(|series| match &series.shape {
                Shape::Curve(points) if points.len() == 2 => Some((points[0].0, points[1].0)),
                _ => None,
            })
            .collect();
        assert_eq!(levels, [panel.x.ends()], "the optimum, and none of the methods, which have marks");
    }

    #[test]
    fn a_method_that_is_off_the_axis_has_no_band() {
        let (curves, names) = exploding_from(0);
        assert!(names.contains(&"Nyström (off the axis)".to_owned()), "{names:?}");
        let (off, on): (Vec<_>, Vec<_>) =
            curves.into_iter().partition(|points| points.iter().all(|(_, mean, ..)| *mean > FAR_ABOVE));
        let has_width = |points: &Curve| points.iter().any(|(_, _, low, high)| high > low);
        assert!(off.len() == 1 && !off.iter().any(has_width) && on.iter().any(has_width), "{off:?} {on:?}");
    }

    #[test]
    fn an_interval_that_reaches_zero_has_its_upper_half_on_a_logarithmic_axis_and_the_figure_states_it() {
        let mut rows = fixture::rows();
        rows.retain(|row| row.subject.is_cap || ["Nyström", "SMS-Nyström"].contains(&row.subject.method.as_str()));
        let is_it = |row: &ResultRow| row.metric == Metric::RelativeError && row.subject.method == "SMS-Nyström";
        let chart = |rows: &[ResultRow]| {
            let reference = fixture::reference();
            let input = fixture::input(rows, &reference);
            let is_curve = |spec: &&FigureSpec| matches!(spec.kind, FigureKind::Curve { log_y: true, .. });
            Chart::build(input.figures.iter().find(is_curve).unwrap(), &input).unwrap()
        };
        let says_so = "of an interval that reaches 0";
        assert!(!chart(&rows).caveat.contains(says_so));
        // one replicate of three far above the others: the mean less half its interval is below 0
        rows.iter_mut().filter(|row| is_it(row) && row.replicate == 0).for_each(|row| row.value *= 20.0);
        let chart = chart(&rows);
        assert!(chart.caveat.contains(says_so), "{}", chart.caveat);
        let series = chart.panels.iter().flat_map(|panel| &panel.series);
        let points =
            series.filter_map(|series| if let Shape::Curve(points) = &series.shape { Some(points) } else { None });
        let points: Vec<_> = points.flatten().collect();
        assert!(points.iter().all(|(_, _, low, _)| *low > 0.0), "{points:?}");
        assert!(points.iter().any(|(_, mean, low, high)| low == mean && high > mean), "{points:?}");
    }

    /// Curves of three methods on the same places, the last of which is far above the others.
    fn of_three(last: f64) -> Panel {
        let curve = |place: usize, value: f64| Series {
            style: SeriesStyle::of_method(place),
            shape: Shape::Curve([1.0, 2.0].map(|x| (x, value, value - 0.1, value + 0.1)).to_vec()),
        };
        let (x, y) = (Axis::linear(0.0, 3.0, 5, Notation::Whole), Axis::linear(0.0, 2.0, 5, Notation::Fixed(1)));
        let mut series = vec![curve(0, 1.0), curve(1, 1.01), curve(2, last)];
        keep_two_bands(&mut series, Direction::Higher);
        count_covering(&mut series, &x, &y);
        Panel { title: String::new(), x, y, series, labels: Vec::new(), above: Vec::new() }
    }

    #[test]
    fn at_most_two_curves_have_a_band_and_they_are_the_best() {
        let panel = of_three(1.8);
        assert_eq!(panel.bands(), 2);
        assert!(!panel.series[0].has_band(), "the lowest of three");
    }

    #[test]
    fn a_curve_below_another_has_a_rim_and_one_apart_has_none() {
        let covered = |last| of_three(last).series.iter().map(|one| one.style.covered_by).collect::<Vec<_>>();
        assert_eq!(covered(1.8), [1, 0, 0]);
        assert_eq!(covered(1.005), [2, 1, 0], "all three coincide");
    }

    #[test]
    fn a_band_ends_where_its_method_leaves_the_axis() {
        let (curves, names) = exploding_from(300);
        assert!(names.contains(&"Nyström".to_owned()), "{names:?}");
        let leaves = |points: &&Curve| points.iter().any(|(_, mean, ..)| *mean > FAR_ABOVE);
        let nystrom = curves.iter().find(leaves).unwrap();
        assert!(nystrom[0].3 > nystrom[0].2, "{nystrom:?}");
        for (_, mean, low, high) in nystrom.iter().filter(|(_, mean, ..)| *mean > FAR_ABOVE) {
            assert!(low == mean && high == mean, "{nystrom:?}");
        }
    }
}

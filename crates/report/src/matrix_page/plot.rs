//! Small plots as SVG: bars, lines, bands and dots over two axes, in the colours of the page.

use std::fmt::Write as _;

use crate::figure::axis::Axis;
use crate::markup::escape_markup;
use crate::results::Notation;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 48.0;
/// Ticks of an axis, about.
const TICKS: usize = 6;

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What is seen, for a screen reader.
    pub title: String,
    /// The axis across.
    pub x: PlotAxis,
    /// The axis upwards.
    pub y: PlotAxis,
    /// What is drawn, from back to front.
    pub marks: Vec<Mark>,
}

/// An axis of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotAxis {
    pub label: String,
    /// Printed form of its ticks.
    pub notation: Notation,
    /// True where equal factors are equal lengths.
    pub is_logarithmic: bool,
    /// Values that must be inside, beside those that are drawn.
    pub holds: Vec<f64>,
}

/// Something drawn; `ink` is one of eight colours, `name` stands in the legend unless it is empty.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Bars (from, to, low, high).
    Bars {
        /// Legend.
        name: String,
        /// Colour, from 0.
        ink: usize,
        /// Left, right, lower and upper end of each.
        bars: Vec<[f64; 4]>,
    },
    Line {
        /// Legend.
        name: String,
        /// Colour, from 0.
        ink: usize,
        /// Its points.
        points: Vec<(f64, f64)>,
        /// True for one that is no measurement.
        is_dashed: bool,
    },
    /// Intervals (x, lower, upper).
    Intervals {
        /// Colour, from 0.
        ink: usize,
        /// Their ends.
        ends: Vec<(f64, f64, f64)>,
    },
    Dots {
        /// Legend.
        name: String,
        /// Colour, from 0.
        ink: usize,
        /// Their places.
        points: Vec<(f64, f64)>,
        /// True for those that are no measurement.
        is_hollow: bool,
    },
}

impl PlotAxis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, notation: Notation) -> Self {
        Self { label: label.into(), notation, is_logarithmic: false, holds: Vec::new() }
    }

    /// The same with equal lengths for equal factors.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { is_logarithmic: true, ..self }
    }

    /// The same with these values inside.
    #[must_use]
    pub fn holding(self, values: &[f64]) -> Self {
        Self { holds: values.to_vec(), ..self }
    }

    fn axis(&self, values: impl Iterator<Item = f64>) -> Axis {
        let usable = |value: &f64| value.is_finite() && (!self.is_logarithmic || *value > 0.0);
        let all = values.chain(self.holds.iter().copied()).filter(usable);
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
        match (low <= high, self.is_logarithmic) {
            (false, _) => Axis::linear(0.0, 1.0, TICKS, self.notation),
            (true, true) => Axis::log(low / 1.06, high * 1.06),
            (true, false) => {
                let margin = 0.04 * (high - low);
                // an end that was asked for stays one
                let free = |end: f64| if self.holds.contains(&end) { 0.0 } else { margin };
                Axis::linear(low - free(low), high + free(high), TICKS, self.notation)
            }
        }
    }
}

impl Mark {
    fn xs(&self) -> Vec<f64> {
        match self {
            Self::Bars { bars, .. } => bars.iter().flat_map(|bar| [bar[0], bar[1]]).collect(),
            Self::Line { points, .. } | Self::Dots { points, .. } => points.iter().map(|point| point.0).collect(),
            Self::Intervals { ends, .. } => ends.iter().map(|end| end.0).collect(),
        }
    }

    fn ys(&self) -> Vec<f64> {
        match self {
            Self::Bars { bars, .. } => bars.iter().flat_map(|bar| [bar[2], bar[3]]).collect(),
            Self::Line { points, .. } | Self::Dots { points, .. } => points.iter().map(|point| point.1).collect(),
            Self::Intervals { ends, .. } => ends.iter().flat_map(|end| [end.1, end.2]).collect(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Bars { name, .. } | Self::Line { name, .. } | Self::Dots { name, .. } => name,
            Self::Intervals { .. } => "",
        }
    }

    /// Class of its sample in the legend.
    fn class(&self) -> String {
        let (kind, ink) = match self {
            Self::Bars { ink, .. } => ("bar", ink),
            Self::Line { ink, is_dashed: false, .. } => ("line", ink),
            Self::Line { ink, is_dashed: true, .. } => ("dashed", ink),
            Self::Intervals { ink, .. } => ("line", ink),
            Self::Dots { ink, is_hollow: false, .. } => ("dot", ink),
            Self::Dots { ink, is_hollow: true, .. } => ("ring", ink),
        };
        format!("{kind} k{}", ink % 8 + 1)
    }
}

impl Plot {
    /// Class of the sample and name of each mark that has one.
    pub(super) fn legend(&self) -> Vec<(String, String)> {
        let named = self.marks.iter().filter(|mark| !mark.name().is_empty());
        let all: Vec<_> = named.map(|mark| (mark.class(), mark.name().to_owned())).collect();
        // a single one needs no key
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// The drawing.
    pub(super) fn svg(&self) -> String {
        let x = self.x.axis(self.marks.iter().flat_map(Mark::xs));
        let y = self.y.axis(self.marks.iter().flat_map(Mark::ys));
        let canvas = Canvas { x, y };
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" style=\"--natural:{WIDTH}px\" role=\"img\" aria-label=\"{}\">\n",
            escape_markup(&self.title)
        );
        canvas.frame(self, &mut out);
        for mark in &self.marks {
            canvas.mark(mark, &mut out);
        }
        out + "</svg>\n"
    }
}

struct Canvas {
    x: Axis,
    y: Axis,
}

impl Canvas {
    fn across(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.x.place(value).unwrap_or(0.0)
    }

    fn up(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self.y.place(value).unwrap_or(0.0)
    }

    fn frame(&self, plot: &Plot, out: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let text = |x: f64, y: f64, anchor: &str, more: &str, words: &str| {
            format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"12\" text-anchor=\"{anchor}\" {more}>{}</text>\n",
                escape_markup(words)
            )
        };
        for (tick, label) in &self.y.ticks {
            let y = bottom - (bottom - TOP) * self.y.place_of_tick(*tick);
            let _ = writeln!(out, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"var(--grid)\"/>");
            *out += &text(LEFT - 8.0, y + 4.0, "end", "fill=\"var(--muted)\"", label);
        }
        for (tick, label) in &self.x.ticks {
            let x = LEFT + (right - LEFT) * self.x.place_of_tick(*tick);
            let _ = writeln!(out, "<path d=\"M{x:.1} {bottom}v4\" stroke=\"var(--axis)\"/>");
            *out += &text(x, bottom + 18.0, "middle", "fill=\"var(--muted)\"", label);
        }
        let zero = self.y.place(0.0).filter(|place| (0.0..=1.0).contains(place) && !plot.y.is_logarithmic);
        let axis = bottom - (bottom - TOP) * zero.unwrap_or(0.0);
        let _ = writeln!(out, "<path d=\"M{LEFT} {axis:.1}H{right}\" stroke=\"var(--axis)\"/>");
        *out += &text(0.5 * (LEFT + right), HEIGHT - 8.0, "middle", "fill=\"var(--text)\"", &plot.x.label);
        let middle = 0.5 * (TOP + bottom);
        let turned = format!("fill=\"var(--text)\" transform=\"rotate(-90 14 {middle:.1})\"");
        *out += &text(14.0, middle, "middle", &turned, &plot.y.label);
    }

    fn mark(&self, mark: &Mark, out: &mut String) {
        let path = |points: &[(f64, f64)]| -> String {
            let step = |(k, &(x, y)): (usize, &(f64, f64))| {
                format!("{}{:.1} {:.1}", if k == 0 { 'M' } else { 'L' }, self.across(x), self.up(y))
            };
            points.iter().enumerate().map(step).collect()
        };
        let colour = |ink: &usize| format!("var(--c{})", ink % 8 + 1);
        match mark {
            Mark::Bars { ink, bars, .. } => {
                let bar = |&[from, to, low, high]: &[f64; 4]| {
                    let (left, right) = (self.across(from), self.across(to));
                    // a hair between bars that are wide enough for one
                    let gap = if right - left > 3.0 { 0.5 } else { 0.0 };
                    format!(
                        "M{:.1} {:.1}H{:.1}V{:.1}H{:.1}Z",
                        left + gap,
                        self.up(low),
                        right - gap,
                        self.up(high),
                        left + gap
                    )
                };
                let all: String = bars.iter().map(bar).collect();
                let _ = writeln!(out, "<path d=\"{all}\" fill=\"{}\"/>", colour(ink));
            }
            Mark::Line { ink, points, is_dashed, .. } => {
                let dash = if *is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
                let _ = writeln!(
                    out,
                    "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{dash}/>",
                    path(points),
                    colour(ink)
                );
            }
            Mark::Intervals { ink, ends } => {
                let interval = |&(x, low, high): &(f64, f64, f64)| {
                    let (x, low, high) = (self.across(x), self.up(low), self.up(high));
                    format!("M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h6M{:.1} {high:.1}h6", x - 3.0, x - 3.0)
                };
                let all: String = ends.iter().map(interval).collect();
                let _ =
                    writeln!(out, "<path d=\"{all}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\"/>", colour(ink));
            }
            Mark::Dots { ink, points, is_hollow, .. } => {
                let fill = if *is_hollow { "var(--paper)".to_owned() } else { colour(ink) };
                for &(x, y) in points {
                    let _ = writeln!(
                        out,
                        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.6\"/>",
                        self.across(x),
                        self.up(y),
                        colour(ink)
                    );
                }
            }
        }
    }
}

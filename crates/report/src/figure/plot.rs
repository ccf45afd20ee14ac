//! Drawing of a plot: its marks become the series of a chart.

use super::axis::Axis;
use super::chart::{Chart, Panel, Series, Shape};
use super::style::{Marker, SeriesStyle};
use crate::error::ReportError;
use crate::plot::{Mark, Plot, PlotAxis};

const TICKS: usize = 6;
/// What is no measurement.
const DASHED: &[f64] = &[6.0, 4.0];

impl PlotAxis {
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
            Self::Curve { points, .. } => points.iter().map(|point| point.0).collect(),
            Self::Dashed { points, .. } | Self::Dots { points, .. } => points.iter().map(|point| point.0).collect(),
        }
    }

    fn ys(&self) -> Vec<f64> {
        match self {
            Self::Bars { bars, .. } => bars.iter().map(|bar| bar[2]).collect(),
            Self::Curve { points, .. } => points.iter().flat_map(|point| [point.1, point.2, point.3]).collect(),
            Self::Dashed { points, .. } | Self::Dots { points, .. } => points.iter().map(|point| point.1).collect(),
        }
    }

    /// Its name, and the series that it is.
    fn series(&self) -> (&str, Series) {
        let of = |style, shape| Series { style, shape };
        match self {
            Self::Bars { name, ink, bars } => {
                let bars = bars.iter().map(|&[left, right, height]| (left, right, height)).collect();
                (name, of(SeriesStyle::marks(*ink, Marker::Square), Shape::Bars(bars)))
            }
            Self::Curve { name, ink, points } => {
                let style = SeriesStyle { marker: Marker::Disc, ..SeriesStyle::line(*ink, &[]) };
                (name, of(style, Shape::Curve(points.clone())))
            }
            Self::Dashed { name, ink, points } => {
                let points = points.iter().map(|&(x, y)| (x, y, y, y)).collect();
                (name, of(SeriesStyle::line(*ink, DASHED), Shape::Curve(points)))
            }
            Self::Dots { name, ink, points, is_hollow } => {
                let marker = if *is_hollow { Marker::Ring } else { Marker::Disc };
                (name, of(SeriesStyle::marks(*ink, marker), Shape::Points(points.clone())))
            }
        }
    }
}

impl Plot {
    fn chart(&self) -> Chart {
        let series: Vec<(&str, Series)> = self.marks.iter().map(Mark::series).collect();
        let named = series.iter().filter(|(name, _)| !name.is_empty());
        let mut legend: Vec<_> = named.map(|(name, series)| ((*name).to_owned(), series.style)).collect();
        // a single one needs no key
        if legend.len() < 2 {
            legend.clear();
        }
        let has_band = series.iter().any(|(_, series)| series.has_band());
        let panel = Panel {
            title: String::new(),
            x: self.x.axis(self.marks.iter().flat_map(Mark::xs)),
            y: self.y.axis(self.marks.iter().flat_map(Mark::ys)),
            series: series.into_iter().map(|(_, series)| series).collect(),
            labels: Vec::new(),
            above: Vec::new(),
        };
        Chart {
            panels: vec![panel],
            x_label: self.x.label.clone(),
            y_label: self.y.label.clone(),
            legend,
            caveat: if has_band { "shaded: 95 % interval".to_owned() } else { String::new() },
        }
    }
}

pub(crate) fn draw_plot(plot: &Plot) -> Result<String, ReportError> {
    super::on_page(&plot.chart(), &plot.title)
}

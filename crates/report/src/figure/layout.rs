//! Places of everything in a figure, and all its type. Lengths are logical pixels.

use super::chart::{Chart, Panel};
use super::style::{Ink, Palette, SeriesStyle};

use super::text::{Anchor, CAPITALS, Text, width};
use crate::error::ReportError;

static SERIES: [Ink; 8] = Palette::SERIES;

const SIDE: f64 = 14.0;
/// Left of the plots, unless the tick labels need more.
const LEFT: f64 = 62.0;
const GAP: f64 = 56.0;
const ABOVE: f64 = 34.0;
const BELOW: f64 = 54.0;
const LEGEND_LINE: f64 = 22.0;
const LEGEND_GAP: f64 = 24.0;
const TICK: f64 = 12.0;
const LABEL: f64 = 13.0;
const TITLE: f64 = 14.0;
const SMALL: f64 = 11.0;
const CAVEAT_LINE: f64 = 16.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) plot: (f64, f64),
    /// Left of the first plot.
    left: f64,
    /// Left end, middle of the first line, and lines of each legend entry.
    pub(super) legend: Vec<((f64, f64), Vec<String>)>,
    /// The caveats, cut into lines that fit.
    caveat: Vec<String>,
    columns: usize,
}

/// Length of the line before a legend entry; a mark without a line needs less.
pub(super) fn sample(style: &SeriesStyle) -> f64 {
    if style.width > 0.0 { 34.0 } else { 12.0 }
}

/// Where a figure is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// A file of its own: as wide as its panels need.
    Document,
    /// The page on a desktop.
    Wide,
    /// The page on a phone: one panel below the other.
    Narrow,
}

impl Layout {
    pub(super) fn of(chart: &Chart, size: Size) -> Result<Self, ReportError> {
        let columns = if size == Size::Narrow { 1 } else { chart.panels.len().clamp(1, 3) };
        let rows = chart.panels.len().div_ceil(columns);
        let (whole, plot_height) = match (size, columns) {
            (Size::Narrow, _) => (380.0, 240.0),
            (Size::Wide, 1) => (1000.0, 390.0),
            (Size::Wide, 2) => (1000.0, 310.0),
            (Size::Wide, _) => (1000.0, 230.0),
            (Size::Document, 1) => (760.0, 370.0),
            (Size::Document, 2) => (1000.0, 310.0),
            (Size::Document, _) => (1240.0, 280.0),
        };
        let gaps = GAP * (columns - 1) as f64;
        let mut left = LEFT;
        for (_, tick) in chart.panels.iter().step_by(columns).flat_map(|panel| &panel.y.ticks) {
            // the upright label, the ticks, and a space next to either
            left = left.max(SIDE + 8.0 + 6.0 + width(tick, TICK, false)? + 8.0);
        }
        let plot_width = (whole - left - SIDE - gaps) / columns as f64;
        let top = (ABOVE + plot_height + BELOW) * rows as f64 + 4.0;
        let mut legend = Vec::new();
        let (mut x, mut y) = (left, top + 0.5 * LEGEND_LINE);
        for (name, style) in &chart.legend {
            let wide = sample(style) + 8.0 + width(name, TICK, false)?;
            if x > left && x + wide > whole - SIDE {
                (x, y) = (left, y + LEGEND_LINE);
            }
            let lines = wrapped(name, TICK, whole - SIDE - x - sample(style) - 8.0)?;
            let below = LEGEND_LINE * lines.len().saturating_sub(1) as f64;
            legend.push(((x, y), lines));
            x += wide + LEGEND_GAP;
            y += below;
        }
        let below_legend = if legend.is_empty() { top } else { y + 0.5 * LEGEND_LINE + 4.0 };
        let caveat = wrapped(&chart.caveat, SMALL, whole - left - SIDE)?;
        let below_caveats = if caveat.is_empty() { 4.0 } else { 8.0 + CAVEAT_LINE * caveat.len() as f64 };
        Ok(Self {
            width: whole,
            height: (below_legend + below_caveats).ceil(),
            caveat,
            plot: (plot_width, plot_height),
            left,
            legend,
            columns,
        })
    }

    pub(super) fn corner(&self, panel: usize) -> (f64, f64) {
        let (row, column) = (panel / self.columns, panel % self.columns);
        let x = self.left + (self.plot.0 + GAP) * column as f64;
        (x, ABOVE + (ABOVE + self.plot.1 + BELOW) * row as f64)
    }

    pub(super) fn texts(&self, chart: &Chart) -> Vec<Text> {
        let mut all = Vec::new();
        for (index, panel) in chart.panels.iter().enumerate() {
            let (left, top) = self.corner(index);
            self.of_panel(panel, (left, top), &mut all);
            let below = (left + self.plot.0 / 2.0, top + self.plot.1 + 40.0);
            all.push(line(&chart.x_label, below, LABEL, &Palette::TEXT, Anchor::Middle));
            if index.is_multiple_of(self.columns) {
                let left = (SIDE + 8.0, top + self.plot.1 / 2.0);
                let label = line(&chart.y_label, left, LABEL, &Palette::TEXT, Anchor::Middle);
                all.push(Text { upright: true, ..label });
            }
        }
        for ((_, style), ((x, y), lines)) in chart.legend.iter().zip(&self.legend) {
            for (below, text) in lines.iter().enumerate() {
                let at = (x + sample(style) + 8.0, y + 0.5 * CAPITALS * TICK + LEGEND_LINE * below as f64);
                all.push(line(text, at, TICK, &Palette::TEXT, Anchor::Start));
            }
        }
        for (from_last, text) in self.caveat.iter().rev().enumerate() {
            let y = self.height - 9.0 - CAVEAT_LINE * from_last as f64;
            all.push(line(text, (self.left, y), SMALL, &Palette::MUTED, Anchor::Start));
        }
        all
    }

    fn of_panel(&self, panel: &Panel, (left, top): (f64, f64), all: &mut Vec<Text>) {
        let (wide, high) = self.plot;
        for (tick, label) in &panel.y.ticks {
            let y = top + high * (1.0 - panel.y.place_of_tick(*tick)) + 0.5 * CAPITALS * TICK;
            all.push(line(label, (left - 8.0, y), TICK, &Palette::MUTED, Anchor::End));
        }
        let mut end = f64::NEG_INFINITY;
        for (tick, label) in &panel.x.ticks {
            let x = left + wide * panel.x.place_of_tick(*tick);
            let half = 0.5 * width(label, TICK, false).unwrap_or(0.0);
            // a label that would touch the one before is left out
            if x - half < end + 6.0 {
                continue;
            }
            end = x + half;
            all.push(line(label, (x, top + high + 19.0), TICK, &Palette::MUTED, Anchor::Middle));
        }
        for (x, y, text) in &panel.labels {
            let (Some(x), Some(y)) = (panel.x.place(*x), panel.y.place(*y)) else { continue };
            let at = (left + wide * x, top + high * (1.0 - y) + 0.5 * CAPITALS * TICK);
            all.push(line(text, at, TICK, &Palette::MUTED, Anchor::Middle));
        }
        for (x, lines, text, color) in &panel.above {
            let Some(x) = panel.x.place(*x) else { continue };
            let half = 0.5 * width(text, TICK, true).unwrap_or(0.0);
            // inside the plot, however near the edge its point is
            let x = (wide * x).clamp(half, (wide - half).max(half));
            let ink = color.map_or(&Palette::MUTED, |index| &SERIES[index]);
            let at = (left + x, top + TICK + 15.0 * lines);
            let label = line(text, at, TICK, ink, Anchor::Middle);
            all.push(Text { bold: true, ..label });
        }
        let title = line(&panel.title, (left, top - 13.0), TITLE, &Palette::TEXT, Anchor::Start);
        all.push(Text { bold: true, ..title });
    }
}

/// Lines of whole words no wider than the room; a word that is wider stands alone.
fn wrapped(text: &str, em: f64, room: f64) -> Result<Vec<String>, ReportError> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer {
            Some(longer) if width(&longer, em, false)? <= room => {
                lines.pop();
                lines.push(longer);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    Ok(lines)
}

fn line(text: &str, at: (f64, f64), em: f64, ink: &Ink, anchor: Anchor) -> Text {
    Text { text: text.to_string(), at, em, bold: false, color: ink.light, anchor, upright: false }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Axis;
    use super::super::style::Marker;
    use super::*;

    #[test]
    fn wide_ticks_keep_clear_of_the_axis_label() {
        let mut y = Axis::bare(0.0, 1.0);
        y.ticks = vec![(1.0, "1,000,000".to_owned())];
        let x = Axis::bare(0.0, 1.0);
        let wide = Panel { title: String::new(), x, y, series: Vec::new(), labels: Vec::new(), above: Vec::new() };
        let (y_label, x_label) = ("y".to_owned(), "x".to_owned());
        let chart = Chart { panels: vec![wide], x_label, y_label, legend: Vec::new(), caveat: String::new() };
        let all = Layout::of(&chart, Size::Document).unwrap().texts(&chart);
        let of = |text: &str| all.iter().find(|label| label.text == text).unwrap();
        let start = of("1,000,000").at.0 - width("1,000,000", TICK, false).unwrap();
        assert!(start > of("y").at.0 + 4.0, "the tick begins at {start}, the label ends at {}", of("y").at.0);
    }

    #[test]
    fn a_legend_entry_wider_than_the_figure_continues_on_the_next_line() {
        let (x, y) = (Axis::bare(0.0, 1.0), Axis::bare(0.0, 1.0));
        let panel = Panel { title: String::new(), x, y, series: Vec::new(), labels: Vec::new(), above: Vec::new() };
        let (x_label, y_label) = ("x".to_owned(), "y".to_owned());
        let style = SeriesStyle { color: Some(0), marker: Marker::Disc, dash: &[], width: 2.0, covered_by: 0 };
        let name = "shift_ridge + known + character_ngrams, its embedding, and a proxy".to_owned();
        let legend = vec![(name.clone(), style), ("optimal".to_owned(), style)];
        let chart = Chart { panels: vec![panel], x_label, y_label, legend, caveat: String::new() };
        let layout = Layout::of(&chart, Size::Narrow).unwrap();
        let [(_, lines), ((_, below), _)] = &layout.legend[..] else { panic!("{:?}", layout.legend) };
        assert!(lines.len() > 1 && lines.join(" ") == name, "{lines:?}");
        let all = layout.texts(&chart);
        for text in all.iter().filter(|text| lines.contains(&text.text)) {
            assert!(text.at.0 + width(&text.text, TICK, false).unwrap() <= layout.width, "{text:?}");
            assert!(text.at.1 < *below, "{text:?} is not above {below}");
        }
    }

    #[test]
    fn labels_of_ticks_never_touch() {
        let (x, y) = (Axis::log(10.0, 5000.0), Axis::bare(0.0, 1.0));
        let panel = Panel { title: String::new(), x, y, series: Vec::new(), labels: Vec::new(), above: Vec::new() };
        let (x_label, y_label) = ("x".to_owned(), "y".to_owned());
        let chart = Chart { panels: vec![panel; 3], x_label, y_label, legend: Vec::new(), caveat: String::new() };
        let all = Layout::of(&chart, Size::Wide).unwrap().texts(&chart);
        let ticks: Vec<_> =
            all.iter().filter(|text| text.text.starts_with(|sign: char| sign.is_ascii_digit())).collect();
        assert!(ticks.len() > 12, "{ticks:?}");
        for pair in ticks.windows(2).filter(|pair| pair[1].at.0 > pair[0].at.0) {
            let half = |text: &Text| 0.5 * width(&text.text, TICK, false).unwrap();
            assert!(pair[1].at.0 - half(pair[1]) > pair[0].at.0 + half(pair[0]), "{pair:?}");
        }
    }

    #[test]
    fn a_long_caveat_is_cut_into_lines_that_fit_and_loses_no_word() {
        let text = "at most 2000 documents of 3115 and other vectors than the paper has";
        let lines = wrapped(text, SMALL, 120.0).unwrap();
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, SMALL, false).unwrap() <= 120.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert!(wrapped("", SMALL, 120.0).unwrap().is_empty());
    }
}

//! Draws the shapes of a chart on any plotters backend; type is set apart. All lengths are in logical pixels and multiplied by `scale`, since backends round to whole pixels.

use plotters::coord::Shift;
use plotters::prelude::{Circle, DrawingArea, DrawingBackend, IntoDrawingArea, PathElement, Polygon, Rectangle};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::chart::{Chart, Panel, Series, Shape};
use super::layout::{Layout, sample};
use super::style::{Marker, Palette, SeriesStyle};

pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Canvas<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    scale: f64,
}

pub(super) fn draw<DB: DrawingBackend>(backend: DB, chart: &Chart, layout: &Layout, scale: f64) -> Result<(), Failure>
where
    DB::ErrorType: 'static,
{
    let area = backend.into_drawing_area();
    area.fill(&Palette::PAPER.color()).map_err(fail)?;
    let canvas = Canvas { area: &area, scale };
    for (index, panel) in chart.panels.iter().enumerate() {
        let corner = layout.corner(index);
        canvas.frame(panel, corner, layout.plot)?;
        for series in &panel.series {
            canvas.band(series, panel, corner, layout.plot)?;
        }
        for series in &panel.series {
            canvas.rim(series, panel, corner, layout.plot)?;
        }
        for series in &panel.series {
            canvas.series(series, panel, corner, layout.plot)?;
        }
    }
    for ((_, style), &((x, y), _)) in chart.legend.iter().zip(&layout.legend) {
        canvas.legend_sample(style, (x, y))?;
    }
    area.present().map_err(fail)?;
    Ok(())
}

fn fail(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Box::new(error)
}

impl<DB: DrawingBackend> Canvas<'_, DB>
where
    DB::ErrorType: 'static,
{
    fn at(&self, (x, y): (f64, f64)) -> (i32, i32) {
        // logical pixels times a small scale: far below 2³¹
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    fn stroke(&self, color: RGBColor, width: f64) -> ShapeStyle {
        // as above; at least one pixel
        color.stroke_width(((width * self.scale).round() as u32).max(1))
    }

    fn line(&self, points: &[(f64, f64)], color: RGBColor, width: f64) -> Result<(), Failure> {
        let points: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        self.area.draw(&PathElement::new(points, self.stroke(color, width))).map_err(fail)
    }

    fn dashed(&self, points: &[(f64, f64)], dash: &[f64], color: RGBColor, width: f64) -> Result<(), Failure> {
        if dash.is_empty() {
            return self.line(points, color, width);
        }
        dashes(points, dash).iter().try_for_each(|piece| self.line(piece, color, width))
    }

    /// Grid, axes and ticks of a panel.
    fn frame(&self, panel: &Panel, (left, top): (f64, f64), (wide, high): (f64, f64)) -> Result<(), Failure> {
        let (right, bottom) = (left + wide, top + high);
        for (tick, _) in &panel.y.ticks {
            let y = bottom - high * panel.y.place_of_tick(*tick);
            self.line(&[(left, y), (right, y)], Palette::GRID.color(), 1.0)?;
        }
        for (tick, _) in &panel.x.ticks {
            let x = left + wide * panel.x.place_of_tick(*tick);
            self.line(&[(x, bottom), (x, bottom + 4.0)], Palette::AXIS.color(), 1.0)?;
        }
        // a panel without a tick has no axes
        if panel.x.ticks.is_empty() {
            return Ok(());
        }
        // the level 0 inside a panel is an axis of its own
        if panel.y.low < 0.0 && panel.y.high > 0.0 && panel.y.place(0.0).is_some() {
            let y = bottom - high * panel.y.place_of_tick(0.0);
            self.line(&[(left, y), (right, y)], Palette::AXIS.color(), 1.0)?;
        }
        self.line(&[(left, bottom), (right, bottom)], Palette::AXIS.color(), 1.2)
    }

    /// The interval around a curve, cut at the edge of the plot.
    fn band(&self, series: &Series, panel: &Panel, corner: (f64, f64), plot: (f64, f64)) -> Result<(), Failure> {
        let Shape::Curve(points) = &series.shape else { return Ok(()) };
        if !series.has_band() {
            return Ok(());
        }
        // what a logarithm does not have lies far below
        let place = |x: f64, y: f64| (panel.x.place(x).unwrap_or(0.0), panel.y.place(y).unwrap_or(-10.0));
        let upper = points.iter().map(|&(x, _, _, high)| place(x, high));
        let lower = points.iter().rev().map(|&(x, _, low, _)| place(x, low));
        let outline = within_height(&upper.chain(lower).collect::<Vec<_>>());
        let pixel = |(x, y): (f64, f64)| self.at((corner.0 + plot.0 * x, corner.1 + plot.1 * (1.0 - y)));
        let outline: Vec<_> = outline.into_iter().map(pixel).collect();
        if outline.len() < 3 {
            return Ok(());
        }
        self.area.draw(&Polygon::new(outline, series.style.color().mix(0.13).filled())).map_err(fail)
    }

    /// A pale rim around a curve that others lie on, so that it is seen below them.
    fn rim(&self, series: &Series, panel: &Panel, corner: (f64, f64), plot: (f64, f64)) -> Result<(), Failure> {
        let Shape::Curve(points) = &series.shape else { return Ok(()) };
        if !series.style.has_rim() {
            return Ok(());
        }
        let places = points.iter().filter_map(|&(x, mean, ..)| Some((panel.x.place(x)?, panel.y.place(mean)?)));
        cut(&places.collect::<Vec<_>>()).into_iter().try_for_each(|piece| {
            let pixel = |(x, y): (f64, f64)| (corner.0 + plot.0 * x, corner.1 + plot.1 * (1.0 - y));
            self.pale(&piece.into_iter().map(pixel).collect::<Vec<_>>(), &series.style)
        })
    }

    /// A wide pale line: wider if several curves lie on it.
    fn pale(&self, points: &[(f64, f64)], style: &SeriesStyle) -> Result<(), Failure> {
        let points: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        let width = style.width + 3.5 * style.covered_by as f64;
        let stroke = style.color().mix(0.35).stroke_width((width * self.scale).round() as u32);
        self.area.draw(&PathElement::new(points, stroke)).map_err(fail)
    }

    fn series(&self, series: &Series, panel: &Panel, corner: (f64, f64), plot: (f64, f64)) -> Result<(), Failure> {
        let place = |x: f64, y: f64| Some((panel.x.place(x)?, panel.y.place(y)?));
        let pixel = |(x, y): (f64, f64)| (corner.0 + plot.0 * x, corner.1 + plot.1 * (1.0 - y));
        let inside = |&(x, y): &(f64, f64)| (-1e-9..=1.0 + 1e-9).contains(&x) && (-1e-9..=1.0 + 1e-9).contains(&y);
        match &series.shape {
            Shape::Curve(points) => {
                let places: Vec<_> = points.iter().filter_map(|&(x, mean, ..)| place(x, mean)).collect();
                for piece in cut(&places) {
                    let piece: Vec<_> = piece.into_iter().map(pixel).collect();
                    self.dashed(&piece, series.style.dash, series.style.color(), series.style.width)?;
                }
                places
                    .iter()
                    .filter(|place| inside(place))
                    .try_for_each(|&place| self.marker(&series.style, pixel(place), 3.9))
            }
            Shape::Points(points) => points
                .iter()
                .filter_map(|&(x, y)| place(x, y))
                .filter(|place| inside(place))
                .try_for_each(|place| self.marker(&series.style, pixel(place), 2.7)),
            Shape::Segments(segments) => segments.iter().try_for_each(|ends| {
                let [Some(from), Some(to)] = ends.map(|(x, y)| place(x, y)) else { return Ok(()) };
                self.line(&[pixel(from), pixel(to)], Palette::MUTED.color(), 1.2)
            }),
            Shape::Bars(bars) => {
                for &(left, right, height) in bars {
                    let (Some((x0, y)), Some(x1)) = (place(left, height), panel.x.place(right)) else { continue };
                    let corners = [self.at(pixel((x0, y.clamp(0.0, 1.0)))), self.at(pixel((x1, 0.0)))];
                    self.area.draw(&Rectangle::new(corners, series.style.color().mix(0.75).filled())).map_err(fail)?;
                }
                Ok(())
            }
        }
    }

    fn legend_sample(&self, style: &SeriesStyle, (x, y): (f64, f64)) -> Result<(), Failure> {
        if style.width > 0.0 {
            if style.has_rim() {
                self.pale(&[(x, y), (x + sample(style), y)], style)?;
            }
            self.dashed(&[(x, y), (x + sample(style), y)], style.dash, style.color(), style.width)?;
        }
        self.marker(style, (x + sample(style) / 2.0, y), 3.9)
    }

    /// A filled marker on a thin rim of paper, so that it stands off its own line and off its neighbors.
    fn marker(&self, style: &SeriesStyle, center: (f64, f64), r: f64) -> Result<(), Failure> {
        let color = style.color();
        let around = |offsets: &[(f64, f64)], r: f64| -> Vec<(i32, i32)> {
            offsets.iter().map(|(dx, dy)| self.at((center.0 + dx * r, center.1 + dy * r))).collect()
        };
        const SQUARE: &[(f64, f64)] = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
        const UP: &[(f64, f64)] = &[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8)];
        const DOWN: &[(f64, f64)] = &[(0.0, 1.25), (1.15, -0.8), (-1.15, -0.8)];
        const DIAMOND: &[(f64, f64)] = &[(0.0, -1.35), (1.2, 0.0), (0.0, 1.35), (-1.2, 0.0)];
        // radii are a few logical pixels
        let pixels = |r: f64| (r * self.scale).round() as i32;
        let paper = Palette::PAPER.color();
        let polygon = |offsets: &[(f64, f64)]| {
            self.area.draw(&Polygon::new(around(offsets, r * 1.32), paper.filled())).map_err(fail)?;
            self.area.draw(&Polygon::new(around(offsets, r), color.filled())).map_err(fail)
        };
        let disc = |r: f64, color: RGBColor| {
            self.area.draw(&Circle::new(self.at(center), pixels(r), color.filled())).map_err(fail)
        };
        let strokes = |pairs: [[(f64, f64); 2]; 2]| {
            for (color, width) in [(paper, 3.6), (color, 2.0)] {
                for pair in pairs {
                    let line = pair.map(|(dx, dy)| (center.0 + dx * r, center.1 + dy * r));
                    self.line(&line, color, width)?;
                }
            }
            Ok(())
        };
        match style.marker {
            Marker::None => Ok(()),
            Marker::Disc => disc(r * 1.3, paper).and_then(|()| disc(r, color)),
            Marker::Ring => disc(r * 1.1, color).and_then(|()| disc(r * 0.62, paper)),
            Marker::Square => polygon(SQUARE),
            Marker::Triangle => polygon(UP),
            Marker::TriangleDown => polygon(DOWN),
            Marker::Diamond => polygon(DIAMOND),
            Marker::Cross => strokes([[(-0.9, -0.9), (0.9, 0.9)], [(-0.9, 0.9), (0.9, -0.9)]]),
            Marker::Plus => strokes([[(-1.2, 0.0), (1.2, 0.0)], [(0.0, -1.2), (0.0, 1.2)]]),
        }
    }
}

/// The part of a polygon whose height lies between 0 and 1 (Sutherland–Hodgman).
fn within_height(polygon: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut inside = polygon.to_vec();
    for (depth, level) in [((|y| y) as fn(f64) -> f64, 0.0), (|y| 1.0 - y, 1.0)] {
        let corners = std::mem::take(&mut inside);
        for (index, &here) in corners.iter().enumerate() {
            let before = corners[(index + corners.len() - 1) % corners.len()];
            let (from, to) = (depth(before.1), depth(here.1));
            if (from < 0.0) != (to < 0.0) {
                inside.push((before.0 + (here.0 - before.0) * from / (from - to), level));
            }
            if to >= 0.0 {
                inside.push(here);
            }
        }
    }
    inside
}

/// The parts of a line whose height lies between 0 and 1.
fn cut(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut piece: Vec<(f64, f64)> = Vec::new();
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        // the share of the segment at which it crosses a level; t = 0 … 1 is cut down to what is inside
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for (start, end) in [(y0, y1), (1.0 - y0, 1.0 - y1)] {
            match (start < 0.0, end < 0.0) {
                (true, true) => (from, to) = (1.0, 0.0),
                (true, false) => from = from.max(start / (start - end)),
                (false, true) => to = to.min(start / (start - end)),
                (false, false) => {}
            }
        }
        if from >= to {
            pieces.extend((piece.len() > 1).then(|| std::mem::take(&mut piece)));
            piece.clear();
            continue;
        }
        let at = |t: f64| (x0 + t * (x1 - x0), y0 + t * (y1 - y0));
        if piece.is_empty() {
            piece.push(at(from));
        }
        piece.push(at(to));
        if to < 1.0 {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.extend((piece.len() > 1).then_some(piece));
    pieces
}

/// Splits a line into dashes that run on around its corners.
fn dashes(points: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<(f64, f64)> = Vec::new();
    let (mut step, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let ((mut x, mut y), (x1, y1)) = (pair[0], pair[1]);
        let mut remaining = ((x1 - x).powi(2) + (y1 - y).powi(2)).sqrt();
        while remaining > 0.0 {
            let drawn = step % 2 == 0;
            if drawn && piece.is_empty() {
                piece.push((x, y));
            }
            let go = left.min(remaining);
            (x, y) = (x + (x1 - x) * go / remaining, y + (y1 - y) * go / remaining);
            (remaining, left) = (remaining - go, left - go);
            if drawn {
                piece.push((x, y));
            }
            if left <= 0.0 {
                pieces.extend((!piece.is_empty()).then(|| std::mem::take(&mut piece)));
                step = (step + 1) % pattern.len();
                left = pattern[step];
            }
        }
    }
    pieces.extend((piece.len() > 1).then_some(piece));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_leaves_the_plot() {
        let pieces = cut(&[(0.0, 0.5), (0.2, 1.5), (0.4, 0.5), (0.6, -0.5)]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[0], [(0.0, 0.5), (0.1, 1.0)]);
        assert!((pieces[1][0].0 - 0.3).abs() < 1e-12 && (pieces[1][2].0 - 0.5).abs() < 1e-12);
        assert!(cut(&[(0.0, 2.0), (1.0, 3.0)]).is_empty());
        assert_eq!(cut(&[(0.0, 2.0), (1.0, -1.0)])[0].len(), 2);
    }

    #[test]
    fn a_band_is_cut_where_it_leaves_the_plot() {
        let inside = within_height(&[(0.0, 0.5), (1.0, 1.5), (1.0, 0.5)]);
        assert_eq!(inside, [(0.0, 0.5), (0.5, 1.0), (1.0, 1.0), (1.0, 0.5)]);
        assert!(within_height(&[(0.0, 2.0), (1.0, 3.0), (1.0, 2.0)]).is_empty());
    }

    #[test]
    fn dashes_run_on_around_a_corner() {
        let pieces = dashes(&[(0.0, 0.0), (5.0, 0.0), (5.0, 5.0)], &[6.0, 2.0]);
        assert_eq!(pieces[0], [(0.0, 0.0), (5.0, 0.0), (5.0, 1.0)]);
        assert_eq!(pieces[1], [(5.0, 3.0), (5.0, 5.0)]);
    }
}

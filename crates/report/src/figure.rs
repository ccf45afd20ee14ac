//! Figures: rows → a chart in plain data → SVG and PNG.
//!
//! Both come from the same drawing calls. The type is bundled (Inter, SIL OFL, `assets/`), so a figure looks the same on a machine without fonts.
//! Methods differ by colour (Okabe–Ito, safe for colour-blind readers), marker and dash, never by colour alone.

use crate::error::ReportError;
use crate::input::ReportInput;
use crate::spec::{FigureKind, FigureSpec};

pub(crate) mod axis;
mod canvas;
mod chart;
mod encode;
mod graph;
mod layout;
mod style;
mod text;

pub(super) use style::Palette;

/// A figure as it is written.
#[derive(Debug, Clone)]
pub(super) struct Drawing {
    /// A document of its own.
    pub(super) svg: String,
    /// Twice the size of the SVG, for screens of high density.
    pub(super) png: Vec<u8>,
}

/// Draws one figure.
pub(super) fn draw(spec: &FigureSpec, input: &ReportInput<'_>) -> Result<Drawing, ReportError> {
    let chart = match &spec.kind {
        FigureKind::Graphs(graphs) => graph::chart(graphs, input),
        _ => chart::Chart::build(spec, input)?,
    };
    Ok(Drawing { svg: encode::svg(&chart, &spec.title)?, png: encode::png(&chart)? })
}

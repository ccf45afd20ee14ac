//! Figures: rows → a chart in plain data → SVG and PNG.
//!
//! Both come from the same drawing calls. The type is bundled (Inter, SIL OFL, `assets/`), so a figure looks the same on a machine without fonts.
//! Methods differ by color (Okabe–Ito, safe for color-blind readers), marker and dash, never by color alone.

use crate::error::ReportError;
use crate::input::ReportInput;
use crate::markup::escape_markup;
use crate::spec::{FigureKind, FigureSpec};

pub(crate) mod axis;
mod canvas;
mod chart;
mod encode;
mod graph;
mod layout;
mod plot;
mod style;
mod text;

pub(super) use plot::draw_plot;
pub(super) use style::Palette;

use layout::Size;

#[derive(Debug, Clone)]
pub(super) struct Drawing {
    /// A document of its own.
    pub(super) svg: String,
    /// Twice the size of the SVG, for screens of high density.
    pub(super) png: Vec<u8>,
    pub(super) on_page: String,
}

pub(super) fn draw(spec: &FigureSpec, input: &ReportInput<'_>) -> Result<Drawing, ReportError> {
    let chart = match &spec.kind {
        FigureKind::Graphs(graphs) => graph::chart(graphs, input),
        _ => chart::Chart::build(spec, input)?,
    };
    Ok(Drawing {
        svg: encode::svg(&chart, &spec.title, Size::Document)?,
        png: encode::png(&chart)?,
        on_page: on_page(&chart, &spec.title)?,
    })
}

/// A chart for the page, of which a desktop shows one form and a phone the other. Colors are CSS variables: they follow a light or dark screen.
fn on_page(chart: &chart::Chart, title: &str) -> Result<String, ReportError> {
    let form = |size, class: &str| -> Result<String, ReportError> {
        let svg = encode::svg(chart, title, size)?;
        let (head, body) = svg.split_once(">\n").unwrap_or(("", &svg));
        let view_box =
            head.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(it, _)| it);
        // the lines of the title and of the paper go
        let mut body: String = body.split_inclusive('\n').skip(2).collect();
        for ink in Palette::all() {
            body = body.replace(&format!("\"{}\"", ink.hex()), &format!("\"var(--{})\"", ink.name));
        }
        let label = escape_markup(title);
        Ok(format!(
            "<svg class=\"{class}\" viewBox=\"{view_box}\" role=\"img\" aria-label=\"{label}\" stroke-linejoin=\"round\">\n{body}"
        ))
    };
    Ok(form(Size::Wide, "wide")? + &form(Size::Narrow, "narrow")?)
}

//! A chart as SVG text and as PNG bytes.

use std::fmt::Write as _;

use plotters::prelude::{BitMapBackend, SVGBackend};

use super::canvas::{Failure, draw};
use super::chart::Chart;
use super::layout::{Layout, Size};
use super::text::{Anchor, Text};
use crate::error::ReportError;
use crate::markup::escape_markup;

/// Backends round to whole pixels: draw in tenths.
const SVG_SCALE: u32 = 10;
/// PNG pixels per logical pixel.
const DENSITY: u32 = 2;
/// Each PNG pixel is the mean of this many squared: smooth edges.
const OVERSAMPLE: u32 = 2;

fn failed(error: Failure) -> ReportError {
    ReportError::Draw(error.to_string())
}

fn pixels(length: f64, scale: u32) -> u32 {
    // a few thousand at most
    length.ceil() as u32 * scale
}

/// An SVG document of logical size, with a title for screen readers and type that stays type.
pub(super) fn svg(chart: &Chart, title: &str, size: Size) -> Result<String, ReportError> {
    let layout = Layout::of(chart, size)?;
    let (w, h) = (pixels(layout.width, SVG_SCALE), pixels(layout.height, SVG_SCALE));
    let mut text = String::new();
    draw(SVGBackend::with_string(&mut text, (w, h)), chart, &layout, f64::from(SVG_SCALE)).map_err(failed)?;
    let shapes = text.split_once('\n').map_or("", |(_, shapes)| shapes);
    let shapes = shapes.trim_end().trim_end_matches("</svg>").replace(" opacity=\"1\"", "").replace(" \"/>", "\"/>");
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         stroke-linejoin=\"round\" font-family=\"Inter, 'Helvetica Neue', Arial, sans-serif\">\n<title>{}</title>\n{shapes}",
        layout.width,
        layout.height,
        escape_markup(title)
    );
    for label in layout.texts(chart) {
        out.push_str(&text_element(&label));
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn text_element(label: &Text) -> String {
    let scale = f64::from(SVG_SCALE);
    let (x, y) = ((label.at.0 * scale).round(), (label.at.1 * scale).round());
    let (r, g, b) = label.color;
    let mut out =
        format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"#{r:02X}{g:02X}{b:02X}\"", label.em * scale);
    match label.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if label.bold {
        out.push_str(" font-weight=\"600\"");
    }
    if label.upright {
        let _ = write!(out, " transform=\"rotate(-90 {x} {y})\"");
    }
    out + &format!(">{}</text>\n", escape_markup(&label.text))
}

/// PNG bytes, the same on every machine.
pub(super) fn png(chart: &Chart) -> Result<Vec<u8>, ReportError> {
    let layout = Layout::of(chart, Size::Document)?;
    let scale = DENSITY * OVERSAMPLE;
    let (fine_width, fine_height) = (pixels(layout.width, scale), pixels(layout.height, scale));
    let mut fine = vec![0u8; fine_width as usize * fine_height as usize * 3];
    let backend = BitMapBackend::with_buffer(&mut fine, (fine_width, fine_height));
    draw(backend, chart, &layout, f64::from(scale)).map_err(failed)?;
    let (width, height) = (fine_width / OVERSAMPLE, fine_height / OVERSAMPLE);
    let mut coarse = shrink(&fine, fine_width as usize, OVERSAMPLE as usize);
    for label in layout.texts(chart) {
        label.paint(&mut coarse, width as usize, f64::from(DENSITY))?;
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&coarse));
    written.map_err(|error| ReportError::Draw(error.to_string()))?;
    Ok(bytes)
}

/// The mean of each k × k square of pixels.
fn shrink(fine: &[u8], width: usize, k: usize) -> Vec<u8> {
    let (coarse_width, stride) = (width / k, width * 3);
    let mut coarse = Vec::with_capacity(fine.len() / (k * k));
    for top in fine.chunks_exact(stride * k) {
        for column in 0..coarse_width {
            for channel in 0..3 {
                let square = (0..k * k).map(|i| u32::from(top[(i / k) * stride + (column * k + i % k) * 3 + channel]));
                let sum: u32 = square.sum();
                let count = u32::try_from(k * k).unwrap_or(1);
                coarse.push(u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX));
            }
        }
    }
    coarse
}

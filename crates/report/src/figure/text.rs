//! Type for the PNG, and widths for both: the bundled font set glyph by glyph with its own advances and side bearings.
//!
//! The bitmap backend of plotters drops the side bearings, which shows as uneven spacing; the SVG backend leaves setting to the reader.

use std::sync::OnceLock;

use ab_glyph::{Font as _, FontRef, Glyph, PxScale, ScaleFont as _, point};

use crate::error::ReportError;
use crate::markup::{INTER_REGULAR, INTER_SEMIBOLD};

/// Height of capitals in em.
pub(super) const CAPITALS: f64 = 0.727;

/// End of a text that its place means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) text: String,
    /// The anchor, on the baseline, in logical pixels.
    pub(super) at: (f64, f64),
    /// Font size in logical pixels.
    pub(super) em: f64,
    pub(super) bold: bool,
    pub(super) color: (u8, u8, u8),
    pub(super) anchor: Anchor,
    /// Reading upwards.
    pub(super) upright: bool,
}

fn font(bold: bool) -> Result<&'static FontRef<'static>, ReportError> {
    static FONTS: OnceLock<Option<[FontRef<'static>; 2]>> = OnceLock::new();
    let parse = || Some([FontRef::try_from_slice(INTER_REGULAR).ok()?, FontRef::try_from_slice(INTER_SEMIBOLD).ok()?]);
    let fonts = FONTS.get_or_init(parse).as_ref();
    let fonts = fonts.ok_or_else(|| ReportError::Draw("the bundled font cannot be read".into()))?;
    Ok(&fonts[usize::from(bold)])
}

/// The scale at which an em is `em` pixels high.
fn scale(font: &FontRef<'_>, em: f64) -> PxScale {
    let units = font.units_per_em().unwrap_or(1000.0);
    // type is a few hundred pixels high: f32 holds it
    PxScale::from(em as f32 * font.height_unscaled() / units)
}

/// Width in pixels of a text at this font size.
pub(super) fn width(text: &str, em: f64, bold: bool) -> Result<f64, ReportError> {
    let font = font(bold)?;
    let scaled = font.as_scaled(scale(font, em));
    Ok(text.chars().map(|character| f64::from(scaled.h_advance(font.glyph_id(character)))).sum())
}

impl Text {
    /// Paints onto RGB rows of `row_width` pixels, `density` to a logical pixel.
    pub(super) fn paint(&self, rgb: &mut [u8], row_width: usize, density: f64) -> Result<(), ReportError> {
        let font = font(self.bold)?;
        let em = self.em * density;
        let whole = width(&self.text, em, self.bold)?;
        let scale = scale(font, em);
        let scaled = font.as_scaled(scale);
        let mut along = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * whole,
            Anchor::End => -whole,
        };
        let (x0, y0) = (self.at.0 * density, self.at.1 * density);
        for character in self.text.chars() {
            let id = font.glyph_id(character);
            // the fraction of a pixel matters only along the line
            let start = if self.upright { along - y0 } else { along + x0 };
            let glyph = Glyph { id, scale, position: point((start - start.floor()) as f32, 0.0) };
            if let Some(outline) = font.outline_glyph(glyph) {
                let bounds = outline.px_bounds();
                outline.draw(|dx, dy, coverage| {
                    let u = start.floor() + f64::from(bounds.min.x) + f64::from(dx);
                    let v = f64::from(bounds.min.y) + f64::from(dy);
                    let (x, y) = if self.upright { (x0.round() + v, -u - 1.0) } else { (u, y0.round() + v) };
                    blend(rgb, row_width, (x, y), self.color, coverage);
                });
            }
            along += f64::from(scaled.h_advance(id));
        }
        Ok(())
    }
}

/// Mixes a color into a pixel; what lies outside the picture is left.
fn blend(rgb: &mut [u8], row_width: usize, (x, y): (f64, f64), color: (u8, u8, u8), coverage: f32) {
    if x < 0.0 || y < 0.0 || x >= row_width as f64 {
        return;
    }
    // both are whole and not negative
    let start = (y as usize * row_width + x as usize) * 3;
    let Some(pixel) = rgb.get_mut(start..start + 3) else { return };
    for (old, new) in pixel.iter_mut().zip([color.0, color.1, color.2]) {
        let mixed = f32::from(*old) + coverage.clamp(0.0, 1.0) * (f32::from(new) - f32::from(*old));
        // between two bytes
        *old = mixed.round() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_and_scale() {
        let of = |text, em| width(text, em, false).unwrap();
        assert!((of("ab", 100.0) - of("a", 100.0) - of("b", 100.0)).abs() < 1e-3);
        assert!((of("Nyström", 200.0) - 2.0 * of("Nyström", 100.0)).abs() < 1e-2);
        assert!(width("rank", 20.0, true).unwrap() > of("rank", 20.0));
    }

    #[test]
    fn every_sign_of_tables_and_axes_has_a_glyph() {
        let signs = "±−–×≤≥·…‖²³⁺⁻⁰¹⁴⁵⁶⁷⁸⁹₁₂αγλρσΔ≈öüéÖø½√∞→↑";
        for bold in [false, true] {
            let font = font(bold).unwrap();
            let missing: String = signs.chars().filter(|sign| font.glyph_id(*sign).0 == 0).collect();
            assert_eq!(missing, "");
        }
    }

    #[test]
    fn type_lands_where_it_is_anchored() {
        let (w, h) = (60usize, 40usize);
        let paint = |anchor, upright| {
            let mut rgb = vec![255u8; w * h * 3];
            let run =
                Text { text: "l".into(), at: (30.0, 30.0), em: 20.0, bold: false, color: (0, 0, 0), anchor, upright };
            run.paint(&mut rgb, w, 1.0).unwrap();
            let dark: Vec<(usize, usize)> = (0..w * h).filter(|i| rgb[3 * i] < 128).map(|i| (i % w, i / w)).collect();
            let mean = |of: fn(&(usize, usize)) -> usize| dark.iter().map(of).sum::<usize>() as f64 / dark.len() as f64;
            (mean(|p| p.0), mean(|p| p.1))
        };
        // a vertical bar stands on its baseline, centered on its anchor to a pixel
        let (x, y) = paint(Anchor::Middle, false);
        assert!((x - 29.5).abs() < 1.0 && y < 29.0, "{x} {y}");
        // reading upwards, the bar lies to the left of its baseline
        let (x, y) = paint(Anchor::Middle, true);
        assert!((y - 29.5).abs() < 1.0 && x < 29.0, "{x} {y}");
        assert!(paint(Anchor::End, false).0 < paint(Anchor::Start, false).0);
    }
}

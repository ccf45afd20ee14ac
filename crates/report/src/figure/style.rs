//! Colors, markers and dashes.

use plotters::style::RGBColor;

/// Every color a figure may hold, with the name of its CSS variable, so that the page can redraw it for a dark screen.
pub(crate) struct Palette;

/// A named color: on white, and on a dark page.
pub(crate) struct Ink {
    pub(crate) name: &'static str,
    pub(crate) light: (u8, u8, u8),
    pub(crate) dark: &'static str,
}

const fn ink(name: &'static str, light: (u8, u8, u8), dark: &'static str) -> Ink {
    Ink { name, light, dark }
}

impl Palette {
    pub(super) const PAPER: Ink = ink("paper", (255, 255, 255), "#15181d");
    pub(super) const TEXT: Ink = ink("text", (31, 35, 40), "#e6e8eb");
    pub(super) const MUTED: Ink = ink("muted", (99, 108, 118), "#9aa4af");
    pub(super) const GRID: Ink = ink("grid", (230, 233, 237), "#2a3038");
    pub(super) const AXIS: Ink = ink("axis", (175, 184, 193), "#4b545f");
    /// Okabe and Ito's palette, its yellow left out (too faint on white) and two hues darkened.
    pub(super) const SERIES: [Ink; 8] = [
        ink("c1", (0, 114, 178), "#5aa9e6"),
        ink("c2", (213, 94, 0), "#ff9248"),
        ink("c3", (0, 143, 104), "#2fcf9f"),
        ink("c4", (182, 82, 141), "#ec92c6"),
        ink("c5", (214, 143, 0), "#f3bd45"),
        ink("c6", (64, 164, 216), "#8fd3ff"),
        ink("c7", (102, 70, 160), "#b79cf0"),
        ink("c8", (120, 94, 60), "#cdb08a"),
    ];

    pub(crate) fn all() -> impl Iterator<Item = &'static Ink> {
        const FIXED: [Ink; 5] = [Palette::PAPER, Palette::TEXT, Palette::MUTED, Palette::GRID, Palette::AXIS];
        const SERIES: [Ink; 8] = Palette::SERIES;
        const { &FIXED }.iter().chain(const { &SERIES })
    }
}

impl Ink {
    pub(super) fn color(&self) -> RGBColor {
        let (r, g, b) = self.light;
        RGBColor(r, g, b)
    }

    /// `#0072B2`, as the SVG writer spells it.
    pub(crate) fn hex(&self) -> String {
        let (r, g, b) = self.light;
        format!("#{r:02X}{g:02X}{b:02X}")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Cross,
    Plus,
    Ring,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeriesStyle {
    /// Index into [`Palette::SERIES`]; `None` is the gray of a cap.
    pub(super) color: Option<usize>,
    pub(super) marker: Marker,
    /// On and off lengths; empty is solid.
    pub(super) dash: &'static [f64],
    pub(super) width: f64,
    /// Number of later curves that run over this one: it is a wide pale line below them.
    pub(super) covered_by: usize,
}

impl SeriesStyle {
    /// Marks of this shape and color, without a line.
    pub(super) fn marks(color: usize, marker: Marker) -> Self {
        Self { color: Some(color % 8), marker, dash: &[], width: 0.0, covered_by: 0 }
    }

    /// A line of this color without marks.
    pub(super) fn line(color: usize, dash: &'static [f64]) -> Self {
        Self { width: 1.9, dash, ..Self::marks(color, Marker::None) }
    }

    /// The style of the method in this place. Two methods in the same figure never look alike in black and white.
    pub(super) fn of_method(place: usize) -> Self {
        use Marker::{Cross, Diamond, Disc, Plus, Ring, Square, Triangle, TriangleDown};
        const MARKERS: [Marker; 8] = [Disc, Square, Triangle, Diamond, TriangleDown, Cross, Ring, Plus];
        const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.5], &[], &[2.0, 3.0]];
        // the second round of eight takes other dashes and markers with the same colors
        Self {
            color: Some(place % 8),
            marker: MARKERS[(place + 4 * (place / 8)) % 8],
            dash: DASHES[(place + place / 8) % 4],
            width: 1.9,
            covered_by: 0,
        }
    }

    /// The style of a method that reads all of K: the line to be beaten.
    pub(super) fn of_cap(place: usize) -> Self {
        let dash: &[f64] = if place.is_multiple_of(2) { &[1.5, 3.0] } else { &[9.0, 3.0, 1.5, 3.0] };
        Self { color: None, marker: Marker::None, dash, width: 1.6, covered_by: 0 }
    }

    /// True of a curve with a rim: the two below the topmost one of those that coincide. More of them would hide each other.
    pub(super) fn has_rim(&self) -> bool {
        (1..=2).contains(&self.covered_by)
    }

    pub(super) fn color(&self) -> RGBColor {
        match self.color {
            Some(index) => Palette::SERIES[index].color(),
            None => Palette::MUTED.color(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_first_sixteen_methods_differ_without_color() {
        let styles: HashSet<String> =
            (0..16).map(SeriesStyle::of_method).map(|l| format!("{:?}{:?}", l.marker, l.dash)).collect();
        assert_eq!(styles.len(), 16);
    }

    #[test]
    fn every_ink_has_a_color_and_a_name_of_its_own() {
        let inks: HashSet<String> = Palette::all().map(Ink::hex).collect();
        let names: HashSet<&str> = Palette::all().map(|ink| ink.name).collect();
        assert_eq!((inks.len(), names.len()), (13, 13));
    }
}

//! Map of items: places in the plane, colors, texts and nearest neighbors, packed for a browser.
//!
//! Coordinates and scores are quantised to 16 bits, and lists of neighbors are numbers of 16 bits, all in base64: about 60 bytes an item with ten
//! neighbors, next to its text. No matrix is in the file.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::cut;
use crate::markup::base64;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 640.0;
const MARGIN: f64 = 24.0;
/// Bytes of all texts together, as they stand in the file.
const TEXT_BYTES: usize = 2_000_000;
const LONGEST: usize = 400;
const LONGEST_ID: usize = 120;
/// Place that marks that there is no neighbor.
const NOBODY: u16 = u16::MAX;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemMap {
    /// Sentences on what is drawn, and how.
    pub caption: String,
    /// Ids, at most 65,535.
    pub ids: Vec<String>,
    /// Texts, as many as ids; empty where items have none.
    pub texts: Vec<String>,
    /// Arrangements, the first shown first.
    pub layouts: Vec<MapLayout>,
    /// Colors, the first shown first.
    pub colorings: Vec<Coloring>,
    /// Nearest of each item, best first.
    pub near: Vec<Vec<Near>>,
}

/// An arrangement of the items in the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct MapLayout {
    /// Name in the list of arrangements.
    pub name: String,
    /// How it is to be read.
    pub note: String,
    /// One point an item; both axes have one scale.
    pub points: Vec<(f64, f64)>,
}

/// Labels of the items that are shown as colors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coloring {
    /// Name in the list of colors.
    pub name: String,
    pub names: Vec<String>,
    /// Label of each item, where it has one.
    pub of: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Its place among the drawn items.
    pub place: usize,
    pub score: f64,
    /// True where the similarity was evaluated, false where the factors estimate it.
    pub is_exact: bool,
}

impl MapLayout {
    /// Places in the drawing: one scale on both axes, in the middle.
    pub(super) fn placed(&self) -> Vec<(f64, f64)> {
        let ends = |of: fn(&(f64, f64)) -> f64| {
            self.points.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        let ((left, right), (low, high)) = (ends(|point| point.0), ends(|point| point.1));
        let room = |side: f64, extent: f64| if extent > 0.0 { (side - 2.0 * MARGIN) / extent } else { f64::INFINITY };
        let scale = room(WIDTH, right - left).min(room(HEIGHT, high - low));
        // all items at one point: any scale draws them there
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let middle = (0.5 * (left + right), 0.5 * (low + high));
        let place =
            |&(x, y): &(f64, f64)| (0.5 * WIDTH + scale * (x - middle.0), 0.5 * HEIGHT - scale * (y - middle.1));
        self.points.iter().map(place).collect()
    }

    /// Two numbers of 16 bits an item: sixtieths of a unit of the drawing.
    fn packed(&self) -> String {
        let sixtieths = |value: f64| quantised(value / WIDTH);
        base64(&bytes(self.placed().into_iter().flat_map(|(x, y)| [sixtieths(x), sixtieths(y)])))
    }
}

/// A share from 0 to 1 as 16 bits.
fn quantised(share: f64) -> u16 {
    // between 0 and 65,535
    (share.clamp(0.0, 1.0) * f64::from(u16::MAX)).round() as u16
}

fn bytes(numbers: impl Iterator<Item = u16>) -> Vec<u8> {
    numbers.flat_map(u16::to_le_bytes).collect()
}

impl ItemMap {
    /// The points of the first arrangement as a path: what is seen without the script.
    pub(super) fn points(&self) -> String {
        let placed = self.layouts.first().map(MapLayout::placed).unwrap_or_default();
        placed.iter().map(|(x, y)| format!("M{x:.1} {y:.1}h0")).collect()
    }

    /// The data for the script, as JSON that may stand between tags.
    pub(super) fn data(&self) -> String {
        let scores = || self.near.iter().flatten().map(|near| near.score);
        let (low, high) =
            scores().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), score| (a.min(score), b.max(score)));
        let extent = if high > low { high - low } else { 1.0 };
        let width = self.near.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &Vec<Near>, place: usize| row.get(place).copied();
        let cells = || self.near.iter().flat_map(|row| (0..width).map(move |place| cell(row, place)));
        let places = cells().map(|near| near.and_then(|near| u16::try_from(near.place).ok()).unwrap_or(NOBODY));
        let shares = cells().map(|near| near.map_or(0, |near| quantised((near.score - low) / extent)));
        let exact: Vec<u8> = cells().map(|near| u8::from(near.is_some_and(|near| near.is_exact))).collect();
        let longest = self.longest_text();
        let colorings = self.colorings.iter().map(|coloring| {
            let of =
                coloring.of.iter().map(|label| label.and_then(|label| u16::try_from(label).ok()).unwrap_or(NOBODY));
            let names: Vec<String> = coloring.names.iter().map(|name| cut(name, LONGEST_ID)).collect();
            json!({ "name": coloring.name, "names": names, "of": base64(&bytes(of)) })
        });
        let layouts = self
            .layouts
            .iter()
            .map(|layout| json!({ "name": layout.name, "note": layout.note, "at": layout.packed() }));
        let data = json!({
            "ids": self.ids.iter().map(|id| cut(id, LONGEST_ID)).collect::<Vec<_>>(),
            "texts": self.texts.iter().map(|text| cut(text, longest)).collect::<Vec<_>>(),
            "layouts": layouts.collect::<Vec<_>>(),
            "colorings": colorings.collect::<Vec<_>>(),
            "width": width,
            "near": base64(&bytes(places)),
            "scores": base64(&bytes(shares)),
            "exact": base64(&exact),
            "low": if low.is_finite() { low } else { 0.0 },
            "extent": extent,
        });
        // no text can end the element that holds it
        data.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }

    /// Bytes of the longest text, so that all of them together stay within their room.
    fn longest_text(&self) -> usize {
        let fits = |&longest: &usize| {
            let length = |text: &String| {
                let cut = text.get(..longest).unwrap_or(text);
                // what JSON and the page write as an escape takes six bytes
                let escapes = cut.chars().filter(|&sign| sign.is_control() || matches!(sign, '<' | '"' | '\\')).count();
                cut.len().min(longest) + 5 * escapes
            };
            self.texts.iter().map(length).sum::<usize>() <= TEXT_BYTES
        };
        [LONGEST, 300, 240, 180, 120, 80].into_iter().find(fits).unwrap_or(40)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(points: &[(f64, f64)]) -> MapLayout {
        MapLayout { name: "plane".into(), note: String::new(), points: points.to_vec() }
    }

    #[test]
    fn both_axes_have_one_scale_and_everything_is_inside() {
        let placed = layout(&[(0.0, 0.0), (10.0, 0.0), (0.0, 1.0)]).placed();
        let across = placed[1].0 - placed[0].0;
        let up = placed[0].1 - placed[2].1;
        assert!((across - (WIDTH - 2.0 * MARGIN)).abs() < 1e-9 && (across - 10.0 * up).abs() < 1e-9, "{placed:?}");
        // a tall one is limited by the height
        let placed = layout(&[(0.0, -3.0), (1.0, 3.0)]).placed();
        assert!(
            placed.iter().all(|&(x, y)| x > 0.0 && x < WIDTH && (MARGIN - 1e-9..=HEIGHT - MARGIN + 1e-9).contains(&y))
        );
    }

    #[test]
    fn items_at_one_point_and_one_item_are_drawn_in_the_middle() {
        for points in [&[(3.0, 3.0), (3.0, 3.0)][..], &[(0.0, 0.0)]] {
            assert!(layout(points).placed().iter().all(|&place| place == (0.5 * WIDTH, 0.5 * HEIGHT)));
        }
        assert!(layout(&[]).placed().is_empty());
    }

    #[test]
    fn a_text_cannot_end_its_element_and_long_ones_are_cut_to_the_room() {
        let evil = "</script><script>alert(1)</script>";
        let map = ItemMap { ids: vec![evil.into()], texts: vec![evil.into()], ..ItemMap::default() };
        assert!(!map.data().contains('<'));
        let back: serde_json::Value = serde_json::from_str(&map.data()).unwrap();
        assert_eq!(back["texts"][0], evil);
        let long =
            ItemMap { texts: vec!["ö\"<".repeat(300); 5000], ids: vec![String::new(); 5000], ..ItemMap::default() };
        assert!(long.data().len() < 3 * TEXT_BYTES / 2, "{}", long.data().len());
    }

    #[test]
    fn neighbors_and_scores_come_back_from_their_bytes() {
        let near = |place, score, is_exact| Near { place, score, is_exact };
        let map = ItemMap {
            ids: vec!["a".into(), "b".into()],
            near: vec![vec![near(1, 0.75, true)], vec![]],
            ..ItemMap::default()
        };
        let data: serde_json::Value = serde_json::from_str(&map.data()).unwrap();
        // place 1 and nobody; the only score is the lowest
        assert_eq!((data["near"].as_str(), data["scores"].as_str()), (Some("AQD//w=="), Some("AAAAAA==")));
        assert_eq!((data["low"].as_f64(), data["exact"].as_str()), (Some(0.75), Some("AQA=")));
    }
}

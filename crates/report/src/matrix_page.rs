//! The part of a page that is about one factored matrix: a map of its items, plots, and lists of items; plain data in, HTML out.
//!
//! Everything is drawn as SVG whose colors are the page's variables, so that it follows a light or dark screen and prints; the script
//! (`templates/matrix.js`) adds search, hover, neighbors, zoom and keys, and nothing is lost but these without it.

use askama::Template;

use crate::error::ReportError;
use crate::markup::escape_markup;
use crate::plot::Plot;

mod map;

pub use map::{Coloring, ItemMap, MapLayout, Near};

pub(crate) const STYLE: &str = include_str!("../templates/matrix.css");
pub(crate) const SCRIPT: &str = include_str!("../templates/matrix.js");

/// Bytes of a text in a list.
const LISTED: usize = 240;

/// Everything a page shows of a factored matrix in addition to its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixPage {
    /// What it cost and what came of it, in a sentence or two.
    pub lead: String,
    pub tiles: Vec<Tile>,
    /// Map of the items, where they can be drawn.
    pub map: Option<ItemMap>,
    pub chapters: Vec<Chapter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    pub label: String,
    pub value: String,
    /// Its bounds or conditions, in a few words.
    pub note: String,
}

/// A heading with plots and lists below it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chapter {
    /// Anchor, unique on the page.
    pub id: String,
    pub title: String,
    /// One or two sentences for the reader; what stands between backticks is code.
    pub caption: String,
    pub plots: Vec<Plot>,
    /// Counts of true against predicted labels.
    pub confusion: Option<Confusion>,
    pub listings: Vec<Listing>,
}

/// A table whose cells may name items of the map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    pub heading: String,
    pub head: Vec<String>,
    /// Lines; each as long as the head.
    pub lines: Vec<Vec<Listed>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Listed {
    Text(String),
    /// A number as it is printed, and by which it is sorted.
    Number(String, f64),
    /// An item: id, text, and its place on the map where it is drawn.
    Item {
        id: String,
        text: String,
        /// Its place among the drawn items.
        place: Option<usize>,
    },
    /// A similarity: exact where it was evaluated, else estimated.
    Score {
        value: f64,
        is_exact: bool,
    },
}

/// Confusion matrix: how many items of a label were predicted to be of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    /// Labels, of rows and columns alike.
    pub names: Vec<String>,
    /// `counts[a][b]`: items of label a that were predicted b.
    pub counts: Vec<Vec<u64>>,
}

#[derive(Template)]
#[template(path = "matrix.html")]
struct Part<'a> {
    name: &'a str,
    page: &'a MatrixPage,
    map: Option<MapView<'a>>,
    chapters: Vec<ChapterView<'a>>,
}

struct MapView<'a> {
    map: &'a ItemMap,
    data: String,
    points: String,
}

struct ChapterView<'a> {
    chapter: &'a Chapter,
    plots: Vec<String>,
}

/// The part as HTML; `name` keeps the anchors of several configurations apart, and `draw` draws a plot.
pub(crate) fn render(
    name: &str,
    page: &MatrixPage,
    draw: fn(&Plot) -> Result<String, ReportError>,
) -> Result<String, ReportError> {
    let map = page.map.as_ref().map(|map| MapView { map, data: map.data(), points: map.points() });
    let chapters = page.chapters.iter().map(|chapter| -> Result<_, ReportError> {
        Ok(ChapterView { chapter, plots: chapter.plots.iter().map(draw).collect::<Result<_, _>>()? })
    });
    Ok(Part { name, page, map, chapters: chapters.collect::<Result<_, _>>()? }.render()?)
}

impl Tile {
    pub fn new(label: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into(), note: note.into() }
    }
}

impl Chapter {
    /// A heading with a caption, and nothing below it yet.
    pub fn new(id: &str, title: &str, caption: impl Into<String>) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), caption: caption.into(), ..Self::default() }
    }

    /// With a list below it.
    #[must_use]
    pub fn listing(mut self, heading: &str, head: &[&str], lines: Vec<Vec<Listed>>) -> Self {
        let head = head.iter().map(|&text| text.to_owned()).collect();
        self.listings.push(Listing { heading: heading.to_owned(), head, lines });
        self
    }
}

impl MatrixPage {
    /// Anchor and title of each part, for the list of contents.
    pub(crate) fn contents(&self) -> Vec<(&str, &str)> {
        let map = self.map.iter().map(|_| ("map", "Map of the items"));
        map.chain(self.chapters.iter().map(|chapter| (chapter.id.as_str(), chapter.title.as_str()))).collect()
    }
}

impl Listed {
    pub fn number(value: f64, decimals: usize) -> Self {
        Self::Number(format!("{value:.decimals$}").replace('-', "−"), value)
    }

    fn sort(&self) -> Option<f64> {
        match self {
            Self::Number(_, value) | Self::Score { value, .. } => Some(*value),
            Self::Text(_) | Self::Item { .. } => None,
        }
    }

    fn html(&self) -> String {
        match self {
            Self::Text(text) | Self::Number(text, _) => escape_markup(text),
            Self::Score { value, is_exact } => score(*value, *is_exact),
            Self::Item { id, text, place } => {
                let words = if text.is_empty() { String::new() } else { escape_markup(&cut(text, LISTED)) };
                let id = escape_markup(&cut(id, LISTED));
                match place {
                    Some(place) => format!(
                        "<button type=\"button\" class=\"go\" data-item=\"{place}\"><b>{id}</b> {words}</button>"
                    ),
                    None => format!("<span class=\"item\"><b>{id}</b> {words}</span>"),
                }
            }
        }
    }
}

/// A similarity as it is printed everywhere on the page.
fn score(value: f64, is_exact: bool) -> String {
    let text = format!("{value:.3}").replace('-', "−");
    match is_exact {
        true => format!("<span class=\"exact\" title=\"evaluated\">{text}</span>"),
        false => format!("<span class=\"estimated\" title=\"estimated by the factors\">≈ {text}</span>"),
    }
}

/// A cell of a confusion matrix as it is drawn.
struct ConfusionCell {
    count: u64,
    /// Share of the items of its row, from 0 to 1.
    share: String,
    is_right: bool,
}

impl Confusion {
    /// Label and cells of each row.
    fn lines(&self) -> Vec<(&str, Vec<ConfusionCell>)> {
        let line = |(row, counts): (usize, &Vec<u64>)| {
            let all = counts.iter().sum::<u64>().max(1) as f64;
            let cell = |(column, &count): (usize, &u64)| ConfusionCell {
                count,
                share: format!("{:.2}", count as f64 / all),
                is_right: row == column,
            };
            (self.names[row].as_str(), counts.iter().enumerate().map(cell).collect())
        };
        self.counts.iter().enumerate().map(line).collect()
    }
}

/// A text of at most `bytes` bytes, cut at a character, with a sign that it was cut.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", text[..end].trim_end())
}

#[cfg(test)]
mod tests;

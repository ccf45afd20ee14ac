//! A table as data: what a [`TableSpec`] comes to, before anyone decides how it is written.

use crate::amounts;
use crate::error::ReportError;
use crate::groups::comparison_words;
use crate::input::ReportInput;
use crate::spec::{TableKind, TableSpec};
use crate::verdict::Verdict;

mod comparison;
mod entries;
mod grid;
mod paired;

/// A finished table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) caption: String,
    /// Parts with a head of their own: one per dataset, as a rule.
    pub(super) blocks: Vec<Block>,
    /// Numbered from 1 in the cells that point to them.
    pub(super) footnotes: Vec<String>,
}

impl Block {
    /// `12 published numbers were not run`; nothing where all were.
    pub(super) fn folded_words(&self) -> Option<String> {
        match self.folded.len() {
            0 => None,
            1 => Some("1 published number was not run".to_owned()),
            n => Some(format!("{n} published numbers were not run")),
        }
    }
}

/// A part of a table.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// `twitter, at equal rank`; empty when the table has one part.
    pub(super) heading: String,
    pub(super) head: Vec<Head>,
    pub(super) lines: Vec<Vec<Cell>>,
    /// Lines of published numbers that nothing of this run stands next to: folded away.
    pub(super) folded: Vec<Vec<Cell>>,
}

/// The head of a column.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) text: String,
    pub(super) figures: bool,
}

/// One cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Number it sorts by, when the text is not it.
    pub(super) sort: Option<f64>,
    pub(super) mark: Mark,
    /// Footnotes it points to.
    pub(super) notes: Vec<usize>,
    /// The comparison with the paper that it shows.
    pub(super) verdict: Option<Verdict>,
}

/// Emphasis of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mark {
    #[default]
    None,
    Best,
    /// Verdicts.
    Good,
    Bad,
    Even,
    /// Of no weight: nothing to compare.
    Faint,
}

impl Head {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: false }
    }

    pub(super) fn figures(text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: true }
    }
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(super) fn number(text: impl Into<String>, value: f64) -> Self {
        Self { text: text.into(), sort: Some(value), ..Self::default() }
    }

    pub(super) fn count(value: u64) -> Self {
        Self::number(amounts::count(value), value as f64)
    }

    pub(super) fn none() -> Self {
        Self { text: "–".into(), mark: Mark::Faint, ..Self::default() }
    }

    pub(super) fn marked(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }
}

/// Collects footnotes, each once.
#[derive(Debug, Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    /// The number of this footnote, from 1.
    fn number(&mut self, text: &str) -> usize {
        match self.0.iter().position(|known| known == text) {
            Some(index) => index + 1,
            None => {
                self.0.push(text.to_string());
                self.0.len()
            }
        }
    }
}

impl Table {
    /// Builds what the spec describes.
    pub(super) fn build(spec: &TableSpec, input: &ReportInput<'_>) -> Result<Self, ReportError> {
        let mut footnotes = Footnotes::default();
        let blocks = match &spec.kind {
            TableKind::Comparison { select, reference } => {
                comparison::blocks(input, select, reference.as_deref(), &mut footnotes)?
            }
            TableKind::Grid { select, across } => grid::blocks(input, select, across, &mut footnotes)?,
            TableKind::Entries { select } => entries::blocks(input, select)?,
            TableKind::Paired { select, across, ours, baselines } => {
                paired::blocks(input, select, across, ours, baselines)?
            }
            TableKind::Plain { head, lines, figures } => vec![plain(&spec.id, head, lines, figures)?],
        };
        Ok(Self {
            id: spec.id.clone(),
            title: spec.title.clone(),
            caption: spec.caption.clone(),
            blocks,
            footnotes: footnotes.0,
        })
    }
}

fn plain(id: &str, head: &[String], lines: &[Vec<String>], figures: &[usize]) -> Result<Block, ReportError> {
    if let Some((index, line)) = lines.iter().enumerate().find(|(_, line)| line.len() != head.len()) {
        return Err(ReportError::Ragged {
            table: id.to_string(),
            line: index + 1,
            seen: line.len(),
            wanted: head.len(),
        });
    }
    let cell = |(column, text): (usize, &String)| match (figures.contains(&column), number_in(text)) {
        (true, Some(value)) => Cell::number(text, value),
        _ => Cell::text(text),
    };
    Ok(Block {
        heading: String::new(),
        head: head
            .iter()
            .enumerate()
            .map(|(column, text)| Head { text: text.clone(), figures: figures.contains(&column) })
            .collect(),
        lines: lines.iter().map(|line| line.iter().enumerate().map(cell).collect()).collect(),
        folded: Vec::new(),
    })
}

/// The number a text starts with, for sorting: `1,204 s` → 1204.
fn number_in(text: &str) -> Option<f64> {
    let plain: String = text.replace('−', "-").chars().filter(|c| *c != ',').collect();
    let end = plain.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e'))).unwrap_or(plain.len());
    plain[..end].parse().ok()
}

/// The heading of a part: dataset and comparison.
fn heading(dataset: &str, comparison: &str) -> String {
    match comparison_words(comparison) {
        words if words.is_empty() => dataset.to_string(),
        words => format!("{dataset}, {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_wrong_length_is_refused_by_number() {
        let head = ["a".to_string(), "b".to_string()];
        let error = plain("table1", &head, &[vec!["1".into(), "2".into()], vec!["3".into()]], &[]).unwrap_err();
        assert_eq!(error.to_string(), "table `table1`, line 2: 1 cells for 2 columns");
    }

    #[test]
    fn figures_in_given_text_sort_by_value() {
        assert_eq!(number_in("1,204 s"), Some(1204.0));
        assert_eq!(number_in("−0.5 ± 0.1"), Some(-0.5));
        assert_eq!(number_in("twitter"), None);
    }
}

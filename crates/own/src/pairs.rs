//! `landmark pairs`: K̃ at listed pairs, the score itself on demand, and how well either agrees with the values of a column.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use landmark_core::oracle::Pair;
use landmark_harness::config::{Budget, MatrixSubject, TextsFormat};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::run::{self, Ended};
use landmark_harness::table_file::{TableError, TableFile};
use landmark_report::amounts::counted;
use landmark_report::columns::Column;
use landmark_tasks::metrics::{pearson, spearman};
use miette::Result;

use crate::named::{NEIGHBOR, Named};
use crate::neighbors::scored_in_words;
use crate::own::{Own, ended, refused};

/// Table of the answer.
const LISTED: &str = "listed.tsv";
/// Pairs asked of the oracle at a time: what a budget cuts off is no more than that.
const PAIRS_AT_A_TIME: usize = 256;

/// A list of pairs, and what is asked of them.
#[derive(Debug, Clone)]
pub struct ListedPairs {
    pub file: PathBuf,
    /// The column of the first item, its id or its text; `first` where absent, or `id` in a table of neighbors.
    pub first: Option<String>,
    /// The column of the second; `second` where absent, or that of a table of neighbors.
    pub second: Option<String>,
    /// A column of numbers that is compared with; `score` where absent and there.
    pub against: Option<String>,
    /// Scores the pairs by the oracle itself, too.
    pub rescore: bool,
    /// Maximum number of new calls.
    pub budget: Option<u64>,
}

impl ListedPairs {
    /// The pairs of a file, and nothing else.
    pub(crate) fn of(file: PathBuf) -> Self {
        Self { file, first: None, second: None, against: None, rescore: false, budget: None }
    }
}

/// The pairs of a file.
pub(crate) struct Listed {
    pairs: Vec<Pair>,
    /// The values of the column, one a pair.
    targets: Option<(String, Vec<f64>)>,
}

/// Lists K̃ at the pairs of a file.
pub fn pairs(invocation: &Invocation, wanted: &ListedPairs) -> Result<(String, Ended)> {
    if wanted.budget.is_some() && !wanted.rescore {
        return Err(refused("cannot use `--budget` alone: nothing is evaluated", "add `--evaluate`"));
    }
    let own = Own::open_for_table(invocation)?;
    let Listed { pairs, targets } =
        Listed::read(own.named(), own.factors.info.items, &own.config.run.name, wanted, true)?;
    let estimates: Vec<f64> = pairs.iter().map(|&(i, j)| own.vectors().score(i, j)).collect();
    let (scores, evaluated) = if wanted.rescore { own.scores_of(&pairs, wanted.budget)? } else { (Vec::new(), 0) };
    let mut columns = vec![
        Column::text("first", pairs.iter().map(|&(i, _)| Some(own.id(i)))),
        Column::text("second", pairs.iter().map(|&(_, j)| Some(own.id(j)))),
        Column::number("estimate", estimates.iter().copied().map(Some)),
    ];
    if wanted.rescore {
        let score = |at: usize| scores.get(at).copied();
        columns.push(Column::number("score", (0..pairs.len()).map(score)));
    }
    if let Some((_, values)) = &targets {
        columns.push(Column::number("against", values.iter().copied().map(Some)));
    }
    let path = own.write(LISTED, columns)?;
    let mut text = String::new();
    own.options.record.fact("pairs", pairs.len());
    own.options.record.fact("scored", scores.len());
    own.options.record.fact("calls", evaluated);
    if wanted.rescore {
        text += &scored_in_words(scores.len() as u64, pairs.len() as u64, evaluated);
        text += &agreement("the factors with the score", &estimates, &scores);
    }
    if let Some((name, values)) = &targets {
        text += &agreement(&format!("the factors with `{name}`"), &estimates, values);
        if wanted.rescore {
            text += &agreement(&format!("the score with `{name}`"), &scores, values);
        }
    }
    text += &format!("{}: `{}`\n", counted(pairs.len() as u64, "pair"), path.display());
    Ok((text, ended(wanted.rescore && scores.len() < pairs.len())))
}

/// Correlations of as many as there are of both.
fn agreement(what: &str, one: &[f64], other: &[f64]) -> String {
    let both = one.len().min(other.len());
    let (one, other) = (&one[..both], &other[..both]);
    match (pearson(one, other), spearman(one, other)) {
        (Ok(linear), Ok(ranks)) => format!("{what}: Pearson {linear:.3}, Spearman {ranks:.3}\n"),
        (Err(error), _) | (_, Err(error)) => format!("{what}: no correlation, {error}\n"),
    }
}

impl Listed {
    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Reads the pairs of `items` items, which errors call those of `run`, and a column of numbers if `has_numbers`.
    pub(crate) fn read(
        named: Named<'_>,
        items: usize,
        run: &str,
        wanted: &ListedPairs,
        has_numbers: bool,
    ) -> Result<Self> {
        let ListedPairs { file, first, second, against, .. } = wanted;
        let layout = TextsFormat::of(file).filter(|layout| !matches!(layout, TextsFormat::Txt | TextsFormat::Folder));
        let layout = layout.ok_or_else(|| {
            let message = format!("cannot tell the format of `{}` from its extension", file.display());
            refused(message, "use .tsv, .csv, .jsonl or .parquet")
        })?;
        let table = TableFile { path: file, layout, delimiter: None };
        let head = table.head().map_err(UsageError::of)?;
        let has = |name: &str| head.iter().any(|column| column == name);
        // a table of two lists, of `topk`, or of pairs
        let names = match named.left() {
            Some(_) if has("left") && has("right") => ("left", "right"),
            None if has(NEIGHBOR) && !has("first") => ("id", NEIGHBOR),
            _ => ("first", "second"),
        };
        let (first, second) = (first.as_deref().unwrap_or(names.0), second.as_deref().unwrap_or(names.1));
        let against = against.clone().or_else(|| (has_numbers && has("score")).then(|| "score".to_owned()));
        let mut columns = vec![first, second];
        columns.extend(against.as_deref());
        let read = table.read(&columns).map_err(|error| {
            let TableError::Column { column, .. } = &error else { return UsageError::of(error) };
            let flags = [(first, "--first"), (second, "--second")];
            let flag = flags.iter().find(|(name, _)| *name == column).map_or("--against", |(_, flag)| *flag);
            UsageError::new(error.to_string(), Some(format!("use `{flag} COLUMN`")))
        })?;
        let ids: Vec<String> = (0..items).map(|item| named.id(item)).collect();
        let among = |range: Range<usize>| {
            let mut item_of: HashMap<&str, usize> = HashMap::new();
            // an id wins over a text that reads the same
            if let Some(items) = named.0 {
                for item in range.clone() {
                    item_of.entry(&items.texts[item]).or_insert(item);
                }
            }
            item_of.extend(range.map(|item| (ids[item].as_str(), item)));
            item_of
        };
        let item_of = match named.left() {
            Some(left) => vec![among(0..left), among(left..items)],
            None => vec![among(0..items)],
        };
        let mut pairs = Vec::with_capacity(read.rows.len());
        let mut values = Vec::new();
        for (at, &row) in read.rows.iter().enumerate() {
            let item = |column: usize| {
                let name = read.columns[column][at].as_deref().unwrap_or_default();
                item_of[column.min(item_of.len() - 1)].get(name).copied().ok_or_else(|| {
                    let of = ["the left list of ", "the right list of "].get(column).filter(|_| item_of.len() > 1);
                    let (file, of) = (file.display(), of.copied().unwrap_or_default());
                    let message = format!("`{file}` row {row}: `{name}` is no item of {of}`{run}`");
                    refused(message, "write ids, or texts as the items have them")
                })
            };
            pairs.push((item(0)?, item(1)?));
            if let Some(column) = &against {
                let cell = read.columns[2][at].as_deref().unwrap_or_default();
                let value = cell.trim().parse::<f64>().ok().filter(|value| value.is_finite());
                values.push(value.ok_or_else(|| {
                    let message = format!("`{}` row {row}: `{column}` is `{cell}`", file.display());
                    refused(message, "write a number, or name another column: `--against COLUMN`")
                })?);
            }
        }
        if pairs.is_empty() {
            return Err(refused(format!("`{}` has no pairs", file.display()), "write one a row"));
        }
        Ok(Self { pairs, targets: against.map(|column| (column, values)) })
    }
}

impl Own {
    /// The oracle's scores of the first pairs that a budget pays for, and the calls made now.
    pub(crate) fn scores_of(&self, pairs: &[Pair], budget: Option<u64>) -> Result<(Vec<f64>, u64)> {
        let budget = Budget { calls: budget, ..Budget::default() };
        let matrix = MatrixSubject { budget, ..self.matrix.clone() };
        run::with_sweep(&self.config, &matrix, &self.options, |context| {
            if let Err(report) = self.check_oracle(&context) {
                return Ok(Err(report));
            }
            let oracle = context.similarities(self.factors.info.gamma)?;
            let mut scores = Vec::with_capacity(pairs.len());
            for chunk in pairs.chunks(PAIRS_AT_A_TIME) {
                let mut of_chunk = vec![0.0; chunk.len()];
                match oracle.evaluate(chunk, &mut of_chunk) {
                    Ok(()) => scores.extend(of_chunk),
                    Err(error) if error.is_exhausted() => break,
                    Err(error) => return Err(error.into()),
                }
            }
            context.metered.flush()?;
            Ok(Ok((scores, context.metered.spent().evaluations)))
        })?
    }
}

//! The paper's numbers as data: `experiments/<paper>/reference.yaml`.
//!
//! Tables are written as the paper prints them, so that a reader can check them line by line: a cell is the text `72.5 ± 0.5` or
//! `0.1738 @ 250` (value ± standard deviation @ rank), and the number of printed decimals shows how far rounding may have moved it.

use std::fs;
use std::path::{Path, PathBuf};

use landmark_yaml::{ConfigError, Problems, Sources, parse};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::results::Metric;

#[derive(Debug, Clone)]
pub struct Reference {
    pub paper: String,
    pub values: Vec<ReferenceValue>,
    /// Published statements that are not cells of a table.
    pub facts: Vec<Fact>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceValue {
    /// Table of the paper: `table2`.
    pub table: String,
    /// Our id of the dataset.
    pub dataset: String,
    /// Our id of the method.
    pub method: String,
    /// Comparison it belongs to (`small_rank`), where the paper has more than one.
    pub comparison: Option<String>,
    /// The rank it was measured at, where the paper states it.
    pub rank: Option<u64>,
    pub metric: Metric,
    /// The number in the metric's own unit (accuracies as fractions).
    pub value: f64,
    /// Its published standard deviation, in the same unit.
    pub sd: Option<f64>,
    /// Half of the last printed digit: how far rounding may have moved it.
    pub rounding: f64,
    /// Why it cannot be held against any run, even one of the full size.
    pub not_comparable: Option<String>,
}

/// A published statement that can be checked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Place in the paper: `figure 3`.
    pub place: String,
    pub says: String,
}

impl Reference {
    /// Reads `experiments/<paper>/reference.yaml`.
    pub fn read(path: &Path) -> Result<Self, ReferenceError> {
        let text =
            fs::read_to_string(path).map_err(|source| ReferenceError::Read { path: path.to_path_buf(), source })?;
        let file: File = read_yaml(&path.display().to_string(), &text, "reference")?;
        let mut values = Vec::new();
        for table in &file.tables {
            for row in &table.rows {
                values.extend(table.values_of(row).map_err(|error| error.at(path, &table.id))?);
            }
        }
        Ok(Self { paper: file.paper, values, facts: file.facts })
    }

    /// The numbers of a paper for a configuration: `experiments/<paper>/reference.yaml` in the working directory, or next to or above the
    /// configuration's folder.
    pub fn find(paper: &str, config: &Path) -> Result<Option<Self>, ReferenceError> {
        file_of_paper(paper, "reference.yaml", config).map(|path| Self::read(&path)).transpose()
    }

    pub fn table(&self, id: &str) -> impl Iterator<Item = &ReferenceValue> {
        self.values.iter().filter(move |value| value.table == id)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    paper: String,
    tables: Vec<Table>,
    #[serde(default)]
    facts: Vec<Fact>,
}

/// The file of a paper: in the working directory, or next to or above the folder of a configuration.
pub(crate) fn file_of_paper(paper: &str, name: &str, config: &Path) -> Option<PathBuf> {
    let inside = Path::new("experiments").join(paper).join(name);
    let above = config.ancestors().skip(1).map(|folder| folder.join(&inside));
    std::iter::once(inside.clone()).chain(above).find(|path| path.is_file())
}

/// The content of a YAML file whose keys begin with `root` in messages.
pub(crate) fn read_yaml<T: DeserializeOwned>(name: &str, text: &str, root: &str) -> Result<T, ConfigError> {
    let (mut sources, problems) = (Sources::default(), Problems::default());
    let parsed = problems.keep(parse(text, sources.add(name, text)));
    match parsed.and_then(|parsed| problems.read(&parsed, root)) {
        Some(file) if problems.is_empty() => Ok(file),
        _ => Err(ConfigError::new(name, &sources, problems.into_vec())),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    id: String,
    #[serde(rename = "title")]
    _title: String,
    #[serde(default)]
    metric: Option<Metric>,
    #[serde(default)]
    unit: Unit,
    columns: Vec<ColumnHead>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnHead {
    dataset: String,
    #[serde(default)]
    comparison: Option<String>,
    #[serde(default)]
    metric: Option<Metric>,
    #[serde(default)]
    not_comparable: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    method: String,
    #[serde(default)]
    comparison: Option<String>,
    #[serde(default)]
    metric: Option<Metric>,
    #[serde(default)]
    not_comparable: Option<String>,
    cells: Vec<String>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Unit {
    #[default]
    Plain,
    /// Printed as per cent, kept as a fraction.
    Percent,
}

struct RowError {
    row: String,
    column: String,
    seen: String,
}

impl RowError {
    fn at(self, path: &Path, table: &str) -> ReferenceError {
        let Self { row, column, seen } = self;
        ReferenceError::Cell { path: path.to_path_buf(), table: table.to_string(), row, column, seen }
    }
}

impl Table {
    fn values_of(&self, row: &Row) -> Result<Vec<ReferenceValue>, RowError> {
        let complain =
            |column: &str, seen: String| RowError { row: row.method.clone(), column: column.to_string(), seen };
        if row.cells.len() != self.columns.len() {
            return Err(complain("all", format!("{} cells for {} columns", row.cells.len(), self.columns.len())));
        }
        let filled = self.columns.iter().zip(&row.cells).filter(|(_, cell)| cell.trim() != "–");
        let value = |(column, text): (&ColumnHead, &String)| {
            let metric = column.metric.or(row.metric).or(self.metric);
            let metric = metric.ok_or_else(|| complain(&column.dataset, "no `metric`".to_string()))?;
            let cell = Cell::parse(text).ok_or_else(|| complain(&column.dataset, format!("`{text}`")))?;
            let scale = match self.unit {
                Unit::Plain => 1.0,
                Unit::Percent => 0.01,
            };
            Ok(ReferenceValue {
                table: self.id.clone(),
                dataset: column.dataset.clone(),
                method: row.method.clone(),
                comparison: row.comparison.clone().or_else(|| column.comparison.clone()),
                rank: cell.rank,
                metric,
                value: cell.value * scale,
                sd: cell.sd.map(|sd| sd * scale),
                rounding: cell.rounding * scale,
                not_comparable: row.not_comparable.clone().or_else(|| column.not_comparable.clone()),
            })
        };
        filled.map(value).collect()
    }
}

#[derive(Debug, PartialEq)]
struct Cell {
    value: f64,
    sd: Option<f64>,
    rank: Option<u64>,
    rounding: f64,
}

impl Cell {
    /// `value [± sd] [@ rank]`.
    fn parse(text: &str) -> Option<Self> {
        let (rest, rank) = match text.split_once('@') {
            Some((rest, rank)) => (rest, Some(rank.trim().parse().ok()?)),
            None => (text, None),
        };
        let (value, sd) = match rest.split_once('±') {
            Some((value, sd)) => (value, Some(sd.trim().parse().ok()?)),
            None => (rest, None),
        };
        let value = value.trim();
        let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let rounding = 0.5 * 10f64.powi(-i32::try_from(decimals).ok()?);
        Some(Self { value: value.parse().ok()?, sd, rank, rounding })
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    #[error("could not read `{}`: {source}; check `paper:` in the configuration", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}", .0.lines())]
    Schema(#[from] ConfigError),
    #[error("`{}`: `{table}`, row `{row}`, column `{column}`: {seen}, but a cell is `value [± sd] [@ rank]` or `–`", path.display())]
    Cell { path: PathBuf, table: String, row: String, column: String, seen: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_reads_as_printed() {
        let whole = Cell { value: 75.61, sd: Some(1.3), rank: Some(250), rounding: 0.005 };
        assert_eq!(Cell::parse("75.61 ± 1.3 @ 250"), Some(whole));
        assert_eq!(Cell::parse("2176"), Some(Cell { value: 2176.0, sd: None, rank: None, rounding: 0.5 }));
        assert_eq!(Cell::parse("about 3"), None);
        assert_eq!(Cell::parse("1 @ many"), None);
    }

    #[test]
    fn the_papers_numbers_read_as_printed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/sms-nystrom/reference.yaml");
        let reference = Reference::read(&path).unwrap();
        let find = |table, dataset: &str, method: &str, comparison: Option<&str>| {
            let is_it = |value: &&ReferenceValue| {
                value.dataset == dataset && value.method == method && value.comparison.as_deref() == comparison
            };
            let value = reference.table(table).find(is_it).unwrap();
            (value.value, value.sd)
        };
        assert_eq!(find("table2", "twitter", "sms_nystrom", Some("small_rank")), (75.3 * 0.01, Some(1.3 * 0.01)));
        assert_eq!(find("table2", "20news", "exact", None), (89.37 * 0.01, None));
        assert_eq!(find("table7", "ohsumed", "stacur", Some("large_rank")), (2489.0, None));
        assert_eq!(find("figure4_error", "ecbplus", "skeleton", Some("fraction_0.2")), (77728.0, None));
        let counts = [1, 2, 3, 4, 5, 6, 7].map(|number| reference.table(&format!("table{number}")).count());
        assert_eq!(counts, [20, 44, 44, 6, 33, 16, 32]);
    }

    fn read(text: &str) -> Result<Reference, ReferenceError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reference.yaml");
        fs::write(&path, text).unwrap();
        Reference::read(&path)
    }

    const TABLE: &str = "
paper: Somebody (1999)
tables:
  - id: table9
    title: Made up
    metric: accuracy
    unit: percent
    columns: [{ dataset: here }, { dataset: there, metric: seconds, not_comparable: other machine }]
    rows:
      - { method: sms_nystrom, comparison: small_rank, cells: [72.5 ± 0.5, –] }
";

    #[test]
    fn percents_become_fractions_and_a_dash_is_no_number() {
        let reference = read(TABLE).unwrap();
        let values: Vec<_> = reference.table("table9").collect();
        assert_eq!(values.len(), 1);
        assert_eq!((values[0].value, values[0].sd), (0.725, Some(0.005)));
        assert_eq!(values[0].comparison.as_deref(), Some("small_rank"));
    }

    #[test]
    fn a_bad_cell_is_named_by_table_row_and_column() {
        let error = read(&TABLE.replace("–]", "soon]")).unwrap_err().to_string();
        assert!(error.contains("`table9`, row `sms_nystrom`, column `there`: `soon`"), "{error}");
        let error = read(&TABLE.replace(", –]", "]")).unwrap_err().to_string();
        assert!(error.contains("1 cells for 2 columns"), "{error}");
    }

    #[test]
    fn an_unknown_metric_and_key_are_named_with_their_lines() {
        let text = TABLE.replace("    metric: accuracy", "    unti: percent\n    metric: acuracy");
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains("line 7: `reference.tables[0].metric` is `acuracy`"), "{error}");
        assert!(error.contains("did you mean `accuracy`?"), "{error}");
        assert!(error.contains("line 6: unknown key `unti` in `reference.tables[0]`"), "{error}");
    }
}

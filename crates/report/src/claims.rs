//! Claims of a paper as predicates over published rows: `experiments/<paper>/claims.yaml`.
//!
//! A claim holds, does not hold, or is untested, and then names what is missing. Nobody writes a verdict down: it follows from the rows.

use std::fs;
use std::path::{Path, PathBuf};

use landmark_yaml::ConfigError;
use serde::Deserialize;

use crate::amounts::thousands;
use crate::reference::{file_of_paper, read_yaml};
use crate::results::{Metric, Notation, ResultRow, ResultsError};
use crate::spec::distinct;

mod evaluate;
mod index;
mod markdown;
mod predicate;
mod published;

pub use index::index;
pub(crate) use markdown::claims_sentence;
pub use markdown::claims_table;
pub use published::{Published, PublishedRun, folders_of};

use evaluate::Point;
use predicate::{Axis, Expression, Operator, Predicate, unknown};

/// The claims of one paper, and its tables and figures.
#[derive(Debug, Clone)]
pub struct Claims {
    /// Folder of the paper: `sms-nystrom`.
    pub paper: String,
    pub title: String,
    pub shows: Vec<Exhibit>,
    pub claims: Vec<Claim>,
}

/// A table or figure of the paper, and the runs that show ours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exhibit {
    /// `table 2`.
    pub place: String,
    /// Evidence it shows.
    pub shows: String,
    #[serde(default)]
    pub runs: Vec<String>,
    /// The size that the paper has.
    #[serde(default)]
    pub size: Option<String>,
    /// Remark on the size of ours: why it is smaller, or not there.
    #[serde(default)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Claim {
    pub id: String,
    /// Place in the paper: `figure 3`.
    pub place: String,
    pub says: String,
    /// Names of the runs whose rows decide it.
    pub runs: Vec<String>,
    /// The predicate, as written.
    pub test: Option<String>,
    /// Why it has none.
    pub untested: Option<String>,
    predicate: Option<Predicate>,
    quantifier: Quantifier,
}

/// At how many places a predicate must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Quantifier {
    #[default]
    Every,
    /// At more than half.
    Most,
    /// At one at least.
    Some,
}

/// Names that a predicate may use beyond those of the rows it reads.
#[derive(Debug, Clone, Default)]
pub struct KnownNames {
    /// True where any name goes.
    is_anything: bool,
    pub methods: Vec<String>,
    pub datasets: Vec<String>,
}

impl KnownNames {
    pub fn of(methods: Vec<String>, datasets: Vec<String>) -> Self {
        Self { is_anything: false, methods, datasets }
    }

    /// Any name: one that no row has leaves its claim untested.
    pub fn anything() -> Self {
        Self { is_anything: true, ..Self::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimVerdict {
    Holds,
    DoesNotHold,
    /// Missing runs or rows, in words.
    Untested(String),
}

#[derive(Debug, Clone)]
pub struct JudgedClaim {
    pub id: String,
    pub place: String,
    pub says: String,
    pub verdict: ClaimVerdict,
    /// The numbers that decided it, with their interval.
    pub numbers: String,
    /// Size of the runs.
    pub size: String,
}

impl ClaimVerdict {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Untested(_) => "untested",
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimsError {
    #[error("could not read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}", .0.lines())]
    Yaml(#[from] ConfigError),
    /// A predicate that can't be read, or a name that nobody has.
    #[error("`{}`, claim `{claim}`: {fault}", path.display())]
    Claim {
        path: PathBuf,
        claim: String,
        /// The fault, in words.
        fault: String,
    },
    #[error(transparent)]
    Results(#[from] ResultsError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    shows: Vec<Exhibit>,
    claims: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    place: String,
    says: String,
    #[serde(default)]
    runs: Vec<String>,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    at: Quantifier,
    #[serde(default)]
    untested: Option<String>,
}

impl Claims {
    /// Reads `experiments/<paper>/claims.yaml`.
    pub fn read(path: &Path) -> Result<Self, ClaimsError> {
        let text = fs::read_to_string(path).map_err(|source| ClaimsError::Read { path: path.to_path_buf(), source })?;
        let file: File = read_yaml(&path.display().to_string(), &text, "claims")?;
        let fail = |claim: &str, fault: String| ClaimsError::Claim {
            path: path.to_path_buf(),
            claim: claim.to_owned(),
            fault,
        };
        let mut claims: Vec<Claim> = Vec::new();
        for written in file.claims {
            let Written { id, place, says, runs, test, at, untested } = written;
            if claims.iter().any(|known| known.id == id) {
                return Err(fail(&id, "another claim has this id".to_owned()));
            }
            if test.is_some() == untested.is_some() {
                return Err(fail(&id, "give either `test` or `untested`, and why".to_owned()));
            }
            if test.is_some() && runs.is_empty() {
                return Err(fail(&id, "`runs` is missing: whose rows decide it?".to_owned()));
            }
            let predicate = test.as_deref().map(Predicate::parse).transpose();
            let predicate = predicate.map_err(|fault| fail(&id, fault))?;
            claims.push(Claim { id, place, says, runs, test, untested, predicate, quantifier: at });
        }
        let paper = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        Ok(Self { paper: paper.unwrap_or_default(), title: file.title, shows: file.shows, claims })
    }

    /// The claims of a paper for a configuration, looked for as its reference numbers are.
    pub fn find(paper: &str, config: &Path) -> Result<Option<Self>, ClaimsError> {
        file_of_paper(paper, "claims.yaml", config).map(|path| Self::read(&path)).transpose()
    }

    /// Every run that decides a claim that this run has a part in, or any claim.
    pub fn runs_with(&self, of: Option<&str>) -> Vec<&str> {
        let has_part = |claim: &&Claim| of.is_none_or(|run| claim.runs.iter().any(|name| name == run));
        self.claims.iter().filter(has_part).flat_map(|claim| &claim.runs).map(String::as_str).collect()
    }

    /// Every run that a claim or an exhibit names, each once.
    pub fn runs(&self) -> Vec<&str> {
        let all = self.claims.iter().flat_map(|claim| &claim.runs).chain(self.shows.iter().flat_map(|show| &show.runs));
        distinct(all.map(String::as_str))
    }

    /// Verdicts of the claims that a run has a part in, or of all where it is `None`.
    pub fn judge(
        &self,
        of: Option<&str>,
        published: &Published,
        known: &KnownNames,
    ) -> Result<Vec<JudgedClaim>, ClaimsError> {
        let claims = self.claims.iter().filter(|claim| of.is_none_or(|run| claim.runs.iter().any(|name| name == run)));
        let judge = |claim: &Claim| {
            claim.judge(published, known).map_err(|fault| ClaimsError::Claim {
                path: Path::new("experiments").join(&self.paper).join("claims.yaml"),
                claim: claim.id.clone(),
                fault,
            })
        };
        claims.map(judge).collect()
    }
}

impl Claim {
    fn judge(&self, published: &Published, known: &KnownNames) -> Result<JudgedClaim, String> {
        let judged = |verdict, numbers, size| JudgedClaim {
            id: self.id.clone(),
            place: self.place.clone(),
            says: self.says.clone(),
            verdict,
            numbers,
            size,
        };
        let untested = |why: String| judged(ClaimVerdict::Untested(why), String::new(), String::new());
        let Some(predicate) = &self.predicate else {
            return Ok(untested(self.untested.clone().unwrap_or_default()));
        };
        let missing: Vec<&str> =
            self.runs.iter().map(String::as_str).filter(|name| published.run(name).is_none()).collect();
        let missing = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        // the largest runs decide; where they lack a row (a few replicates of a large run may), the next ones
        let depth = self.runs.iter().map(|name| published.runs_of(name).len()).max().unwrap_or(0);
        let mut first_fault = None;
        let all = self.runs.iter().flat_map(|name| published.runs_of(name));
        let all: Vec<_> = all.flat_map(|run| run.rows.iter().map(|row| (run.name.as_str(), row))).collect();
        // what a run names is not known before there is one
        if !all.is_empty() {
            check_names(predicate, &all, known)?;
        }
        for level in 0..depth {
            let at_level = |name: &String| {
                let runs = published.runs_of(name);
                runs.get(level.min(runs.len().saturating_sub(1)))
            };
            let runs: Vec<&PublishedRun> = self.runs.iter().filter_map(at_level).collect();
            let rows: Vec<(&str, &ResultRow)> =
                runs.iter().flat_map(|run| run.rows.iter().map(|row| (run.name.as_str(), row))).collect();
            let mut size = runs.iter().map(|run| run.words()).collect::<Vec<_>>();
            size.dedup();
            if !missing.is_empty() {
                size.push(format!("without {missing}"));
            }
            match evaluate::points(predicate, &rows) {
                Err(why) => {
                    first_fault.get_or_insert(format!("{why} in {}", size.join("; ")));
                }
                Ok(points) => {
                    let (verdict, numbers) = self.verdict(predicate, &points);
                    return Ok(judged(verdict, numbers, size.join("; ")));
                }
            }
        }
        Ok(untested(first_fault.unwrap_or_else(|| format!("no published run of {missing}"))))
    }

    /// The verdict, and the place that decides it: the closest one where it holds, the furthest where it doesn't.
    fn verdict(&self, predicate: &Predicate, points: &[Point]) -> (ClaimVerdict, String) {
        let relation = predicate.relation;
        let satisfied = points.iter().filter(|point| relation.holds(point.margin)).count();
        let holds = match self.quantifier {
            Quantifier::Every => satisfied == points.len(),
            Quantifier::Most => 2 * satisfied > points.len(),
            Quantifier::Some => satisfied > 0,
        };
        let by_margin = |a: &&Point, b: &&Point| a.margin.total_cmp(&b.margin);
        let deciding = match (self.quantifier, holds) {
            (Quantifier::Some, _) => points.iter().max_by(by_margin),
            (_, true) => points.iter().filter(|point| relation.holds(point.margin)).min_by(by_margin),
            (_, false) => points.iter().min_by(by_margin),
        };
        let mut text = match (points.len(), satisfied) {
            (1, _) => String::new(),
            (all, satisfied) => format!("at {satisfied} of {all} places; "),
        };
        if let Some(point) = deciding {
            let show = |value: f64| in_unit(predicate, value);
            text += &format!("{} {} {}", show(point.left), relation.sign(), show(point.right));
            if !relation.holds(point.margin) {
                text += " is false";
            }
            if let Some(half) = point.half {
                text += &format!(", difference {} ± {}", show(point.margin.abs()), show(half));
                if half >= point.margin.abs() {
                    text += " (within the noise)";
                }
            }
            // a number of items is named where the dataset was measured at several
            let is_other_size = |other: &Point| {
                let at = |axis: Axis| other.place.get(&axis) == point.place.get(&axis);
                at(Axis::Dataset) && !at(Axis::Items)
            };
            let is_named = |axis: &Axis| *axis != Axis::Items || points.iter().any(is_other_size);
            let named = point.place.iter().filter(|(axis, _)| is_named(axis));
            let place: Vec<_> = named.map(|(axis, at)| words_of(*axis, at)).filter(|w| !w.is_empty()).collect();
            if points.len() > 1 && !place.is_empty() {
                text += &format!(", {}", place.join(", "));
            }
        }
        (if holds { ClaimVerdict::Holds } else { ClaimVerdict::DoesNotHold }, text)
    }
}

/// `s = 550`, `at equal rank`.
fn words_of(axis: Axis, at: &str) -> String {
    match axis {
        Axis::Columns if at == "0" => String::new(),
        Axis::Columns => format!("s = {at}"),
        Axis::Comparison => crate::groups::comparison_words(at),
        Axis::Position => format!("position {at}"),
        Axis::Dataset | Axis::Method => at.to_owned(),
        Axis::Items => format!("n = {}", thousands(at)),
        Axis::Run => format!("`{at}`"),
        Axis::Rank => format!("rank {at}"),
    }
}

/// A side of a predicate as its metric prints; a ratio or a share has no unit.
fn in_unit(predicate: &Predicate, value: f64) -> String {
    fn is_ratio(expression: &Expression) -> bool {
        match expression {
            Expression::Number(_) | Expression::Rows(_) => false,
            Expression::ShareWithin(..) | Expression::EntryShare(_) => true,
            Expression::Over(_, inner) | Expression::Abs(inner) => is_ratio(inner),
            Expression::Pair(Operator::Over, _, right) => !right.terms().is_empty(),
            Expression::Pair(_, left, right) => is_ratio(left) || is_ratio(right),
        }
    }
    let metric: Option<Metric> = predicate.terms().first().map(|term| term.metric);
    match metric {
        Some(metric) if !is_ratio(&predicate.left) && !is_ratio(&predicate.right) => metric.show(value),
        _ => Notation::Fixed(3).show(value),
    }
}

/// Methods and datasets that nobody has are errors, so that a claim is never untested by a typing error.
fn check_names(predicate: &Predicate, rows: &[(&str, &ResultRow)], known: &KnownNames) -> Result<(), String> {
    if known.is_anything {
        return Ok(());
    }
    let of = |axis: Axis, row: &ResultRow| match axis {
        Axis::Method => vec![row.subject.method.clone(), row.subject.id.clone()],
        _ => vec![row.subject.dataset.clone()],
    };
    for (axis, wanted) in predicate.terms().into_iter().flat_map(|term| &term.axes) {
        let (what, listed) = match axis {
            Axis::Method => ("method", &known.methods),
            Axis::Dataset => ("dataset", &known.datasets),
            _ => continue,
        };
        if wanted == "any" || listed.contains(wanted) || rows.iter().any(|(_, row)| of(*axis, row).contains(wanted)) {
            continue;
        }
        let seen: Vec<String> = rows.iter().flat_map(|(_, row)| of(*axis, row)).collect();
        return Err(unknown(what, wanted, seen.iter().chain(listed).map(String::as_str)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! Hyper-parameter search: grid, random, or tree-structured Parzen estimators.
//!
//! The next point is a pure function of the space, the strategy, the seed and the trials so far. A search that was interrupted continues
//! from its recorded trials exactly as if it had not been. Failures are trials too: they are recorded, never the best, and TPE
//! keeps away from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use landmark_core::stream::stream;

mod grid;
mod parzen;
mod space;

use grid::Grid;
pub use space::{Dimension, Point, Space, Value};

/// Strategy by which points are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Strategy {
    /// Every combination; a dimension that is no list is cut into `points` values.
    Grid {
        /// Values of a dimension that is no list.
        points: usize,
    },
    /// Independent draws.
    Random {
        /// Number of points in all.
        trials: usize,
    },
    /// `startup` independent draws, then Parzen estimators.
    Tpe {
        /// Number of points in all.
        trials: usize,
        /// Number of them that are independent draws.
        startup: usize,
    },
}

/// Direction in which the objective gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// An error.
    Minimize,
    Maximize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub point: Point,
    pub outcome: TrialOutcome,
}

/// Outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    Value(f64),
    Failed(String),
}

/// Why a search cannot continue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    #[error("the search space has no dimension: name at least one")]
    EmptySpace,
    #[error("dimension `{name}`: {problem}")]
    Dimension { name: String, problem: String },
    #[error("`{parameter}` of the strategy is 0, but must be at least 1")]
    Strategy { parameter: &'static str },
    #[error("the grid of {dimensions} dimensions has more combinations than can be numbered: give them fewer values")]
    LargeGrid { dimensions: usize },
    #[error("the point has no {kind} `{name}`")]
    NoSuchValue { name: String, kind: &'static str },
    #[error("all {trials} trials failed; the last one: {last}")]
    AllFailed { trials: usize, last: String },
}

/// A search in progress.
///
/// ```
/// use landmark_tasks::search::{Dimension, Direction, Search, Space, Strategy};
/// let space = Space::from([("gamma".to_string(), Dimension::LogUniform { low: 1e-3, high: 10.0 })]);
/// let mut search = Search::new(space, Strategy::Tpe { trials: 40, startup: 10 }, Direction::Maximize, 2022)?;
/// let best = search.run(|point| Ok::<_, landmark_tasks::search::SearchError>(-(point.float("gamma")?.ln()).powi(2)))?;
/// assert!((best.point.float("gamma")? - 1.0).abs() < 0.5);
/// # Ok::<(), landmark_tasks::search::SearchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    space: Space,
    strategy: Strategy,
    direction: Direction,
    seed: u64,
    trials: Vec<Trial>,
    /// Of [`Strategy::Grid`].
    grid: Option<Grid>,
}

impl Search {
    /// A search that has seen nothing yet.
    ///
    /// # Errors
    /// An empty space, a dimension without values, a strategy without trials, a grid too large to be numbered.
    pub fn new(space: Space, strategy: Strategy, direction: Direction, seed: u64) -> Result<Self, SearchError> {
        if space.is_empty() {
            return Err(SearchError::EmptySpace);
        }
        for (name, dimension) in &space {
            if let Some(problem) = dimension.problem() {
                return Err(SearchError::Dimension { name: name.clone(), problem });
            }
        }
        let grid = match strategy {
            Strategy::Grid { points: 0 } => return Err(SearchError::Strategy { parameter: "points" }),
            Strategy::Random { trials: 0 } | Strategy::Tpe { trials: 0, .. } => {
                return Err(SearchError::Strategy { parameter: "trials" });
            }
            Strategy::Grid { points } => Some(Grid::new(&space, points)?),
            Strategy::Random { .. } | Strategy::Tpe { .. } => None,
        };
        Ok(Self { space, strategy, direction, seed, trials: Vec::new(), grid })
    }

    /// The point to try next; `None` when the strategy has no more.
    ///
    /// # Errors
    /// A dimension that `tpe` cannot model (bounds too close to distinguish).
    pub fn suggest(&self) -> Result<Option<Point>, SearchError> {
        match self.strategy {
            Strategy::Grid { .. } => Ok(self.grid.as_ref().and_then(Grid::next)),
            Strategy::Random { trials } => Ok((self.trials.len() < trials).then(|| self.draw())),
            Strategy::Tpe { trials, .. } if self.trials.len() >= trials => Ok(None),
            Strategy::Tpe { startup, .. } if self.trials.len() < startup => Ok(Some(self.draw())),
            Strategy::Tpe { .. } => self.propose().map(Some),
        }
    }

    /// Records what came of a point. A value that is not finite is recorded as a failure.
    pub fn observe(&mut self, point: Point, outcome: Result<f64, String>) {
        let outcome = match outcome {
            Ok(value) if value.is_finite() => TrialOutcome::Value(value),
            Ok(value) => TrialOutcome::Failed(format!("the objective is {value}")),
            Err(message) => TrialOutcome::Failed(message),
        };
        self.record(Trial { point, outcome });
    }

    fn record(&mut self, trial: Trial) {
        if let Some(grid) = &mut self.grid {
            grid.advance();
        }
        self.trials.push(trial);
    }

    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The best trial, the earliest in a tie; `None` while none has a value.
    pub fn best(&self) -> Option<&Trial> {
        let losses = self.trials.iter().map(|trial| (trial, self.loss(trial)));
        losses.filter(|(_, loss)| loss.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(trial, _)| trial)
    }

    /// Tries points until the strategy has no more, and answers the best. What the objective refuses is recorded as failed.
    ///
    /// # Errors
    /// [`SearchError::AllFailed`], or as [`suggest`](Self::suggest).
    pub fn run<E: std::fmt::Display>(
        &mut self,
        mut objective: impl FnMut(&Point) -> Result<f64, E>,
    ) -> Result<&Trial, SearchError> {
        while let Some(point) = self.suggest()? {
            let outcome = objective(&point).map_err(|error| error.to_string());
            self.observe(point, outcome);
        }
        let last = match self.trials.last() {
            Some(Trial { outcome: TrialOutcome::Failed(message), .. }) => message.clone(),
            _ => String::new(),
        };
        let trials = self.trials.len();
        self.best().ok_or(SearchError::AllFailed { trials, last })
    }

    /// Lower is better; ∞ for a failure.
    fn loss(&self, trial: &Trial) -> f64 {
        match (&trial.outcome, self.direction) {
            (TrialOutcome::Value(value), Direction::Minimize) => *value,
            (TrialOutcome::Value(value), Direction::Maximize) => -value,
            (TrialOutcome::Failed(_), _) => f64::INFINITY,
        }
    }

    fn draw(&self) -> Point {
        let rng = &mut stream(self.seed, "", "search", self.trials.len() as u64);
        Point(self.space.iter().map(|(name, dimension)| (name.clone(), dimension.draw(rng))).collect())
    }

    fn propose(&self) -> Result<Point, SearchError> {
        let rng = &mut stream(self.seed, "", "search", self.trials.len() as u64);
        let mut point = Point::default();
        for (name, dimension) in &self.space {
            let history = self.trials.iter().map(|trial| (&trial.point.0[name], self.loss(trial)));
            point.0.insert(name.clone(), parzen::propose(name, dimension, history, rng)?);
        }
        Ok(point)
    }
}

#[cfg(test)]
mod tests;

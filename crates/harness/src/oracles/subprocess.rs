//! `oracle: { kind: subprocess }` — a program of the user's, which scores texts of theirs.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_core::untrusted::{escaped, redacted};
use landmark_oracles::subprocess::{Subprocess, SubprocessParams};
use landmark_yaml::{Entry, Problem, Section, parameter, required};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::scorer::Scorer;
use super::{Items, Opened, Opening, OracleSettings, OracleSpec, Orders, Training, gamma, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::config::values::Tuned;
use crate::loaded::{LoadError, Loaded, LoadedItems};

/// A program of the user's.
pub static SUBPROCESS: OracleSpec = OracleSpec {
    entry: Entry {
        id: "subprocess",
        summary: "any program in any language: JSON lines over its standard input and output",
        parameters: &[
            required("command", "[python3, score.py]", "the program and its arguments; runs in the folder of the file"),
            parameter("processes", "1", "how many of it run at a time"),
            parameter("batch", "256", "pairs in a batch, at most"),
            parameter("timeout_seconds", "60", "how long a batch may take before the program counts as hanging"),
            parameter("start_seconds", "300", "how long it may take to greet: loading a model takes time"),
            parameter("failed_pairs", "error", "a pair that it cannot score: `error`, or `{ score: 0 }`, counted"),
            parameter("environment", "{}", "environment variables to add to those of the run"),
            parameter(
                "checks",
                "16",
                "pairs to score in both orders if the program states that it is symmetric, and stored pairs to score again",
            ),
            parameter("gamma", "none", "turns distances into exp(−γ·d); absent: the scores are similarities"),
            parameter(
                "symmetrize",
                "none",
                "an asymmetric score becomes the `mean`, `max` or `min` of both orders; `random`: one order a pair, for the mean",
            ),
        ],
        source: "yours; the protocol is in docs/reference/protocol.md",
    },
    reads: &[ItemKind::Texts],
    read,
};

/// A program of the user's.
#[derive(Debug, Serialize)]
struct SubprocessConfig {
    /// The program, and how it is treated. It runs in the folder of the configuration.
    #[serde(flatten)]
    params: SubprocessParams,
    /// γ: where given, its score is a distance and the similarity is exp(−γ·d).
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<Tuned>,
    /// Symmetrization of an asymmetric score, where given.
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetrize: Option<Orders>,
    /// Pairs by which it is checked; they move no score.
    #[serde(skip)]
    checks: usize,
}

/// Pairs by which a program is checked where nothing is said.
const CHECKS: usize = 16;

fn read(section: &Section<'_>, folder: &Path) -> Option<Arc<dyn OracleSettings>> {
    let gamma = gamma(section);
    let symmetrize = section.optional("symmetrize");
    let checks = section.or("checks", CHECKS);
    let problems = section.problems();
    let params: SubprocessParams = problems.read(&section.rest(), "oracle")?;
    let params = SubprocessParams { folder: Some(folder.to_owned()), ..params };
    if let Err(error) = params.clone().check() {
        problems.add(Problem::new(format!("`oracle`: {error}")).at(section.place()));
    }
    let gamma = gamma.map_or(Some(None), |gamma| gamma.map(Some))?;
    Some(Arc::new(SubprocessConfig { params, gamma, symmetrize, checks }))
}

impl OracleSettings for SubprocessConfig {
    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }

    fn gamma(&self) -> Option<Tuned> {
        self.gamma
    }

    fn orders(&self) -> Option<Orders> {
        self.symmetrize
    }

    fn checks(&self) -> usize {
        self.checks
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let LoadedItems::Texts(texts) = items else { return Err(LoadError::pair(dataset, SUBPROCESS.entry.id)) };
        let (params, scored) = (self.params.clone(), Arc::clone(&texts.scored));
        if opening.preparation.training == Training::Later && !opening.preparation.quiet {
            // whose code runs is said before it does
            eprintln!("starting `{}` for its greeting", escaped(&redacted(&params.command.join(" "))));
        }
        let program = Arc::new(Subprocess::start(params, scored)?);
        let given: Arc<dyn Oracle> = Arc::clone(&program) as _;
        let (command, greeting) = (self.params.command.join(" "), program.greeting());
        let scorer = Scorer::Program(Arc::clone(&program));
        let item_list = scorer.item_list();
        let items = Items::of_texts(&texts, Some(scorer), &given, self.symmetrize);
        Ok(Opened {
            item_list,
            items,
            raw: symmetrized(&given, self.symmetrize, opening.run.seed),
            as_given: given,
            description: texts.description(&format!("scored by `{command}` ({})", greeting.identity)),
            is_priced: true,
            stamps,
            notes,
            facts: json!({ "items": texts.scored.identity().to_hex(), "greeting": greeting }),
        })
    }
}

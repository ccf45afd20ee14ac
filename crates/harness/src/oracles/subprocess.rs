//! `oracle: { kind: subprocess }` — a program of the user's, which scores texts of theirs.

use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_core::untrusted::{escaped, redacted};
use landmark_oracles::subprocess::{Subprocess, SubprocessParams};
use landmark_yaml::{Entry, Keys, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scorer::Scorer;
use super::{GivenScore, Items, Opened, Opening, OracleSettings, OracleSpec, Training, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::loaded::{LoadError, Loaded, LoadedItems};

pub static SUBPROCESS: OracleSpec = OracleSpec {
    entry: Entry {
        id: "subprocess",
        summary: "any program in any language: JSON lines over its standard input and output",
        keys: Keys::of::<SubprocessParams>().and::<CheckKeys>().and::<GivenScore>(),
        source: "yours; the protocol is in docs/reference/protocol.md",
    },
    reads: &[ItemKind::Texts],
    read,
};

#[derive(Debug, Serialize)]
struct SubprocessConfig {
    /// The program, and how it is treated. It runs in the folder of the configuration.
    #[serde(flatten)]
    params: SubprocessParams,
    #[serde(flatten)]
    score: GivenScore,
    /// Pairs by which it is checked; they move no score.
    #[serde(skip)]
    checks: usize,
}

/// The key by which a program is checked.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct CheckKeys {
    /// pairs to score in both orders if the program states that it is symmetric, and stored pairs to score again
    checks: usize,
}

impl Default for CheckKeys {
    fn default() -> Self {
        Self { checks: 16 }
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    let CheckKeys { checks } = section.part()?;
    let score = section.part()?;
    let params: SubprocessParams = section.part()?;
    let params = SubprocessParams { folder: Some(section.problems().folder().to_owned()), ..params };
    if let Err(error) = params.clone().check() {
        section.problems().add(Problem::new(format!("`oracle`: {error}")).at(section.place()));
    }
    Some(Arc::new(SubprocessConfig { params, score, checks }))
}

impl OracleSettings for SubprocessConfig {
    fn given(&self) -> Option<GivenScore> {
        Some(self.score)
    }

    fn checks(&self) -> usize {
        self.checks
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let LoadedItems::Texts(texts) = items else { return Err(LoadError::pair(dataset, SUBPROCESS.entry.id)) };
        let (params, scored) = (self.params.clone(), Arc::clone(&texts.scored));
        if opening.preparation.training != Training::Now && !opening.preparation.quiet {
            // whose code runs is printed before it does
            eprintln!("starting `{}` for its greeting", escaped(&redacted(&params.command.join(" "))));
        }
        let program = Arc::new(Subprocess::start(params, scored)?);
        let given: Arc<dyn Oracle> = Arc::clone(&program) as _;
        let (command, greeting) = (self.params.command.join(" "), program.greeting());
        let scorer = Scorer::Program(Arc::clone(&program));
        let item_list = scorer.item_list();
        let items = Items::of_texts(&texts, Some(scorer), &given, self.score.symmetrize);
        Ok(Opened {
            item_list,
            items,
            raw: symmetrized(&given, self.score.symmetrize, opening.run.seed),
            as_given: given,
            description: texts.description(&format!("scored by `{command}` ({})", greeting.identity)),
            is_priced: true,
            stamps,
            notes,
            facts: json!({ "items": texts.scored.identity().to_hex(), "greeting": greeting }),
        })
    }
}

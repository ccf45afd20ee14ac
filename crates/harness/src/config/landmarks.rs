//! `landmarks:` — which columns are evaluated.

use landmark_core::landmarks::LandmarkPolicy;
use landmark_yaml::{ConfigPath, Entry, FromNode, Keys, Node, Problem, Problems, Section, choice, ids, read_from_node};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub static LANDMARK_POLICIES: &[Entry] = &[
    Entry {
        id: "uniform",
        summary: "uniformly without replacement; choosing takes no call",
        keys: Keys::NONE,
        source: "SMS-Nyström paper, Algorithm 1",
    },
    Entry {
        id: "given",
        summary: "your own list, most important first",
        keys: Keys::of::<GivenLandmarks>(),
        source: "yours",
    },
    Entry {
        id: "kept",
        summary: "those of the factors that this run wrote before, as far as their items are still there, then uniform ones: a list may grow at a cost \
                  of its new items alone",
        keys: Keys::NONE,
        source: "ours",
    },
    Entry {
        id: "leverage",
        summary: "two rounds: uniform ones, then by the ridge leverage of every item's row in their columns",
        keys: Keys::of::<Leverage>(),
        source: "Drineas & Mahoney 2005; Alaoui & Mahoney 2015",
    },
    Entry {
        id: "rpcholesky",
        summary: "randomly pivoted Cholesky: by what is left of the diagonal, which it reads",
        keys: Keys::NONE,
        source: "Chen, Epperly, Tropp & Webber 2022",
    },
    Entry {
        id: "kmeans++",
        summary: "k-means++ seeding in the geometry of the kernel; reads the diagonal",
        keys: Keys::NONE,
        source: "Arthur & Vassilvitskii 2007",
    },
    Entry {
        id: "farthest",
        summary: "the item whose best similarity to the landmarks so far is lowest",
        keys: Keys::NONE,
        source: "Gonzalez 1985",
    },
];

/// A list of landmarks, here or in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenLandmarks {
    /// item numbers from 0; or `path`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = [3, 1, 4])]
    pub indices: Option<Vec<usize>>,
    /// a file with one item number a line, instead of `indices`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<ConfigPath>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Leverage {
    /// the part that is drawn uniformly
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    first_round: f64,
}

impl Default for Leverage {
    fn default() -> Self {
        Self { first_round: 0.5 }
    }
}

/// Selection policy of the landmark columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(tag = "policy", rename_all = "snake_case")]
pub enum LandmarkConfig {
    /// Uniformly at random, without replacement.
    #[default]
    Uniform,
    /// A list, most important first.
    Given(GivenLandmarks),
    /// Those of the factors in the folder of the run, then uniform ones.
    Kept,
    /// Chosen by what their scores look like: `leverage`, `rpcholesky`, `kmeans++`, `farthest`.
    #[serde(untagged)]
    Seen(LandmarkPolicy),
}

impl LandmarkConfig {
    pub fn id(&self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Given(_) => "given",
            Self::Kept => "kept",
            Self::Seen(policy) => policy.id(),
        }
    }
}

impl FromNode for LandmarkConfig {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let (policy, place, section) = Section::tagged(node, path, "policy", problems)?;
        let config = match policy.as_str() {
            "uniform" => Self::Uniform,
            "given" => {
                let given: GivenLandmarks = section.part()?;
                if given.indices.is_some() == given.path.is_some() {
                    let problem = Problem::new(format!("`{path}` must have either `indices` or `path`")).at(node.place);
                    problems.add(problem.help(
                        "for example `{ policy: given, indices: [3, 1, 4] }`, or a file with one item number a line",
                    ));
                }
                if let Some(twice) = given.indices.as_deref().and_then(first_repeated) {
                    section.refuse("indices", format!("`{path}.indices` has item {twice} twice"));
                }
                Self::Given(given)
            }
            "kept" => Self::Kept,
            "rpcholesky" => Self::Seen(LandmarkPolicy::RpCholesky),
            "kmeans++" => Self::Seen(LandmarkPolicy::KMeansPlusPlus),
            "farthest" => Self::Seen(LandmarkPolicy::Farthest),
            "leverage" => {
                let Leverage { first_round } = section.part()?;
                Self::Seen(LandmarkPolicy::Leverage { first_round })
            }
            other => {
                problems.add(Problem::unknown("landmark policy", other, ids(LANDMARK_POLICIES)).at(place));
                return None;
            }
        };
        section.finish(&[]);
        Some(config)
    }
}

read_from_node!(LandmarkConfig, choice("policy", LANDMARK_POLICIES));

fn first_repeated(indices: &[usize]) -> Option<usize> {
    let mut seen = std::collections::HashSet::new();
    indices.iter().copied().find(|index| !seen.insert(*index))
}

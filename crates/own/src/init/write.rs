//! A configuration as a person would write it: short, commented, in the order of reading.

use std::fmt::Write as _;

use super::ScoreKind;

/// Prices of a chat model, to be replaced by those of your own.
const PRICE: &str = "price: { input: 0.15, output: 0.6, output_tokens: 8 }";
/// Items, or pairs, of the profile `smoke`.
pub(super) const SMOKE_ITEMS: usize = 40;
/// Its landmarks at most.
const SMOKE_LANDMARKS: usize = 10;
/// Largest number of its evaluations that estimate how good the factors are.
const SMOKE_ESTIMATE: u64 = 100;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Items {
    Texts { id: Option<String>, text: String, label: Option<String>, split: Option<String>, drops_empty: bool },
    Pairs { first: String, second: String, target: String, is_graded: bool, split: Option<String> },
    Matrix { is_asymmetric: bool, gamma: Option<f64> },
}

#[derive(Debug, Clone)]
pub(super) struct Sketch {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) items: usize,
    pub(super) landmarks: usize,
    pub(super) columns: Items,
    pub(super) score: Option<ScoreKind>,
    pub(super) command: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) url: Option<String>,
    pub(super) key: Option<String>,
    /// Numbers of a word vector, where the texts have few words.
    pub(super) dimension: Option<usize>,
    /// The same for the few items of the profile `smoke`.
    pub(super) smoke_dimension: usize,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            name: String::new(),
            file: String::new(),
            items: 0,
            landmarks: 0,
            columns: Items::Matrix { is_asymmetric: false, gamma: None },
            score: None,
            command: Vec::new(),
            model: None,
            url: None,
            key: None,
            dimension: None,
            smoke_dimension: 1,
        }
    }
}

/// A text as a YAML value: bare where that reads as the same text.
fn value(text: &str) -> String {
    let is_bare = text.starts_with(|c: char| c.is_ascii_alphabetic() || "/.$_".contains(c))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-$:".contains(c))
        && !text.ends_with(':')
        && !["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_lowercase().as_str())
        && text.parse::<f64>().is_err();
    if is_bare { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

impl Sketch {
    fn experiment(&self) -> &'static str {
        if matches!(self.columns, Items::Pairs { .. }) { "glue" } else { "own_data" }
    }

    pub(super) fn yaml(&self) -> String {
        let mut out = format!(
            "# Written by `landmark init`. Paths start at the folder of this file.\nname: {}\nexperiment: {}\n\n",
            value(&self.name),
            self.experiment()
        );
        self.dataset(&mut out);
        self.oracle(&mut out);
        self.methods(&mut out);
        self.profiles(&mut out);
        out
    }

    fn dataset(&self, out: &mut String) {
        let file = value(&self.file);
        let _ = match &self.columns {
            Items::Matrix { .. } => writeln!(out, "dataset: {{ name: precomputed, path: {file} }}"),
            Items::Texts { .. } => writeln!(out, "dataset:\n  name: texts\n  path: {file}"),
            Items::Pairs { .. } => writeln!(out, "dataset:\n  name: pairs\n  path: {file}"),
        };
        let mut key = |key: &str, text: &str, comment: &str| {
            let comment = if comment.is_empty() { String::new() } else { format!(" # {comment}") };
            let _ = writeln!(out, "  {key}: {text}{comment}");
        };
        let split = |split: &str| format!("{{ column: {} }}", value(split));
        match &self.columns {
            Items::Matrix { .. } => return,
            Items::Texts { id, text, label, split: column, drops_empty } => {
                if let Some(id) = id {
                    key("id", &value(id), "");
                }
                key("text", &value(text), "");
                if let Some(label) = label {
                    key("label", &value(label), "for `experiment: classification`");
                }
                if let Some(column) = column {
                    key("split", &split(column), "");
                }
                if *drops_empty {
                    key("empty_texts", "drop", "rows without a text are left out");
                }
            }
            Items::Pairs { first, second, target, is_graded, split: column } => {
                key("first", &value(first), "");
                key("second", &value(second), "");
                key(if *is_graded { "score" } else { "label" }, &value(target), "the judgment of people");
                match column {
                    Some(column) => key("split", &split(column), ""),
                    None if !is_graded => {
                        key("split", "{ train: 0.2 }", "pairs on which the threshold of a yes is chosen")
                    }
                    None => {}
                }
            }
        }
        if self.score == Some(ScoreKind::Wmd) {
            let dimension = self.dimension.map_or_else(String::new, |numbers| format!(", dimension: {numbers}"));
            key(
                "vectors",
                &format!("{{ kind: ppmi_svd, min_count: 1, unit_length: true{dimension} }}"),
                "word vectors learned from these texts; vectors of many texts are better: { path, format }",
            );
        }
    }

    fn oracle(&self, out: &mut String) {
        let mut lines: Vec<String> = Vec::new();
        let mut key = |text: String| lines.push(text);
        match self.score.unwrap_or(ScoreKind::Matrix) {
            ScoreKind::Matrix => {
                key("kind: precomputed".to_owned());
                if let Items::Matrix { is_asymmetric, gamma } = self.columns {
                    if is_asymmetric {
                        key("symmetrize: mean".to_owned());
                    }
                    if let Some(gamma) = gamma {
                        key(format!("gamma: {gamma:.3e} # a distance d becomes exp(−γ·d): 1 over the mean distance"));
                    }
                }
            }
            ScoreKind::Program => {
                let command: Vec<String> = self.command.iter().map(|word| value(word)).collect();
                key("kind: subprocess".to_owned());
                key(format!(
                    "command: [{}] # the documentation has it under \"Protocol of scorer programs\"",
                    command.join(", ")
                ));
                key("processes: 2 # scorer processes that run in parallel".to_owned());
            }
            ScoreKind::CrossEncoder => {
                key("kind: cross_encoder".to_owned());
                key(format!("model: {}", value(self.model.as_deref().unwrap_or_default())));
                key("order: mean # both orders, at twice the calls; `random`: one of them".to_owned());
            }
            ScoreKind::String => {
                key("kind: string".to_owned());
                key("measure: token_sort # words in any order, with typos; also jaro_winkler, damerau_levenshtein"
                    .to_owned());
            }
            ScoreKind::Wmd => {
                key("kind: wmd".to_owned());
                key("gamma: 1.0 # similarity = exp(−γ · distance)".to_owned());
                key("empty_documents: { distance: 10 } # of a text without a word".to_owned());
            }
            ScoreKind::Rerank | ScoreKind::Chat => {
                key("kind: http".to_owned());
                key(format!("url: {}", value(self.url.as_deref().unwrap_or_default())));
                let is_chat = self.score == Some(ScoreKind::Chat);
                key(format!("shape: {}", if is_chat { "chat" } else { "rerank" }));
                if let Some(model) = &self.model {
                    key(format!("model: {}", value(model)));
                }
                match &self.key {
                    Some(name) => key(format!("key: {} # name of the environment variable with the key", value(name))),
                    None => key("# key: API_KEY # name of the environment variable with the key".to_owned()),
                }
                if is_chat {
                    key("system: You compare texts. Answer with one number and nothing else.".to_owned());
                    key("prompt: |\n    How alike are these two in meaning, from 0 (nothing in common) to 10 (the same)?\n    A: {{a}}\n    B: {{b}}".to_owned());
                    key("request: { temperature: 0, max_tokens: 8 }".to_owned());
                    key("rating: { read: number, low: 0, high: 10 }".to_owned());
                }
                key("symmetrize: mean # both orders, at twice the calls; `random`: one of them".to_owned());
                if is_chat {
                    key(format!("# {PRICE} # of a million tokens; `output_tokens` as `max_tokens`"));
                }
            }
        }
        let _ = writeln!(out, "oracle:");
        for line in &lines {
            let _ = writeln!(out, "  {line}");
        }
    }

    /// Evaluations that estimate how good the factors are.
    fn estimate(&self) -> u64 {
        let pairs = self.items as u64 * (self.items as u64).saturating_sub(1) / 2;
        (pairs / 10).clamp(20, 1000)
    }

    fn methods(&self, out: &mut String) {
        let method = match self.score {
            Some(ScoreKind::Wmd) => "{ id: shift_ridge, proxy: { kind: rwmd } }",
            Some(ScoreKind::String) => "{ id: shift_ridge, proxy: { kind: character_ngrams, degree: 1 } }",
            _ => "shift_ridge",
        };
        let _ = writeln!(out, "methods: [{method}]");
        if method == "shift_ridge" && matches!(self.columns, Items::Texts { .. }) {
            let _ = writeln!(
                out,
                "# methods: [{{ id: shift_ridge, proxy: bag_of_words }}] # around a cheap proxy of the score, if there is one: `landmark list proxies`"
            );
        }
        let is_matrix = self.score == Some(ScoreKind::Matrix);
        let what = if is_matrix { "read" } else { "evaluated" };
        let _ = writeln!(out, "ranks: {} # number of landmarks: columns that are {what}", self.ranks(self.landmarks));
        // of a given matrix the error is known
        if !is_matrix {
            let _ = writeln!(out, "error_estimate: {} # calls that estimate the error of the factors", self.estimate());
            let _ = match self.score {
                Some(ScoreKind::Chat) => {
                    writeln!(out, "# budget: {{ money: 5 }} # a hard limit, by `oracle.price`; also `calls`, `seconds`")
                }
                _ => writeln!(
                    out,
                    "# budget: {{ calls: 100_000 }} # a hard limit; also `seconds`, or `money` with `cost_per_entry`"
                ),
            };
        }
    }

    fn ranks(&self, landmarks: usize) -> String {
        if self.experiment() == "glue" { format!("[{landmarks}]") } else { landmarks.to_string() }
    }

    /// A profile of few items, to try all of it on; a matrix that is there costs nothing as it is.
    fn profiles(&self, out: &mut String) {
        if matches!(self.columns, Items::Matrix { .. }) {
            return;
        }
        let vectors = match self.score {
            Some(ScoreKind::Wmd) => format!(", vectors: {{ dimension: {} }}", self.smoke_dimension),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "\nprofiles:\n  # `--profile smoke` tries all of this on few\n  smoke: {{ dataset: {{ limit: {SMOKE_ITEMS}{vectors} }}, ranks: {}, error_estimate: {} }}",
            self.ranks(self.landmarks.min(SMOKE_LANDMARKS)),
            self.estimate().min(SMOKE_ESTIMATE)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn a_value_is_quoted_where_yaml_would_read_something_else() {
        let bare = ["text", "a/b.tsv", "$LANDMARK_DATA/x.gz", "http://127.0.0.1:8/rerank"];
        bare.iter().for_each(|text| assert_eq!(value(text), *text));
        for text in ["yes", "007", "1e3", "a: b", "x #1", "", "{a}", "- x"] {
            assert_eq!(value(text), format!("{text:?}"));
        }
    }
}

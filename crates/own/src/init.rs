//! `landmark init FILE`: from a file to a configuration that runs, its call estimate, and the next two commands.
//!
//! The file is looked at (columns, sizes, duplicates); what it does not show, which score above all, is a flag or asked on a terminal. The
//! configuration that is written is read back before anything is reported of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use landmark_core::oracle::symmetry_tolerance;
use landmark_data::{Corpus, PpmiParams, TokenRules, matrices};
use landmark_harness::command_line::command_line;
use landmark_harness::config::{Config, Overlays, TextsFormat};
use landmark_harness::invocation::UsageError;
use landmark_harness::registry::Registry;
use landmark_harness::run::{self, RunOptions};
use landmark_harness::table_file::TableFile;
use landmark_report::amounts::{count, counted};
use landmark_report::write_file;
use miette::{IntoDiagnostic, Result};

use crate::own::refused;

mod example;
mod inspect;
mod write;

pub use example::write_example;
use inspect::Inspected;
use write::{Items, Sketch};

/// Numbers of a word vector at most in the profile `smoke`, whose texts need not be the first of the file.
const SMOKE_DIMENSION: usize = 10;
/// A program to start from, which runs as it is, and its name, by which it refers to itself.
const PROGRAM: &str = include_str!("../../../examples/sentence_similarity.py");
const PROGRAM_NAME: &str = "sentence_similarity.py";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreKind {
    Program,
    CrossEncoder,
    /// A built-in similarity of strings.
    String,
    Wmd,
    Rerank,
    Chat,
    Matrix,
}

impl ScoreKind {
    /// Every kind of texts, with its name and what it needs.
    pub const OF_TEXTS: [(Self, &'static str, &'static str); 6] = [
        (
            Self::Program,
            "program",
            "a program of yours in any language; one to start from is written next to the configuration",
        ),
        (Self::CrossEncoder, "cross-encoder", "a model that reads both texts at once: `--model FOLDER`"),
        (Self::String, "string", "similarity of spellings, for names and records with typos; needs nothing"),
        (Self::Wmd, "wmd", "word mover's distance, with word vectors learned from the texts; needs nothing"),
        (Self::Rerank, "rerank", "a reranker behind an endpoint: `--url`, `--model`"),
        (Self::Chat, "chat", "a chat model as judge: `--url`, `--model`, the name of the key's variable in `--key`"),
    ];
}

/// Asks a person, in a terminal: the question, and the answers that there are, none for any text. Nothing where there is nobody.
pub type Ask<'a> = &'a mut dyn FnMut(&str, &[(&str, &str)]) -> Option<String>;

/// What a configuration is to be made of.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub file: PathBuf,
    /// The score; asked for where absent.
    pub score: Option<ScoreKind>,
    /// The configuration to write; the name of the file with `.yaml` in this folder where absent.
    pub out: Option<PathBuf>,
    /// Column of the ids; found out where absent.
    pub id: Option<String>,
    /// Column of the texts; found out where absent.
    pub text: Option<String>,
    /// Column of the labels; found out where absent.
    pub label: Option<String>,
    /// The program and its arguments, quoted as in a POSIX shell.
    pub command: Option<String>,
    /// Folder or name of a model, or what an endpoint calls it.
    pub model: Option<String>,
    pub url: Option<String>,
    /// NAME of the variable that holds the key of an endpoint.
    pub key: Option<String>,
    /// Landmarks; by the number of items where absent.
    pub landmarks: Option<usize>,
    pub force: bool,
}

/// Writes a configuration for a file, and reports what it costs and how to continue.
pub fn init(wanted: &Wanted, options: &RunOptions, registry: &Registry, ask: Ask<'_>) -> Result<String> {
    if !wanted.file.exists() {
        let message = format!("no such file or folder: `{}`", wanted.file.display());
        return Err(refused(message, "use a TXT, TSV, CSV, JSONL, Parquet or NPY file, or a folder of texts"));
    }
    let command = words(wanted.command.as_deref().unwrap_or_default())?;
    let is_matrix = wanted.score == Some(ScoreKind::Matrix) || matrices::is_array(&wanted.file);
    let (mut sketch, mut text) = if is_matrix { of_matrix(wanted)? } else { of_rows(wanted, ask)? };
    sketch.landmarks = wanted.landmarks.unwrap_or(sketch.landmarks).min(sketch.items.max(1));
    let out = wanted.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.yaml", sketch.name)));
    if out.exists() && !wanted.force {
        let message = format!("cannot write `{}`: it exists", out.display());
        return Err(refused(message, "add `--force` to replace it, or `--out FILE.yaml` to write another file"));
    }
    if wanted.out.is_some() {
        // two configurations of one file have a folder of results each
        sketch.name = name_of(&out);
    }
    // paths of a configuration start at its folder
    sketch.file = from_folder_of(&out, &wanted.file)?;
    sketch.command = command;
    if let (Some(ScoreKind::Program), true) = (sketch.score, sketch.command.is_empty()) {
        let name = format!("{}_score.py", sketch.name);
        let program = out.with_file_name(&name);
        if program.exists() {
            text += &format!("program: `{}`, which exists\n", program.display());
        } else {
            write_file(&program, PROGRAM.replace(PROGRAM_NAME, &name).as_bytes()).into_diagnostic()?;
            options.record.file(&program);
            text += &format!(
                "program: `{}`, which scores word overlap; put your score into its `score`, and change its VERSION whenever the score changes\n",
                program.display()
            );
        }
        sketch.command = vec!["python3".to_owned(), name];
    }
    let yaml = sketch.yaml();
    let config = Config::parse(&out, &yaml, &Overlays::default(), registry)?;
    write_file(&out, yaml.as_bytes()).into_diagnostic()?;
    options.record.file(&out);
    options.record.fact("configuration", &out);
    options.record.fact("items", sketch.items);
    text += &format!("written: `{}`\n", out.display());
    let (estimate, is_open) = call_estimate(&config, options);
    text += &estimate;
    let next = if is_open { "next" } else { "next, when that is fixed" };
    let words = |more: &[&str]| {
        let flags = options.flags.iter().cloned();
        let words = std::iter::once(out.display().to_string()).chain(more.iter().map(|&word| word.to_owned()));
        command_line(Path::new("landmark"), &words.chain(flags).collect::<Vec<_>>())
    };
    Ok(text + &format!("{next}:\n  {}\n  {}\n", words(&["--dry-run"]), words(&[])))
}

/// Words of a command, as a POSIX shell splits them.
fn words(command: &str) -> Result<Vec<String>> {
    shlex::split(command).ok_or_else(|| {
        let message = format!(
            "cannot split `--command {command}`: it opens a quote that it does not close, or ends in a backslash"
        );
        refused(
            message,
            "close the quote, or write the words in the configuration: `command: [python3, \"my score.py\"]`",
        )
    })
}

/// The call estimate in a line, or what is to be fixed before there is one, and whether there is one.
fn call_estimate(config: &Config, options: &RunOptions) -> (String, bool) {
    if config.subject.matrix().is_some_and(|matrix| matrix.oracle.settings().is_given()) {
        return ("calls: none, the matrix is given\n".to_owned(), true);
    }
    match run::cost(config, &RunOptions { quiet: true, ..options.clone() }) {
        Ok(cost) => {
            let most = if cost.is_exact { "" } else { "at most " };
            let all = cost.share.unwrap_or_else(|| counted(cost.planned, "call"));
            let stored = cost.planned.saturating_sub(cost.missing);
            options.record.fact("planned_calls", cost.planned);
            options.record.fact("calls", cost.missing);
            options.record.fact("is_exact", cost.is_exact);
            let there = if stored > 0 { format!(", {} of them stored", count(stored)) } else { String::new() };
            (format!("calls: {most}{all}{there}\n"), true)
        }
        Err(error) => {
            (format!("calls: unknown, because the score function cannot be opened\nfix this first: {error}\n"), false)
        }
    }
}

/// The path of a file as the configuration in `out` names it.
fn from_folder_of(out: &Path, file: &Path) -> Result<String> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    let path = match folder {
        None => file.to_owned(),
        Some(_) if file.is_absolute() => file.to_owned(),
        Some(folder) => match file.strip_prefix(folder) {
            Ok(below) => below.to_owned(),
            Err(_) => std::path::absolute(file).into_diagnostic()?,
        },
    };
    Ok(path.display().to_string())
}

/// A name for results: that of the file, without what a folder can't be called.
fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let kept: String = stem.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if kept.trim_matches(['_', '-']).is_empty() { "mine".to_owned() } else { kept.trim_start_matches('-').to_owned() }
}

/// Landmarks to begin with: enough to see, few enough to pay. They take 1.6 % of all pairs from 5,000 to 62,500 items, and less of more.
fn landmarks_of(items: usize) -> usize {
    let landmarks =
        if items <= 100 { items.div_ceil(5).max(2) } else { (items / 5).clamp(20, 40).max((items / 125).min(500)) };
    landmarks.min(items.max(1))
}

fn of_matrix(wanted: &Wanted) -> Result<(Sketch, String)> {
    let matrix = matrices::read_square(&wanted.file).map_err(UsageError::of)?;
    let items = matrix.nrows();
    let tolerance = symmetry_tolerance(&matrix);
    let differ =
        matrix.indexed_iter().filter(|&((i, j), &value)| i < j && (value - matrix[[j, i]]).abs() > tolerance).count();
    let mut text = format!("`{}`: a matrix of {} items, ", wanted.file.display(), count(items as u64));
    text += &match differ {
        0 => "symmetric\n".to_owned(),
        _ => format!("asymmetric in {}: uses the mean of both orders\n", counted(differ as u64, "pair")),
    };
    let diagonal: f64 = matrix.diag().mean().unwrap_or(0.0);
    let all: f64 = matrix.mean().unwrap_or(0.0);
    let are_distances = diagonal.abs() < 1e-12 && all > 0.0;
    if are_distances {
        text += "its diagonal is 0 and all else is positive: these are distances, used as exp(−γ·d)\n";
    }
    let sketch = Sketch {
        name: name_of(&wanted.file),
        items,
        landmarks: landmarks_of(items),
        columns: Items::Matrix { is_asymmetric: differ > 0, gamma: are_distances.then(|| 1.0 / all) },
        score: Some(ScoreKind::Matrix),
        ..Sketch::default()
    };
    Ok((sketch, text))
}

fn of_rows(wanted: &Wanted, ask: Ask<'_>) -> Result<(Sketch, String)> {
    let file = &wanted.file;
    let layout = TextsFormat::of(file).ok_or_else(|| {
        let message = format!("cannot tell the format of `{}` from its extension", file.display());
        refused(message, "use .txt, .tsv, .csv, .jsonl, .parquet or .npy")
    })?;
    let seen = Inspected::of(file, layout).map_err(UsageError::of)?;
    for (flag, name) in [("--text", &wanted.text), ("--id", &wanted.id), ("--label", &wanted.label)] {
        if let Some(name) = name.as_ref().filter(|name| seen.column(name).is_none()) {
            let names: Vec<&str> = seen.columns.iter().map(|column| column.name.as_str()).collect();
            return Err(refused(
                format!("no such column: `{flag} {name}`"),
                format!("the file has: {}", names.join(", ")),
            ));
        }
    }
    let given = |name: &Option<String>| name.as_deref().and_then(|name| seen.column(name));
    let name = name_of(file);
    if let Some(couple) = seen.couple().filter(|_| wanted.text.is_none()) {
        let mut text = format!(
            "`{}`: {} pairs of `{}` and `{}`, {} `{}`\n",
            file.display(),
            count(seen.rows as u64),
            couple.first.name,
            couple.second.name,
            if couple.is_graded { "graded in" } else { "yes or no in" },
            couple.target.name
        );
        let split = seen.split().map(|column| column.name.clone());
        let columns = Items::Pairs {
            first: couple.first.name.clone(),
            second: couple.second.name.clone(),
            target: couple.target.name.clone(),
            is_graded: couple.is_graded,
            split,
        };
        let texts = distinct_texts(file, layout, &[&couple.first.name, &couple.second.name])?;
        let items = texts.len();
        text += &format!("{} distinct texts are the items\n", count(items as u64));
        let sketch = Sketch { name, items, landmarks: landmarks_of(items), columns, ..Sketch::default() };
        let sketch = sketch.with_vectors_of(&texts);
        return Ok((scored(sketch, wanted, ask)?, text));
    }
    if seen.rows == 0 {
        let message = format!("cannot read items from `{}`: it has no rows", file.display());
        return Err(refused(message, "add one row per item, below a header line (a .txt has no header)"));
    }
    let Some(column) = given(&wanted.text).or_else(|| seen.text()) else {
        let message = format!("cannot find a column of texts in `{}`", file.display());
        return Err(refused(message, "name it by `--text COLUMN`; for a matrix of scores use `--score matrix`"));
    };
    let id = given(&wanted.id).or_else(|| seen.id(&column.name)).filter(|_| layout != TextsFormat::Txt);
    if let Some(id) = id.filter(|id| id.distinct < column.filled) {
        let (again, cells) = (seen.rows - id.distinct, seen.rows);
        let message = format!(
            "cannot use the column `{}` of `{}` as ids: {again} of its {cells} cells are empty or repeated",
            id.name,
            file.display()
        );
        return Err(refused(message, "name another column by `--id`, or leave it out to number the items"));
    }
    let taken: Vec<&str> = std::iter::once(&column.name).chain(id.map(|id| &id.name)).map(String::as_str).collect();
    let label = given(&wanted.label).or_else(|| seen.label(&taken));
    let [least, middle, most] = column.lengths;
    let mut text = format!(
        "`{}`: {} in `{}`, {least} to {most} characters, median {middle}",
        file.display(),
        counted(column.filled as u64, "text"),
        column.name
    );
    let again = column.filled - column.distinct;
    if again > 0 {
        text += &format!(", {} duplicates", count(again as u64));
    }
    text.push('\n');
    let empty = seen.rows - column.filled;
    if empty > 0 {
        text += &format!("left out {} without a text\n", counted(empty as u64, "row"));
    }
    match id {
        Some(id) => text += &format!("ids: `{}` ({}, …)\n", id.name, id.first.join(", ")),
        None => text += &format!("ids: the row numbers{}\n", seen.why_no_id(&column.name)),
    }
    let split = label.and_then(|_| seen.split()).map(|split| split.name.clone());
    if let Some(label) = label {
        let parts = split.as_ref().map_or_else(String::new, |split| format!("; train and test in `{split}`"));
        text += &format!("labels: {} in `{}`{parts}\n", label.distinct, label.name);
        text += &seen.why_no_split().filter(|_| split.is_none()).unwrap_or_default();
    }
    let columns = Items::Texts {
        id: id.map(|id| id.name.clone()).filter(|_| layout != TextsFormat::Folder),
        text: column.name.clone(),
        label: label.map(|label| label.name.clone()),
        split,
        drops_empty: empty > 0 && layout != TextsFormat::Txt,
    };
    let items = column.filled;
    if items < 2 {
        let message = format!("`{}` has {} in `{}`", file.display(), counted(items as u64, "text"), column.name);
        return Err(refused(message, "add texts (expected at least two)"));
    }
    let sketch = Sketch { name, items, landmarks: landmarks_of(items), columns, ..Sketch::default() };
    let sketch = sketch.with_vectors_of(&distinct_texts(file, layout, &[&column.name])?);
    Ok((scored(sketch, wanted, ask)?, text))
}

/// The distinct texts of some columns, in the order of the file.
fn distinct_texts(file: &Path, layout: TextsFormat, columns: &[&str]) -> Result<Vec<String>> {
    let table = TableFile { path: file, layout, delimiter: None }.read(columns).map_err(UsageError::of)?;
    let mut texts: Vec<String> = table.columns.into_iter().flatten().flatten().collect();
    let mut seen = HashSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    Ok(texts)
}

impl Sketch {
    /// The same with the numbers of a word vector that the words of these texts can teach, where that is fewer than usual.
    fn with_vectors_of(self, texts: &[String]) -> Self {
        let words = words_in(texts);
        let few = words_in(&texts[..texts.len().min(write::SMOKE_ITEMS)]);
        let dimension = (words <= PpmiParams::default().dimension).then(|| (words / 2).max(1));
        Self { dimension, smoke_dimension: (few / 2).clamp(1, SMOKE_DIMENSION), ..self }
    }
}

/// Distinct words of some texts.
fn words_in(texts: &[String]) -> usize {
    let ids: Vec<String> = (0..texts.len()).map(|item| item.to_string()).collect();
    Corpus::from_texts(&ids, texts, &TokenRules::default()).words().len()
}

/// The score of texts, with what it needs.
fn scored(sketch: Sketch, wanted: &Wanted, ask: Ask<'_>) -> Result<Sketch> {
    let kinds = ScoreKind::OF_TEXTS;
    let score = match wanted.score {
        Some(score) => score,
        None => {
            let choices: Vec<(&str, &str)> = kinds.iter().map(|&(_, name, needs)| (name, needs)).collect();
            let answer = ask("which score?", &choices);
            let found = answer.as_deref().and_then(|answer| kinds.iter().find(|(_, name, _)| *name == answer.trim()));
            found.map(|&(kind, ..)| kind).ok_or_else(|| {
                let lines: Vec<String> =
                    kinds.iter().map(|(_, name, needs)| format!("`--score {name}`: {needs}")).collect();
                refused("no score function was chosen", lines.join("\n"))
            })?
        }
    };
    let mut needed = |given: &Option<String>, question: &str, flag: &str| -> Result<String> {
        let answer = given.clone().or_else(|| ask(question, &[])).filter(|answer| !answer.trim().is_empty());
        answer.map(|answer| answer.trim().to_owned()).ok_or_else(|| refused(format!("missing value: {question}"), flag))
    };
    let (mut model, mut url) = (wanted.model.clone(), wanted.url.clone());
    match score {
        ScoreKind::CrossEncoder => {
            model = Some(needed(
                &model,
                "the folder of the cross-encoder",
                "`--model FOLDER`, with config.json, tokenizer.json and model.safetensors",
            )?);
        }
        ScoreKind::Rerank => url = Some(needed(&url, "the address of the reranker", "`--url http://…/rerank`")?),
        ScoreKind::Chat => {
            url = Some(needed(&url, "the address of the chat model", "`--url https://…/v1/chat/completions`")?);
            model = Some(needed(&model, "the name of the chat model", "`--model NAME`")?);
        }
        ScoreKind::Program | ScoreKind::String | ScoreKind::Wmd | ScoreKind::Matrix => {}
    }
    Ok(Sketch { score: Some(score), model, url, key: wanted.key.clone(), ..sketch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_a_folder_can_have() {
        let names = ["a b.tsv", "data/x.jsonl.gz", "ünï.csv", ".hidden", "-x.csv"].map(|file| name_of(Path::new(file)));
        assert_eq!(names, ["a_b", "x", "ünï", "mine", "x"]);
    }

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        let split = |command: &str| words(command).map_err(|report| report.to_string());
        assert_eq!(
            split(r#"python3 "my score.py" -k 'a b' c\ d"#).unwrap(),
            ["python3", "my score.py", "-k", "a b", "c d"]
        );
        assert!(split("").unwrap().is_empty());
        let error = split("python3 \"my score.py").unwrap_err();
        assert_eq!(
            error,
            "cannot split `--command python3 \"my score.py`: it opens a quote that it does not close, or ends in a backslash"
        );
    }

    #[test]
    fn landmarks_are_no_more_than_items() {
        for items in [1, 2, 7, 100, 101, 2000, 2001, 1_000_000] {
            let landmarks = landmarks_of(items);
            assert!((1..=items).contains(&landmarks) && landmarks <= 500, "{items}: {landmarks}");
        }
    }
}

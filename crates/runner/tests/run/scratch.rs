//! A scratch folder with a small configuration, the binary run in it, and what came of that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ndarray::Array2;
use serde_json::Value as Json;

/// 60 documents of the sample, three methods, errors estimated from a sample: about a thousand entries.
pub(crate) const SAMPLE: &str = "\
name: sample
experiment: error_curve
dataset: { name: embedded, limit: 60, vectors: { kind: ppmi_svd, dimension: 20 } }
oracle: { kind: wmd, gamma: 0.5, empty_documents: drop }
methods: [nystrom, sicur, { id: shift_ridge, known: [landmarks] }]
ranks: [8]
error_estimate: 200
";

/// A matrix of the user's, `matrix.npy`.
pub(crate) const MATRIX: &str = "\
name: mine
experiment: error_curve
dataset: { name: precomputed, path: matrix.npy }
oracle: precomputed
methods: [nystrom, sms_nystrom, { id: sicur, ratio: 2 }]
ranks: [5]
";

/// The user's folder of corpora, for tests that are ignored unless asked for.
pub(crate) fn data_folder() -> PathBuf {
    PathBuf::from(std::env::var_os("LANDMARK_DATA").expect("`LANDMARK_DATA` names the folder of the corpora"))
}

pub(crate) struct Scratch(tempfile::TempDir);

pub(crate) struct Printed {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Scratch {
    /// With `text` in `config.yaml`.
    pub(crate) fn with(text: &str) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.write("config.yaml", text);
        scratch
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn write_matrix(&self, name: &str, matrix: &Array2<f64>) {
        ndarray_npy::write_npy(self.path(name), matrix).unwrap();
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Fails unless a file has all of these words.
    pub(crate) fn has(&self, path: &str, words: &[&str]) {
        let text = self.read(path);
        words.iter().for_each(|words| assert!(text.contains(words), "`{words}` is not in:\n{text}"));
    }

    /// The binary in this folder, not started yet; `LANDMARK_RUNNER` names another than the one that was built with the tests.
    pub(crate) fn command(&self, arguments: &(impl Words + ?Sized)) -> Command {
        let built = assert_cmd::cargo::cargo_bin!("landmark");
        let mut command = Command::new(std::env::var_os("LANDMARK_RUNNER").map_or(built.to_owned(), PathBuf::from));
        command
            .args(arguments.words())
            .current_dir(self.0.path())
            .env_remove("LANDMARK_DATA")
            .env_remove("LANDMARK_FETCH")
            .env_remove("LANDMARK_MODELS")
            // no corpora of the user's
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("RUST_LOG")
            .env("NO_COLOR", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn say(&self, arguments: &(impl Words + ?Sized)) -> Printed {
        Printed::of(&mut self.command(arguments))
    }

    /// As [`Self::say`]; it must end with this exit code.
    pub(crate) fn ends(&self, code: i32, arguments: &(impl Words + ?Sized)) -> Printed {
        let seen = self.say(arguments);
        assert_eq!(seen.code, Some(code), "{:?}: {}{}", arguments.words(), seen.out, seen.err);
        seen
    }

    /// As [`Self::say`]; it must end well.
    pub(crate) fn well(&self, arguments: &(impl Words + ?Sized)) -> Printed {
        self.ends(0, arguments)
    }

    /// Ends with exit code 2 and all of these words.
    pub(crate) fn refuses(&self, arguments: &(impl Words + ?Sized), words: &[&str]) {
        let seen = self.ends(2, arguments);
        words.iter().for_each(|words| seen.must_complain(words));
    }

    /// Runs `config.yaml`.
    pub(crate) fn run(&self, arguments: &(impl Words + ?Sized)) -> Printed {
        self.say(&of_config(arguments))
    }

    /// Runs `config.yaml`, which must end well.
    pub(crate) fn run_well(&self, arguments: &(impl Words + ?Sized)) -> Printed {
        self.well(&of_config(arguments))
    }

    /// Fails with exit code 1 or 2 and all of these words.
    pub(crate) fn fails(&self, arguments: &(impl Words + ?Sized), words: &[&str]) {
        let seen = self.say(arguments);
        assert!(matches!(seen.code, Some(1 | 2)), "{:?}: {:?} {}", arguments.words(), seen.code, seen.err);
        words.iter().for_each(|words| seen.must_complain(words));
    }

    /// Runs `config.yaml`, which must fail with all of these words.
    pub(crate) fn complains(&self, arguments: &(impl Words + ?Sized), words: &[&str]) {
        self.fails(&of_config(arguments), words);
    }

    /// Every file below `folder`, by its path there.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.path(folder);
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.strip_prefix(&root).unwrap().to_owned(), std::fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    pub(crate) fn tiles(&self, store: &str) -> Vec<PathBuf> {
        let root = self.path(store);
        let is_tile = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tile");
        self.files(store).into_keys().filter(is_tile).map(|path| root.join(path)).collect()
    }

    pub(crate) fn entries_kept(&self, store: &str) -> u64 {
        let seen = self.well(&["store", "verify", store]);
        let logged = " entries in logs of calls";
        let in_logs = if seen.out.contains(logged) { number_before(&seen.out, logged) } else { 0 };
        number_before(&seen.out, " entries") + in_logs
    }

    pub(crate) fn json(&self, path: &str) -> Json {
        serde_json::from_slice(&std::fs::read(self.path(path)).unwrap()).unwrap()
    }

    /// Calls planned, made, reused, as `run.json` of a configuration has them.
    pub(crate) fn calls(&self, folder: &str) -> [u64; 3] {
        let calls = &self.json(&format!("{folder}/run.json"))["calls"];
        ["planned", "evaluated", "reused"].map(|key| calls[key].as_u64().unwrap())
    }

    /// The rows of `results.json` without seconds, the only figure that no seed determines.
    pub(crate) fn figures(&self, folder: &str) -> Vec<Json> {
        let mut rows = self.json(&format!("{folder}/results.json")).as_array().unwrap().clone();
        for row in &mut rows {
            assert!(row.as_object_mut().unwrap().remove("seconds").is_some(), "{row}");
        }
        rows
    }

    /// Values of the rows that agree with all of these keys, in their order.
    pub(crate) fn values(&self, folder: &str, wanted: &Json) -> Vec<f64> {
        let agrees = |row: &&Json| wanted.as_object().unwrap().iter().all(|(key, value)| row[key] == *value);
        self.figures(folder).iter().filter(agrees).map(|row| row["value"].as_f64().unwrap()).collect()
    }
}

impl Printed {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Fails unless standard output has all of these words.
    pub(crate) fn prints(&self, words: &[&str]) -> &Self {
        words
            .iter()
            .for_each(|words| assert!(self.out.contains(words), "`{words}` is not in:\n{}{}", self.out, self.err));
        self
    }

    /// Fails unless standard error has all of these words.
    pub(crate) fn reports(&self, words: &[&str]) -> &Self {
        words.iter().for_each(|words| assert!(self.err.contains(words), "`{words}` is not in:\n{}", self.err));
        self
    }

    /// Fails unless standard error has these words, however they are wrapped.
    pub(crate) fn must_complain(&self, words: &str) {
        assert!(squeezed(&self.err).contains(&squeezed(words)), "`{words}` is not in:\n{}", self.err);
    }
}

/// Arguments of the program: a text with blanks between them, or a list.
pub(crate) trait Words {
    fn words(&self) -> Vec<String>;
}

impl Words for str {
    fn words(&self) -> Vec<String> {
        self.split_whitespace().map(str::to_owned).collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<String> {
        self.as_str().words()
    }
}

impl<T: AsRef<str>> Words for [T] {
    fn words(&self) -> Vec<String> {
        self.iter().map(|word| word.as_ref().to_owned()).collect()
    }
}

impl<T: AsRef<str>> Words for Vec<T> {
    fn words(&self) -> Vec<String> {
        self.as_slice().words()
    }
}

impl<T: AsRef<str>, const N: usize> Words for [T; N] {
    fn words(&self) -> Vec<String> {
        self.as_slice().words()
    }
}

fn of_config(arguments: &(impl Words + ?Sized)) -> Vec<String> {
    [vec!["config.yaml".to_owned()], arguments.words()].concat()
}

/// Without blanks and frames: an error is wrapped to the width of the terminal.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '│').collect()
}

/// The number, perhaps with commas, that stands right before `words`.
pub(crate) fn number_before(text: &str, words: &str) -> u64 {
    let end = text.find(words).unwrap_or_else(|| panic!("`{words}` is not in:\n{text}"));
    let digits: Vec<char> = text[..end].chars().rev().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
    digits.into_iter().rev().filter(|c| *c != ',').collect::<String>().parse().unwrap()
}

/// A 30 × 30 similarity matrix with a decaying spectrum.
pub(crate) fn smooth_matrix() -> Array2<f64> {
    Array2::from_shape_fn((30, 30), |(i, j)| (-((i as f64 - j as f64) / 10.0).powi(2)).exp())
}

pub(crate) fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(name).display().to_string()
}

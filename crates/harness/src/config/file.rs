//! The file of a configuration, and what to report of one that is none.

use std::path::{Path, PathBuf};

use landmark_yaml::{ConfigError, Problem, Sources, did_you_mean};

use super::{Config, Subject};

impl Config {
    /// The file of the user's own items, where it is not there; `data` is the folder of the corpora.
    pub fn missing_items(&self, data: Option<&Path>) -> Option<PathBuf> {
        let Subject::Matrix(matrix, _) = &self.subject else { return None };
        let path = matrix.dataset.texts()?.path.at(data)?;
        (!path.exists()).then_some(path)
    }
}

/// Endings of files of items, which `landmark init` writes configurations for.
const ITEMS: [&str; 5] = ["tsv", "csv", "jsonl", "parquet", "npy"];

pub(super) fn read(file: &Path) -> Result<String, ConfigError> {
    let name = file.display().to_string();
    let wrong = |problem: Problem| ConfigError::new(&name, &Sources::default(), vec![problem]);
    let ending = file.extension().and_then(|ending| ending.to_str());
    if file.exists() && ending.is_some_and(|ending| ITEMS.contains(&ending)) {
        let problem = Problem::new(format!("`{name}` is no configuration, which is YAML"));
        return Err(wrong(
            problem.help(format!("`landmark init {name}` writes one for a file of items, or of scores")),
        ));
    }
    std::fs::read_to_string(file)
        .map_err(|error| wrong(Problem::new(format!("`{name}` can't be read: {error}")).help(missing_help(file))))
}

fn missing_help(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return format!("there is no folder `{}`", folder.display());
    };
    let names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let wanted = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let yaml = names.iter().map(String::as_str).filter(|name| name.ends_with(".yaml"));
    match did_you_mean(&wanted, yaml) {
        Some(near) => format!("did you mean `{}`?", file.with_file_name(near).display()),
        None => "`landmark init FILE` writes one for a file of yours, and `configs/` holds examples to start from"
            .to_owned(),
    }
}

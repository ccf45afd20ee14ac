//! One-time conversion: adds the section `facts` to every published `run.json` that lacks it. Run it in the root of the repository.

use std::path::{Path, PathBuf};

use landmark_harness::config::{Config, Subject};
use landmark_harness::provenance;
use landmark_harness::run::{self, RunOptions};
use landmark_harness::run_source::RunSource;
use landmark_harness::study::{StudyContext, StudyRun};
use landmark_harness::sweep_run::SweepRun;
use landmark_report::rows_from_parquet;
use serde_json::{Value as Json, json};

type Fault = Box<dyn std::error::Error>;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.file_name().is_some_and(|name| name == "run.json") {
            found.push(path);
        }
    }
}

fn convert(path: &Path) -> Result<String, Fault> {
    let mut facts: Json = serde_json::from_slice(&std::fs::read(path)?)?;
    if !facts["facts"].is_null() {
        return Ok("has facts".to_owned());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let rows = rows_from_parquet(&folder.join("results.parquet"))?;
    let file = PathBuf::from(facts["config"]["file"].as_str().unwrap_or_default());
    let config = Config::load(&file, &provenance::overlays(&facts), runner::catalogue::catalogue())
        .map_err(|error| format!("{error:?}"))?;
    let scratch = std::env::temp_dir().join(format!("gather-facts-{}", std::process::id()));
    let options = RunOptions {
        results: Some(scratch.clone()),
        store: Some(scratch.join("store").display().to_string()),
        data: std::env::var_os("LANDMARK_DATA").map(PathBuf::from),
        dry_run: true,
        quiet: true,
        ..RunOptions::default()
    };
    let of_run = match &config.subject {
        Subject::Matrix(matrix, experiment) => run::with_sweep(&config, matrix, &options, |context| {
            Ok(SweepRun { experiment: *experiment, context }.facts(&rows))
        })
        .map_err(|error| error.to_string())?,
        Subject::Study(study) => {
            let store = scratch.join("store").display().to_string();
            let context =
                StudyContext { run: &config.run, data: options.data.as_deref(), folder: &scratch, store: &store };
            StudyRun::open(study.as_ref(), &context).map_err(|error| error.to_string())?.facts(&rows)
        }
        Subject::Collection(_) => return Ok("is a collection".to_owned()),
    };
    let of_run = of_run.map_err(|error| error.to_string())?;
    let theirs = [&facts["data"]["dataset"], &facts["data"]["items"]];
    let ours = [json!(of_run.dataset), json!(of_run.items)];
    if theirs.into_iter().zip(&ours).any(|(theirs, ours)| !theirs.is_null() && theirs != ours) {
        return Err(format!("other items: {theirs:?} and {ours:?}").into());
    }
    facts["facts"] = json!(of_run);
    std::fs::write(path, serde_json::to_string_pretty(&facts)? + "\n")?;
    Ok("converted".to_owned())
}

fn main() {
    let mut found = Vec::new();
    files(Path::new("results"), &mut found);
    found.sort();
    for path in found {
        match convert(&path) {
            Ok(words) => eprintln!("{}: {words}", path.display()),
            Err(error) => eprintln!("{}: FAILED: {error}", path.display()),
        }
    }
}

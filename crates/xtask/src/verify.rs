//! `cargo xtask verify`: what can be checked of a published run without computing it again.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use landmark_data::catalog;
use landmark_harness::config::Config;
use landmark_harness::run::{self, RunError, RunOptions};
use landmark_report::differences::digest;
use landmark_report::{ResultRow, rows_from_parquet};
use miette::{IntoDiagnostic, Result, miette};
use runner::cli::{LogArgs, OverlayArgs, PlaceArgs};
use runner::commands::published::{facts, overlay};
use runner::commands::run::options;
use runner::exit::Exit;
use runner::output::Answer;
use runner::registry;
use serde_json::{Value as Json, json};

/// Checks one run.
pub(crate) fn verify(results: &Path, skip_smoke: bool, places: &PlaceArgs, log: LogArgs) -> Result<(Answer, Exit)> {
    let rows = rows_from_parquet(&results.join("results.parquet")).into_diagnostic()?;
    let mut checks = Checks::default();
    let facts = facts(results)?;
    provenance(&facts, &mut checks);
    rows_as_recorded(&facts, &rows, &mut checks)?;
    let file = facts["config"]["file"].as_str().map(PathBuf::from);
    match file.filter(|file| file.is_file()) {
        None => checks.note("its configuration is not here: tables and smoke profile are not checked".to_owned()),
        Some(file) => {
            let overlay = overlay(&facts);
            let config = Config::load(&file, &overlay.overlays(), registry::registry())?;
            let hash = config.config_hash().into_diagnostic()?.to_hex();
            if facts["config"]["hash"].as_str() != Some(hash.as_str()) {
                checks.note(format!("`{}` has changed since", file.display()));
            }
            tables(results, &config, &overlay, places, log, rows, &mut checks)?;
            if !skip_smoke {
                smoke(&file, places, log, &mut checks)?;
            }
        }
    }
    let result = json!({ "sound": checks.failed == 0, "checks": checks.found });
    let exit = if checks.failed == 0 { Exit::Done } else { Exit::Failed };
    Ok((Answer::new(checks.text, result), exit))
}

/// Lines of the answer.
#[derive(Default)]
struct Checks {
    text: String,
    /// The same as data.
    found: Vec<Json>,
    failed: usize,
}

impl Checks {
    fn holds(&mut self, is_true: bool, good: &str, bad: &str) {
        let (mark, words) = if is_true { ("ok", good) } else { ("FAILED", bad) };
        self.failed += usize::from(!is_true);
        let _ = writeln!(self.text, "{mark}: {words}");
        self.found.push(json!({ "holds": is_true, "message": words }));
    }

    fn note(&mut self, words: String) {
        let _ = writeln!(self.text, "note: {words}");
        self.found.push(json!({ "holds": Json::Null, "message": words }));
    }
}

/// Revision, calls and files of `run.json`.
fn provenance(facts: &Json, checks: &mut Checks) {
    let source = &facts["source"];
    let revision = source["revision"].as_str().unwrap_or("an unknown revision");
    checks.holds(
        source["dirty"] == Json::Bool(false),
        &format!("made at {revision}"),
        &format!("made from a changed tree at {revision}"),
    );
    let number = |key: &str| facts["calls"][key].as_u64();
    let (planned, reused) = (number("planned").unwrap_or(0), number("reused").unwrap_or(0));
    // of earlier versions
    let evaluated = number("evaluated").or_else(|| number("bought")).unwrap_or(0);
    let is_bound = facts["calls"]["at_most"] == Json::Bool(true);
    let most = if is_bound { "at most " } else { "" };
    checks.holds(
        evaluated > 0 || reused >= planned || is_bound && reused > 0,
        &format!("{evaluated} calls made and {most}{reused} reused of {most}{planned} planned"),
        &format!("{planned} calls planned, but none made and {reused} reused"),
    );
    let Some(files) = facts["files"].as_array() else {
        checks.note("it names no data files: made before they were recorded".to_owned());
        return;
    };
    let known: HashMap<&str, &str> =
        catalog::all().flat_map(|dataset| &dataset.files).map(|file| (file.path, file.sha256)).collect();
    // of some no digest is published, and each clone records its own
    let is_known = |file: &Json| {
        let wanted = file["path"].as_str().and_then(|path| known.get(path).copied());
        wanted == Some("") || wanted == file["sha256"].as_str()
    };
    let wrong: Vec<&str> =
        files.iter().filter(|file| !is_known(file)).filter_map(|file| file["path"].as_str()).collect();
    checks.holds(
        wrong.is_empty(),
        &format!("{} data files have the digests of the catalog", files.len()),
        &format!("other digests than the catalog's: {}", wrong.join(", ")),
    );
}

/// The rows are those that the run recorded the digest of.
fn rows_as_recorded(facts: &Json, rows: &[ResultRow], checks: &mut Checks) -> Result<()> {
    let found = digest(rows).into_diagnostic()?;
    let Some(recorded) = facts["rows"]["digest"].as_str() else {
        checks.note(format!(
            "{} rows, digest {found}; `run.json` has no digest to hold it against: `landmark report CONFIG.yaml` adds it",
            rows.len()
        ));
        return Ok(());
    };
    checks.holds(
        found == recorded,
        &format!("{} rows, digest {found}", rows.len()),
        &format!("{} rows, digest {found}; the run recorded {recorded}: they were changed since. Restore `results.parquet`, or run the configuration again", rows.len()),
    );
    Ok(())
}

/// Every table and figure, drawn again in memory from the rows.
fn tables(
    results: &Path,
    config: &Config,
    overlay: &OverlayArgs,
    places: &PlaceArgs,
    log: LogArgs,
    rows: Vec<ResultRow>,
    checks: &mut Checks,
) -> Result<()> {
    let rendered = run::render_again(config, &options(overlay, places, log), results, rows)?;
    let mut differ: Vec<&str> = Vec::new();
    let (mut drawn, mut compared) = (0, 0);
    for (name, bytes) in &rendered.files {
        // the page is not published, and the claims in a summary depend on other runs
        if name == "report.html" || name == "summary.md" {
            continue;
        }
        drawn += 1;
        // a published folder has few pictures and no tables; a folder that a run wrote has all of them
        if let Ok(published) = std::fs::read(results.join(name)) {
            compared += 1;
            if published != *bytes {
                differ.push(name);
            }
        }
    }
    checks.holds(
        differ.is_empty(),
        &format!("{drawn} tables and figures drawn from the rows; {compared} of them are in the folder and equal"),
        &format!("drawn again from the rows, these differ: {}; `landmark report` draws them", differ.join(", ")),
    );
    Ok(())
}

/// True where the data of a run are not on this machine.
fn lacks_data(error: &RunError) -> bool {
    matches!(error, RunError::Load(_) | RunError::MissingCorpus { .. })
}

/// The smoke profile, twice: the second time no call is made and no byte changes.
fn smoke(file: &Path, places: &PlaceArgs, log: LogArgs, checks: &mut Checks) -> Result<()> {
    let scratch = Scratch::new()?;
    let overlay = OverlayArgs { profile: Some("smoke".to_owned()), set: Vec::new() };
    let config = Config::load(file, &overlay.overlays(), registry::registry())?;
    let options = RunOptions {
        results: Some(scratch.0.join("results")),
        store: Some(scratch.0.join("store").display().to_string()),
        quiet: true,
        ..options(&overlay, places, log)
    };
    let digest_of = || -> Result<String> {
        match run::run(&config, &options) {
            Ok(_) => {
                let file = run::results_folder(&config, &options).join("results.parquet");
                digest(&rows_from_parquet(&file).into_diagnostic()?).into_diagnostic()
            }
            Err(error) => Err(error.into()),
        }
    };
    match (digest_of(), digest_of()) {
        (Ok(first), Ok(second)) => checks.holds(
            first == second,
            &format!("smoke profile, digest {first}"),
            &format!("smoke profile, digest {first} and then {second}"),
        ),
        // of a published run nothing is wrong if its corpus is not here
        (Err(error), _) | (_, Err(error)) if error.downcast_ref::<RunError>().is_some_and(lacks_data) => {
            checks.note(format!("the smoke profile is not run: {error}"));
        }
        (Err(error), _) | (_, Err(error)) => checks.holds(false, "", &format!("smoke profile: {error}")),
    }
    Ok(())
}

/// A folder that is gone when this is.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("landmark-verify-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| miette!("cannot create `{}`: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // a scratch folder that can't be removed is the system's to clear
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

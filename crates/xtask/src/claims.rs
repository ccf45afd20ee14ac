//! `cargo xtask claims`: verdicts on the claims of the papers, from published rows.
//!
//! They are written into the README of each paper, between `<!-- claims:begin -->` and `<!-- claims:end -->`, and into `results/README.md`.

use std::path::{Path, PathBuf};

use landmark_data::catalog;
use landmark_report::{Claims, JudgedClaim, KnownNames, Published, Reference, claims_table, index};
use miette::{IntoDiagnostic, Result};
use runner::exit::UsageError;
use runner::output::Answer;
use runner::registry::METHODS;
use serde_json::{Value as Json, json};

use crate::docs::{update, with_table};

const PAPERS: &str = "experiments";

/// Prints the verdicts, or compares or writes the files that hold them.
pub(crate) fn claims(results: &Path, check: bool, write: bool) -> Result<Answer> {
    let papers = read_papers()?;
    let names = papers.iter().flat_map(|(claims, _)| claims.runs()).collect::<Vec<_>>();
    let published = Published::read(results, names).into_diagnostic()?;
    let judge = |(claims, known): (Claims, KnownNames)| -> Result<(Claims, Vec<JudgedClaim>)> {
        let judged = claims.judge(None, &published, &known).into_diagnostic()?;
        Ok((claims, judged))
    };
    let papers = papers.into_iter().map(judge).collect::<Result<Vec<_>>>()?;
    if !check && !write {
        let text: String =
            papers.iter().map(|(claims, judged)| format!("# {}\n\n{}\n", claims.title, claims_table(judged))).collect();
        let papers = papers.iter().map(|(claims, judged)| {
            json!({ "paper": claims.paper, "title": claims.title, "claims": judged.iter().map(facts).collect::<Json>() })
        });
        return Ok(Answer::new(text, json!({ "papers": papers.collect::<Json>() })));
    }
    let others = other_runs(results, &papers).into_diagnostic()?;
    let mut files = vec![(results.join("README.md"), index(&papers, &published, &others))];
    for (claims, judged) in &papers {
        let path = Path::new(PAPERS).join(&claims.paper).join("README.md");
        files.push(with_table(path, "claims", &claims_table(judged))?);
    }
    let written = update(files, write, "run `cargo xtask claims --write`")?;
    let mut text: String = written.iter().map(|path| format!("{}: written\n", path.display())).collect();
    text += "the verdicts are up to date\n";
    Ok(Answer::new(text, json!({ "up_to_date": true })).with_files(written))
}

/// Published runs of no paper: `TOPIC/NAME`, in order.
fn other_runs(results: &Path, papers: &[(Claims, Vec<JudgedClaim>)]) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for topic in std::fs::read_dir(results)? {
        let topic = topic?;
        let name = topic.file_name().to_string_lossy().into_owned();
        if !topic.path().is_dir() || papers.iter().any(|(claims, _)| claims.paper == name) {
            continue;
        }
        for run in std::fs::read_dir(topic.path())? {
            let run = run?;
            if run.path().join("summary.md").is_file() {
                found.push(format!("{name}/{}", run.file_name().to_string_lossy()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A claim with its verdict, as data.
fn facts(claim: &JudgedClaim) -> Json {
    json!({
        "id": claim.id, "place": claim.place, "claim": claim.says, "verdict": claim.verdict.word(), "numbers": claim.numbers, "size": claim.size,
    })
}

/// The claims of every paper, by folder, with the names that their predicates may use.
fn read_papers() -> Result<Vec<(Claims, KnownNames)>> {
    let folder = std::fs::read_dir(PAPERS).map_err(|_| {
        let help = "start in the project's own folder".to_owned();
        UsageError::new(format!("there is no folder `{PAPERS}`"), Some(help))
    })?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in folder {
        let path = entry.into_diagnostic()?.path().join("claims.yaml");
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let paper = |path: &PathBuf| -> Result<(Claims, KnownNames)> {
        let claims = Claims::read(path).into_diagnostic()?;
        let reference = Reference::read(&path.with_file_name("reference.yaml")).into_diagnostic()?;
        let printed = |of: fn(&landmark_report::ReferenceValue) -> &String| reference.values.iter().map(of).cloned();
        let methods = METHODS.iter().map(|method| method.id.to_owned()).chain(printed(|value| &value.method));
        let datasets = catalog::all().map(|dataset| dataset.name.to_owned()).chain(printed(|value| &value.dataset));
        Ok((claims, KnownNames::of(methods.collect(), datasets.collect())))
    };
    files.iter().map(paper).collect()
}

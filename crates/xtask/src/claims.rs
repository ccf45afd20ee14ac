//! `cargo xtask claims`: verdicts on the claims of the papers, from published rows.
//!
//! They are written into the README of each paper, between `<!-- claims:begin -->` and `<!-- claims:end -->`, and into `results/README.md`.

use std::path::{Path, PathBuf};

use landmark_data::catalog;
use landmark_report::{Claims, JudgedClaim, KnownNames, Published, Reference, claims_table, index};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use runner::catalogue::METHODS;
use runner::exit::UsageError;
use runner::output::Answer;
use serde_json::{Value as Json, json};

const BEGIN: &str = "<!-- claims:begin -->";
const END: &str = "<!-- claims:end -->";
/// Folder of the papers.
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
    let mut files = vec![(results.join("README.md"), index(&papers, &published))];
    for (claims, judged) in &papers {
        let path = Path::new(PAPERS).join(&claims.paper).join("README.md");
        let old = read(&path)?;
        let Some(new) = between(&old, &claims_table(judged)) else {
            let help = format!("put `{BEGIN}` and `{END}` on lines of their own");
            let message = format!("`{}` has no place for the claims", path.display());
            return Err(UsageError::new(message, Some(help)).into());
        };
        files.push((path, new));
    }
    let (mut text, mut written) = (String::new(), Vec::new());
    for (path, new) in files {
        if std::fs::read_to_string(&path).is_ok_and(|old| old == new) {
            continue;
        }
        let name = path.display();
        if check {
            return Err(miette!(help = "run `cargo xtask claims --write`", "the verdicts in `{name}` are out of date"));
        }
        std::fs::write(&path, new).into_diagnostic().wrap_err_with(|| format!("cannot write `{name}`"))?;
        text += &format!("{name}: written\n");
        written.push(path);
    }
    text += "the verdicts are up to date\n";
    Ok(Answer::new(text, json!({ "up_to_date": true })).with_files(written))
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

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).into_diagnostic().wrap_err_with(|| format!("cannot read `{}`", path.display()))
}

/// The text with a table in its place; `None` where it has none.
fn between(old: &str, table: &str) -> Option<String> {
    let (before, rest) = old.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_replaced_and_the_rest_is_kept() {
        let new = between("# A\n<!-- claims:begin -->\nstale\n<!-- claims:end -->\nend\n", "| a |\n").unwrap();
        assert_eq!(new, "# A\n<!-- claims:begin -->\n\n| a |\n\n<!-- claims:end -->\nend\n");
        assert_eq!(between("# A\n", ""), None);
    }
}

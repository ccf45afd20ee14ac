//! `landmark search`: the best items for new queries, from the index of a finished `search` run and a few calls a query.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use landmark_core::oracle::Identity;
use landmark_harness::config::Subject;
use landmark_harness::index_files::IndexError;
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::progress::Progress;
use landmark_harness::query_search::{QueryError, QuerySearch};
use landmark_harness::run;
use landmark_neighbors::search::Hit;
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use miette::{IntoDiagnostic, Result};

use crate::own::{never_run, refused, write_table};

/// The file of queries, their embeddings, and how each is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Queries<'a> {
    pub file: &'a Path,
    /// Their embeddings, where the proxy reads those of the items from a file.
    pub embeddings: Option<&'a Path>,
    pub calls: usize,
    /// Items listed for each.
    pub k: usize,
    /// Reports what it costs, and makes no call.
    pub dry_run: bool,
}

/// Lists the best items for every query.
pub fn search(invocation: &Invocation, asked: Queries<'_>) -> Result<String> {
    let config = invocation.config()?;
    let settings = match &config.subject {
        Subject::Matrix(matrix, _) => matrix.queries().map(|queries| (matrix.as_ref(), queries)),
        _ => None,
    };
    let Some((matrix, queries)) = settings else {
        let message =
            format!("cannot search `{}`: `experiment: {}` builds no index", config.run.name, config.subject.id());
        return Err(refused(
            message,
            "use a configuration with `experiment: search`, such as `configs/own_search.yaml`",
        ));
    };
    let options = invocation.options.clone();
    let new = queries.texts.at_path(asked.file).read(1).map_err(UsageError::of)?;
    let search = QuerySearch::open(&config, (matrix, queries), &options, &new, asked.embeddings);
    let search = search.map_err(|error| match error {
        QueryError::Index(IndexError::Missing(_)) => never_run(error, &invocation.file, &options),
        other => UsageError::of(other),
    })?;
    let (number, planned) = (count(new.ids.len() as u64), search.plan(asked.calls));
    if asked.dry_run {
        let stored = search.stored().into_diagnostic()?;
        options.record.fact("queries", new.ids.len());
        options.record.fact("calls_on_an_empty_store", planned);
        options.record.fact("stored", stored);
        return Ok(format!(
            "{number} queries take {} calls if nothing is stored; {} scores of these queries are stored\n",
            count(planned),
            count(stored)
        ));
    }
    let done = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&done);
    let progress =
        Progress::start(new.ids.len() as u64, "queries done", options.quiet, move || seen.load(Ordering::Relaxed));
    let answers = search.answer(asked.calls, || {
        done.fetch_add(1, Ordering::Relaxed);
    });
    drop(progress);
    let answers = answers.into_diagnostic()?;

    let lists: Vec<Vec<Hit>> = answers.iter().map(|answer| answer.top(asked.k)).collect();
    let all = || lists.iter().enumerate().flat_map(|(query, list)| list.iter().map(move |hit| (query, hit)));
    let columns = vec![
        Column::text("id", all().map(|(query, _)| Some(new.ids[query].clone()))),
        Column::count("rank", lists.iter().flat_map(|list| 1..=list.len() as u64).map(Some)),
        Column::text("item", all().map(|(_, hit)| Some(search.ids()[hit.item].clone()))),
        Column::number("score", all().map(|(_, hit)| Some(hit.score))),
        Column::flag("exact", all().map(|(_, hit)| Some(hit.is_exact))),
    ];
    let default = run::results_folder(&config, &options).join("searched").join(answers_name(asked.file));
    let path = invocation.out.clone().unwrap_or(default);
    write_table(&path, columns)?;
    let known = answers.iter().map(|answer| answer.is_known.iter().filter(|&&known| known).count() as u64).sum::<u64>();
    let unkriged: usize = answers.iter().map(|answer| answer.unkriged_rounds).sum();
    options.record.file(&path);
    options.record.fact("queries", new.ids.len());
    options.record.fact("scores", known);
    options.record.fact("calls", search.called());
    options.record.fact("rounds_without_kriging", unkriged);
    let warning = match unkriged {
        0 => String::new(),
        _ => format!("{unkriged} rounds skipped kriging because the proxy was not positive definite\n"),
    };
    Ok(format!(
        "{number} queries answered from {} scores, {} new calls: `{}`\n{warning}",
        count(known),
        count(search.called()),
        path.display()
    ))
}

/// Name of the file of answers to a file of queries: `q-3f2a9c10.tsv` of `a/q.tsv`, by stem and place, so that those of `b/q.tsv` or `a/q.csv` lie apart.
fn answers_name(queries: &Path) -> String {
    let stem = queries.file_stem().unwrap_or_default().to_string_lossy();
    let place = std::path::absolute(queries).unwrap_or_else(|_| queries.to_owned());
    let digest = Identity::of(&[("queries", place.as_os_str().as_encoded_bytes())]).to_hex();
    format!("{stem}-{}.tsv", &digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_to_two_files_of_one_stem_have_two_names_and_those_to_one_file_one() {
        let names = ["a/q.tsv", "b/q.tsv", "a/q.csv"].map(|path| answers_name(Path::new(path)));
        assert!(names[0] != names[1] && names[0] != names[2] && names[0].starts_with("q-"), "{names:?}");
        let absolute = std::env::current_dir().unwrap().join("a/q.tsv");
        assert_eq!(answers_name(&absolute), names[0]);
    }
}

//! Parts of a section of a report, once a run has it.

use std::path::Path;

use landmark_core::untrusted::redacted;
use landmark_report::{
    Caveat, Claims, FigureSpec, JudgedClaim, KnownNames, MatrixPage, Published, PublishedRun, Reference, ReportInput,
    ResultRow, TableKind, TableSpec,
};
use serde_json::{Map, Value as Json};

use super::{PUBLISHED, RunError, RunOptions, closing, console, results_base};
use crate::config::Config;
use crate::facts::Facts;
use crate::oracles::wmd::Skipped;

/// Rows, tables, figures and warnings of one section of a page.
#[derive(Default)]
pub(super) struct ReportSection {
    /// The rows that were measured, and those that repeat some of them under the paper's headings.
    pub(super) rows: Vec<ResultRow>,
    /// The rows that were measured: what claims count.
    measured: Vec<ResultRow>,
    title: String,
    name: String,
    profile: String,
    command: String,
    claims: Vec<JudgedClaim>,
    conclusion: Option<String>,
    pub(super) stamps: Vec<Caveat>,
    reference: Option<Reference>,
    tables: Vec<TableSpec>,
    figures: Vec<FigureSpec>,
    provenance: Json,
    pub(super) notes: Vec<String>,
    matrix: Option<MatrixPage>,
}

impl ReportSection {
    /// The section of one configuration, from the rows and the `run.json` of its run.
    pub(super) fn new(
        config: &Config,
        folder: &Path,
        mut rows: Vec<ResultRow>,
        provenance: Json,
        options: &RunOptions,
    ) -> Result<Self, RunError> {
        let facts = Facts::of(&provenance, &rows, folder);
        let layout = config.layout(&facts, &rows);
        let measured = rows.clone();
        rows.extend(layout.restated);
        let Facts { caveats: mut stamps, mut notes, .. } = facts;
        stamps.extend(config.reduction().map(|text| Caveat {
            dataset: None,
            text: redacted(&text),
            breaks_comparison: false,
        }));
        notes.extend(unsolved(&provenance));
        notes.extend(layout.notes);
        let this = PublishedRun {
            name: config.run.name.clone(),
            folder: config.run.name.clone().into(),
            rows: measured.clone(),
            facts: provenance.clone(),
        };
        Ok(Self {
            title: title(config),
            claims: claims(config, Some(&config.run.name), vec![this], options)?,
            conclusion: closing::outcome(config, &rows).filter(|_| config.run.paper.is_none()),
            name: config.run.name.clone(),
            profile: config.run.profile.name.clone(),
            // of what an earlier run made, and this one draws again, that one's
            command: provenance["command"].as_str().map_or_else(|| options.command.clone(), under_its_name),
            stamps,
            reference: reference(config)?,
            tables: layout.tables,
            figures: layout.figures,
            provenance,
            notes,
            matrix: layout.matrix,
            rows,
            measured,
        })
    }

    /// The sections of several configurations as one: tables and figures of the same id hold the rows of all of them.
    pub(super) fn together(config: &Config, sections: Vec<Self>, options: &RunOptions) -> Result<Self, RunError> {
        // several matrices have no page in common
        let mut one = Self {
            title: title(config),
            name: config.run.name.clone(),
            profile: config.run.profile.name.clone(),
            command: options.command.clone(),
            claims: claims(config, Some(&config.run.name), Vec::new(), options)?,
            reference: reference(config)?,
            ..Self::default()
        };
        let mut provenance = Map::new();
        for section in sections {
            one.rows.extend(section.rows);
            one.measured.extend(section.measured);
            let is_new = |claim: &JudgedClaim| one.claims.iter().all(|known| known.id != claim.id);
            let new: Vec<_> = section.claims.into_iter().filter(is_new).collect();
            one.claims.extend(new);
            // what was reduced in one member is stated for its datasets by the member's own stamps
            one.stamps
                .extend(section.stamps.into_iter().filter(|stamp| !one.stamps.contains(stamp)).collect::<Vec<_>>());
            section.tables.into_iter().for_each(|table| add_table(&mut one.tables, table));
            for figure in section.figures {
                if one.figures.iter().all(|other| other.id != figure.id) {
                    one.figures.push(figure);
                }
            }
            one.notes.extend(section.notes.into_iter().filter(|note| !one.notes.contains(note)).collect::<Vec<_>>());
            provenance.insert(section.name, section.provenance);
        }
        one.provenance = Json::Object(provenance);
        Ok(one)
    }

    pub(super) fn facts(&self) -> &Json {
        &self.provenance
    }

    /// As a published run: its rows, and its `run.json`.
    pub(super) fn published(&self) -> PublishedRun {
        PublishedRun {
            name: self.name.clone(),
            folder: self.name.clone().into(),
            rows: self.measured.clone(),
            facts: self.provenance.clone(),
        }
    }

    pub(super) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Drops tables and figures whose ids begin with none of `only`; an empty list drops nothing.
    pub(super) fn keep(&mut self, only: &[String]) {
        let is_kept = |id: &str| only.is_empty() || only.iter().any(|wanted| is_part(id, wanted));
        self.tables.retain(|table| is_kept(&table.id));
        self.figures.retain(|figure| is_kept(&figure.id));
    }

    pub(super) fn input(&self) -> ReportInput<'_> {
        ReportInput {
            title: self.title.clone(),
            config_name: self.name.clone(),
            profile: self.profile.clone(),
            command: self.command.clone(),
            claims: self.claims.clone(),
            conclusion: self.conclusion.clone(),
            caveats: self.stamps.clone(),
            rows: &self.rows,
            reference: self.reference.as_ref(),
            tables: self.tables.clone(),
            figures: self.figures.clone(),
            provenance: without_verdicts(&self.provenance),
            notes: self.notes.clone(),
            matrix: self.matrix.as_ref(),
        }
    }
}

/// A command under the name that the program has; runs of earlier versions recorded `runner`.
fn under_its_name(command: &str) -> String {
    command.strip_prefix("runner ").map_or_else(|| command.to_owned(), |rest| format!("landmark {rest}"))
}

/// True of an id and of those below it: `table-error` has `table-error-rank`, and `table-recall-at-10` has no `table-recall-at-100`.
fn is_part(id: &str, of: &str) -> bool {
    id.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

/// What a page shows of `run.json`: the counts of verdicts are made with the page, which must not depend on whether they are there yet.
fn without_verdicts(facts: &Json) -> Json {
    let mut facts = facts.clone();
    if let Some(facts) = facts.as_object_mut() {
        facts.shift_remove("verdicts");
    }
    facts
}

/// Note of the distances not solved, from `run.json`: a run that finds all done knows of them from there.
fn unsolved(provenance: &Json) -> Option<String> {
    let calls = &provenance["calls"];
    let number = |key: &str| calls["skipped"][key].as_f64();
    let skipped = Skipped {
        solves: calls["skipped"]["solves"].as_u64()?,
        entry_bound: number("entry_bound")?,
        frobenius_bound: number("frobenius_bound")?,
    };
    let evaluated = calls["evaluated"].as_u64().or_else(|| calls["bought"].as_u64())?;
    Some(console::unsolved(evaluated, &skipped))
}

/// A table that is there already selects the new rows as well; one of given text takes over the lines, one of differences the methods.
fn add_table(tables: &mut Vec<TableSpec>, table: TableSpec) {
    let Some(known) = tables.iter_mut().find(|known| known.id == table.id) else {
        tables.push(table);
        return;
    };
    match (&mut known.kind, table.kind) {
        (TableKind::Plain { head, lines, .. }, TableKind::Plain { head: new, lines: more, .. }) if *head == new => {
            lines.extend(more);
        }
        (
            TableKind::Paired { ours, baselines, .. },
            TableKind::Paired { ours: more_ours, baselines: more_baselines, .. },
        ) => {
            add_names(ours, more_ours);
            add_names(baselines, more_baselines);
        }
        _ => {}
    }
}

fn add_names(names: &mut Vec<String>, more: Vec<String>) {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

/// Claims of the paper that a run has a part in, or all of them; the available rows count before those that are published.
pub(super) fn claims(
    config: &Config,
    of: Option<&str>,
    at_hand: Vec<PublishedRun>,
    options: &RunOptions,
) -> Result<Vec<JudgedClaim>, RunError> {
    let Some(paper) = &config.run.paper else { return Ok(Vec::new()) };
    let Some(claims) = Claims::find(paper, &config.run.file)? else { return Ok(Vec::new()) };
    let names = || claims.runs_with(of);
    let mut published = Published::read(&results_base(config, options), names())?;
    if options.results.is_none() && config.results.is_none() {
        published = published.or(Published::read(Path::new(PUBLISHED), names())?);
    }
    at_hand.into_iter().for_each(|run| published.insert(run));
    // names are checked where all claims are: by `cargo xtask claims`, and a test
    Ok(claims.judge(of, &published, &KnownNames::anything())?)
}

pub(super) fn title(config: &Config) -> String {
    config.run.title.as_deref().map_or_else(|| config.run.name.clone(), redacted)
}

fn reference(config: &Config) -> Result<Option<Reference>, RunError> {
    match &config.run.paper {
        None => Ok(None),
        Some(paper) => Ok(Reference::find(paper, &config.run.file)?),
    }
}

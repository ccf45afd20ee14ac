//! A collection: its members run one after the other, each as if alone, and are shown on one page.

use landmark_report::{ReportInput, write_file};

use super::{Ended, RunError, RunOptions, Sheet, results_folder, run_sheets, sheets_again, with_causes};
use crate::config::{Collection, Config, Shown};

/// Runs every member; a failure stops the rest, unless the run goes on after failures.
pub(super) fn run(
    config: &Config,
    collection: &Collection,
    options: &RunOptions,
) -> Result<(Ended, Vec<Sheet>), RunError> {
    let mut ended = Ended::Done;
    let mut sheets = Vec::new();
    for member in &collection.members {
        match run_sheets(member, options) {
            Ok((outcome, of_member)) => {
                ended = worse(ended, outcome);
                sheets.extend(of_member);
            }
            Err(error) if options.keep_going => {
                eprintln!("{} failed: {}", member.run.name, with_causes(&error));
                ended = worse(ended, Ended::SomeFailed(1));
            }
            Err(error) => return Err(error),
        }
    }
    if options.dry_run {
        return Ok((ended, sheets));
    }
    let sheets = show(config, collection, sheets, options)?;
    if !options.quiet {
        let page = results_folder(config, options).join("report.html");
        eprintln!("all {} of them on one page: open `{}`", collection.members.len(), page.display());
    }
    Ok((ended, sheets))
}

/// Draws every member and the page again.
pub(super) fn report_again(
    config: &Config,
    collection: &Collection,
    options: &RunOptions,
) -> Result<Vec<Sheet>, RunError> {
    let mut sheets = Vec::new();
    for member in &collection.members {
        sheets.extend(sheets_again(member, options)?);
    }
    show(config, collection, sheets, options)
}

/// The outcome a caller must hear of: a failure before a budget before success.
fn worse(a: Ended, b: Ended) -> Ended {
    match (a, b) {
        (Ended::SomeFailed(some), Ended::SomeFailed(more)) => Ended::SomeFailed(some + more),
        (failed @ Ended::SomeFailed(_), _) | (_, failed @ Ended::SomeFailed(_)) => failed,
        (Ended::BudgetExhausted, _) | (_, Ended::BudgetExhausted) => Ended::BudgetExhausted,
        (Ended::Done, Ended::Done) => Ended::Done,
    }
}

fn show(
    config: &Config,
    collection: &Collection,
    mut sheets: Vec<Sheet>,
    options: &RunOptions,
) -> Result<Vec<Sheet>, RunError> {
    sheets.iter_mut().for_each(|sheet| sheet.keep(&collection.only));
    let folder = results_folder(config, options);
    match collection.shown {
        Shown::Together => {
            let one = Sheet::together(config, sheets, options)?;
            landmark_report::render(&one.input())?.write(&folder)?;
            Ok(vec![one])
        }
        Shown::InTurn => {
            let inputs: Vec<ReportInput<'_>> = sheets.iter().map(Sheet::input).collect();
            write_file(&folder.join("report.html"), landmark_report::render_page(&inputs)?.as_bytes())?;
            Ok(sheets)
        }
    }
}

//! `runner docs`: the generated tables of the README.
//!
//! A table stands between `<!-- registry:methods -->` and `<!-- /registry -->`; any list of the registry may be named.

use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr, miette};

use super::list::markdown;
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::registry::KINDS;

const OPEN: &str = "<!-- registry:";
const CLOSE: &str = "<!-- /registry -->";

/// Checks the tables of a file, or writes them.
pub(super) fn docs(file: &Path, write: bool) -> Result<Exit> {
    let name = file.display();
    let old = std::fs::read_to_string(file).into_diagnostic().wrap_err_with(|| format!("`{name}` can't be read"))?;
    let (new, tables) = regenerate(&old)?;
    if tables == 0 {
        let help = format!("put `{OPEN}methods -->` and `{CLOSE}` on lines of their own");
        return Err(UsageError::new(format!("`{name}` has no place for a table"), Some(help)).into());
    }
    if new == old {
        output::print(&format!("{name}: {tables} tables up to date\n")).into_diagnostic()?;
        return Ok(Exit::Done);
    }
    if !write {
        return Err(miette!(help = "`runner docs --write` writes them", "the tables of `{name}` are out of date"));
    }
    std::fs::write(file, new).into_diagnostic().wrap_err_with(|| format!("`{name}` can't be written"))?;
    output::print(&format!("{name}: {tables} tables written\n")).into_diagnostic()?;
    Ok(Exit::Done)
}

/// The text with every table as the registry has it, and their number.
fn regenerate(old: &str) -> Result<(String, usize)> {
    let mut new = String::new();
    let mut rest = old;
    let mut tables = 0;
    while let Some(start) = rest.find(OPEN) {
        let after = &rest[start + OPEN.len()..];
        let Some((list, body)) = after.split_once("-->") else { break };
        let list = list.trim();
        let Some(kind) = KINDS.iter().find(|kind| kind.plural == list) else {
            return Err(miette!("there is no list `{list}` to make a table of"));
        };
        let Some(end) = body.find(CLOSE) else {
            return Err(miette!("the table `{list}` is not closed by `{CLOSE}`"));
        };
        new += &rest[..start];
        new += &format!("{OPEN}{list} -->\n{}{CLOSE}", markdown(kind));
        rest = &body[end + CLOSE.len()..];
        tables += 1;
    }
    new += rest;
    Ok((new, tables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_and_the_rest_is_kept() {
        let old = "# A\n<!-- registry:methods -->\nstale\n<!-- /registry -->\nend\n";
        let (new, tables) = regenerate(old).unwrap();
        assert_eq!(tables, 1);
        assert!(
            new.starts_with("# A\n<!-- registry:methods -->\n| id |") && new.ends_with("<!-- /registry -->\nend\n")
        );
        assert!(new.contains("`sms_nystrom`") && !new.contains("stale"));
        assert_eq!(regenerate(&new).unwrap().0, new);
    }

    #[test]
    fn an_unknown_or_open_table_is_refused() {
        assert!(regenerate("<!-- registry:methds -->\n<!-- /registry -->").is_err());
        assert!(regenerate("<!-- registry:methods -->\n").is_err());
    }
}

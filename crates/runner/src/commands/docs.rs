//! `runner docs`: the tables of the README that are generated from the registry.
//!
//! They stand between `<!-- registry:begin -->` and `<!-- registry:end -->`.

use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr, miette};

use super::list::markdown;
use crate::catalogue::{KINDS, Kind};
use crate::exit::{Exit, UsageError};
use crate::output;

const BEGIN: &str = "<!-- registry:begin -->";
const END: &str = "<!-- registry:end -->";

/// Checks the tables of a file, or writes them.
pub(super) fn docs(file: &Path, write: bool) -> Result<Exit> {
    let name = file.display();
    let old = std::fs::read_to_string(file).into_diagnostic().wrap_err_with(|| format!("`{name}` can't be read"))?;
    let Some(new) = regenerate(&old) else {
        let help = format!("put `{BEGIN}` and `{END}` on lines of their own");
        return Err(UsageError::new(format!("`{name}` has no place for the tables"), Some(help)).into());
    };
    if new == old {
        output::print(&format!("{name}: the tables are up to date\n")).into_diagnostic()?;
        return Ok(Exit::Done);
    }
    if !write {
        return Err(miette!(help = "`runner docs --write` writes them", "the tables of `{name}` are out of date"));
    }
    std::fs::write(file, new).into_diagnostic().wrap_err_with(|| format!("`{name}` can't be written"))?;
    output::print(&format!("{name}: the tables are written\n")).into_diagnostic()?;
    Ok(Exit::Done)
}

/// The text with the tables as the registry has them; `None` where it has no place for them.
fn regenerate(old: &str) -> Option<String> {
    let (before, rest) = old.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let table = |kind: &Kind| format!("**{}**: {}\n\n{}", capitalised(kind.plural), kind.summary, markdown(kind));
    let tables: Vec<String> = KINDS.iter().filter(|kind| kind.plural != "datasets").map(table).collect();
    Some(format!("{before}{BEGIN}\n\n{}\n{END}{after}", tables.join("\n")))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_replaced_and_the_rest_is_kept() {
        let new = regenerate("# A\n<!-- registry:begin -->\nstale\n<!-- registry:end -->\nend\n").unwrap();
        assert!(
            new.starts_with("# A\n<!-- registry:begin -->\n\n**Methods**")
                && new.ends_with("<!-- registry:end -->\nend\n")
        );
        assert!(new.contains("`sms_nystrom`") && !new.contains("stale"));
        assert_eq!(regenerate(&new), Some(new));
        assert_eq!(regenerate("# A\n<!-- registry:begin -->\n"), None);
    }
}

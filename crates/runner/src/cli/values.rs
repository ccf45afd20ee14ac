//! Parsers of single values.

use std::path::PathBuf;

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number".to_owned()),
    }
}

/// Calls of a budget.
pub(super) fn calls(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

/// A folder that exists.
pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(format!("no such folder: `{text}`. Run `landmark data` to list the expected files"))
    }
}

/// A number that is neither NaN nor infinite.
pub(super) fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err("expected a finite number".to_owned()),
        Err(_) => Err("expected a number".to_owned()),
    }
}

//! Commands as a shell reads them back.

use std::path::Path;

/// A command, each word quoted for a shell.
pub fn command_line(program: &Path, words: &[String]) -> String {
    let program = program.display().to_string();
    std::iter::once(&program).chain(words).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

//! Texts without labels from the files of other corpora: what a representation may be learned from.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::rows::{RowFormat, Rows};

/// Layout of the texts in a file, plain or gzip.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextLayout {
    /// These columns of tab-separated values under a header line.
    Tsv(Vec<String>),
    /// JSON lines of forum threads: `subject`, `body`, and the `text` of each of the `comments`.
    Threads,
    /// JSON lines of tokenized documents: `tokens` is a list of `[sentence, token, text]`.
    SentenceTokens,
    /// The text representation of this name in lines of KeLP examples.
    KelpText(String),
}

/// Hands every text that is not blank to `each`.
pub(crate) fn read(path: &Path, layout: &TextLayout, each: &mut dyn FnMut(&str)) -> Result<(), DataError> {
    let mut hand_over = |text: &str| {
        if !text.trim().is_empty() {
            each(text.trim());
        }
    };
    let mut by_line = |texts_of: &dyn Fn(&str) -> Texts| -> Result<(), DataError> {
        let mut lines = Lines::open(path)?;
        while let Some((number, line)) = lines.next_line()? {
            let malformed = |wanted: String| DataError::malformed(path, number, format!("`{}`", excerpt(line)), wanted);
            texts_of(line).map_err(malformed)?.iter().for_each(|text| hand_over(text));
        }
        Ok(())
    };
    match layout {
        TextLayout::Tsv(columns) => {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let mut rows = Rows::open(path, RowFormat::Tsv, &columns)?;
            while let Some((_, cells)) = rows.next_full_row()? {
                cells.iter().for_each(|text| hand_over(text));
            }
            Ok(())
        }
        TextLayout::KelpText(name) => by_line(&|line| kelp_text(line, name)),
        TextLayout::Threads => by_line(&of_thread),
        TextLayout::SentenceTokens => by_line(&of_tokens),
    }
}

type Texts = Result<Vec<String>, String>;

fn kelp_text(line: &str, name: &str) -> Texts {
    let open = format!("|BS:{name}|");
    let inside = line.split_once(&open).and_then(|(_, rest)| rest.split_once("|ES|"));
    inside.map(|(text, _)| vec![text.to_owned()]).ok_or_else(|| format!("a text `{open} … |ES|`"))
}

fn object(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|_| "a JSON object".to_owned())
}

fn of_thread(line: &str) -> Texts {
    let thread = object(line)?;
    let comments = thread["comments"].as_array().ok_or("a list `comments`")?;
    let question = ["subject", "body"].iter().filter_map(|field| thread[field].as_str());
    let answers = comments.iter().filter_map(|comment| comment["text"].as_str());
    Ok(question.chain(answers).map(str::to_owned).collect())
}

fn of_tokens(line: &str) -> Texts {
    let document = object(line)?;
    let tokens = document["tokens"].as_array().ok_or("a list `tokens`")?;
    let words =
        |sentence: &[Value]| sentence.iter().filter_map(|token| token[2].as_str()).collect::<Vec<_>>().join(" ");
    Ok(tokens.chunk_by(|a, b| a[0] == b[0]).map(words).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(content: &str, layout: TextLayout) -> Result<Vec<String>, String> {
        let (_folder, path) = crate::test_files::file("texts", content);
        let mut seen = Vec::new();
        read(&path, &layout, &mut |text| seen.push(text.to_owned())).map_err(|error| error.to_string())?;
        Ok(seen)
    }

    #[test]
    fn each_layout_gives_its_texts_and_no_blank_ones() {
        let columns = TextLayout::Tsv(vec!["b".into(), "a".into()]);
        assert_eq!(texts("a\tx\tb\none\t-\ttwo\n\t-\tthree\n", columns).unwrap(), ["two", "one", "three"]);
        let thread = r#"{"subject": "Bank", "body": " ", "comments": [{"text": "try it"}, {"text": "why"}]}"#;
        assert_eq!(texts(thread, TextLayout::Threads).unwrap(), ["Bank", "try it", "why"]);
        let tokens = r#"{"tokens": [[0, 1, "It"], [0, 2, "rained"], [1, 3, "Why"]]}"#;
        assert_eq!(texts(tokens, TextLayout::SentenceTokens).unwrap(), ["It rained", "Why"]);
        let kelp = "DESC |BS:quest| Who asked ? |ES| |BT:grct| (x) |ET|\n";
        assert_eq!(texts(kelp, TextLayout::KelpText("quest".into())).unwrap(), ["Who asked ?"]);
    }

    #[test]
    fn what_does_not_follow_its_layout_is_named_by_line() {
        for (content, layout, wanted) in [
            (
                "a\tb\n",
                TextLayout::Tsv(vec!["text".into()]),
                "begins with the columns `a b`; wanted is a header line with a column `text`",
            ),
            (
                "x\ttext\nonly\n",
                TextLayout::Tsv(vec!["text".into()]),
                ":2: 1 columns where the header has 2; wanted is one tab between two columns",
            ),
            ("{}\n", TextLayout::Threads, ":1: `{}`; wanted is a list `comments`"),
            ("nothing\n", TextLayout::SentenceTokens, ":1: `nothing`; wanted is a JSON object"),
            ("x |BS:bow| y |ES|\n", TextLayout::KelpText("quest".into()), "wanted is a text `|BS:quest| … |ES|`"),
        ] {
            let message = texts(content, layout).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
    }
}

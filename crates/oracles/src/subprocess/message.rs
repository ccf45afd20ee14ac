//! The lines that are exchanged: protocol version 1, as the [module](super) describes it.

use std::borrow::Cow;
use std::fmt;

use landmark_core::oracle::Pair;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::ScoredItems;

pub(super) const VERSION: u32 = 1;

/// Bytes of an identity, which is printed and kept with every result: 16 KiB.
pub(super) const LONGEST_IDENTITY: usize = 1 << 14;
/// Characters of an error that a program gives for a pair.
const LONGEST_MESSAGE: usize = 1000;

pub(super) const EXAMPLE: &str = r#"{"landmark": 1, "identity": "my scorer, version 3", "symmetric": true}"#;

/// Form of an item in a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairForm {
    #[default]
    Text,
    /// Its id, as the user's file has it.
    Id,
    /// Its number, from 0.
    Index,
}

impl PairForm {
    /// What a program sees of each item; `None` where that is its number, which does not identify it in another list.
    pub fn seen(self, items: &ScoredItems) -> Option<Vec<Cow<'_, str>>> {
        // an id stands for its text: with another text it is another item
        let named = |(id, text): (&String, &String)| format!("{}\n{id}{text}", id.len()).into();
        match self {
            Self::Text => Some(items.texts.iter().map(Cow::from).collect()),
            Self::Id => Some(items.ids.iter().zip(&items.texts).map(named).collect()),
            Self::Index => None,
        }
    }
}

/// The first line of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Greeting {
    pub landmark: u32,
    /// Names everything that moves a score: model, weights, parameters. Another identity, another matrix.
    pub identity: String,
    /// True where `f(a, b) = f(b, a)`, so that each pair is asked for once.
    pub symmetric: bool,
    /// Form of an item in a pair.
    #[serde(default)]
    pub pairs: PairForm,
    /// The similarity of every item to itself, where it is known: then it is never asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagonal: Option<f64>,
}

impl Greeting {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let is_object = line.trim_ascii_start().starts_with(b"{");
        let greeting: Self = serde_json::from_slice(line).map_err(|error| match is_object {
            true => error.to_string(),
            false => "it is no JSON object; standard output is for answers only, print anything else to standard error"
                .to_owned(),
        })?;
        if greeting.landmark != VERSION {
            return Err(format!(
                "it uses version {} of the protocol, but this build uses version {VERSION}",
                greeting.landmark
            ));
        }
        if greeting.identity.is_empty() {
            return Err("its identity is empty".to_owned());
        }
        let length = greeting.identity.len();
        if length > LONGEST_IDENTITY {
            return Err(format!(
                "its identity has {length} bytes (expected at most {LONGEST_IDENTITY}; a digest of a long one will do)"
            ));
        }
        Ok(greeting)
    }
}

pub(super) fn hello(items: usize) -> Vec<u8> {
    format!("{{\"landmark\":{VERSION},\"items\":{items}}}\n").into_bytes()
}

pub(super) fn batch(number: u64, pairs: &[Pair], form: PairForm, items: &ScoredItems) -> Vec<u8> {
    let mut line = Vec::with_capacity(32 * pairs.len() + 64);
    line.extend(format!("{{\"batch\":{number},\"pairs\":[").bytes());
    for (k, &(i, j)) in pairs.iter().enumerate() {
        line.extend(if k == 0 { &b"["[..] } else { &b",["[..] });
        item(&mut line, i, form, items);
        line.push(b',');
        item(&mut line, j, form, items);
        line.push(b']');
    }
    line.extend(b"]}\n");
    line
}

fn item(line: &mut Vec<u8>, index: usize, form: PairForm, items: &ScoredItems) {
    let text = match form {
        PairForm::Text => &items.texts[index],
        PairForm::Id => &items.ids[index],
        PairForm::Index => return line.extend(index.to_string().bytes()),
    };
    // writing to memory cannot fail
    let _ = serde_json::to_writer(line, text);
}

/// The scores of one batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) batch: u64,
    pub(super) scores: Vec<Score>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Score {
    Number(f64),
    /// `null`, or Python's `NaN` and `Infinity`, which are no JSON.
    NoNumber,
    /// `{"error": "…"}`
    Refused(String),
}

impl Answer {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).or_else(|error| {
            let text = String::from_utf8_lossy(line);
            let plain = text.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null");
            serde_json::from_str(&plain).map_err(|_| error.to_string())
        })
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScoreVisitor)
    }
}

struct ScoreVisitor;

impl<'de> Visitor<'de> for ScoreVisitor {
    type Value = Score;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or `{\"error\": \"why there is none\"}`")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Score, E> {
        Ok(Score::Number(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Score, E> {
        Ok(Score::Number(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Score, E> {
        Ok(Score::Number(value as f64))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Score, E> {
        Ok(Score::NoNumber)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Score, A::Error> {
        let mut reason = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "error" {
                reason = Some(map.next_value::<String>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        let shown = |reason: String| Score::Refused(beginning(reason));
        reason.map(shown).ok_or_else(|| de::Error::missing_field("error"))
    }
}

/// A message of a program, cut where it is longer than a message should be.
pub(super) fn beginning(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_one_line_of_json_whatever_the_texts_hold() {
        let items =
            ScoredItems::new(vec!["a".into(), "b".into()], vec!["two\nlines".into(), "\"quoted\" ☃".into()]).unwrap();
        let line = batch(7, &[(0, 1), (1, 1)], PairForm::Text, &items);
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(json["batch"], 7);
        assert_eq!(json["pairs"][0], serde_json::json!(["two\nlines", "\"quoted\" ☃"]));
        let ids = batch(8, &[(1, 0)], PairForm::Id, &items);
        assert_eq!(ids, b"{\"batch\":8,\"pairs\":[[\"b\",\"a\"]]}\n");
        assert_eq!(batch(9, &[(1, 0)], PairForm::Index, &items), b"{\"batch\":9,\"pairs\":[[1,0]]}\n");
    }

    #[test]
    fn a_score_is_a_number_or_says_why_there_is_none() {
        let answer = Answer::parse(br#"{"batch": 3, "scores": [1, -0.5, null, NaN, {"error": "too long"}]}"#).unwrap();
        assert_eq!(answer.batch, 3);
        let refused = Score::Refused("too long".into());
        assert_eq!(answer.scores, [Score::Number(1.0), Score::Number(-0.5), Score::NoNumber, Score::NoNumber, refused]);
        assert!(Answer::parse(br#"{"batch": 3, "scores": ["1"]}"#).is_err());
    }

    #[test]
    fn identities_and_messages_of_a_program_have_a_longest_length() {
        let greeting = |bytes: usize| {
            Greeting::parse(
                format!(r#"{{"landmark": 1, "identity": "{}", "symmetric": true}}"#, "x".repeat(bytes)).as_bytes(),
            )
        };
        assert!(greeting(LONGEST_IDENTITY).is_ok());
        let reason = greeting(LONGEST_IDENTITY + 1).unwrap_err();
        assert!(reason.contains("16385 bytes (expected at most 16384"), "{reason}");
        let answer = format!(r#"{{"batch": 1, "scores": [{{"error": "{}"}}]}}"#, "é".repeat(5000));
        let Score::Refused(message) = &Answer::parse(answer.as_bytes()).unwrap().scores[0] else { panic!() };
        assert_eq!(message.chars().count(), LONGEST_MESSAGE + 1);
    }

    #[test]
    fn a_banner_in_front_of_the_greeting_is_shown_and_what_is_invisible_in_it() {
        for line in [&b"Loading model 3/7 ...\n"[..], b"\xef\xbb\xbf{}\n", b"{\0\"\0"] {
            let reason = Greeting::parse(line).unwrap_err();
            assert!(line.starts_with(b"{") || reason.contains("print anything else to standard error"), "{reason}");
        }
        let excerpt = crate::subprocess::error::excerpt;
        assert_eq!(excerpt("\u{feff}{\u{200b}".as_bytes()), "\\u{feff}{\\u{200b}");
        assert_eq!(excerpt(b"{\0\"\0"), "{\\u{0}\"\\u{0}");
    }

    #[test]
    fn a_greeting_of_another_version_or_with_a_typo_is_refused() {
        assert!(Greeting::parse(br#"{"landmark": 1, "identity": "x", "symmetric": true}"#).is_ok());
        let reason = Greeting::parse(br#"{"landmark": 2, "identity": "x", "symmetric": true}"#).unwrap_err();
        assert!(reason.contains("version 2"), "{reason}");
        let reason = Greeting::parse(br#"{"landmark": 1, "identity": "x", "symetric": true}"#).unwrap_err();
        assert!(reason.contains("symetric"), "{reason}");
    }
}

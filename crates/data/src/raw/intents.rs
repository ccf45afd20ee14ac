//! Utterances with an intent each: CLINC150, SNIPS and ATIS.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::{RawFiles, Table, latin1, lines, malformed, squeezed};
use crate::error::{DataError, excerpt};

/// An object of lists `[utterance, intent]`: those of `part`, then those of `oos_part`.
pub(super) fn clinc(name: &str, bytes: &[u8], part: &str) -> Result<Vec<u8>, DataError> {
    let lists: BTreeMap<String, Vec<(String, String)>> = serde_json::from_slice(bytes).map_err(|error| {
        malformed(name, error.line(), error.to_string(), "an object of lists `[utterance, intent]`")
    })?;
    let mut table = Table::new(&["intent", "text"]);
    for key in [part.to_owned(), format!("oos_{part}")] {
        let Some(list) = lists.get(&key) else {
            return Err(malformed(name, 1, format!("no list `{key}`"), "one"));
        };
        for (utterance, intent) in list {
            table.row(&[intent, &squeezed(utterance)]);
        }
    }
    Ok(table.finish())
}

#[derive(Deserialize)]
struct Utterance {
    data: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    text: String,
}

/// Files `<before><intent><after>` in the order of the intents, each an object `intent: [{data: [{text}]}]`. One of them is in Latin-1.
pub(super) fn snips(raw: &RawFiles, before: &str, after: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["intent", "text"]);
    let mut files = 0;
    for (name, bytes) in raw.iter() {
        let Some(intent) = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else { continue };
        let text = std::str::from_utf8(bytes).map_or_else(|_| Cow::from(latin1(bytes)), Cow::from);
        let lists: BTreeMap<String, Vec<Utterance>> = serde_json::from_str(&text).map_err(|error| {
            malformed(name, error.line(), error.to_string(), "an object `intent: [{data: [{text: …}]}]`")
        })?;
        let Some(utterances) = lists.get(intent) else {
            return Err(malformed(name, 1, format!("no list `{intent}`"), "that of the intent of its name"));
        };
        for utterance in utterances {
            let text: String = utterance.data.iter().map(|piece| piece.text.as_str()).collect();
            table.row(&[intent, &squeezed(&text)]);
        }
        files += 1;
    }
    if files == 0 {
        return Err(DataError::Empty { path: format!("{before}*{after}").into(), what: "files" });
    }
    Ok(table.finish())
}

/// `BOS words EOS`, a tab, a slot a word and the intent last.
pub(super) fn atis(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["intent", "text", "slots"]);
    for (number, line) in lines(text) {
        let (words, slots) = line.split_once('\t').unwrap_or((line, ""));
        let (words, slots): (Vec<&str>, Vec<&str>) =
            (words.split_whitespace().collect(), slots.split_whitespace().collect());
        match (&words[..], &slots[..]) {
            (["BOS", words @ .., "EOS"], [_, slots @ .., intent]) if words.len() == slots.len() => {
                table.row(&[intent, &words.join(" "), &slots.join(" ")]);
            }
            _ => {
                let wanted = "`BOS words EOS`, a tab, a slot a word, the intent";
                return Err(malformed(name, number, format!("`{}`", excerpt(line)), wanted));
            }
        }
    }
    Ok(table.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Result<Vec<u8>, DataError>) -> String {
        String::from_utf8(bytes.unwrap()).unwrap()
    }

    #[test]
    fn clinc_ends_with_what_is_out_of_scope() {
        let raw = br#"{"oos_val": [["who  won", "oos"]], "val": [["pay it", "pay"]]}"#;
        assert_eq!(text(clinc("c", raw, "val")), "intent\ttext\npay\tpay it\noos\twho won\n");
        let error = clinc("c", raw, "test").unwrap_err().to_string();
        assert_eq!(error, "c:1: no list `test`; wanted is one");
        let error = clinc("c", br#"{"val": [["pay it"]]}"#, "val").unwrap_err().to_string();
        assert!(error.starts_with("c:1: invalid length 1"), "{error}");
    }

    #[test]
    fn snips_joins_the_pieces_of_an_utterance_by_nothing() {
        let file = "{\"Play\": [{\"data\": [{\"text\": \"play \"}, {\"text\": \"caf\u{e9}\", \"entity\": \"x\"}]}]}";
        let mut raw = RawFiles::one("train_Play_full.json", latin1_bytes(file));
        assert_eq!(text(snips(&raw, "train_", "_full.json")), "intent\ttext\nPlay\tplay café\n");
        assert!(
            snips(&raw, "validate_", ".json").unwrap_err().to_string().contains("`validate_*.json` holds no files")
        );
        raw.insert("train_Rate_full.json", b"{\"Play\": []}".to_vec());
        let error = snips(&raw, "train_", "_full.json").unwrap_err().to_string();
        assert!(error.starts_with("train_Rate_full.json:1: no list `Rate`"), "{error}");
    }

    fn latin1_bytes(text: &str) -> Vec<u8> {
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
    }

    #[test]
    fn atis_has_a_slot_a_word() {
        let raw = "BOS to boston EOS\tO O B-city atis_flight\n\n";
        assert_eq!(text(atis("a", raw)), "intent\ttext\tslots\natis_flight\tto boston\tO B-city\n");
        for bad in ["BOS to boston EOS\tO O atis_flight", "to boston EOS\tO O O atis_flight", "BOS to EOS"] {
            let error = atis("a", &format!("{raw}{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("a:3: `{bad}`")), "{error}");
        }
    }
}

//! An endless stream of utterances from the embedded templates: for timing, and for unlabelled text without a download.
//!
//! A template is drawn, then a value for each of its slots: 25 templates over 13 slots make several hundred thousand utterances. Utterance i
//! of a stream depends on nothing but (seed, block of i), so that blocks can be made side by side.

use landmark_core::stream::{Rng, stream};
use rand::Rng as _;

use crate::error::DataError;

/// Templates and the values of their slots.
#[derive(Debug, Clone)]
pub struct SyntheticUtterances {
    templates: Vec<Vec<Piece>>,
    slots: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Slot(usize),
}

impl SyntheticUtterances {
    /// The templates that ship inside.
    pub fn embedded() -> Result<Self, DataError> {
        Self::parse(include_str!("../embedded/utterance_templates.txt"))
    }

    /// Lines `slot: value | value`, `- template with {slot}`, `# comment`.
    fn parse(text: &str) -> Result<Self, DataError> {
        let refuse = |seen: &str, wanted: &str| {
            Err(DataError::Parameter { parameter: "templates", seen: seen.to_owned(), wanted: wanted.to_owned() })
        };
        let mut parsed = Self { templates: Vec::new(), slots: Vec::new() };
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if let Some(template) = line.strip_prefix("- ") {
                let mut pieces = Vec::new();
                for (k, stretch) in template.split(['{', '}']).enumerate().filter(|(_, stretch)| !stretch.is_empty()) {
                    let slot = parsed.slots.iter().position(|(name, _)| name == stretch);
                    pieces.push(match (k % 2, slot) {
                        (0, _) => Piece::Text(stretch.to_owned()),
                        (_, Some(slot)) => Piece::Slot(slot),
                        (_, None) => return refuse(line, "a slot that is defined above"),
                    });
                }
                parsed.templates.push(pieces);
            } else if let Some((name, values)) = line.split_once(": ") {
                parsed.slots.push((name.to_owned(), values.split(" | ").map(str::to_owned).collect()));
            } else {
                return refuse(line, "`slot: value | value` or `- template`");
            }
        }
        if parsed.templates.is_empty() { refuse("nothing", "at least one template") } else { Ok(parsed) }
    }

    /// The utterances of one block, without end: replicate `block` of the stream (seed, "synthetic", "utterances").
    pub fn block(&self, seed: u64, block: u64) -> Utterances<'_> {
        Utterances { from: self, rng: stream(seed, "synthetic", "utterances", block), text: String::new() }
    }
}

/// One block of a synthetic stream.
pub struct Utterances<'a> {
    from: &'a SyntheticUtterances,
    rng: Rng,
    text: String,
}

impl Utterances<'_> {
    pub fn next_text(&mut self) -> &str {
        self.text.clear();
        let templates = &self.from.templates;
        for piece in &templates[self.rng.gen_range(0..templates.len())] {
            match piece {
                Piece::Text(text) => self.text.push_str(text),
                Piece::Slot(slot) => {
                    let values = &self.from.slots[*slot].1;
                    self.text.push_str(&values[self.rng.gen_range(0..values.len())]);
                }
            }
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_embedded_templates_leave_no_slot_open_and_vary() {
        let synthetic = SyntheticUtterances::embedded().unwrap();
        let mut block = synthetic.block(1, 0);
        let texts: HashSet<String> = (0..2000).map(|_| block.next_text().to_owned()).collect();
        assert!(texts.len() > 1000 && texts.iter().all(|text| !text.contains(['{', '}', '|'])));
    }

    #[test]
    fn a_block_is_the_same_each_time_and_another_block_another() {
        let synthetic = SyntheticUtterances::embedded().unwrap();
        let take = |seed, block| {
            let mut block = synthetic.block(seed, block);
            (0..20).map(|_| block.next_text().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(take(1, 3), take(1, 3));
        assert_ne!(take(1, 3), take(1, 4));
        assert_ne!(take(1, 3), take(2, 3));
    }

    #[test]
    fn templates_with_an_unknown_slot_and_lines_that_are_none_are_refused() {
        for (text, wanted) in
            [("- go to {town}\n", "a slot that is defined above"), ("town\n", "`- template`"), ("", "nothing")]
        {
            let message = SyntheticUtterances::parse(text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}

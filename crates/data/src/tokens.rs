//! From a text to its words, by one short rule.
//!
//! The text is lower-cased and composed (Unicode, NFC). A word is a maximal run of letters and digits with the marks on
//! them (vowel signs, accents) and the joiners U+200C and U+200D behind them; an apostrophe or a hyphen with a letter or
//! digit on both sides belongs to the word (`don't`, `all-purpose`), everything else separates. A
//! typographic apostrophe counts as the plain one. Digits stay: a word that has no vector is dropped later anyway.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The words of a text, in order.
///
/// ```
/// use landmark_data::tokens::words;
/// assert_eq!(words("Don’t add all-purpose flour -- 'twas 2% milk!"),
///     ["don't", "add", "all-purpose", "flour", "twas", "2", "milk"]);
/// ```
pub fn words(text: &str) -> Vec<String> {
    let lower: String = text.to_lowercase().nfc().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    let mut joiner = None;
    for c in lower.chars() {
        let c = if c == '’' { '\'' } else { c };
        if c.is_alphanumeric() {
            word.extend(joiner.take());
            word.push(c);
        } else if joiner.is_none() && !word.is_empty() && (is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}'))
        {
            word.push(c);
        } else if matches!(c, '\'' | '-') && joiner.is_none() && !word.is_empty() {
            joiner = Some(c);
        } else {
            joiner = None;
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The stop words of `stop_words.txt`: compiled for this project, not one of the published lists.
pub fn stop_words() -> &'static HashSet<&'static str> {
    static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let list = include_str!("stop_words.txt");
        list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
    });
    &STOP_WORDS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn joiners_hold_only_between_letters_or_digits() {
        assert_eq!(words("rock-'n'-roll  e-mail's -x- it''s"), ["rock", "n", "roll", "e-mail's", "x", "it", "s"]);
        assert_eq!(words("apple 's siri: don-"), ["apple", "s", "siri", "don"]);
        assert_eq!(words("  \t\n"), [""; 0]);
    }

    #[test]
    fn a_word_keeps_its_marks_and_is_composed() {
        assert_eq!(words("हिन्दी, क्षेत्र"), ["हिन्दी", "क्षेत्र"]);
        assert_eq!(words("Cafe\u{301} au lait"), ["caf\u{e9}", "au", "lait"]);
        // a mark on nothing is no word; a half-space of Persian stands within one
        assert_eq!(words("\u{301} می\u{200c}خواهم"), ["می\u{200c}خواهم"]);
    }

    #[test]
    fn every_stop_word_is_one_word_of_the_rule() {
        assert!(stop_words().len() > 200);
        for &word in stop_words() {
            assert_eq!(words(word), [word], "`{word}` can never be met");
        }
    }

    proptest! {
        #[test]
        fn a_word_splits_no_further(text: String) {
            for word in words(&text) {
                prop_assert_eq!(words(&word), [word]);
            }
        }
    }
}

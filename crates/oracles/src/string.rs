//! Similarity of strings: Jaro–Winkler, Damerau–Levenshtein, token sort.
//!
//! All three lie between 0 and 1, are symmetric, and are 1 for equal strings. Their matrices are indefinite in general. Record linkage compares
//! names, titles and addresses with them.
//!
//! - Jaro–Winkler: Winkler 1990, "String comparator metrics and enhanced decision rules in the Fellegi–Sunter model of record linkage".
//! - Damerau–Levenshtein: 1 − d/max(|a|, |b|), where d counts insertions, deletions, substitutions and transpositions of neighbors (unrestricted).
//! - Token sort: the tokens of each string in order, joined by a blank, then 2·LCS/(|a| + |b|), LCS the longest common subsequence.
//!
//! Strings are compared by Unicode scalar values, after [`str::to_lowercase`] unless set otherwise. Two empty strings have similarity 1.
//!
//! Cost: O(|a|·|b|/64) per pair for token sort, O(|a|·|b|) for the others; some microseconds for an address.

use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, check_pairs};
use rapidfuzz::distance::{damerau_levenshtein, indel, jaro_winkler};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::subprocess::ScoredItems;

/// How two strings are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Matching characters, transpositions, and a common prefix.
    JaroWinkler,
    /// Edits, transpositions of neighbors among them.
    DamerauLevenshtein,
    /// Common subsequence of the sorted tokens.
    TokenSort,
}

impl Measure {
    pub const ALL: [Self; 3] = [Self::JaroWinkler, Self::DamerauLevenshtein, Self::TokenSort];

    pub fn id(self) -> &'static str {
        match self {
            Self::JaroWinkler => "jaro_winkler",
            Self::DamerauLevenshtein => "damerau_levenshtein",
            Self::TokenSort => "token_sort",
        }
    }

    fn similarity(self, a: &[char], b: &[char]) -> f64 {
        let (a, b) = (a.iter().copied(), b.iter().copied());
        match self {
            Self::JaroWinkler => jaro_winkler::similarity(a, b),
            Self::DamerauLevenshtein => damerau_levenshtein::normalized_similarity(a, b),
            Self::TokenSort => indel::normalized_similarity(a, b),
        }
    }
}

/// A similarity of strings over items.
pub struct StringSimilarity {
    measure: Measure,
    lowercase: bool,
    items: Arc<ScoredItems>,
    strings: Vec<Vec<char>>,
}

impl StringSimilarity {
    /// The similarity of the texts of `items`.
    pub fn new(measure: Measure, lowercase: bool, items: Arc<ScoredItems>) -> Self {
        let strings = items.texts().iter().map(|text| {
            let text = if lowercase { text.to_lowercase() } else { text.clone() };
            if measure != Measure::TokenSort {
                return text.chars().collect();
            }
            let mut tokens: Vec<&str> = text.split_whitespace().collect();
            tokens.sort_unstable();
            tokens.join(" ").chars().collect()
        });
        let strings = strings.collect();
        Self { measure, lowercase, items, strings }
    }

    /// The measure apart from the items that it compares.
    pub fn identity_apart_from_items(&self) -> Identity {
        Identity::of(&[
            ("kind", b"string"),
            ("version", b"1"),
            ("measure", self.measure.id().as_bytes()),
            ("lowercase", &[u8::from(self.lowercase)]),
        ])
    }
}

impl Oracle for StringSimilarity {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(1.0), ..OracleShape::symmetric(self.strings.len()) }
    }

    fn identity(&self) -> Identity {
        let measure = self.identity_apart_from_items();
        Identity::of(&[("measure", measure.as_bytes()), ("items", self.items.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        pairs.par_iter().zip(out).for_each(|(&(i, j), out)| {
            // some of the measures round differently in the other order
            let (i, j) = (i.min(j), i.max(j));
            *out = if i == j { 1.0 } else { self.measure.similarity(&self.strings[i], &self.strings[j]) };
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(measure: Measure, lowercase: bool, a: &str, b: &str) -> f64 {
        let texts = vec![a.to_owned(), b.to_owned()];
        let items = Arc::new(ScoredItems::new(vec!["a".to_owned(), "b".to_owned()], texts).unwrap());
        let oracle = StringSimilarity::new(measure, lowercase, items);
        let mut out = [0.0; 4];
        oracle.evaluate(&[(0, 1), (1, 0), (0, 0), (1, 1)], &mut out).unwrap();
        assert_eq!(out[0], out[1], "{measure:?} of `{a}` and `{b}` depends on their order");
        assert_eq!(out[2..], [1.0, 1.0]);
        out[0]
    }

    #[test]
    fn similarities_are_those_of_the_definitions() {
        use Measure::{DamerauLevenshtein, JaroWinkler, TokenSort};
        // Winkler 1990, table 1
        for (a, b, wanted) in [("MARTHA", "MARHTA", 0.9611), ("DIXON", "DICKSONX", 0.8133), ("DWAYNE", "DUANE", 0.8400)]
        {
            let seen = similarity(JaroWinkler, false, a, b);
            assert!((seen - wanted).abs() < 5e-5, "{a} {b}: {seen}");
        }
        // one transposition of seven; "ca" and "abc" differ by 2 edits where a transposed pair may be edited again
        assert!((similarity(DamerauLevenshtein, true, "Maple St", "maple ts") - 7.0 / 8.0).abs() < 1e-12);
        assert!((similarity(DamerauLevenshtein, true, "ca", "abc") - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(similarity(TokenSort, true, "Anna  Petersen", "petersen anna"), 1.0);
        // "anna petersen," and "ann petersen,": 13 common characters of 14 and 13
        assert!((similarity(TokenSort, true, "Petersen, Anna", "Ann Petersen,") - 2.0 * 13.0 / 27.0).abs() < 1e-12);
        assert!(similarity(JaroWinkler, false, "anna", "ANNA") < 0.5);
        assert_eq!(similarity(JaroWinkler, true, "anna", "ANNA"), 1.0);
    }

    #[test]
    fn empty_strings_have_a_similarity() {
        for measure in Measure::ALL {
            assert_eq!(similarity(measure, true, "", ""), 1.0);
            assert_eq!(similarity(measure, true, "", "a"), 0.0);
        }
    }
}

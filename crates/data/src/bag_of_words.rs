//! Documents as normalized bags of words over a vocabulary of vectors.

/// n documents in compressed rows: document i holds `words[offsets[i]..offsets[i+1]]`, distinct and ascending, with
/// weights that sum to 1 (an empty document has no words at all). Memory: 12 bytes a distinct word of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct BagsOfWords {
    ids: Vec<String>,
    offsets: Vec<usize>,
    words: Vec<u32>,
    weights: Vec<f64>,
}

impl BagsOfWords {
    /// From one list of (word index, count) per document: counts are normalized to sum 1, repeated words are merged, and
    /// words whose count is not positive are left out. Ids are the numbers from 0.
    ///
    /// ```
    /// use landmark_data::BagsOfWords;
    /// let bags = BagsOfWords::from_counts([vec![(7, 1.0), (2, 2.0), (7, 1.0)], vec![]]);
    /// assert_eq!(bags.document(0), (&[2, 7][..], &[0.5, 0.5][..]));
    /// assert_eq!(bags.empty_documents(), [1]);
    /// ```
    pub fn from_counts(documents: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut bags = Self { ids: Vec::new(), offsets: vec![0], words: Vec::new(), weights: Vec::new() };
        for mut counts in documents {
            counts.retain(|&(_, count)| count > 0.0);
            counts.sort_by_key(|&(word, _)| word);
            let total: f64 = counts.iter().map(|&(_, count)| count).sum();
            for of_one_word in counts.chunk_by(|a, b| a.0 == b.0) {
                bags.words.push(of_one_word[0].0);
                bags.weights.push(of_one_word.iter().map(|&(_, count)| count).sum::<f64>() / total);
            }
            bags.ids.push(bags.ids.len().to_string());
            bags.offsets.push(bags.words.len());
        }
        bags
    }

    /// The same bags under the ids of their documents.
    ///
    /// # Panics
    /// More or fewer ids than documents.
    #[must_use]
    pub fn with_ids(mut self, ids: Vec<String>) -> Self {
        assert_eq!(ids.len(), self.len(), "one id for each document");
        self.ids = ids;
        self
    }

    /// Number of documents n.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Word indices and weights of document i, both of its number of distinct words.
    pub fn document(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.words[range.clone()], &self.weights[range])
    }

    pub fn id(&self, i: usize) -> &str {
        &self.ids[i]
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Indices of the documents without any word, ascending.
    pub fn empty_documents(&self) -> Vec<usize> {
        (0..self.len()).filter(|&i| self.offsets[i] == self.offsets[i + 1]).collect()
    }

    /// The documents at these indices, in this order.
    #[must_use]
    pub fn subset(&self, indices: &[usize]) -> Self {
        let mut subset = Self { ids: Vec::new(), offsets: vec![0], words: Vec::new(), weights: Vec::new() };
        for &i in indices {
            let (words, weights) = self.document(i);
            subset.words.extend_from_slice(words);
            subset.weights.extend_from_slice(weights);
            subset.ids.push(self.ids[i].clone());
            subset.offsets.push(subset.words.len());
        }
        subset
    }

    /// Without the documents that have no word, and the indices of those that stay: the caller's labels and splits
    /// must follow them.
    #[must_use]
    pub fn drop_empty(&self) -> (Self, Vec<usize>) {
        let kept: Vec<usize> = (0..self.len()).filter(|&i| self.offsets[i] < self.offsets[i + 1]).collect();
        (self.subset(&kept), kept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn weights_sum_to_one_and_words_ascend(
            documents in prop::collection::vec(prop::collection::vec((0u32..20, 0.0f64..9.0), 0..30), 0..10),
        ) {
            let bags = BagsOfWords::from_counts(documents.clone());
            prop_assert_eq!(bags.len(), documents.len());
            for (i, counts) in documents.iter().enumerate() {
                let (words, weights) = bags.document(i);
                prop_assert!(words.windows(2).all(|pair| pair[0] < pair[1]));
                if counts.iter().any(|&(_, count)| count > 0.0) {
                    // at most 30 terms of at most 1, each rounded once: far below 1e-12
                    prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                } else {
                    prop_assert!(words.is_empty());
                }
            }
        }
    }
}

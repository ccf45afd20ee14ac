//! Documents as normalised bags of words over a vocabulary of vectors.

/// n documents in compressed rows: document i holds `words[offsets[i]..offsets[i+1]]`, distinct and ascending, with
/// weights that sum to 1 (an empty document has no words at all).
#[derive(Debug, Clone, PartialEq)]
pub struct BagsOfWords {
    offsets: Vec<usize>,
    words: Vec<u32>,
    weights: Vec<f64>,
}

impl BagsOfWords {
    /// From one list of (word index, count) per document: counts are normalised to sum 1, repeated words are merged.
    pub fn from_counts(documents: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut bags = Self { offsets: vec![0], words: Vec::new(), weights: Vec::new() };
        for mut counts in documents {
            counts.sort_unstable_by_key(|&(word, _)| word);
            let total: f64 = counts.iter().map(|&(_, count)| count).sum();
            for (word, count) in counts {
                let weight = count / total;
                if bags.words.len() > bags.offsets[bags.offsets.len() - 1] && bags.words.last() == Some(&word) {
                    if let Some(last) = bags.weights.last_mut() {
                        *last += weight;
                    }
                } else {
                    bags.words.push(word);
                    bags.weights.push(weight);
                }
            }
            bags.offsets.push(bags.words.len());
        }
        bags
    }

    /// Number of documents n.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Word indices and weights of document i, both of its number of distinct words.
    pub fn document(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.words[range.clone()], &self.weights[range])
    }
}

//! Tree kernels against golden values, KeLP's own scores, a naive twin and bad input.

mod twin;

mod golden;
mod kelp;
mod promises;

use std::collections::HashMap;
use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, block_of};
use landmark_data::Tree;
use landmark_oracles::tree_kernel::{Forest, LabelSimilarity, NumberedSimilarity, TreeKernel, TreeKernelParams};

fn trees(texts: &[&str]) -> Vec<Tree> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn kernel(trees: &[Tree], params: TreeKernelParams) -> TreeKernel {
    TreeKernel::new(Arc::new(Forest::new(trees).unwrap()), params.check().unwrap())
}

fn score(oracle: &dyn Oracle, i: usize, j: usize) -> f64 {
    block_of(oracle, &[i], &[j]).unwrap()[[0, 0]]
}

/// Similarities of pairs of labels, all in one group.
struct Table(Vec<(String, String, f64)>);

impl Table {
    fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str, f64)>) -> Self {
        Self(pairs.into_iter().map(|(first, second, value)| (first.to_owned(), second.to_owned(), value)).collect())
    }
}

impl LabelSimilarity for Table {
    fn identity(&self) -> Identity {
        Identity::of(&[("table", format!("{:?}", self.0).as_bytes())])
    }

    fn group<'a>(&self, _label: &'a str) -> Option<&'a str> {
        Some("table")
    }

    fn bind(&self, labels: &[String]) -> Box<NumberedSimilarity> {
        let number: HashMap<&str, u32> = labels.iter().map(String::as_str).zip(0..).collect();
        let mut bound = HashMap::new();
        for (first, second, value) in &self.0 {
            if let (Some(&a), Some(&b)) = (number.get(first.as_str()), number.get(second.as_str())) {
                bound.insert((a, b), *value);
                bound.insert((b, a), *value);
            }
        }
        Box::new(move |a, b| bound.get(&(a, b)).copied().unwrap_or(0.0))
    }
}

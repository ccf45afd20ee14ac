//! Train/test split of documents, and seeded samples of them: index vectors, never copies.

use landmark_core::stream::stream;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::error::DataError;

/// The side of a split that a dataset's own column puts a document on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Train,
    Test,
}

impl Part {
    /// `train` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// Two disjoint, ascending sets of indices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Split {
    pub train: Vec<usize>,
    pub test: Vec<usize>,
}

impl Split {
    /// The split a column of parts describes.
    pub fn of(parts: &[Part]) -> Self {
        let (train, test) = (0..parts.len()).partition(|&i| parts[i] == Part::Train);
        Self { train, test }
    }

    /// A random split of n items with round(ratio · n) of them to train on: replicate `replicate` of the stream
    /// (seed, dataset, "split"). The papers average over five of them with ratio 0.7.
    ///
    /// # Errors
    /// [`DataError::Parameter`] where the ratio leaves one side empty.
    ///
    /// ```
    /// use landmark_data::Split;
    /// let split = Split::random(3_108, 0.7, 2022, "twitter", 0)?;
    /// assert_eq!((split.train.len(), split.test.len()), (2_176, 932)); // the sizes of the papers
    /// # Ok::<(), landmark_data::DataError>(())
    /// ```
    pub fn random(n: usize, ratio: f64, seed: u64, dataset: &str, replicate: u64) -> Result<Self, DataError> {
        let wanted = (ratio * n as f64).round();
        if !(wanted >= 1.0 && wanted <= n as f64 - 1.0) {
            return Err(DataError::Parameter {
                parameter: "ratio",
                seen: ratio.to_string(),
                wanted: format!("a share of the {n} documents that leaves at least one on each side"),
            });
        }
        let mut train: Vec<usize> = (0..n).collect();
        train.shuffle(&mut stream(seed, dataset, "split", replicate));
        let mut test = train.split_off(wanted as usize); // exact: 1 ≤ wanted < n
        train.sort_unstable();
        test.sort_unstable();
        Ok(Self { train, test })
    }
}

/// At most `limit` of the items, ascending, each group with its share (largest remainder, ties to the first group): a
/// seeded sample for reduced profiles. The sample of a smaller limit need not lie within that of a larger one.
pub fn stratified_sample(groups: &[usize], limit: usize, seed: u64, dataset: &str) -> Vec<usize> {
    if groups.len() <= limit {
        return (0..groups.len()).collect();
    }
    let mut members = vec![Vec::new(); groups.iter().max().map_or(0, |&last| last + 1)];
    for (i, &group) in groups.iter().enumerate() {
        members[group].push(i);
    }
    let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
    let mut rng = stream(seed, dataset, "sample", 0);
    let mut sample = Vec::with_capacity(limit);
    for (group, share) in members.iter_mut().zip(shares(&sizes, limit)) {
        sample.extend_from_slice(group.partial_shuffle(&mut rng, share).0);
    }
    sample.sort_unstable();
    sample
}

/// Divides `limit` among groups in proportion to their sizes; never more than a group has, in total exactly `limit`.
fn shares(sizes: &[usize], limit: usize) -> Vec<usize> {
    let total: usize = sizes.iter().sum();
    let mut shares: Vec<usize> = sizes.iter().map(|&size| size * limit / total).collect();
    let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
    by_remainder.sort_by_key(|&g| std::cmp::Reverse(sizes[g] * limit % total));
    let missing = limit - shares.iter().sum::<usize>();
    for &g in by_remainder.iter().take(missing) {
        shares[g] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replicates_differ_and_a_replicate_repeats() {
        let split = |replicate| Split::random(100, 0.7, 1, "d", replicate).unwrap();
        assert_eq!(split(0), split(0));
        assert_ne!(split(0), split(1));
    }

    #[test]
    fn a_ratio_that_empties_a_side_is_refused() {
        for ratio in [0.0, 1.0, -1.0, f64::NAN] {
            let error = Split::random(10, ratio, 1, "d", 0).unwrap_err().to_string();
            assert!(error.starts_with("`ratio` is"), "{error}");
        }
    }

    #[test]
    fn a_limit_keeps_the_shares_of_the_groups() {
        let groups: Vec<usize> = (0..1000).map(|i| if i < 700 { 0 } else { 1 }).collect();
        let sample = stratified_sample(&groups, 100, 7, "d");
        assert_eq!(sample.iter().filter(|&&i| groups[i] == 0).count(), 70);
    }

    proptest! {
        #[test]
        fn a_split_is_a_partition(n in 2usize..300, ratio in 0.0f64..1.0, seed: u64) {
            if let Ok(split) = Split::random(n, ratio, seed, "d", 0) {
                let mut all = [split.train.clone(), split.test.clone()].concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
                prop_assert!(split.train.is_sorted() && split.test.is_sorted());
            }
        }
    }
}

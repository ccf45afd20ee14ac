//! Folds of a list: what is left out in turn.

/// The items in at most `count` parts, every `count`-th of them in one; without items none.
///
/// ```
/// use landmark_core::folds::folds;
/// assert_eq!(folds(&[7, 5, 3, 1, 2], 2), [vec![7, 3, 2], vec![5, 1]]);
/// ```
pub fn folds<T: Copy>(items: &[T], count: usize) -> Vec<Vec<T>> {
    (0..count.min(items.len())).map(|first| items.iter().copied().skip(first).step_by(count).collect()).collect()
}

//! Items in the plane so that neighbors stay neighbors: Barnes-Hut t-SNE over their most similar, begun at the principal axes.
//!
//! van der Maaten, *Accelerating t-SNE using tree-based algorithms*, 2014, by the crate `bhtsne`. The squared distance of two items is the largest
//! similarity less theirs. Cost: 500 steps of m log m.

use bhtsne::{Neighbor, tSNE};
use landmark_report::Near;

use super::survey::Survey;

/// Neighbors that an item is held by, as t-SNE counts them; three times as many are read.
const PERPLEXITY: usize = 30;
/// Steps.
const EPOCHS: usize = 500;
/// Openness of the tree: larger is faster and coarser.
const THETA: f32 = 0.5;
/// Fewer items than these are seen well enough along the principal axes.
const FEWEST: usize = 30;
/// Radius of a straggler at most, in radii that hold 99 % of the items.
const OUTERMOST: f64 = 1.25;
/// Spread of the items at the beginning.
const BEGINNING: f64 = 1e-4;

/// An arrangement of the items; `None` for few of them.
pub(super) fn of(survey: &Survey, plane: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    let m = survey.len();
    let points = (m >= FEWEST).then(|| arrange(&survey.nearest(3 * perplexity(m)), plane))?;
    points.iter().all(|(x, y)| x.is_finite() && y.is_finite()).then_some(points)
}

/// The same places with stragglers drawn in: none is farther from the middle than a quarter beyond the radius that holds 99 % of the items, or a
/// few would shrink all others to a spot.
pub(super) fn gathered(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let at_share = |mut values: Vec<f64>, share: f64| {
        values.sort_by(f64::total_cmp);
        // between the first and the last
        values.get((share * values.len().saturating_sub(1) as f64) as usize).copied().unwrap_or(0.0)
    };
    let (across, up) = points.iter().copied().unzip();
    let middle = (at_share(across, 0.5), at_share(up, 0.5));
    let radius = |&(x, y): &(f64, f64)| (x - middle.0).hypot(y - middle.1);
    let most = OUTERMOST * at_share(points.iter().map(radius).collect(), 0.99);
    let drawn_in = |point: &(f64, f64)| match radius(point) {
        far if far > most => {
            (middle.0 + most / far * (point.0 - middle.0), middle.1 + most / far * (point.1 - middle.1))
        }
        _ => *point,
    };
    points.iter().map(drawn_in).collect()
}

fn perplexity(m: usize) -> usize {
    PERPLEXITY.min((m - 1) / 3)
}

/// Places of the items from their lists of neighbors, all of one length, and from where they begin.
fn arrange(near: &[Vec<Near>], plane: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let m = near.len();
    let top = near.iter().flatten().map(|near| near.score).fold(f64::NEG_INFINITY, f64::max);
    let list = |row: &Vec<Near>| -> Vec<Neighbor<f32>> {
        // single precision is what a picture needs
        row.iter()
            .map(|near| Neighbor { index: near.place, distance: (top - near.score).max(0.0).sqrt() as f32 })
            .collect()
    };
    let lists: Vec<Vec<Neighbor<f32>>> = near.iter().map(list).collect();
    let spread = (plane.iter().map(|(x, _)| x * x).sum::<f64>() / m as f64).sqrt().max(f64::MIN_POSITIVE);
    // items of one place would stay together for ever: each begins a hair aside
    let hair = |item: usize| ((item as f64 * 0.618_033_988_75).fract() - 0.5) * 0.02;
    let begin = |(item, (x, y)): (usize, &(f64, f64))| {
        [x / spread + hair(item), y / spread + hair(item + m)].map(|value| (BEGINNING * value) as f32)
    };
    let beginning: Vec<f32> = plane.iter().enumerate().flat_map(begin).collect();
    let nothing = vec![(); m];
    let arranged = || -> Vec<(f64, f64)> {
        let mut tsne: tSNE<'_, f32, (), 2> = tSNE::new(&nothing);
        tsne.perplexity(perplexity(m) as f32).epochs(EPOCHS).initial_embedding(beginning.clone());
        tsne.barnes_hut_with_neighbors(THETA, &lists);
        tsne.embedding().chunks(2).map(|point| (f64::from(point[0]), f64::from(point[1]))).collect()
    };
    // sums in the order of one thread, so that every machine draws the same map
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(alone) => alone.install(arranged),
        Err(_) => arranged(),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    /// Two groups of 40 items, far apart.
    fn survey() -> Survey {
        let rows = Array2::from_shape_fn((80, 3), |(item, axis)| match axis {
            0 => f64::from(u8::from(item < 40)),
            1 => f64::from(u8::from(item >= 40)),
            _ => 0.1 * ((item * item) as f64).sin(),
        });
        Survey::estimated(rows.view(), &array![1.0, 1.0, 1.0])
    }

    #[test]
    fn groups_stay_together_and_the_same_lists_give_the_same_places() {
        let survey = survey();
        let plane: Vec<(f64, f64)> = (0..80).map(|item| (f64::from(u8::from(item < 40)), 0.0)).collect();
        let first = of(&survey, &plane).unwrap();
        let nearest = |item: usize| {
            let distance = |other: &usize| {
                let (a, b): ((f64, f64), (f64, f64)) = (first[item], first[*other]);
                (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
            };
            (0..80).filter(|&other| other != item).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
        };
        assert!((0..80).all(|item| (nearest(item) < 40) == (item < 40)));
        let again = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(again.install(|| of(&survey, &plane)).unwrap(), first, "on one thread");
    }

    #[test]
    fn duplicates_have_finite_places_and_few_items_none() {
        let alike = Survey::estimated(Array2::ones((50, 1)).view(), &array![1.0]);
        let places = of(&alike, &[(0.0, 0.0); 50]);
        assert!(places.is_none_or(|places| places.iter().all(|(x, y)| x.is_finite() && y.is_finite())));
        let few = Survey::estimated(Array2::ones((FEWEST - 1, 1)).view(), &array![1.0]);
        assert_eq!(of(&few, &[(0.0, 0.0); FEWEST - 1]), None);
    }

    #[test]
    fn stragglers_are_drawn_in_and_the_others_stay() {
        let mut points: Vec<(f64, f64)> =
            (0..300).map(|item| (f64::from(item)).sin_cos()).map(|(y, x)| (x + 3.0, y)).collect();
        points[7] = (3.0, 900.0);
        let gathered = gathered(&points);
        for (item, (before, after)) in points.iter().zip(&gathered).enumerate() {
            let moved = (before.0 - after.0).hypot(before.1 - after.1);
            // the middle of a circle of points is found to a hundredth
            assert!(if item == 7 { (after.1 - 1.25).abs() < 0.05 } else { moved == 0.0 }, "{item}: {after:?}");
        }
        assert_eq!(super::gathered(&[(2.0, 2.0)]), [(2.0, 2.0)]);
    }
}

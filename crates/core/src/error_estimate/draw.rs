//! Uniform draws of items and pairs, by place.

use rand::Rng as _;

use crate::entries::pair_map::PairSet;
use crate::oracle::Pair;
use crate::stream::Rng;

/// Distinct pairs that hold a landmark, uniformly; all of them where there are not more.
pub(super) fn draw_evaluated(n: usize, landmarks: &[usize], count: usize, rng: &mut Rng) -> Vec<Pair> {
    let mut place_of = vec![None; n];
    landmarks.iter().enumerate().for_each(|(place, &t)| place_of[t] = Some(place));
    // a pair of two landmarks belongs to the later one
    let is_own = |i: usize, place: usize| place_of[i].is_none_or(|other| other < place);
    let s = landmarks.len();
    let most = s * (n - s) + s * s.saturating_sub(1) / 2;
    if count >= most {
        let of = |(place, &t): (usize, &usize)| (0..n).filter(move |&i| is_own(i, place)).map(move |i| (i, t));
        return landmarks.iter().enumerate().flat_map(of).collect();
    }
    let mut is_drawn = PairSet::default();
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let (i, place) = (rng.gen_range(0..n), rng.gen_range(0..s));
        if is_own(i, place) && is_drawn.insert((i, landmarks[place])) {
            drawn.push((i, landmarks[place]));
        }
    }
    drawn
}

/// Drawing from all n items and turning landmarks away keeps samples of nested landmark sets alike; where nearly all are
/// landmarks, that would take forever.
fn draws_from_all(n: usize, outside: &[usize]) -> bool {
    outside.len() * 8 > n
}

pub(super) fn draw_items(n: usize, is_landmark: &[bool], outside: &[usize], count: usize, rng: &mut Rng) -> Vec<usize> {
    if count == outside.len() {
        return outside.to_vec();
    }
    let mut is_drawn = vec![false; n];
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let i = draw_item(n, outside, rng);
        if !is_landmark[i] && !is_drawn[i] {
            is_drawn[i] = true;
            drawn.push(i);
        }
    }
    drawn
}

fn draw_item(n: usize, outside: &[usize], rng: &mut Rng) -> usize {
    if draws_from_all(n, outside) { rng.gen_range(0..n) } else { outside[rng.gen_range(0..outside.len())] }
}

pub(super) fn draw_pairs(n: usize, is_landmark: &[bool], outside: &[usize], count: usize, rng: &mut Rng) -> Vec<Pair> {
    let u = outside.len();
    if u < 2 || count >= u * (u - 1) / 2 {
        let below = |a: usize| outside[..a].iter().map(move |&j| (outside[a], j));
        return (0..u).flat_map(below).collect();
    }
    let mut is_drawn = PairSet::default();
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let (i, j) = (draw_item(n, outside, rng), draw_item(n, outside, rng));
        if i != j && !is_landmark[i] && !is_landmark[j] && is_drawn.insert((i.max(j), i.min(j))) {
            drawn.push((i, j));
        }
    }
    drawn
}

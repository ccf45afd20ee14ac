//! Draws by content: uniform, nested, and the same whatever stands before and behind an item.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::stream::stream;

type Pair = (usize, usize);

fn rng(seed: u64) -> Rng {
    stream(seed, "contents", "landmarks", 0)
}

fn of(items: &[usize]) -> Contents {
    let digest = |item: &usize| {
        let mut digest = [0; DIGEST];
        digest[..8].copy_from_slice(&(*item as u64).to_le_bytes());
        digest
    };
    Contents::new(items.iter().map(digest).collect())
}

/// A list that is 0, 1, … n − 1 but for a change, and what it has kept of the first s.
fn kept(changed: &[usize], n: usize, s: usize, seed: u64) -> usize {
    let all: Vec<usize> = (0..n).collect();
    let before: HashSet<usize> = of(&all).order(&mut rng(seed))[..s].iter().copied().collect();
    of(changed).order(&mut rng(seed))[..s].iter().filter(|&&place| before.contains(&changed[place])).count()
}

#[test]
fn a_list_that_gains_loses_or_reorders_items_keeps_its_landmarks() {
    let (n, s) = (1000, 50);
    let list = |range: std::ops::Range<usize>| range.collect::<Vec<_>>();
    let prepended: Vec<usize> = std::iter::once(n).chain(0..n).collect();
    let reversed: Vec<usize> = (0..n).rev().collect();
    let seeds = 40;
    let mean =
        |changed: &[usize]| (0..seeds).map(|seed| kept(changed, n, s, seed)).sum::<usize>() as f64 / seeds as f64;
    assert_eq!(mean(&reversed), s as f64);
    assert!(mean(&list(0..n + 1)) > 49.5 && mean(&prepended) > 49.5 && mean(&list(1..n)) > 49.5);
    // s·10/1,010 = .5 and s·100/1,100 = 4.5 of the larger list's landmarks are new items
    assert!((mean(&list(0..n + 10)) - 49.5).abs() < 0.4);
    assert!((mean(&list(0..n + 100)) - 45.5).abs() < 1.2);
}

#[test]
fn over_the_seeds_every_item_and_every_two_items_are_drawn_equally_often() {
    let (n, s, seeds) = (12, 4, 6000_u64);
    let contents = of(&(0..n).collect::<Vec<_>>());
    let mut alone = vec![0_f64; n];
    let mut both: HashMap<Pair, f64> = HashMap::new();
    for seed in 0..seeds {
        let order = contents.order(&mut rng(seed));
        for &i in &order[..s] {
            alone[i] += 1.0;
            order[..s].iter().filter(|&&j| j < i).for_each(|&j| *both.entry((i, j)).or_default() += 1.0);
        }
    }
    let within = |count: f64, p: f64| (count - seeds as f64 * p).abs() < 4.5 * (seeds as f64 * p * (1.0 - p)).sqrt();
    assert!(alone.iter().all(|&count| within(count, 1.0 / 3.0)), "{alone:?}");
    assert_eq!(both.len(), 66);
    assert!(both.values().all(|&count| within(count, 12.0 / 132.0)), "{both:?}");
}

#[test]
fn copies_are_landmarks_only_after_all_contents_are() {
    let items: Vec<usize> = (0..60).map(|place| place % 20).collect();
    let contents = of(&items);
    assert_eq!((contents.distinct(), contents.has_copies(), contents.first(47)), (20, true, 7));
    let order = contents.order(&mut rng(3));
    let first: HashSet<usize> = order[..20].iter().map(|&place| items[place]).collect();
    assert_eq!(first.len(), 20);
    assert_eq!(order.iter().collect::<HashSet<_>>().len(), 60);
}

#[test]
fn drawn_pairs_are_distinct_nested_and_uniform() {
    let (n, count, seeds) = (10, 9, 8000_u64);
    let contents = of(&(0..n).collect::<Vec<_>>());
    let among: Vec<usize> = (1..n).collect();
    let mut often: HashMap<Pair, f64> = HashMap::new();
    let (mut coins, mut together) = (0.0, HashMap::<(Pair, Pair), f64>::new());
    for seed in 0..seeds {
        let drawn = contents.draw_pairs(&among, count, &mut rng(seed));
        assert_eq!(drawn[..5], contents.draw_pairs(&among, 5, &mut rng(seed)));
        let sorted: Vec<Pair> = drawn.iter().map(|&(i, j)| (i.max(j), i.min(j))).collect();
        assert_eq!(sorted.iter().collect::<HashSet<_>>().len(), count);
        coins += drawn.iter().filter(|(i, j)| i < j).count() as f64;
        for &pair in &sorted {
            *often.entry(pair).or_default() += 1.0;
            let earlier = sorted.iter().filter(|&&other| other < pair);
            earlier.for_each(|&other| *together.entry((pair, other)).or_default() += 1.0);
        }
    }
    let within = |count: f64, p: f64| (count - seeds as f64 * p).abs() < 5.0 * (seeds as f64 * p * (1.0 - p)).sqrt();
    assert_eq!((often.len(), together.len()), (36, 630));
    assert!(often.values().all(|&count| within(count, 0.25)));
    assert!(together.values().all(|&count| within(count, 72.0 / 1260.0)));
    assert!((coins / (9.0 * seeds as f64) - 0.5).abs() < 0.01);
    assert_eq!(contents.draw_pairs(&among, 1000, &mut rng(1)).len(), 36);
    assert!(contents.draw_pairs(&[4], 3, &mut rng(1)).is_empty());
}

#[test]
fn pairs_of_a_list_too_long_to_look_at_all_of_them_stay_when_it_grows() {
    let (n, more, count) = (3000, 3030, 2000);
    let (before, after) = (of(&(0..n).collect::<Vec<_>>()), of(&(0..more).collect::<Vec<_>>()));
    let all: Vec<usize> = (0..more).collect();
    let first = before.draw_pairs(&all[..n], count, &mut rng(8));
    let then: HashSet<Pair> = after.draw_pairs(&all, count, &mut rng(8)).into_iter().collect();
    assert_eq!((first.len(), then.len()), (count, count));
    // 2 % of the longer list's pairs hold a new item
    let kept = first.iter().filter(|pair| then.contains(pair)).count();
    assert!(kept > 1920, "{kept}");
    // each item is in 2·2,000/3,000 of them
    let mut of_item = vec![0_f64; n];
    first.iter().for_each(|&(i, j)| (of_item[i], of_item[j]) = (of_item[i] + 1.0, of_item[j] + 1.0));
    let mean = 2.0 * count as f64 / n as f64;
    let variance = of_item.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / n as f64;
    assert!((variance / mean - 1.0).abs() < 0.15, "{variance} of {mean}");
}

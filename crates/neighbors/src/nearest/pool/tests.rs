use std::collections::HashMap;
use std::sync::Mutex;

use landmark_core::oracle::{Identity, OracleError, OracleShape};
use landmark_core::rank::RankCmp;
use proptest::prelude::*;

use super::super::places::places;
use super::*;

/// A proxy that answers every pair in its own way and counts how often it was asked.
struct Counted {
    shape: OracleShape,
    salt: f64,
    asked: Mutex<HashMap<Pair, u32>>,
}

fn proxy_score(salt: f64, (i, j): Pair) -> f64 {
    ((i.min(j) * 31 + i.max(j)) as f64 * salt).sin()
}

impl Oracle for Counted {
    fn shape(&self) -> OracleShape {
        self.shape
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"counted")])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let mut asked = self.asked.lock().unwrap();
        for (&pair, out) in pairs.iter().zip(out) {
            *asked.entry(pair).or_default() += 1;
            *out = proxy_score(self.salt, pair);
        }
        Ok(())
    }
}

fn upper((i, j): Pair) -> Pair {
    (i.min(j), i.max(j))
}

/// Lists of n items that hold some pairs.
fn lists(n: usize, pairs: &[Pair]) -> Lists {
    Lists::by_rows(n, |i, row| row.extend(pairs.iter().filter(|pair| pair.0 == i).map(|pair| pair.1 as u32)))
}

/// Pairs of two of n items, in either order and with repetitions.
fn some_pairs(n: usize, most: usize) -> impl Strategy<Value = Vec<Pair>> {
    let pair = (0..n.max(1), 0..n.max(1)).prop_filter("two items", |(i, j)| i != j);
    let none = Just(Vec::new()).boxed();
    if n < 2 { none } else { prop::collection::vec(pair, 0..most).boxed() }
}

/// n, the width, two steps of listed pairs and of known pairs with their scores.
type Steps = (usize, usize, [Vec<Pair>; 2], [Vec<(Pair, i8)>; 2]);

fn steps() -> impl Strategy<Value = Steps> {
    (prop_oneof![0..4_usize, Just(40)], 0..3_usize).prop_flat_map(|(n, width)| {
        let listed = [some_pairs(n, 120), some_pairs(n, 120)];
        let known = || {
            some_pairs(n, 60).prop_flat_map(|pairs| {
                let count = pairs.len();
                (Just(pairs), prop::collection::vec(any::<i8>(), count))
                    .prop_map(|(pairs, scores)| pairs.into_iter().zip(scores).collect())
            })
        };
        (Just(n), Just(width), listed, [known(), known()])
    })
}

/// A known score; some pairs failed.
fn score(drawn: i8) -> f64 {
    if drawn == i8::MIN { FAILED } else { f64::from(drawn) / 4.0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_pool_that_grows_knows_of_every_pair_what_was_written_and_reads_no_proxy_twice((n, width, listed, known) in steps()) {
        let counted: Vec<Arc<Counted>> = (0..width)
            .map(|a| Arc::new(Counted { shape: OracleShape::symmetric(n), salt: a as f64 + 0.7, asked: Mutex::default() }))
            .collect();
        let proxies: Vec<Arc<dyn Oracle>> = counted.iter().map(|one| -> Arc<dyn Oracle> { Arc::<Counted>::clone(one) }).collect();
        let scored = |known: &[(Pair, i8)]| known.iter().map(|&(pair, drawn)| (pair, score(drawn))).collect::<Vec<_>>();
        let mut wanted: HashMap<Pair, f64> = HashMap::new();
        let mut pool: Option<Pool> = None;
        for (listed, known) in listed.iter().zip(&known) {
            let known = scored(known);
            listed.iter().for_each(|&pair| { wanted.entry(upper(pair)).or_insert(UNKNOWN); });
            known.iter().for_each(|&(pair, score)| { wanted.insert(upper(pair), score); });
            let more = vec![lists(n, listed), Lists::default()];
            let made = match pool {
                Some(pool) => pool.with(&known, more, &proxies),
                None => Pool::new(n, more, &known, &proxies),
            }.unwrap();
            prop_assert_eq!((made.len(), made.pair_count()), (n, wanted.len()));
            let mut numbers: Vec<usize> = Vec::new();
            for i in 0..n {
                let others: Vec<usize> = made.row(i).map(|slot| made.other(slot)).collect();
                prop_assert!(others.is_sorted() && made.upper(i).all(|slot| made.other(slot) > i));
                prop_assert_eq!(others.iter().filter(|&&j| j > i).count(), made.upper(i).len());
                for slot in made.row(i) {
                    let pair = upper((i, made.other(slot)));
                    let mirror = made.slot(made.other(slot), i).unwrap();
                    prop_assert_eq!(made.number(slot), made.number(mirror));
                    let is_same = made.raw(slot) == wanted[&pair] || (made.raw(slot).is_nan() && wanted[&pair].is_nan());
                    prop_assert!(is_same && made.is_asked(slot) != made.raw(slot).is_nan(), "{pair:?}");
                    let read: Vec<f64> = counted.iter().map(|one| proxy_score(one.salt, pair)).collect();
                    prop_assert_eq!(made.proxies(slot), &read[..]);
                }
                numbers.extend(made.upper(i).map(|slot| made.number(slot)));
            }
            prop_assert!(numbers.into_iter().eq(0..made.pair_count()), "pairs are numbered in ascending order");
            pool = Some(made);
        }
        for one in &counted {
            let asked = one.asked.lock().unwrap();
            prop_assert_eq!(asked.len(), wanted.len());
            prop_assert!(asked.iter().all(|(pair, &times)| times == 1 && wanted.contains_key(pair)));
        }
    }

    #[test]
    fn the_places_of_a_pool_are_those_of_whole_rows((n, _, [listed, _], [known, _]) in steps(), count in 0..80_usize, only_first: bool) {
        let known: Vec<(Pair, f64)> = known.iter().map(|&(pair, drawn)| (pair, score(drawn))).collect();
        let pool = Pool::new(n, vec![lists(n, &listed)], &known, &[]).unwrap();
        // few values, so that many are equal; a failed pair stands last
        let value = |i: usize, slot: usize| {
            let pair = upper((i, pool.other(slot)));
            if pool.raw(slot) == FAILED { FAILED } else { ((pair.0 * 7 + pair.1 * 3) % 5) as f64 }
        };
        let mut pairs: Vec<(usize, f64, Pair)> = Vec::new();
        let rank = |i: usize, j: usize| {
            let mut row: Vec<(f64, usize)> = pool.row(i).map(|slot| (value(i, slot), pool.other(slot))).collect();
            row.sort_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
            row.iter().position(|&(_, other)| other == j).unwrap()
        };
        for i in 0..n {
            for slot in pool.upper(i).filter(|&slot| !pool.is_asked(slot)) {
                let j = pool.other(slot);
                let place = if only_first { rank(i, j) } else { rank(i, j).min(rank(j, i)) };
                pairs.push((place, value(i, slot), (i, j)));
            }
        }
        pairs.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.rank_cmp(&one.1)).then(one.2.cmp(&other.2)));
        let mut wanted: Vec<Pair> = pairs.into_iter().take(count).map(|(_, _, pair)| pair).collect();
        wanted.sort_unstable();
        prop_assert_eq!(places(&pool, count, value, |_, slot| !pool.is_asked(slot), only_first), wanted);
    }
}

#[test]
fn hidden_scores_come_back_and_a_second_score_takes_the_place_of_the_first() {
    let mut pool = Pool::new(3, vec![lists(3, &[(0, 1), (0, 2)])], &[((1, 0), 0.5)], &[]).unwrap();
    let (slot, mirror) = (pool.slot(0, 1).unwrap(), pool.slot(1, 0).unwrap());
    pool.hide([slot].into_iter());
    assert!(pool.score(mirror).is_nan() && pool.raw(mirror) == 0.5 && !pool.is_asked(slot));
    pool.reveal([mirror].into_iter());
    assert_eq!((pool.score(slot), pool.score(mirror)), (0.5, 0.5));
    assert!(pool.set(1, 0, 0.25) && pool.set(2, 0, FAILED) && !pool.set(1, 2, 1.0));
    assert_eq!((pool.raw(slot), pool.raw(pool.slot(0, 2).unwrap())), (0.25, FAILED));
    assert_eq!(pool.ranks(), RankTransform::of(vec![0.25]));
}

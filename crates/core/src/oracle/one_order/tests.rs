use super::*;
use crate::oracle::{AsymmetryPolicy, Metered, Precomputed, Symmetrization, Symmetrized};
use crate::stream::stream;
use ndarray::Array2;
use rand::Rng as _;

const N: usize = 40;

fn asymmetric() -> Precomputed {
    let mut rng = stream(1, "one order", "scores", 0);
    let scores = Array2::from_shape_fn((N, N), |_| rng.gen_range(-1.0..1.0));
    Precomputed::new(scores, AsymmetryPolicy::Keep).unwrap()
}

fn all(oracle: &dyn Oracle) -> Array2<f64> {
    let items: Vec<usize> = (0..oracle.len()).collect();
    block_of(oracle, &items, &items).unwrap()
}

#[test]
fn the_coins_are_those_of_the_python_twin() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/one_order.json");
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in file["coins"].as_array().unwrap() {
        let number = |key: &str| case[key].as_u64().unwrap();
        let (i, j) = (usize::try_from(number("i")).unwrap(), usize::try_from(number("j")).unwrap());
        let wanted = if case["is_up"].as_bool().unwrap() { (i, j) } else { (j, i) };
        assert_eq!(Coin::new(number("seed")).order(j, i), wanted, "{case}");
    }
}

#[test]
fn a_pair_has_one_coin_and_about_half_of_them_fall_up() {
    let coin = Coin::new(7);
    let pairs = || (0..300_usize).flat_map(|j| (0..j).map(move |i| (i, j)));
    for (i, j) in pairs() {
        assert_eq!(coin.order(i, j), coin.order(j, i));
        assert_eq!(coin.sign(i, j), -coin.sign(j, i));
        assert_eq!(coin.sign(i, j), -coin.turned().sign(i, j));
        assert_eq!(coin.sign(i, j) > 0.0, coin.order(i, j) == (i, j));
    }
    assert_eq!(coin.sign(5, 5), 0.0);
    let up = pairs().filter(|&(i, j)| coin.order(i, j) == (i, j)).count();
    // 44,850 fair coins: a standard deviation is 106, five of them
    assert!(up.abs_diff(44_850 / 2) < 530, "{up}");
    // and those of one item, whose errors would not average out: 299 coins, five times 8.6
    let of_one = (1..300).filter(|&j| coin.order(0, j) == (0, j)).count();
    assert!(of_one.abs_diff(150) < 43, "{of_one}");
}

#[test]
fn each_pair_is_asked_for_once_in_the_order_of_its_coin() {
    let scores = asymmetric();
    let given = Metered::new(&scores);
    let coin = Coin::new(3);
    let one = OneOrder::new(&given, coin);
    assert_eq!((one.symmetry(), one.evaluations_per_pair()), (Symmetry::Symmetric, 1));
    let dense = all(&one);
    assert_eq!(given.spent().evaluations, (N * (N + 1) / 2) as u64);
    for ((i, j), &score) in dense.indexed_iter() {
        assert_eq!(score, scores.matrix()[coin.order(i, j)]);
    }
}

#[test]
fn both_sides_of_the_coins_are_the_mean_at_two_calls_a_pair_and_one_a_self_similarity() {
    let scores = asymmetric();
    let given = Metered::new(&scores);
    let coin = Coin::new(3);
    let mean = MeanOfOrders::new(OneOrder::new(&given, coin), OneOrder::new(&given, coin.turned()));
    let both = Symmetrized::new(&scores, Symmetrization::Mean);
    assert_eq!(all(&mean), all(&both));
    assert_eq!(given.spent().evaluations, (N * N) as u64);
    assert_eq!(mean.evaluations_per_pair(), 2);
    // a rectangle without a diagonal, and pairs
    let (rows, cols) = ((0..9).collect::<Vec<_>>(), (20..33).collect::<Vec<_>>());
    assert_eq!(block_of(&mean, &rows, &cols).unwrap(), block_of(&both, &rows, &cols).unwrap());
    let pairs = [(1, 2), (4, 4), (7, 3)];
    let (mut ours, mut theirs) = ([0.0; 3], [0.0; 3]);
    mean.evaluate(&pairs, &mut ours).unwrap();
    both.evaluate(&pairs, &mut theirs).unwrap();
    assert_eq!(ours, theirs);
}

#[test]
fn seed_and_side_are_part_of_the_identity_and_a_symmetric_score_passes_through() {
    let scores = asymmetric();
    let identity = |coin| OneOrder::new(&scores, coin).identity();
    let identities = [identity(Coin::new(1)), identity(Coin::new(2)), identity(Coin::new(1).turned())];
    assert!(identities.iter().enumerate().all(|(k, a)| identities[..k].iter().all(|b| a != b)));
    assert!(identities.iter().all(|&a| a != Symmetrized::new(&scores, Symmetrization::Mean).identity()));
    let symmetric = Precomputed::new(scores.matrix().clone(), AsymmetryPolicy::Mean).unwrap();
    assert_eq!(OneOrder::new(&symmetric, Coin::new(1)).identity(), symmetric.identity());
}

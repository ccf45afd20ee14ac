//! Ways to learn, compared by what a sample of their pairs finds.

use super::*;

/// Points in six dimensions, and the same with noise.
fn points(n: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut rng = stream(seed, "neighbours", "looks", n as u64);
    let mut draw = || Array2::from_shape_fn((n, 6), |_| rng.gen_range(-1.0..1.0));
    let (points, noise) = (draw(), draw());
    let proxy = &points + &(0.8 * &noise);
    (points, proxy)
}

/// exp(−8 · distance): a few scores are far above all others, and squared errors see these alone.
fn skewed(n: usize, seed: u64) -> (Precomputed, EmbeddingProxy) {
    let (points, proxy) = points(n, seed);
    let distance = |i: usize, j: usize| (&points.row(i) - &points.row(j)).mapv(|d| d * d).sum().sqrt();
    let scores = Array2::from_shape_fn((n, n), |(i, j)| (-8.0 * distance(i, j)).exp());
    (Precomputed::new(scores, AsymmetryPolicy::Mean).unwrap(), EmbeddingProxy::cosine(proxy).unwrap())
}

/// Of every pair a number of its own beyond the proxy: those of similar items are independent of it.
fn unlearnable(n: usize, seed: u64) -> (Precomputed, EmbeddingProxy) {
    let proxy = EmbeddingProxy::cosine(points(n, seed).1).unwrap();
    let mut rng = stream(seed, "neighbours", "looks", 0);
    let mut scores = whole(&proxy);
    for i in 0..n {
        for j in 0..i {
            // one pair in twenty stands out
            scores[[i, j]] += if rng.gen_range(0..20) == 0 { rng.gen_range(0.0..2.0) } else { 0.0 };
            scores[[j, i]] = scores[[i, j]];
        }
    }
    (Precomputed::new(scores, AsymmetryPolicy::Reject).unwrap(), proxy)
}

fn found(oracle: &Precomputed, proxy: &EmbeddingProxy, params: RoundsParams) -> Found {
    let proxies: Vec<Arc<dyn Oracle>> = vec![Arc::new(proxy.clone())];
    let mut search = Search::new(rounds(params), OracleShape::of(oracle), proxies, &landmarks(oracle.len())).unwrap();
    answer_all(&mut search, oracle);
    search.finish().unwrap()
}

#[test]
fn looks_keep_the_process_from_losing_and_find_more_than_its_weights_alone_where_scores_are_skewed() {
    const N: usize = 160;
    for (name, world) in [("skewed", skewed as fn(usize, u64) -> _), ("unlearnable", unlearnable), ("plain", problem)] {
        let mut sums = [0.0; 3];
        for seed in 0..4 {
            let (oracle, proxy) = world(N, seed);
            for (sum, (pairwise, looks)) in sums.iter_mut().zip([(false, false), (true, false), (true, true)]) {
                let params = RoundsParams { pairwise, looks, calls_per_item: 10, ..RoundsParams::default() };
                let found = found(&oracle, &proxy, params);
                assert_eq!(found.pairs, (N * 10) as u64);
                *sum += recall(&whole(&oracle), &found, 10) / 4.0;
            }
        }
        let [neither, weights, both] = sums;
        assert!(both > neither - 0.02, "{name}: {neither} with neither, {both} with both");
        assert!(name != "skewed" || both > weights + 0.05, "{name}: {weights} by weights alone, {both} with looks");
    }
}

#[test]
fn a_look_takes_a_small_part_of_a_round_and_calls_stay_those_of_the_plan() {
    let (oracle, proxy) = skewed(200, 7);
    let sizes = |looks: bool| -> Vec<(Step, usize)> {
        let proxies: Vec<Arc<dyn Oracle>> = vec![Arc::new(proxy.clone())];
        let params = RoundsParams { looks, calls_per_item: 15, ..RoundsParams::default() };
        let mut search = Search::new(rounds(params), OracleShape::of(&oracle), proxies, &landmarks(200)).unwrap();
        let of = |batch: &Batch| (batch.step, batch.pairs.len());
        answer_all(&mut search, &oracle).iter().map(of).collect()
    };
    let (with, without) = (sizes(true), sizes(false));
    let calls = |sizes: &[(Step, usize)]| sizes.iter().map(|&(_, pairs)| pairs).sum::<usize>();
    assert_eq!((calls(&with), calls(&without)), (3000, 3000));
    for (with, without) in with.iter().zip(&without).filter(|(with, _)| matches!(with.0, Step::Proxy(_))) {
        // three ways at most, a tenth of the round each, which is five times the share of the proxy
        assert!(with.1 >= without.1 && with.1 <= without.1 + 3 * (without.1 / 2 + 1), "{with:?} {without:?}");
    }
    assert_ne!(with, without, "nothing was looked at");
}

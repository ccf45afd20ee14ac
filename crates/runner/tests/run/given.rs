//! Neighbors, pairs and groups of a matrix that is given: read off it, whatever the factors give; and its page, which knows the truth.
#![cfg(unix)]

use ndarray::{Array1, Array2};
use ndarray_npy::read_npy;

use serde_json::json;

use crate::own_page::{bytes, map, page};
use crate::scratch::{Scratch, smooth_matrix};

const GIVEN: &str = "name: given\nexperiment: own_data\ndataset: { name: precomputed, path: k.npy }\noracle: { kind: precomputed }\n\
                     methods: [nystrom]\nranks: 2\nerror_estimate: 20\n";

fn rows(scratch: &Scratch, path: &str) -> Vec<Vec<String>> {
    let text = scratch.read(path);
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn answers_of_a_given_matrix_are_exact_and_complete() {
    let scratch = Scratch::with(GIVEN);
    // neighbors of even items are even ones: nothing that two columns of a smooth matrix show
    let matrix = ndarray::Array2::from_shape_fn((30, 30), |(i, j)| {
        smooth_matrix()[[i, j]] - if (i + j) % 2 == 1 { 0.5 } else { 0.0 }
    });
    scratch.write_matrix("k.npy", &matrix);
    scratch.run_well("--quiet");

    for more in ["--target-recall 0.9", "--rerank 5", ""] {
        scratch.well(&format!("topk config.yaml -k 2 {more}")).prints(&["read from the given matrix"]);
    }
    for row in rows(&scratch, "runs/given/neighbors.tsv") {
        let [item, neighbor] = [&row[0], &row[2]].map(|id| id.parse::<usize>().unwrap());
        let (i, nearest) = (item, (0..30).filter(|&j| j != item));
        let best = nearest.map(|j| matrix[[i, j]]).fold(f64::NEG_INFINITY, f64::max);
        let score: f64 = row[3].parse().unwrap();
        assert!((score - matrix[[item, neighbor]]).abs() < 1e-12 && row[4] == "true", "{row:?}");
        assert!(row[1] != "1" || (score - best).abs() < 1e-12, "{row:?}");
    }

    let wanted = (0..30).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&pair| matrix[pair] >= 0.6).count();
    for more in ["", "--groups"] {
        let seen = scratch.well(&format!("mine config.yaml --at-least 0.6 {more}"));
        assert!(seen.out.contains(&format!("{wanted} ")), "{wanted}: {}{}", seen.out, seen.err);
    }
    let pairs = rows(&scratch, "runs/given/pairs.tsv");
    assert_eq!(pairs.len(), wanted);
    assert!(pairs.iter().all(|row| row[3] == "true"));
}

#[test]
fn the_page_of_a_given_matrix_tells_its_true_error_and_recall() {
    let scratch = Scratch::with(&GIVEN.replace("name: given", "name: mine").replace("ranks: 2", "ranks: 6"));
    let truth =
        Array2::from_shape_fn((30, 30), |(i, j)| smooth_matrix()[[i, j]] * if (i + j) % 3 == 1 { 0.6 } else { 1.0 });
    let truth = (&truth + &truth.t()) / 2.0;
    scratch.write_matrix("k.npy", &truth);
    let seen = scratch.run_well("");
    assert!(seen.err.contains("; exact, against all of K.") && !seen.err.contains("`project`"), "{}", seen.err);
    let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    let signs: Array1<f64> = read_npy(scratch.path("runs/mine/factors/signature.npy")).unwrap();
    let approximated = (&z * &signs).dot(&z.t());
    let off = |matrix: &Array2<f64>| {
        let squares = matrix.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, value)| value * value);
        squares.sum::<f64>().sqrt()
    };
    let text = page(&scratch);
    let error = off(&(&truth - &approximated)) / off(&truth);
    assert!(text.contains(&format!("The relative error off the diagonal is {error:.3} (exact)")), "{error}");
    // the ten nearest of each item that is no landmark, by the columns of the landmarks and else by the factors
    let info = scratch.json("runs/mine/factors/factors.json");
    let landmarks: Vec<usize> =
        info["landmarks"].as_array().unwrap().iter().map(|item| item.as_u64().unwrap() as usize).collect();
    let nearest = |item: usize, of: &dyn Fn(usize) -> f64| {
        let mut others: Vec<usize> = (0..30).filter(|&other| other != item).collect();
        others.sort_by(|&a, &b| of(b).total_cmp(&of(a)).then(a.cmp(&b)));
        others.truncate(10);
        others
    };
    let judged: Vec<usize> = (0..30).filter(|item| !landmarks.contains(item)).collect();
    let found = judged.iter().map(|&item| {
        let wanted = nearest(item, &|other| truth[[item, other]]);
        let ours = nearest(item, &|other| match landmarks.contains(&other) {
            true => truth[[item, other]],
            false => approximated[[item, other]],
        });
        wanted.iter().filter(|other| ours.contains(other)).count()
    });
    let recall = found.sum::<usize>() as f64 / (10 * judged.len()) as f64;
    assert!(recall < 1.0, "a matrix that six columns give away tells nothing");
    let stated = scratch.values("runs/mine", &json!({ "metric": "recall_at_10", "rank": 6 }))[0];
    assert!((stated - recall).abs() < 1e-12, "{recall}: {stated}");
    assert!(text.contains("The factors of 6 landmarks find "));
    assert!(text.contains("exact, at all items that are no landmark"));
    // what it lists is the matrix itself
    assert!(bytes(&map(&scratch)["exact"]).iter().all(|&exact| exact == 1));
    assert!(!text.contains("estimated by the factors\">") && text.contains("Read off the matrix"));
    assert!(text.contains("against every entry of the matrix, which is given"));
    assert!(!text.contains("evaluated for the purpose"));
}

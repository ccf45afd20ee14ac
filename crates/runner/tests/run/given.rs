//! Neighbours, pairs and groups of a matrix that is given: read off it, whatever the factors say.

use crate::scratch::{Scratch, smooth_matrix};

const GIVEN: &str = "name: given\nexperiment: own_data\ndataset: { name: precomputed, path: k.npy }\noracle: { kind: precomputed }\n\
                     methods: [nystrom]\nranks: 2\nerror_estimate: 20\n";

fn rows(scratch: &Scratch, path: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(scratch.path(path)).unwrap();
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn answers_of_a_given_matrix_are_exact_and_complete() {
    let scratch = Scratch::with(GIVEN);
    // neighbours of even items are even ones: nothing that two columns of a smooth matrix say
    let matrix = ndarray::Array2::from_shape_fn((30, 30), |(i, j)| {
        smooth_matrix()[[i, j]] - if (i + j) % 2 == 1 { 0.5 } else { 0.0 }
    });
    scratch.write_matrix("k.npy", &matrix);
    scratch.run_well(&["--quiet"]);

    for more in [&["--target-recall", "0.9"][..], &["--rescore", "5"], &[]] {
        let said = scratch.say(&[&["topk", "config.yaml", "-k", "2"], more].concat());
        assert!(said.code == Some(0) && said.out.contains("read off the matrix"), "{}{}", said.out, said.err);
    }
    for row in rows(&scratch, "results/given/neighbours.tsv") {
        let [item, neighbour] = [&row[0], &row[2]].map(|id| id.parse::<usize>().unwrap());
        let (i, nearest) = (item, (0..30).filter(|&j| j != item));
        let best = nearest.map(|j| matrix[[i, j]]).fold(f64::NEG_INFINITY, f64::max);
        let score: f64 = row[3].parse().unwrap();
        assert!((score - matrix[[item, neighbour]]).abs() < 1e-12 && row[4] == "true", "{row:?}");
        assert!(row[1] != "1" || (score - best).abs() < 1e-12, "{row:?}");
    }

    let wanted = (0..30).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&pair| matrix[pair] >= 0.6).count();
    for command in ["mine", "dedupe"] {
        let said = scratch.say(&[command, "config.yaml", "--at-least", "0.6"]);
        assert!(said.code == Some(0) && said.out.contains(&format!("{wanted} ")), "{wanted}: {}{}", said.out, said.err);
    }
    let pairs = rows(&scratch, "results/given/pairs.tsv");
    assert_eq!(pairs.len(), wanted);
    assert!(pairs.iter().all(|row| row[3] == "true"));
}

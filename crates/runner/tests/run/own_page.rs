//! The page of a user's matrix, and the forms that other programs read: what stands in them against what the score gives.
#![cfg(unix)]

use std::collections::HashSet;

use ndarray::Array2;
use ndarray_npy::read_npy;
use serde_json::{Value as Json, json};

use crate::own_data::{PROGRAM, asked, place};
use crate::scratch::Scratch;

const PAGE: &str = "runs/mine/report.html";

pub(crate) fn page(scratch: &Scratch) -> String {
    scratch.read(PAGE)
}

pub(crate) fn map(scratch: &Scratch) -> Json {
    let page = page(scratch);
    let (_, rest) = page.split_once("<script type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Bytes behind base64.
pub(crate) fn bytes(text: &Json) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> =
        text.as_str().unwrap().bytes().filter_map(|byte| Some(DIGITS.find(char::from(byte))? as u32)).collect();
    let whole = |group: &[u32]| {
        let word = group.iter().enumerate().fold(0, |word, (place, digit)| word | digit << (18 - 6 * place));
        word.to_be_bytes()[1..group.len()].to_vec()
    };
    digits.chunks(4).flat_map(whole).collect()
}

fn numbers(text: &Json) -> Vec<usize> {
    bytes(text).chunks(2).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]]))).collect()
}

#[test]
fn the_map_lists_neighbors_exact_where_they_were_asked_and_no_call_is_made_for_it() {
    let scratch = place();
    scratch.run_well("--quiet");
    let pairs = asked(&scratch).len();
    let first = page(&scratch);
    scratch.well("report config.yaml");
    assert!(page(&scratch) == first, "drawn again it is the same");
    assert_eq!(asked(&scratch).len(), pairs, "and nothing is asked for it");
    let data = map(&scratch);
    let (near, scores, exact) = (numbers(&data["near"]), numbers(&data["scores"]), bytes(&data["exact"]));
    assert_eq!((near.len(), exact.len(), data["ids"].as_array().unwrap().len()), (600, 600, 60));
    let was_asked = |i: usize, j: usize| {
        let text = scratch.read("asked");
        text.lines().any(|line| line == format!("{i} {j}") || line == format!("{j} {i}"))
    };
    let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    let [low, extent] = ["low", "extent"].map(|key| data[key].as_f64().unwrap());
    for (place, &other) in near.iter().enumerate().filter(|(place, _)| place % 7 == 0) {
        let item = place / 10;
        let known = (-0.05 * (item as f64 - other as f64).abs()).exp();
        // all signs are + for this kernel
        let estimated = z.row(item).dot(&z.row(other));
        let wanted = if exact[place] == 1 { known } else { estimated };
        assert_eq!(exact[place] == 1, was_asked(item, other), "{item} and {other}");
        let score = low + extent * scores[place] as f64 / 65535.0;
        // sixteen bits of the range of scores
        assert!((score - wanted).abs() <= extent / 65535.0, "{item} and {other}: {score}, {wanted}");
    }
    // of the ten lists' first ones none is better than what is listed
    for item in [0, 17, 59] {
        let list = &scores[10 * item..10 * item + 10];
        assert!(list.is_sorted_by(|a, b| a >= b), "{list:?}");
    }
    for part in ["curve", "spectrum", "similarities", "pairs", "alone", "hubs"] {
        assert!(first.contains(&format!("id=\"mine-{part}\"")), "{part}");
    }
    assert!(first.contains("12 landmarks took") && first.contains("of the 1,770 that all pairs take"), "the lead");
}

#[test]
fn the_curve_is_that_of_runs_at_those_ranks() {
    let scratch = place();
    scratch.run_well("--quiet --set ranks=24 --set error_estimate=100000");
    let text = page(&scratch);
    assert!(text.contains("Twice the budget, 48 landmarks, would bring the error to about"), "the sentence");
    assert!(text.contains("recall of the ten nearest"));
    let rows = scratch.figures("runs/mine");
    let of_curve = |metric: &str| -> Vec<(u64, f64)> {
        let is_one = |row: &&Json| row["metric"] == metric && row["comparison"] == "prefix";
        rows.iter().filter(is_one).map(|row| (row["rank"].as_u64().unwrap(), row["value"].as_f64().unwrap())).collect()
    };
    let errors = of_curve("off_diagonal_error");
    assert_eq!(errors.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [6, 12, 18]);
    assert!(of_curve("recall_at_10").iter().all(|(_, share)| (0.0..=1.0).contains(share)));
    let before = asked(&scratch).len();
    for (rank, error) in errors {
        scratch.run_well(&["--quiet", "--set", &format!("ranks={rank}"), "--set", "error_estimate=100000"]);
        let alone = scratch.values("runs/mine", &json!({ "metric": "off_diagonal_error" }))[0];
        // the estimate sees all of K, so both are exact
        assert!((alone - error).abs() < 1e-9, "rank {rank}: {error}, {alone}");
    }
    assert_eq!(asked(&scratch).len(), before, "all of K was there");
}

#[test]
fn what_commands_make_is_drawn_and_goes_with_the_factors() {
    let scratch = place();
    scratch.run_well("--quiet");
    let has = |part: &str| page(&scratch).contains(&format!("id=\"mine-{part}\""));
    assert!(!["topk", "mine", "clusters", "labels"].iter().any(|part| has(part)));
    scratch.well("topk config.yaml -k 3 --rerank 5");
    let by_factors = page(&scratch);
    let seen = scratch.well("topk config.yaml -k 2 --calls-per-item 9").out;
    assert!(seen.contains("report: `") && page(&scratch).contains("The 2 nearest of each of 60 items"), "{seen}");
    assert!(by_factors.contains("The 3 nearest of each of 60 items"));
    scratch.well("mine config.yaml --pairs 30");
    scratch.well("cluster config.yaml --clusters 4").prints(&["report: `", " 0: "]);
    let rows: String = (0..60).step_by(2).map(|i| format!("n{i}\t{}\n", if i < 30 { "low" } else { "high" })).collect();
    scratch.write("labels.tsv", &format!("key\tlabel\n{rows}"));
    scratch.well("classify config.yaml --labels labels.tsv");
    assert!(["topk", "mine", "clusters", "labels"].iter().all(|part| has(part)));
    let text = page(&scratch);
    assert!(text.contains("True labels down, predicted ones across") && text.contains("Least certain"));
    let (_, links) = text.split_once("<nav aria-label=\"Tables and figures\">").unwrap();
    let links: Vec<&str> =
        links.split_once("</nav>").unwrap().0.split("</a>").filter_map(|one| one.rsplit('>').next()).collect();
    let distinct: HashSet<&&str> = links.iter().collect();
    assert!(links.len() > 10 && distinct.len() == links.len(), "two links of one name: {links:?}");
    let report = scratch.json("runs/mine/labels.json");
    let confusion: Vec<Vec<u64>> = serde_json::from_value(report["confusion"].clone()).unwrap();
    assert_eq!(confusion.concat().iter().sum::<u64>(), 30, "every labeled item was judged once");
    // the border is between 29 and 30
    let doubtful: i32 = report["doubtful"][0]["id"].as_str().unwrap()[1..].parse().unwrap();
    assert!((25..35).contains(&doubtful), "{report}");
    let names = map(&scratch)["colorings"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Json>();
    assert_eq!(names, json!(["clusters", "labels", "landmarks"]));
    // elsewhere a table is the user's
    let before = text;
    scratch.well("cluster config.yaml --clusters 2 --out mine.tsv");
    assert!(page(&scratch) == before);
    // other factors, other page
    scratch.run_well("--quiet --set ranks=9");
    assert!(!["topk", "mine", "clusters", "labels"].iter().any(|part| has(part)));
}

#[test]
fn evil_texts_stay_texts_and_two_items_have_a_page() {
    let scratch = place();
    let evil = "<script>alert(1)</script> & <b>bold</b> </script>";
    let rows: String = (0..40).map(|i| format!("n{i}\t{}\n", if i % 5 == 0 { evil } else { "a quiet text" })).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    // the program compares numbers of items, whatever their texts
    let by_number = PROGRAM.replace("\"symmetric\":true", "\"symmetric\":true,\"pairs\":\"index\"");
    scratch.write("scorer.sh", &by_number);
    scratch.run_well("--quiet");
    let text = page(&scratch);
    assert!(!text.contains("<script>alert(1)") && !text.contains("<b>bold"), "the text is markup");
    assert!(text.contains("&lt;script&gt;alert(1)") && text.contains("\\u003cscript>alert(1)"), "and it is there");
    assert_eq!(map(&scratch)["texts"][5], evil);
    let scratch = place();
    scratch.write("items.tsv", "key\ttext\na\t1\nb\t2\n");
    scratch.run_well("--quiet --set ranks=1 --set error_estimate=null");
    let text = page(&scratch);
    // the bytes of a font may spell anything
    let (_, body) = text.split_once("<body>").unwrap();
    assert!(body.contains("id=\"mine-map\"") && !body.contains("NaN"));
}

#[test]
fn vectors_are_exported_for_other_programs() {
    let scratch = place();
    scratch.run_well("--quiet");
    scratch.well("export config.yaml").prints(&["60 × 12 float32, norms "]);
    let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    let items: Array2<f32> = read_npy(scratch.path("runs/mine/export/items.npy")).unwrap();
    assert_eq!(items, z.mapv(|value| value as f32));
    scratch.well("export config.yaml --to parquet --out elsewhere");
    assert!(scratch.path("elsewhere/items.parquet").exists());
    scratch.well("export config.yaml --to sentence-transformers --out model");
    for file in ["modules.json", "0_StaticEmbedding/model.safetensors"] {
        assert!(scratch.path("model").join(file).exists(), "{file}");
    }
    scratch.ends(2, "export config.yaml --to faiss");
}

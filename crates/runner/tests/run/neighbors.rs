//! `topk` by the score itself: call estimates, lists, resumption and refusals on the real binary.
#![cfg(unix)]

use std::collections::HashMap;

use crate::own_data::{CONFIG, asked, place, twice};
use crate::scratch::{SAMPLE, Scratch, number_before};

/// (id, neighbor) → score and whether it is exact, from a table of `topk`.
fn lists(scratch: &Scratch, path: &str) -> HashMap<String, Vec<(String, f64, bool)>> {
    let text = scratch.read(path);
    let mut lists: HashMap<String, Vec<(String, f64, bool)>> = HashMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, rank, neighbor, score, exact, ref texts @ ..] = cells[..] else { panic!("{line}") };
        // items of a file have texts, that of n7 is 7
        if let [text, other] = texts {
            assert_eq!((id, neighbor), (&*format!("n{text}"), &*format!("n{other}")));
        }
        let list = lists.entry(id.to_owned()).or_default();
        list.push((neighbor.to_owned(), score.parse().unwrap(), exact == "true"));
        assert_eq!(rank, list.len().to_string());
    }
    lists
}

const TOPK: &str = "topk config.yaml -k 3 --calls-per-item 8";

#[test]
fn the_call_estimate_is_exact_each_pair_is_scored_once_and_a_second_run_makes_no_call() {
    let scratch = place();
    let dry = scratch.say(&format!("{TOPK} --dry-run"));
    assert_eq!((dry.code, number_before(&dry.out, " calls;")), (Some(0), 480), "{}{}", dry.out, dry.err);
    assert!(asked(&scratch).is_empty(), "a dry run makes no call");
    scratch.well(TOPK).prints(&["480 calls, 480 of them new"]);
    assert_eq!((asked(&scratch).len(), twice(&scratch)), (480, 0));
    let found = lists(&scratch, "runs/mine/neighbors.tsv");
    assert!(found.len() == 60 && found.values().all(|list| list.len() == 3));
    for (id, list) in &found {
        for (neighbor, score, exact) in list {
            let apart = [id, neighbor].map(|id| id[1..].parse::<f64>().unwrap());
            let wanted = (-0.05 * (apart[0] - apart[1]).abs()).exp();
            // what is called exact is the score, to the last digit that is written
            assert!(!exact || (score - wanted).abs() < 1e-12, "{id} {neighbor} {score} {wanted}");
        }
    }
    let info = scratch.json("runs/mine/neighbors.json");
    assert_eq!([&info["k"], &info["calls_per_item"], &info["calls"], &info["columns"]], [3, 8, 480, 2]);
    assert_eq!((info["rounds"].as_array().unwrap().len(), &info["complete"]), (4, &serde_json::json!(true)));
    let exact = found.values().flatten().filter(|(_, _, exact)| *exact).count();
    assert_eq!(info["listed_exactly"], exact);

    let before = scratch.files("runs");
    scratch.say(TOPK).prints(&["480 calls, 0 of them new"]);
    assert_eq!(asked(&scratch).len(), 480);
    assert!(scratch.files("runs") == before, "a second run changes no byte");
}

fn best_of(asked: &[String], k: usize) -> HashMap<String, Vec<f64>> {
    let mut best: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in asked {
        let (one, other) = line.split_once(' ').unwrap();
        let apart = [one, other].map(|text| text.parse::<f64>().unwrap());
        let score = (-0.05 * (apart[0] - apart[1]).abs()).exp();
        for (item, near) in [(one, other), (other, one)].into_iter().filter(|(item, near)| item != near) {
            best.entry(format!("n{item}")).or_default().insert(near.to_owned(), score);
        }
    }
    let sorted = |of: HashMap<String, f64>| {
        let mut scores: Vec<f64> = of.into_values().collect();
        scores.sort_by(|one, other| other.total_cmp(one));
        scores.truncate(k);
        scores
    };
    best.into_iter().map(|(id, of)| (id, sorted(of))).collect()
}

#[test]
fn a_search_stands_on_factors_and_no_list_is_worse_than_what_was_evaluated() {
    let scratch = place();
    scratch.run_well("--quiet");
    let columns = asked(&scratch).len();
    let topk = "topk config.yaml -k 3 --calls-per-item 2";
    let dry = scratch.say(&format!("{topk} --dry-run"));
    dry.prints(&["starts from factors of 12 landmarks: 642 pairs are known"]);
    assert_eq!(number_before(&dry.out, " calls;"), 120, "{}", dry.out);
    let seen = scratch.well(topk);
    let all = asked(&scratch);
    // no pair is asked for again, neither of the columns nor of the 100 that the error was estimated by
    assert!((20..=120).contains(&(all.len() - columns)) && twice(&scratch) == 0, "{}", seen.out);
    let is_best = || {
        let best = best_of(&asked(&scratch), 3);
        for (id, list) in lists(&scratch, "runs/mine/neighbors.tsv") {
            for ((_, score, exact), wanted) in list.iter().zip(&best[&id]) {
                assert!(*exact && (score - wanted).abs() < 1e-12, "{id}: {list:?} {:?}", best[&id]);
            }
        }
    };
    is_best();
    let info = scratch.json("runs/mine/neighbors.json");
    assert_eq!((&info["known_pairs"], &info["columns"]), (&serde_json::json!(642), &serde_json::json!(0)));
    assert!(info["proxies"].as_array().unwrap().contains(&serde_json::json!("factors")), "{info}");
    let before = scratch.files("runs");
    scratch.say(topk).prints(&["120 calls, 0 of them new"]);
    assert!(scratch.files("runs") == before, "a second run changes no byte");
    // what another command evaluates is in the lists, too
    let recall = "topk config.yaml -k 3 --target-recall 0.8 --delta 0.2 --out other.tsv";
    assert!(matches!(scratch.say(recall).code, Some(0 | 3)));
    scratch.well(topk);
    is_best();
    // factors of another score are not used, and that is reported
    scratch
        .say(&format!("{topk} --set oracle.gamma=0.2"))
        .prints(&["ignored the factors in `runs/mine/factors`: they were built with another `gamma`"]);
}

#[test]
fn a_budget_that_ends_first_still_gives_lists_and_reports_it() {
    let scratch = place();
    scratch.write("config.yaml", &format!("{CONFIG}budget: {{ calls: 300 }}\n"));
    scratch.say(&format!("{TOPK} --dry-run")).prints(&["lower `--calls-per-item` to 5"]);
    scratch.ends(3, TOPK).prints(&["the budget ended first"]);
    assert!(asked(&scratch).len() <= 300);
    assert_eq!(scratch.json("runs/mine/neighbors.json")["complete"], false);
    assert_eq!(lists(&scratch, "runs/mine/neighbors.tsv").len(), 60);
    // that of the command line stands in its place
    let limited = place();
    limited.well(&format!("{TOPK} --budget 300 --dry-run")).prints(&["lower `--calls-per-item` to 5"]);
    let seen = limited.say(&format!("{TOPK} --budget 300"));
    assert_eq!((seen.code, asked(&limited).len()), (Some(3), 300), "{}{}", seen.out, seen.err);
    assert_eq!(limited.json("runs/mine/neighbors.json")["complete"], false);
    let seen = limited.say(&format!("{TOPK} --budget 180"));
    assert_eq!((seen.code, asked(&limited).len()), (Some(0), 480), "it goes on from the store: {}", seen.out);
    let seen = scratch.say(&format!("{TOPK} --budget 180"));
    assert_eq!((seen.code, asked(&scratch).len()), (Some(0), 480), "{}{}", seen.out, seen.err);
}

#[test]
fn a_budget_that_ends_before_the_proof_lists_nothing_and_keeps_the_scores() {
    let config = SAMPLE.replace("error_curve", "own_data").replace(
        "methods: [nystrom, sicur, { id: shift_ridge, known: [landmarks] }]",
        "methods: [{ id: shift_ridge, proxy: [wcd, rwmd] }]",
    );
    let scratch = Scratch::with(&config);
    let exact = "topk config.yaml -k 3 --mode exact";
    for (budget, kept) in [("--budget 50", 50), ("--set budget.calls=40", 90)] {
        scratch.ends(3, &format!("{exact} {budget}")).prints(&["the budget ended before", "nothing is listed"]);
        assert_eq!(scratch.entries_kept("store"), kept);
        assert!(!scratch.path("runs/sample/neighbors.tsv").exists());
        scratch.well(&format!("{exact} {budget} --dry-run")).prints(&[" may end before"]);
    }
    let proven = scratch.well(exact);
    let pairs = number_before(&proven.out, " of 1,");
    assert_eq!(number_before(&proven.out, " new calls"), pairs - 90, "{}", proven.out);
}

#[test]
fn few_items_many_neighbors_and_wrong_words() {
    let scratch = place();
    // more neighbors and calls than there are pairs
    scratch.well("topk config.yaml -k 500 --calls-per-item 100").prints(&["1,770 calls"]);
    assert!(lists(&scratch, "runs/mine/neighbors.tsv").values().all(|list| list.len() == 59));
    for (arguments, message) in [
        ("--calls-per-item 8 --proxy-share 2", "`share` is 2, but must be between 0 and 1"),
        ("--mode exact", "`--mode exact` requires proxies that bound the score"),
    ] {
        scratch.fails(&format!("topk config.yaml {arguments}"), &[message]);
    }
}

#[test]
fn bounds_prove_what_all_pairs_show_with_fewer_of_them() {
    let config = SAMPLE.replace("error_curve", "own_data").replace(
        "methods: [nystrom, sicur, { id: shift_ridge, known: [landmarks] }]",
        "methods: [{ id: shift_ridge, proxy: [wcd, rwmd] }]",
    );
    let scratch = Scratch::with(&config);
    let proven = scratch.well("topk config.yaml -k 3 --mode exact");
    let pairs = number_before(&proven.out, " of 1,");
    let by_bounds = lists(&scratch, "runs/sample/neighbors.tsv");
    assert!(by_bounds.values().flatten().all(|(_, _, exact)| *exact));
    let info = scratch.json("runs/sample/neighbors.json");
    assert_eq!((info["recall"].as_f64(), info["pairs"].as_u64()), (Some(1.0), Some(pairs)));
    let items = by_bounds.len() as u64;
    assert!(pairs < items * (items - 1) / 2 * 3 / 4, "{pairs} of all pairs of {items} items");
    scratch.well("topk config.yaml -k 3 --calls-per-item 60");
    for (id, list) in lists(&scratch, "runs/sample/neighbors.tsv") {
        // equal scores at the last place may be ordered by chance
        let scores = |list: &[(String, f64, bool)]| list.iter().map(|(_, score, _)| *score).collect::<Vec<_>>();
        assert_eq!(scores(&list), scores(&by_bounds[&id]), "{id}");
    }
}

#[test]
fn a_list_of_proxies_and_popularity_serve_a_sweep_and_are_shown_as_written() {
    let proxy = "[{ kind: wcd, link: hub }, rwmd]";
    let config =
        SAMPLE.replace("{ id: shift_ridge, known: [landmarks] }", &format!("{{ id: shift_ridge, proxy: {proxy} }}"));
    let scratch = Scratch::with(&config);
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    scratch.run_well("");
    assert_eq!(scratch.calls("runs/sample")[0], planned);
    let shown = scratch.say("check --print config.yaml");
    shown.prints(&["link: hub", "kind: rwmd"]);
    scratch.write("shown.yaml", &shown.out);
    assert_eq!(scratch.say("check shown.yaml").code, Some(0), "{}", shown.out);
    for (wrong, message) in [
        ("[]", "`methods[2].proxy` is empty"),
        ("[wcd, wcd]", "names `wcd` twice"),
        ("[wcd, { kind: rwmd, link: hub }]", "link"),
        ("{ kind: wcd, link: hup }", "hup"),
    ] {
        scratch.write("config.yaml", &config.replace(proxy, wrong));
        scratch.complains("", &[message]);
    }
}

//! Pairs, groups and neighbors with a stated recall, from a program of the user's: what they find, evaluate and refuse.
#![cfg(unix)]

use std::collections::{HashMap, HashSet};

use crate::own_data::{CONFIG, PROGRAM, asked, place, table, twice};
use crate::scratch::{Scratch, number_before};

fn item(row: &HashMap<String, String>, key: &str) -> i64 {
    row[key][1..].parse().unwrap()
}

/// Share of the true pairs that are listed, each once; every listed pair is true.
fn share_of_pairs(scratch: &Scratch) -> f64 {
    let pairs = table(scratch, "runs/mine/pairs.tsv");
    let ends = |row: &HashMap<String, String>| (item(row, "first"), item(row, "second"));
    let sorted = |(first, second): (i64, i64)| (first.min(second), first.max(second));
    let distinct: HashSet<(i64, i64)> = pairs.iter().map(|row| sorted(ends(row))).collect();
    assert_eq!(distinct.len(), pairs.len());
    assert!(pairs.iter().all(|row| (ends(row).0 - ends(row).1).abs() <= 3 && row["exact"] == "true"));
    distinct.len() as f64 / TRUE_PAIRS
}

/// exp(−.05 · 3) = .861: numbers at most three apart, 174 pairs of 60.
const THREE_APART: &str = "mine config.yaml --at-least 0.86";
const TRUE_PAIRS: f64 = 174.0;

#[test]
fn rescored_pairs_are_the_best_of_all_and_carry_their_texts() {
    let scratch = place();
    scratch.run_well("--quiet");
    let before = asked(&scratch).len();
    let seen = scratch.well("mine config.yaml --pairs 59 --rerank 6 --dry-run").out;
    let planned_calls = number_before(&seen, " new calls");
    assert_eq!(asked(&scratch).len(), before, "a dry run makes no call");
    scratch.well("mine config.yaml --pairs 59 --rerank 6");
    assert_eq!((asked(&scratch).len() - before) as u64, planned_calls);
    let pairs = table(&scratch, "runs/mine/pairs.tsv");
    let neighbors = pairs.iter().filter(|row| (item(row, "first") - item(row, "second")).abs() == 1).count();
    // 59 pairs are one apart; from the factors alone far fewer are found
    assert!(neighbors >= 55, "{neighbors}");
    for row in &pairs {
        assert_eq!((row["exact"].as_str(), &row["first_text"]), ("true", &row["first"][1..].to_owned()), "{row:?}");
    }
    scratch.well("mine config.yaml --pairs 3").prints(&["the 3 most similar pairs"]);
    assert!(table(&scratch, "runs/mine/pairs.tsv").iter().all(|row| row["exact"] == "false"));
    assert_eq!(twice(&scratch), 0);
}

#[test]
fn every_pair_of_a_threshold_is_listed_and_a_number_ends_the_list() {
    let scratch = place();
    scratch.run_well("--quiet");
    let listed = |words: &str| {
        scratch.well(&format!("mine config.yaml {words}"));
        table(&scratch, "runs/mine/pairs.tsv").len()
    };
    // all 1,770 pairs of 60 items; 1,000 without a threshold
    for more in ["--budget 2000", "--rerank 59", ""] {
        assert_eq!(listed(&format!("--at-least -1 {more}")), 1770, "{more}");
        assert_eq!(listed(more), 1000, "{more}");
    }
    assert_eq!(listed("--at-least -1 --pairs 1200"), 1200);
}

#[test]
fn a_recall_that_takes_more_calls_than_the_columns_did_asks_first() {
    let scratch = place();
    // eight columns hold a fourth of all pairs: 59 + 58 + … + 52 = 444
    scratch.run_well("--quiet --set ranks=8");
    let before = asked(&scratch).len();
    // exp(−.05 · 59) = .052: every pair is wanted
    let mine = "mine config.yaml --set ranks=8 --at-least 0.05 --target-recall 0.8";
    scratch.ends(3, mine).prints(&["444 are allowed", "the recall is unknown", "`--budget CALLS`"]);
    assert!(!scratch.path("runs/mine/pairs.json").exists(), "no recall is stated that was not audited");
    let spent = asked(&scratch).len() - before;
    assert!(spent <= 444, "{spent}");
    // what was scored is kept
    let seen = scratch.well(&format!("{mine} --budget 2000")).out;
    assert!(seen.contains("recall at least 0.8") || seen.contains("all pairs are known"), "{seen}");
    assert!(scratch.json("runs/mine/pairs.json")["reached"].as_bool().unwrap());
    assert_eq!(twice(&scratch), 0);
}

#[test]
fn pairs_with_a_stated_recall_hold_what_they_state_and_cost_what_was_planned() {
    let scratch = place();
    scratch.run_well("--quiet");
    let mine = format!("{THREE_APART} --target-recall 0.8 --delta 0.2");
    let before = asked(&scratch).len();
    let least = number_before(&scratch.well(&format!("{mine} --dry-run")).out, " calls: ");
    assert_eq!(asked(&scratch).len(), before, "a dry run makes no call");
    scratch.ends(3, &format!("{mine} --budget 3")).prints(&["raise `--budget`"]);
    assert_eq!(asked(&scratch).len(), before, "what the budget does not pay for is not begun");

    scratch.well(&mine).prints(&["recall at least 0.8 with probability 0.8"]);
    scratch.has("runs/mine/report.html", &["Stated recall", "pairs at or above 0.86"]);
    let spent = (asked(&scratch).len() - before) as u64;
    assert!(spent >= least, "{spent} {least}");
    let pairs = table(&scratch, "runs/mine/pairs.tsv");
    assert!(pairs.iter().all(|row| (item(row, "first") - item(row, "second")).abs() <= 3 && row["exact"] == "true"));
    let recall = pairs.len() as f64 / TRUE_PAIRS;
    let statement = scratch.json("runs/mine/pairs.json");
    let lower = statement["lower"].as_f64().unwrap();
    // the target is what holds, not the bound of the cut at which the search stopped
    assert!(lower == 0.8 && recall >= 0.8, "{lower} {recall}");
    assert_eq!(statement["evaluations"].as_u64(), Some(spent));
    // the cut and the draw are the same again
    scratch.well(&mine).prints(&[" 0 new calls"]);
    assert_eq!((asked(&scratch).len() - before) as u64, spent);
    assert_eq!(twice(&scratch), 0);
    // a list without a statement takes the old one away
    scratch.well("mine config.yaml --pairs 3");
    assert!(!scratch.path("runs/mine/pairs.json").exists());
}

#[test]
fn a_budget_alone_searches_for_pairs_and_without_one_a_warning_names_what_finds_more() {
    let scratch = place();
    scratch.run_well("--quiet");
    scratch.well(THREE_APART).prints(&["warning: these pairs are estimates", "`--budget CALLS` to search"]);
    let before = asked(&scratch).len();
    let with_budget = format!("{THREE_APART} --budget 300");
    let dry = scratch.well(&format!("{with_budget} --dry-run")).out;
    assert_eq!((number_before(&dry, " calls at most"), asked(&scratch).len()), (300, before));
    let seen = scratch.well(&with_budget).out;
    let spent = asked(&scratch).len() - before;
    assert!((200..=300).contains(&spent), "{spent}: {seen}");
    // every similar pair that was ever evaluated is listed, and no other
    let number = |text: &str| text.parse::<i64>().unwrap();
    let similar = |line: &&String| {
        let (one, other) = line.split_once(' ').unwrap();
        (1..=3).contains(&(number(one) - number(other)).abs())
    };
    let known = asked(&scratch).iter().filter(similar).count();
    let pairs = table(&scratch, "runs/mine/pairs.tsv");
    assert!(pairs.iter().all(|row| row["exact"] == "true" && (item(row, "first") - item(row, "second")).abs() <= 3));
    assert_eq!(pairs.len(), known);
    assert!(pairs.len() as f64 >= 0.8 * TRUE_PAIRS, "{} of {TRUE_PAIRS}", pairs.len());
    assert!(!scratch.path("runs/mine/pairs.json").exists(), "no recall is stated that is not known");
    assert!(scratch.well(&with_budget).out.contains(" 0 new calls"));
    let groups = "mine config.yaml --groups --at-least 0.86 --budget 300";
    assert!(scratch.well(groups).out.contains(" 0 new calls"));
    assert_eq!(twice(&scratch), 0);
}

#[test]
fn near_duplicates_are_grouped_and_one_of_each_group_stays() {
    let scratch = Scratch::with(&CONFIG.replace("ranks: 12", "ranks: 20"));
    // 20 groups of three numbers, ten apart; the numbers of a group are one apart
    let rows: String = (0..60).map(|i| format!("n{i}\t{}\n", 10 * (i / 3) + i % 3)).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.write("scorer.sh", PROGRAM);
    scratch.run_well("--quiet");
    let seen = scratch.well("mine config.yaml --groups --at-least 0.9 --target-recall 0.8 --delta 0.2").out;
    assert!(seen.contains("the largest of 3") && seen.contains("one missed pair"), "{seen}");
    let rows = table(&scratch, "runs/mine/groups.tsv");
    assert_eq!(rows.len(), 60);
    let mut group_of = HashMap::new();
    rows.iter().for_each(|row| drop(group_of.insert(item(row, "id"), row["group"].clone())));
    let together = (0..60).filter(|i| i % 3 > 0 && group_of[i] == group_of[&(i - 1)]).count();
    assert!(together >= 32, "{together} of 40");
    for row in rows.iter().filter(|row| row["size"] == "3") {
        assert_eq!(row["keep"] == "true", item(row, "id") % 3 == 0, "{row:?}");
    }
    assert!(scratch.json("runs/mine/groups.json")["lower"].as_f64().unwrap() >= 0.8);
    assert_eq!(twice(&scratch), 0);
    // exp(−.05 · 8) = .67: the groups, eight apart, are one chain
    let chained = "more than a quarter of all items";
    assert!(!seen.contains(chained), "{seen}");
    scratch.well("mine config.yaml --groups --at-least 0.6 --rerank 20").prints(&[chained, "raise `--at-least`"]);
}

#[test]
fn pivots_cluster_by_the_score_itself_and_landmarks_cost_nothing() {
    let scratch = Scratch::with(CONFIG);
    // six groups of ten numbers, a thousand apart
    let rows: String = (0..60).map(|i| format!("n{i}\t{}\n", 1000 * (i / 10) + i % 10)).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.write("scorer.sh", PROGRAM);
    scratch.run_well("--quiet");
    let before = asked(&scratch).len();
    // ten numbers are at most nine apart: exp(−.45) = .64
    let pivots = "cluster config.yaml --pivots --at-least 0.6";
    let seen = scratch.well(pivots).out;
    assert!(seen.contains("60 items in 6 clusters, 6 of two or more"), "{seen}");
    let evaluated = number_before(&seen, " new calls");
    assert_eq!((asked(&scratch).len() - before) as u64, evaluated);
    let rows = table(&scratch, "runs/mine/clusters.tsv");
    for one in &rows {
        for other in &rows {
            assert_eq!(one["cluster"] == other["cluster"], item(one, "id") / 10 == item(other, "id") / 10);
        }
    }
    scratch.well(&format!("{pivots} --budget 1")).prints(&[" 0 new calls"]);
    assert_eq!(twice(&scratch), 0);
}

#[test]
fn a_recall_that_cannot_be_stated_is_refused_with_the_reason() {
    let scratch = place();
    scratch.run_well("--quiet");
    let before = asked(&scratch).len();
    for (arguments, words) in [
        ("--at-least 0.86 --target-recall 1", "only all pairs prove a recall of 1"),
        ("--at-least 0.86 --target-recall 0.9 --delta 0", "a sample leaves some doubt"),
        ("--target-recall 0.9", "--at-least"),
        ("--at-least 0.86 --dry-run", "this command makes none"),
    ] {
        scratch.refuses(&format!("mine config.yaml {arguments}"), &[words]);
    }
    assert_eq!(asked(&scratch).len(), before);
    scratch.run_well("--quiet --set landmarks=farthest");
    // the audit asks nothing of the landmarks
    let farthest = "mine config.yaml --set landmarks=farthest --target-recall";
    scratch.well(&format!("{farthest} 0.8 --delta 0.2 --at-least 0.86")).prints(&["recall at least 0.8"]);
    // where nothing is found, nothing is stated
    scratch.ends(3, &format!("{farthest} 0.9 --at-least 0.999")).prints(&["reaches 0.999", "no list was written"]);
}

#[test]
fn a_program_that_is_checked_leaves_a_stated_recall_true_under_any_budget() {
    let scratch = Scratch::with(&CONFIG.replace("checks: 0", "checks: 16"));
    scratch.write("scorer.sh", PROGRAM);
    let rows: String = (0..60).map(|i| format!("n{i}\t{i}\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.run_well("--quiet");
    let mine = format!("{THREE_APART} --target-recall 0.8 --delta 0.2");
    let mut shares = Vec::new();
    for budget in [40, 70, 100, 140, 200, 400] {
        let before = asked(&scratch).len();
        let seen = scratch.say(&format!("{mine} --budget {budget}"));
        let spent = asked(&scratch).len() - before;
        assert!(spent <= budget, "{spent} of {budget}");
        let file = scratch.path("runs/mine/pairs.json");
        let statement = file.exists().then(|| scratch.json("runs/mine/pairs.json"));
        let is_reached = statement.as_ref().is_some_and(|statement| statement["reached"].as_bool().unwrap());
        assert_eq!(seen.code, Some(if is_reached { 0 } else { 3 }), "{budget}: {}{}", seen.out, seen.err);
        // what is stated is compared with the truth
        let lower = statement.map_or(0.0, |statement| statement["lower"].as_f64().unwrap());
        let share = share_of_pairs(&scratch);
        assert!(share >= lower && (!is_reached || lower >= 0.8), "{budget}: {share} of {lower}");
        shares.push(share);
    }
    assert!(shares.is_sorted(), "no pair that was found is lost: {shares:?}");
    scratch.well(&mine);
}

/// Mean share of the k nearest numbers that the lists hold; as near as the k-th is as good.
fn recall_of_lists(scratch: &Scratch, k: usize) -> f64 {
    let mut found = HashMap::<i64, Vec<i64>>::new();
    for row in table(scratch, "runs/mine/neighbors.tsv") {
        found.entry(item(&row, "id")).or_default().push(item(&row, "neighbor"));
    }
    let share = |(&number, list): (&i64, &Vec<i64>)| {
        let mut gaps: Vec<i64> = (0..60).filter(|other| *other != number).map(|other| (other - number).abs()).collect();
        gaps.sort_unstable();
        assert!(!list.contains(&number) && list.len() == k, "{number}: {list:?}");
        list.iter().filter(|other| (*other - number).abs() <= gaps[k - 1]).count() as f64 / k as f64
    };
    found.iter().map(share).sum::<f64>() / 60.0
}

#[test]
fn audited_lists_hold_the_recall_they_state_need_no_factors_and_are_asked_for_once() {
    let scratch = place();
    let topk = "topk config.yaml -k 5 --target-recall 0.8 --delta 0.2";
    let seen = scratch.well(&format!("{topk} --dry-run")).out;
    assert!(seen.contains("24 audited rows") && asked(&scratch).is_empty(), "{seen}");
    // 24 rows of 60 items: 24 · 59 − 24 · 23 / 2
    assert_eq!(number_before(&seen, " calls for"), 1140);
    let few = scratch.say(&format!("{topk} --budget 1100"));
    few.must_complain("cannot guarantee a recall with a budget of 1,100 calls: the 24 audited rows alone take 1,140");
    few.must_complain("at least `--budget 1140`");
    assert!(few.code == Some(2) && asked(&scratch).is_empty(), "it is refused before a call: {}", few.out);
    let cut = scratch.say(&format!("{topk} --budget 1400"));
    let statement = || scratch.json("runs/mine/neighbors.json");
    assert!(cut.code == Some(3) && cut.out.contains("is not reached"), "{}{}", cut.out, cut.err);
    assert_eq!((statement()["reached"].as_bool(), asked(&scratch).len() <= 1400), (Some(false), true));

    let seen = scratch.well(topk).out;
    assert!(seen.contains("the true 5 nearest") && statement()["reached"] == true, "{seen}");
    assert!(statement()["lower"].as_f64().unwrap() >= 0.8 && statement()["rows"] == 24);
    let recall = recall_of_lists(&scratch, 5);
    assert!(recall >= 0.8, "{recall}");
    let (calls, before) = (asked(&scratch).len(), scratch.files("runs/mine"));
    assert!(scratch.well(topk).out.contains(" 0 new calls"));
    assert_eq!(asked(&scratch).len(), calls);
    let same =
        |path: &str| scratch.files("runs/mine")[std::path::Path::new(path)] == before[std::path::Path::new(path)];
    assert!(same("neighbors.tsv"), "the same lists");
    assert_eq!(twice(&scratch), 0);
    // with factors there is a page, which states it
    scratch.run_well("--quiet");
    scratch.well(topk);
    scratch.has("runs/mine/report.html", &["Stated recall", "neighbors, k = 5"]);
    assert_eq!(twice(&scratch), 0);
}

#[test]
fn the_calls_of_audited_lists_count_both_orders_once() {
    let scratch = place();
    scratch.write("config.yaml", &CONFIG.replace("gamma: 0.05", "gamma: 0.05, symmetrize: mean"));
    scratch.write("scorer.sh", &PROGRAM.replace("\"symmetric\":true", "\"symmetric\":false"));
    let topk = "topk config.yaml -k 5 --target-recall 0.8 --delta 0.2";
    let allowed = |calls: u64| format!("{topk} --calls-per-item {calls}");
    // 1,140 pairs of 24 audited rows in both orders
    let seen = scratch.say(&allowed(37));
    seen.must_complain("the 24 audited rows alone take 2,280 calls, and 2,220 are allowed");
    seen.must_complain("at least `--calls-per-item 38`");
    assert!(seen.code == Some(2) && asked(&scratch).is_empty(), "it is refused before a call: {}", seen.out);
    let seen = scratch.well(&format!("{} --dry-run", allowed(42))).out;
    assert_eq!(number_before(&seen, " calls for 24 audited rows"), 2280);
    assert_eq!(number_before(&seen, " at most in all"), 42 * 60);
    let seen = scratch.say(&allowed(42));
    assert!(matches!(seen.code, Some(0 | 3)), "{}", seen.err);
    assert!((2280..=2520).contains(&asked(&scratch).len()), "{}", seen.out);
}

#[test]
fn lists_from_factors_hold_the_recall_that_their_landmarks_state() {
    let scratch = place();
    scratch.run_well("--quiet --set ranks=30");
    let topk = "topk config.yaml -k 5 --target-recall 0.8 --delta 0.2 --from-factors --set ranks=30";
    let before = asked(&scratch).len();
    let planned_calls = number_before(&scratch.well(&format!("{topk} --dry-run")).out, " new calls");
    assert_eq!(asked(&scratch).len(), before);
    scratch.well(topk).prints(&["held-out columns, 30 rows"]);
    assert_eq!((asked(&scratch).len() - before) as u64, planned_calls);
    let recall = recall_of_lists(&scratch, 5);
    assert!(recall >= 0.8, "{recall}");
    assert_eq!(twice(&scratch), 0);
    scratch.ends(2, &format!("{topk} --bound strict")).reports(&["no theorem"]);
    // a list without a statement takes the old one away
    scratch.well("topk config.yaml --set ranks=30");
    assert!(!scratch.path("runs/mine/neighbors.json").exists());
}

#[test]
fn neighbors_whose_recall_cannot_be_stated_are_refused_before_a_call() {
    let scratch = place();
    for (arguments, words) in [
        ("1", "only all pairs prove"),
        ("0.9 --delta 0", "leaves some doubt"),
        ("0.9 -k 1 --audit 10", "are the least that can"),
    ] {
        scratch.refuses(&format!("topk config.yaml --target-recall {arguments}"), &[words]);
    }
    assert!(asked(&scratch).is_empty());
    // more neighbors than there are
    scratch.well("topk config.yaml -k 100 --target-recall 0.8").prints(&["the 59 nearest neighbors"]);
    assert_eq!(twice(&scratch), 0);
}

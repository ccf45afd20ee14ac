//! Lists that gain, lose or reorder items, and lists with equal items: which calls they take.
#![cfg(unix)]

use std::collections::HashSet;

use crate::own_data::{CONFIG, PROGRAM, asked, pairs_asked, twice};
use crate::scratch::{Scratch, number_before};

fn write_list(scratch: &Scratch, numbers: &[i64]) {
    let rows: String = numbers.iter().enumerate().map(|(place, number)| format!("n{place}\t{number}\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
}

#[test]
fn a_list_that_gains_loses_or_reorders_items_costs_its_new_columns_and_copies_cost_nothing() {
    let start: Vec<i64> = (0..120).map(|i| (i * i * 7) % 4001).collect();
    let further: Vec<i64> = (0..100).map(|i| 5000 + (i * i * 11) % 3989).collect();
    let mut shuffled = start.clone();
    shuffled.sort_by_key(|number| (number * 7919) % 1009);
    let cases: [(&str, Vec<i64>, usize); 7] = [
        ("append 1", [&start[..], &further[..1]].concat(), 1),
        ("append 10", [&start[..], &further[..10]].concat(), 10),
        ("append 100", [&start[..], &further[..]].concat(), 100),
        ("prepend 1", [&further[..1], &start[..]].concat(), 1),
        ("drop the first", start[1..].to_vec(), 0),
        ("shuffle", shuffled, 0),
        ("append copies", [&start[..], &start[..30]].concat(), 0),
    ];
    let config = CONFIG.replace("error_estimate: 100", "error_estimate: false").replace("0.05", "0.0005");
    let both = [false, true].into_iter().flat_map(|keeps| cases.iter().map(move |case| (keeps, case)));
    for (keeps, (case, list, new_items)) in both {
        let (case, new_items) = (*case, *new_items);
        let scratch = Scratch::with(&if keeps { format!("{config}landmarks: kept\n") } else { config.clone() });
        scratch.write("scorer.sh", PROGRAM);
        write_list(&scratch, &start);
        scratch.run_well("--quiet");
        let before: HashSet<(i64, i64)> = pairs_asked(&scratch).into_iter().collect();
        assert_eq!(twice(&scratch), 0);
        write_list(&scratch, list);
        let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
        scratch.run_well("--quiet --force");
        assert_eq!(twice(&scratch), 0, "{case}: a pair was asked for twice, or one of two copies");
        let landmarks = scratch.json("runs/mine/factors/factors.json")["landmarks"].clone();
        let landmarks: Vec<i64> =
            landmarks.as_array().unwrap().iter().map(|at| list[at.as_u64().unwrap() as usize]).collect();
        assert_eq!(landmarks.len(), 12, "{case}");
        // what any draw of these landmarks needs
        let column = |&l: &i64| list.iter().filter(move |&&i| i != l).map(move |&i| (i.min(l), i.max(l)));
        let needed: HashSet<(i64, i64)> = landmarks.iter().flat_map(|l| column(l).collect::<Vec<_>>()).collect();
        assert!(planned >= needed.len() as u64, "{case}: {planned} planned");
        let new = asked(&scratch).len() - before.len();
        assert_eq!(new, needed.difference(&before).count(), "{case}");
        // a uniform draw takes m of n + m landmarks from m new items, each with its whole column
        let (m, n) = (new_items as f64, list.len() as f64);
        let expected = m * 12.0 * (1.0 + (n - m) / n);
        println!("{case}: {new} new calls, {expected:.0} expected of a uniform draw");
        if keeps {
            assert_eq!(new, new_items * 12, "{case}: what is kept costs the rows of the new items alone");
        }
        if new_items == 0 && case != "drop the first" {
            assert_eq!(new, 0, "{case}");
        }
    }
}

#[test]
fn neighbors_of_a_list_that_grows_keep_their_audited_rows_and_equal_items_are_asked_for_once() {
    let start: Vec<i64> = (0..120).map(|i| (i * i * 7) % 4001).collect();
    let topk = "topk config.yaml -k 5 --target-recall 0.8 --delta 0.2";
    let audited = |scratch: &Scratch, list: &[i64]| -> HashSet<i64> {
        let rows = scratch.json("runs/mine/neighbors.json")["audited"].clone();
        rows.as_array().unwrap().iter().map(|at| list[at.as_u64().unwrap() as usize]).collect()
    };
    let mut shuffled = start.clone();
    shuffled.sort_by_key(|number| (number * 7919) % 1009);
    let scratch = Scratch::with(&CONFIG.replace("0.05", "0.0005"));
    scratch.write("scorer.sh", PROGRAM);
    write_list(&scratch, &start);
    assert!(matches!(scratch.say(topk).code, Some(0 | 3)));
    let (fresh, rows) = (asked(&scratch).len(), audited(&scratch, &start));
    assert_eq!(rows.len(), 24);
    let lists = [
        ("append 1", [&start[..], &[6000]].concat()),
        ("prepend 1", [&[6001][..], &start[..]].concat()),
        ("drop the first", start[1..].to_vec()),
        ("shuffle", shuffled),
        ("append copies", [&start[..], &start[..10]].concat()),
    ];
    for (case, list) in lists {
        let before = asked(&scratch).len();
        write_list(&scratch, &list);
        let seen = scratch.say(topk);
        assert!(matches!(seen.code, Some(0 | 3)), "{case}: {}", seen.err);
        let kept = audited(&scratch, &list).intersection(&rows).count();
        assert!(kept >= 18, "{case}: {kept} of 24 audited rows are the same");
        println!("{case}: {} of {fresh} calls again, {kept} rows kept", asked(&scratch).len() - before);
        assert_eq!(twice(&scratch), 0, "{case}: a pair was asked for twice");
    }
}

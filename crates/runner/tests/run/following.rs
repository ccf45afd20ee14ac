//! Batches that a run hands out while it goes: rounds of a search, scattered entries, pairs to be scored; and the workers that follow it.
#![cfg(unix)]

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use crate::own_data::{CONFIG, PROGRAM, asked};
use crate::scratch::{Scratch, number_before};

const TOPK: [&str; 6] = ["topk", "config.yaml", "-k", "5", "--calls-per-item", "12"];
const FOLLOW: [&str; 5] = ["worker", "config.yaml", "--follow", "--patience", "60"];

/// 200 items, and a score slow enough that workers meet.
fn place() -> Scratch {
    let scratch = Scratch::with(CONFIG);
    let rows: String = (0..200).map(|i| format!("n{i}\t{i}\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.write("scorer.sh", &PROGRAM.replace("shift 2", "shift 2; sleep 0.001"));
    scratch
}

/// The same with a score that takes no time, for what one process makes of it.
fn alone() -> Scratch {
    let scratch = place();
    scratch.write("scorer.sh", PROGRAM);
    scratch
}

fn start(scratch: &Scratch, arguments: &[&str]) -> Child {
    scratch.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A worker that follows runs, ready for them.
struct Follower {
    child: Child,
    /// Open as long as it writes there.
    errors: BufReader<ChildStderr>,
}

impl Follower {
    fn start(scratch: &Scratch) -> Self {
        let mut child = start(scratch, &FOLLOW);
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(line.starts_with("ready for what runs of `mine`"), "{line}");
        Self { child, errors }
    }

    /// Tiles that it did until the run was over.
    fn tiles(self) -> u64 {
        let Self { child, errors } = self;
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let rest: Vec<String> = errors.lines().map_while(Result::ok).collect();
        assert!(output.status.success() && said.starts_with("the run is over: "), "{said}{rest:?}");
        number_before(&said, " tiles done by this worker")
    }
}

fn well(scratch: &Scratch, arguments: &[&str]) -> String {
    let said = scratch.say(arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {}{}", said.out, said.err);
    said.out
}

/// Pairs that were scored, in whichever order.
fn distinct(scratch: &Scratch) -> usize {
    let pair = |line: &String| {
        let mut items: Vec<String> = line.split(' ').map(str::to_owned).collect();
        items.sort_unstable();
        items
    };
    asked(scratch).iter().map(pair).collect::<HashSet<_>>().len()
}

fn neighbours(scratch: &Scratch) -> Vec<u8> {
    std::fs::read(scratch.path("results/mine/neighbours.tsv")).unwrap()
}

#[test]
fn workers_share_the_rounds_of_a_search_each_pair_is_scored_once_and_the_lists_are_those_of_one_process() {
    let alone = alone();
    well(&alone, &TOPK);
    let scratch = place();
    let followers = [Follower::start(&scratch), Follower::start(&scratch)];
    let said = well(&scratch, &[&TOPK[..], &["--workers"]].concat());
    assert!(said.contains("2,400 evaluations, "), "{said}");
    let tiles: u64 = followers.map(Follower::tiles).iter().sum();
    assert!(tiles > 0);
    assert_eq!((asked(&scratch).len(), distinct(&scratch)), (2400, 2400));
    assert!(neighbours(&scratch) == neighbours(&alone));
    // a second run finds all of it, and needs nobody
    well(&scratch, &[&TOPK[..], &["--workers"]].concat());
    assert_eq!(asked(&scratch).len(), 2400);
}

#[test]
fn a_follower_and_a_run_that_are_killed_lose_what_was_in_flight() {
    let alone = alone();
    well(&alone, &TOPK);
    let scratch = place();
    let config = std::fs::read_to_string(scratch.path("config.yaml")).unwrap();
    scratch.write("config.yaml", &format!("{config}cluster: {{ lease: 5 }}\n"));
    let arguments = [&TOPK[..], &["--workers"]].concat();
    let (mut killed, other) = (Follower::start(&scratch), Follower::start(&scratch));
    let mut run = start(&scratch, &arguments);
    while asked(&scratch).len() < 700 && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for child in [&mut killed.child, &mut run] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // begun anew, it goes on from the store, with the follower that is left
    let before = asked(&scratch).len();
    well(&scratch, &arguments);
    let tiles = other.tiles();
    assert!(tiles > 0, "{before} calls before the kill");
    assert_eq!(distinct(&scratch), 2400);
    // less than a tile of each of the two
    assert!(asked(&scratch).len() <= 2400 + 2 * 128, "{}", asked(&scratch).len());
    assert!(neighbours(&scratch) == neighbours(&alone));
}

#[test]
fn scattered_entries_and_pairs_with_a_stated_recall_are_handed_out_too() {
    let scattered = |scratch: Scratch| {
        let config = CONFIG.replace("[shift_ridge]", "[{ id: shift_ridge, entries: scattered }]");
        scratch.write(
            "config.yaml",
            &config.replace("ranks: 12\nerror_estimate: 100", "ranks: 24\nerror_estimate: false"),
        );
        scratch
    };
    let factors = |scratch: &Scratch| std::fs::read(scratch.path("results/mine/factors/vectors.npy")).unwrap();
    let alone = scattered(alone());
    alone.run_well(&["--quiet"]);
    let scratch = scattered(place());
    well(&scratch, &["plan", "config.yaml"]);
    well(&scratch, &["worker", "config.yaml"]);
    let follower = Follower::start(&scratch);
    well(&scratch, &["merge", "config.yaml", "--workers", "--quiet"]);
    assert!(follower.tiles() > 0);
    assert!(factors(&scratch) == factors(&alone));
    assert_eq!((asked(&scratch).len(), distinct(&scratch)), (asked(&alone).len(), asked(&alone).len()));

    let mine = ["mine", "config.yaml", "--at-least", "0.5", "--rescore", "20"];
    let follower = Follower::start(&scratch);
    well(&scratch, &[&mine[..], &["--workers", "--budget", "5000"]].concat());
    assert!(follower.tiles() > 0);
    well(&alone, &mine);
    assert_eq!((asked(&scratch).len(), distinct(&scratch)), (asked(&alone).len(), asked(&alone).len()));
    let pairs = |scratch: &Scratch| std::fs::read(scratch.path("results/mine/pairs.tsv")).unwrap();
    assert!(pairs(&scratch) == pairs(&alone));
}

#[test]
fn a_worker_that_can_not_follow_says_why() {
    let scratch = place();
    let said = well(&scratch, &[&FOLLOW[..3], &["--patience", "1"]].concat());
    assert!(said.contains("nothing was handed out for 1 s: 0 tiles done by this worker"), "{said}");
    well(&scratch, &[&TOPK[..], &["--workers"]].concat());
    // a run at work whose score is another
    let session = scratch.path("store/plans/mine.batches/session.json");
    let text = std::fs::read_to_string(&session).unwrap();
    assert!(text.contains("\"is_over\":true"), "{text}");
    let batch = scratch.json("store/plans/mine.batches/batch.json")["id"].to_string();
    std::fs::write(&session, text.replace("true", "false").replace("null", &batch)).unwrap();
    scratch.write("scorer.sh", &PROGRAM.replace("\"difference\"", "\"another\""));
    let said = scratch.say(&FOLLOW);
    assert!(said.code == Some(2) && said.err.contains("the run evaluates `"), "{:?} {}", said.code, said.err);
    let budget = place();
    let config = std::fs::read_to_string(budget.path("config.yaml")).unwrap();
    budget.write("config.yaml", &format!("{config}budget: {{ entries: 5000 }}\n"));
    let said = budget.say(&[&TOPK[..], &["--workers"]].concat());
    assert!(said.code != Some(0) && said.err.contains("`budget.entries` is kept by one process"), "{}", said.err);
    assert!(asked(&budget).is_empty());
    for command in [&["topk", "config.yaml", "--workers"][..], &["mine", "config.yaml", "--workers"]] {
        let said = scratch.say(command);
        assert!(said.code == Some(2) && said.err.contains("`--workers` shares what is scored"), "{}", said.err);
    }
}

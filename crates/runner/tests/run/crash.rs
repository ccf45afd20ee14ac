//! Kills of the real program at random moments: afterwards the results are those of a run that was left alone, byte for byte, and no call is asked for twice but
//! those that were in flight.
//!
//! Each test kills once; `scripts/test-crash N` kills N times in all and prints what came of it.
#![cfg(unix)]

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::own_data::{asked, place, slow_place, twice};
use crate::scratch::{Printed, Scratch, number_before};

const FACTORS: [&str; 3] = ["factors/vectors.npy", "factors/signature.npy", "factors/projector.npy"];
const TOPK: &str = "topk config.yaml -k 5 --calls-per-item 8";

fn kills() -> impl Iterator<Item = u64> {
    let count = std::env::var("LANDMARK_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    // splitmix64
    (0..count).map(move |k: u64| {
        let mut z = now.wrapping_add((k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

fn results(scratch: &Scratch, names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| std::fs::read(scratch.path(&format!("runs/mine/{name}"))).unwrap()).collect()
}

fn start(scratch: &Scratch, arguments: &str) -> Child {
    let log = File::create(scratch.path("log")).unwrap();
    let mut command = scratch.command(arguments);
    command.env("RUST_LOG", "landmark_store=debug").stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Kills a run as soon as `is_time`; answers the calls that were in flight, or `None` where it had ended before.
fn killed(scratch: &Scratch, arguments: &str, mut is_time: impl FnMut() -> bool) -> Option<usize> {
    let mut run = start(scratch, arguments);
    while !is_time() && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let has_ended = run.try_wait().unwrap().is_some();
    run.kill().unwrap();
    run.wait().unwrap();
    // the program continues with what it was sent, for nobody
    let mut before = usize::MAX;
    while asked(scratch).len() != before {
        before = asked(scratch).len();
        std::thread::sleep(Duration::from_millis(400));
    }
    let log = scratch.read("log");
    (!has_ended).then_some(in_flight(&log))
}

fn in_flight(log: &str) -> usize {
    let mut batches = log.lines().filter(|line| line.contains(" calls are in flight"));
    batches.next_back().map_or(0, |line| number_before(line, " calls are in flight") as usize)
}

fn with_handles(most: usize, command: &Command) -> Command {
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "ulimit -n \"$0\" && exec \"$@\"", &most.to_string()]);
    limited.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

/// Holds a kill against what is allowed, and prints it for the table of `scripts/test-crash`.
fn judge(what: &str, scratch: &Scratch, in_flight: Option<usize>) {
    let Some(in_flight) = in_flight else {
        eprintln!("kill: {what}: it had ended before");
        return;
    };
    let twice = twice(scratch);
    eprintln!("kill: {what}: {twice} calls asked twice, {in_flight} in flight");
    assert!(twice <= in_flight, "{twice} calls were asked for twice, and {in_flight} were in flight");
}

/// Kills `arguments` at fewer than `most` calls, lets `rest` end it, and holds its files against those of `rest` alone.
fn survives(what: &str, arguments: &str, most: u64, files: &[&str], rest: impl Fn(&Scratch)) {
    let whole = place();
    rest(&whole);
    for draw in kills() {
        let scratch = slow_place();
        let until = (draw % most) as usize;
        let in_flight = killed(&scratch, arguments, || asked(&scratch).len() >= until);
        rest(&scratch);
        judge(what, &scratch, in_flight);
        assert!(results(&scratch, files) == results(&whole, files));
    }
}

#[test]
fn a_killed_run_asks_again_for_what_was_in_flight_and_ends_in_the_same_factors() {
    survives("scoring", "config.yaml --quiet", 700, &FACTORS, |scratch| drop(scratch.run_well("--quiet")));
}

#[test]
fn a_share_killed_and_run_again_gives_the_run_the_same_factors() {
    survives("share", "config.yaml --share 0/2 --quiet", 350, &FACTORS, |scratch| {
        scratch.well("config.yaml --share 1/2 --quiet");
        scratch.well("config.yaml --share 0/2 --quiet");
        let before = asked(scratch).len();
        scratch.run_well("--quiet");
        assert_eq!(asked(scratch).len(), before);
    });
}

#[test]
fn a_search_killed_between_its_rounds_ends_in_the_same_neighbors() {
    survives("topk", TOPK, 450, &["neighbors.tsv"], |scratch| drop(scratch.well(TOPK)));
}

#[test]
fn a_run_killed_while_it_writes_leaves_nothing_half_written() {
    let whole = place();
    whole.run_well("--quiet");
    for draw in kills() {
        let scratch = place();
        let (mut since, wait) = (None, Duration::from_millis(draw % 60));
        let has_begun = || scratch.path("runs/mine/cells.jsonl").exists() || scratch.path("runs/mine/factors").exists();
        let in_flight = killed(&scratch, "config.yaml --quiet", || {
            if since.is_none() && has_begun() {
                since = Some(Instant::now());
            }
            since.is_some_and(|since: Instant| since.elapsed() >= wait)
        });
        scratch.run_well("--quiet");
        judge("writing", &scratch, in_flight);
        assert!(results(&scratch, &FACTORS) == results(&whole, &FACTORS));
        assert_eq!(scratch.figures("runs/mine"), whole.figures("runs/mine"));
    }
}

#[test]
fn a_share_that_is_stopped_while_another_process_does_it_and_wakes_up_does_no_harm() {
    let whole = place();
    whole.run_well("--quiet");
    let scratch = slow_place();
    let mut late = start(&scratch, "config.yaml --share 0/2");
    while asked(&scratch).len() < 50 && late.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &late.id().to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    scratch.well("config.yaml --share 0/2 --quiet");
    signal("-CONT");
    assert!(late.wait().unwrap().success(), "{}", scratch.read("log"));
    scratch.run_well("--quiet");
    assert!(results(&scratch, &FACTORS) == results(&whole, &FACTORS));
}

#[test]
fn without_file_handles_a_run_ends_with_the_reason_and_goes_on_where_it_was() {
    let whole = place();
    whole.run_well("--quiet");
    let scratch = place();
    let mut may_be_lost = 0;
    // from too few to start the scoring program to enough for all of it
    for handles in 6..16 {
        std::fs::remove_dir_all(scratch.path("runs")).ok();
        let mut run = scratch.command("config.yaml --quiet");
        run.env("RUST_LOG", "landmark_store=debug");
        let seen = Printed::of(&mut with_handles(handles, &run));
        if seen.code == Some(0) && handles > 6 {
            continue;
        }
        assert!(matches!(seen.code, Some(1 | 2)), "{handles} handles: exit code {:?}: {}", seen.code, seen.err);
        // the shell that is the scoring program may be the one to notice
        assert!(
            seen.err.contains("Too many open files") || seen.err.contains("its standard error: /bin/sh"),
            "{}",
            seen.err
        );
        may_be_lost += in_flight(&seen.err);
    }
    scratch.run_well("--quiet --force");
    assert!(twice(&scratch) <= may_be_lost, "{} of {may_be_lost}", twice(&scratch));
    assert!(results(&scratch, &FACTORS) == results(&whole, &FACTORS));
}

#[test]
fn no_secret_of_the_environment_is_written_anywhere() {
    let scratch = place();
    let secret = "s3cr3t-that-was-planted";
    for arguments in ["config.yaml --share 0/2", "config.yaml", "report config.yaml", TOPK] {
        let mut command = scratch.command(arguments);
        for name in ["AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "HF_TOKEN", "LANDMARK_PLANTED"] {
            command.env(name, secret);
        }
        let output = command.env("RUST_LOG", "debug").output().unwrap();
        let seen = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&seen));
        assert!(!contains(&seen, secret), "{arguments:?} prints a secret");
    }
    let (mut files, mut bytes) = (0, 0);
    for (path, content) in scratch.files("") {
        assert!(!contains(&content, secret), "{} holds a secret", path.display());
        (files, bytes) = (files + 1, bytes + content.len());
    }
    assert!(files > 10 && bytes > 10_000, "{files} files of {bytes} bytes were looked through");
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

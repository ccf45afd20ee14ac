//! A plan, its workers and the merge, by the real binary: what they buy, what a killed one costs, and what they refuse.
#![cfg(unix)]

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::own_data::{PROGRAM, asked, place};
use crate::scratch::{Said, Scratch, number_before};

/// The bytes of the factors of a run in one process, with a store of its own.
fn in_one_process() -> Vec<u8> {
    let scratch = place();
    scratch.run_well(&["--quiet"]);
    std::fs::read(scratch.path("results/mine/factors/vectors.npy")).unwrap()
}

fn well(scratch: &Scratch, arguments: &[&str]) -> Said {
    let said = scratch.say(arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {}{}", said.out, said.err);
    said
}

fn factors(scratch: &Scratch) -> Vec<u8> {
    std::fs::read(scratch.path("results/mine/factors/vectors.npy")).unwrap()
}

/// Pairs scored more than once.
fn twice(scratch: &Scratch) -> usize {
    let all = asked(scratch);
    all.len() - all.iter().collect::<HashSet<_>>().len()
}

#[test]
fn workers_at_once_buy_each_entry_once_and_the_merge_equals_one_process_bit_for_bit() {
    let scratch = place();
    // slow enough that the workers overlap
    scratch.write("scorer.sh", &PROGRAM.replace("shift 2", "sleep 0.001; shift 2"));
    let said = well(&scratch, &["plan", "config.yaml", "--tile-size", "17"]);
    let (planned, tiles) = (number_before(&said.out, " entries in "), number_before(&said.out, " tile"));
    assert!(tiles >= 40, "{}", said.out);
    let early = scratch.say(&["merge", "config.yaml"]);
    assert_eq!(early.code, Some(2));
    early.must_complain("tiles are not done");
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(|| well(&scratch, &["worker", "config.yaml"]))).collect();
        let done: u64 =
            workers.into_iter().map(|worker| number_before(&worker.join().unwrap().out, " tiles done")).sum();
        assert_eq!(done, tiles, "each tile by one worker");
    });
    assert_eq!((asked(&scratch).len() as u64, twice(&scratch)), (planned, 0));
    let said = well(&scratch, &["status", "config.yaml"]);
    assert!(said.out.contains(&format!("{tiles} of {tiles} tiles done")), "{}", said.out);
    well(&scratch, &["merge", "config.yaml"]);
    assert_eq!(asked(&scratch).len() as u64, planned, "the merge buys nothing");
    assert_eq!(factors(&scratch), in_one_process());
    // a worker that comes late finds nothing to do
    let said = well(&scratch, &["worker", "config.yaml", "--share", "0/2"]);
    assert!(said.out.starts_with("0 tiles done"), "{}", said.out);
}

#[test]
fn a_worker_that_is_killed_within_a_tile_loses_a_moment_of_buying_and_nothing_else() {
    let scratch = place();
    scratch.write("scorer.sh", &PROGRAM.replace("shift 2", "sleep 0.02; shift 2"));
    let said = well(&scratch, &["plan", "config.yaml", "--tile-size", "240"]);
    let planned = number_before(&said.out, " entries in ");
    let mut worker = scratch.command(&["worker", "config.yaml"]).spawn().unwrap();
    let start = Instant::now();
    // until something of a tile that is not done was published
    while scratch.names("store").iter().filter(|name| name.contains("t0000")).count() < 2 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was published");
        std::thread::sleep(Duration::from_millis(50));
    }
    worker.kill().unwrap();
    worker.wait().unwrap();
    // the program ends with its batches: what it was at is scored for nobody
    std::thread::sleep(Duration::from_secs(1));
    let kept = scratch.entries_kept("store");
    let said = well(&scratch, &["worker", "config.yaml", "--lease", "1"]);
    let bought = number_before(&said.out, " entries bought");
    assert!(bought <= planned, "{}", said.out);
    // what was paid twice is less than what waits to be published: a second and a half of it, and two batches
    assert!(twice(&scratch) <= 140, "{} of {planned} twice; {kept} were kept", twice(&scratch));
    well(&scratch, &["merge", "config.yaml"]);
    assert_eq!(factors(&scratch), in_one_process());
}

#[test]
fn a_plan_whose_data_have_changed_is_refused_with_both_hashes() {
    let scratch = place();
    well(&scratch, &["plan", "config.yaml", "--tile-size", "100"]);
    let plan = scratch.json("store/plans/mine/plan.json");
    let then = plan["subject"].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(scratch.path("items.tsv")).unwrap();
    scratch.write("items.tsv", &text.replace("n3\t3\n", "n3\t4\n"));
    let said = scratch.say(&["worker", "config.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    said.must_complain("the items, the program or the settings of its score have changed");
    said.must_complain(&then);
    let hashes: HashSet<&str> =
        said.err.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 64).collect();
    assert!(hashes.len() == 2 || said.err.contains('│'), "both are shown: {}", said.err);
    // planning anew says so, too, and does it when told
    let said = scratch.say(&["plan", "config.yaml", "--tile-size", "100"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    said.must_complain("there is another plan");
    well(&scratch, &["plan", "config.yaml", "--tile-size", "100", "--force"]);
    well(&scratch, &["worker", "config.yaml", "--quiet"]);
    well(&scratch, &["merge", "config.yaml", "--quiet"]);
}

#[test]
fn what_was_bought_before_the_plan_is_not_bought_by_its_workers() {
    let scratch = place();
    scratch.run_well(&["--quiet", "--set", "ranks=5", "--set", "error_estimate=false"]);
    let before = asked(&scratch).len();
    assert!(before > 200);
    well(&scratch, &["plan", "config.yaml", "--tile-size", "50"]);
    well(&scratch, &["worker", "config.yaml", "--quiet"]);
    well(&scratch, &["merge", "config.yaml", "--quiet"]);
    assert_eq!(twice(&scratch), 0);
    assert_eq!(factors(&scratch), in_one_process());
    // housekeeping leaves the plan's tiles to their workers, and the store sound
    well(&scratch, &["store", "gc"]);
    let kept = scratch.entries_kept("store");
    assert!(kept >= asked(&scratch).len() as u64, "{kept}");
}

#[test]
fn what_is_printed_next_can_be_run_as_it_stands() {
    let scratch = place();
    let places = ["--store", "else where", "--results", "out", "--set", "error_estimate=100"];
    let said = well(&scratch, &[&["plan", "config.yaml", "--tile-size", "100"], &places[..]].concat());
    assert!(said.out.contains(" entries of it left to be bought"), "{}", said.out);
    let next = "merge config.yaml --set error_estimate=100 --store 'else where' --results out";
    assert!(said.out.contains(&format!("then: runner {next}")), "{}", said.out);
    well(&scratch, &[&["worker", "config.yaml", "--quiet"], &places[..]].concat());
    let said = well(&scratch, &[&["status", "config.yaml"], &places[..]].concat());
    assert!(said.out.contains(&format!("all done: `runner {next}`")), "{}", said.out);
    // planned again, nothing is left; another size is another plan, and must be wanted
    let again = |more: &[&str]| scratch.say(&[&["plan", "config.yaml"], &places[..], more].concat());
    assert!(again(&[]).out.contains("0 entries of it left to be bought"), "{}", again(&[]).out);
    again(&["--tile-size", "50"]).must_complain("there is another plan");
    assert_eq!(again(&["--tile-size", "50", "--force"]).code, Some(0));
}

#[test]
fn a_plan_makes_no_call_unasked() {
    let scratch = place();
    let said = well(&scratch, &["plan", "config.yaml"]);
    assert!(asked(&scratch).is_empty() && !said.out.contains("an entry"), "{}", said.out);
    let seconds = ["plan", "config.yaml", "--tile-seconds", "0.001"];
    let said = scratch.say(&seconds);
    assert_eq!(said.code, Some(2), "{}", said.out);
    said.must_complain("add `--sample N`");
    assert!(asked(&scratch).is_empty());
    let said = well(&scratch, &[&seconds[..], &["--sample", "12", "--force"]].concat());
    assert_eq!(asked(&scratch).len(), 12);
    assert!(said.out.contains(" an entry: "), "{}", said.out);
    // a plan that can't be read is not taken for none
    scratch.write("store/plans/mine/plan.json", "{}");
    let said = scratch.say(&["plan", "config.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.out);
    said.must_complain("can't be read");
    well(&scratch, &["plan", "config.yaml", "--force"]);
}

#[test]
fn what_cannot_be_planned_says_why() {
    let scratch = place();
    let refused = |arguments: &[&str], words: &str| {
        let said = scratch.say(arguments);
        assert_eq!(said.code, Some(2), "{arguments:?}: {}{}", said.out, said.err);
        said.must_complain(words);
    };
    refused(&["worker", "config.yaml"], "there is no plan of `mine`");
    refused(&["plan", "config.yaml", "--set", "target_error=0.1"], "a plan needs a fixed `ranks`");
    refused(&["plan", "config.yaml", "--set", "landmarks=farthest"], "a plan needs a fixed `ranks`");
    refused(&["plan", "config.yaml", "--set", "budget.entries=10"], "`budget` allows 10");
    refused(&["plan", "config.yaml", "--tile-seconds", "0"], "`--tile-seconds` is 0");
    well(&scratch, &["plan", "config.yaml", "--tile-size", "100"]);
    refused(&["worker", "config.yaml", "--tiles", "3-99"], "is not within the tiles");
    refused(&["worker", "config.yaml", "--share", "2/2"], "is no share");
    // a store that vanishes takes its plan along
    std::fs::remove_dir_all(scratch.path("store")).unwrap();
    refused(&["status", "config.yaml"], "there is no plan of `mine`");
}

#[test]
fn slurm_and_hyperqueue_get_their_files() {
    let scratch = place();
    let text = format!(
        "{}cluster: {{ slurm: ['--mem=2G'], at_a_time: 5, prologue: ['module load python'] }}\n",
        crate::own_data::CONFIG
    );
    scratch.write("config.yaml", &text);
    let said = well(&scratch, &["plan", "config.yaml", "--tile-size", "100", "--executor", "slurm"]);
    let job = std::fs::read_to_string(scratch.path("results/mine/cluster/job.sbatch")).unwrap();
    assert!(said.out.contains("sbatch ") && job.contains("#SBATCH --mem=2G") && job.contains("%5\n"), "{job}");
    assert!(job.contains("module load python\nexec ") && job.contains("--store "), "{job}");
    well(&scratch, &["plan", "config.yaml", "--executor", "hyperqueue"]);
    let tasks = scratch.json("results/mine/cluster/tasks.json");
    assert_eq!(tasks[0], 0);
    // what the file says can be run as it stands, by any shell
    let worker = scratch.path("results/mine/cluster/worker.sh");
    let script = std::fs::read_to_string(&worker).unwrap().replace("module load python\n", "");
    std::fs::write(&worker, script).unwrap();
    for task in 0..tasks.as_array().unwrap().len() {
        let status =
            std::process::Command::new("sh").arg(&worker).env("HQ_ENTRY", task.to_string()).current_dir("/").output();
        assert!(status.unwrap().status.success());
    }
    well(&scratch, &["merge", "config.yaml", "--quiet"]);
}

//! A scoring program as an oracle, and every way in which one can misbehave, with small real programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use landmark_core::oracle::{Metered, Oracle, Pair, Symmetry, block_of};
use landmark_oracles::subprocess::{FailedPairs, ScoredItems, Subprocess, SubprocessError, SubprocessParams};
use landmark_store::{OracleLabel, TileStore};

const GREETING: &str = r#"{"landmark":1,"identity":"difference","symmetric":true,"pairs":"index"}"#;

/// A shell program that answers |i − j|. `hook` runs for each pair: it may change the score `$d`, sleep or exit.
fn program(greeting: &str, hook: &str) -> String {
    format!(
        r#"#!/bin/sh
read -r hello
echo '{greeting}'
while read -r line; do
  number=${{line#*:}}; number=${{number%%,*}}; scores=
  set -- $(echo "${{line#*pairs}}" | tr -c '0-9' ' ')
  while [ $# -gt 0 ]; do
    i=$1; j=$2; shift 2; d=$((i - j)); d=${{d#-}}
    {hook}
    scores="$scores,$d"
  done
  echo "{{\"batch\":$number,\"scores\":[${{scores#,}}]}}"
done
"#
    )
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn params(&self, script: &str) -> SubprocessParams {
        let path = self.path("scorer.sh");
        std::fs::write(&path, script).unwrap();
        SubprocessParams {
            command: vec!["/bin/sh".into(), path.display().to_string()],
            batch: 8,
            timeout_seconds: 20.0,
            start_seconds: 20.0,
            folder: Some(self.0.path().to_owned()),
            ..SubprocessParams::default()
        }
    }

    fn start(&self, script: &str) -> Subprocess {
        Subprocess::start(self.params(script), items(40)).unwrap()
    }
}

fn items(n: usize) -> Arc<ScoredItems> {
    let ids = (0..n).map(|i| format!("item-{i}")).collect();
    Arc::new(ScoredItems::new(ids, (0..n).map(|i| format!("text {i}")).collect()).unwrap())
}

fn pairs(n: usize) -> Vec<Pair> {
    (0..n).map(|k| (k % 40, (k * 7 + k / 40) % 40)).collect()
}

fn check(oracle: &Subprocess, count: usize) {
    let pairs = pairs(count);
    let mut scores = vec![f64::NAN; count];
    oracle.evaluate(&pairs, &mut scores).unwrap();
    for ((i, j), score) in pairs.into_iter().zip(scores) {
        assert_eq!(score, i.abs_diff(j) as f64, "({i}, {j})");
    }
}

/// The error as a person sees it, cause included.
fn message_of(oracle: &Subprocess, count: usize) -> String {
    let mut scores = vec![0.0; count];
    in_words(&oracle.evaluate(&pairs(count), &mut scores).unwrap_err())
}

fn in_words(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {}", in_words(cause)))
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn refusal(script: &str) -> SubprocessError {
    let place = Place::new();
    match Subprocess::start(place.params(script), items(3)) {
        Ok(_) => panic!("the program was accepted"),
        Err(error) => error,
    }
}

#[test]
fn every_pair_gets_its_own_score_from_one_process_or_several() {
    let place = Place::new();
    check(&place.start(&program(GREETING, "")), 100);
    let params = SubprocessParams { processes: 3, ..place.params(&program(GREETING, "echo $$ >> ids")) };
    let several = Subprocess::start(params, items(40)).unwrap();
    check(&several, 100);
    check(&several, 1);
    let text = std::fs::read_to_string(place.path("ids")).unwrap();
    let ids: std::collections::HashSet<&str> = text.lines().collect();
    assert_eq!(ids.len(), 3, "all three work");
    assert_eq!(several.symmetry(), Symmetry::Symmetric);
}

#[test]
fn no_process_waits_while_another_has_a_batch_in_hand_that_it_does_not_work_on() {
    // nobody answers before all four are asked
    let hook = "touch at-work-$$; while [ $(ls at-work-* | wc -l) -lt 4 ]; do sleep 0.01; done";
    for count in [4, 13, 40] {
        let place = Place::new();
        let params = SubprocessParams { processes: 4, ..place.params(&program(GREETING, hook)) };
        check(&Subprocess::start(params, items(40)).unwrap(), count);
    }
}

#[test]
fn texts_and_ids_reach_the_program_as_they_are() {
    for (form, wanted) in [("text", "[\"text 1\",\"text 2\"]"), ("id", "[\"item-1\",\"item-2\"]")] {
        let place = Place::new();
        let greeting = GREETING.replace("\"index\"", &format!("\"{form}\""));
        let script = format!(
            "read -r hello\necho '{greeting}'\nread -r line\nprintf '%s' \"$line\" > seen\necho '{{\"batch\":1,\"scores\":[1]}}'\n"
        );
        place.start(&script).evaluate(&[(1, 2)], &mut [0.0]).unwrap();
        let seen = std::fs::read_to_string(place.path("seen")).unwrap();
        assert_eq!(seen, format!("{{\"batch\":1,\"pairs\":[{wanted}]}}"));
    }
}

#[test]
fn a_known_diagonal_is_never_asked_for() {
    let place = Place::new();
    let greeting = GREETING.replace('}', ",\"diagonal\":7}");
    let oracle = place.start(&program(&greeting, "echo x >> asked"));
    let block = block_of(&oracle, &[0, 1, 2], &[0, 1, 2]).unwrap();
    assert_eq!(block, ndarray::array![[7.0, 1.0, 2.0], [1.0, 7.0, 1.0], [2.0, 1.0, 7.0]]);
    let mut scores = [0.0; 2];
    oracle.evaluate(&[(3, 3), (3, 5)], &mut scores).unwrap();
    assert_eq!((scores, lines(&place.path("asked"))), ([7.0, 2.0], 4));
}

#[test]
fn another_identity_text_or_treatment_of_failures_is_another_oracle() {
    let place = Place::new();
    let script = program(GREETING, "");
    let identity = |params: SubprocessParams, items| Subprocess::start(params, items).unwrap().identity();
    let first = identity(place.params(&script), items(4));
    assert_eq!(first, identity(SubprocessParams { processes: 2, batch: 3, ..place.params(&script) }, items(4)));
    assert_ne!(first, identity(place.params(&script), items(5)));
    let lenient = SubprocessParams { failed_pairs: FailedPairs::Score(0.0), ..place.params(&script) };
    assert_ne!(first, identity(lenient, items(4)));
    assert_ne!(first, identity(place.params(&script.replace("difference", "another")), items(4)));
}

#[test]
fn a_program_that_ends_once_is_started_again_and_nothing_is_lost() {
    let place = Place::new();
    // ends at its 30th pair, once in all
    let hook = "echo x >> count; if [ ! -e ended ] && [ $(wc -l < count) -ge 30 ]; then touch ended; exit 9; fi";
    let oracle = place.start(&program(GREETING, hook));
    check(&oracle, 100);
    assert_eq!(oracle.restarts(), 1);
}

#[test]
fn a_pair_that_ends_the_program_is_found_and_named() {
    let place = Place::new();
    let hook = "if [ $i = 13 ] && [ $j = 11 ]; then echo 'cannot bear 13' >&2; exit 3; fi";
    let oracle = place.start(&program(GREETING, hook));
    let message = message_of(&oracle, 40);
    for words in ["exited with status 3", "(`item-13`, `item-11`)", "cannot bear 13", "failed_pairs"] {
        assert!(message.contains(words), "{message}");
    }
    // whole twice, then halves of 8, 4, 2 and 1
    assert!(oracle.restarts() <= 5, "{} restarts", oracle.restarts());
    // the oracle is still of use for other pairs
    check(&oracle, 10);
}

#[test]
fn failed_pairs_may_get_a_score_and_are_counted() {
    let place = Place::new();
    let hook = "if [ $i = 13 ]; then exit 3; fi; if [ $i = 20 ]; then d='{\"error\":\"too long\"}'; fi";
    let params = SubprocessParams { failed_pairs: FailedPairs::Score(-1.0), ..place.params(&program(GREETING, hook)) };
    let oracle = Subprocess::start(params, items(40)).unwrap();
    let mut scores = vec![0.0; 40];
    oracle.evaluate(&pairs(40), &mut scores).unwrap();
    for ((i, j), score) in pairs(40).into_iter().zip(scores) {
        let wanted = if i == 13 || i == 20 { -1.0 } else { i.abs_diff(j) as f64 };
        assert_eq!(score, wanted, "({i}, {j})");
    }
    assert_eq!(oracle.failed(), 2);
}

#[test]
fn a_program_that_fails_on_every_pair_is_given_up_even_where_pairs_may_fail() {
    let place = Place::new();
    let allowed = |hook: &str| SubprocessParams {
        failed_pairs: FailedPairs::Score(0.0),
        ..place.params(&program(GREETING, hook))
    };
    let oracle = Subprocess::start(allowed("d='{\"error\":\"no key\"}'"), items(40)).unwrap();
    let message = message_of(&oracle, 40);
    for words in ["scored none", "that is the program", "no key"] {
        assert!(message.contains(words), "{message}");
    }
    // one bad item fails with all others: that is the item
    let oracle = Subprocess::start(allowed("if [ $j = 7 ]; then d='{\"error\":\"empty\"}'; fi"), items(40)).unwrap();
    let column: Vec<Pair> = (0..40).map(|i| (i, 7)).collect();
    oracle.evaluate(&column, &mut [0.0; 40]).unwrap();
    assert_eq!(oracle.failed(), 40);
}

#[test]
fn where_nothing_was_scored_yet_the_program_is_suspected() {
    let place = Place::new();
    let oracle = place.start(&program(GREETING, "if [ $i -lt 8 ] || [ $i = 20 ]; then d='{\"error\":\"no key\"}'; fi"));
    let message = message_of(&oracle, 8);
    assert!(message.contains("look at the program, which has not scored a pair yet"), "{message}");
    let mut score = [0.0];
    oracle.evaluate(&[(9, 10)], &mut score).unwrap();
    let message = in_words(&oracle.evaluate(&[(20, 1)], &mut score).unwrap_err());
    assert!(message.contains("no key; look at these two items, or set"), "{message}");
}

#[test]
fn a_program_that_hangs_is_ended_in_time_and_the_pair_is_named() {
    let place = Place::new();
    let hook = "if [ $i = 5 ]; then exec sleep 1000; fi";
    let params = SubprocessParams { timeout_seconds: 0.5, batch: 2, ..place.params(&program(GREETING, hook)) };
    let oracle = Subprocess::start(params, items(40)).unwrap();
    let message = message_of(&oracle, 8);
    assert!(message.contains("gave no answer for 0.5 s on the pair (`item-5`, `item-35`)"), "{message}");
}

#[test]
fn what_is_no_answer_is_refused_and_shown() {
    let again = r#"if [ $i = 0 ]; then echo '{"batch":5,"scores":[0]}'; fi"#;
    let repeated = r#"if [ $i = 8 ]; then echo '{"batch":1,"scores":[0]}'; fi"#;
    let spoilt = |score: &str| format!("if [ $i = 4 ]; then d={score}; fi");
    let no_number = "gave the pair (`item-4`, `item-28`) NaN";
    for (hook, count, wanted) in [
        ("if [ $i = 3 ]; then echo 'loading weights ...'; fi".to_owned(), 8, "printed `loading weights ...`"),
        (again.to_owned(), 8, "answered batch 5 where batch 1 was next"),
        (repeated.to_owned(), 16, "answered batch 1 where batch 2 was next"),
        ("d=$d,1".to_owned(), 8, "gave 16 scores for the 8 pairs of batch 1"),
        ("d=".to_owned(), 8, "expected"),
        (spoilt("NaN"), 8, no_number),
        (spoilt("Infinity"), 8, no_number),
        (spoilt("null"), 8, no_number),
        ("yes | tr -d '\\n'".to_owned(), 2, "a line without an end"),
    ] {
        let place = Place::new();
        let oracle = place.start(&program(GREETING, &hook));
        let message = message_of(&oracle, count);
        assert!(message.contains(wanted) && message.len() < 2000, "{hook}: {message}");
        assert_eq!(oracle.restarts(), 0, "what prints this prints it again");
    }
}

#[test]
fn a_program_that_does_not_greet_well_is_refused_with_what_it_did() {
    for (script, words) in [
        (
            "echo no such model >&2; exit 2",
            vec!["exited with status 2 before it greeted", "no such model", "\"landmark\": 1"],
        ),
        ("echo hello", vec!["greeted with `hello`"]),
        ("echo '{\"landmark\":2,\"identity\":\"x\",\"symmetric\":true}'", vec!["version 2"]),
        ("echo '{\"landmark\":1,\"symmetric\":true}'", vec!["identity"]),
    ] {
        let message = in_words(&refusal(script));
        for words in words {
            assert!(message.contains(words), "{message}");
        }
    }
    let place = Place::new();
    let silent = SubprocessParams { start_seconds: 0.2, ..place.params("exec sleep 100") };
    let message = in_words(&Subprocess::start(silent, items(2)).err().unwrap());
    assert!(message.contains("gave no answer for 0.2 s before it greeted"), "{message}");
    let missing = SubprocessParams { command: vec!["/nowhere/scorer".into()], ..SubprocessParams::default() };
    let message = in_words(&Subprocess::start(missing, items(2)).err().unwrap());
    assert!(message.contains("`/nowhere/scorer` cannot be started"), "{message}");
}

#[test]
fn a_program_that_comes_back_as_another_is_refused() {
    let place = Place::new();
    let script = program("$greeting", "if [ $i = 3 ]; then exit 1; fi").replace(
        "echo '$greeting'",
        &format!(
            "if [ -e started ]; then echo '{}'; else touch started; echo '{GREETING}'; fi",
            GREETING.replace("difference", "other")
        ),
    );
    let message = message_of(&place.start(&script), 8);
    assert!(
        message.contains("\"difference\"") && message.contains("\"other\"") && message.contains("must not change"),
        "{message}"
    );
}

#[test]
fn what_a_store_keeps_of_a_program_is_not_asked_again() {
    let place = Place::new();
    let store = TileStore::open(&place.path("store").display().to_string()).unwrap();
    let script = program(GREETING, "echo x >> asked");
    let (all, columns): (Vec<usize>, [usize; 3]) = ((0..40).collect(), [4, 9, 30]);
    for evaluated in [117, 0] {
        let metered = Metered::new(place.start(&script));
        let stored = store.attach(metered, OracleLabel::new("subprocess", "a test")).unwrap();
        let block = block_of(&stored, &all, &columns).unwrap();
        assert_eq!(block[[10, 1]], 1.0);
        stored.flush().unwrap();
        assert_eq!(stored.inner().spent().evaluations, evaluated);
    }
    assert_eq!(lines(&place.path("asked")), 117);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let good = || SubprocessParams { command: vec!["true".into()], ..SubprocessParams::default() };
    for (params, name) in [
        (SubprocessParams { command: vec![], ..good() }, "command"),
        (SubprocessParams { processes: 0, ..good() }, "processes"),
        (SubprocessParams { batch: 0, ..good() }, "batch"),
        (SubprocessParams { timeout_seconds: 0.0, ..good() }, "timeout_seconds"),
        (SubprocessParams { start_seconds: f64::NAN, ..good() }, "start_seconds"),
        (SubprocessParams { failed_pairs: FailedPairs::Score(f64::NAN), ..good() }, "failed_pairs"),
    ] {
        let message = params.check().unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
}

/// True while a process that a program wrote into `file` is there, and no zombie.
#[cfg(target_os = "linux")]
fn is_alive(file: &Path) -> bool {
    let id = std::fs::read_to_string(file).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

#[cfg(target_os = "linux")]
fn ends(file: &Path) -> bool {
    (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !is_alive(file)
    })
}

/// The program after a child of it, which no end of its standard input ends.
#[cfg(target_os = "linux")]
fn with_child(place: &Place, hook: &str) -> String {
    let child = place.path("child").display().to_string();
    program(GREETING, hook).replacen(
        '\n',
        &format!("\nsleep 300 </dev/null >/dev/null 2>&1 &\necho $! > '{child}'\n"),
        1,
    )
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_program_started_ends_with_it() {
    let place = Place::new();
    let oracle = place.start(&with_child(&place, ":"));
    assert!(is_alive(&place.path("child")));
    drop(oracle);
    assert!(ends(&place.path("child")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_silent_for_too_long_is_ended_with_what_it_started() {
    let place = Place::new();
    let params = SubprocessParams { timeout_seconds: 0.3, ..place.params(&with_child(&place, "sleep 300")) };
    let oracle = Subprocess::start(params, items(40)).unwrap();
    let mut out = [0.0];
    assert!(oracle.evaluate(&[(0, 1)], &mut out).is_err());
    assert!(ends(&place.path("child")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_outlives_the_thread_that_started_it() {
    let place = Place::new();
    let script = program(GREETING, ":");
    let oracle = std::thread::scope(|scope| scope.spawn(|| place.start(&script)).join().unwrap());
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut out = [0.0];
    oracle.evaluate(&[(0, 3)], &mut out).unwrap();
    assert_eq!(out, [3.0]);
}

#[test]
fn what_a_program_prints_is_shown_without_keys_and_orders_to_the_terminal() {
    let place = Place::new();
    let message = r#"printf 'sk-proj-0123456789abcdef \033[2J\n' >&2; exit 3"#;
    let error =
        Subprocess::start(place.params(&format!("#!/bin/sh\n{message}\n")), items(3)).err().unwrap().to_string();
    assert!(error.contains("REDACTED \\u{1b}[2J") && !error.contains('\u{1b}'), "{error}");
}

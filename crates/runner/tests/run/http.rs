//! Scores behind an endpoint, by the server that ships in `examples`.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::scratch::{Scratch, number_before};

/// The server, until the test ends; its address.
struct Server(Child, String);

impl Server {
    /// `None`, said, where there is no Python.
    fn start(arguments: &[&str]) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mock_server.py");
        let started =
            Command::new("python3").arg(script).args(["--port", "0"]).args(arguments).stdout(Stdio::piped()).spawn();
        let Ok(mut server) = started else {
            eprintln!("skipped: there is no python3 for examples/mock_server.py");
            return None;
        };
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split(": ").next().unwrap().to_owned();
        Some(Self(server, address))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const CONFIG: &str = "\
name: mine
experiment: own_data
dataset: { name: texts, path: items.txt }
oracle: { kind: subprocess, command: [python3, sentence_similarity.py] }
methods: [shift_ridge]
ranks: 10
error_estimate: 100
";

fn place() -> Scratch {
    let scratch = Scratch::with(CONFIG);
    let words = ["the red cat", "a dog", "some green trees", "the old house", "two houses", "cats and dogs"];
    let rows: String = (0..40).map(|i| format!("{} and {} {i}\n", words[i % 6], words[(i / 6) % 6])).collect();
    scratch.write("items.txt", &rows);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sentence_similarity.py");
    std::fs::copy(program, scratch.path("sentence_similarity.py")).unwrap();
    scratch
}

#[test]
fn an_endpoint_gives_the_factors_of_the_program_that_it_serves() {
    let Some(Server(_, ref url)) = Server::start(&["--refuse", "0.2"]) else { return };
    let scratch = place();
    scratch.run_well(&[]);
    let vectors = |name: &str| std::fs::read(scratch.path(&format!("results/{name}/factors/vectors.npy"))).unwrap();
    let served = [
        ("rerank", format!("{{ kind: http, url: \"{url}/rerank\", symmetric: true, pairs_per_request: 7 }}")),
        ("score", format!("{{ kind: http, url: \"{url}/score\", shape: score, symmetric: true }}")),
    ];
    for (name, oracle) in served {
        let oracle = format!("oracle={oracle}");
        let flags = ["--set", &oracle, "--set", &format!("name={name}")];
        let planned = number_before(&scratch.run_well(&[&flags[..], &["--dry-run"]].concat()).out, " evaluations");
        scratch.run_well(&flags);
        assert!(planned > 300 && vectors(name) == vectors("mine"), "{name}");
        assert_eq!(scratch.calls(&format!("results/{name}"))[1], planned, "{name}");
    }
}

#[test]
fn a_judge_stops_before_its_money_is_spent() {
    let Some(Server(_, ref url)) = Server::start(&[]) else { return };
    let scratch = place();
    let oracle = format!(
        "oracle={{ kind: http, url: \"{url}/v1/chat/completions\", shape: chat, model: judge, symmetric: true, \
         prompt: \"A: {{{{a}}}}\\nB: {{{{b}}}}\", price: {{ input: 100, request: 0.01 }} }}"
    );
    // 780 pairs at a cent and more
    let stopped = scratch.run(&["--set", &oracle, "--set", "budget.money=2"]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.err);
    assert!(stopped.err.contains("budget.money"), "{}", stopped.err);
    // what was paid for is kept: the rest costs less than all
    let left =
        number_before(&scratch.run_well(&["--set", &oracle, "--set", "budget.money=50", "--dry-run"]).out, " to buy");
    assert!(left < 440, "{left}");
    let said = scratch.run_well(&["--set", &oracle, "--set", "budget.money=50"]);
    assert!(said.out.contains("this run paid"), "{}", said.out);
}

#[test]
fn faults_of_an_endpoint_name_the_next_step() {
    let Some(Server(_, ref url)) = Server::start(&[]) else { return };
    let scratch = place();
    let set = |oracle: String| format!("oracle={oracle}");
    let wrong_path = set(format!("{{ kind: http, url: \"{url}/nowhere\" , symmetric: true }}"));
    scratch.complains(&["--set", &wrong_path], &["404", "oracle.url"]);
    let no_key = set(format!("{{ kind: http, url: \"{url}/rerank\", key: LANDMARK_NO_SUCH_KEY }}"));
    scratch.complains(&["--set", &no_key], &["LANDMARK_NO_SUCH_KEY", "export"]);
    scratch.complains(&["--set", "oracle={ kind: http, url: localhost }"], &["`url` is localhost"]);
    let no_prompt = set(format!("{{ kind: http, url: \"{url}/rerank\", shape: chat, model: m }}"));
    scratch.complains(&["--set", &no_prompt], &["{{a}}"]);
}

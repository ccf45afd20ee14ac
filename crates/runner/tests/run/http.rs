//! Scores behind an endpoint, by the server that ships in `examples`.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::scratch::{Scratch, number_before};

struct Server(Child, String);

impl Server {
    /// `None`, reported, where there is no Python.
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
    scratch.run_well("");
    let vectors = |name: &str| std::fs::read(scratch.path(&format!("runs/{name}/factors/vectors.npy"))).unwrap();
    let served = [
        (
            "rerank",
            format!("{{ kind: http, url: \"{url}/rerank\", symmetric: true, checks: 0, pairs_per_request: 7 }}"),
        ),
        ("score", format!("{{ kind: http, url: \"{url}/score\", shape: score, symmetric: true, checks: 0 }}")),
    ];
    for (name, oracle) in served {
        let oracle = format!("oracle={oracle}");
        let flags = ["--set", &oracle, "--set", &format!("name={name}")];
        let planned = number_before(&scratch.run_well(&[&flags[..], &["--dry-run"]].concat()).out, " calls: ");
        scratch.run_well(&flags);
        assert!(planned > 300 && vectors(name) == vectors("mine"), "{name}");
        assert_eq!(scratch.calls(&format!("runs/{name}"))[1], planned, "{name}");
    }
}

#[test]
fn an_endpoint_that_is_not_symmetric_is_refused_before_its_scores_are_kept() {
    let Some(Server(_, ref url)) = Server::start(&["--asymmetric"]) else { return };
    let scratch = place();
    let oracle = |more: &str| format!("oracle={{ kind: http, url: \"{url}/rerank\", symmetric: true{more} }}");
    let planned = scratch.run_well(&["--set", &oracle(""), "--dry-run"]).out;
    assert_eq!(number_before(&planned, " calls to check the scorer"), 8);
    scratch.complains(
        &["--set", &oracle("")],
        &["in one order", "`oracle.symmetric` is true", "oracle.symmetrize: mean", "oracle.checks: 0"],
    );
    scratch.run_well(&["--set", &oracle(", checks: 0"), "--set", "name=believed"]);
    let both = format!("oracle={{ kind: http, url: \"{url}/rerank\", symmetrize: mean }}");
    scratch.run_well(&["--set", &both, "--set", "name=both"]);
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
    stopped.reports(&["budget.money"]);
    // what was paid for is kept: the rest costs less than all
    let left = number_before(
        &scratch.run_well(&["--set", &oracle, "--set", "budget.money=50", "--dry-run"]).out,
        " new calls (",
    );
    assert!(left < 440, "{left}");
    let seen = scratch.run_well(&["--set", &oracle, "--set", "budget.money=50"]);
    seen.reports(&["this run paid"]);
    // charged and saved apart: what the store had is worth what the first run paid for it
    let amount = |words: &str| -> f64 {
        let (before, _) = seen.err.split_once(words).unwrap_or_else(|| panic!("{words}: {}", seen.err));
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let (paid, saved) = (amount(" paid, "), amount(" saved by reuse"));
    assert!(paid > 2.0 && (1.8..2.1).contains(&saved), "{paid} {saved}");
    // and by a price a call, where nothing is asked any more
    let priced = ["--set", &oracle, "--set", "budget={ money: 50, cost_per_entry: 0.01 }", "--set", "name=again"];
    let again = scratch.run_well(&priced).err;
    assert!(again.contains("0.0000 paid, "), "{again}");
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

const JUDGE: &str = "kind: http, shape: chat, model: judge, symmetric: true, prompt: \"A: {{a}}\\nB: {{b}}\"";

#[test]
fn a_sample_prices_the_plan_with_an_interval() {
    let Some(Server(_, ref url)) = Server::start(&[]) else { return };
    let scratch = place();
    let oracle = format!(
        "oracle={{ {JUDGE}, checks: 0, url: \"{url}/v1/chat/completions\", price: {{ input: 1000, output: 2000, output_tokens: 8, request: 0.001 }} }}"
    );
    let flags = ["--set", &oracle, "--set", "budget.money=500", "--dry-run"];
    let unasked = scratch.run_well(&flags);
    assert!(!unasked.out.contains("they cost"), "{}", unasked.out);
    let priced = scratch.run_well(&[&flags[..], &["--sample", "40"]].concat()).out;
    let line = priced.lines().find(|line| line.contains("95 % interval")).unwrap_or_else(|| panic!("{priced}"));
    assert!(line.contains("by the tokens of 40 requests"), "{line}");
    let numbers: Vec<f64> =
        line.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|word| word.parse().ok()).collect();
    let [money, _, lower, upper, ..] = numbers[..] else { panic!("{line}") };
    assert!(lower < money && money < upper, "{line}");
    // what the rest costs is in there
    let seen = scratch.run_well(&flags[..4]);
    let paid = seen.err.lines().find_map(|line| line.split("this run paid ").nth(1)).unwrap();
    let paid: f64 = paid.split(':').next().unwrap().parse().unwrap();
    assert!(lower <= paid && paid <= upper, "paid {paid}; {line}");
}

#[test]
fn vectors_of_a_proxy_are_asked_for_once_and_by_no_dry_run() {
    let Some(Server(_, ref url)) = Server::start(&[]) else { return };
    let scratch = place();
    let methods = format!(
        "methods=[{{ id: shift_ridge, proxy: {{ kind: embedding_cosine, endpoint: {{ url: \"{url}/v1/embeddings\", model: m }} }} }}]"
    );
    scratch.run_well(&["--set", &methods, "--dry-run"]).reports(&["asks", "1 request"]);
    assert!(!scratch.path("embeddings").exists());
    scratch.run_well(&["--set", &methods]);
    let kept = scratch.files("embeddings");
    assert_eq!(kept.len(), 1);
    let again = scratch.run_well(&["--set", &methods, "--set", "ranks=12"]);
    assert!(!again.err.contains("request"), "{}", again.err);
    assert_eq!(scratch.files("embeddings"), kept);
    let both =
        "methods=[{ id: shift_ridge, proxy: { kind: embedding_cosine, model: m, endpoint: { url: 'http://x/' } } }]";
    scratch
        .complains(&["--set", both], &["`methods[0].proxy.endpoint` and `methods[0].proxy.model` exclude each other"]);
    let nowhere = "methods=[{ id: shift_ridge, proxy: { kind: embedding_cosine, endpoint: { url: nowhere } } }]";
    scratch.complains(&["--set", nowhere], &["proxy.endpoint", "`url`"]);
}

//! Runs with a store above the endpoint that are killed −9 while requests are under way.

use super::*;

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use landmark_store::{OracleLabel, Stored, TileStore};

const ITEMS: usize = 200;
const COLUMNS: usize = 12;

fn stored(url: &str, folder: &Path) -> Stored<Http> {
    let params = HttpParams {
        url: url.to_owned(),
        pairs_per_request: Some(8),
        in_flight: 4,
        timeout_seconds: 20.0,
        ..HttpParams::default()
    };
    let store = TileStore::open(&folder.display().to_string()).unwrap();
    store.attach(Http::new(params, items(ITEMS), None).unwrap(), OracleLabel::new("http", "killed")).unwrap()
}

/// The run that is killed: `LANDMARK_TEST_STORE` is the address and the folder of the store. It says what is under way.
#[test]
fn a_run_of_its_own_process() {
    let Ok(place) = std::env::var("LANDMARK_TEST_STORE") else { return };
    let (url, folder) = place.split_once(' ').unwrap();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .init();
    let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..ITEMS).collect(), (0..COLUMNS).collect());
    stored(url, Path::new(folder)).stock(&rows, &cols).unwrap();
}

fn asked(server: &Server) -> HashMap<(String, String), usize> {
    let mut asked = HashMap::new();
    for request in server.seen() {
        for document in request.body["documents"].as_array().unwrap() {
            *asked.entry((document.to_string(), request.body["query"].to_string())).or_default() += 1;
        }
    }
    asked
}

#[test]
fn a_killed_run_asks_again_for_no_more_than_was_under_way() {
    for until in [3, 70, 200] {
        let server = Server::start(|request| {
            std::thread::sleep(Duration::from_millis(10));
            right(&request.body)
        });
        let folder = tempfile::tempdir().unwrap();
        let url = server.url("/rerank");
        let log = folder.path().join("log");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::a_run_of_its_own_process", "--nocapture"])
            .env("LANDMARK_TEST_STORE", format!("{url} {}", folder.path().join("store").display()))
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while server.seen().len() < until && child.try_wait().unwrap().is_none() {
            assert!(start.elapsed().as_secs() < 120, "it asks for nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        // SIGKILL
        child.kill().unwrap();
        child.wait().unwrap();
        let log = std::fs::read_to_string(&log).unwrap();
        let batches: Vec<usize> = log
            .lines()
            .filter_map(|line| line.split_once(" calls are under way")?.0.rsplit(' ').next()?.parse().ok())
            .collect();
        // one batch at a time
        let under_way: usize = batches.iter().rev().take(1).sum();

        let again = stored(&url, &folder.path().join("store"));
        let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..ITEMS).collect(), (0..COLUMNS).collect());
        again.stock(&rows, &cols).unwrap();
        let asked = asked(&server);
        assert_eq!(asked.len(), ITEMS * COLUMNS, "nothing is lost");
        let twice: usize = asked.values().map(|times| times - 1).sum();
        eprintln!("killed after {until} requests: {twice} pairs asked twice, {under_way} under way");
        assert!(twice <= under_way, "{twice} pairs were asked for twice, and {under_way} were under way");
        let (before, pairs) = (server.seen().len(), [(7, 3), (199, 11), (3, 3)]);
        let mut out = [f64::NAN; 3];
        again.evaluate(&pairs, &mut out).unwrap();
        assert_eq!((out.to_vec(), server.seen().len()), (similarities(&pairs), before));
    }
}

//! Jobs of many requests: handed over, killed, collected.

use super::*;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use landmark_http::{BatchParams, Price, Shape};

/// A server of jobs; its requests are answered by `answer`, once a job was looked at twice.
#[derive(Default)]
struct Office {
    files: BTreeMap<String, String>,
    jobs: Vec<Job>,
    conflicts: usize,
}

struct Job {
    id: String,
    file: String,
    digest: String,
    looks: usize,
}

const CHAT: &str = "/v1/chat/completions";

fn ratings(body: &Json) -> Json {
    let prompt = body["messages"][0]["content"].as_str().unwrap().to_owned();
    let texts: Vec<f64> = prompt.split('|').map(|text| number(&json!(text))).collect();
    let rating = (texts[0] + texts[1]) % 11.0;
    let usage = json!({ "prompt_tokens": prompt.len() / 4, "completion_tokens": 1 });
    json!({ "choices": [{ "message": { "content": format!("{rating}") } }], "usage": usage })
}

fn rating((i, j): &Pair) -> f64 {
    ((i + j) % 11) as f64
}

/// Answers as OpenAI's batches do; `line` is what becomes of a line on the number-th job.
fn office(line: impl Fn(&Json, usize) -> Option<Json> + Send + Sync + 'static) -> (Server, Arc<Mutex<Office>>) {
    let office = Arc::new(Mutex::new(Office::default()));
    let held = Arc::clone(&office);
    let server = Server::start(move |request| {
        let mut held = held.lock().unwrap();
        let path = request.path.split('?').next().unwrap().to_owned();
        match path.trim_start_matches("/v1/").split('/').collect::<Vec<_>>().as_slice() {
            ["files"] => {
                let text = request.text.lines().filter(|line| line.starts_with("{\"custom_id\"")).collect::<Vec<_>>();
                let name = format!("file-{}", held.files.len());
                held.files.insert(name.clone(), text.join("\n"));
                Answer::json(200, &json!({ "id": name }))
            }
            ["batches"] if request.body.is_null() => {
                let listed =
                    held.jobs.iter().map(|job| json!({ "id": job.id, "metadata": { "landmark": job.digest } }));
                Answer::json(200, &json!({ "data": listed.collect::<Vec<_>>(), "has_more": false }))
            }
            ["batches"] => {
                held.conflicts += 1;
                if held.conflicts % 2 == 1 {
                    return Answer::text(409, "the file is being looked at").with("retry-after-ms", "3");
                }
                assert_eq!(request.body["endpoint"], CHAT);
                let id = format!("batch-{}", held.jobs.len());
                let text = |key: &Json| key.as_str().unwrap().to_owned();
                let (file, digest) =
                    (text(&request.body["input_file_id"]), text(&request.body["metadata"]["landmark"]));
                held.jobs.push(Job { id: id.clone(), file, digest, looks: 0 });
                Answer::json(200, &json!({ "id": id, "status": "validating" }))
            }
            ["batches", id] => {
                let job = held.jobs.iter_mut().find(|job| job.id == *id).unwrap();
                job.looks += 1;
                let status = if job.looks == 1 { "in_progress" } else { "completed" };
                Answer::json(200, &json!({ "id": id, "status": status, "output_file_id": format!("out-{id}") }))
            }
            ["files", name, "content"] => {
                let place = held.jobs.iter().position(|job| format!("out-{}", job.id) == *name).unwrap();
                let text = &held.files[&held.jobs[place].file];
                let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                // in another order
                let answers = lines.iter().rev().filter_map(|request| line(request, place));
                Answer::text(200, &answers.map(|answer| format!("{answer}\n")).collect::<String>())
            }
            other => Answer::text(404, &format!("{other:?}")),
        }
    });
    (server, office)
}

fn done(request: &Json, status: u16, body: Json) -> Json {
    json!({ "custom_id": request["custom_id"], "response": { "status_code": status, "body": body }, "error": null })
}

fn judged(url: &str, folder: &Path) -> HttpParams {
    HttpParams {
        url: url.to_owned(),
        shape: Shape::Chat,
        model: Some("judge".to_owned()),
        prompt: Some("{{a}}|{{b}}".to_owned()),
        pairs_per_request: None,
        patience_seconds: 5.0,
        batch: Some(BatchParams { folder: folder.to_owned(), poll_seconds: 0.02, ..BatchParams::default() }),
        ..HttpParams::default()
    }
}

fn ratings_of(pairs: &[Pair]) -> Vec<f64> {
    pairs.iter().map(rating).collect()
}

#[test]
fn a_job_is_handed_over_and_collected() {
    let (server, office) = office(|request, _| Some(done(request, 200, ratings(&request["body"]))));
    let folder = tempfile::tempdir().unwrap();
    let oracle = http(judged(&server.url(CHAT), folder.path()), 20);
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), ratings_of(&some_pairs()));
    assert_eq!(office.lock().unwrap().jobs.len(), 1);
    assert_eq!(oracle.calls_at_once(), 10_000);
    // what was handed on is remembered no longer
    drop(oracle);
    let left =
        std::fs::read_dir(folder.path()).unwrap().flat_map(|inner| std::fs::read_dir(inner.unwrap().path()).unwrap());
    assert_eq!(left.count(), 0);
}

#[test]
fn lines_that_vanish_are_asked_for_again_and_named_in_the_end() {
    // every third vanishes once, another fails once in passing, and one is never seen again
    let (server, office) = office(|request, job| {
        let id: usize = request["custom_id"].as_str().unwrap().trim_start_matches("line-").parse().unwrap();
        let prompt = request["body"]["messages"][0]["content"].as_str().unwrap();
        match (prompt, id % 3, job) {
            ("text 7|text 19", ..) => None,
            (_, 0, 0) => None,
            (_, 1, 0) => Some(done(request, 500, json!({ "error": "busy" }))),
            _ => Some(done(request, 200, ratings(&request["body"]))),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let strict = judged(&server.url(CHAT), folder.path());
    let error = failure(strict.clone(), 20, &some_pairs());
    assert!(error.contains("(`id7`, `id19`)") && error.contains("did not come back, 3 times"), "{error}");
    assert_eq!(office.lock().unwrap().jobs.len(), 3);
    let oracle = http(HttpParams { failed_pairs: FailedPairs::Score(-1.0), ..strict }, 20);
    let mut wanted = ratings_of(&some_pairs());
    wanted[some_pairs().iter().position(|&pair| pair == (7, 19)).unwrap()] = -1.0;
    assert_eq!((scored(&oracle, &some_pairs()).unwrap(), oracle.failed()), (wanted, 1));
}

#[test]
fn a_job_never_passes_the_limit_on_money() {
    let (server, office) = office(|request, _| Some(done(request, 200, ratings(&request["body"]))));
    let folder = tempfile::tempdir().unwrap();
    let price = Price { request: 0.1, ..Price::default() };
    let params = HttpParams { price: Some(price), ..judged(&server.url(CHAT), folder.path()) };
    let oracle = Http::new(params, items(20), Some(1.25)).unwrap();
    let mut out = vec![f64::NAN; 60];
    let attempt = oracle.fallible().unwrap().attempt(&some_pairs(), &mut out);
    assert!(matches!(attempt.error, Some(OracleError::MoneyExhausted { .. })), "{:?}", attempt.error);
    // what it paid for is there
    assert_eq!(out.iter().filter(|score| score.is_finite()).count(), 12);
    assert!((oracle.paid().money - 1.2).abs() < 1e-9, "{:?}", oracle.paid());
    assert_eq!(office.lock().unwrap().files.values().map(|text| text.lines().count()).sum::<usize>(), 12);
}

/// The run that is killed: `LANDMARK_TEST_JOB` is the address and the folder.
#[test]
fn a_run_of_its_own_process() {
    let Ok(place) = std::env::var("LANDMARK_TEST_JOB") else { return };
    let (url, folder) = place.split_once(' ').unwrap();
    let oracle = http(judged(url, Path::new(folder)), 20);
    let _ = scored(&oracle, &some_pairs());
}

#[test]
fn a_killed_run_picks_up_the_same_job() {
    // killed once the job is being worked on, and once before it could write down its name
    for is_named in [true, false] {
        let (server, office) = office(|request, _| Some(done(request, 200, ratings(&request["body"]))));
        let folder = tempfile::tempdir().unwrap();
        let url = server.url(CHAT);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "jobs::a_run_of_its_own_process", "--nocapture"])
            .env("LANDMARK_TEST_JOB", format!("{url} {}", folder.path().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = std::time::Instant::now();
        while office.lock().unwrap().jobs.first().is_none_or(|job| job.looks == 0) {
            assert!(start.elapsed().as_secs() < 60, "no job was handed over");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // SIGKILL
        child.kill().unwrap();
        child.wait().unwrap();
        if !is_named {
            let inner = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
            let file = std::fs::read_dir(inner).unwrap().next().unwrap().unwrap().path();
            let mut job: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            job["batch"] = Json::Null;
            std::fs::write(&file, job.to_string()).unwrap();
        }
        let oracle = http(judged(&url, folder.path()), 20);
        // asked for in other requests than before
        let (some, others): (Vec<Pair>, Vec<Pair>) = some_pairs().into_iter().partition(|&(i, _)| i < 9);
        assert_eq!(scored(&oracle, &others).unwrap(), ratings_of(&others));
        assert_eq!(scored(&oracle, &some).unwrap(), ratings_of(&some));
        assert_eq!(office.lock().unwrap().jobs.len(), 1, "nothing was handed over twice");
    }
}

#[test]
fn a_file_that_is_no_job_is_named() {
    let (server, _) = office(|_, _| None);
    let folder = tempfile::tempdir().unwrap();
    let error = refusal(judged(&server.url("/chat"), folder.path()));
    assert!(error.contains("batch.url"), "{error}");
    let params = judged(&server.url(CHAT), folder.path());
    let identity = http(params.clone(), 3).fallible().unwrap().identity_of_scores().short();
    std::fs::create_dir_all(folder.path().join(&identity)).unwrap();
    std::fs::write(folder.path().join(&identity).join("x.json"), "{").unwrap();
    let error = failure(params, 3, &[(0, 1)]);
    assert!(error.contains("x.json") && error.contains("remove it"), "{error}");
}

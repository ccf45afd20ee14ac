//! Jobs of many requests: a file of JSON lines is handed over, worked on for minutes or hours, and collected; about half the price at most servers.
//!
//! ```text
//! POST …/files             the lines, as a form      → {"id": "file-1"}
//! POST …/batches           {input_file_id, endpoint, completion_window, metadata} → {"id": "batch_1"}
//! GET  …/batches/batch_1   until it has ended        → {"status", "output_file_id", "error_file_id"}
//! GET  …/files/…/content   {"custom_id", "response": {"status_code", "body"}, "error"}, one a line, in any order
//! ```
//! What is handed over is written down first, in `<folder>/<identity>/<digest of the lines>.json`, and its name at the server once that is known.
//! A run that was killed in between picks the job up: by its name, or by the digest among the server's own jobs. The file goes when its scores
//! were handed on and this ends, so that a run killed before they were stored collects them again, at no price.
//!
//! Every line must come back. Those that did not, or whose status is 408, 409, 425, 429 or 5xx, are asked for again, `rounds` times in all; then
//! their pairs fail by name. 413, 422 and answers without sense halve a line of several pairs.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use landmark_core::oracle::{Identity, Pair};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;
use url::Url;

use super::Http;
use crate::error::HttpError;
use crate::params::BatchParams;
use crate::rating::shortened;
use crate::shape;
use crate::spend_limit::{Reserved, Usage};

/// Bytes of a job's answers, at most.
const MOST_BYTES: usize = 1 << 30;
const BOUNDARY: &str = "landmark-form-boundary";

pub(crate) struct Jobs {
    params: BatchParams,
    folder: PathBuf,
    base: Url,
    endpoint: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Jobs of a run before this one were looked for.
    is_taken_up: bool,
    scores: HashMap<Pair, Vec<f64>>,
    /// Files of jobs that were collected, with the pairs that were not handed on yet.
    collected: Vec<(PathBuf, HashSet<Pair>)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    version: u32,
    digest: String,
    /// Its name at the server, once it has one.
    batch: Option<String>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    id: String,
    pairs: Vec<Pair>,
    bytes: usize,
    /// Jobs that it was in before.
    #[serde(default)]
    rounds: u32,
}

enum Answered {
    Scores(Vec<f64>),
    /// Not answered, for a reason that may pass.
    Again(String),
    /// Not answered, or not with sense.
    Refused(String),
}

impl Jobs {
    pub(crate) fn new(params: &BatchParams, url: &Url, identity: &Identity) -> Self {
        let (base, endpoint) = params.addresses(url);
        let folder = params.folder.join(identity.short());
        Self { params: params.clone(), folder, base, endpoint, state: Mutex::default() }
    }

    /// Scores pairs by as many jobs as that takes, those of a killed run first.
    pub(crate) async fn score(&self, http: &Http, pairs: &[Pair], out: &mut [f64]) -> Result<(), HttpError> {
        let mut state = self.state.lock().await;
        if !std::mem::replace(&mut state.is_taken_up, true) {
            self.take_up(http, &mut state).await?;
        }
        let repeats = http.params.repeats;
        let missing: Vec<Pair> = pairs.iter().copied().filter(|pair| !state.has(*pair, repeats)).collect();
        let largest = http.largest.load(std::sync::atomic::Ordering::Relaxed);
        let batches = shape::cut(&http.params, &missing, largest);
        // calls of one pair stand in lines of their own
        let lines = batches.iter().flat_map(|batch| {
            let had = batch.pairs.iter().map(|pair| state.scores.get(pair).map_or(0, Vec::len)).min().unwrap_or(0);
            (had..repeats).map(|_| (batch.pairs.clone(), 0))
        });
        let mut waiting: VecDeque<(Vec<Pair>, u32)> = lines.collect();
        let mut outcome = Ok(());
        while !waiting.is_empty() && outcome.is_ok() {
            outcome = self.run_one(http, &mut state, &mut waiting).await;
        }
        for (&pair, score) in pairs.iter().zip(out) {
            if let Some(scores) = state.scores.get(&pair).filter(|scores| scores.len() >= repeats) {
                *score = scores.iter().sum::<f64>() / scores.len() as f64;
                http.repeated.take(scores);
            }
        }
        let handed_on: HashSet<Pair> = pairs.iter().copied().filter(|&pair| state.has(pair, repeats)).collect();
        state.scores.retain(|pair, _| !handed_on.contains(pair));
        state.collected.iter_mut().for_each(|(_, left)| left.retain(|pair| !handed_on.contains(pair)));
        outcome
    }

    /// Hands as many lines over as the limit and the money allow, and collects them.
    async fn run_one(
        &self,
        http: &Http,
        state: &mut State,
        waiting: &mut VecDeque<(Vec<Pair>, u32)>,
    ) -> Result<(), HttpError> {
        let (mut lines, mut text, mut reserved) = (Vec::new(), String::new(), HashMap::new());
        let mut refusal = None;
        while lines.len() < self.params.requests
            && let Some((pairs, rounds)) = waiting.pop_front()
        {
            let (body, id) = (http.body(&pairs), format!("line-{}", lines.len()));
            match http.client.spending.reserve_now(body.len(), pairs.len()) {
                Ok(money) => drop(reserved.insert(id.clone(), money)),
                Err(exhausted) => {
                    refusal = Some(HttpError::from(exhausted));
                    waiting.push_front((pairs, rounds));
                    break;
                }
            }
            let line = format!(r#"{{"custom_id":"{id}","method":"POST","url":"{}","body":{body}}}"#, self.endpoint);
            text += &line;
            text.push('\n');
            lines.push(Line { id, pairs, bytes: body.len(), rounds });
        }
        if let Some(refusal) = refusal.filter(|_| lines.is_empty()) {
            return Err(refusal);
        }
        // a second round of the same lines is another job
        let round = lines.iter().map(|line| line.rounds).max().unwrap_or(0);
        let digest = blake3::hash(format!("{round}\n{text}").as_bytes()).to_hex()[..32].to_owned();
        let mut job = Job { version: 1, digest, batch: None, lines };
        let file = self.folder.join(format!("{}.json", job.digest));
        self.write(&file, &job)?;
        let handed_over = self.hand_over(http, &text, &job.digest).await;
        let batch = match handed_over {
            Ok(batch) => batch,
            Err(error) => {
                // refused before it was a job: nothing is charged
                reserved.into_values().for_each(Reserved::release);
                return Err(error);
            }
        };
        job.batch = Some(batch);
        self.write(&file, &job)?;
        self.collect(http, state, &job, &file, reserved, waiting).await
    }

    /// Collects the jobs that a killed run has left.
    async fn take_up(&self, http: &Http, state: &mut State) -> Result<(), HttpError> {
        let names = match fs::read_dir(&self.folder) {
            Ok(found) => found.filter_map(|file| Some(file.ok()?.path())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.unusable(&error)),
        };
        let mut files: Vec<PathBuf> = names.filter(|name| name.extension().is_some_and(|end| end == "json")).collect();
        files.sort();
        for file in files {
            let read = fs::read(&file).map_err(|error| self.unusable(&error))?;
            let job: Option<Job> = serde_json::from_slice(&read).ok().filter(|job: &Job| job.is_sound(&http.items));
            let Some(mut job) = job else {
                let what =
                    format!("`{}` describes no job of these items; remove it if no job is in flight", file.display());
                return Err(HttpError::Kept { folder: self.folder.display().to_string(), what });
            };
            if job.batch.is_none() {
                job.batch = self.find(http, &job.digest).await?;
            }
            if job.batch.is_none() {
                // it never left
                self.remove(&file)?;
                continue;
            }
            tracing::info!("the job `{}` of an earlier run is picked up", job.batch.as_deref().unwrap_or_default());
            let reserve = |line: &Line| (line.id.clone(), http.client.spending.take_over(line.bytes, line.pairs.len()));
            let reserved = job.lines.iter().map(reserve).collect();
            let mut again = VecDeque::new();
            match self.collect(http, state, &job, &file, reserved, &mut again).await {
                // what did not come back is asked for when it is wanted
                Ok(()) => {}
                Err(HttpError::Job { what, job, .. }) => {
                    tracing::warn!("the job `{job}` of an earlier run {what}; its pairs are asked for again");
                    self.remove(&file)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn hand_over(&self, http: &Http, text: &str, digest: &str) -> Result<String, HttpError> {
        let form = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{BOUNDARY}\r\ncontent-disposition: form-data; \
             name=\"file\"; filename=\"{digest}.jsonl\"\r\ncontent-type: application/jsonl\r\n\r\n{text}\r\n--{BOUNDARY}--\r\n"
        );
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let file = self.ask(http, "files", Some((&kind, form.as_bytes()))).await?;
        let order = json!({
            "input_file_id": self.id_of(&file)?,
            "endpoint": self.endpoint,
            "completion_window": self.params.window,
            "metadata": { "landmark": digest },
        });
        let order = order.to_string();
        self.ask(http, "batches", Some(("application/json", order.as_bytes()))).await.and_then(|job| self.id_of(&job))
    }

    async fn find(&self, http: &Http, digest: &str) -> Result<Option<String>, HttpError> {
        let mut after = String::new();
        loop {
            let page = self.ask(http, &format!("batches?limit=100{after}"), None).await?;
            let jobs = page["data"].as_array().cloned().unwrap_or_default();
            if let Some(job) = jobs.iter().find(|job| job["metadata"]["landmark"] == digest) {
                return self.id_of(job).map(Some);
            }
            match jobs.last().filter(|_| page["has_more"] == true) {
                Some(last) => after = format!("&after={}", self.id_of(last)?),
                None => return Ok(None),
            }
        }
    }

    /// Waits for a job, and keeps the scores of its lines; those that are to be asked for again wait.
    async fn collect(
        &self,
        http: &Http,
        state: &mut State,
        job: &Job,
        file: &Path,
        mut reserved: HashMap<String, Reserved>,
        waiting: &mut VecDeque<(Vec<Pair>, u32)>,
    ) -> Result<(), HttpError> {
        let ended = self.ended(http, job.batch.as_deref().unwrap_or_default()).await?;
        let mut answers = HashMap::new();
        for name in ["output_file_id", "error_file_id"] {
            let Some(id) = ended[name].as_str().filter(|id| !id.is_empty()) else { continue };
            let text = self.text(http, &format!("files/{id}/content")).await?;
            for line in text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
                // a torn line is one that did not come back
                let Ok(answer) = serde_json::from_slice::<Json>(line) else { continue };
                if let Some(id) = answer["custom_id"].as_str() {
                    answers.entry(id.to_owned()).or_insert(answer);
                }
            }
        }
        let mut outcome = Ok(());
        let mut pairs = HashSet::new();
        for line in &job.lines {
            let money = reserved.remove(&line.id);
            let answered = self.read(http, line, answers.get(&line.id), money)?;
            let reason = match answered {
                Answered::Scores(scores) => {
                    pairs.extend(&line.pairs);
                    for (&pair, score) in line.pairs.iter().zip(scores) {
                        state.scores.entry(pair).or_default().push(score);
                    }
                    continue;
                }
                Answered::Again(_) if line.rounds + 1 < self.params.rounds => {
                    waiting.push_back((line.pairs.clone(), line.rounds + 1));
                    continue;
                }
                Answered::Again(reason) => format!("{reason}, {} times", line.rounds + 1),
                Answered::Refused(reason) => reason,
            };
            match line.pairs.as_slice() {
                &[pair] => outcome = outcome.and(http.fail(pair, format!("asked alone, {reason}"))),
                several => {
                    let (first, second) = several.split_at(several.len() / 2);
                    waiting.extend([(first.to_vec(), 0), (second.to_vec(), 0)]);
                }
            }
        }
        state.collected.push((file.to_owned(), pairs));
        outcome
    }

    fn read(
        &self,
        http: &Http,
        line: &Line,
        answer: Option<&Json>,
        money: Option<Reserved>,
    ) -> Result<Answered, HttpError> {
        let Some(answer) = answer else {
            // it may have been worked on: its money stays in doubt
            return Ok(Answered::Again("its line did not come back".to_owned()));
        };
        let (status, body) = (answer["response"]["status_code"].as_u64().unwrap_or(0), &answer["response"]["body"]);
        let in_body = crate::connection::status_in(body).filter(|_| status == 200).map(u64::from);
        if status == 200 && in_body.is_none() {
            if let Some(money) = money {
                money.settle(Usage::of(body));
            }
            return Ok(match http.understand(body, line.pairs.len())? {
                Ok(scores) => Answered::Scores(scores),
                Err(reason) => Answered::Refused(reason),
            });
        }
        if let Some(money) = money {
            money.release();
        }
        let fault = if answer["error"].is_null() { body } else { &answer["error"] };
        let reason = format!("its line came back with {status}: {}", shortened(&fault.to_string()));
        let is_expired =
            fault["code"].as_str().is_some_and(|code| code.contains("expired") || code.contains("cancelled"));
        Ok(match in_body.unwrap_or(status) {
            408 | 409 | 425 | 429 | 500..=599 => Answered::Again(reason),
            _ if is_expired => Answered::Again(reason),
            _ => Answered::Refused(reason),
        })
    }

    /// Waits until a job has ended; one that failed as a whole is an error.
    async fn ended(&self, http: &Http, id: &str) -> Result<Json, HttpError> {
        let start = Instant::now();
        loop {
            let job = self.ask(http, &format!("batches/{id}"), None).await?;
            let status = job["status"].as_str().unwrap_or_default();
            let failed = |what: String, next_step| {
                Err(HttpError::Job { url: self.base.to_string(), job: id.to_owned(), what, next_step })
            };
            match status {
                // what was done of the last two is there
                "completed" | "expired" | "cancelled" => return Ok(job),
                "failed" => {
                    let why = shortened(&job["errors"].to_string());
                    return failed(format!("failed: {why}"), "look at `oracle.request` and `oracle.batch`");
                }
                _ if start.elapsed().as_secs_f64() > 3600.0 * self.params.patience_hours => {
                    let what = format!("is `{status}` after {} h", self.params.patience_hours);
                    return failed(what, "run again to keep waiting, or raise `oracle.batch.patience_hours`");
                }
                _ => tokio::time::sleep(Duration::from_secs_f64(self.params.poll_seconds)).await,
            }
        }
    }

    async fn ask(&self, http: &Http, path: &str, body: Option<(&str, &[u8])>) -> Result<Json, HttpError> {
        let url = self.address(path);
        let text = http.client.about_jobs(&url, body, MOST_BYTES).await?;
        serde_json::from_slice(&text).map_err(|_| HttpError::Job {
            url: url.to_string(),
            job: path.to_owned(),
            what: format!("was answered by `{}`, which is not JSON", shortened(&String::from_utf8_lossy(&text))),
            next_step: "look at `oracle.batch.url`",
        })
    }

    async fn text(&self, http: &Http, path: &str) -> Result<Vec<u8>, HttpError> {
        http.client.about_jobs(&self.address(path), None, MOST_BYTES).await
    }

    fn address(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    fn id_of(&self, answer: &Json) -> Result<String, HttpError> {
        let id = answer["id"].as_str().filter(|id| !id.is_empty());
        id.map(str::to_owned).ok_or_else(|| HttpError::Job {
            url: self.base.to_string(),
            job: shortened(&answer.to_string()),
            what: "has no `id`".to_owned(),
            next_step: "look at `oracle.batch.url`: it must answer as OpenAI's batches do",
        })
    }

    /// Writes a job down, whole or not at all.
    fn write(&self, file: &Path, job: &Job) -> Result<(), HttpError> {
        let write = || {
            fs::create_dir_all(&self.folder)?;
            let draft = file.with_extension("draft");
            let mut open = fs::File::create(&draft)?;
            serde_json::to_writer(&mut open, job)?;
            open.sync_all()?;
            fs::rename(&draft, file)
        };
        write().map_err(|error| self.unusable(&error))
    }

    fn remove(&self, file: &Path) -> Result<(), HttpError> {
        fs::remove_file(file).map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &io::Error) -> HttpError {
        HttpError::Kept { folder: self.folder.display().to_string(), what: error.to_string() }
    }
}

impl State {
    fn has(&self, pair: Pair, repeats: usize) -> bool {
        self.scores.get(&pair).is_some_and(|scores| scores.len() >= repeats)
    }
}

impl Job {
    fn is_sound(&self, items: &landmark_oracles::subprocess::ScoredItems) -> bool {
        self.version == 1 && self.lines.iter().flat_map(|line| &line.pairs).all(|&(i, j)| i.max(j) < items.len())
    }
}

impl Drop for Jobs {
    /// Forgets the jobs whose scores were all handed on: whoever asked has stored them by now.
    fn drop(&mut self) {
        for (file, left) in &self.state.get_mut().collected {
            if left.is_empty()
                && let Err(error) = fs::remove_file(file)
            {
                tracing::debug!("`{}` could not be removed: {error}", file.display());
            }
        }
    }
}

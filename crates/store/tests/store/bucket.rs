//! A store in a bucket whose server answers 500 or 503, answers too late, or does the work and loses the answer.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use landmark_core::oracle::Oracle as _;
use landmark_store::{OracleLabel, Stored, TileStore};
use ndarray::Array2;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use crate::counting::Counting;
use crate::faults::root_cause;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    Error,
    SlowDown,
    Late,
    Lost,
}

/// An S3 server of one bucket in memory: put, get, delete and list.
struct Bucket {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: AtomicU64,
    troubles: AtomicU64,
    /// True where every request ends in 503.
    is_down: AtomicBool,
}

impl Bucket {
    fn serve() -> (Arc<Self>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let bucket = Arc::new(Self {
            objects: Mutex::default(),
            requests: AtomicU64::new(0),
            troubles: AtomicU64::new(0),
            is_down: AtomicBool::new(false),
        });
        let served = Arc::clone(&bucket);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let served = Arc::clone(&served);
                std::thread::spawn(move || served.converse(stream.unwrap()));
            }
        });
        (bucket, address)
    }

    fn trouble(&self) -> Option<Trouble> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        if self.is_down.load(Ordering::Relaxed) {
            return Some(Trouble::SlowDown);
        }
        if number % 5 > 1 {
            return None;
        }
        let kinds = [Trouble::Error, Trouble::Late, Trouble::SlowDown, Trouble::Lost];
        let next = self.troubles.fetch_add(1, Ordering::Relaxed);
        Some(kinds[usize::try_from(next).unwrap() % kinds.len()])
    }

    fn converse(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut writer = stream;
        while let Some(request) = Request::read(&mut reader) {
            let answer = match self.trouble() {
                Some(Trouble::Error) => Answer::of(500, "<Error><Code>InternalError</Code></Error>"),
                Some(Trouble::SlowDown) => Answer::of(503, "<Error><Code>SlowDown</Code></Error>"),
                Some(Trouble::Late) => {
                    std::thread::sleep(2 * TIMEOUT);
                    return;
                }
                Some(Trouble::Lost) => {
                    self.answer(&request);
                    return;
                }
                None => self.answer(&request),
            };
            if answer.write(&mut writer).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let mut objects = self.objects.lock().unwrap();
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let key = path.trim_start_matches("/landmark").trim_start_matches('/').to_owned();
        match request.method.as_str() {
            "PUT" if request.creates && objects.contains_key(&key) => Answer::of(412, "<Error/>"),
            "PUT" => {
                objects.insert(key, request.body.clone());
                Answer::of(200, "")
            }
            "DELETE" => {
                objects.remove(&key);
                Answer::of(204, "")
            }
            _ if query.contains("list-type=2") => Answer::of(200, &list(&objects, query)),
            _ => match objects.get(&key) {
                None => Answer::of(404, "<Error><Code>NoSuchKey</Code></Error>"),
                Some(bytes) => match request.last {
                    None => Answer { status: 200, body: bytes.clone(), range: None },
                    Some(last) => {
                        let end = (last + 1).min(bytes.len());
                        let range = Some(format!("bytes 0-{}/{}", end - 1, bytes.len()));
                        Answer { status: 206, body: bytes[..end].to_vec(), range }
                    }
                },
            },
        }
    }
}

/// ListObjectsV2 with a delimiter.
fn list(objects: &BTreeMap<String, Vec<u8>>, query: &str) -> String {
    let prefix = query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or("").replace("%2F", "/");
    let (mut folders, mut contents) = (Vec::new(), String::new());
    for (key, bytes) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        match key[prefix.len()..].split_once('/') {
            Some((folder, _)) => folders.push(format!("{prefix}{folder}/")),
            None => contents.push_str(&format!(
                "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>{}</Size><ETag>\"1\"</ETag></Contents>",
                bytes.len()
            )),
        }
    }
    folders.dedup();
    let folders: String =
        folders.iter().map(|name| format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>")).collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}{folders}</ListBucketResult>")
}

struct Request {
    method: String,
    target: String,
    /// `If-None-Match: *`.
    creates: bool,
    /// Last byte of the range that is asked for, which starts at 0.
    last: Option<usize>,
    body: Vec<u8>,
}

impl Request {
    fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next()?, words.next()?);
        let mut request = Self { method, target, creates: false, last: None, body: Vec::new() };
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "if-none-match" => request.creates = value == "*",
                "range" => request.last = value.strip_prefix("bytes=0-").and_then(|last| last.parse().ok()),
                _ => {}
            }
        }
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }
}

struct Answer {
    status: u16,
    body: Vec<u8>,
    range: Option<String>,
}

impl Answer {
    fn of(status: u16, body: &str) -> Self {
        Self { status, body: body.as_bytes().to_vec(), range: None }
    }

    fn write(&self, writer: &mut TcpStream) -> std::io::Result<()> {
        let range = self.range.as_ref().map(|range| format!("Content-Range: {range}\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {} x\r\nETag: \"1\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n{range}Content-Length: {}\r\n\r\n",
            self.status,
            self.body.len()
        );
        writer.write_all(&[head.as_bytes(), &self.body].concat())
    }
}

const TIMEOUT: Duration = Duration::from_millis(400);

fn open(address: &str, patience: Duration) -> TileStore {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(5), max_backoff: Duration::from_millis(50), base: 2.0 };
    let storage = AmazonS3Builder::new()
        .with_bucket_name("landmark")
        .with_endpoint(address)
        .with_allow_http(true)
        .with_region("nowhere")
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_client_options(ClientOptions::new().with_allow_http(true).with_timeout(TIMEOUT))
        .with_retry(RetryConfig { backoff, max_retries: 20, retry_timeout: patience })
        .build()
        .unwrap();
    TileStore::open_through("memory:///store", |_| Arc::new(storage) as Arc<dyn ObjectStore>).unwrap()
}

fn attach(store: &TileStore) -> Stored<Counting> {
    store.attach(Counting::symmetric(60), OracleLabel::new("counting", "")).unwrap()
}

#[test]
fn a_bucket_in_trouble_loses_nothing_that_was_published_and_repeats_no_call() {
    let (bucket, address) = Bucket::serve();
    let patience = Duration::from_secs(60);
    let all: Vec<usize> = (0..60).collect();
    for columns in [4, 9, 15] {
        // another process each time
        let store = open(&address, patience);
        let stored = attach(&store);
        let wanted = &all[..columns];
        let known = stored.entries();
        let mut out = Array2::zeros((60, columns));
        stored.block(&all, wanted, out.view_mut()).unwrap();
        for ((i, j), &score) in out.indexed_iter() {
            assert_eq!(score, stored.inner().score(i, j));
        }
        stored.flush().unwrap();
        let (calls, most) = stored.inner().calls();
        assert_eq!((calls + known, most), (stored.entries(), 1), "{columns} columns");
    }
    let last = attach(&open(&address, patience));
    assert_eq!(last.entries(), 15 * 60 - 15 * 16 / 2);
    last.block(&all, &all[..15], Array2::zeros((60, 15)).view_mut()).unwrap();
    assert_eq!(last.inner().calls().0, 0);
    assert!(bucket.troubles.load(Ordering::Relaxed) > 12, "there was no trouble");
}

#[test]
fn a_bucket_that_is_down_ends_the_run_with_the_address_and_keeps_what_was_published() {
    let (bucket, address) = Bucket::serve();
    let all: Vec<usize> = (0..60).collect();
    let first = attach(&open(&address, Duration::from_secs(60)));
    first.block(&all, &[0, 1], Array2::zeros((60, 2)).view_mut()).unwrap();
    first.flush().unwrap();
    drop(first);
    let second = attach(&open(&address, Duration::from_secs(1)));
    bucket.is_down.store(true, Ordering::Relaxed);
    let evaluated = second.block(&all, &[2, 3], Array2::zeros((60, 2)).view_mut());
    let error = match evaluated {
        Err(error) => root_cause(&error).to_string(),
        Ok(()) => second.flush().unwrap_err().to_string(),
    };
    assert!(
        error.contains("failed to write `memory:///store/") && error.contains("check that it is reachable"),
        "{error}"
    );
    drop(second);
    bucket.is_down.store(false, Ordering::Relaxed);
    let third = attach(&open(&address, Duration::from_secs(60)));
    assert!(third.entries() >= 2 * 60 - 3, "{}", third.entries());
    third.block(&all, &[0, 1], Array2::zeros((60, 2)).view_mut()).unwrap();
    assert_eq!(third.inner().calls().0, 0);
}

//! A small HTTP/1.1 server on the loopback address whose every answer is scripted; on request it uses TLS.
//!
//! For the tests of `landmark-fetch` and `landmark-http`. It panics on what they do not send.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value as Json;

#[derive(Debug, Clone)]
pub struct Request {
    pub number: usize,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Json,
    pub text: String,
    pub bytes: usize,
    /// First byte of the range that is asked for.
    pub from: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Bytes after which the connection breaks, head included.
    cut: Option<usize>,
    /// Wait before every thousand bytes.
    pause: Duration,
}

impl Answer {
    pub fn of(status: u16, body: &[u8]) -> Self {
        Self { status, body: body.to_vec(), ..Self::default() }
    }

    pub fn text(status: u16, body: &str) -> Self {
        Self::of(status, body.as_bytes())
    }

    pub fn json(status: u16, body: &Json) -> Self {
        Self::text(status, &body.to_string())
    }

    pub fn file(request: &Request, body: &[u8]) -> Self {
        match request.from {
            None => Self::of(200, body),
            Some(from) if from < body.len() => {
                let range = format!("bytes {from}-{}/{}", body.len() - 1, body.len());
                Self::of(206, &body[from..]).with("content-range", &range)
            }
            Some(_) => Self::of(416, b"").with("content-range", &format!("bytes */{}", body.len())),
        }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn cut_after(self, bytes: usize) -> Self {
        Self { cut: Some(bytes), ..self }
    }

    pub fn cut_after_of_body(self, bytes: usize) -> Self {
        let head = self.bytes().len() - self.body.len();
        self.cut_after(head + bytes)
    }

    pub fn slowly(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n", self.status, self.body.len()).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// `None` where the connection is over.
    fn write(&self, stream: &mut impl Write) -> Option<()> {
        let bytes = self.bytes();
        let sent = &bytes[..self.cut.unwrap_or(bytes.len()).min(bytes.len())];
        for piece in sent.chunks(if self.pause.is_zero() { sent.len().max(1) } else { 1000 }) {
            thread::sleep(self.pause);
            stream.write_all(piece).ok()?;
            stream.flush().ok()?;
        }
        self.cut.is_none().then_some(())
    }
}

#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Request>>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    log: Arc<Log>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::listen(None, answer)
    }

    pub fn start_tls(config: ServerConfig, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::listen(Some(Arc::new(config)), answer)
    }

    fn listen(tls: Option<Arc<ServerConfig>>, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (log, answer) = (Arc::<Log>::default(), Arc::new(answer));
        let server = Self { address, scheme, log: Arc::clone(&log) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer, tls) = (Arc::clone(&log), Arc::clone(&answer), tls.clone());
                // a client that hangs up is part of the tests
                thread::spawn(move || match tls {
                    None => serve(stream, &log, &*answer),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(connection, stream), &log, &*answer);
                    }
                });
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn seen(&self) -> Vec<Request> {
        self.log.seen.lock().unwrap().clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.seen().into_iter().map(|request| request.path).collect()
    }

    /// Requests that were worked on at once, at most.
    pub fn most_at_once(&self) -> usize {
        self.log.most_at_once.load(Ordering::SeqCst)
    }
}

fn serve(stream: impl Read + Write, log: &Log, answer: &(dyn Fn(&Request) -> Answer + Send + Sync)) {
    let mut reader = BufReader::new(stream);
    while let Some(mut request) = read(&mut reader) {
        log.most_at_once.fetch_max(log.at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        {
            let mut seen = log.seen.lock().unwrap();
            request.number = seen.len();
            seen.push(request.clone());
        }
        let is_over = answer(&request).write(reader.get_mut()).is_none();
        log.at_once.fetch_sub(1, Ordering::SeqCst);
        if is_over {
            break;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let bytes = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let from = headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    Some(Request { number: 0, path, headers, body, text, bytes, from })
}

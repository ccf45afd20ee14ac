//! A small HTTP/1.1 server whose every answer is scripted.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value as Json;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) number: usize,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Json,
    pub(crate) text: String,
    pub(crate) bytes: usize,
}

pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Bytes after which the connection breaks, head included.
    cut: Option<usize>,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Json) -> Self {
        Self::text(status, &body.to_string())
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.as_bytes().to_vec(), cut: None }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn cut_after(self, bytes: usize) -> Self {
        Self { cut: Some(bytes), ..self }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n", self.status, self.body.len()).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    most_at_once: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let most_at_once = Arc::new(AtomicUsize::new(0));
        let (answer, at_once) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
        let (log, most) = (Arc::clone(&seen), Arc::clone(&most_at_once));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                let (at_once, most) = (Arc::clone(&at_once), Arc::clone(&most));
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    while let Some(mut request) = read(&mut reader) {
                        most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        {
                            let mut log = log.lock().unwrap();
                            request.number = log.len();
                            log.push(request.clone());
                        }
                        let is_over = write(&stream, &answer(&request)).is_none();
                        at_once.fetch_sub(1, Ordering::SeqCst);
                        if is_over {
                            break;
                        }
                    }
                });
            }
        });
        Self { address, seen, most_at_once }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// Requests that were worked on at once, at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most_at_once.load(Ordering::SeqCst)
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
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
    Some(Request { number: 0, path, headers, body, text, bytes })
}

/// `None` where the connection is over.
fn write(mut stream: &TcpStream, answer: &Answer) -> Option<()> {
    let bytes = answer.bytes();
    let sent = &bytes[..answer.cut.unwrap_or(bytes.len()).min(bytes.len())];
    stream.write_all(sent).ok()?;
    if answer.cut.is_some() {
        let _ = stream.shutdown(Shutdown::Both);
        return None;
    }
    Some(())
}

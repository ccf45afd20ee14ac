//! A small HTTP/1.1 server whose every answer is scripted; on request it speaks TLS.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) number: usize,
    pub(crate) path: String,
    pub(crate) from: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    length: usize,
    /// Wait before every thousand bytes of the body.
    pause: Duration,
}

impl Answer {
    pub(crate) fn of(status: u16, body: &[u8]) -> Self {
        Self { status, body: body.to_vec(), length: body.len(), ..Self::default() }
    }

    pub(crate) fn file(request: &Request, body: &[u8]) -> Self {
        match request.from {
            None => Self::of(200, body),
            Some(from) if from < body.len() => {
                let range = format!("bytes {from}-{}/{}", body.len() - 1, body.len());
                Self::of(206, &body[from..]).with("content-range", &range)
            }
            Some(_) => Self::of(416, b"").with("content-range", &format!("bytes */{}", body.len())),
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The connection breaks after so many bytes of the body.
    pub(crate) fn cut_after(mut self, bytes: usize) -> Self {
        self.body.truncate(bytes);
        self
    }

    pub(crate) fn slowly(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    fn write(&self, mut stream: impl Write) -> std::io::Result<()> {
        write!(stream, "HTTP/1.1 {} X\r\ncontent-length: {}\r\nconnection: close\r\n", self.status, self.length)?;
        for (name, value) in &self.headers {
            write!(stream, "{name}: {value}\r\n")?;
        }
        stream.write_all(b"\r\n")?;
        for piece in self.body.chunks(1000) {
            thread::sleep(self.pause);
            stream.write_all(piece)?;
            stream.flush()?;
        }
        stream.flush()
    }
}

pub(crate) struct Server {
    address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::listen(None, answer)
    }

    pub(crate) fn start_tls(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        Self::listen(Some(Arc::new(config)), answer)
    }

    fn listen(tls: Option<Arc<ServerConfig>>, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let scheme = if tls.is_some() { "https" } else { "http" };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer, tls) = (Arc::clone(&log), Arc::clone(&answer), tls.clone());
                // a client that hangs up is part of the tests
                thread::spawn(move || match tls {
                    None => serve(stream, &log, &*answer),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(connection, stream), &log, &*answer)
                    }
                });
            }
        });
        Self { address, scheme, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.seen().into_iter().map(|request| request.path).collect()
    }
}

fn serve(
    mut stream: impl Read + Write,
    log: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(&Request) -> Answer + Send + Sync),
) -> Option<()> {
    let mut request = read(&mut BufReader::new(&mut stream))?;
    {
        let mut log = log.lock().unwrap();
        request.number = log.len();
        log.push(request.clone());
    }
    answer(&request).write(&mut stream).ok()
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
    let from = headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    Some(Request { number: 0, path, from })
}

//! Pairs a second that an endpoint gives with the store above it, against what the server can serve, and the processor time that it takes.
//!
//! ```text
//! cargo run --release -p landmark-http --example http_rate -- [MILLISECONDS] [PAIRS A REQUEST] [REQUESTS]
//! ```
//! The example is its own server: started with `--serve MILLISECONDS` it answers reranks, each in that time. What it can serve is measured first,
//! by 64 plain connections that send one ready request after the other; then the same number of requests go through `Http` below a `Stored`.
//! Prints requests a second of both, their ratio, and processor seconds a pair.

#![allow(clippy::print_stdout, reason = "an example prints its measurement")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use landmark_core::oracle::Oracle;
use landmark_http::{Http, HttpParams};
use landmark_oracles::subprocess::ScoredItems;
use landmark_store::{OracleLabel, TileStore};
use serde_json::{Value as Json, json};

const IN_FLIGHT: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [serve, delay] = arguments.as_slice()
        && serve == "--serve"
    {
        return serve_in(Duration::from_secs_f64(delay.parse::<f64>()? / 1000.0));
    }
    let number = |place: usize, usual: usize| arguments.get(place).map_or(Ok(usual), |text| text.parse());
    let (delay, pairs, requests) = (number(0, 30)?, number(1, 32)?, number(2, 8192)?);
    let mut server =
        Command::new(std::env::current_exe()?).args(["--serve", &delay.to_string()]).stdout(Stdio::piped()).spawn()?;
    let mut address = String::new();
    BufReader::new(server.stdout.take().ok_or("no standard output")?).read_line(&mut address)?;
    let measured = measure(address.trim(), pairs, requests);
    server.kill()?;
    server.wait()?;
    measured
}

fn measure(address: &str, pairs: usize, requests: usize) -> Result<(), Box<dyn Error>> {
    let text = |i: usize| format!("item {i}, with as many words as a sentence has in a corpus of short sentences");
    let ceiling =
        served(address, &json!({ "query": text(0), "documents": (0..pairs).map(text).collect::<Vec<_>>() }), requests)?;
    let columns = 64;
    let n = requests * pairs / columns;
    let items = ScoredItems::new((0..n).map(|i| i.to_string()).collect(), (0..n).map(text).collect())?;
    let params = HttpParams {
        url: format!("http://{address}/rerank"),
        pairs_per_request: Some(pairs),
        in_flight: IN_FLIGHT,
        ..HttpParams::default()
    };
    let folder = tempfile::tempdir()?;
    let store = TileStore::open(&folder.path().display().to_string())?;
    let stored = store.attach(Http::new(params, Arc::new(items), None)?, OracleLabel::new("http", "rate"))?;
    let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..columns).collect());
    let (start, before) = (Instant::now(), processor_seconds());
    stored.stock(&rows, &cols)?;
    stored.flush()?;
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - before);
    let (scored, rate) = (stored.bought() as f64, stored.bought() as f64 / pairs as f64 / seconds);
    println!("{pairs} pairs a request, {IN_FLIGHT} requests under way");
    println!("server       {ceiling:>9.0} requests/s");
    println!(
        "with store   {rate:>9.0} requests/s, {:.1} % of it; {:.0} pairs/s",
        100.0 * rate / ceiling,
        scored / seconds
    );
    let each = processor / scored;
    println!("processor    {:>9.2} µs a pair: {:.2} % of a core at 2,000 pairs/s", 1e6 * each, 100.0 * 2000.0 * each);
    stored.inner().evaluate(&[], &mut [])?;
    Ok(())
}

/// Requests a second that the server serves on plain connections.
fn served(address: &str, body: &Json, requests: usize) -> Result<f64, Box<dyn Error>> {
    let body = body.to_string();
    let request = format!("POST /rerank HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let (left, start) = (AtomicUsize::new(requests), Instant::now());
    let work = || -> std::io::Result<()> {
        let mut reader = BufReader::new(TcpStream::connect(address)?);
        reader.get_ref().set_nodelay(true)?;
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            reader.get_mut().write_all(request.as_bytes())?;
            message(&mut reader)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..IN_FLIGHT).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(requests as f64 / start.elapsed().as_secs_f64())
}

/// Answers until it is killed, each request after a while.
fn serve_in(delay: Duration) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        stream.set_nodelay(true)?;
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stream);
            while let Ok(body) = message(&mut reader) {
                std::thread::sleep(delay);
                let count = serde_json::from_slice::<Json>(&body)
                    .ok()
                    .and_then(|body| Some(body["documents"].as_array()?.len()));
                let result = |index| json!({ "index": index, "relevance_score": 0.5 });
                let answer = json!({ "results": (0..count.unwrap_or(0)).map(result).collect::<Vec<_>>() }).to_string();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
                if reader.get_mut().write_all((head + &answer).as_bytes()).is_err() {
                    break;
                }
            }
        });
    }
    Ok(())
}

fn message(reader: &mut BufReader<TcpStream>) -> std::io::Result<Vec<u8>> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap_or(0),
            None if line.trim_end().is_empty() => break,
            // the first line, or another header
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

/// User and system time of this process so far; 0 where there is no /proc.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    // of 10 ms each, on every Linux that matters
    (ticks(11) + ticks(12)) / 100.0
}

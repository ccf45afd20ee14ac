//! Users' files that are broken in every way a mutation finds: no reader panics, and every error names its file. That no header is believed before there
//! are bytes for what it promises is checked by the bound on memory of `fuzz/`.
//!
//! A thousand mutations a reader; `LANDMARK_MUTATIONS=100000` makes it more, from another seed each run. `scripts/test-fuzz` does that and prints a table.

#![allow(clippy::unwrap_used, reason = "the tests' own folders may unwrap as the tests do")]

mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use targets::TARGETS;

/// One of the ways in which files break: a byte changed, a piece cut out, repeated or put elsewhere, an end missing, a number or a word put in.
fn mutated(random: &mut StdRng, example: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 22] = [
        b"\0",
        b"\xff\xfe",
        b"\r\n",
        b"\n",
        b"\t",
        b"\"",
        b"(",
        b")",
        b"<",
        b"/>",
        b"&",
        b"{",
        b"[",
        b"|",
        b"-1",
        b"0",
        b"nan",
        b"1e999",
        b"18446744073709551616",
        b"4294967295",
        b"\xef\xbb\xbf",
        b"\xc3\xa9",
    ];
    let mut bytes = example.to_vec();
    for _ in 0..random.gen_range(1..=4) {
        let len = bytes.len();
        let from = random.gen_range(0..=len);
        let to = random.gen_range(from..=len.min(from + 40));
        match random.gen_range(0..7) {
            0 if from < len => bytes[from] = random.r#gen(),
            1 if from < len => bytes[from] ^= 1 << random.gen_range(0..8),
            2 => drop(bytes.drain(from..to)),
            3 => bytes.truncate(from),
            4 => {
                let piece = bytes[from..to].to_vec();
                let at = random.gen_range(0..=len);
                bytes.splice(at..at, piece);
            }
            5 => {
                let word = WORDS[random.gen_range(0..WORDS.len())];
                bytes.splice(from..from, word.iter().copied());
            }
            _ => {
                let word = WORDS[random.gen_range(0..WORDS.len())].repeat(random.gen_range(1..200));
                bytes.splice(from..to, word);
            }
        }
    }
    bytes
}

#[test]
fn no_broken_file_makes_a_reader_panic_or_hide_the_file() {
    let wanted = std::env::var("LANDMARK_MUTATIONS").ok().and_then(|count| count.parse().ok());
    let seed = match wanted {
        None => 2022,
        Some(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64,
    };
    let folder = tempfile::tempdir_in(if std::path::Path::new("/dev/shm").is_dir() {
        "/dev/shm".into()
    } else {
        std::env::temp_dir()
    });
    let folder = folder.unwrap();
    let mut faults = Vec::new();
    for target in &TARGETS {
        let mut random = StdRng::seed_from_u64(seed);
        let path = folder.path().join(target.file);
        let examples = (target.examples)();
        let (mut read, mut refused) = (0_u64, 0_u64);
        for k in 0..wanted.unwrap_or(1000_u64) {
            let example = &examples[random.gen_range(0..examples.len())];
            // the examples themselves first
            let bytes = examples.get(k as usize).cloned().unwrap_or_else(|| mutated(&mut random, example));
            std::fs::write(&path, &bytes).unwrap();
            let outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(&path, &bytes)));
            let fault = match outcome {
                Ok(Ok(())) => {
                    read += 1;
                    None
                }
                Ok(Err(error)) => {
                    refused += 1;
                    let names_it = error.contains(target.file) || error.contains("mentions.jsonl");
                    (!names_it).then(|| format!("an error that names no file: {error}"))
                }
                Err(panic) => Some(format!("a panic: {:?}", panic.downcast_ref::<String>())),
            };
            if let Some(fault) = fault {
                faults.push(format!("{}: {fault}\n  in {:?}", target.name, String::from_utf8_lossy(&bytes)));
                break;
            }
        }
        println!("mutations: {}: {read} read, {refused} refused", target.name);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

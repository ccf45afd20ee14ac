//! Fetching against a scripted server on the loopback address. Nothing here leaves the machine.

#![allow(clippy::unwrap_used)] // a test program

use std::path::{Path, PathBuf};
use std::time::Duration;

use landmark_fetch::{DownloadSettings, Downloader, Mirror, Places, Watch};

mod corpora;
mod downloads;
mod homes;
mod killed;

#[derive(Debug, Default)]
struct Listener {
    lines: Vec<String>,
    answer: bool,
    asked: usize,
}

impl Watch for Listener {
    fn begin(&mut self, _: &str, _: u64, _: Option<u64>) {}
    fn at(&mut self, _: u64) {}
    fn end(&mut self) {}
    fn say(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }
    fn ask(&mut self, _: &str) -> bool {
        self.asked += 1;
        self.answer
    }
}

/// Little patience, so that what waits is soon over.
fn downloader() -> Downloader {
    let pause = Duration::from_millis(1);
    Downloader::new(DownloadSettings { patience: Duration::from_millis(700), pause, certificate: None }).unwrap()
}

fn places(folder: &Path, mirror: &str) -> Places {
    Places { data: folder.to_owned(), mirror: Some(Mirror::new(mirror)), mirror_only: true }
}

fn downloads_in(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder.join(".raw"))
        .map_or(Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
}

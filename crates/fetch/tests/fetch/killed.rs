//! Processes of their own: one that is killed in the middle of a download, and the next one, which resumes it; one behind a proxy.
//!
//! The process is this test program itself, which does nothing but fetch when a variable is set.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use landmark_fetch::models;

use super::downloads::model;
use super::{Listener, downloader, places};
use landmark_test_server::{Answer, Server};

const FOLDER: &str = "LANDMARK_TEST_FETCH_FOLDER";
const MIRROR: &str = "LANDMARK_TEST_FETCH_MIRROR";

fn body() -> Vec<u8> {
    (0..100_000_u32).map(|k| (k % 251) as u8).collect()
}

#[test]
fn child() {
    let (Some(folder), Ok(mirror)) = (std::env::var_os(FOLDER), std::env::var(MIRROR)) else { return };
    let folder = Path::new(&folder);
    models::fetch(model(&body()), Some(folder), &places(folder, &mirror), &downloader(), &mut Listener::default())
        .unwrap();
}

/// This program as [`child`].
fn child_of(folder: &Path, mirror: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::child", "--nocapture"]).env(FOLDER, folder).env(MIRROR, mirror);
    command
}

#[test]
fn a_proxy_is_asked_in_place_of_the_host() {
    let server = Server::start(|request| Answer::file(request, &body()));
    let folder = tempfile::tempdir().unwrap();
    let mut child = child_of(folder.path(), "http://mirror.invalid");
    let output =
        child.env("http_proxy", server.url("")).env_remove("no_proxy").env_remove("NO_PROXY").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths = server.paths();
    assert_eq!(paths[0], "http://mirror.invalid/huggingface.co/me/mine/resolve/main/config.json");
    assert_eq!(paths.len(), 3);
}

#[test]
fn a_killed_download_is_resumed_and_leaves_nothing_that_looks_whole() {
    // slow for the one that is killed
    let server = Server::start(|request| {
        let pause = Duration::from_millis(if request.number == 0 { 20 } else { 0 });
        Answer::file(request, &body()).slowly(pause)
    });
    let folder = tempfile::tempdir().unwrap();
    let unfinished = folder.path().join("mine.unfinished");
    let mut child = child_of(folder.path(), &server.url("")).spawn().unwrap();
    let there = || {
        let files = std::fs::read_dir(&unfinished).into_iter().flatten();
        files.map(|file| file.unwrap().metadata().unwrap().len()).max().unwrap_or(0)
    };
    let start = Instant::now();
    while there() < 20_000 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing arrives");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = there();
    assert!((20_000..100_000).contains(&kept), "{kept}");
    assert!(!folder.path().join("mine").exists());

    // its lock went with it
    let model = model(&body());
    let fetch = || {
        models::fetch(
            model,
            Some(folder.path()),
            &places(folder.path(), &server.url("")),
            &downloader(),
            &mut Listener::default(),
        )
    };
    let target = fetch().unwrap();
    assert_eq!(std::fs::read(target.join("config.json")).unwrap(), body());
    let second = &server.seen()[1];
    assert_eq!(second.from, Some(usize::try_from(kept).unwrap()), "only the rest is asked for");
}

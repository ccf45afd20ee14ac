//! Datasets of the catalog, made from raw files that a mirror serves.
//!
//! The corpora are not here, and no made-up bytes have their digests: so the faults of sources are tested on the real recipes,
//! and the whole way, where `LANDMARK_RAW` has the raw sources as a mirror would, `<host>/<path>` of every address.

use std::path::Path;

use landmark_data::catalog::{self, FileState};
use landmark_fetch::{FetchError, Silent, corpora};

use super::{Listener, downloader, downloads_in, places};
use landmark_test_server::{Answer, Server};

fn fetch(server: &Server, folder: &Path, name: &str) -> (Result<Vec<&'static str>, FetchError>, Vec<String>) {
    let mut listener = Listener::default();
    let fetched = corpora::fetch(&[name], &places(folder, &server.url("")), &downloader(), &mut listener);
    (fetched, listener.lines)
}

#[test]
fn a_missing_file_is_looked_for_at_the_next_address() {
    let server = Server::start(|_| Answer::of(404, b"no"));
    let folder = tempfile::tempdir().unwrap();
    let (fetched, lines) = fetch(&server, folder.path(), "twitter");
    let message = fetched.unwrap_err().to_string();
    let wanted = [
        "/data/wmd/twitter.tsv.gz",
        "/raw.githubusercontent.com/mkusner/wmd/8522da3231cacbe91f94bad95651372bdf03762c/all_twitter_by_line.txt",
        "/cdn.jsdelivr.net/gh/mkusner/wmd@8522da3231cacbe91f94bad95651372bdf03762c/all_twitter_by_line.txt",
    ];
    assert_eq!(server.paths(), wanted);
    assert!(wanted[1..].iter().all(|path| message.contains(&format!("{path} answered 404"))), "{message}");
    assert_eq!(lines, [message]);
    assert!(!folder.path().join("wmd").exists(), "nothing was written");
}

#[test]
fn wrong_bytes_are_never_kept_whoever_sends_them() {
    let server = Server::start(|request| Answer::file(request, b"\"positive\"\tsomething else\n"));
    let folder = tempfile::tempdir().unwrap();
    let message = fetch(&server, folder.path(), "twitter").0.unwrap_err().to_string();
    assert!(message.contains("has the sha256") && message.contains("wanted is"), "{message}");
    assert_eq!(server.paths().len(), 3, "the ready file and both addresses");
    assert_eq!(downloads_in(folder.path()), [] as [&Path; 0]);
    assert!(!folder.path().join("wmd/twitter.tsv.gz").exists());
}

#[test]
fn what_lies_there_of_an_earlier_time_and_is_wrong_comes_again_once() {
    let body = b"{}";
    let server = Server::start(move |request| match request.path.starts_with("/data/") {
        true => Answer::of(404, b""),
        false => Answer::file(request, body),
    });
    let folder = tempfile::tempdir().unwrap();
    let from = server
        .url("/raw.githubusercontent.com/clinc/oos-eval/828f8093932c8fe6ca7936c3d2e52903b1c523de/data/domains.json");
    std::fs::create_dir_all(folder.path().join(".raw")).unwrap();
    std::fs::write(folder.path().join(".raw").join(&landmark_data::raw::hex(from.as_bytes())[..32]), b"x").unwrap();
    fetch(&server, folder.path(), "clinc150").0.unwrap_err();
    let of_it: Vec<_> = server.seen().into_iter().filter(|request| from.ends_with(&request.path)).collect();
    assert_eq!(of_it.iter().map(|request| request.from).collect::<Vec<_>>(), [Some(1), None]);
}

#[test]
fn a_file_that_nobody_publishes_says_where_it_comes_from() {
    let server = Server::start(|_| Answer::of(404, b""));
    let folder = tempfile::tempdir().unwrap();
    let mut listener = Listener::default();
    let no_mirror = landmark_fetch::Places { data: folder.path().to_owned(), mirror: None, mirror_only: false };
    let message = corpora::fetch(&["self300"], &no_mirror, &downloader(), &mut listener).unwrap_err().to_string();
    assert!(message.contains("can't be made from public sources") && message.contains("LANDMARK_MIRROR"), "{message}");
    let message = fetch(&server, folder.path(), "self300").0.unwrap_err().to_string();
    assert!(message.contains("/data/vectors/self300.f16.npy answered 404"), "{message}");
}

#[test]
fn a_file_that_is_another_is_left_alone() {
    let server = Server::start(|_| Answer::of(404, b""));
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("stsb")).unwrap();
    std::fs::write(folder.path().join("stsb/train.tsv"), "mine").unwrap();
    let error = fetch(&server, folder.path(), "stsb").0.unwrap_err();
    assert!(matches!(error, FetchError::InTheWay { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("stsb/train.tsv")).unwrap(), "mine");
    let states = corpora::verify(&["stsb"], folder.path()).unwrap();
    assert!(matches!(states[0], ("stsb", "stsb/train.tsv", FileState::Corrupt { .. })));
}

#[test]
fn licenses_are_asked_for_once_and_a_no_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let missing = corpora::missing(&["twitter", "snips"], folder.path()).unwrap();
    let refused = corpora::agree(&missing, folder.path(), false, &mut Listener::default()).unwrap_err();
    assert!(refused.to_string().contains("`twitter`, `snips`"), "{refused}");
    let mut listener = Listener { answer: true, ..Listener::default() };
    corpora::agree(&missing[..1], folder.path(), false, &mut listener).unwrap();
    corpora::agree(&missing, folder.path(), false, &mut listener).unwrap();
    corpora::agree(&missing, folder.path(), false, &mut listener).unwrap();
    assert_eq!((listener.asked, listener.lines.len()), (2, 4), "{:?}", listener.lines);
    // accepted on the command line
    let other = tempfile::tempdir().unwrap();
    corpora::agree(&missing, other.path(), true, &mut Silent).unwrap();
}

#[test]
fn two_fetches_at_once_download_once() {
    use std::sync::mpsc::channel;
    let server = Server::start(|_| Answer::of(404, b""));
    let folder = tempfile::tempdir().unwrap();
    let lock = std::fs::File::create(folder.path().join(".lock")).unwrap();
    lock.lock().unwrap();
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let (server, folder) = (&server, folder.path());
        scope.spawn(move || sender.send(fetch(server, folder, "twitter").1).unwrap());
        assert!(receiver.recv_timeout(std::time::Duration::from_millis(1500)).is_err(), "it waits");
        assert_eq!(server.seen().len(), 0);
        lock.unlock().unwrap();
        let lines = receiver.recv().unwrap();
        assert!(lines[0].contains("another fetch"), "{lines:?}");
        assert!(!server.seen().is_empty());
    });
}

#[test]
fn sizes_count_each_source_once() {
    let folder = tempfile::tempdir().unwrap();
    let missing = corpora::missing(&["clinc150"], folder.path()).unwrap();
    assert_eq!(missing[0].files.len(), 3);
    // data_full.json gives train and test, and domains.json itself
    assert_eq!(corpora::download_bytes(&missing), 2_495_390 + 3_818);
}

#[test]
fn every_dataset_of_a_paper_is_in_the_catalog() {
    for (paper, names) in corpora::PAPERS {
        assert!(names.iter().all(|name| catalog::find(name).is_ok()), "{paper}");
    }
    assert_eq!(
        corpora::of_paper("sms"),
        Err("sms-nystrom, intent-sketch, structured-embeddings, tree-kernels".to_owned())
    );
}

#[test]
#[ignore = "needs LANDMARK_RAW"]
fn real_sources_from_a_mirror_give_files_that_are_ours() {
    let raw = std::env::var_os("LANDMARK_RAW").expect("`LANDMARK_RAW` names a folder of raw sources");
    let server = Server::start(move |request| {
        let path = Path::new(&raw).join(request.path.trim_start_matches('/'));
        std::fs::read(path).map_or_else(|_| Answer::of(404, b""), |bytes| Answer::file(request, &bytes))
    });
    let folder = tempfile::tempdir().unwrap();
    let names = ["stsb", "twitter", "trec", "clinc150", "atis"];
    let listener = &mut Listener::default();
    let come = corpora::fetch(&names, &places(folder.path(), &server.url("")), &downloader(), listener).unwrap();
    assert_eq!(come.len(), 10, "{come:?}");
    assert_eq!(corpora::missing(&names, folder.path()).unwrap().len(), 0);
    assert!(!folder.path().join(".raw").exists());
    // one file gives two of clinc150's, and comes once
    let mut paths = server.paths();
    let all = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), all, "nothing is asked for twice");
    let before = server.seen().len();
    corpora::fetch(&names, &places(folder.path(), &server.url("")), &downloader(), listener).unwrap();
    assert_eq!(server.seen().len(), before, "what is there is not fetched again");
}

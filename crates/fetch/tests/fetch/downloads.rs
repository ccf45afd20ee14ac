//! A model of three files through every fault of a network.

use std::sync::Arc;
use std::time::Duration;

use landmark_fetch::models;
use landmark_fetch::{DownloadSettings, Downloader, FetchError};
use landmark_oracles::neural::{KnownFile, KnownModel};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{Listener, downloader, places};
use landmark_test_server::{Answer, Server};

/// A model of three files of known bytes: what is fetched by digest without any conversion.
pub(crate) fn model(bytes: &[u8]) -> &'static KnownModel {
    let sha256: &'static str = Box::leak(landmark_data::raw::hex(bytes).into_boxed_str());
    let file = |name| KnownFile { name, bytes: bytes.len() as u64, sha256 };
    let files = [file("config.json"), file("tokenizer.json"), file("model.safetensors")];
    Box::leak(Box::new(KnownModel {
        name: "mine",
        hub: "me/mine",
        revision: "main",
        package: None,
        license: "none",
        files,
    }))
}

const BODY: &[u8] = &[7; 30_000];

fn fetch(server: &Server, folder: &std::path::Path) -> Result<std::path::PathBuf, FetchError> {
    let places = places(folder, &server.url("/m"));
    models::fetch(model(BODY), Some(folder), &places, &downloader(), &mut Listener::default())
}

#[test]
fn redirects_are_followed_and_the_files_are_there_at_once() {
    let server = Server::start(|request| match request.path.strip_prefix("/m/") {
        Some(path) => Answer::of(302, b"").with("location", &format!("/elsewhere/{path}")),
        None => Answer::file(request, BODY),
    });
    let folder = tempfile::tempdir().unwrap();
    let target = fetch(&server, folder.path()).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        assert_eq!(std::fs::read(target.join(name)).unwrap(), BODY, "{name}");
    }
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 3, "nothing else is left");
    assert!(!target.with_extension("unfinished").exists());
    let before = server.seen().len();
    assert_eq!(before, 6);
    // what is there and whole is not fetched again
    fetch(&server, folder.path()).unwrap();
    assert_eq!(server.seen().len(), before);
}

#[test]
fn a_body_that_breaks_off_is_resumed_where_it_ended() {
    let server = Server::start(|request| {
        let answer = Answer::file(request, BODY);
        if request.number < 2 { answer.cut_after_of_body(10_000) } else { answer }
    });
    let folder = tempfile::tempdir().unwrap();
    fetch(&server, folder.path()).unwrap();
    let from: Vec<Option<usize>> = server.seen().iter().map(|request| request.from).collect();
    assert_eq!(from, [None, Some(10_000), Some(20_000), None, None]);
}

#[test]
fn a_server_without_ranges_sends_all_of_it_again() {
    let server = Server::start(|request| {
        let answer = Answer::of(200, BODY);
        if request.number == 0 { answer.cut_after_of_body(10_000) } else { answer }
    });
    let folder = tempfile::tempdir().unwrap();
    let target = fetch(&server, folder.path()).unwrap();
    assert_eq!(std::fs::read(target.join("config.json")).unwrap(), BODY);
}

#[test]
fn a_server_that_is_busy_or_silent_is_asked_again() {
    let server = Server::start(|request| match request.number {
        0 => Answer::of(503, b"later"),
        1 => Answer::file(request, BODY).slowly(Duration::from_secs(2)),
        _ => Answer::file(request, BODY),
    });
    let folder = tempfile::tempdir().unwrap();
    fetch(&server, folder.path()).unwrap();
    assert_eq!(server.seen().len(), 5);
}

#[test]
fn a_slow_server_that_keeps_sending_is_waited_for() {
    // 30 pieces, 60 ms each: longer than the patience for one piece
    let server = Server::start(|request| {
        Answer::file(request, BODY).slowly(Duration::from_millis(if request.number == 0 { 60 } else { 0 }))
    });
    let folder = tempfile::tempdir().unwrap();
    fetch(&server, folder.path()).unwrap();
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn tls_takes_the_authority_that_is_named_and_no_other() {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let server = Server::start_tls(config, |request| Answer::file(request, BODY));
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, include_bytes!("tls/authority.pem")).unwrap();
    let settings = DownloadSettings {
        patience: Duration::from_secs(5),
        pause: Duration::from_millis(1),
        certificate: Some(authority),
    };
    let places = places(folder.path(), &server.url(""));
    let trusting = Downloader::new(settings.clone()).unwrap();
    let target = models::fetch(model(BODY), Some(folder.path()), &places, &trusting, &mut Listener::default());
    assert_eq!(std::fs::read(target.unwrap().join("config.json")).unwrap(), BODY);
    let before = server.seen().len();
    let doubting = Downloader::new(DownloadSettings { certificate: None, ..settings.clone() }).unwrap();
    let other = folder.path().join("other");
    let fetched = models::fetch(model(BODY), Some(&other), &places, &doubting, &mut Listener::default());
    assert!(fetched.is_err());
    assert_eq!(server.seen().len(), before, "no request without trust");
    let gone = DownloadSettings { certificate: Some(folder.path().join("gone.pem")), ..settings };
    assert!(Downloader::new(gone).unwrap_err().to_string().contains("gone.pem"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_it_at_once_with_an_error() {
    let server = Server::start(|request| Answer::file(request, BODY));
    let folder = tempfile::tempdir().unwrap();
    let unfinished = folder.path().join("mine.unfinished");
    std::fs::create_dir(&unfinished).unwrap();
    // every byte written there is one too many
    let from = format!("{}/huggingface.co/me/mine/resolve/main/config.json", server.url("/m"));
    let part = unfinished.join(format!("config.json.{}", &landmark_data::raw::hex(from.as_bytes())[..8]));
    std::os::unix::fs::symlink("/dev/full", part).unwrap();
    let error = fetch(&server, folder.path()).unwrap_err();
    assert!(matches!(error, FetchError::Write { .. }), "{error}");
    assert!(error.to_string().contains("the room on the disk"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

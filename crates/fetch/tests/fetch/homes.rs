//! Files of canonical homes, in small: vectors as they are published, archives known by a digest, by an id of git or by nothing.

use std::io::{Cursor, Write};
use std::path::Path;

use landmark_data::catalog::{DataFile, FileState};
use landmark_data::raw::archive::{Members, Unpack};
use landmark_data::raw::recipes::{Address, Pin, Recipe, Source};
use landmark_data::raw::{Conversion, RawFiles, hex};
use landmark_data::{VectorFiles, VectorFormat, WordVectors};
use landmark_fetch::FetchError;
use landmark_fetch::corpora::{Ways, fetch_file};

use super::{Listener, downloader, places};
use landmark_test_server::{Answer, Server};

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn published(path: &'static str, bytes: &[u8]) -> DataFile {
    DataFile { path, bytes: bytes.len() as u64, sha256: leaked(hex(bytes)) }
}

fn zipped(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn source(url: &str, unpack: Unpack, pin: Pin) -> &'static Source {
    Box::leak(Box::new(Source { addresses: vec![Address { url: url.to_owned(), unpack }], bytes: 1, pin }))
}

fn recipe(file: &DataFile, text_sha256: &str, source: &'static Source, conversion: Conversion) -> Recipe {
    Recipe { file: file.path.to_owned(), text_sha256: text_sha256.to_owned(), sources: vec![source], conversion }
}

fn fetch(server: &Server, folder: &Path, file: &DataFile, ways: &Ways<'_>) -> Result<Vec<String>, FetchError> {
    let mut listener = Listener::default();
    fetch_file("mine", file, ways, &places(folder, &server.url("")), &downloader(), &mut listener)?;
    Ok(listener.lines)
}

#[test]
fn a_binary_of_word2vec_comes_as_it_is_published_and_is_read() {
    let mut text = b"3 2\n".to_vec();
    for (word, values) in [("moon", [1.0_f32, -2.0]), ("New_York", [0.5, 0.25]), ("soup", [3.0, 4.0])] {
        text.extend([word.as_bytes(), b" "].concat());
        text.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(&text).unwrap();
    let bytes: &'static [u8] = packed.finish().unwrap().leak();
    let file = published("vectors/small.bin.gz", bytes);
    // the first address is gone, the second breaks off
    let server = Server::start(move |request| match request.path.as_str() {
        "/second.org/small.bin.gz" => {
            let answer = Answer::file(request, bytes);
            if request.from.is_none() { answer.cut_after_of_body(20) } else { answer }
        }
        _ => Answer::of(404, b"no"),
    });
    let folder = tempfile::tempdir().unwrap();
    let published = ["https://first.org/small.bin.gz".to_owned(), "https://second.org/small.bin.gz".to_owned()];
    let ways = Ways { published: &published, ..Ways::default() };
    let lines = fetch(&server, folder.path(), &file, &ways).unwrap();
    assert_eq!(lines, ["vectors/small.bin.gz (0.1 kB): as published"]);
    let asked: Vec<_> = server.seen().into_iter().map(|request| (request.path, request.from)).collect();
    let second = "/second.org/small.bin.gz".to_owned();
    assert_eq!(asked[2..], [(second.clone(), None), (second, Some(20))], "{asked:?}");
    assert_eq!(file.state(folder.path()).unwrap(), FileState::Present);
    let files = VectorFiles::new(VectorFormat::Word2vecBinary, folder.path().join(file.path));
    let vectors = WordVectors::read(&files, &|word| word != "soup").unwrap();
    assert_eq!((vectors.words(), vectors.source()), (&["moon".to_owned(), "New_York".to_owned()][..], "small.bin.gz"));
    assert_eq!(vectors.vector("moon").unwrap().to_vec(), [1.0, -2.0]);
}

#[test]
fn an_archive_of_vectors_is_read_by_its_member() {
    let bytes: &'static [u8] =
        zipped(&[("small.50d.txt", "moon 1 2\nsoup 3 4\n"), ("small.100d.txt", "moon 1 2 3\n")]).leak();
    let file = published("vectors/small.zip", bytes);
    let server = Server::start(move |request| match request.path.as_str() {
        "/home.edu/small.zip" => Answer::file(request, bytes),
        _ => Answer::of(404, b""),
    });
    let folder = tempfile::tempdir().unwrap();
    let published = ["https://home.edu/small.zip".to_owned()];
    let ways = Ways { published: &published, ..Ways::default() };
    fetch(&server, folder.path(), &file, &ways).unwrap();
    for (member, dimension) in [("small.50d.txt", 2), ("small.100d.txt", 3)] {
        let path = folder.path().join(file.path);
        let files = VectorFiles { member: Some(member.to_owned()), ..VectorFiles::new(VectorFormat::GloveText, path) };
        let vectors = WordVectors::read(&files, &|_| true).unwrap();
        assert_eq!((vectors.dimension(), vectors.source()), (dimension, member));
    }
}

const RTE: &str = "index\tsentence1\tsentence2\tlabel\n0\tIt rains.\tIt is wet.\tentailment\n";
const TEXT: &str = "label\tidx\tpremise\thypothesis\nentailment\t0\tIt rains.\tIt is wet.\n";

fn glue(pin: Pin) -> &'static Source {
    source(
        "https://glue.org/RTE.zip",
        Unpack::Zip(Members { below: vec!["RTE".to_owned()], ending: ".tsv".to_owned() }),
        pin,
    )
}

#[test]
fn an_archive_of_glue_counts_by_its_published_digest() {
    let (right, other) = (zipped(&[("RTE/dev.tsv", RTE)]), zipped(&[("RTE/dev.tsv", RTE), ("RTE/x.tsv", "")]));
    let file = DataFile { path: "rte/small.tsv", bytes: 0, sha256: leaked(hex(TEXT.as_bytes())) };
    let digest = Pin::Download(hex(&right));
    let of_glue = recipe(&file, file.sha256, glue(digest), Conversion::GlueRte("RTE/dev.tsv".to_owned()));
    // a copy in the form of others stands before it, and is gone
    let gone =
        source("https://copy.org/dev.tsv", Unpack::File("dev.tsv".to_owned()), Pin::Files(file.sha256.to_owned()));
    let copy = recipe(&file, file.sha256, gone, Conversion::Rte("dev.tsv".to_owned()));
    let ways = Ways { recipes: vec![&copy, &of_glue], ..Ways::default() };
    for (archive, is_right) in [(right, true), (other, false)] {
        let server = Server::start(move |request| match request.path.as_str() {
            "/glue.org/RTE.zip" => Answer::file(request, &archive),
            _ => Answer::of(404, b""),
        });
        let folder = tempfile::tempdir().unwrap();
        let fetched = fetch(&server, folder.path(), &file, &ways);
        assert_eq!(server.paths(), ["/data/rte/small.tsv", "/copy.org/dev.tsv", "/glue.org/RTE.zip"]);
        if is_right {
            assert_eq!(fetched.unwrap(), ["rte/small.tsv (0.1 kB): made, and checked"]);
            assert_eq!(std::fs::read_to_string(folder.path().join(file.path)).unwrap(), TEXT);
        } else {
            let error = fetched.unwrap_err().to_string();
            let wanted =
                ["`rte/small.tsv` can't be fetched", "copy.org/dev.tsv answered 404", "RTE.zip has the sha256"];
            assert!(wanted.iter().all(|part| error.contains(part)), "{error}");
            assert!(!folder.path().join(file.path).exists());
        }
    }
}

#[test]
fn the_right_archive_that_gives_another_text_is_reported_and_not_kept() {
    let archive = zipped(&[("RTE/dev.tsv", RTE)]);
    let file = DataFile { path: "rte/small.tsv", bytes: 0, sha256: leaked(hex(b"another")) };
    let digest = Pin::Download(hex(&archive));
    let of_glue = recipe(&file, file.sha256, glue(digest), Conversion::GlueRte("RTE/dev.tsv".to_owned()));
    let server = Server::start(move |request| Answer::file(request, &archive));
    let folder = tempfile::tempdir().unwrap();
    let ways = Ways { recipes: vec![&of_glue], ..Ways::default() };
    let error = fetch(&server, folder.path(), &file, &ways).unwrap_err();
    assert!(matches!(error, FetchError::WrongResult { .. }), "{error}");
    assert!(!folder.path().join(file.path).exists());
}

#[test]
fn a_file_of_a_commit_counts_by_the_id_that_git_has_for_it() {
    let id = RawFiles::one("dev.tsv", RTE.as_bytes().to_vec()).git_id().unwrap();
    let file = DataFile { path: "rte/small.tsv", bytes: 0, sha256: "" };
    let raw = source("https://raw.org/dev.tsv", Unpack::File("dev.tsv".to_owned()), Pin::GitBlob(id));
    let of_commit = recipe(&file, "", raw, Conversion::GlueRte("dev.tsv".to_owned()));
    let ways = Ways { recipes: vec![&of_commit], ..Ways::default() };
    for (body, is_right) in [(RTE.to_owned(), true), (RTE.replace("rains", "snows"), false)] {
        let server = Server::start(move |request| Answer::file(request, body.as_bytes()));
        let folder = tempfile::tempdir().unwrap();
        match fetch(&server, folder.path(), &file, &ways) {
            Ok(lines) => assert!(is_right && lines[0].ends_with(&hex(TEXT.as_bytes())), "{lines:?}"),
            Err(error) => assert!(!is_right && error.to_string().contains("has the git id"), "{error}"),
        }
    }
}

#[test]
fn what_no_digest_is_published_of_is_recorded_and_must_come_again() {
    let file = DataFile { path: "rte/small.tsv", bytes: 0, sha256: "" };
    let unknown = recipe(&file, "", glue(Pin::Unknown), Conversion::GlueRte("RTE/dev.tsv".to_owned()));
    let ways = Ways { recipes: vec![&unknown], ..Ways::default() };
    let serve = |text: String| Server::start(move |request| Answer::file(request, &zipped(&[("RTE/dev.tsv", &text)])));
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join(file.path);
    let server = serve(RTE.to_owned());
    let lines = fetch(&server, folder.path(), &file, &ways).unwrap();
    assert!(lines[0].contains("no digest of it is published, recorded is the sha256"), "{lines:?}");
    assert_eq!(server.paths(), ["/glue.org/RTE.zip"], "a mirror's own file could not be checked");
    assert_eq!(file.recorded(folder.path()), Some(hex(TEXT.as_bytes())));
    assert_eq!(file.state(folder.path()).unwrap(), FileState::Present);
    // the same again is taken, another is not, until the record is removed
    std::fs::remove_file(&target).unwrap();
    fetch(&server, folder.path(), &file, &ways).unwrap();
    std::fs::remove_file(&target).unwrap();
    let other = serve(RTE.replace("rains", "snows"));
    // another source, not the download of before
    std::fs::remove_dir_all(folder.path().join(".raw")).unwrap();
    let error = fetch(&other, folder.path(), &file, &ways).unwrap_err();
    assert!(matches!(error, FetchError::Changed { .. }) && error.to_string().contains("small.tsv.sha256"), "{error}");
    assert!(!target.exists());
    std::fs::remove_file(file.record_path(folder.path())).unwrap();
    fetch(&other, folder.path(), &file, &ways).unwrap();
    assert_eq!(file.recorded(folder.path()), Some(hex(TEXT.replace("rains", "snows").as_bytes())));
}

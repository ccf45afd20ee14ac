//! Our files made again from their raw sources.
//!
//! `LANDMARK_RAW` names a folder that has them as a mirror would, `<host>/<path>` of every address; what it lacks is skipped and reported.

use std::path::{Path, PathBuf};

use landmark_data::catalog::DATA_VARIABLE;
use landmark_data::raw::archive::LIMIT;
use landmark_data::raw::recipes::{Source, compared};
use landmark_data::raw::{RawFiles, hex};

fn raw_files(folder: &Path, source: &Source) -> Option<RawFiles> {
    let files = source.addresses.iter().find_map(|address| {
        let path = folder.join(address.url.split_once("://")?.1);
        Some(address.unpack.apply(std::fs::read(path).ok()?, LIMIT).unwrap())
    })?;
    assert_eq!(source.pin.check("", &files), Ok(()), "{}", source.addresses[0].url);
    Some(files)
}

#[test]
#[ignore = "needs LANDMARK_RAW"]
fn converted_from_raw_sources_files_are_ours() {
    let folder = std::env::var_os("LANDMARK_RAW").expect("`LANDMARK_RAW` names a folder of raw sources");
    let ours = std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
    let mut checked = 0;
    for recipe in compared() {
        let mut raw = RawFiles::default();
        let sources: Vec<_> = recipe.sources.iter().map(|source| raw_files(Path::new(&folder), source)).collect();
        let Some(sources) = sources.into_iter().collect::<Option<Vec<_>>>() else {
            eprintln!("skipped: `{}` lacks a source of `{}`", Path::new(&folder).display(), recipe.file);
            continue;
        };
        sources.into_iter().for_each(|source| raw.extend(source));
        let text = recipe.conversion.text(&raw).unwrap();
        // a file that is copied as it is may be compressed
        assert_eq!(hex(&uncompressed(&text)), recipe.text_sha256, "{}", recipe.file);
        if let Some(ours) = &ours {
            let file = recipe.conversion.file(&recipe.file, &raw).unwrap();
            let wanted = std::fs::read(ours.join(&recipe.file)).unwrap();
            eprintln!(
                "{}: {}",
                recipe.file,
                if file == wanted { "equal, byte for byte" } else { "equal text, other compression" }
            );
            assert_eq!(uncompressed(&file), uncompressed(&wanted), "{}", recipe.file);
        }
        checked += 1;
    }
    eprintln!("{checked} files checked");
    assert!(checked > 0, "none of the sources is there");
}

fn uncompressed(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes), &mut text).unwrap();
        text
    } else {
        bytes.to_vec()
    }
}

//! The table of docs/reference/datasets.md: every dataset with its size, license and source, and whether its conversion gives our files.

use landmark_data::catalog::{self, Dataset};
use landmark_data::raw::recipes;

use crate::console::megabytes;

/// What the full form of a source has that ours lacks, and the dataset that has it.
const ADDED: [(&str, &str); 5] = [
    ("ohsumed", "documents of several labels: 3,999/5,153 in ten classes instead of 1,249/1,632"),
    (
        "qatar_living",
        "the other 8,835 comments of train-part1 and 12 test threads, `qatar_living_full`; the 2015 training set",
    ),
    ("gn300_8k", "2,992,000 further words: `googlenews300`"),
    (
        "glove50_8k",
        "392,156 further words: `glove_6b_50d`; 100 to 300 dimensions: `glove_6b_100d` to `glove_6b_300d`, `glove_840b_300d`",
    ),
    ("self300", "nothing: trained for this project; `googlenews300` is what the papers have"),
];

pub fn markdown() -> String {
    let mut text =
        "| dataset | size | license | source | what the full source adds | conversion |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for dataset in catalog::all().filter(|dataset| !dataset.files.is_empty()) {
        let bytes = dataset.files.iter().map(|file| file.bytes).sum();
        let added = ADDED.iter().find(|(name, _)| *name == dataset.name).map_or("nothing", |(_, added)| added);
        let cells = [
            format!("`{}`", dataset.name),
            megabytes(bytes),
            dataset.license.to_owned(),
            source(dataset),
            added.to_owned(),
            conversion(dataset),
        ];
        text += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}

/// Hosts and repositories of the first address of every raw file, those of the copies first.
fn source(dataset: &Dataset) -> String {
    let files = dataset.files.iter().map(|file| file.path);
    let sources = files.clone().flat_map(recipes::all_of).flat_map(|recipe| &recipe.sources);
    let raw = sources.filter_map(|source| source.addresses.first()).map(|address| address.url.as_str());
    let published =
        files.filter_map(recipes::published).filter_map(|published| published.addresses.first()).map(String::as_str);
    let mut places: Vec<String> = Vec::new();
    for url in raw.chain(published) {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let mut parts = path.split('/');
        let place = match parts.next() {
            Some("raw.githubusercontent.com" | "codeload.github.com") => {
                let repository: Vec<&str> = parts.take(2).collect();
                format!("[{0}](https://github.com/{0})", repository.join("/"))
            }
            host => host.unwrap_or_default().to_owned(),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if places.is_empty() { "none of ours".to_owned() } else { places.join(", ") }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Made from its sources it was ours.
    Equal,
    /// As published, by a sha256 that others publish.
    AsPublished,
    Recorded,
    Nowhere,
}

impl Known {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Equal, "checked: equal"),
        (Self::AsPublished, "none: as published, by the sha256 that its users publish"),
        (Self::Recorded, "not checked, its source was out of reach: the first fetch is recorded"),
        (Self::Nowhere, "none: from a mirror only"),
    ];

    fn of(file: &str) -> Self {
        match recipes::of(file) {
            Some(recipe) if recipe.text_sha256.is_empty() => Self::Recorded,
            Some(_) => Self::Equal,
            None if recipes::published(file).is_some() => Self::AsPublished,
            None => Self::Nowhere,
        }
    }
}

/// What is known of the files, each kind with its files where there are several.
fn conversion(dataset: &Dataset) -> String {
    let files: Vec<(Known, &str)> = dataset
        .files
        .iter()
        .map(|file| (Known::of(file.path), file.path.rsplit('/').next().unwrap_or(file.path)))
        .collect();
    let mut parts = Vec::new();
    for (kind, words) in Known::ALL {
        let names: Vec<String> =
            files.iter().filter(|(known, _)| *known == kind).map(|(_, name)| format!("`{name}`")).collect();
        match names.len() {
            0 => {}
            all if all == files.len() || kind == Known::Equal => parts.push(words.to_owned()),
            _ => parts.push(format!("{}: {words}", names.join(", "))),
        }
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dataset_with_files_has_a_row_and_no_row_breaks() {
        let table = markdown();
        let rows = catalog::all().filter(|dataset| !dataset.files.is_empty()).count();
        assert_eq!(table.lines().count(), rows + 2);
        assert!(table.lines().all(|line| line.replace("\\|", "").matches('|').count() == 7), "{table}");
        for (name, _) in ADDED {
            assert!(table.contains(&format!("| `{name}` |")), "{name}");
        }
        assert!(table.contains("| `self300` | 36.7 MB |") && table.contains("none: from a mirror only"), "{table}");
        let forum = table.lines().find(|line| line.starts_with("| `qatar_living_full` |")).unwrap();
        assert!(
            forum.contains("| checked: equal; `train_part1.jsonl.gz`, `test_full.jsonl.gz`: not checked"),
            "{forum}"
        );
        let news = table.lines().find(|line| line.starts_with("| `googlenews300` |")).unwrap();
        assert!(news.contains("s3.amazonaws.com") && news.contains("as published"), "{news}");
    }
}

//! The table of docs/data.md: every dataset with its size, licence and source, and whether its conversion gives our files.

use landmark_data::catalog::{self, Dataset};
use landmark_data::raw::recipes;

use crate::console::megabytes;

/// What the full form of a source has that ours lacks.
const ADDED: [(&str, &str); 5] = [
    ("ohsumed", "documents of several labels: 3,999/5,153 in ten classes instead of 1,249/1,632"),
    (
        "qatar_living",
        "the other 8,835 comments of train-part1 (`v3.2/train` of the same repository, where it could not be had for a check), the 2015 training set, 12 test threads",
    ),
    ("gn300_8k", "2,992,000 further words"),
    ("glove50_8k", "392,156 further words, and 100 to 300 dimensions"),
    ("self300", "nothing: trained for this project; GoogleNews-300 is what the papers have"),
];

/// The table in Markdown.
pub fn markdown() -> String {
    let mut text =
        "| dataset | size | licence | source | what the full source adds | conversion |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for dataset in catalog::all().filter(|dataset| !dataset.files.is_empty()) {
        let bytes = dataset.files.iter().map(|file| file.bytes).sum();
        let added = ADDED.iter().find(|(name, _)| *name == dataset.name).map_or("nothing", |(_, added)| added);
        let cells = [
            format!("`{}`", dataset.name),
            megabytes(bytes),
            dataset.licence.to_owned(),
            source(dataset),
            added.to_owned(),
            conversion(dataset),
        ];
        text += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}

/// Hosts and repositories of the first address of every raw file.
fn source(dataset: &Dataset) -> String {
    let recipes = dataset.files.iter().filter_map(|file| recipes::of(file.path));
    let mut places: Vec<String> = Vec::new();
    for address in recipes.flat_map(|recipe| recipe.sources).filter_map(|source| source.addresses.first()) {
        let path = address.url.split_once("://").map_or(address.url, |(_, rest)| rest);
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

/// Files that are made from their sources and equal ours, and those that aren't.
fn conversion(dataset: &Dataset) -> String {
    let without: Vec<String> = dataset
        .files
        .iter()
        .filter(|file| recipes::of(file.path).is_none())
        .map(|file| format!("`{}`", file.path.rsplit('/').next().unwrap_or(file.path)))
        .collect();
    match without.len() {
        0 => "checked: equal".to_owned(),
        all if all == dataset.files.len() => "none: from a mirror only".to_owned(),
        _ => format!("checked: equal; none for {}: from a mirror only", without.join(", ")),
    }
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
    }
}

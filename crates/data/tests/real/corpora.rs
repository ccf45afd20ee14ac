//! Every file of the catalog, and every corpus of documents and set of vectors.

use landmark_data::catalog::{self, DocumentOptions, FileState, Holds};
use landmark_data::raw::recipes;
use landmark_data::{Corpus, Headers, TokenRules};

use crate::data_folder;

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn every_file_of_the_catalog_is_there_with_its_digest_and_size() {
    let folder = data_folder();
    // what is published in full, and nowhere else
    let is_only_at_home = |path: &str| {
        recipes::published(path).is_some() || recipes::of(path).is_some_and(|recipe| recipe.text_sha256.is_empty())
    };
    for status in catalog::status(Some(&folder)).unwrap() {
        for (file, state) in status.dataset.files.iter().zip(&status.files) {
            if *state == FileState::Missing && is_only_at_home(file.path) {
                continue;
            }
            assert_eq!(*state, FileState::Present, "{}", file.path);
            let size = std::fs::metadata(folder.join(file.path)).unwrap().len();
            assert!(size == file.bytes || is_only_at_home(file.path), "{}: {size} bytes", file.path);
        }
    }
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn every_corpus_loads_with_the_sizes_its_source_states() {
    let folder = data_folder();
    // (documents, labels, train)
    let wanted = [
        ("twitter", (3_115, 3, None)),
        ("recipe_l", (39_774, 20, Some(27_841))),
        ("ohsumed", (7_400, 23, Some(3_357))),
        ("20news", (18_846, 20, Some(11_314))),
        ("amazon", (8_000, 4, Some(5_600))),
        ("classic", (7_095, 4, None)),
        ("snips_utterances", (13_784, 7, None)),
    ];
    for (name, (documents, labels, train)) in wanted {
        let seen = catalog::load_documents(name, Some(&folder), &DocumentOptions::default(), 1).unwrap();
        assert_eq!((seen.len(), seen.label_names().len()), (documents, labels), "{name}");
        if let Some(train) = train {
            assert_eq!(seen.given_split().unwrap().train.len(), train, "{name}");
        }
        let corpus = Corpus::tokenize(&seen, &TokenRules::default());
        eprintln!("{name}: {} distinct words, {:.1} a document", corpus.words().len(), corpus.mean_distinct_words());
    }
    let documents = catalog::all().filter(|dataset| matches!(dataset.holds, Holds::Documents { .. })).count();
    assert_eq!(documents, wanted.len(), "a corpus of the catalog is not tested here");
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn the_first_ten_classes_of_ohsumed_have_the_stated_sizes() {
    let folder = data_folder();
    let options = DocumentOptions { first_classes: Some(10), ..DocumentOptions::default() };
    let split = catalog::load_documents("ohsumed", Some(&folder), &options, 1).unwrap().given_split().unwrap();
    assert_eq!((split.train.len(), split.test.len()), (1_249, 1_632));
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn newsgroup_posts_lose_their_headers_and_keep_their_subject() {
    let folder = data_folder();
    let load = |headers| {
        let options = DocumentOptions { headers: Some(headers), limit: Some(400), ..DocumentOptions::default() };
        catalog::load_documents("20news", Some(&folder), &options, 1).unwrap()
    };
    let (kept, subject, stripped) = (load(Headers::Keep), load(Headers::Subject), load(Headers::Strip));
    for i in 0..kept.len() {
        assert!(kept.texts()[i].ends_with(&stripped.texts()[i]) && subject.texts()[i].ends_with(&stripped.texts()[i]));
        let first = subject.texts()[i].lines().next().unwrap_or_default();
        assert!(kept.texts()[i].contains(first), "{first}");
        assert!(!subject.texts()[i].starts_with("From:"));
    }
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn every_set_of_vectors_loads_for_the_tweets_and_covers_what_it_should() {
    let folder = data_folder();
    let documents = catalog::load_documents("twitter", Some(&folder), &DocumentOptions::default(), 1).unwrap();
    let rules = TokenRules { drop_stop_words: false, ..TokenRules::default() };
    let corpus = Corpus::tokenize(&documents, &rules);
    // the percentages of tokens and of distinct words that the data folder's README states, with one digit
    let wanted = [("self300", 300, 94.7, 73.6), ("gn300_8k", 300, 70.2, 42.2), ("glove50_8k", 50, 65.3, 34.3)];
    for (name, dimension, tokens, types) in wanted {
        let vectors = catalog::load_word_vectors(name, Some(&folder), &|word| corpus.contains(word)).unwrap();
        let coverage = corpus.coverage(&vectors);
        eprintln!("{name}: {coverage}");
        assert_eq!((vectors.dimension(), vectors.len()), (dimension, coverage.known_types), "{name}");
        assert!((coverage.token_percent() - tokens).abs() <= 0.05, "{name}: {coverage}");
        assert!((coverage.type_percent() - types).abs() <= 0.05, "{name}: {coverage}");
    }
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn the_intent_corpora_have_the_published_sizes_domain_by_domain() {
    let folder = data_folder();
    // (domains, intents, train, test): in scope for CLINC150, all for the others; ATIS counts joined intents as labels of their own
    for (name, wanted) in
        [("clinc150", (10, 150, 15_000, 4_500)), ("snips", (1, 7, 13_784, 700)), ("atis", (1, 26, 4_978, 893))]
    {
        let domains = catalog::load_intents(name, Some(&folder)).unwrap();
        let splits: Vec<_> = domains.iter().filter_map(|domain| domain.given_split()).collect();
        let intents: usize = domains.iter().map(|domain| domain.label_names().len()).sum();
        let train: usize = splits.iter().map(|split| split.train.len()).sum();
        let test: usize = splits.iter().map(|split| split.test.len()).sum();
        assert_eq!((domains.len(), intents, train, test), wanted, "{name}");
    }
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn the_texts_without_labels_are_all_read() {
    let folder = data_folder();
    let (mut texts, mut words) = (0_usize, 0_usize);
    let mut count = |text: &str| {
        texts += 1;
        words += text.split_whitespace().count();
    };
    catalog::load_texts("sentences", Some(&folder), &mut count).unwrap();
    eprintln!("sentences: {texts} texts, {words} words");
    // the smallest count any source could have been read at, were one of the others lost
    assert!(texts > 100_000 && words > 1_500_000, "{texts} texts, {words} words");
}

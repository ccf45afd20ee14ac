//! Data that ship inside: small samples written for this project, so that a first run, the examples and the tests need no
//! download. They are no benchmark; a run that used them states this.

use std::borrow::Cow;

use crate::documents::{Columns, LabelledDocuments};
use crate::error::DataError;
use crate::mentions::MentionCorpus;
use crate::pairs::{PairColumns, PairScale, SentencePairs};
use crate::threads::Threads;

/// Short documents about cooking, astronomy, gardening and cycling, with a split of their own.
pub fn documents() -> Result<LabelledDocuments, DataError> {
    let columns = Columns { id: Some(Cow::Borrowed("id")), split: Some(Cow::Borrowed("split")), ..Columns::default() };
    LabelledDocuments::from_tsv("embedded", include_bytes!("../embedded/documents.tsv"), &columns)
}

/// Question threads of a made-up city, each with three to six comments and the labels of SemEval-2016 Task 3.
pub fn threads() -> Result<Threads, DataError> {
    Threads::from_jsonl("embedded_threads", include_bytes!("../embedded/threads.jsonl"))
}

/// News stories on six made-up events, three stories an event, with gold mentions; three events train, one is for tuning, two test.
pub fn news() -> Result<MentionCorpus, DataError> {
    MentionCorpus::from_jsonl(
        "news",
        include_bytes!("../embedded/news.jsonl"),
        include_bytes!("../embedded/news_mentions.jsonl"),
    )
}

/// Number of the [`threads`] that are for training; the others are for testing.
pub const TRAINING_THREADS: usize = 16;

/// Requests to an assistant in two domains of five intents each, with a split of their own.
pub fn utterances() -> Result<Vec<LabelledDocuments>, DataError> {
    let bytes = include_bytes!("../embedded/utterances.tsv");
    let columns =
        |label| Columns { label: Cow::Borrowed(label), split: Some(Cow::Borrowed("split")), ..Columns::default() };
    let of_domains = LabelledDocuments::from_tsv("utterances", bytes, &columns("domain"))?;
    let of_intents = LabelledDocuments::from_tsv("utterances", bytes, &columns("intent"))?;
    let domain = |(number, name): (usize, &String)| {
        let members: Vec<usize> = (0..of_domains.len()).filter(|&i| of_domains.labels()[i] == number).collect();
        of_intents.subset(&members).renamed(name).with_used_labels()
    };
    Ok(of_domains.label_names().iter().enumerate().map(domain).collect())
}

/// Pairs of sentences graded from 0 to 5, to learn from and to judge by; no sentence is in both.
pub fn pairs() -> Result<(SentencePairs, SentencePairs), DataError> {
    let text = include_str!("../embedded/pairs.tsv");
    let columns = PairColumns { first: "sentence1", second: "sentence2", target: "score", scale: PairScale::Grade };
    let part = |name: &str| {
        let lines = text.lines().enumerate();
        let kept = lines.filter(|(k, line)| *k == 0 || line.split('\t').next() == Some(name));
        let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
        SentencePairs::from_tsv("embedded_pairs", kept.join("\n").as_bytes(), &columns)
    };
    Ok((part("train")?, part("dev")?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_pairs_are_128_graded_ones_and_no_sentence_is_on_both_sides() {
        let (train, dev) = pairs().unwrap();
        assert_eq!((train.len(), dev.len()), (96, 32));
        let known: HashSet<&String> = train.sentences().iter().collect();
        assert!(dev.sentences().iter().all(|sentence| !known.contains(sentence)));
        for part in [&train, &dev] {
            for low in [0.0, 0.2, 0.4, 0.9] {
                assert!(part.targets().iter().any(|target| (low..=low + 0.24).contains(target)), "{low}");
            }
        }
    }

    #[test]
    fn the_utterances_are_twelve_an_intent_in_two_domains_and_none_comes_twice() {
        let domains = utterances().unwrap();
        assert_eq!(domains.iter().map(LabelledDocuments::name).collect::<Vec<_>>(), ["home", "travel"]);
        let mut distinct = HashSet::new();
        for domain in &domains {
            assert_eq!(domain.label_names().len(), 5);
            let split = domain.given_split().unwrap();
            assert_eq!((split.train.len(), split.test.len()), (40, 20));
            for label in 0..5 {
                assert_eq!(domain.labels().iter().filter(|&&seen| seen == label).count(), 12);
            }
            for text in domain.texts() {
                assert!(distinct.insert(text.clone()), "{text} comes twice");
            }
        }
    }
}

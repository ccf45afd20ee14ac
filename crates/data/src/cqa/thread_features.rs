//! Features of a comment in its thread: [`THREAD_FEATURES`].
//!
//! After Barrón-Cedeño et al. 2015 ("Thread-level information for comment classification in community question
//! answering") and Nicosia et al. 2015, the "heuristics and thread features" of Filice et al. 2016. Who wrote a comment
//! is only used where every thread states it, since a feature that test data lacks misleads.

use super::annotation::{Annotated, is_address};
use crate::threads::Thread;

/// The names, in the order of the numbers.
pub const THREAD_FEATURES: [&str; 26] = [
    // the place in the thread (Barrón-Cedeño et al. 2015, §3.2)
    "place", // 1 / place
    "first", // whether it is the first
    "late",  // place / 10
    // the shape of the text (Nicosia et al. 2015, §3.3)
    "length",         // ln(1 + words)
    "sentences",      // ln(1 + sentences)
    "relative",       // words / mean words of the thread's comments
    "longest_word",   // ln(1 + characters of the longest word that is no address)
    "question_marks", // ln(1 + ?)
    "exclamations",   // ln(1 + !)
    "capitals",       // share of upper-case letters
    "numbers",        // share of words that are numbers
    "content",        // share of content words
    "nouns",          // share of NOUN and PROPN
    "verbs",          // share of VERB
    "pronouns",       // share of PRON
    // links and addresses
    "link",   // a web or mail address
    "smiley", // :) ;) :D :P
    "dots",   // … or ...
    // words that answer, thank, doubt or ask (Barrón-Cedeño et al. 2015, §3.1)
    "yes_no",        // begins with yes, no, sure, yeah, nope
    "advice",        // can, should, try, recommend, suggest, advise, contact, go
    "thanks",        // thank, thanks, thx
    "sorry",         // sorry
    "asks",          // ends with a question mark
    "opinion",       // think, guess, maybe, hope, believe
    "second_person", // you, your
    // agreement with the others
    "echo", // share of its content stems that another comment of the thread has too
];

const YES_NO: [&str; 8] = ["yes", "no", "sure", "yeah", "nope", "yep", "ok", "okay"];
const ADVICE: [&str; 8] = ["can", "should", "try", "recommend", "suggest", "advise", "contact", "go"];
const THANKS: [&str; 4] = ["thank", "thanks", "thx", "thanx"];
const OPINION: [&str; 5] = ["think", "guess", "maybe", "hope", "believe"];
const SMILEYS: [&str; 6] = [":)", ";)", ":D", ":P", ":-)", ";-)"];

/// The features of every comment of a thread, in their order; `annotated` are the comments' texts.
///
/// # Panics
/// A number of annotations other than that of the comments.
pub fn thread_features(thread: &Thread, annotated: &[Annotated]) -> Vec<[f64; THREAD_FEATURES.len()]> {
    assert_eq!(thread.comments.len(), annotated.len(), "one annotation a comment");
    let lengths: Vec<usize> = annotated.iter().map(|text| text.words().len()).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64;
    let of = |number: usize| {
        let comment = &thread.comments[number];
        let place = comment.place().unwrap_or(number + 1) as f64;
        let context = Context { place, mean, echo: echo(annotated, number) };
        of_text(&comment.text, &annotated[number], lengths[number], context)
    };
    (0..annotated.len()).map(of).collect()
}

struct Context {
    place: f64,
    mean: f64,
    echo: f64,
}

fn of_text(text: &str, annotated: &Annotated, words: usize, context: Context) -> [f64; THREAD_FEATURES.len()] {
    let Context { place, mean, echo } = context;
    let count = |wanted: char| text.chars().filter(|&c| c == wanted).count() as f64;
    let per_word = |number: usize| if words == 0 { 0.0 } else { number as f64 / words as f64 };
    let tagged = |tags: &[&str]| per_word(annotated.tokens().filter(|token| tags.contains(&token.tag)).count());
    let lower: Vec<String> = annotated.tokens().map(|token| token.form.to_lowercase()).collect();
    let has = |list: &[&str]| flag(lower.iter().any(|word| list.contains(&word.as_str())));
    let letters = text.chars().filter(|c| c.is_alphabetic()).count().max(1) as f64;
    let longest = text.split_whitespace().filter(|piece| !is_address(piece)).map(|piece| piece.chars().count()).max();
    [
        1.0 / place,
        flag(place == 1.0),
        place / 10.0,
        (words as f64).ln_1p(),
        (annotated.sentences.len() as f64).ln_1p(),
        words as f64 / mean.max(1.0),
        (longest.unwrap_or(0) as f64).ln_1p(),
        count('?').ln_1p(),
        count('!').ln_1p(),
        text.chars().filter(|c| c.is_uppercase()).count() as f64 / letters,
        tagged(&["NUM"]),
        per_word(annotated.tokens().filter(|token| token.is_content).count()),
        tagged(&["NOUN", "PROPN"]),
        tagged(&["VERB"]),
        tagged(&["PRON"]),
        flag(text.split_whitespace().any(is_address)),
        flag(SMILEYS.iter().any(|smiley| text.contains(smiley))),
        flag(text.contains("..") || text.contains('…')),
        flag(lower.first().is_some_and(|word| YES_NO.contains(&word.as_str()))),
        has(&ADVICE),
        has(&THANKS),
        has(&["sorry"]),
        flag(text.trim_end().ends_with('?')),
        has(&OPINION),
        has(&["you", "your", "u", "ur"]),
        echo,
    ]
}

fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}

/// The share of a comment's distinct content stems that another comment has too.
fn echo(annotated: &[Annotated], number: usize) -> f64 {
    let content = |text: &Annotated| -> std::collections::HashSet<String> {
        text.tokens().filter(|token| token.is_content).map(|token| token.stem.clone()).collect()
    };
    let own = content(&annotated[number]);
    let others: std::collections::HashSet<String> = annotated
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != number)
        .flat_map(|(_, text)| content(text))
        .collect();
    if own.is_empty() { 0.0 } else { own.intersection(&others).count() as f64 / own.len() as f64 }
}

#[cfg(all(test, feature = "tagger"))]
mod tests {
    use super::super::Annotator;
    use super::*;
    use crate::threads::Threads;

    #[test]
    fn a_comment_shows_its_place_its_shape_and_its_words() {
        let thread = br#"{"qid": "Q", "subject": "Bikes", "comments": [
            {"cid": "Q_C3", "label": "Good", "text": "Yes, you can try the shop at www.bikes.example :)"},
            {"cid": "Q_C4", "label": "Bad", "text": "Thanks! Which shop?"}]}"#;
        let line: Vec<u8> = thread.iter().copied().filter(|&byte| byte != b'\n').collect();
        let threads = Threads::from_jsonl("mine", &line).unwrap();
        let thread = &threads.threads()[0];
        let annotator = Annotator::new();
        let texts: Vec<Annotated> = thread.comments.iter().map(|comment| annotator.annotate(&comment.text)).collect();
        let features = thread_features(thread, &texts);
        let of = |comment: usize, name: &str| {
            features[comment][THREAD_FEATURES.iter().position(|known| *known == name).unwrap()]
        };
        assert_eq!((of(0, "place"), of(0, "first"), of(1, "late")), (1.0 / 3.0, 0.0, 0.4));
        for name in ["link", "smiley", "yes_no", "advice", "second_person"] {
            assert_eq!((of(0, name), of(1, name)), (1.0, 0.0), "{name}");
        }
        for name in ["thanks", "asks"] {
            assert_eq!((of(0, name), of(1, name)), (0.0, 1.0), "{name}");
        }
        // `shop` of `shop`, and of the first's content words
        assert!(of(1, "echo") > 0.0 && of(1, "echo") <= 1.0);
        assert!(features.iter().flatten().all(|value| value.is_finite()));
    }
}

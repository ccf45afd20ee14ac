//! Questions and threads.

use landmark_data::catalog::{self, DocumentOptions};
use landmark_data::dependencies::{DependencyTree, Sentence, Word};
use landmark_data::{CommentLabel, Tree};

use crate::data_folder;

/// The parse behind a GRCT tree: every `SYNT` node holds one `POS` node, whose leaf is its word.
fn parse_of(tree: &Tree) -> Sentence {
    let parents = tree.parents();
    let words: Vec<usize> = (0..tree.len()).filter(|&node| tree.label(node).starts_with("POS##")).collect();
    let relation_of: Vec<usize> = words.iter().map(|&word| parents[word]).collect();
    let word = |&node: &usize| {
        let (lemma, _) = tree.label(node + 1).strip_prefix("LEX##").unwrap().rsplit_once("::").unwrap();
        let relation = parents[node];
        let head = (relation > 0).then(|| relation_of.iter().position(|&other| other == parents[relation]).unwrap());
        Word {
            form: lemma.to_owned(),
            lemma: lemma.to_owned(),
            tag: tree.label(node)["POS##".len()..].to_owned(),
            head,
            relation: tree.label(relation)["SYNT##".len()..].to_owned(),
        }
    };
    Sentence::new(words.iter().map(word).collect()).unwrap()
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn trec_has_5452_and_500_questions_whose_trees_follow_from_one_parse() {
    let folder = data_folder();
    let examples = catalog::load_kelp("trec", Some(&folder)).unwrap();
    assert_eq!(examples.representations(), ["quest", "bow", "grct", "lct", "loct", "cgrct", "clct"]);
    let documents = catalog::load_documents("trec", Some(&folder), &DocumentOptions::default(), 1).unwrap();
    assert_eq!(documents.label_names(), ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]);
    let split = documents.given_split().unwrap();
    assert_eq!((split.train.len(), split.test.len()), (5_452, 500));
    let of = |name: &str| examples.trees(name, documents.ids()).unwrap();
    let (grct, lct, loct) = (of("grct"), of("lct"), of("loct"));
    let mut disagree = Vec::new();
    for i in 0..grct.len() {
        let parse = parse_of(&grct[i]);
        assert_eq!(parse.tree(DependencyTree::Grct), grct[i], "{}", documents.ids()[i]);
        if parse.tree(DependencyTree::Lct) != lct[i] || parse.tree(DependencyTree::Loct) != loct[i] {
            disagree.push(&documents.ids()[i]);
        }
    }
    assert!(disagree.is_empty(), "{} of {}: {disagree:?}", disagree.len(), grct.len());
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn qatar_living_has_the_threads_and_labels_its_source_states() {
    let folder = data_folder();
    let sets = catalog::load_threads("qatar_living", Some(&folder)).unwrap();
    let wanted = [
        ("train_part2", 379, 3_790, 1_364),
        ("train_part1_partial", 1_289, 5_275, 1_999),
        ("train_2015dev", 291, 1_529, 813),
        ("train_2015test", 319, 1_876, 946),
        ("dev", 244, 2_440, 818),
        ("test", 315, 3_150, 1_257),
    ];
    assert_eq!(sets.len(), wanted.len());
    for (set, (name, threads, comments, good)) in sets.iter().zip(wanted) {
        let all = set.threads().len() + set.without_comments().len();
        assert_eq!((set.name(), all, set.comments()), (name, threads, comments));
        let labels = set.threads().iter().flat_map(|thread| &thread.comments).map(|comment| comment.label);
        assert_eq!(labels.filter(|&label| label == CommentLabel::Good).count(), good, "{name}");
    }
}

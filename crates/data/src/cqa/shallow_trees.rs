//! Shallow trees of a question and a comment, with the words they share marked (Severyn & Moschitti 2012; Filice et al.
//! 2015, 2016).
//!
//! `(ROOT (S (NP (DET the) (NOUN bike)) (VP (VERB is))) …)`: sentences, chunks, parts of speech, stems. Where a content
//! word of one text has a stem that the other has too, its part of speech and its chunk are marked `REL-` in both
//! trees, so that a kernel sees the link. Signs are left out.

use std::collections::HashSet;

use super::annotation::{Annotated, Token};
use crate::tree::{Tree, TreeBuilder};

/// The linked trees of a pair. A text of signs alone is `(ROOT)`.
pub fn shallow_trees(question: &Annotated, comment: &Annotated) -> (Tree, Tree) {
    let shared: HashSet<&str> = content(question).intersection(&content(comment)).copied().collect();
    (shallow_tree(question, &shared), shallow_tree(comment, &shared))
}

fn content(text: &Annotated) -> HashSet<&str> {
    text.tokens().filter(|token| token.is_content).map(|token| token.stem.as_str()).collect()
}

fn shallow_tree(text: &Annotated, shared: &HashSet<&str>) -> Tree {
    let is_linked = |token: &Token| token.is_content && shared.contains(token.stem.as_str());
    let mark = |linked: bool, label: &str| if linked { format!("REL-{label}") } else { label.to_owned() };
    let mut builder = TreeBuilder::new("ROOT");
    for sentence in &text.sentences {
        let words: Vec<&Token> = sentence.iter().filter(|token| token.tag != "PUNCT").collect();
        if words.is_empty() {
            continue;
        }
        builder.open("S");
        for chunk in words.chunk_by(|a, b| a.chunk == b.chunk) {
            builder.open(&mark(chunk.iter().any(|token| is_linked(token)), chunk[0].chunk.label()));
            for token in chunk {
                builder.open(&mark(is_linked(token), token.tag));
                builder.leaf(&leaf(&token.stem));
                builder.close();
            }
            builder.close();
        }
        builder.close();
    }
    builder.finish()
}

fn leaf(stem: &str) -> String {
    stem.replace('(', "-LRB-").replace(')', "-RRB-")
}

#[cfg(all(test, feature = "tagger"))]
mod tests {
    use super::super::Annotator;
    use super::*;

    #[test]
    fn shared_content_words_are_linked_in_both_trees() {
        let annotator = Annotator::new();
        let question = annotator.annotate("Is the water safe? Thanks!");
        let comment = annotator.annotate("The water is fine (I think).");
        let (question, comment) = shallow_trees(&question, &comment);
        assert!(question.to_string().contains("(REL-NOUN water)") && comment.to_string().contains("(REL-NOUN water)"));
        assert!(question.to_string().starts_with("(ROOT (S ") && question.to_string().contains("(REL-NP (DET the)"));
        // `the` and `is` are shared too, but carry no content
        assert_eq!(question.to_string().matches("REL-").count(), 2);
        for tree in [question, comment] {
            assert_eq!(tree.to_string().parse::<Tree>().unwrap(), tree);
        }
    }

    #[test]
    fn a_text_of_signs_is_a_root_alone() {
        let annotator = Annotator::new();
        let (_, comment) = shallow_trees(&annotator.annotate("Why?"), &annotator.annotate(":-) !!!"));
        assert_eq!(comment.to_string(), "(ROOT)");
    }
}

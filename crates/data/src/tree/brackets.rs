//! Trees in brackets: read and written without recursion, every error with its character.

use std::fmt;
use std::str::FromStr;

use super::{Tree, TreeBuilder};

/// Defect of a tree in brackets. Characters count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BracketError {
    #[error("the tree is empty; want at least one node, such as `(S)`")]
    Empty,
    #[error("the `(` at character {at} is never closed ({open} are open at the end); close it with `)`")]
    Unclosed { at: usize, open: usize },
    #[error("the `)` at character {at} closes nothing; remove it, or open the node it should close")]
    Unopened { at: usize },
    #[error("the `(` at character {at} is followed by no label; write `(label child …)`")]
    NoLabel { at: usize },
    #[error("the tree ends before character {at}, but more follows; one line holds one tree")]
    Trailing { at: usize },
}

/// Label of a root that has none and more than one child.
const UNLABELLED_ROOT: &str = "ROOT";

/// A bracket or a word of a tree's text.
enum Token<'a> {
    Open,
    Close,
    Word(&'a str),
}

/// The tokens with their characters, from 1.
struct Tokens<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.trim_start();
        self.at += self.rest[..self.rest.len() - rest.len()].chars().count();
        let at = self.at;
        let length = match rest.chars().next()? {
            '(' | ')' => 1,
            _ => rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len()),
        };
        let (token, rest) = rest.split_at(length);
        (self.rest, self.at) = (rest, at + token.chars().count());
        Some((
            at,
            match token {
                "(" => Token::Open,
                ")" => Token::Close,
                word => Token::Word(word),
            },
        ))
    }
}

impl FromStr for Tree {
    type Err = BracketError;

    fn from_str(text: &str) -> Result<Self, BracketError> {
        let mut builder: Option<TreeBuilder> = None;
        let mut open: Vec<usize> = Vec::new();
        let mut tokens = Tokens { rest: text, at: 1 };
        let mut is_bare = false;
        while let Some((mut at, token)) = tokens.next() {
            let whole = builder.is_some() && open.is_empty();
            match token {
                Token::Close => {
                    open.pop().ok_or(BracketError::Unopened { at })?;
                    if let (Some(builder), false) = (&mut builder, open.is_empty()) {
                        builder.close();
                    }
                }
                _ if whole => return Err(BracketError::Trailing { at }),
                Token::Open => {
                    let label = match tokens.next() {
                        Some((_, Token::Word(label))) => label,
                        // the Penn Treebank gives its root no label: `( (S …) )`
                        Some((again, Token::Open)) if builder.is_none() && !is_bare => {
                            is_bare = true;
                            let Some((_, Token::Word(label))) = tokens.next() else {
                                return Err(BracketError::NoLabel { at: again });
                            };
                            builder = Some(TreeBuilder::new(UNLABELLED_ROOT));
                            open.push(at);
                            at = again;
                            label
                        }
                        _ => return Err(BracketError::NoLabel { at }),
                    };
                    match &mut builder {
                        None => builder = Some(TreeBuilder::new(label)),
                        Some(builder) => builder.open(label),
                    }
                    open.push(at);
                }
                Token::Word(label) => match &mut builder {
                    None => builder = Some(TreeBuilder::new(label)),
                    Some(builder) => builder.leaf(label),
                },
            }
        }
        match open.last() {
            Some(&at) => Err(BracketError::Unclosed { at, open: open.len() }),
            None => builder
                .map(TreeBuilder::finish)
                .map(|tree| if is_bare && tree.degree(0) == 1 { tree.without_root() } else { tree })
                .ok_or(BracketError::Empty),
        }
    }
}

/// Leaves are bare words; a tree of one node is `(label)`.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut waiting: Vec<usize> = Vec::new();
        for node in 0..self.len() {
            if node > 0 {
                f.write_str(" ")?;
            }
            let degree = self.degree(node);
            if degree > 0 || node == 0 {
                write!(f, "({}", self.label(node))?;
                waiting.push(degree);
            } else {
                f.write_str(self.label(node))?;
                if let Some(last) = waiting.last_mut() {
                    *last -= 1;
                }
            }
            while waiting.last() == Some(&0) {
                f.write_str(")")?;
                waiting.pop();
                if let Some(last) = waiting.last_mut() {
                    *last -= 1;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Tree>().unwrap_err().to_string()
    }

    #[test]
    fn brackets_around_leaves_and_blanks_change_nothing() {
        let tree: Tree = "(S (D the) (N dog))".parse().unwrap();
        for same in ["(S(D(the))(N(dog)))", "  ( S (D  the)\t(N (dog) ) ) "] {
            assert_eq!(same.parse::<Tree>().unwrap(), tree);
        }
        assert_eq!(tree.to_string().parse::<Tree>().unwrap(), tree);
    }

    #[test]
    fn a_root_without_a_label_is_left_out_or_called_root() {
        let same =
            |text: &str, plain: &str| assert_eq!(text.parse::<Tree>().unwrap(), plain.parse().unwrap(), "{text}");
        same("( (S (NP a) (VP b)) )", "(S (NP a) (VP b))");
        same("((S a))", "(S a)");
        same("( (S (NP a)) (. .) )", "(ROOT (S (NP a)) (. .))");
        same("( (S a) b)", "(ROOT (S a) b)");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_character() {
        for (text, wanted) in [
            ("", "the tree is empty"),
            ("  ", "the tree is empty"),
            ("(S (NP a)", "the `(` at character 1 is never closed (1 are open"),
            ("(S (é (N a", "the `(` at character 7 is never closed (3 are open"),
            ("(S a))", "the `)` at character 6 closes nothing"),
            ("(S (N ä)) b", "ends before character 11"),
            ("(S a) (S b)", "ends before character 7"),
            ("S b", "ends before character 3"),
            ("(S ())", "the `(` at character 4 is followed by no label"),
            ("(", "the `(` at character 1 is followed by no label"),
            ("(()", "the `(` at character 2 is followed by no label"),
            ("(((S a)))", "the `(` at character 2 is followed by no label"),
            ("( (S a)", "the `(` at character 1 is never closed (1 are open"),
            ("(S ((NP a)))", "the `(` at character 4 is followed by no label"),
        ] {
            assert!(error(text).contains(wanted), "{text}: {}", error(text));
        }
    }

    #[test]
    fn a_hundred_thousand_levels_are_read_and_written() {
        let text = format!("{}x{}", "(a ".repeat(100_000), ")".repeat(100_000));
        let tree: Tree = text.parse().unwrap();
        assert_eq!((tree.len(), tree.height()), (100_001, 100_001));
        assert_eq!(tree.to_string(), text);
    }
}

//! Treatment of the header block of a newsgroup post.
//!
//! The by-date posts open with `From:`, `Subject:`, `Organization:` … up to the first empty line. The sizes the papers
//! give (11,293 / 7,528 documents) are those of the "all terms" edition of Cardoso-Cachopo (2007), which keeps the
//! subject and drops the other lines; that is the default. `From` and `Organization` alone give many labels away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policy for header lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Headers {
    /// The subject's words, then the body.
    #[default]
    Subject,
    /// The post as it was sent.
    Keep,
    /// The body alone.
    Strip,
}

impl Headers {
    /// Applies the policy to one post; a text whose first line is no header is a body.
    pub(super) fn apply(self, post: &str) -> String {
        let body = body(post);
        match self {
            Self::Keep => post.to_owned(),
            Self::Strip => body.to_owned(),
            Self::Subject => {
                let head = &post[..post.len() - body.len()];
                let subject =
                    head.lines().find_map(|line| field(line).filter(|(name, _)| name.eq_ignore_ascii_case("subject")));
                format!("{}\n{body}", subject.map_or("", |(_, words)| words.trim()))
            }
        }
    }
}

/// Everything after the header block and its empty line.
fn body(post: &str) -> &str {
    if post.lines().next().and_then(field).is_none() {
        return post;
    }
    let mut rest = post;
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        if line.trim().is_empty() {
            return rest;
        }
    }
    ""
}

/// `Name: value`, where the name is one word.
fn field(line: &str) -> Option<(&str, &str)> {
    line.split_once(':').filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &str =
        "From: someone@example.org\nSubject: Re: which lens\nLines: 2\n\nThe short one.\n\nIndeed: really.\n";

    #[test]
    fn the_subject_is_kept_before_the_body() {
        assert_eq!(Headers::Subject.apply(POST), "Re: which lens\nThe short one.\n\nIndeed: really.\n");
    }

    #[test]
    fn the_other_policies_keep_all_or_nothing_of_the_header() {
        assert_eq!(Headers::Keep.apply(POST), POST);
        assert_eq!(Headers::Strip.apply(POST), "The short one.\n\nIndeed: really.\n");
    }
}

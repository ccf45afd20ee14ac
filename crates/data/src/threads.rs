//! Question threads of a forum: a question, its comments in the order they were posted, and how good each is.
//!
//! JSON lines, one thread a line: `qid subject body` and `comments`, a list of `cid label text`; `category`, `date` and
//! `user` where the source has them. The format of SemEval-2016 Task 3 (Nakov et al. 2016), subtask A, without its XML.

use std::collections::HashMap;
use std::path::Path;

use landmark_core::oracle::Identity;
use serde::{Deserialize, Serialize};

use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::unpack::open;

/// Quality of a comment. The task is binary: [`Good`](Self::Good) against the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CommentLabel {
    Good,
    PotentiallyUseful,
    Bad,
    /// One of the two before; the source knew no better.
    NotGood,
}

impl CommentLabel {
    /// The binary label of the task.
    pub fn is_good(self) -> bool {
        self == Self::Good
    }

    fn name(self) -> &'static str {
        match self {
            Self::Good => "Good",
            Self::PotentiallyUseful => "PotentiallyUseful",
            Self::Bad => "Bad",
            Self::NotGood => "NotGood",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Its id, distinct among all.
    #[serde(rename = "cid")]
    pub id: String,
    pub label: CommentLabel,
    /// Its text; never blank.
    pub text: String,
    /// Author, where known.
    #[serde(default)]
    pub user: Option<String>,
    /// When, as the source writes it, where known.
    #[serde(default)]
    pub date: Option<String>,
}

impl Comment {
    /// Its place in the thread from 1, read off an id `…_C7`; where the corpus lacks some comments, the others keep theirs.
    pub fn place(&self) -> Option<usize> {
        self.id.rsplit_once("_C")?.1.parse().ok().filter(|&place| place > 0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its id, distinct among all.
    #[serde(rename = "qid")]
    pub id: String,
    /// Its title; may be empty.
    #[serde(default)]
    pub subject: String,
    /// The question; may be empty where the title is the whole question.
    #[serde(default)]
    pub body: String,
    /// Category in the forum, where known.
    #[serde(default)]
    pub category: Option<String>,
    /// Author of the question, where known.
    #[serde(default)]
    pub user: Option<String>,
    /// When, as the source writes it, where known.
    #[serde(default)]
    pub date: Option<String>,
    pub comments: Vec<Comment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threads {
    name: String,
    threads: Vec<Thread>,
    without_comments: Vec<String>,
}

impl Threads {
    /// Reads JSON lines, plain or gzip. Threads without comments have nothing to rank: they are left out, and named by
    /// [`without_comments`](Self::without_comments).
    ///
    /// # Errors
    /// [`DataError`] with file and line: no JSON object, an unknown label, a comment without text, a question without any words, an id that was seen before; a file without threads.
    pub fn read(name: &str, path: &Path) -> Result<Self, DataError> {
        Self::from_lines(name, path, Lines::new(path, open(path)?))
    }

    /// The same from memory; errors name `name` in place of a file.
    pub fn from_jsonl(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        let path = Path::new(name);
        Self::from_lines(name, path, Lines::new(path, bytes))
    }

    fn from_lines<R: std::io::BufRead>(name: &str, path: &Path, mut lines: Lines<R>) -> Result<Self, DataError> {
        let mut threads = Vec::new();
        let mut without_comments = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let malformed = |seen: String, wanted: &str| DataError::malformed(path, number, seen, wanted);
            let thread: Thread = serde_json::from_str(line).map_err(|error| {
                malformed(
                    format!("`{}` ({error})", excerpt(line)),
                    "a thread with `qid`, `subject`, `body` and `comments`",
                )
            })?;
            if thread.subject.trim().is_empty() && thread.body.trim().is_empty() {
                let seen = format!("the question of thread `{}` is blank", thread.id);
                return Err(malformed(seen, "a subject or a body"));
            }
            if let Some(blank) = thread.comments.iter().find(|comment| comment.text.trim().is_empty()) {
                return Err(malformed(format!("the comment `{}` has no text", blank.id), "a text; drop the comment"));
            }
            for id in std::iter::once(&thread.id).chain(thread.comments.iter().map(|comment| &comment.id)) {
                if let Some(first) = seen.insert(id.clone(), number) {
                    return Err(malformed(
                        format!("the id `{id}` was seen before, in line {first}"),
                        "an id of its own",
                    ));
                }
            }
            if thread.comments.is_empty() {
                without_comments.push(thread.id);
            } else {
                threads.push(thread);
            }
        }
        if threads.is_empty() {
            return Err(DataError::Empty { path: path.to_owned(), what: "threads" });
        }
        Ok(Self { name: name.to_owned(), threads, without_comments })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The ids of threads that had no comments and were left out.
    pub fn without_comments(&self) -> &[String] {
        &self.without_comments
    }

    pub fn comments(&self) -> usize {
        self.threads.iter().map(|thread| thread.comments.len()).sum()
    }

    #[must_use]
    pub fn first(mut self, threads: usize) -> Self {
        self.threads.truncate(threads);
        self
    }

    /// The first `threads` threads as `train`, the others as `test`.
    #[must_use]
    pub fn split_at(mut self, threads: usize) -> (Self, Self) {
        let rest = self.threads.split_off(threads.min(self.threads.len()));
        let test = Self { name: "test".to_owned(), threads: rest, without_comments: Vec::new() };
        (Self { name: "train".to_owned(), ..self }, test)
    }

    /// A digest of everything read.
    pub fn identity(&self) -> Identity {
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"threads v1"), ("name", self.name.as_bytes())];
        for thread in &self.threads {
            parts.extend([("qid", thread.id.as_bytes()), ("subject", thread.subject.as_bytes())]);
            parts.extend([("body", thread.body.as_bytes()), ("asker", known(&thread.user))]);
            for comment in &thread.comments {
                parts.extend([("cid", comment.id.as_bytes()), ("text", comment.text.as_bytes())]);
                parts.extend([("label", comment.label.name().as_bytes()), ("user", known(&comment.user))]);
            }
        }
        Identity::of(&parts)
    }
}

fn known(text: &Option<String>) -> &[u8] {
    text.as_deref().unwrap_or_default().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"qid": "Q1", "subject": "Bikes", "body": "", "user": "U1", "comments": [{"cid": "Q1_C2", "label": "Good", "text": "Yes"}, {"cid": "Q1_C7", "label": "NotGood", "text": "no", "user": "U1"}]}"#;

    #[test]
    fn threads_keep_what_the_source_knows() {
        let threads = Threads::from_jsonl("mine", format!("{GOOD}\n\n").as_bytes()).unwrap();
        let thread = &threads.threads()[0];
        assert_eq!((thread.user.as_deref(), &thread.date, threads.comments()), (Some("U1"), &None, 2));
        assert_eq!(thread.comments.iter().map(Comment::place).collect::<Vec<_>>(), [Some(2), Some(7)]);
        assert!(thread.comments[0].label.is_good() && !thread.comments[1].label.is_good());
        let text = format!(r#"{{"qid": "Q2", "subject": "s", "comments": []}}{}{GOOD}"#, "\n");
        let with_an_empty_one = Threads::from_jsonl("mine", text.as_bytes()).unwrap();
        assert_eq!(
            (with_an_empty_one.without_comments(), with_an_empty_one.threads().len()),
            (&["Q2".to_owned()][..], 1)
        );
        let mut other = threads.clone();
        other.threads[0].comments[1].user = None;
        assert_ne!(threads.identity(), other.identity());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let comment = r#"{"cid": "C", "label": "Good", "text": "a"}"#;
        for (line, wanted) in [
            (
                r#"{"qid": "Q2", "subject": "s", "comments": [{"cid": "C", "label": "Good", "text": " "}]}"#.to_owned(),
                "the comment `C` has no text",
            ),
            (
                r#"{"qid": "Q2", "subject": "s", "comments": [{"cid": "C", "label": "Good"}]}"#.to_owned(),
                "missing field `text`",
            ),
            (
                r#"{"qid": "Q2", "subject": "s", "comments": [{"cid": "C", "label": "Fine", "text": "a"}]}"#.to_owned(),
                "unknown variant `Fine`",
            ),
            (
                format!(r#"{{"qid": "Q2", "body": " ", "comments": [{comment}]}}"#),
                "the question of thread `Q2` is blank",
            ),
            (
                format!(r#"{{"qid": "Q1", "body": "b", "comments": [{comment}]}}"#),
                "the id `Q1` was seen before, in line 1",
            ),
            ("[]".to_owned(), "wanted is a thread"),
        ] {
            let error = Threads::from_jsonl("mine", format!("{GOOD}\n{line}\n").as_bytes()).unwrap_err().to_string();
            assert!(error.contains("mine:2: ") && error.contains(wanted), "{error}");
        }
        assert!(Threads::from_jsonl("mine", b"\n").unwrap_err().to_string().ends_with("holds no threads"));
    }
}

//! The files a ranking is scored from, as SemEval-2016 Task 3's official scorer reads them: a line a comment,
//! `qid cid rank score true|false` with tabs. In the gold file the last column is the truth, in a submission what the
//! system predicts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{DataError, excerpt};
use crate::lines::Lines;

#[derive(Debug, Clone, PartialEq)]
pub struct Judgment {
    pub question: String,
    pub comment: String,
    pub score: f64,
    pub good: bool,
}

#[derive(Debug, Clone)]
pub struct Judgments {
    path: PathBuf,
    lines: Vec<(usize, Judgment)>,
}

/// A comment with the truth and the prediction of a system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    pub score: f64,
    /// True where the system calls it good.
    pub predicted: bool,
    pub relevant: bool,
}

impl Judgments {
    /// Reads a plain or gzip file.
    ///
    /// # Errors
    /// [`DataError`] with file and line: another number of columns, a score that is no finite number, a label other than
    /// `true` and `false`, a comment that was seen before; a file without lines.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let mut judgments = Self { path: path.to_owned(), lines: Vec::new() };
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        let mut lines = Lines::open(path)?;
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let malformed = |seen: String, wanted: &str| DataError::malformed(path, number, seen, wanted);
            let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
            let [question, comment, _, score, good] = columns[..] else {
                return Err(malformed(
                    format!("{} columns in `{}`", columns.len(), excerpt(line)),
                    "five with tabs between: qid, cid, rank, score, true|false",
                ));
            };
            let score = score.parse::<f64>().ok().filter(|score| score.is_finite());
            let score = score.ok_or_else(|| malformed(format!("the score `{}`", columns[3]), "a finite number"))?;
            let good = good.parse().map_err(|_| malformed(format!("the label `{good}`"), "`true` or `false`"))?;
            if let Some(first) = seen.insert((question.to_owned(), comment.to_owned()), number) {
                let seen = format!("the comment `{comment}` was seen before, in line {first}");
                return Err(malformed(seen, "one line a comment"));
            }
            let (question, comment) = (question.to_owned(), comment.to_owned());
            judgments.lines.push((number, Judgment { question, comment, score, good }));
        }
        if judgments.lines.is_empty() {
            return Err(DataError::Empty { path: path.to_owned(), what: "judgments" });
        }
        Ok(judgments)
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The judgments in the order of the file.
    pub fn judgments(&self) -> impl Iterator<Item = &Judgment> {
        self.lines.iter().map(|(_, judgment)| judgment)
    }

    /// Joins the predictions with this truth: for each question of the gold file its comments in the order of the
    /// predictions, which decides between equal scores.
    ///
    /// # Errors
    /// [`DataError`] with file and line for a prediction whose comment the gold file does not have, and for a comment of
    /// the gold file without a prediction (it also states how many more there are).
    pub fn joined_with(&self, predictions: &Self) -> Result<Vec<Vec<Judged>>, DataError> {
        let mut questions: HashMap<&str, usize> = HashMap::new();
        let mut truth: HashMap<(&str, &str), bool> = HashMap::new();
        for judgment in self.judgments() {
            let next = questions.len();
            questions.entry(&judgment.question).or_insert(next);
            truth.insert((&judgment.question, &judgment.comment), judgment.good);
        }
        let mut judged = vec![Vec::new(); questions.len()];
        for (line, prediction) in &predictions.lines {
            let id = (prediction.question.as_str(), prediction.comment.as_str());
            let Some(relevant) = truth.remove(&id) else {
                return Err(DataError::malformed(
                    &predictions.path,
                    *line,
                    format!("the unknown comment `{}` of question `{}`", id.1, id.0),
                    format!("a comment of `{}`", self.path.display()),
                ));
            };
            let Judgment { score, good: predicted, .. } = *prediction;
            judged[questions[id.0]].push(Judged { score, predicted, relevant });
        }
        let missing =
            self.lines.iter().find(|(_, gold)| truth.contains_key(&(gold.question.as_str(), gold.comment.as_str())));
        match missing {
            None => Ok(judged),
            Some((line, gold)) => Err(DataError::malformed(
                &self.path,
                *line,
                format!(
                    "the comment `{}` of question `{}` has no prediction, one of {} without",
                    gold.comment,
                    gold.question,
                    truth.len()
                ),
                format!("a line for each in `{}`", predictions.path.display()),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Judgments, DataError> {
        let (_folder, path) = crate::test_files::file(name, text);
        Judgments::read(&path)
    }

    const GOLD: &str = "q1\ta\t1\t1\ttrue\nq1\tb\t2\t0.5\tfalse\nq2\tc\t1\t1\tfalse\n";

    #[test]
    fn predictions_are_joined_with_the_truth_in_their_own_order() {
        let gold = read("gold", GOLD).unwrap();
        let judged = gold
            .joined_with(&read("mine", "q2\tc\t0\t7\ttrue\nq1\tb\t0\t3\tfalse\nq1\ta\t0\t3\tfalse\n").unwrap())
            .unwrap();
        let of = |score, predicted, relevant| Judged { score, predicted, relevant };
        assert_eq!(judged, [vec![of(3.0, false, false), of(3.0, false, true)], vec![of(7.0, true, false)]]);
    }

    #[test]
    fn unknown_and_missing_comments_are_named_with_file_and_line() {
        let gold = read("gold", GOLD).unwrap();
        let message = |text: &str| gold.joined_with(&read("mine", text).unwrap()).unwrap_err().to_string();
        let unknown = message("q1\ta\t0\t1\ttrue\nq1\tc\t0\t1\ttrue\n");
        assert!(unknown.contains("mine:2: the unknown comment `c` of question `q1`"), "{unknown}");
        let missing = message("q1\ta\t0\t1\ttrue\n");
        assert!(
            missing.contains("gold:2: the comment `b` of question `q1` has no prediction, one of 2 without"),
            "{missing}"
        );
    }

    #[test]
    fn lines_that_are_none_are_named() {
        for (text, wanted) in [
            ("q a 1 1 true\n", "1 columns in `q a 1 1 true`; wanted is five"),
            ("q\ta\t1\tnan\ttrue\n", "the score `nan`; wanted is a finite number"),
            ("q\ta\t1\t1\tyes\n", "the label `yes`"),
            ("q\ta\t1\t1\ttrue\nq\ta\t1\t1\ttrue\n", "mine:2: the comment `a` was seen before, in line 1"),
            ("\n", "holds no judgments"),
        ] {
            let message = read("mine", text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}

//! Question threads of SemEval-2016 Task 3, from its XML to JSON lines.

use serde::Serialize;

use super::json_lines::json_lines;
use super::malformed;
use super::xml::Element;
use crate::error::DataError;

#[derive(Serialize)]
struct Thread<'a> {
    qid: &'a str,
    subject: String,
    body: String,
    category: &'a str,
    date: &'a str,
    user: &'a str,
    /// Threads of the other parts that this one repeats; the official files name none.
    dup_of: Option<&'a str>,
    comments: Vec<Comment<'a>>,
}

#[derive(Serialize)]
struct Comment<'a> {
    cid: &'a str,
    label: &'a str,
    text: String,
    user: &'a str,
    date: &'a str,
}

/// `<Thread>` of one `<RelQuestion>` and its `<RelComment>`s, in the order of the file.
pub(super) fn sem_eval(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let root = Element::read(name, text)?;
    if root.child("Thread").is_none() {
        return Err(DataError::Empty { path: name.into(), what: "`<Thread>`" });
    }
    json_lines(root.all("Thread").map(|thread| {
        let question = thread
            .child("RelQuestion")
            .ok_or_else(|| malformed(name, thread.line, "a `<Thread>` without `<RelQuestion>`".to_owned(), "one"))?;
        let of =
            |element: &Element, child: &str| element.child(child).map_or(String::new(), |child| clean(&child.text));
        let comments = thread.all("RelComment").map(|comment| {
            Ok(Comment {
                cid: comment.required(name, "RELC_ID")?,
                label: comment.required(name, "RELC_RELEVANCE2RELQ")?,
                text: of(comment, "RelCText"),
                user: comment.required(name, "RELC_USERID")?,
                date: comment.required(name, "RELC_DATE")?,
            })
        });
        Ok(Thread {
            qid: question.required(name, "RELQ_ID")?,
            subject: of(question, "RelQSubject"),
            body: of(question, "RelQBody"),
            category: question.required(name, "RELQ_CATEGORY")?,
            date: question.required(name, "RELQ_DATE")?,
            user: question.required(name, "RELQ_USERID")?,
            dup_of: None,
            comments: comments.collect::<Result<_, DataError>>()?,
        })
    }))
}

/// Runs of blanks, tabs and line ends as one blank; blanks that don't break stay inside, and go at both ends.
fn clean(text: &str) -> String {
    let is_break = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let words: Vec<&str> = text.trim().split(is_break).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "<xml version=\"1.0\">\n<Thread THREAD_SEQUENCE=\"Q1\">\n\
        <RelQuestion RELQ_ID=\"Q1\" RELQ_CATEGORY=\"A &amp; B\" RELQ_DATE=\"d\" RELQ_USERID=\"U\">\n\
        <RelQSubject>Bikes?</RelQSubject>\n<RelQBody> one\n two\u{a0} three\u{a0}</RelQBody></RelQuestion>\n\
        <RelComment RELC_ID=\"C1\" RELC_DATE=\"e\" RELC_USERID=\"V\" RELC_RELEVANCE2RELQ=\"Good\"><RelCText>&lt;yes&gt;</RelCText></RelComment>\n\
        </Thread>\n</xml>";

    #[test]
    fn a_thread_becomes_a_line() {
        let wanted = "{\"qid\": \"Q1\", \"subject\": \"Bikes?\", \"body\": \"one two\u{a0} three\", \"category\": \"A & B\", \
                      \"date\": \"d\", \"user\": \"U\", \"dup_of\": null, \"comments\": [{\"cid\": \"C1\", \"label\": \"Good\", \
                      \"text\": \"<yes>\", \"user\": \"V\", \"date\": \"e\"}]}\n";
        assert_eq!(String::from_utf8(sem_eval("x", THREAD).unwrap()).unwrap(), wanted);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        for (from, to, wanted) in [
            ("RELC_ID=\"C1\" ", "", "x:7: `<RelComment>` without `RELC_ID`"),
            ("RelQuestion", "Question", "x:2: a `<Thread>` without `<RelQuestion>`"),
            ("Thread", "Row", "`x` holds no `<Thread>`"),
        ] {
            let error = sem_eval("x", &THREAD.replace(from, to)).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}

//! Ratings in the answers of a chat model.
//!
//! `number`: the last number of the text that is no scale. A number behind another and `/` or `out of` is one (`8/10`); where it is not
//! `high`, the answer is refused. Where the last number is `high` and others stand before it, it is taken only behind `:` or `=`: `8 on a
//! scale to 10` is refused and shown. `json`: a field of the first JSON object in the text, a number or a text that is read as by `number`. `logprobs`: the expected rating
//! Σ pᵣ r over the numbers among the likeliest first tokens, normalized; finer than the number that was written, and
//! the same on each call where the server computes alike.

use landmark_core::parameter::BadParameter;
use landmark_core::untrusted::{escaped, redacted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Reading of a rating.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rating {
    /// Place of the rating.
    pub read: RatingSource,
    /// The field of `read: json`.
    pub field: String,
    /// Least rating; one below it is no answer.
    pub low: f64,
    /// Greatest rating.
    pub high: f64,
}

/// Place of a rating.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RatingSource {
    /// The last number of the text that is no scale.
    #[default]
    Number,
    /// A field of a JSON object.
    Json,
    /// The probabilities of the first token.
    Logprobs,
}

impl Default for Rating {
    fn default() -> Self {
        Self { read: RatingSource::Number, field: "score".to_owned(), low: 0.0, high: 10.0 }
    }
}

impl Rating {
    pub(crate) fn check(&self) -> Result<(), BadParameter> {
        if self.low.is_finite() && self.high.is_finite() && self.low < self.high {
            return Ok(());
        }
        Err(BadParameter::new("rating", format!("{} to {}", self.low, self.high), "a range with `low` below `high`"))
    }

    /// The rating of one pair in a `choice` of a chat completion.
    pub(crate) fn of_choice(&self, choice: &Json) -> Result<f64, String> {
        if self.read == RatingSource::Logprobs {
            return self.expected(choice);
        }
        let text = content(choice)?;
        match self.read {
            RatingSource::Json => match json_object(text)?.get(&self.field) {
                Some(Json::String(written)) => self.in_range(self.written(written)?, text),
                field => self.in_range(field.and_then(Json::as_f64), text),
            },
            RatingSource::Number | RatingSource::Logprobs => self.in_range(self.written(text)?, text),
        }
    }

    /// The ratings of `count` pairs: lines that begin with the number of their pair, each pair once.
    pub(crate) fn of_lines(&self, choice: &Json, count: usize) -> Result<Vec<f64>, String> {
        let text = content(choice)?;
        let mut ratings = vec![None; count];
        // a line of words before them is none
        let numbered = text.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
        for line in numbered {
            let found = numbers(line);
            let [first, _, ..] = found.as_slice() else { continue };
            let index = first.value;
            let Some(rating) = self.written(&line[first.end..])? else { continue };
            let place = (1..=count).find(|&number| number as f64 == index);
            let Some(slot) = place.map(|number| &mut ratings[number - 1]) else {
                return Err(format!("pair {index} of {count} in the line `{}`", shortened(line)));
            };
            if slot.replace(self.in_range(Some(rating), line)?).is_some() {
                return Err(format!("two ratings of pair {index}"));
            }
        }
        let given = ratings.iter().flatten().count();
        ratings.into_iter().collect::<Option<Vec<f64>>>().ok_or_else(|| format!("{given} ratings for {count} pairs"))
    }

    fn written(&self, text: &str) -> Result<Option<f64>, String> {
        let found = numbers(text);
        let mut ratings: Vec<&Number> = Vec::new();
        for (place, number) in found.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| text[found[before].end..number.start].trim());
            // as in `8/10`, `**8**/10`, `8 out of 10`
            let between = before.map(|words| words.trim_matches(['*', '_', '`', ' ']).to_lowercase());
            if !matches!(between.as_deref(), Some("/" | "out of")) {
                ratings.push(number);
            } else if number.value != self.high && place + 1 == found.len() {
                return Err(format!(
                    "a rating out of {}, where {} is the highest: `{}`",
                    number.value,
                    self.high,
                    shortened(text)
                ));
            }
        }
        let Some(last) = ratings.last() else { return Ok(None) };
        let before = text[..last.start].trim_end_matches([' ', '*', '_', '`', '"']);
        if last.value == self.high && ratings.len() > 1 && !before.ends_with([':', '=']) {
            return Err(format!(
                "the last number of several is {}, a rating or the scale: `{}`",
                last.value,
                shortened(text)
            ));
        }
        Ok(Some(last.value))
    }

    fn in_range(&self, rating: Option<f64>, text: &str) -> Result<f64, String> {
        match rating {
            Some(rating) if (self.low..=self.high).contains(&rating) => Ok(rating),
            Some(rating) => Err(format!("the rating {rating}, which is not from {} to {}", self.low, self.high)),
            None => Err(format!("no rating in `{}`", shortened(text))),
        }
    }

    fn expected(&self, choice: &Json) -> Result<f64, String> {
        let likely = choice
            .pointer("/logprobs/content/0/top_logprobs")
            .and_then(Json::as_array)
            .ok_or("no log-probabilities; does the server give `logprobs`?")?;
        let rated = likely.iter().filter_map(|token| {
            let rating: f64 = token["token"].as_str()?.trim().parse().ok()?;
            let probability = token["logprob"].as_f64()?.exp();
            (self.low..=self.high).contains(&rating).then_some((rating, probability))
        });
        let (sum, mass) = rated.fold((0.0, 0.0), |(sum, mass), (rating, p)| (sum + p * rating, mass + p));
        if mass > 0.0 { Ok(sum / mass) } else { Err("no rating among the likeliest first tokens".to_owned()) }
    }
}

fn content(choice: &Json) -> Result<&str, String> {
    choice.pointer("/message/content").and_then(Json::as_str).ok_or_else(|| "no text in its answer".to_owned())
}

/// The first JSON object of a text, which may stand in a fence or a sentence.
fn json_object(text: &str) -> Result<Json, String> {
    let object = text.find('{').and_then(|start| {
        let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Json>();
        objects.next()?.ok()
    });
    object.ok_or_else(|| format!("no JSON object in `{}`", shortened(text)))
}

struct Number {
    value: f64,
    start: usize,
    end: usize,
}

/// The numbers of a text, in their order: `-?digits[.digits]`.
fn numbers(text: &str) -> Vec<Number> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()).map(|start| from + start) {
        let rest = &text[from..start];
        let is_negative = rest.ends_with('-') && !rest[..rest.len() - 1].ends_with(|c: char| c.is_alphanumeric());
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
        if let Ok(number) = text[start..end].trim_end_matches('.').parse::<f64>() {
            let (value, start) = if is_negative { (-number, start - 1) } else { (number, start) };
            found.push(Number { value, start, end });
        }
        from = end;
    }
    found
}

pub(crate) fn shortened(text: &str) -> String {
    // what looks like a key goes before it could be cut in two
    let line = escaped(&redacted(text.trim().lines().next().unwrap_or_default()));
    match line.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choice(text: &str) -> Json {
        json!({ "message": { "content": text } })
    }

    #[test]
    fn the_last_number_is_the_rating() {
        let rating = Rating::default();
        assert_eq!(rating.of_choice(&choice("Both are cats (2 of 2). Rating: 8.5.")), Ok(8.5));
        assert!(rating.of_choice(&choice("Rating: 11")).unwrap_err().contains("not from 0 to 10"));
        assert!(rating.of_choice(&choice("I can't tell")).unwrap_err().contains("no rating"));
        assert!(rating.of_choice(&json!({})).is_err());
        let signed = Rating { low: -1.0, high: 1.0, ..Rating::default() };
        assert_eq!(signed.of_choice(&choice("score: -0.5")), Ok(-0.5));
        let found: Vec<f64> = numbers("a-1 and -2, 3.5.7").iter().map(|number| number.value).collect();
        assert_eq!(found, [1.0, -2.0]);
    }

    #[test]
    fn a_scale_is_never_the_rating() {
        let rating = Rating::default();
        for text in
            ["8/10", "8 / 10.", "**8**/10", "I rate this an 8 out of 10.", "Score: 8.0/10 (see rule 3)? No: 8/10"]
        {
            assert_eq!(rating.of_choice(&choice(text)), Ok(8.0), "{text}");
        }
        assert_eq!(rating.of_choice(&choice("2 of 2 agree. Rating: **10**")), Ok(10.0));
        assert_eq!(rating.of_choice(&choice("10")), Ok(10.0));
        assert_eq!(rating.of_choice(&choice("10/10")), Ok(10.0));
        for (text, wanted) in [
            ("8 on a scale from 0 to 10", "8 on a scale from 0 to 10"),
            ("an 8 out of a possible 10", "an 8 out of a possible 10"),
            ("4/5", "a rating out of 5, where 10 is the highest: `4/5`"),
        ] {
            let message = rating.of_choice(&choice(text)).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
        assert_eq!(rating.of_lines(&choice("1: 8/10\n2: 3 out of 10"), 2), Ok(vec![8.0, 3.0]));
    }

    #[test]
    fn a_field_of_a_fenced_object_is_the_rating() {
        let rating = Rating { read: RatingSource::Json, ..Rating::default() };
        assert_eq!(rating.of_choice(&choice("```json\n{\"why\": \"1\", \"score\": 7}\n```")), Ok(7.0));
        assert_eq!(rating.of_choice(&choice("{\"score\": \"8\"}")), Ok(8.0));
        assert_eq!(rating.of_choice(&choice("{\"score\": \"8/10\"}")), Ok(8.0));
        assert!(rating.of_choice(&choice("{\"points\": 7}")).is_err());
        assert!(rating.of_choice(&choice("{\"score\": ")).unwrap_err().contains("no JSON object"));
    }

    #[test]
    fn the_expected_rating_is_weighed_by_probability() {
        let rating = Rating { read: RatingSource::Logprobs, ..Rating::default() };
        let token = |token: &str, p: f64| json!({ "token": token, "logprob": p.ln() });
        let likely = json!([token("8", 0.5), token(" 6", 0.25), token("The", 0.2), token("99", 0.05)]);
        let rated = json!({ "logprobs": { "content": [{ "top_logprobs": likely }] } });
        let expected = (8.0 * 0.5 + 6.0 * 0.25) / 0.75;
        assert!((rating.of_choice(&rated).unwrap() - expected).abs() < 1e-12);
        assert!(rating.of_choice(&choice("8")).is_err());
    }

    #[test]
    fn lines_carry_the_number_of_their_pair() {
        let rating = Rating::default();
        assert_eq!(rating.of_lines(&choice("Ratings:\n2: 3\n1) 9.5"), 2), Ok(vec![9.5, 3.0]));
        assert!(rating.of_lines(&choice("1: 3"), 2).unwrap_err().contains("1 ratings for 2 pairs"));
        assert!(rating.of_lines(&choice("1: 3\n1: 4"), 2).unwrap_err().contains("two ratings"));
        assert!(rating.of_lines(&choice("3: 3\n1: 4"), 2).unwrap_err().contains("pair 3 of 2"));
    }
}

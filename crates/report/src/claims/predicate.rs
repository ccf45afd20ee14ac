//! Predicates of claims: `accuracy(method=sms_nystrom, comparison=small_rank) >= accuracy(method=exact) - 0.02`.
//!
//! ```text
//! predicate := sum ("<" | "<=" | ">" | ">=") sum
//! sum       := product (("+" | "-") product)*
//! product   := factor (("*" | "/") factor)*
//! factor    := number | "(" sum ")" | rows | ("min" | "max" | "mean" | "abs") "(" sum ")"
//!            | "share_within" "(" number "," sum ")" | "entry_share" "(" rows ")"
//! rows      := metric "(" [axis "=" value ("," axis "=" value)*] ")"
//! ```
//!
//! A metric stands for the means of the rows that its axes select, one for each place along the axes that are left free. Both sides are matched
//! along what both leave free; `columns=any` leaves an axis free and matches nothing, `columns=largest` and `columns=smallest` are what they name for
//! each dataset, number of its items and comparison. `min`, `max` and `mean` take all places together; so does `share_within`, the share of places
//! that are nearer to zero than a number. `entry_share` is what such rows cost instead of what they measure: entries asked for over the n² of K, a fraction. A `run` and
//! a `rank` are no place unless they are written.

use crate::results::Metric;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Predicate {
    pub(super) left: Expression,
    pub(super) relation: Relation,
    pub(super) right: Expression,
}

/// Relation of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    AtMost,
    More,
    AtLeast,
}

/// A number made of published rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Rows(Term),
    /// Entries that these rows asked for, as a share of n².
    EntryShare(Term),
    Pair(Operator, Box<Self>, Box<Self>),
    Over(Fold, Box<Self>),
    Abs(Box<Self>),
    /// Share of all places whose number is nearer to zero than this.
    ShareWithin(f64, Box<Self>),
}

/// Rows of one metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) metric: Metric,
    /// Axis and value wanted, in the order written.
    pub(super) axes: Vec<(Axis, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

/// All places of an expression as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Min,
    Max,
    Mean,
}

/// Axis along which rows are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Axis {
    Dataset,
    Items,
    Method,
    Comparison,
    Run,
    Columns,
    Rank,
    Position,
}

impl Axis {
    pub(super) const ALL: [(&'static str, Self); 8] = [
        ("dataset", Self::Dataset),
        ("items", Self::Items),
        ("method", Self::Method),
        ("comparison", Self::Comparison),
        ("run", Self::Run),
        ("columns", Self::Columns),
        ("rank", Self::Rank),
        ("position", Self::Position),
    ];

    /// The name in a predicate.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, axis)| *axis == self).map_or("", |(name, _)| name)
    }
}

impl Relation {
    /// Distance of the left side from the right one, positive on the good side.
    pub(super) fn margin(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Less | Self::AtMost => right - left,
            Self::More | Self::AtLeast => left - right,
        }
    }

    /// True where a margin satisfies it.
    pub(super) fn holds(self, margin: f64) -> bool {
        match self {
            Self::Less | Self::More => margin > 0.0,
            Self::AtMost | Self::AtLeast => margin >= 0.0,
        }
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "≤",
            Self::More => ">",
            Self::AtLeast => "≥",
        }
    }
}

impl Expression {
    /// Every term in it, left to right.
    pub(super) fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Rows(term) | Self::EntryShare(term) => vec![term],
            Self::Over(_, inner) | Self::Abs(inner) | Self::ShareWithin(_, inner) => inner.terms(),
            Self::Pair(_, left, right) => [left.terms(), right.terms()].concat(),
        }
    }
}

impl Predicate {
    /// Reads one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text };
        let left = reader.sum()?;
        let relation = reader.relation()?;
        let right = reader.sum()?;
        match reader.peek() {
            None if left.terms().is_empty() && right.terms().is_empty() => Err("no metric stands in it".to_owned()),
            None => Ok(Self { left, relation, right }),
            Some(_) => Err(format!("`{}` is left over", reader.rest.trim())),
        }
    }

    pub(super) fn terms(&self) -> Vec<&Term> {
        [self.left.terms(), self.right.terms()].concat()
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.peek();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(format!("`{wanted}` is missing before `{}`", self.rest)) }
    }

    fn relation(&mut self) -> Result<Relation, String> {
        let signs = [("<=", Relation::AtMost), (">=", Relation::AtLeast), ("<", Relation::Less), (">", Relation::More)];
        let found = signs.into_iter().find(|(sign, _)| self.take(sign));
        found
            .map(|(_, relation)| relation)
            .ok_or_else(|| format!("`<`, `<=`, `>` or `>=` is missing before `{}`", self.rest))
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.chain(&[("+", Operator::Plus), ("-", Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.chain(&[("*", Operator::Times), ("/", Operator::Over)], Self::factor)
    }

    fn chain(
        &mut self,
        signs: &[(&str, Operator)],
        part: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = part(self)?;
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.take(sign)) {
            left = Expression::Pair(*operator, Box::new(left), Box::new(part(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        if self.take("(") {
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.peek().is_some_and(|c| c.is_ascii_digit() || c == '.') {
            return self.number().map(Expression::Number);
        }
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(format!("a metric or a number is missing before `{}`", self.rest));
        }
        self.expect("(")?;
        if name == "abs" {
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(Expression::Abs(Box::new(inner)));
        }
        if name == "share_within" {
            let bound = self.number()?;
            self.expect(",")?;
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(Expression::ShareWithin(bound, Box::new(inner)));
        }
        if name == "entry_share" {
            if !self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                return Err(format!("a metric is missing before `{}`", self.rest));
            }
            let metric = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
            self.expect("(")?;
            let rows = self.rows_of(metric)?;
            self.expect(")")?;
            return Ok(Expression::EntryShare(rows));
        }
        let fold =
            [("min", Fold::Min), ("max", Fold::Max), ("mean", Fold::Mean)].into_iter().find(|(id, _)| *id == name);
        if let Some((_, fold)) = fold {
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(Expression::Over(fold, Box::new(inner)));
        }
        self.rows_of(name).map(Expression::Rows)
    }

    /// The axes of a metric whose bracket is open.
    fn rows_of(&mut self, metric: &str) -> Result<Term, String> {
        let metric = Metric::parse(metric).ok_or_else(|| unknown("metric", metric, Metric::ids()))?;
        Ok(Term { metric, axes: self.axes()? })
    }

    fn number(&mut self) -> Result<f64, String> {
        if !self.peek().is_some_and(|c| c.is_ascii_digit() || c == '.') {
            return Err(format!("a number is missing before `{}`", self.rest));
        }
        let number = self.word(|c| c.is_ascii_digit() || matches!(c, '.' | '_' | 'e'));
        number.replace('_', "").parse().map_err(|_| format!("`{number}` is no number"))
    }

    /// `axis=value, …)`.
    fn axes(&mut self) -> Result<Vec<(Axis, String)>, String> {
        let mut axes: Vec<(Axis, String)> = Vec::new();
        while !self.take(")") {
            if !axes.is_empty() {
                self.expect(",")?;
            }
            self.peek();
            let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
            let axis = Axis::ALL.iter().find(|(id, _)| *id == name);
            let (_, axis) = axis.ok_or_else(|| unknown("axis", name, Axis::ALL.into_iter().map(|(id, _)| id)))?;
            if axes.iter().any(|(known, _)| known == axis) {
                return Err(format!("`{name}` is given twice"));
            }
            self.expect("=")?;
            axes.push((*axis, self.value()?));
        }
        Ok(axes)
    }

    /// A value: up to the next comma or bracket, or between double quotes.
    fn value(&mut self) -> Result<String, String> {
        if self.take("\"") {
            let value = self.word(|c| c != '"').to_owned();
            self.expect("\"")?;
            return Ok(value);
        }
        self.peek();
        let value = self.word(|c| !matches!(c, ',' | ')' | '(')).trim();
        if value.is_empty() { Err(format!("a value is missing before `{}`", self.rest)) } else { Ok(value.to_owned()) }
    }

    fn word(&mut self, is_in: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_in(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// `there is no metric `acuracy`; did you mean `accuracy`?`
pub(super) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match landmark_yaml::did_you_mean(name, known) {
        Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
        None => format!("there is no {what} `{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_reads_as_it_is_written() {
        let predicate = Predicate::parse(
            "accuracy(method=sms_nystrom, comparison=small_rank) >= 2 * accuracy(method=\"shift_ridge + known\", columns=any) - 0.02",
        )
        .unwrap();
        assert_eq!(predicate.relation, Relation::AtLeast);
        let terms = predicate.terms();
        assert_eq!(terms[0].axes[1], (Axis::Comparison, "small_rank".to_owned()));
        assert_eq!(terms[1].axes[0], (Axis::Method, "shift_ridge + known".to_owned()));
        let Expression::Pair(Operator::Minus, product, number) = predicate.right else { panic!("a difference") };
        assert_eq!(*number, Expression::Number(0.02));
        assert!(matches!(*product, Expression::Pair(Operator::Times, ..)));
    }

    #[test]
    fn faults_name_the_word_and_the_nearest_one() {
        let error = |text: &str| Predicate::parse(text).unwrap_err();
        assert_eq!(error("acuracy() > 1"), "there is no metric `acuracy`; did you mean `accuracy`?");
        assert_eq!(error("accuracy(metod=a) > 1"), "there is no axis `metod`; did you mean `method`?");
        assert_eq!(error("accuracy() = 1"), "`<`, `<=`, `>` or `>=` is missing before `= 1`");
        assert_eq!(error("accuracy() > 1 2"), "`2` is left over");
        assert_eq!(error("accuracy(rank=) > 1"), "a value is missing before `) > 1`");
        assert_eq!(error("accuracy(rank=1, rank=2) > 1"), "`rank` is given twice");
        assert_eq!(error("accuracy(rank=1 > 1"), "`,` is missing before ``");
        assert_eq!(error("1 > 0.5"), "no metric stands in it");
        assert_eq!(error("share_within(rank, accuracy()) > 1"), "a number is missing before `rank, accuracy()) > 1`");
        assert_eq!(error("entry_share(0.5) > 1"), "a metric is missing before `0.5) > 1`");
        assert_eq!(error("> 1"), "a metric or a number is missing before `> 1`");
    }
}

//! Parameters outside their range: one error for everything that takes any.

use std::fmt;

/// Parameter outside its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadParameter {
    /// Method, policy or metric that takes it, as the message begins; empty where the parameter's name is enough.
    pub owner: String,
    pub parameter: &'static str,
    pub value: String,
    pub wanted: String,
}

impl BadParameter {
    pub fn new(parameter: &'static str, value: impl ToString, wanted: &str) -> Self {
        Self { owner: String::new(), parameter, value: value.to_string(), wanted: wanted.to_owned() }
    }

    /// The same of a method or metric by its id.
    #[must_use]
    pub fn of(self, id: &str) -> Self {
        Self { owner: format!("`{id}`"), ..self }
    }
}

impl fmt::Display for BadParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, parameter, value, wanted } = self;
        if !owner.is_empty() {
            write!(f, "{owner}: ")?;
        }
        write!(f, "`{parameter}` is {value}, but must be {wanted}")
    }
}

impl std::error::Error for BadParameter {}

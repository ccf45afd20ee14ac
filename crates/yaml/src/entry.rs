//! Names that a configuration can hold: their ids, what they are, and the keys they take.

/// A key that an entry takes in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The key.
    pub name: &'static str,
    /// The value it has when it is not written; empty where it must be.
    pub default: &'static str,
    /// A value to show where it must be written.
    pub example: &'static str,
    /// One line: its effect.
    pub doc: &'static str,
}

/// Something a configuration can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The stable name.
    pub id: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// The keys it takes.
    pub parameters: &'static [Parameter],
    /// Paper and section, or where it can be had.
    pub source: &'static str,
}

/// A [`Parameter`] that may be left out.
pub const fn parameter(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, default, example: "", doc }
}

/// A [`Parameter`] that must be written.
pub const fn required(name: &'static str, example: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, default: "", example, doc }
}

/// The entry of this id.
pub fn find(list: &'static [Entry], id: &str) -> Option<&'static Entry> {
    list.iter().find(|entry| entry.id == id)
}

/// All ids of a list, in its order.
pub fn ids(list: &'static [Entry]) -> impl Iterator<Item = &'static str> + Clone {
    list.iter().map(|entry| entry.id)
}

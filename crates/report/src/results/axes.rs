//! Axes that a row lies along, by name: `rank`, `m`, `share`. A study adds an axis by naming it; what is known of the usual ones stands in [`AXES`].

use std::cmp::Ordering;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::Notation;

/// An axis: how it is labelled, and the heads of its places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    pub name: &'static str,
    pub label: &'static str,
    /// Head of a place in tables, which takes the value for `{}`.
    head: &'static str,
    /// Head of the place 0, where that is none.
    nowhere: Option<&'static str>,
    pub notation: Notation,
    /// True where equal factors are equal lengths.
    pub is_logarithmic: bool,
    /// Columns of the stored rows that hold it, besides its name.
    pub(super) columns: &'static [Column],
}

/// Columns of the stored rows that hold the axes of many experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Columns,
    Rank,
    Position,
}

/// The share s/n of a sweep: `columns` over the number of items.
pub(super) const FRACTION: &str = "fraction";

const PLAIN: Axis = Axis {
    name: "",
    label: "",
    head: "",
    nowhere: None,
    notation: Notation::Whole,
    is_logarithmic: false,
    columns: &[],
};
const SIZE: &[Column] = &[Column::Columns, Column::Rank];

/// The axes that have words of their own.
pub const AXES: [Axis; 16] = [
    Axis { name: "columns", label: "columns s", head: "s = {}", columns: &[Column::Columns], ..PLAIN },
    Axis { name: "rank", label: "rank", head: "rank {}", columns: &[Column::Rank], ..PLAIN },
    Axis { name: FRACTION, label: "share of landmarks s/n", head: "s/n = {}", notation: Notation::Fixed(2), ..PLAIN },
    Axis { name: "position", label: "position", head: "{}", columns: &[Column::Position], ..PLAIN },
    Axis { name: "trial", label: "trial", head: "trial {}", columns: &[Column::Position], ..PLAIN },
    Axis { name: "epoch", label: "epoch", head: "epoch {}", columns: &[Column::Position], ..PLAIN },
    Axis { name: "landmarks", label: "landmarks", head: "{} landmarks", columns: SIZE, ..PLAIN },
    Axis {
        name: "m",
        label: "projections m",
        head: "m = {}",
        nowhere: Some("no features"),
        is_logarithmic: true,
        columns: SIZE,
        ..PLAIN
    },
    Axis { name: "t", label: "budget of randomness t", head: "t = {}", is_logarithmic: true, columns: SIZE, ..PLAIN },
    Axis { name: "n", label: "dimension n", head: "n = {}", is_logarithmic: true, columns: SIZE, ..PLAIN },
    Axis { name: "recall", label: "recall stated", head: "ρ = {}", notation: Notation::Fixed(2), ..PLAIN },
    Axis { name: "calls", label: "calls per item", head: "{} calls", is_logarithmic: true, columns: SIZE, ..PLAIN },
    Axis {
        name: "query_calls",
        label: "calls per query",
        head: "{} calls",
        is_logarithmic: true,
        columns: &[Column::Columns],
        ..PLAIN
    },
    Axis { name: "sketch_rows", label: "rows of the sketch", head: "l = {}", columns: &[Column::Columns], ..PLAIN },
    Axis { name: "batches", label: "batches", head: "{} batches", columns: &[Column::Rank], ..PLAIN },
    Axis {
        name: "share",
        label: "share of the unlabeled text (%)",
        head: "{} % of the text",
        columns: &[Column::Position],
        ..PLAIN
    },
];

impl Axis {
    /// The axis of this name; one without words of its own is labelled with its name.
    pub fn of(name: &'static str) -> Self {
        let known = AXES.iter().find(|axis| axis.name == name);
        known.copied().unwrap_or(Self { name, label: name, notation: Notation::Fixed(2), ..PLAIN })
    }

    /// Head of a column of a table at this place.
    pub fn head(&self, value: f64) -> String {
        let value_words = match self.notation {
            Notation::Fixed(decimals) if !self.head.is_empty() => format!("{value:.decimals$}"),
            _ => value.to_string(),
        };
        match self.nowhere {
            Some(words) if value == 0.0 => words.to_owned(),
            _ if self.head.is_empty() => format!("{} = {value_words}", self.label),
            _ => self.head.replace("{}", &value_words),
        }
    }
}

/// Columns that hold the axis of this name; none of one that is new.
fn columns_of(name: &str) -> &'static [Column] {
    AXES.iter().find(|axis| axis.name == name).map_or(&[], |axis| axis.columns)
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// A number; whole ones are stored without a point.
    Number(f64),
    Word(String),
}

impl Place {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Word(_) => None,
        }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Word(a), Self::Word(b)) => a.cmp(b),
            (Self::Number(_), Self::Word(_)) => Ordering::Less,
            (Self::Word(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

macro_rules! place_of {
    ($($number:ty),*) => {
        $(impl From<$number> for Place {
            fn from(number: $number) -> Self {
                Self::Number(number as f64)
            }
        })*
    };
}
place_of!(f64, i32, u64, usize);

impl From<&str> for Place {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

/// Whole numbers that a double holds exactly.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A count that was stored as a number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: f64) -> Option<u64> {
    // checked: whole, and within what both types hold
    (number.fract() == 0.0 && (0.0..WHOLE).contains(&number)).then_some(number as u64)
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => serializer.serialize_str(word),
            Self::Number(number) => match whole(*number) {
                Some(count) => serializer.serialize_u64(count),
                None => serializer.serialize_f64(*number),
            },
        }
    }
}

/// The places of a row along its axes, in the order they were named; an object in files.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Axes(Vec<(String, Place)>);

impl Axes {
    pub fn set(&mut self, name: &str, place: impl Into<Place>) {
        let place = place.into();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = place,
            None => self.0.push((name.to_owned(), place)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.0.iter().map(|(name, place)| (name.as_str(), place))
    }

    pub fn get(&self, name: &str) -> Option<&Place> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, place)| place)
    }

    /// Number along the axis of this name. Names that share a stored column stand for each other: a rank may be asked of every row,
    /// and `m` of one that was written before axes had names.
    pub fn number(&self, name: &str) -> Option<f64> {
        let by_name = self.get(name).and_then(Place::number);
        by_name.or_else(|| columns_of(name).iter().find_map(|&column| self.in_column(column)))
    }

    fn in_column(&self, column: Column) -> Option<f64> {
        let held = self.0.iter().find(|(name, _)| columns_of(name).contains(&column));
        held.and_then(|(_, place)| place.number())
    }

    pub(super) fn count(&self, column: Column) -> Option<u64> {
        self.in_column(column).and_then(whole)
    }

    /// Axes as the columns alone give them; 0 is the size of what has none.
    pub(super) fn of_columns(columns: u64, rank: u64, position: Option<u64>) -> Self {
        let mut axes = Self::default();
        if columns > 0 || rank > 0 {
            axes.set("columns", columns);
            axes.set("rank", rank);
        }
        if let Some(position) = position {
            axes.set("position", position);
        }
        axes
    }

    /// Axes that distinguish the groups of a size, ascending: rank, position, and those that no stored column holds.
    pub(crate) fn place(&self) -> (Option<Place>, Option<Place>, Vec<(&str, &Place)>) {
        let others = self.iter().filter(|(name, _)| columns_of(name).is_empty());
        let in_column = |column| self.in_column(column).map(Place::Number);
        (in_column(Column::Rank), in_column(Column::Position), others.collect())
    }
}

/// `columns 100, rank 50`.
impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, place)) in self.iter().enumerate() {
            write!(f, "{}{name} {place}", if number > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl Serialize for Axes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let places = Map::<String, Json>::deserialize(deserializer)?;
        let place = |(name, place)| Ok((name, Place::deserialize(place).map_err(D::Error::custom)?));
        places.into_iter().map(place).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(places: &[(&str, f64)]) -> Axes {
        let mut axes = Axes::default();
        places.iter().for_each(|&(name, place)| axes.set(name, place));
        axes
    }

    #[test]
    fn names_of_one_stored_column_stand_for_each_other() {
        let named = axes(&[("m", 64.0)]);
        assert_eq!(
            (named.number("m"), named.number("rank"), named.number("columns")),
            (Some(64.0), Some(64.0), Some(64.0))
        );
        let before_names = Axes::of_columns(64, 64, Some(3));
        assert_eq!((before_names.number("m"), before_names.number("trial")), (Some(64.0), Some(3.0)));
        let both = axes(&[("sketch", 100.0), ("batches", 4.0)]);
        assert_eq!(
            (both.number("rank"), both.number("columns"), both.number("sketch")),
            (Some(4.0), None, Some(100.0))
        );
    }

    #[test]
    fn places_are_stored_in_their_order_and_whole_numbers_without_a_point() {
        let mut written = axes(&[("z", 0.25), ("m", 64.0)]);
        written.set("rule", "farthest");
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(text, r#"{"z":0.25,"m":64,"rule":"farthest"}"#);
        assert_eq!(serde_json::from_str::<Axes>(&text).unwrap(), written);
        assert_eq!(written.to_string(), "z 0.25, m 64, rule farthest");
    }

    #[test]
    fn heads_are_those_of_the_axis_and_a_new_one_is_called_by_its_name() {
        assert_eq!(Axis::of("rank").head(100.0), "rank 100");
        assert_eq!(Axis::of("fraction").head(0.1), "s/n = 0.10");
        assert_eq!(
            (Axis::of("m").head(0.0), Axis::of("m").head(16.0)),
            ("no features".to_owned(), "m = 16".to_owned())
        );
        assert_eq!((Axis::of("margin").head(0.5), Axis::of("margin").label), ("margin = 0.5".to_owned(), "margin"));
    }
}

//! A plot of the page about one matrix, in plain data.

use crate::results::Notation;

#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What is seen, for a screen reader.
    pub title: String,
    pub x: PlotAxis,
    pub y: PlotAxis,
    /// From back to front.
    pub marks: Vec<Mark>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlotAxis {
    pub label: String,
    pub notation: Notation,
    /// True where equal factors are equal lengths.
    pub is_logarithmic: bool,
    /// Values that must be inside, whatever is drawn.
    pub holds: Vec<f64>,
}

/// Something drawn; `ink` is one of eight colors, `name` stands in the legend unless it is empty.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Left, right and height of each.
    Bars { name: String, ink: usize, bars: Vec<[f64; 3]> },
    /// x, y and the ends of the interval of y.
    Curve { name: String, ink: usize, points: Vec<(f64, f64, f64, f64)> },
    /// A line that is no measurement.
    Dashed { name: String, ink: usize, points: Vec<(f64, f64)> },
    /// A hollow one is no measurement.
    Dots { name: String, ink: usize, points: Vec<(f64, f64)>, is_hollow: bool },
}

impl PlotAxis {
    pub fn linear(label: impl Into<String>, notation: Notation) -> Self {
        Self { label: label.into(), notation, is_logarithmic: false, holds: Vec::new() }
    }

    /// The same with equal lengths for equal factors.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { is_logarithmic: true, ..self }
    }

    /// The same with these values inside.
    #[must_use]
    pub fn holding(self, values: &[f64]) -> Self {
        Self { holds: values.to_vec(), ..self }
    }
}

//! The link as it was fitted: of the main proxy alone, or of all proxies and of the hubness of the items.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Zip};
use rayon::prelude::*;

use super::link::FittedLink;
use crate::approximation::NewScores;
use crate::hubness::{HubLink, Hubness};
use crate::oracle::{Oracle, OracleError, Pair, ask_block, ask_pairs};

/// K ≈ q of the proxies, of which there may be several; their numbers are those in which they were handed over.
#[derive(Debug, Clone)]
pub(super) enum Fitted {
    /// q(p) of one of them.
    Pair {
        main: usize,
        link: FittedLink,
    },
    All {
        order: Vec<usize>,
        link: HubLink,
        hubness: Arc<Hubness>,
        columns: Vec<usize>,
    },
}

impl Fitted {
    pub(super) fn main(&self) -> usize {
        match self {
            Self::Pair { main, .. } => *main,
            Self::All { order, .. } => order[0],
        }
    }

    pub(super) fn order(&self) -> Vec<usize> {
        match self {
            Self::Pair { main, .. } => vec![*main],
            Self::All { order, .. } => order.clone(),
        }
    }

    /// True where the link knows the hubness of an item.
    pub(super) fn knows_hubness(&self) -> bool {
        matches!(self, Self::All { hubness, .. } if hubness.is_known())
    }

    /// Every number that decides the values of the proxies, as bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let bytes = |numbers: &mut dyn Iterator<Item = f64>| numbers.flat_map(f64::to_le_bytes).collect();
        match self {
            Self::Pair { link, .. } => bytes(&mut link.numbers().into_iter()),
            Self::All { link, hubness, .. } => bytes(&mut link.numbers().chain(hubness.numbers())),
        }
    }

    pub(super) fn used<'p>(&self, proxies: &[&'p dyn Oracle]) -> Vec<&'p dyn Oracle> {
        match self {
            Self::Pair { main, .. } => vec![proxies[*main]],
            Self::All { order, .. } => order.iter().map(|&number| proxies[number]).collect(),
        }
    }

    pub(super) fn known_diagonal(&self, proxies: &[&dyn Oracle]) -> Option<f64> {
        match self {
            Self::Pair { main, link } => proxies[*main].known_diagonal().map(|score| link.at(score)),
            Self::All { .. } => None,
        }
    }

    /// `out[k]` = value at `pairs[k]`.
    pub(super) fn evaluate(&self, proxies: &[&dyn Oracle], pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let used = self.used(proxies);
        match self {
            Self::Pair { link, .. } => {
                ask_pairs(used[0], pairs, out)?;
                out.iter_mut().for_each(|score| *score = link.at(*score));
            }
            Self::All { link, hubness, .. } => {
                let mut scores = Array2::zeros((used.len(), pairs.len()));
                for (proxy, mut scores) in used.iter().zip(scores.rows_mut()) {
                    // a row of a fresh array is contiguous
                    ask_pairs(*proxy, pairs, scores.as_slice_mut().expect("contiguous"))?;
                }
                let h = hubness.values();
                let mut proxies = vec![0.0; used.len()];
                for ((&(i, j), scores), out) in pairs.iter().zip(scores.columns()).zip(out) {
                    proxies.iter_mut().zip(scores).for_each(|(proxy, score)| *proxy = *score);
                    *out = link.at((h[i], h[j]), &proxies);
                }
            }
        }
        Ok(())
    }

    /// Fills `out` (rows.len() × cols.len()).
    pub(super) fn block(
        &self,
        proxies: &[&dyn Oracle],
        rows: &[usize],
        cols: &[usize],
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), OracleError> {
        let used = self.used(proxies);
        match self {
            Self::Pair { .. } => {
                ask_block(used[0], rows, cols, out.view_mut())?;
                self.link_main(out);
            }
            Self::All { link, hubness, .. } => {
                let blocks = used
                    .iter()
                    .map(|proxy| {
                        let mut block = Array2::zeros(out.dim());
                        ask_block(*proxy, rows, cols, block.view_mut()).map(|()| block)
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                let blocks: Vec<_> = blocks.iter().map(Array2::view).collect();
                let h = hubness.values();
                let of = |items: &[usize]| items.iter().map(|&i| h[i]).collect::<Vec<_>>();
                fill(link, &of(rows), &of(cols), &blocks, out);
            }
        }
        Ok(())
    }

    /// Scores of the main proxy → q of them, in parallel.
    fn link_main(&self, scores: ArrayViewMut2<'_, f64>) {
        if let Self::Pair { link, .. } = self {
            Zip::from(scores).par_for_each(|score| *score = link.at(*score));
        }
    }

    /// Values of new items, whose hubness comes from their similarities to the `landmarks`.
    pub(super) fn of_new(&self, landmarks: &[usize], new: &NewScores<'_, '_>) -> Array2<f64> {
        match self {
            Self::Pair { main, .. } => {
                let mut values = new.proxies[*main].clone();
                self.link_main(values.view_mut());
                values
            }
            Self::All { order, link, hubness, columns } => {
                let place = |column: &usize| landmarks.iter().position(|landmark| landmark == column);
                let places: Vec<Option<usize>> = columns.iter().map(place).collect();
                let score = |row: ndarray::ArrayView1<'_, f64>, place: &Option<usize>| {
                    place.map_or(f64::NAN, |place| row[place])
                };
                let of_new =
                    |row: ndarray::ArrayView1<'_, f64>| hubness.of_new(places.iter().map(|place| score(row, place)));
                let rows: Vec<f64> = new.similarities.rows().into_iter().map(of_new).collect();
                let cols: Vec<f64> = new.items.iter().map(|&item| hubness.values()[item]).collect();
                let blocks: Vec<_> = order.iter().map(|&number| new.proxies[number].view()).collect();
                let mut values = Array2::zeros((rows.len(), cols.len()));
                fill(link, &rows, &cols, &blocks, values.view_mut());
                values
            }
        }
    }
}

/// `out` = link of the proxies' blocks, the hubness of the rows and that of the columns; in parallel.
fn fill(link: &HubLink, rows: &[f64], cols: &[f64], blocks: &[ArrayView2<'_, f64>], mut out: ArrayViewMut2<'_, f64>) {
    out.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(a, mut line)| {
        let mut proxies = vec![0.0; blocks.len()];
        for ((b, value), &other) in line.iter_mut().enumerate().zip(cols) {
            proxies.iter_mut().zip(blocks).for_each(|(proxy, block)| *proxy = block[[a, b]]);
            *value = link.at((rows[a], other), &proxies);
        }
    });
}

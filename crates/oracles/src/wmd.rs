//! Word mover's distance (Kusner et al. 2015): how far the words of one document must travel to become another's.
//!
//! `WMD(x, y) = emd(|x_i − y_j|, weights of x, weights of y)`: Euclidean distance between word vectors, normalized word
//! counts as masses, stop words and unknown words left out beforehand. Two lower bounds, far cheaper, come with it:
//! `WCD ≤ WMD` (distance of the centroids) and `RWMD ≤ WMD` (every word goes to its nearest); both serve as proxies.
//! Distances to random documents make the features of [`wme`].
//!
//! ```
//! use std::sync::Arc;
//! use landmark_core::oracle::Oracle;
//! use landmark_data::BagsOfWords;
//! use landmark_oracles::wmd::{EmptyDocuments, Wmd, WordClouds};
//! use ndarray::array;
//!
//! let vectors = array![[0.0_f32, 0.0], [3.0, 4.0], [0.0, 1.0]];
//! let bags = BagsOfWords::from_counts([vec![(0, 1.0)], vec![(1, 1.0)], vec![(0, 1.0), (2, 1.0)]]);
//! let wmd = Wmd::new(Arc::new(WordClouds::new(&bags, vectors.view(), EmptyDocuments::Error)?));
//! let mut distances = [0.0; 2];
//! wmd.evaluate(&[(0, 1), (0, 2)], &mut distances)?;
//! assert_eq!(distances, [5.0, 0.5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A word that both documents have stays where it is as far as both weigh it: with a metric below, some cheapest flow
//! never moves what is already in place, so min(a_w, b_w) is cancelled before the solver sees the pair.
//!
//! Cost of a pair of documents with m and n words in d dimensions: its share of the distance tables
//! (`distance_tables.rs`: at most d·m·n, far less where row documents share words) and one transportation problem
//! (`transport.rs`). Nothing is allocated per pair. With a cutoff (`cutoff.rs`), pairs that the bounds prove far apart are not solved.

pub mod wme;

mod bounds;
mod cutoff;
mod distance_tables;
mod emd;
mod points;
mod processor;
mod transport;
mod word_clouds;

use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};

pub use bounds::{Rwmd, Wcd, rwmd, wcd};
pub use emd::{EmdError, EmdScratch, SUM_TOLERANCE, Side, Transport, emd, emd_with_flow};
pub use points::ground_distances;
pub use word_clouds::{EmptyDocuments, WordCloudError, WordClouds};

use cutoff::Cutoff;
use distance_tables::{PairTable, score_pairs};
use emd::UNITS;

/// Word mover's distance between documents: a metric where different words have different vectors.
#[derive(Debug, Clone)]
pub struct Wmd {
    clouds: Arc<WordClouds>,
    cutoff: Option<Arc<Cutoff>>,
}

impl Wmd {
    /// The distance over these documents.
    pub fn new(clouds: Arc<WordClouds>) -> Self {
        Self { clouds, cutoff: None }
    }

    /// The distance where it may be below `cutoff`; a pair that [`wcd`] or [`rwmd`] proves at least that far apart gets the bound
    /// instead. Through exp(−γ·) such an entry is off by exp(−γ · cutoff) at most.
    pub fn with_cutoff(clouds: Arc<WordClouds>, cutoff: f64) -> Result<Self, OracleError> {
        let cutoff = Cutoff::new(&clouds, cutoff)?;
        Ok(Self { clouds, cutoff: Some(Arc::new(cutoff)) })
    }

    /// Pairs that were not solved so far, because a bound reached the cutoff; counted by this value and its clones.
    pub fn skipped(&self) -> u64 {
        self.cutoff.as_ref().map_or(0, |cutoff| cutoff.skipped())
    }

    pub fn clouds(&self) -> &Arc<WordClouds> {
        &self.clouds
    }
}

impl Oracle for Wmd {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(0.0), ..OracleShape::symmetric(self.clouds.len()) }
    }

    fn identity(&self) -> Identity {
        let clouds = self.clouds.identity();
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"wmd"), ("version", b"1"), ("clouds", clouds.as_bytes())];
        let cutoff = self.cutoff.as_ref().map(|cutoff| cutoff.distance.to_le_bytes());
        parts.extend(cutoff.as_ref().map(|distance| ("cutoff", &distance[..])));
        Identity::of(&parts)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.clouds.check(pairs, out.len(), "wmd")?;
        match &self.cutoff {
            None => score_pairs(&self.clouds, pairs, out, WmdScratch::distance),
            Some(cutoff) => cutoff.evaluate(&self.clouds, pairs, out)?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct WmdScratch {
    emd: EmdScratch,
    /// Units of the column document that are not cancelled.
    left: Vec<f64>,
}

impl WmdScratch {
    fn distance(&mut self, pair: &PairTable<'_>) -> f64 {
        let EmdScratch { rows, columns, .. } = &mut self.emd;
        rows.clear();
        columns.clear();
        self.left.clear();
        self.left.extend_from_slice(pair.column.units);
        for (k, &units) in pair.row.units.iter().enumerate() {
            let in_place = pair.twin(k).map_or(0.0, |twin| {
                let in_place = units.min(self.left[twin]);
                self.left[twin] -= in_place;
                in_place
            });
            if in_place < units {
                rows.push(k, units - in_place);
            }
        }
        for (k, &units) in self.left.iter().enumerate() {
            if units > 0.0 {
                columns.push(k, units);
            }
        }
        let (m, n) = (rows.points.len(), columns.points.len());
        if m == 0 {
            return 0.0; // the same words in the same proportions
        }
        // one rule for both orders of a pair, so that f(i, j) = f(j, i) bit for bit: fewer points are the solver's rows,
        // which is also the faster way round
        let transposed = m > n || (m == n && !pair.row_comes_first);
        self.emd.load(|k| pair.distances(k), transposed);
        self.emd.problem.solve() / UNITS
    }
}

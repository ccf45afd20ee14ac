//! Confusion and doubt of labels that a linear machine gives: what `classify` leaves for the page next to its table.

use std::collections::BTreeSet;

use landmark_core::rank::RankCmp;
use landmark_tasks::TaskError;
use landmark_tasks::cross_validation::stratified_folds;
use landmark_tasks::linear_svm::LinearSvmParams;
use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// Items in doubt that are kept.
const DOUBTFUL: usize = 100;

/// What is known of the labels that `classify` gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelsReport {
    /// Labels, in the order of the confusion matrix.
    pub names: Vec<String>,
    /// Labelled items that were learned from.
    pub learned: usize,
    /// C of the machine.
    pub cost: f64,
    /// How the confusion was measured, in words.
    pub judged: String,
    /// `confusion[a][b]`: items of label a that were predicted b, each by a machine that had not seen it.
    pub confusion: Vec<Vec<u64>>,
    /// Items whose label is least certain, the least certain first.
    pub doubtful: Vec<Doubtful>,
}

/// An item whose label is in doubt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Doubtful {
    pub id: String,
    pub label: String,
    /// The label that came next.
    pub second: String,
    /// Score of the first label above that of the second.
    pub margin: f64,
}

/// Labelled and other items of factors, and the machine that learns from some of them.
#[derive(Debug, Clone, Copy)]
pub struct Judgment<'a> {
    /// Z, n × r.
    pub vectors: ArrayView2<'a, f64>,
    /// A label of each item, looked at only where it is given: in `train` and `tested`.
    pub labels: &'a [usize],
    pub names: &'a [&'a str],
    pub train: &'a [usize],
    /// Items with a label that were not learned from.
    pub tested: &'a [usize],
    /// Items that were labeled now, the tested ones among them.
    pub predicted: &'a [usize],
    pub ids: &'a [String],
    /// The machine, its C chosen.
    pub machine: &'a LinearSvmParams,
    /// Folds where nothing is tested.
    pub folds: usize,
    pub seed: u64,
}

/// First and second label of an item, and by how much they are apart.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    item: usize,
    first: usize,
    second: usize,
    margin: f64,
}

impl Judgment<'_> {
    /// Confusion over the tested items, or over those learned from by cross-validation; doubt over what was labeled now, or else the same.
    pub fn report(&self) -> Result<LabelsReport, TaskError> {
        let judged = match self.tested {
            [] => self.crossed()?,
            tested => self.ranked(self.train, tested)?,
        };
        let mut confusion = vec![vec![0; self.names.len()]; self.names.len()];
        judged.iter().for_each(|one| confusion[self.labels[one.item]][one.first] += 1);
        let mut doubtful = match self.predicted {
            [] => judged,
            predicted => self.ranked(self.train, predicted)?,
        };
        doubtful.sort_by(|one, other| one.margin.rank_cmp(&other.margin).then(one.item.cmp(&other.item)));
        let name = |label: usize| self.names.get(label).map_or_else(String::new, |name| (*name).to_owned());
        let doubt = |one: &Ranked| Doubtful {
            id: self.ids.get(one.item).cloned().unwrap_or_else(|| one.item.to_string()),
            label: name(one.first),
            second: name(one.second),
            margin: one.margin,
        };
        Ok(LabelsReport {
            names: self.names.iter().map(|name| (*name).to_owned()).collect(),
            learned: self.train.len(),
            cost: self.machine.c,
            judged: match self.tested {
                [] => format!("by {}-fold cross-validation", self.folds),
                _ => "on the test items".to_owned(),
            },
            confusion,
            doubtful: doubtful.iter().take(DOUBTFUL).map(doubt).collect(),
        })
    }

    /// Every item learned from, by a machine that has not seen its fold.
    fn crossed(&self) -> Result<Vec<Ranked>, TaskError> {
        let labels: Vec<usize> = self.train.iter().map(|&item| self.labels[item]).collect();
        let mut all = Vec::with_capacity(labels.len());
        for fold in stratified_folds(&labels, self.folds, self.seed)? {
            let of = |places: &[usize]| -> Vec<usize> { places.iter().map(|&place| self.train[place]).collect() };
            all.extend(self.ranked(&of(&fold.train), &of(&fold.test))?);
        }
        Ok(all)
    }

    /// The two best labels of some items by a machine that learned from others.
    fn ranked(&self, train: &[usize], items: &[usize]) -> Result<Vec<Ranked>, TaskError> {
        let learned: BTreeSet<usize> = train.iter().map(|&item| self.labels[item]).collect();
        let learned: Vec<usize> = learned.into_iter().collect();
        // every label of these items is among the distinct ones, and those are sorted
        let classes: Vec<usize> =
            train.iter().map(|&item| learned.partition_point(|&label| label < self.labels[item])).collect();
        let rows = self.vectors.select(Axis(0), train);
        let machine = self.machine.clone().check()?.train(rows.view(), &classes, learned.len(), self.seed)?;
        let scores: Array2<f64> = machine.decision(self.vectors.select(Axis(0), items).view())?;
        let rank = |(&item, scores): (&usize, ndarray::ArrayView1<'_, f64>)| {
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|&one, &other| scores[other].rank_cmp(&scores[one]).then(one.cmp(&other)));
            let (first, second) = (order[0], order.get(1).copied().unwrap_or(order[0]));
            Ranked { item, first: learned[first], second: learned[second], margin: scores[first] - scores[second] }
        };
        Ok(items.iter().zip(scores.rows()).map(rank).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 points on a line: label 0 below 10, label 1 from there; item 3 is called 1 by mistake.
    fn judged(tested: &[usize], train: &[usize], predicted: &[usize]) -> LabelsReport {
        let vectors = Array2::from_shape_fn((20, 1), |(item, _)| item as f64 - 9.5);
        let labels: Vec<usize> = (0..20).map(|item| usize::from(item >= 10 || item == 3)).collect();
        let ids: Vec<String> = (0..20).map(|item| format!("n{item}")).collect();
        let machine = LinearSvmParams::default();
        Judgment {
            vectors: vectors.view(),
            labels: &labels,
            names: &["low", "high"],
            train,
            tested,
            predicted,
            ids: &ids,
            machine: &machine,
            folds: 3,
            seed: 7,
        }
        .report()
        .unwrap()
    }

    #[test]
    fn confusion_counts_the_tested_and_doubt_is_nearest_to_the_border() {
        let train = [0, 1, 2, 4, 5, 14, 15, 17, 18, 19];
        let report = judged(&[3, 6, 12], &train, &[3, 6, 7, 8, 9, 10, 11, 12, 13, 16]);
        assert_eq!(report.confusion, [[1, 0], [1, 1]], "item 3 is low, whatever its label says");
        assert!(["n9", "n10"].contains(&report.doubtful[0].id.as_str()), "{:?}", report.doubtful);
        assert!(report.doubtful.is_sorted_by(|a, b| a.margin <= b.margin) && report.doubtful.len() == 10);
        assert_eq!(report.judged, "on the test items");
    }

    #[test]
    fn without_a_test_every_item_learned_from_is_judged_once() {
        let all: Vec<usize> = (0..20).collect();
        let report = judged(&[], &all, &[]);
        assert_eq!(report.confusion.iter().flatten().sum::<u64>(), 20);
        assert_eq!(report.confusion[1][0], 1, "{:?}", report.confusion);
        assert!(report.judged.contains("3-fold"));
    }
}

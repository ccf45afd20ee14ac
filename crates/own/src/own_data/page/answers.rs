//! What was made from the factors, as parts of the page: lists of neighbors, pairs, clusters and labels, read from the tables that the commands leave.

use std::collections::HashMap;
use std::path::Path;

use landmark_core::rank::RankCmp;
use landmark_report::amounts::{count, counted};
use landmark_report::{Chapter, Coloring, Confusion, Listed};
use landmark_tasks::neighbors::SignedVectors;
use ndarray::{Array1, Array2};

use super::super::labels::{Doubtful, LabelsReport};
use super::super::{CLUSTERS, FACTORS, LABELS, LABELS_REPORT, NEIGHBORS, PAIRS};
use super::table::Table;
use super::{Gathered, LINES, share};
use crate::factors::Factors;

/// Central items listed of a cluster.
const CENTRAL: usize = 3;
/// Labels that a confusion matrix shows apart.
const CONFUSED: usize = 16;

/// Ids of all items, and texts of the drawn ones.
pub(super) struct Drawn<'a>(&'a Gathered);

impl<'a> Drawn<'a> {
    pub(super) fn new(gathered: &'a Gathered) -> Self {
        Self(gathered)
    }

    /// Ids of the drawn items.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.items.iter().filter_map(|&item| self.0.ids.get(item).cloned()).collect()
    }

    /// A drawn item in a list.
    pub(super) fn listed(&self, place: usize) -> Listed {
        self.item(self.0.items.get(place).copied().unwrap_or_default())
    }

    /// Any item in a list; the text of one that is not drawn is not shown.
    fn item(&self, item: usize) -> Listed {
        let place = self.0.items.binary_search(&item).ok();
        Listed::Item {
            id: self.0.ids.get(item).cloned().unwrap_or_default(),
            text: place.and_then(|place| self.0.texts.get(place).cloned()).unwrap_or_default(),
            place,
        }
    }

    /// Numbers of the items by id.
    fn numbers(&self) -> HashMap<&str, usize> {
        self.0.ids.iter().enumerate().map(|(item, id)| (id.as_str(), item)).collect()
    }
}

/// The most central items of each cluster, the most central first, with the mean of K̃ to the other members. O(nr).
pub fn central_items(
    vectors: SignedVectors<'_>,
    labels: &[usize],
    clusters: usize,
    most: usize,
) -> Vec<Vec<(usize, f64)>> {
    let mut sums = Array2::<f64>::zeros((clusters, vectors.vectors.ncols()));
    let mut sizes = vec![0_usize; clusters];
    for (&label, row) in labels.iter().zip(vectors.vectors.rows()) {
        sums.row_mut(label).scaled_add(1.0, &row);
        sizes[label] += 1;
    }
    let mut found: Vec<Vec<(usize, f64)>> = vec![Vec::new(); clusters];
    for (item, (&label, row)) in labels.iter().zip(vectors.vectors.rows()).enumerate() {
        let signed: Array1<f64> = &row * vectors.signature;
        let to_others = signed.dot(&sums.row(label)) - signed.dot(&row);
        let others = sizes[label].saturating_sub(1).max(1);
        found[label].push((item, to_others / others as f64));
    }
    for list in &mut found {
        list.sort_by(|one, other| other.1.rank_cmp(&one.1).then(one.0.cmp(&other.0)));
        list.truncate(most);
    }
    found
}

/// Labels of all items from a table of ids, in the order of the items; `None` where it is of other items.
fn labels(drawn: &Drawn<'_>, table: &Table, column: &str) -> Option<Vec<String>> {
    let numbers = drawn.numbers();
    let mut labels = vec![String::new(); drawn.0.ids.len()];
    for (id, label) in table.column("id")?.zip(table.column(column)?) {
        label.clone_into(labels.get_mut(*numbers.get(id)?)?);
    }
    Some(labels)
}

/// Colors of the drawn items: clusters, labels, and classes of the dataset, as far as there are any.
pub(super) fn colorings(folder: &Path, drawn: &Drawn<'_>, classes: Option<&[String]>) -> Vec<Coloring> {
    let of_table = |file: &str, column: &str, name: &str| {
        let table = Table::read(&folder.join(file))?;
        let labels = labels(drawn, &table, column)?;
        let of_drawn = drawn.0.items.iter().map(|&item| labels.get(item).map_or("", String::as_str));
        Some(coloring(name, of_drawn))
    };
    let clusters = of_table(CLUSTERS, "name", "clusters").or_else(|| of_table(CLUSTERS, "cluster", "clusters"));
    let labels = of_table(LABELS, "label", "labels");
    let classes = classes.map(|classes| coloring("classes", classes.iter().map(String::as_str)));
    [clusters, labels, classes].into_iter().flatten().collect()
}

/// Colors by name; an empty name is none.
fn coloring<'a>(name: &str, labels: impl Iterator<Item = &'a str>) -> Coloring {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut place = |label: &'a str| {
        *places.entry(label).or_insert_with(|| {
            names.push(label.to_owned());
            names.len() - 1
        })
    };
    let of = labels.map(|label| (!label.is_empty()).then(|| place(label))).collect();
    Coloring { name: name.to_owned(), names, of }
}

/// The parts about what was made from the factors.
pub(super) fn chapters(folder: &Path, drawn: &Drawn<'_>) -> Vec<Chapter> {
    let table = |file: &str| Table::read(&folder.join(file));
    let report = || -> Option<LabelsReport> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(LABELS_REPORT)).ok()?).ok()
    };
    let all = [
        table(NEIGHBORS).and_then(|table| neighbors(&table)),
        table(PAIRS).and_then(|table| mined(&table, drawn)),
        table(CLUSTERS).and_then(|table| clusters(&table, &Factors::read(&folder.join(FACTORS)).ok()?, drawn)),
        report().and_then(|report| labeled(&report, drawn)),
    ];
    all.into_iter().flatten().collect()
}

fn neighbors(table: &Table) -> Option<Chapter> {
    let (scores, ranks) = (table.numbers("score")?, table.numbers("rank")?);
    if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
        return None;
    }
    let k = ranks.iter().copied().fold(0.0, f64::max);
    let exact = table.flags("exact").iter().filter(|&&exact| exact).count() as u64;
    let caption = format!(
        "The {k:.0} nearest of each of {} items are in `{NEIGHBORS}`; {} of {} similarities in it were evaluated for the list ({}).",
        count(ranks.iter().filter(|rank| **rank == 1.0).count() as u64),
        count(exact),
        count(scores.len() as u64),
        share(exact, scores.len() as u64)
    );
    Some(Chapter::new("topk", "Neighbor lists (topk)", caption))
}

fn mined(table: &Table, drawn: &Drawn<'_>) -> Option<Chapter> {
    let (scores, exact, numbers) = (table.numbers("score")?, table.flags("exact"), drawn.numbers());
    if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
        return None;
    }
    let line = |((first, second), (&value, &is_exact)): ((&str, &str), (&f64, &bool))| {
        let item = |id: &str| numbers.get(id).map_or_else(|| Listed::Text(id.to_owned()), |&item| drawn.item(item));
        vec![Listed::Score { value, is_exact }, item(first), item(second)]
    };
    let ids = table.column("first")?.zip(table.column("second")?);
    let lines: Vec<_> = ids.zip(scores.iter().zip(&exact)).take(LINES).map(line).collect();
    let evaluated = exact.iter().filter(|&&exact| exact).count() as u64;
    let caption = format!(
        "{} are in `{PAIRS}`, the best {} of them below; {} were evaluated, the others are estimated.",
        counted(scores.len() as u64, "pair"),
        lines.len(),
        count(evaluated)
    );
    let chapter = Chapter::new("mine", "Most similar pairs (mine)", caption);
    Some(chapter.listing("", &["similarity", "first", "second"], lines))
}

fn clusters(table: &Table, factors: &Factors, drawn: &Drawn<'_>) -> Option<Chapter> {
    let words = labels(drawn, table, "cluster")?;
    let labels: Vec<usize> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let clusters = labels.iter().max()? + 1;
    let Factors { vectors, signature, scattered, .. } = factors;
    let vectors = SignedVectors { vectors: vectors.view(), signature, scattered: scattered.as_ref() };
    let central = central_items(vectors, &labels, clusters, usize::MAX);
    let mut order: Vec<usize> = (0..clusters).filter(|&cluster| !central[cluster].is_empty()).collect();
    order.sort_by_key(|&cluster| (std::cmp::Reverse(central[cluster].len()), cluster));
    let cohesion = |cluster: usize| {
        let list = &central[cluster];
        (list.len() > 1).then(|| list.iter().map(|(_, score)| score).sum::<f64>() / list.len() as f64)
    };
    let line = |&cluster: &usize| {
        let list = &central[cluster];
        let mut cells = vec![
            Listed::Number(cluster.to_string(), cluster as f64),
            Listed::Number(count(list.len() as u64), list.len() as f64),
            cohesion(cluster).map_or_else(|| Listed::Text("–".to_owned()), |value| Listed::number(value, 3)),
        ];
        let some = list.iter().take(CENTRAL).map(|&(item, _)| drawn.item(item));
        cells.extend(some.chain(std::iter::repeat(Listed::Text(String::new()))).take(CENTRAL));
        cells
    };
    let caption = format!(
        "{} in {}; each is named by its central items, those most similar to the other members on the mean. Cohesion is the mean estimated \
         similarity of two members.",
        counted(labels.len() as u64, "item"),
        counted(order.len() as u64, "cluster")
    );
    let head = ["cluster", "items", "cohesion", "most central", "then", "then"];
    let lines = order.iter().take(2 * LINES).map(line).collect();
    Some(Chapter::new("clusters", "Clusters", caption).listing("", &head, lines))
}

fn labeled(report: &LabelsReport, drawn: &Drawn<'_>) -> Option<Chapter> {
    let judged: u64 = report.confusion.iter().flatten().sum();
    let right: u64 = (0..report.names.len()).map(|label| report.confusion[label][label]).sum();
    let numbers = drawn.numbers();
    let line = |doubtful: &Doubtful| {
        let item = numbers.get(doubtful.id.as_str());
        vec![
            Listed::number(doubtful.margin, 3),
            Listed::Text(doubtful.label.clone()),
            Listed::Text(doubtful.second.clone()),
            item.map_or_else(|| Listed::Text(doubtful.id.clone()), |&item| drawn.item(item)),
        ]
    };
    let caption = format!(
        "Learned from {} with {} labels at C = {}. {} of {} are right ({}), {}.",
        counted(report.learned as u64, "item"),
        report.names.len(),
        // a number of a grid as a person would write it
        format!("{:.5e}", report.cost).parse().unwrap_or(report.cost),
        count(right),
        count(judged),
        share(right, judged),
        report.judged
    );
    let lines = report.doubtful.iter().take(LINES).map(line).collect();
    let chapter = Chapter::new("labels", "Labels (classify)", caption);
    let chapter = chapter.listing("Least certain labels", &["margin", "label", "second", "item"], lines);
    Some(Chapter { confusion: Some(shortened(report)), ..chapter })
}

/// The confusion of the largest labels, the others together.
fn shortened(report: &LabelsReport) -> Confusion {
    let (names, counts) = (report.names.clone(), report.confusion.clone());
    if names.len() <= CONFUSED {
        return Confusion { names, counts };
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&label| (std::cmp::Reverse(counts[label].iter().sum::<u64>()), label));
    let mut place = vec![CONFUSED; names.len()];
    order.iter().take(CONFUSED).enumerate().for_each(|(at, &label)| place[label] = at);
    let mut short = vec![vec![0; CONFUSED + 1]; CONFUSED + 1];
    for (a, row) in counts.iter().enumerate() {
        for (b, times) in row.iter().enumerate() {
            short[place[a]][place[b]] += times;
        }
    }
    let mut kept: Vec<String> = order.iter().take(CONFUSED).map(|&label| names[label].clone()).collect();
    kept.push(format!("{} others", names.len() - CONFUSED));
    Confusion { names: kept, counts: short }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn central_items_are_those_of_the_whole_matrix() {
        let (z, signature) = (array![[1.0, 0.2], [0.9, -0.5], [1.1, 0.0], [-1.0, 0.3], [-0.5, 0.9]], array![1.0, -1.0]);
        let dense = (&z * &signature).dot(&z.t());
        let labels = [0, 0, 0, 1, 1];
        let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
        let found = central_items(vectors, &labels, 3, 2);
        assert!(found[2].is_empty() && found[0].len() == 2);
        for (cluster, found) in found[..2].iter().enumerate() {
            let members: Vec<usize> = (0..5).filter(|&item| labels[item] == cluster).collect();
            let mean = |item: usize| {
                let others = members.iter().filter(|&&other| other != item);
                others.map(|&other| dense[[item, other]]).sum::<f64>() / (members.len() - 1) as f64
            };
            let mut wanted = members.clone();
            wanted.sort_by(|&a, &b| mean(b).rank_cmp(&mean(a)).then(a.cmp(&b)));
            for ((item, score), wanted) in found.iter().zip(wanted) {
                assert_eq!(*item, wanted);
                assert!((score - mean(wanted)).abs() < 1e-12);
            }
        }
        // alone in its cluster
        let alone = central_items(vectors, &[0, 1, 2, 3, 4], 5, 1);
        assert_eq!(alone.iter().map(|list| list[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 4].map(|item| (item, 0.0)));
    }

    #[test]
    fn a_confusion_of_many_labels_keeps_the_largest_and_loses_no_item() {
        let many = 20;
        let confusion: Vec<Vec<u64>> =
            (0..many).map(|a| (0..many).map(|b| if a == b { a } else { 1 }).collect()).collect();
        let names: Vec<String> = (0..many).map(|label| format!("l{label}")).collect();
        let (judged, doubtful) = (String::new(), Vec::new());
        let report = LabelsReport { names, learned: 3, cost: 1.0, judged, confusion, doubtful };
        let short = shortened(&report);
        assert_eq!((short.names[0].as_str(), short.names.last().unwrap().as_str()), ("l19", "4 others"));
        let all = |counts: &[Vec<u64>]| counts.iter().flatten().sum::<u64>();
        assert_eq!(all(&short.counts), all(&report.confusion));
        assert_eq!(short.counts[0][0], 19);
    }

    #[test]
    fn colors_are_numbered_as_they_are_met_and_an_empty_name_is_none() {
        let coloring = coloring("labels", ["b", "", "a", "b"].into_iter());
        assert_eq!(
            (coloring.names, coloring.of),
            (vec!["b".to_owned(), "a".to_owned()], vec![Some(0), None, Some(1), Some(0)])
        );
    }
}

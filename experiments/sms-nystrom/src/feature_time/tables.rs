//! Table 6 next to the paper's, what compares between machines (ratios), and what a distance costs.

use landmark_core::stats::median;
use landmark_harness::layout::Layout;
use landmark_report::amounts::thousands;
use landmark_report::{Metric, Reference, ResultRow, Selection, TableKind, TableSpec, distinct};

use super::METHODS;

/// One method at one size of one corpus, over its repetitions.
struct Timed<'a> {
    row: &'a ResultRow,
    /// Seconds to make the features.
    whole: Vec<f64>,
    /// Of them, the seconds that distances took.
    distances: Vec<f64>,
}

impl Timed<'_> {
    /// µs of one distance in the fastest repetition.
    fn microseconds(&self) -> f64 {
        1e6 * fastest(&self.distances) / self.row.cost.evaluations.max(1) as f64
    }
}

pub(super) fn layout(rows: &[ResultRow], paper: Option<&Reference>, max_words: usize) -> Layout {
    let pairs = pairs(rows);
    // whoever renders the table again has other threads: `run.json` states those of the run
    let caption = "From word vectors in memory to n × rank features, on all threads of the machine, without a store; mean over repetitions of the \
                   same work. Not the paper's machine, program or word vectors: what compares is the ratio below.";
    let (select, reference) = (Selection::of(Metric::FeatureSeconds), Some("table6".to_owned()));
    let kind = TableKind::Comparison { select, reference };
    let seconds = TableSpec::new("table6", "Table 6 of the paper. Seconds to make the features", caption, kind);
    Layout {
        tables: vec![seconds, ratios(&pairs, paper), work(&pairs)],
        notes: vec![note(max_words)],
        ..Layout::default()
    }
}

fn note(max_words: usize) -> String {
    format!(
        "Random documents have at most {max_words} words on every corpus; the paper searched for that number and does not print what it found. Its \
         ranks are those of table 7; where ours is a share of the documents, it is the paper's share"
    )
}

/// WME and SMS-Nyström of each corpus and size, in order of appearance.
fn pairs(rows: &[ResultRow]) -> Vec<[Timed<'_>; 2]> {
    let sizes = distinct(rows.iter().map(|row| (row.subject.dataset.as_str(), row.comparison.as_str())));
    let timed = |(dataset, comparison): (&str, &str), id: &str| {
        let of = |metric| {
            rows.iter().filter(move |row| {
                row.subject.dataset == dataset
                    && row.comparison == comparison
                    && row.subject.id == id
                    && row.metric == metric
            })
        };
        let values = |metric| of(metric).map(|row| row.value).collect();
        let row = of(Metric::FeatureSeconds).next()?;
        Some(Timed { row, whole: values(Metric::FeatureSeconds), distances: values(Metric::Seconds) })
    };
    sizes.into_iter().filter_map(|size| Some([timed(size, METHODS[0].0)?, timed(size, METHODS[1].0)?])).collect()
}

fn ratios(pairs: &[[Timed<'_>; 2]], paper: Option<&Reference>) -> TableSpec {
    let head = [
        "corpus",
        "setting",
        "documents",
        "rank of WME",
        "rank of SMS",
        "distances",
        "time of a distance",
        "seconds",
        "seconds, paper",
    ];
    let line = |[wme, sms]: &[Timed<'_>; 2]| {
        let row = wme.row;
        let in_turn: Vec<f64> = sms.whole.iter().zip(&wme.whole).map(|(sms, wme)| sms / wme).collect();
        let printed = |id: &str| {
            let values = paper.into_iter().flat_map(|paper| paper.table("table6"));
            let here = |comparison: &Option<String>| comparison.as_deref() == Some(row.comparison.as_str());
            let mut values = values.filter(|value| value.dataset == row.subject.dataset && here(&value.comparison));
            values.find(|value| value.method == id).map(|value| value.value)
        };
        let paper = printed(METHODS[1].0).zip(printed(METHODS[0].0)).map(|(sms, wme)| sms / wme);
        vec![
            row.subject.dataset.clone(),
            row.comparison.replace('_', " "),
            count(row.subject.items),
            count(row.count("rank")),
            count(sms.row.count("rank")),
            times(sms.row.cost.evaluations as f64 / row.cost.evaluations.max(1) as f64),
            times(sms.microseconds() / wme.microseconds()),
            times(median(&in_turn).unwrap_or(f64::NAN)),
            paper.map_or("–".to_owned(), times),
        ]
    };
    TableSpec::new(
        "table6-ratio",
        "How much longer SMS-Nyström takes than WME",
        "SMS-Nyström : WME. Distances asked for, time of one of them (fastest repetition), and seconds in all: the median of repetitions \
         that ran in turn, next to the ratio of the paper's seconds at its own ranks.",
        TableKind::plain(&head, 2.., pairs.iter().map(line).collect()),
    )
}

fn work(pairs: &[[Timed<'_>; 2]]) -> TableSpec {
    let head = [
        "corpus",
        "setting",
        "method",
        "rank",
        "distances",
        "µs a distance",
        "seconds, least",
        "seconds, median",
        "of them distances",
    ];
    let line = |timed: &Timed<'_>| {
        let seconds = |value| Metric::FeatureSeconds.show(value);
        vec![
            timed.row.subject.dataset.clone(),
            timed.row.comparison.replace('_', " "),
            timed.row.subject.method.clone(),
            count(timed.row.count("rank")),
            count(timed.row.cost.evaluations),
            format!("{:.2}", timed.microseconds()),
            seconds(fastest(&timed.whole)),
            seconds(median(&timed.whole).unwrap_or(f64::NAN)),
            seconds(median(&timed.distances).unwrap_or(f64::NAN)),
        ]
    };
    TableSpec::new(
        "table6-work",
        "What the seconds are made of",
        "Distances between documents of the corpus (SMS-Nyström), or between them and random documents (WME); µs by the clock on all \
         threads together, from the fastest repetition.",
        TableKind::plain(&head, 3.., pairs.iter().flatten().map(line).collect()),
    )
}

fn count(number: u64) -> String {
    thousands(&number.to_string())
}

fn times(ratio: f64) -> String {
    format!("{ratio:.1} ×")
}

fn fastest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use landmark_report::Subject;

    use super::*;

    fn row(method: usize, replicate: u64, whole: f64, distances: f64) -> [ResultRow; 2] {
        [(Metric::FeatureSeconds, whole), (Metric::Seconds, distances)].map(|(metric, value)| {
            let (id, name) = METHODS[method];
            let row = ResultRow::new(Subject::new("twitter", id).called(name).items(1000), metric, value);
            let row = row.compared_at("small_rank").replicate(replicate);
            row.at("columns", 10_u64).at("rank", [10_u64, 40][method]).cost(0, [10_000, 40_000][method])
        })
    }

    fn lines(table: &TableSpec) -> Vec<String> {
        let TableKind::Plain { lines, .. } = &table.kind else { panic!("{} is not plain", table.id) };
        lines.iter().map(|line| line.join(" | ")).collect()
    }

    #[test]
    fn ratios_are_of_repetitions_that_ran_in_turn_and_the_paper_is_next_to_them() {
        let rows = [row(0, 0, 1.0, 0.5), row(1, 0, 8.0, 6.0), row(0, 1, 2.0, 1.0), row(1, 1, 12.0, 8.0)].concat();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/sms-nystrom/reference.yaml");
        let paper = Reference::read(std::path::Path::new(path)).unwrap();
        let tables = layout(&rows, Some(&paper), 9).tables;
        // 8 and 6 in turn; 6 s over 40,000 distances against 0.5 s over 10,000; 86.23 s : 13.02 s
        assert_eq!(lines(&tables[1]), ["twitter | small rank | 1,000 | 10 | 40 | 4.0 × | 3.0 × | 7.0 × | 6.6 ×"]);
        assert_eq!(
            lines(&tables[2]),
            [
                "twitter | small rank | WME | 10 | 10,000 | 50.00 | 1.0 | 1.5 | 0.750",
                "twitter | small rank | SMS-Nyström | 40 | 40,000 | 150.00 | 8.0 | 10.0 | 7.0",
            ]
        );
        assert_eq!(lines(&layout(&rows, None, 9).tables[1])[0].rsplit(' ').next(), Some("–"));
    }
}

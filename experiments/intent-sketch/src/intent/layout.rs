//! Tables 1 and 2 from the rows of the intent study, and what the representations gain over none.

use landmark_harness::layout::Layout;
use landmark_report::{
    FigureKind, FigureSpec, Interval, Metric, Reference, ReferenceValue, ResultRow, Selection, TableKind, TableSpec,
    distinct, half_width,
};

use super::work::{AVERAGE, SHARE, share_of};
use super::{Intent, Labels, Representation};

pub(super) fn of(settings: &Intent, reference: Option<&Reference>, rows: &[ResultRow]) -> Layout {
    let sheet = Lines { settings, reference, rows };
    let shares = &settings.shares;
    let mut tables: Vec<TableSpec> = settings.labels().into_iter().map(|labels| sheet.by_domain(labels)).collect();
    tables.push(sheet.gains());
    let mut layout = Layout::default();
    if shares.len() > 1 {
        tables.insert(0, sheet.by_share());
        let methods = settings.representations.iter().filter(|r| r.is_sketched() || **r == Representation::None);
        let select = Selection {
            datasets: vec![AVERAGE.to_owned()],
            methods: methods.map(|representation| representation.id().to_owned()).collect(),
            ..Selection::of(Metric::Accuracy)
        };
        let caption = "Mean over the domains with the 95 % interval over replicates (another order of the texts, other labeled utterances). The level \
                       is the machine without an embedding.";
        layout.figures.push(FigureSpec::new(
            "figure-share",
            "Accuracy against the share of the unlabeled text",
            caption,
            select,
            FigureKind::curve(SHARE),
        ));
    }
    layout.tables = tables;
    layout
}

struct Lines<'a> {
    settings: &'a Intent,
    reference: Option<&'a Reference>,
    rows: &'a [ResultRow],
}

impl Lines<'_> {
    /// Names of the domains, in the order in which they were measured.
    fn domains(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.subject.dataset.as_str()).filter(|name| *name != AVERAGE))
    }

    /// The share at which tables by domain are made: the largest.
    fn share(&self, representation: &Representation) -> Option<u64> {
        representation.is_sketched().then(|| self.settings.shares.iter().copied().max().unwrap_or(100))
    }

    /// Values of a metric over replicates.
    fn values(&self, dataset: &str, labels: Labels, id: &str, share: Option<u64>, metric: Metric) -> Vec<f64> {
        let comparison = labels.title();
        let is_it = |row: &&ResultRow| {
            row.metric == metric
                && row.subject.dataset == dataset
                && row.subject.id == id
                && row.comparison == comparison
                && share_of(row) == share
        };
        self.rows.iter().filter(is_it).map(|row| row.value).collect()
    }

    /// Mean over replicates as per cent with two decimals, as the paper prints them.
    fn mean(&self, dataset: &str, labels: Labels, id: &str, share: Option<u64>) -> String {
        percent(&self.values(dataset, labels, id, share, Metric::Accuracy))
    }

    /// Table 1: domains down, representations across, and the paper's averages below.
    fn by_domain(&self, labels: Labels) -> TableSpec {
        let representations = &self.settings.representations;
        let ids: Vec<&str> = representations.iter().map(Representation::id).collect();
        let head: Vec<&str> = ["domain"].into_iter().chain(ids.iter().copied()).collect();
        let names = self.domains().into_iter().chain([AVERAGE]);
        let line = |dataset: &str| {
            let cells = representations.iter().map(|r| self.mean(dataset, labels, r.id(), self.share(r)));
            [dataset.to_owned()].into_iter().chain(cells).collect()
        };
        let mut lines: Vec<Vec<String>> = names.map(line).collect();
        if let (Labels::All(_), Some(reference)) = (labels, self.reference) {
            let published = |representation: &Representation| {
                let id = published_id(representation);
                let is_it = |value: &&ReferenceValue| value.dataset == AVERAGE && value.method == id;
                reference.table("table1").find(is_it).map_or("–".to_owned(), |value| percent(&[value.value]))
            };
            let cells = representations.iter().map(published);
            lines.push(["paper: average of its 22 domains".to_owned()].into_iter().chain(cells).collect());
        }
        let id = match labels {
            Labels::All(_) => "table1".to_owned(),
            Labels::Few(count) => format!("table1-labels-{count}"),
        };
        let caption = "Accuracy in per cent, mean over replicates. The domains of the paper are a commercial assistant's and not public: its averages stand for comparison \
                       of differences, not of levels.";
        let kind = TableKind::plain(&head, 1.., lines);
        TableSpec::new(id, format!("Table 1 of the paper, {}", labels.title()), caption, kind)
    }

    /// Table 2: shares across.
    fn by_share(&self) -> TableSpec {
        let settings = self.settings;
        let mut head = vec!["labels".to_owned(), "representation".to_owned()];
        head.extend(settings.shares.iter().map(|share| format!("{share} %")));
        let mut lines = Vec::new();
        for labels in settings.labels() {
            for representation in settings.representations.iter().filter(|r| r.is_sketched()) {
                let cell = |share: &u64| {
                    let values = self.values(AVERAGE, labels, representation.id(), Some(*share), Metric::Accuracy);
                    match half_width(&values) {
                        Some(half) => format!("{} ± {:.2}", percent(&values), 100.0 * half),
                        None => percent(&values),
                    }
                };
                let cells = settings.shares.iter().map(cell);
                lines.push([labels.title(), representation.id().to_owned()].into_iter().chain(cells).collect());
            }
        }
        for domain in ["apps", "music", "tv"] {
            let Some(reference) = self.reference else { continue };
            let cell = |share: &u64| {
                let comparison = format!("share_{share}");
                let is_it = |value: &&ReferenceValue| {
                    value.dataset == domain && value.comparison.as_deref() == Some(&comparison)
                };
                reference.table("table2").find(is_it).map_or("–".to_owned(), |value| percent(&[value.value]))
            };
            let cells = settings.shares.iter().map(cell);
            lines.push([format!("paper: {domain}"), "sent_plus".to_owned()].into_iter().chain(cells).collect());
        }
        let caption = "Accuracy in per cent, mean over domains ± half the 95 % interval over replicates (Student's t). 0 % is the machine that has seen no unlabeled text.";
        let kind = TableKind::plain(&head, 2.., lines);
        let title = "Table 2 of the paper. Accuracy against the share of the unlabeled text";
        TableSpec::new("table2", title, caption, kind)
    }

    /// Gain of each representation over none, averaged over domains.
    fn gains(&self) -> TableSpec {
        let head = ["labels", "representation", "accuracy", "gain", "95 % interval", "won : lost", "verdict"];
        let mut lines = Vec::new();
        for labels in self.settings.labels() {
            for representation in self.settings.representations.iter().filter(|r| **r != Representation::None) {
                lines.extend(self.gain(labels, representation));
            }
        }
        let caption = "Points of accuracy over `none` on the same test utterances and labels, averaged over domains; the interval is a paired bootstrap (2,000 resamples of \
                       the test utterances of a replicate within each domain). Won : lost counts utterances that only one of the two gets right.";
        let kind = TableKind::plain(&head, [2, 3, 4, 5], lines);
        TableSpec::new("table-gain", "What a representation gains over none", caption, kind)
    }

    fn gain(&self, labels: Labels, representation: &Representation) -> Option<Vec<String>> {
        let (id, share, comparison) = (representation.id(), self.share(representation), labels.title());
        let is_it = |row: &&ResultRow| {
            row.metric == Metric::Gain && row.subject.id == id && row.comparison == comparison && share_of(row) == share
        };
        let row = self.rows.iter().find(is_it)?;
        let Interval { lower: low, upper: high } = row.interval?;
        let total = |metric| -> f64 {
            self.domains().into_iter().flat_map(|domain| self.values(domain, labels, id, share, metric)).sum()
        };
        let verdict = match (low > 0.0, high < 0.0) {
            (true, _) => "ahead",
            (_, true) => "behind",
            _ => "no clear difference",
        };
        let signed = |value: f64| format!("{:+.2}", 100.0 * value).replace('-', "−");
        Some(vec![
            comparison,
            id.to_owned(),
            self.mean(AVERAGE, labels, id, share),
            signed(row.value),
            format!("{} to {}", signed(low), signed(high)),
            format!("{:.0} : {:.0}", total(Metric::Wins), total(Metric::Losses)),
            verdict.to_owned(),
        ])
    }
}

/// The row of the paper's table that a representation is compared with.
fn published_id(representation: &Representation) -> &str {
    match representation {
        // averaged word vectors of 50 and of 300 numbers
        Representation::Vectors(name) if name.starts_with("glove50") || name == "glove_6b_50d" => "6b_50d",
        Representation::Vectors(name)
            if ["300", "300d"].iter().any(|end| name.ends_with(end)) || name.starts_with("gn300") =>
        {
            "840b_300d"
        }
        other => other.id(),
    }
}

/// The mean as per cent with two decimals.
fn percent(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    format!("{:.2}", 100.0 * values.iter().sum::<f64>() / values.len() as f64)
}

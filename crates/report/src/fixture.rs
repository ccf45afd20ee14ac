//! A small set of rows for the tests of tables, figures and pages: made up, but of the shape a sweep has.

use super::{
    Caveat, ClaimVerdict, FigureKind, FigureSpec, JudgedClaim, Reference, ReferenceValue, ReportInput, Selection,
    TableKind, TableSpec,
};
use crate::results::{Metric, ResultRow, Subject, Variant};

const SIZES: [u64; 4] = [100, 200, 300, 500];

/// Methods: name, id, variant, relative error at each size.
const METHODS: [(&str, &str, &str, [f64; 4]); 6] = [
    ("Nyström", "nystrom", "", [2.9, 14.2, 5.1, 3.3]),
    ("SMS-Nyström", "sms_nystrom", "", [0.501, 0.724, 1.08, 1.86]),
    ("SiCUR", "sicur", "", [0.412, 0.348, 0.304, 0.250]),
    ("shift_ridge", "shift_ridge", "", [0.380, 0.302, 0.248, 0.175]),
    ("shift_ridge + known", "shift_ridge", "known: landmarks", [0.374, 0.296, 0.242, 0.169]),
    ("RWMD proxy + shift_ridge + known", "shift_ridge", "known: landmarks · proxy: rwmd", [0.196, 0.160, 0.135, 0.089]),
];

fn row(
    dataset: &str,
    method: (&str, &str, &str),
    size: (u64, &str),
    replicate: u64,
    metric: Metric,
    value: f64,
) -> ResultRow {
    let (columns, comparison) = size;
    let (name, id, variant) = method;
    let rank = if comparison == "entries" && id == "sicur" { columns / 2 } else { columns };
    let subject = Subject {
        variant: Variant::parse(variant),
        is_cap: ["optimal", "exact"].contains(&id),
        ..Subject::new(dataset, id).called(name).items(1000)
    };
    let row = ResultRow::new(subject, metric, value).compared_at(comparison).replicate(replicate);
    let row = row.at("columns", columns).at("rank", rank).seconds(0.25);
    let evaluations = 1000 * columns - columns * (columns - 1) / 2;
    ResultRow { profile: "laptop".into(), ..row.cost(1000 * columns, evaluations) }
}

/// Errors and accuracies of six methods and the optimum at four sizes, three replicates, on two datasets.
pub(super) fn rows() -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for (dataset, ease) in [("tweets", 1.0), ("recipes", 0.7)] {
        for comparison in ["rank", "entries"] {
            for (index, &columns) in SIZES.iter().enumerate() {
                for (name, id, variant, errors) in METHODS {
                    for (replicate, wobble) in [(0, -0.03), (1, 0.0), (2, 0.024)] {
                        let error = errors[index] * ease * (1.0 + wobble);
                        let method = (name, id, variant);
                        rows.push(row(dataset, method, (columns, comparison), replicate, Metric::RelativeError, error));
                        let accuracy = 0.78 - 0.12 * error.min(1.5);
                        rows.push(row(dataset, method, (columns, comparison), replicate, Metric::Accuracy, accuracy));
                    }
                }
                let optimum = [0.247, 0.182, 0.137, 0.072][index] * ease;
                rows.push(row(
                    dataset,
                    ("Optimal", "optimal", ""),
                    (columns, comparison),
                    0,
                    Metric::RelativeError,
                    optimum,
                ));
            }
        }
    }
    for position in 1..=200u64 {
        let decay = 60.0 * (-(position as f64) / 40.0).exp();
        let value = if position % 7 == 3 { -0.2 * decay } else { decay };
        let eigenvalue = row("tweets", ("exact", "exact", ""), (1000, ""), 0, Metric::Eigenvalue, value);
        rows.push(eigenvalue.at("position", position));
    }
    rows
}

pub(super) fn reference() -> Reference {
    let value = |method: &str, rank, value, sd, not_comparable: Option<&str>| ReferenceValue {
        table: "table5".into(),
        dataset: "tweets".into(),
        method: method.into(),
        comparison: None,
        rank: Some(rank),
        metric: Metric::RelativeError,
        value,
        sd,
        rounding: 0.0005,
        not_comparable: not_comparable.map(str::to_string),
    };
    Reference {
        paper: "Nobody et al. (1999)".into(),
        values: vec![
            value("sms_nystrom", 100, 0.5, Some(0.02), None),
            value("sicur", 100, 0.5, Some(0.01), None),
            value("sicur", 200, 0.3, Some(0.01), None),
            value("sicur", 500, 0.25, None, Some("printed for another corpus")),
            value("stacur", 100, 0.9, None, None),
        ],
        facts: Vec::new(),
    }
}

/// A report with a table and a figure of every kind.
pub(super) fn input<'a>(rows: &'a [ResultRow], reference: &'a Reference) -> ReportInput<'a> {
    let table = |id: &str, title: &str, kind| TableSpec::new(id, title, "", kind);
    let at_rank = || Selection::compared_at(Metric::RelativeError, "rank");
    let at_entries = || Selection::compared_at(Metric::RelativeError, "entries");
    let tweets = |select: Selection| Selection { datasets: vec!["tweets".into()], ..select };
    let curve = |across, log_y| FigureKind::Curve { across, log_y, y_limits: None };
    let figure = |id: &str, title: &str, select, kind| {
        FigureSpec::new(id, title, "Bands are 95 % intervals over replicates.", select, kind)
    };
    ReportInput {
        title: "Error of every method on made-up matrices".into(),
        config_name: "fixture".into(),
        profile: "laptop".into(),
        command: "cargo run --release -p runner -- configs/fixture.yaml".into(),
        conclusion: None,
        claims: vec![
            JudgedClaim {
                id: "fails".into(),
                place: "figure 3".into(),
                says: "Nyström fails".into(),
                verdict: ClaimVerdict::Holds,
                numbers: "2.026 > 1.000".into(),
                size: "n = 1,000".into(),
            },
            JudgedClaim {
                id: "far".into(),
                place: "table 2".into(),
                says: "Large ranks are better".into(),
                verdict: ClaimVerdict::Untested("no published run of `far`".into()),
                numbers: String::new(),
                size: String::new(),
            },
        ],
        caveats: vec![Caveat {
            dataset: Some("recipes".into()),
            text: "600 of 39,774 documents".into(),
            breaks_comparison: true,
        }],
        rows,
        reference: Some(reference),
        tables: vec![
            table(
                "table5",
                "Error next to the paper",
                TableKind::Comparison { select: tweets(at_rank()), reference: Some("table5".into()) },
            ),
            table("table_rank", "Error at equal rank", TableKind::Grid { select: at_rank(), across: "rank" }),
            table(
                "table_entries",
                "Error at equal entries",
                TableKind::Grid { select: at_entries(), across: "fraction" },
            ),
            table(
                "table_paired",
                "Ours against the best published method",
                TableKind::Paired {
                    select: tweets(at_entries()),
                    across: "columns",
                    ours: vec!["shift_ridge + known".into(), "RWMD proxy + shift_ridge + known".into()],
                    baselines: vec!["Nyström".into(), "SMS-Nyström".into(), "SiCUR".into()],
                },
            ),
            table("table_cost", "What each method asks for", TableKind::Entries { select: tweets(at_rank()) }),
            table(
                "table1",
                "Corpora",
                TableKind::plain(
                    &["dataset", "documents", "application"],
                    [1],
                    vec![vec!["tweets".into(), "3,115".into(), "sentiment & <mood>".into()]],
                ),
            ),
        ],
        figures: vec![
            figure("figure3", "Relative error against s/n", at_rank(), curve("fraction", false)),
            figure(
                "figure3_log",
                "The same at equal entries, logarithmic",
                tweets(at_entries()),
                curve("fraction", true),
            ),
            figure(
                "figure_accuracy",
                "Accuracy against rank",
                tweets(Selection::compared_at(Metric::Accuracy, "rank")),
                curve("rank", false),
            ),
            figure(
                "figure1",
                "Eigenvalues by magnitude",
                Selection::of(Metric::Eigenvalue),
                FigureKind::Spectrum { first: 2, last: 201 },
            ),
            figure(
                "figure2",
                "How eigenvalues are spread",
                Selection::of(Metric::Eigenvalue),
                FigureKind::Histogram { bins: 40, log_y: true },
            ),
            figure(
                "figure7",
                "Trials",
                tweets(Selection::compared_at(Metric::Accuracy, "rank")),
                FigureKind::Points { across: "rank" },
            ),
        ],
        provenance: serde_json::json!({ "git": { "revision": "0123abc", "dirty": false }, "threads": 2, "datasets": ["tweets"] }),
        notes: vec!["SMS-Nyström's error rises again from s/n ≈ 0.2.".into()],
        matrix: None,
    }
}

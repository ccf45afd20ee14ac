//! What no section can see alone.

use landmark_core::approximation::Known;
use landmark_yaml::{Problem, Section};

use super::cross_encoder::CrossEncoderConfig;
use super::matrix::MatrixSubject;
use super::oracle::OracleConfig;
use super::values::Tuned;

/// A name becomes a folder.
pub(super) fn name(name: &str, section: &Section<'_>) -> bool {
    let is_good = !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    if !is_good {
        section.refuse(
            "name",
            format!("`name` is `{name}`, but must be letters, digits, `_`, `-` or `.`: it names a folder"),
        );
    }
    is_good
}

/// Sections that contradict each other.
pub(super) fn together(matrix: &MatrixSubject, section: &Section<'_>) {
    let documents = matrix.dataset.documents().is_some();
    let questions = matrix.dataset.has_trees();
    let pairs = matrix.dataset.has_pairs();
    let texts = matrix.dataset.texts().is_some();
    let name = matrix.dataset.name;
    let experiment = matrix.experiment;
    match matrix.oracle {
        OracleConfig::CrossEncoder(CrossEncoderConfig { fine_tune: Some(_), .. }) if texts => section.refuse(
            "oracle",
            "`fine_tune` learns from labelled pairs, and texts have none: fine-tune with `configs/stsb.yaml`, then name the folder it left as `model`",
        ),
        OracleConfig::CrossEncoder(_) if !pairs && !texts => section.refuse(
            "oracle",
            format!(
                "`cross_encoder` reads sentences, but the dataset `{name}` has none: use `stsb`, `mrpc`, `rte` or texts of yours"
            ),
        ),
        OracleConfig::CrossEncoder(_) => {}
        _ if pairs => {
            let kind = matrix.oracle.kind();
            section.refuse("oracle", format!("`{kind}` cannot score the sentences of `{name}`: use `cross_encoder`"));
        }
        OracleConfig::Wmd { .. } | OracleConfig::Precomputed { .. } if questions => {
            let kind = matrix.oracle.kind();
            let message = format!(
                "`{kind}` cannot score the dataset `{name}`, whose items are questions with trees: use `tree_kernel`"
            );
            section.refuse("oracle", message);
        }
        OracleConfig::TreeKernel(_) if !questions => {
            section.refuse(
                "oracle",
                format!("`tree_kernel` compares trees, but the dataset `{name}` has none: use `trec`"),
            );
        }
        OracleConfig::Subprocess(_) if !texts => section.refuse(
            "oracle",
            format!("`subprocess` scores texts of yours, but the dataset is `{name}`: use `dataset: {{ name: texts, path: … }}`"),
        ),
        OracleConfig::Wmd { .. } if matrix.dataset.texts().is_some_and(|texts| texts.vectors.is_some()) => {}
        OracleConfig::Wmd { .. } if texts => section.refuse(
            "oracle",
            "`wmd` needs word vectors: add `vectors: { kind: ppmi_svd }` to `dataset`, or a file of yours",
        ),
        OracleConfig::Precomputed { .. } if texts => section.refuse(
            "oracle",
            "`precomputed` reads a matrix, but the dataset has texts: use `subprocess`, `cross_encoder` or `wmd`",
        ),
        OracleConfig::Wmd { .. } if !documents => section.refuse(
            "oracle",
            format!("`wmd` compares documents, but the dataset `{name}` is a matrix: use `precomputed`"),
        ),
        OracleConfig::Precomputed { .. } if documents => section.refuse(
            "oracle",
            format!("`precomputed` reads a matrix, but the dataset `{}` has documents: use `wmd`", matrix.dataset.name),
        ),
        _ => {}
    }
    if experiment.searches && !matrix.dataset.has_labels() {
        let message = format!("`classification` needs labels, but the dataset `{}` has none", matrix.dataset.name);
        let problem = Problem::new(message).at(matrix.dataset.place);
        section.problems().add(problem.help("add `labels: FILE` to it, or use `experiment: error_curve`"));
    }
    if experiment.needs_pairs && !pairs {
        let message = format!("`glue` needs labelled pairs of sentences, but the dataset `{name}` has none");
        let problem = Problem::new(message).at(matrix.dataset.place);
        section.problems().add(problem.help("use `stsb`, `mrpc`, `rte` or `embedded_pairs`"));
    }
    if !experiment.searches && matrix.oracle.gamma() == Some(Tuned::Search) {
        section.refuse(
            "oracle",
            format!("`oracle.gamma` is searched for by classification; `{}` needs a number", experiment.entry.id),
        );
    }
    if !matrix.search.rank.is_empty() {
        if !experiment.searches {
            section.refuse("search", format!("`search.rank` is for `classification`, not `{}`", experiment.entry.id));
        }
        if section.has("ranks") {
            section.refuse("ranks", "`ranks` and `search.rank` exclude each other: ranks are given or searched for");
        }
        if matrix.target_error.is_some() {
            section.refuse("target_error", "`target_error` and `search.rank` exclude each other: both choose the rank");
        }
    }
    for method in matrix.methods.iter().filter(|method| method.id == "wme") {
        let is_wmd = matches!(matrix.oracle, OracleConfig::Wmd { .. });
        let problem = match () {
            () if !is_wmd => {
                "`wme` makes features of documents under word mover's distance, which is not the oracle here"
            }
            () if method.proxy.is_some() || method.known != Known::NOTHING => {
                "`wme` buys no entry of the matrix: it takes neither `known` nor a `proxy`"
            }
            () => continue,
        };
        section.problems().add(Problem::new(problem).at(method.place));
    }
    if experiment.makes_factors {
        own_data(matrix, section);
    }
    let has_words = documents || matrix.dataset.texts().is_some_and(|texts| texts.vectors.is_some());
    for method in &matrix.methods {
        let Some(proxy) = &method.proxy else { continue };
        if proxy.kind.needs_sentences() && !pairs && !texts {
            let message = "the proxy `embedding_cosine` with a `model` compares sentences, but the dataset has none";
            section.problems().add(Problem::new(message).at(method.place));
            continue;
        }
        let compares = match &proxy.kind {
            kind if kind.needs_documents() && !has_words => "documents",
            kind if kind.needs_questions() && !questions => "questions",
            kind if kind.needs_mentions() => "mentions",
            _ => continue,
        };
        let items = if documents || questions || pairs { "has other items" } else { "is a matrix" };
        let message = format!("the proxy `{}` compares {compares}, but the dataset {items}", proxy.kind.id());
        section.problems().add(Problem::new(message).at(method.place));
    }
    if matrix.target_error.is_some() && matrix.error_estimate.is_none() {
        section
            .refuse("target_error", "`target_error` is held against an `error_estimate`, but there is none: add one");
    }
}

/// What makes one set of factors: one method at one rank, which draws landmarks.
fn own_data(matrix: &MatrixSubject, section: &Section<'_>) {
    if matrix.methods.len() > 1 {
        section.refuse(
            "methods",
            "`own_data` writes the factors of one method: name one, and compare with `experiment: error_curve`",
        );
    }
    if matrix.ranks.len() > 1 && matrix.target_error.is_none() {
        section.refuse(
            "ranks",
            "`own_data` writes factors of one rank: name one, or set `target_error` to grow from the first to the last",
        );
    }
    for method in matrix.methods.iter().filter(|method| !method.entry.draws || method.id == "wme") {
        let message = format!("`{}` has no factors of bought columns, which `own_data` writes", method.id);
        section
            .problems()
            .add(Problem::new(message).at(method.place).help("use `shift_ridge`, `sms_nystrom` or `sicur`"));
    }
    if matrix.budget.seconds.is_some() && matrix.error_estimate.is_none() {
        section.refuse(
            "budget",
            "`budget.seconds` grows the rank step by step and keeps the best: it needs an `error_estimate`",
        );
    }
}

//! What factors are used for: a linear machine, average linkage, and the scores of clusters and rankings.

use landmark_tasks::coreference::{
    CondensedDistances, Linkage, Singletons, average_linkage_of_factors, score_coreference,
};
use landmark_tasks::linear_svm::LinearSvmParams;
use landmark_tasks::ranking::{Answer, score_ranking};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::value;
use crate::oracle::unknown;
use crate::reading::{item_array, items, settings};
use crate::session::{detached, interruptible};

type Machine<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, String);

/// Weights (classes × d), biases and JSON of the report of a linear machine; labels are 0 … classes − 1.
#[pyfunction]
pub(crate) fn train_linear_svm<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    labels: PyReadonlyArray1<'py, i64>,
    classes: usize,
    params: &str,
    seed: u64,
) -> PyResult<Machine<'py>> {
    let params: LinearSvmParams = settings("linear SVM", params)?;
    let valid = params.check().map_err(|error| value(&error))?;
    let (x, labels) = (x.as_array().to_owned(), items(classes, &labels)?);
    let machine =
        interruptible(py, move || valid.train(x.view(), &labels, classes, seed))?.map_err(|error| value(&error))?;
    let report = machine.report();
    let report = json!({
        "converged": report.converged(), "epochs": report.epochs(), "relative_gap": report.relative_gap(),
    });
    let (weights, bias) = (machine.weights().to_owned(), machine.bias().clone());
    Ok((weights.into_pyarray(py), bias.into_pyarray(py), report.to_string()))
}

/// Clusters of average linkage on 1 − Z diag(signature) Zᵀ, cut strictly below a threshold; no n × n matrix is formed.
#[pyfunction]
pub(crate) fn average_linkage<'py>(
    py: Python<'py>,
    vectors: PyReadonlyArray2<'py, f64>,
    signature: PyReadonlyArray1<'py, f64>,
    threshold: f64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (vectors, signature) = (vectors.as_array().to_owned(), signature.as_array().to_owned());
    let linked = interruptible(py, move || average_linkage_of_factors(vectors.view(), signature.view()))?;
    let dendrogram = linked.map_err(|error| value(&error))?;
    Ok(item_array(py, dendrogram.cut_below(threshold)))
}

/// Clusters of `average`, `single` or `complete` linkage on 1 − K of a whole matrix.
#[pyfunction]
#[pyo3(signature = (similarities, threshold, linkage="average"))]
pub(crate) fn linkage_clusters<'py>(
    py: Python<'py>,
    similarities: PyReadonlyArray2<'py, f64>,
    threshold: f64,
    linkage: &str,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let linkage = match linkage {
        "average" => Linkage::Average,
        "single" => Linkage::Single,
        "complete" => Linkage::Complete,
        other => return Err(unknown("linkage", other, "average, single, complete")),
    };
    let similarities = similarities.as_array();
    let distances =
        detached(py, || CondensedDistances::of_similarities(similarities))?.map_err(|error| value(&error))?;
    let dendrogram = interruptible(py, move || distances.link(linkage))?;
    Ok(item_array(py, dendrogram.cut_below(threshold)))
}

type Clusters = Vec<Vec<String>>;

/// JSON of the CoNLL figures of documents of (key clusters, response clusters).
#[pyfunction]
#[pyo3(signature = (documents, drop_singletons=false))]
pub(crate) fn coreference_scores(documents: Vec<(Clusters, Clusters)>, drop_singletons: bool) -> PyResult<String> {
    let sides: Vec<_> = documents.iter().map(|(key, response)| (key.as_slice(), response.as_slice())).collect();
    let singletons = if drop_singletons { Singletons::Drop } else { Singletons::Keep };
    let scores = score_coreference(&sides, singletons).map_err(|error| value(&error))?;
    Ok(json!(scores).to_string())
}

/// JSON of the SemEval figures of questions, each a list of (score, predicted, relevant).
#[pyfunction]
pub(crate) fn ranking_scores(questions: Vec<Vec<(f64, bool, bool)>>) -> PyResult<String> {
    let answer = |&(score, predicted, relevant): &(f64, bool, bool)| Answer { score, predicted, relevant };
    let questions: Vec<Vec<Answer>> = questions.iter().map(|answers| answers.iter().map(answer).collect()).collect();
    let scores = score_ranking(&questions).map_err(|error| value(&error))?;
    Ok(json!(scores).to_string())
}

"""The rules of scikit-learn, and its company."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import matrix
from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from landmark import FrequentDirections, Landmark, LinearSvm, StructuredFeatures


def rbf(pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """A score of two rows: not a lambda, so that it can be cloned and pickled."""
    left, right = (np.stack(side) for side in zip(*pairs))
    return np.exp(-0.1 * np.sum((left - right) ** 2, axis=1))


ESTIMATORS = [
    Landmark(metric="precomputed", n_components=5, error_samples=0),
    Landmark(rbf, n_components=5, error_samples=0),
    StructuredFeatures(n_components=64),
    FrequentDirections(n_components=2),
    LinearSvm(),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_rules(estimator, check) -> None:
    check(estimator)


def test_a_pipeline_over_texts_is_searched() -> None:
    texts = [f"{topic} {number}" for topic in ("aaa", "bbb") for number in range(30)]
    labels = [0] * 30 + [1] * 30
    pipeline = make_pipeline(Landmark(common, error_samples=0, n_components=5), LogisticRegression())
    search = GridSearchCV(pipeline, {"landmark__n_components": [2, 6]}, cv=3).fit(texts, labels)
    assert search.best_score_ > 0.95
    names = search.best_estimator_[0].get_feature_names_out()
    assert names[0] == "landmark0" and len(names) == search.best_estimator_[0].embedding_.shape[1]


def common(pairs: list[tuple[str, str]]) -> list[float]:
    return [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]


def test_clusterings_take_the_matrix_or_the_graph() -> None:
    x, labels = make_blobs(n_samples=90, centers=3, cluster_std=0.5, random_state=1)
    lm = Landmark(rbf, n_components=20, error_samples=0).fit(x)
    every = np.arange(90)
    affinity = np.clip(lm.similarities(every, every), 0.0, None)
    found = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict((affinity + affinity.T) / 2)
    assert adjusted_rand_score(labels, found) == 1.0
    graph = lm.kneighbors_graph(n_neighbors=10)
    assert graph.shape == (90, 90) and graph.nnz == 900
    # edges between blobs, where there are none, are what scikit-learn warns of
    with pytest.warns(UserWarning, match="connected components"):
        found = AgglomerativeClustering(3, connectivity=graph.maximum(graph.T)).fit_predict(x)
    assert adjusted_rand_score(labels, found) == 1.0
    distances = lm.kneighbors_graph(n_neighbors=15, mode="distance")
    distances = distances.maximum(distances.T)
    found = DBSCAN(eps=0.3, min_samples=5, metric="precomputed").fit_predict(distances)
    assert adjusted_rand_score(labels, found) > 0.9
    # HDBSCAN wants one component: what is no edge is as far as can be
    whole = np.where(distances.toarray() > 0, distances.toarray(), 1.0)
    np.fill_diagonal(whole, 0.0)
    found = HDBSCAN(min_cluster_size=10, metric="precomputed", copy=True).fit_predict(whole)
    assert adjusted_rand_score(labels, found) > 0.9


def test_parameters_travel_as_they_are() -> None:
    settings = {"similarity": rbf, "method": {"id": "sms_nystrom", "alpha": 2.0}, "landmarks": [3, 1], "n_components": 2, "error_samples": 0}
    lm = Landmark(**settings)
    assert clone(lm).get_params()["method"] == settings["method"]
    fitted = clone(lm).set_params(n_components=1).fit(np.random.default_rng(0).normal(size=(20, 2)))
    assert fitted.component_indices_[0] == 3


def test_output_may_be_named() -> None:
    pandas = pytest.importorskip("pandas")
    lm = Landmark(metric="precomputed", n_components=3, error_samples=0).set_output(transform="pandas")
    frame = lm.fit_transform(matrix(30))
    assert isinstance(frame, pandas.DataFrame) and frame.columns[0] == "landmark0"

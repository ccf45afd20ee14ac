"""The rules of scikit-learn, and its company."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from conftest import matrix
from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE
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
    # HDBSCAN wants both directions, and one component
    distances = lm.kneighbors_graph(n_neighbors=40, mode="distance", symmetric="union")
    found = HDBSCAN(min_cluster_size=10, metric="precomputed", copy=True).fit_predict(distances)
    assert adjusted_rand_score(labels, found) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = lm.kneighbors_graph(n_neighbors=25, mode="distance", include_self=True)
        assert TSNE(metric="precomputed", init="random", perplexity=8, max_iter=250).fit_transform(graph).shape == (90, 2)


def test_graphs_keep_distances_of_zero_and_both_directions() -> None:
    x = np.array([[0.0], [0.0], [1.0], [5.0], [5.2], [9.0]])
    lm = Landmark(rbf, n_components=6, error_samples=0).fit(x)
    graph = lm.kneighbors_graph(n_neighbors=2, mode="distance", symmetric="union")
    assert abs(graph - graph.T).max() == 0.0 and np.sum(graph.data == 0.0) == 2
    mutual = lm.kneighbors_graph(n_neighbors=2, symmetric="mutual")
    directed = lm.kneighbors_graph(n_neighbors=2).toarray()
    np.testing.assert_array_equal(mutual.toarray(), directed * directed.T)
    assert lm.kneighbors_graph(n_neighbors=2, include_self=True).diagonal().tolist() == [1.0] * 6
    distances, items = lm.kneighbors(n_neighbors=3, include_self=True, as_distance=True)
    # as UMAP's precomputed_knn has them: the item itself first, distances ascending
    assert items[:, 0].tolist() == list(range(6)) and np.all(distances[:, 0] == 0.0) and np.all(np.diff(distances, axis=1) >= 0)


def test_new_items_have_neighbors_among_those_of_the_fit() -> None:
    x, _ = make_blobs(n_samples=80, centers=3, random_state=2)
    lm = Landmark(rbf, n_components=15, error_samples=0).fit(x)
    new = x[:6] + 0.05
    truth = np.argsort(-np.exp(-0.1 * ((new[:, None] - x) ** 2).sum(-1)), axis=1)[:, :3]
    before = lm.n_calls_
    free = lm.kneighbors(new, 3, return_similarity=False)
    assert free.shape == (6, 3) and lm.n_calls_ - before == 6 * 15
    similarities, items = lm.kneighbors(new, 3, calls_per_item=20)
    assert np.mean([len(set(a) & set(b)) / 3 for a, b in zip(items.tolist(), truth.tolist())]) > 0.9
    np.testing.assert_allclose(similarities, np.exp(-0.1 * ((new[:, None] - x[items]) ** 2).sum(-1)))
    with pytest.raises(TypeError, match=r"kneighbors\(n_neighbors=5\)"):
        lm.kneighbors(5)


def test_a_grid_search_over_the_estimator_alone_asks_its_score_method() -> None:
    texts = [f"{topic} {number}" for topic in ("aaa", "bbb") for number in range(20)]
    # scored by a function of the user's, and not by the similarity
    search = GridSearchCV(Landmark(common, n_components=3, error_samples=0), {"n_components": [2, 5]}, cv=2, scoring=lambda lm, X: float(lm.n_components))
    assert search.fit(texts).best_params_ == {"n_components": 5}
    assert not hasattr(Landmark(common), "score")


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

"""Transport, machines, clusters, sketches and random features next to independent answers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from landmark import (
    FrequentDirections,
    LinearSvm,
    StructuredFeatures,
    average_linkage,
    coreference_scores,
    emd,
    ranking_scores,
    wmd,
    wmd_matrix,
)


def test_earth_movers_distance_is_the_optimum_of_its_linear_program() -> None:
    rng = np.random.default_rng(4)
    for m, n in [(1, 1), (3, 5), (7, 4)]:
        a, b, costs = rng.random(m), rng.random(n), rng.random((m, n))
        a, b = a / a.sum(), b / b.sum()
        rows = np.kron(np.eye(m), np.ones(n))
        columns = np.kron(np.ones(m), np.eye(n))
        wanted = linprog(costs.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b])).fun
        assert emd(a, b, costs) == pytest.approx(wanted, abs=1e-10)
        distance, flow = emd(a, b, costs, flow=True)
        np.testing.assert_allclose([flow.sum(axis=1), (flow * costs).sum()][0], a, atol=1e-12)
        assert (flow * costs).sum() == pytest.approx(distance)
    with pytest.raises(ValueError, match="masses 1 and 2"):
        emd([1.0], [0.5, 0.5], [[1.0]])


def test_word_movers_distance_of_two_texts_and_of_all() -> None:
    words = {"cat": [0.0, 0.0], "dog": [3.0, 4.0], "bird": [0.0, 1.0]}
    assert wmd("a cat", "the dog", words) == pytest.approx(5.0)
    distances = wmd_matrix(["cat", "dog", "cat bird"], words)
    np.testing.assert_allclose(distances, distances.T)
    assert distances[0, 2] == pytest.approx(0.5) and np.all(np.diag(distances) == 0)


def test_the_linear_machine_finds_the_optimum_of_scikit_learns() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(150, 5))
    for classes in (2, 3):
        y = np.array(["a", "b", "c"])[(x @ rng.normal(size=(5, classes)) + rng.normal(size=(150, classes))).argmax(axis=1)]
        ours = LinearSvm(C=0.7).fit(x, y)
        theirs = LinearSVC(C=0.7, dual=True, tol=1e-9, max_iter=200_000).fit(x, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
        assert np.mean(ours.predict(x) == theirs.predict(x)) > 0.99


def test_average_linkage_of_factors_is_that_of_scipy() -> None:
    rng = np.random.default_rng(7)
    z, signs = rng.normal(size=(40, 6)), np.array([1, 1, 1, 1, -1, -1.0])
    k = (z * signs) @ z.T
    distances = 1 - k[np.triu_indices(40, 1)]
    wanted = fcluster(linkage(distances - distances.min(), "average"), 1.5 - distances.min() - 1e-9, "distance")
    for found in (average_linkage(z, 1.5, signature=signs), average_linkage(k, 1.5, linkage="average")):
        same = found[:, None] == found[None]
        np.testing.assert_array_equal(same, wanted[:, None] == wanted[None])


def test_scores_of_clusters_and_rankings() -> None:
    scores = coreference_scores([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0])
    assert scores["muc"]["precision"] == 0.8 and scores["b_cubed"]["precision"] == 0.5 and scores["muc"]["recall"] == 1.0
    ranked = ranking_scores([[(3.0, True, True), (-1.0, False, False), (1.0, True, True)]])
    assert ranked["map"] == 1.0 and ranked["accuracy"] == 1.0


def test_a_sketch_keeps_its_bound_over_parts_and_merges() -> None:
    x = np.random.default_rng(9).normal(size=(400, 20)) * np.linspace(3, 0.1, 20)
    whole = FrequentDirections(5, rows=8, buffer=10).fit(x)
    parts = [FrequentDirections(5, rows=8, buffer=10) for _ in range(2)]
    parts[0].partial_fit(x[:100]).partial_fit(x[100:200])
    parts[1].fit(x[200:])
    merged = parts[0].merge(parts[1])
    for sketch in (whole, merged, pickle.loads(pickle.dumps(merged))):
        lost = np.linalg.norm(x.T @ x - sketch.sketch().T @ sketch.sketch(), 2)
        assert lost <= sketch.bound_["subtracted"] + 1e-9 <= (x**2).sum() / 8
        assert sketch.bound_["rows"] == 400
        np.testing.assert_allclose(sketch.components_ @ sketch.components_.T, np.eye(5), atol=1e-12)


@pytest.mark.parametrize("form", ["buffered", "figure_1"])
@pytest.mark.parametrize(("n", "d", "rows"), [(50, 6, 3), (300, 20, 8), (700, 40, 10), (90, 30, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_the_stated_bound_of_a_sketch_is_a_bound_of_the_sketch_it_returns(form: str, n: int, d: int, rows: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(2, 0.2, d)
    sketch = FrequentDirections(2, rows=rows, form=form)
    for start in range(0, n, 37):
        sketch.partial_fit(x[start : start + 37])
        y, seen = sketch.sketch(), x[: start + 37]
        assert len(y) <= rows
        lost = np.linalg.norm(seen.T @ seen - y.T @ y, 2)
        assert lost <= sketch.bound_["subtracted"] + 1e-9 <= (seen**2).sum() * (2 if form == "figure_1" else 1) / rows + 1e-8
        assert (y**2).sum() == pytest.approx(sketch.bound_["sketch_squared_norm"])


@pytest.mark.parametrize("family", ["dense", "circulant", "fastfood", "hd3"])
def test_structured_features_estimate_the_gaussian_kernel(family: str) -> None:
    x = np.random.default_rng(1).normal(size=(30, 10))
    map_ = StructuredFeatures("gaussian", family, 4096, sigma=3.0, random_state=2).fit(x)
    z = map_.transform(x)
    np.testing.assert_allclose(z @ z.T, rbf_kernel(x, gamma=1 / 18), atol=0.08)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(map_)).transform(x), z)
    assert z.shape[1] == len(map_.get_feature_names_out()) == 8192

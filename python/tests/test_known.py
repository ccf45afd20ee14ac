"""Searches stand on what a fit has evaluated."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from conftest import matrix

from landmark import Landmark

K = 10


def fitted(n: int = 120, seed: int = 3, **params: object) -> tuple[Landmark, np.ndarray]:
    scores = matrix(n, seed)
    np.fill_diagonal(scores, 1.0)
    return Landmark(metric="precomputed", n_components=15, random_state=1, **params).fit(scores), scores


def best(scores: np.ndarray) -> np.ndarray:
    masked = scores.copy()
    np.fill_diagonal(masked, -np.inf)
    return np.argsort(-masked, axis=1, kind="stable")[:, :K]


def recall(scores: np.ndarray, items: np.ndarray) -> float:
    return float(np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(best(scores), items)]))


def test_a_paid_search_without_a_proxy_finds_no_less_than_the_free_lists() -> None:
    lm, scores = fitted()
    free, before = lm.kneighbors(n_neighbors=K)[1], lm.n_calls_
    paid = lm.kneighbors(n_neighbors=K, calls_per_item=10)[1]
    assert recall(scores, paid) >= recall(scores, free)
    assert 0 < lm.n_calls_ - before <= min(10 * len(scores), lm.plan_kneighbors(n_neighbors=K, calls_per_item=10))


def test_landmarks_get_their_own_rows_back_whole_and_no_list_lacks_a_better_neighbor_of_the_fit() -> None:
    lm, scores = fitted()
    found, items = lm.kneighbors(n_neighbors=K, calls_per_item=3)
    landmarks = lm.component_indices_
    assert np.array_equal(items[landmarks], best(scores)[landmarks])
    assert lm.neighbors_exact_.all()
    for i in range(len(scores)):
        others = np.setdiff1d(landmarks, [i])
        better = others[scores[i, others] > found[i, -1]]
        assert np.isin(better, items[i]).all()


def test_a_pickled_fit_keeps_what_it_knows() -> None:
    lm, _ = fitted()
    again = pickle.loads(pickle.dumps(lm))
    assert np.array_equal(again.kneighbors(n_neighbors=K, calls_per_item=5)[1], lm.kneighbors(n_neighbors=K, calls_per_item=5)[1])


def test_pairs_without_a_call_warn_and_a_budget_finds_more() -> None:
    lm, scores = fitted()
    upper = scores[np.triu_indices(len(scores), 1)]
    threshold = float(np.sort(upper)[-200])
    with pytest.warns(UserWarning, match="recall is not known"):
        lm.mine(threshold)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few, more = lm.mine(threshold, budget=50), lm.mine(threshold, budget=1200)
    assert few.calls <= 50 and more.calls <= 1200
    assert len(more) > len(few) and len(more) >= 0.9 * 200
    assert more.exact.all() and all(scores[i, j] == score >= threshold for score, i, j in more)
    with pytest.raises(ValueError, match="search of its own"):
        lm.mine(threshold, budget=5, rescore=True)

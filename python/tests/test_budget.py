"""What a budget limits and what is counted: fits, searches and new items, in one number."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from landmark import BudgetExhausted, Landmark, Pairs, Wmd, join, plan_recall_of, recall_of

X = np.random.default_rng(8).normal(size=(60, 3))


class Score:
    """exp(−d) of two rows, counted; the order counts where it leans."""

    def __init__(self, lean: float = 0.0) -> None:
        self.calls, self.lean = 0, lean

    def __call__(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> list[float]:
        self.calls += len(pairs)
        return [float(np.exp(-np.linalg.norm(np.subtract(a, b))) + self.lean * (a[0] - b[0])) for a, b in pairs]


def fitted(score: Score, s: int = 5, **more: object) -> Landmark:
    more = {"order": "symmetric", "error_samples": 0, "diagonal": 1.0, **more}
    return Landmark(score, s, **more).fit(X)  # type: ignore[arg-type]


def test_new_items_take_from_the_budget_and_are_counted() -> None:
    score = Score()
    lm = fitted(score, budget=300)
    assert lm.n_calls_ == score.calls == 5 * 60 - 15
    lm.transform(X[:2] + 9.0)
    lm.transform(X[:1] + 10.0)
    assert lm.n_calls_ == score.calls == 300
    with pytest.raises(BudgetExhausted):
        lm.transform(X[:1] + 11.0)
    # a part of the scores would embed nothing, so none is asked for
    few = fitted(Score(), budget=295)
    with pytest.raises(BudgetExhausted, match="4 new items with 5 landmarks: they take 20 calls, and 10 of the budget of 295 are left"):
        few.transform(X[:4] + 9.0)
    assert few.transform(X[:2] + 9.0).shape[0] == 2 and few.n_calls_ == few.similarity.calls == 295
    # nothing is left for a search either, and nothing is forgotten
    with pytest.warns(UserWarning, match="the budget ended"):
        lm.kneighbors(n_neighbors=3, calls_per_item=2)
    assert lm.n_calls_ == score.calls == 300


def test_a_search_after_new_items_counts_both() -> None:
    score = Score()
    lm = fitted(score)
    lm.transform(X[:2] + 9.0)
    lm.kneighbors(n_neighbors=3, calls_per_item=2)
    lm.mine(0.5, rescore=True)
    assert lm.n_calls_ == score.calls
    copy = pickle.loads(pickle.dumps(lm))
    copy.kneighbors(n_neighbors=3, calls_per_item=2)
    assert copy.n_calls_ == lm.n_calls_ + copy.similarity.calls - score.calls


def test_a_pickle_does_not_renew_the_budget() -> None:
    lm = pickle.loads(pickle.dumps(fitted(Score(), budget=300)))
    with pytest.warns(UserWarning, match="the budget ended"):
        lm.kneighbors(n_neighbors=3, calls_per_item=4)
    assert lm.n_calls_ <= 300


def test_neighbors_of_new_items_are_those_that_the_budget_pays_for() -> None:
    score = Score()
    new = X[:4] + 0.1
    # 285 of the fit, 20 with the landmarks, and 10 of those of the search
    lm = fitted(score, budget=315)
    with pytest.warns(UserWarning, match="the budget ended"):
        similarities, items = lm.kneighbors(new, n_neighbors=6, calls_per_item=6)
    assert lm.n_calls_ == score.calls <= 315
    exact = lm.neighbors_exact_
    assert 0 < exact.sum() < 24 and exact[:, 0].all()
    truth = np.exp(-np.linalg.norm(new[:, None] - X[items], axis=2))
    np.testing.assert_allclose(similarities[exact], truth[exact])
    assert score.calls == 315
    # without a limit all are scored, and a pair with a landmark once
    score = Score()
    lm = fitted(score)
    lm.kneighbors(new, n_neighbors=60, calls_per_item=60)
    assert lm.neighbors_exact_.all() and score.calls == lm.n_calls_ == 285 + 4 * 60


def test_calls_per_new_item_are_calls_of_both_orders() -> None:
    score = Score(0.01)
    lm = fitted(score, order="mean")
    before = score.calls
    lm.kneighbors(X[:4] + 0.1, n_neighbors=3, calls_per_item=6)
    # at most 6 for each, on top of both orders with 5 landmarks
    assert 4 * 10 < score.calls - before <= 4 * (10 + 6) and lm.n_calls_ == score.calls
    with pytest.raises(ValueError, match="a pair takes 2 calls"):
        lm.kneighbors(X[:4] + 0.1, calls_per_item=1)
    with pytest.raises(ValueError, match="a pair takes 2 calls"):
        recall_of([(0, 1)], lm, threshold=0.5, calls=1)


def test_a_matrix_takes_one_call_per_pair_whatever_its_order() -> None:
    K = np.exp(-np.linalg.norm(X[:, None] - X, axis=2)) + 0.01 * X[:, :1]
    lm = Landmark(metric="precomputed", n_components=5, order="mean", error_samples=0).fit(K)
    assert recall_of([(i, i + 1) for i in range(59)], lm, threshold=0.3, calls=200).scored_pairs == 200


def test_what_failed_is_counted() -> None:
    score = Score()
    lm = fitted(score, budget=300)
    with pytest.raises(BudgetExhausted):
        recall_of([(i, i + 1) for i in range(59)], lm, threshold=0.3)
    assert lm.n_calls_ == score.calls <= 300


@pytest.mark.parametrize("order", ["symmetric", "mean"])
def test_calls_per_item_are_calls_whatever_a_pair_takes(order: str) -> None:
    score = Score(0.01 if order == "mean" else 0.0)
    lm = fitted(score, order=order)
    before = score.calls
    planned = lm.plan_kneighbors(n_neighbors=3, calls_per_item=40, target_recall=0.5)
    lm.kneighbors(n_neighbors=3, calls_per_item=40, target_recall=0.5, audit_rows=10)
    assert 0 < score.calls - before <= planned <= 40 * len(X)


@pytest.mark.parametrize("order", ["symmetric", "mean"])
def test_an_audit_by_an_estimator_takes_the_calls_that_its_plan_states(order: str) -> None:
    score = Score(0.01 if order == "mean" else 0.0)
    lm = fitted(score, order=order)
    candidates = [(i, i + 1) for i in range(59)]
    for more in ({"threshold": 0.3}, {"threshold": 0.3, "calls": 200}):
        planned, before = plan_recall_of(candidates, lm, **more), score.calls  # type: ignore[arg-type]
        recall_of(candidates, lm, **more)  # type: ignore[arg-type]
        assert score.calls - before == planned
    assert lm.n_calls_ == score.calls


def test_a_join_does_not_pass_a_budget_below_a_pair() -> None:
    score = Score(0.01)
    with pytest.raises(ValueError, match="a pair takes 2 calls"):
        join(X[:5], X[5:9], score, threshold=0.5, budget=1, order="mean")
    assert score.calls == 0


def test_groups_of_two_lists_have_no_plan() -> None:
    pairs = Pairs(np.array([[0, 1]]), np.array([0.9]), np.array([True]), 5, left=2, threshold=0.5)
    with pytest.raises(ValueError, match="components"):
        pairs.plan_groups()


def test_proxies_of_several_kinds_are_a_list() -> None:
    words = {"cat": [0.0, 1.0], "dog": [0.1, 0.9], "car": [1.0, 0.0], "bus": [0.9, 0.2]}
    texts = [f"{a} {b} {c}" for a in words for b in words for c in words]
    vectors = np.random.default_rng(0).normal(size=(len(texts), 4))
    lm = Landmark(Wmd(words), 4, gamma=1.0, proxy=[Wmd(words, kind="rwmd"), vectors], error_samples=0).fit(texts)
    assert lm.embedding_.shape[0] == len(texts)
    with pytest.raises(ValueError, match="scores items itself"):
        lm.transform(["cat whale"], proxy=[vectors[:1], vectors[:1]])
    for proxy in (["items", X[:, :2]], [X[:, :2], "items"], "items", [X, X[:, :2]], X.tolist()):
        assert fitted(Score(), proxy=proxy).embedding_.shape[0] == len(X)


def test_what_is_loaded_is_saved_again_as_it_was(tmp_path: Path) -> None:
    info = lambda name: json.loads((tmp_path / name / "factors.json").read_text())  # noqa: E731
    fitted(Score(), 100, method="nystrom", proxy=X, landmarks=[3, 14, 15]).save(tmp_path / "first")
    assert info("first")["cut_short"] is False and info("first")["proxy"] is True
    lm = Landmark.load(tmp_path / "first", Score(), X, identity="mine")
    assert (lm.method, lm.identity) == ("nystrom", "mine")
    lm.save(tmp_path / "second")
    kept = ("method", "proxy", "cut_short", "rank")
    assert [info("first")[key] for key in kept] == [info("second")[key] for key in kept]
    with pytest.raises(ValueError, match="identity='mine', and 'other' is given"):
        Landmark.load(tmp_path / "second", Score(), X, identity="other")
    with pytest.raises(ValueError, match="gamma=None, and 2.0 is given"):
        Landmark.load(tmp_path / "second", Score(), X, gamma=2.0)
    with pytest.raises(ValueError, match="method='nystrom', and 'sicur' is given"):
        Landmark.load(tmp_path / "second", Score(), X, method={"id": "sicur"})
    with pytest.raises(ValueError, match="a proxy takes part"):
        Landmark.load(tmp_path / "second", Score(), X).transform(X + 9.0)
    with pytest.warns(UserWarning, match="pays for"):
        fitted(Score(), s=20, budget=300).save(tmp_path / "third")
    assert info("third")["cut_short"] is True

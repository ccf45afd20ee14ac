"""Audits of candidates that something else found: the calls are stated before, and the bound holds as often as it states."""

from __future__ import annotations

import numpy as np
import pytest

from landmark import Cached, Landmark, Pairs, plan_recall_of, recall_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 3))
K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
TRUE = np.argwhere(np.triu(K, 1) >= 0.6)
# a blocking that loses a third of the true pairs
BLOCKED = np.vstack([TRUE[RNG.permutation(len(TRUE))[: 2 * len(TRUE) // 3]], RNG.integers(0, 120, size=(200, 2))])
BLOCKED = np.unique(np.sort(BLOCKED[BLOCKED[:, 0] != BLOCKED[:, 1]], axis=1), axis=0)


def truth() -> float:
    listed = set(map(tuple, BLOCKED.tolist()))
    return float(np.mean([tuple(pair) in listed for pair in TRUE.tolist()]))


class Score:
    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def __call__(self, pairs: list[tuple[int, int]]) -> np.ndarray:
        self.asked += pairs
        return np.array([K[i, j] for i, j in pairs])



def test_a_fitted_estimator_audits_with_its_own_score_and_store() -> None:
    x = np.arange(60)
    lm = Landmark(lambda pairs: [abs(int(a) - int(b)) for a, b in pairs], 8, gamma=0.5, order="symmetric", diagonal=1.0, error_samples=0).fit(x)
    candidates, before = [(i, i + 1) for i in range(59)], lm.n_calls_
    found = recall_of(candidates, lm, threshold=0.3)
    # exp(-1) and exp(-0.5) are at least 0.3
    assert found.recall == 59 / (59 + 58) == found.lower
    assert lm.n_calls_ == 60 * 59 // 2 > before
    assert found == recall_of(candidates, np.exp(-0.5 * np.abs(x[:, None] - x)), threshold=0.3)
    lists = lm.kneighbors(n_neighbors=5, return_similarity=False)
    assert recall_of(lists, lm, k=5).rows == 60
    with pytest.raises(ValueError, match="leave `items`"):
        recall_of(candidates, lm, x, threshold=0.3)
    with pytest.raises(ValueError, match="call `fit` first"):
        recall_of(candidates, Landmark(lambda pairs: [0.0] * len(pairs)), threshold=0.3)


def test_the_bound_on_pairs_holds_as_often_as_it_says() -> None:
    recalls = [recall_of(BLOCKED, K, threshold=0.6, calls=2500, delta=0.2, random_state=seed) for seed in range(60)]
    assert np.mean([recall.lower <= truth() for recall in recalls]) >= 0.7
    assert abs(np.mean([recall.recall for recall in recalls]) - truth()) < 0.05
    assert np.mean([recall.lower for recall in recalls]) > 0.3


def test_the_calls_are_told_before_the_first() -> None:
    score = Score()
    calls = plan_recall_of(BLOCKED, score, range(120), threshold=0.6, calls=1500)
    assert not score.asked
    recall = recall_of(BLOCKED, score, range(120), threshold=0.6, calls=1500)
    assert len(score.asked) == calls == recall.scored_pairs <= 1500


def test_known_scores_of_candidates_take_no_call() -> None:
    score = Score()
    recall = recall_of(BLOCKED, score, range(120), threshold=0.6, scores=K[BLOCKED[:, 0], BLOCKED[:, 1]], calls=1000)
    asked = set(map(tuple, score.asked))
    assert len(score.asked) == 1000 and not asked & set(map(tuple, BLOCKED.tolist()))
    assert recall.lower <= recall.recall


def test_an_audit_of_all_pairs_is_exact() -> None:
    recall = recall_of(BLOCKED, K, threshold=0.6, calls=120 * 119 // 2)
    assert recall.recall == recall.lower == truth() and recall.bound == "all pairs"


def test_pairs_of_this_package_and_of_sentence_transformers_are_candidates() -> None:
    lm = Landmark(K, 30, error_samples=0).fit(range(120))
    found = lm.mine(0.6, rescore=True)
    assert isinstance(found, Pairs)
    as_lists = [[score, i, j] for score, i, j in found]
    first, second = (recall_of(one, K, threshold=0.6, calls=2000) for one in (found, as_lists))
    assert first == second and first.recall > 0.5


def test_the_bound_on_lists_holds_as_often_as_it_says() -> None:
    near = np.argsort(-(K - 9 * np.eye(120)), axis=1)
    lists = np.hstack([near[:, :3], near[:, 60:62]])
    recalls = [recall_of(lists, K, k=5, delta=0.2, calls=30 * 119, random_state=seed) for seed in range(40)]
    assert all(recall.recall == pytest.approx(0.6) and recall.rows == 30 for recall in recalls)
    assert all(0.3 < recall.lower <= 0.6 + 1e-9 for recall in recalls)
    assert recall_of(near[:, :5], K, k=5).recall == 1.0
    whole = recall_of(lists, K, k=5, calls=120 * 119)
    assert whole.lower == whole.recall == pytest.approx(0.6) and whole.bound == "all rows"


def test_lists_of_semantic_search_are_candidates_of_two_lists() -> None:
    rows, columns = [f"a{i}" for i in range(40)], [f"b{i}" for i in range(80)]

    def score(pairs: list[tuple[str, str]]) -> list[float]:
        return [float(K[int(a[1:]), 40 + int(b[1:])]) for a, b in pairs]

    near = np.argsort(-K[:40, 40:], axis=1)
    hits = [[{"corpus_id": int(j), "score": 0.0} for j in row[:4]] for row in near]
    assert recall_of(hits, score, rows, right=columns, k=4, calls=40 * 80).recall == 1.0
    pairs = np.argwhere(K[:40, 40:] >= 0.5)
    audit = recall_of(pairs[::2], score, rows, right=columns, threshold=0.5, calls=40 * 80)
    assert audit.recall == pytest.approx(len(pairs[::2]) / len(pairs)) and audit.lower == audit.recall


def test_an_audit_fills_the_cache_of_the_model() -> None:
    score = Score()
    cached = Cached(score, order="symmetric")
    recall_of(BLOCKED, cached, range(120), threshold=0.6, calls=800)
    asked = len(score.asked)
    recall_of(BLOCKED, cached, range(120), threshold=0.7, calls=800)
    assert len(score.asked) == asked == cached.n_calls_ == 800


@pytest.mark.parametrize(
    ("candidates", "arguments", "message"),
    [
        ([(0, 1)], {}, "one of them"),
        ([(0, 500)], {"threshold": 0.5}, "out of range"),
        ([(0.5, 1.5)], {"threshold": 0.5}, "pairs of item numbers"),
        ([[1]], {"k": 1}, "for each of 120 items"),
        ([(0, 1)], {"threshold": 0.5, "scores": [1.0, 2.0]}, "one per candidate"),
    ],
)
def test_candidates_of_other_items_are_an_error(candidates: list, arguments: dict, message: str) -> None:
    with pytest.raises((ValueError, IndexError), match=message):
        recall_of(candidates, K, **arguments)


def test_candidates_without_a_true_pair_are_told_so() -> None:
    recall = recall_of([(0, 1)], np.where(np.eye(30) > 0, 1.0, 0.0), threshold=0.5)
    assert recall.lower == 0.0 and not recall.is_reached and recall.enough is not None and "threshold" in recall.enough

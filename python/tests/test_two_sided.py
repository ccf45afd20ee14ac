"""Two lists: nothing is scored within a list, a pair is asked in one order, and recall is stated as for one list."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from landmark import Cached, TwoSided, join

RNG = np.random.default_rng(0)
QUERIES = RNG.normal(size=(60, 5))
DOCUMENTS = np.vstack([QUERIES[:30] + 0.1 * RNG.normal(size=(30, 5)), RNG.normal(size=(130, 5))])
LEFT = [f"q{i}" for i in range(len(QUERIES))]
RIGHT = [f"d{i}" for i in range(len(DOCUMENTS))]
K = np.exp(-0.15 * ((QUERIES[:, None] - DOCUMENTS) ** 2).sum(-1))


class Score:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [float(K[int(a[1:]), int(b[1:])]) for a, b in pairs]


def best(k: int) -> np.ndarray:
    return np.argsort(-K, axis=1)[:, :k]


def recall(items: np.ndarray, k: int) -> float:
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(items.tolist(), best(k).tolist())]))


def test_documents_of_queries_are_found_by_a_share_of_the_calls() -> None:
    score = Score()
    search = TwoSided(score).fit(RIGHT)
    scores, items = search.kneighbors(LEFT, n_neighbors=5, calls_per_query=60)
    assert recall(items, 5) > 0.8
    assert len(score.asked) == search.n_calls_ <= 60 * len(LEFT)
    assert all(a[0] == "q" and b[0] == "d" for a, b in score.asked) and len(set(score.asked)) == len(score.asked)
    exact = search.neighbors_.exact
    np.testing.assert_array_equal(scores[exact], K[np.nonzero(exact)[0], items[exact]])


def test_embeddings_find_more_at_the_same_calls() -> None:
    noise = np.random.default_rng(1)
    proxy = QUERIES + 0.3 * noise.normal(size=QUERIES.shape), DOCUMENTS + 0.3 * noise.normal(size=DOCUMENTS.shape)
    without = TwoSided(Score()).fit(RIGHT).kneighbors(LEFT, 5, calls_per_query=16, return_similarity=False)
    items = TwoSided(Score()).fit(RIGHT, proxy=proxy[1]).kneighbors(LEFT, 5, calls_per_query=16, proxy=proxy[0], return_similarity=False)
    assert recall(items, 5) > recall(without, 5)
    with pytest.raises(ValueError, match="to neither"):
        TwoSided(Score()).fit(RIGHT, proxy=proxy[1]).kneighbors(LEFT)


def test_all_calls_are_exact() -> None:
    items = TwoSided(Score()).fit(RIGHT).kneighbors(LEFT, 5, calls_per_query=len(RIGHT), return_similarity=False)
    assert recall(items, 5) == 1.0


def test_a_join_with_a_target_lists_that_share_as_often_as_it_says() -> None:
    truth, short = int(np.sum(K >= 0.75)), 0
    for seed in range(8):
        score = Score()
        pairs = join(LEFT, RIGHT, score, threshold=0.75, target_recall=0.8, delta=0.1, random_state=seed)
        assert pairs.recall is not None and pairs.recall.is_reached
        short += len(pairs) < 0.8 * truth
        assert all(K[i, j] == found >= 0.75 for found, i, j in pairs)
        assert pairs.calls == len(score.asked) == len(set(score.asked)) <= len(LEFT) * len(RIGHT)
        assert all(a[0] == "q" and b[0] == "d" for a, b in score.asked)
    assert short <= 2


def test_a_join_by_a_budget_warns_that_its_recall_is_unknown() -> None:
    score = Score()
    with pytest.warns(UserWarning, match="recall of these pairs is not known"):
        pairs = join(LEFT, RIGHT, score, threshold=0.5, budget=3000)
    assert len(score.asked) == pairs.calls <= 3000 and len(pairs) > 0.6 * np.sum(K >= 0.5)
    nearest = join(LEFT, RIGHT, Score(), k=2, budget=6000)
    assert len(nearest) == 2 * len(LEFT)


def test_a_budget_that_ends_a_join_is_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="was not reached"):
        pairs = join(LEFT, RIGHT, Score(), threshold=0.5, target_recall=0.9, budget=600)
    assert pairs.recall is not None and not pairs.recall.is_reached and pairs.calls <= 600


def test_a_cross_encoder_is_asked_once_for_a_query_and_a_document(tmp_path: Path) -> None:
    cached = Cached(Score(), tmp_path / "store", identity="s", order="given")
    join(LEFT, RIGHT, cached, k=1, budget=2000)
    calls = cached.n_calls_
    join(LEFT, RIGHT, cached, k=1, budget=2000)
    assert cached.n_calls_ == calls


def test_two_lists_want_one_of_two() -> None:
    with pytest.raises(ValueError, match="one of them"):
        join(LEFT, RIGHT, Score())
    with pytest.raises(ValueError, match="above a threshold"):
        join(LEFT, RIGHT, Score(), k=2, target_recall=0.9)


def test_groups_of_two_lists_have_items_of_both() -> None:
    pairs = join(LEFT, RIGHT, Score(), k=1, budget=len(LEFT) * len(RIGHT))
    groups = pairs.groups()
    assert len(groups) == len(LEFT) + len(RIGHT)
    assert all(groups[i] == groups[len(LEFT) + j] for _, i, j in pairs)
    with pytest.raises(ValueError, match="within a list"):
        pairs.groups("average", verify=lambda pairs: np.ones(len(pairs)))

"""The adapter for MTEB, in MTEB's own evaluation."""

from __future__ import annotations

import numpy as np
import pytest

mteb = pytest.importorskip("mteb", reason="mteb is not installed: `.venv/bin/python -m pip install mteb`")

from landmark import Cached
from landmark.mteb import Search

DOCUMENTS = [{"id": f"d{i}", "title": "item" if i % 2 else "", "text": f"number {i} {'abcdefghij'[i % 10]}"} for i in range(40)]
QUERIES = [{"id": f"q{i}", "text": f"item number {3 * i}"} for i in range(6)]


def overlap(pairs: list[tuple[str, str]]) -> list[float]:
    found = []
    for a, b in pairs:
        x, y = set(a.split()), set(b.split())
        found.append(len(x & y) / len(x | y) - 0.001 * len(b))
    return found


class Letters:
    """A bi-encoder: counts of letters."""

    def encode(self, texts: list[str], **how: object) -> np.ndarray:
        return np.array([[text.count(letter) for letter in "abcdefghij0123456789"] for text in texts], dtype=np.float32)


def texts() -> list[str]:
    return [f"{row['title']} {row['text']}".strip() for row in DOCUMENTS]


def test_it_is_a_search_protocol_and_names_the_model() -> None:
    search = Search(overlap, identity="overlap v1", calls_per_query=20)
    assert isinstance(search, mteb.models.models_protocols.SearchProtocol)
    meta = search.mteb_model_meta
    assert meta.name == "landmark/overlap-v1" and meta.experiment_kwargs == {"calls_per_query": 20}


def test_all_calls_give_the_exact_ranking_and_no_pair_is_scored_twice() -> None:
    search = Search(overlap, calls_per_query=40)
    search.index(DOCUMENTS)
    found = search.search(QUERIES, top_k=5)
    for row in QUERIES:
        truth = dict(zip([document["id"] for document in DOCUMENTS], overlap([(row["text"], text) for text in texts()])))
        assert sorted(found[row["id"]].values()) == sorted(truth.values())[-5:]
        assert all(truth[name] == score for name, score in found[row["id"]].items())
    assert search.n_calls_ == 6 * 40
    assert search.search(QUERIES, top_k=5) == found and search.n_calls_ == 6 * 40


def test_estimates_stand_below_what_was_evaluated_and_calls_are_kept() -> None:
    asked: dict[tuple[str, str], float] = {}

    def remembered(pairs: list[tuple[str, str]]) -> list[float]:
        scores = overlap(pairs)
        asked.update(zip(pairs, scores))
        return scores

    search = Search(remembered, encoder=Letters(), calls_per_query=12)
    search.index(DOCUMENTS)
    found = search.search(QUERIES, top_k=40)
    assert len(asked) == search.n_calls_ <= 6 * 12
    named = dict(zip(texts(), [row["id"] for row in DOCUMENTS]))
    for row in QUERIES:
        exact = {named[document]: score for (query, document), score in asked.items() if query == row["text"]}
        scores = found[row["id"]]
        assert len(scores) == 40 and all(scores[name] == score for name, score in exact.items())
        others = [score for name, score in scores.items() if name not in exact]
        assert max(others) < min(exact.values())
    # as it is evaluated: by score
    best = [max(scores, key=scores.__getitem__) for scores in found.values()]
    assert np.mean([name == f"d{3 * i}" for i, name in enumerate(best)]) >= 0.5


def test_the_evaluation_of_mteb_runs_retrieval_and_reranking() -> None:
    mocks = pytest.importorskip("mteb.mocks.mock_tasks", reason="this mteb has no mock tasks")
    search = Search(Cached(overlap, order="given"), calls_per_query=10, name="landmark/overlap")
    for task in (mocks.MockRetrievalTask(), mocks.MockRerankingTask()):
        # what `mteb.evaluate` calls for each split: it wants torch, whatever the model is
        task.load_data()
        scores = task.evaluate(search, "test", encode_kwargs={})["default"]
        assert 0.0 <= scores["ndcg_at_10"] <= 1.0
    assert search.n_calls_ > 0


def test_a_reranking_scores_what_is_listed_and_nothing_else() -> None:
    search = Search(overlap)
    search.index(DOCUMENTS)
    found = search.search(QUERIES[:2], top_k=2, top_ranked={"q0": ["d1", "d0", "d30"], "q1": ["d3"]})
    assert search.n_calls_ == 4
    assert list(found["q0"])[0] == "d0" and len(found["q0"]) == 2 and list(found["q1"]) == ["d3"]
    with pytest.raises(ValueError, match="no `text`"):
        search.search([{"id": "q", "text": ["a", "b"]}], top_k=1)
    with pytest.raises(ValueError, match="call `index` first"):
        Search(overlap).search(QUERIES, top_k=1)

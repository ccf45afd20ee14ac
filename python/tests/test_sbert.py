"""The utilities of sentence-transformers by a cross-encoder: their results, at a number of calls, and no exception where a warning will do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landmark import Cached
from landmark.sbert import community_detection, mine_hard_negatives, paraphrase_mining, semantic_search

RNG = np.random.default_rng(0)
CENTERS = RNG.normal(size=(40, 6))
POINTS = np.repeat(CENTERS, 5, axis=0) + 0.15 * RNG.normal(size=(200, 6))
TEXTS = [f"sentence {i}" for i in range(200)]


def place(text: str) -> int:
    return int(text.split()[-1])


class CrossEncoder:
    """Asymmetric, as cross-encoders are."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def of(self, a: str, b: str) -> float:
        i, j = place(a), place(b)
        return float(np.exp(-0.5 * np.sum((POINTS[i] - POINTS[j]) ** 2))) + 0.02 * (i < j)

    def predict(self, sentences: list[Any], batch_size: int = 32, show_progress_bar: bool = False) -> np.ndarray:
        self.asked += [tuple(pair) for pair in sentences]
        return np.array([self.of(a, b) for a, b in sentences])


class BiEncoder:
    def encode(self, texts: list[str], batch_size: int = 32, show_progress_bar: bool = False) -> np.ndarray:
        return POINTS[[place(text) for text in texts]] + 0.1 * np.random.default_rng(1).normal(size=(len(texts), 6))


MODEL = CrossEncoder()
MEAN = np.array([[(MODEL.of(a, b) + MODEL.of(b, a)) / 2 for b in TEXTS] for a in TEXTS])
TRUE = {(int(i), int(j)) for i, j in np.argwhere(np.triu(MEAN, 1) >= 0.6)}


def test_paraphrases_are_mined_at_a_number_of_calls() -> None:
    model = CrossEncoder()
    pairs = paraphrase_mining(BiEncoder(), TEXTS, cross_encoder=model, threshold=0.6, calls_per_item=60)
    assert len(model.asked) == pairs.n_calls_ <= 60 * 200
    assert isinstance(pairs, list) and isinstance(pairs[0], list)
    assert [row[0] for row in pairs] == sorted((row[0] for row in pairs), reverse=True)
    found = {(i, j) for _, i, j in pairs}
    assert len(found & TRUE) > 0.9 * len(TRUE) and found <= TRUE
    assert all(score == pytest.approx(MEAN[i, j]) for score, i, j in pairs)


def test_a_target_recall_is_stated() -> None:
    pairs = paraphrase_mining(BiEncoder(), TEXTS, cross_encoder=CrossEncoder(), threshold=0.6, target_recall=0.8)
    assert pairs.recall_ is not None and pairs.recall_.is_reached and pairs.recall_.lower >= 0.8
    assert len({(i, j) for _, i, j in pairs} & TRUE) >= 0.7 * len(TRUE)


def test_a_budget_that_is_too_small_for_an_audit_is_spent_on_a_search() -> None:
    with pytest.warns(UserWarning, match="was not reached"):
        pairs = paraphrase_mining(BiEncoder(), TEXTS, cross_encoder=CrossEncoder(), threshold=0.6, target_recall=0.99, budget=6000)
    assert pairs.recall_ is not None and not pairs.recall_.is_reached
    assert 5000 < pairs.n_calls_ <= 6000 and len({(i, j) for _, i, j in pairs}) == len(pairs) > 0.6 * len(TRUE)


@pytest.mark.parametrize(
    "arguments",
    [{"budget": 3}, {"calls_per_item": 1}, {"target_recall": 0.9, "budget": 500, "threshold": 0.6}, {"target_recall": 0.9}, {"threshold": 5.0}],
)
def test_nothing_is_refused(arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = paraphrase_mining(BiEncoder(), TEXTS[:60], cross_encoder=CrossEncoder(), **arguments)
    assert isinstance(pairs, list)
    assert pairs.n_calls_ <= arguments.get("budget", 10**9)
    assert paraphrase_mining(None, [], cross_encoder=CrossEncoder()) == paraphrase_mining(None, ["sentence 0"], cross_encoder=CrossEncoder()) == []


def test_all_pairs_are_scored_where_the_calls_pay_for_them() -> None:
    pairs = paraphrase_mining(None, TEXTS[:20], cross_encoder=CrossEncoder(), calls_per_item=100)
    assert len(pairs) == 190 and pairs.recall_ is not None and pairs.recall_.recall == 1.0
    few = paraphrase_mining(None, TEXTS[:20], max_pairs=7, top_k=2, cross_encoder=CrossEncoder(), calls_per_item=100)
    assert len(few) == 7


def test_two_lists_are_mined_in_one_order() -> None:
    model = CrossEncoder()
    pairs = paraphrase_mining(BiEncoder(), TEXTS[:100], cross_encoder=model, other=TEXTS[100:], threshold=0.6, calls_per_item=20)
    assert all(place(a) < 100 <= place(b) for a, b in model.asked)
    assert all(score == pytest.approx(model.of(TEXTS[i], TEXTS[100 + j])) for score, i, j in pairs)


def test_semantic_search_is_of_the_cross_encoder() -> None:
    model = CrossEncoder()
    hits = semantic_search(TEXTS[::10], TEXTS, top_k=5, cross_encoder=model, model=BiEncoder(), calls_per_query=60)
    assert len(hits) == 20 and all(len(row) == 5 for row in hits)
    assert np.mean([row[0]["score"] >= max(model.of(TEXTS[i], text) for text in TEXTS) - 1e-9 for i, row in zip(range(0, 200, 10), hits)]) > 0.8
    assert semantic_search([], TEXTS, cross_encoder=model) == [] and semantic_search(TEXTS[:1], [], cross_encoder=model) == [[]]


PAIRS = [(TEXTS[5 * i], TEXTS[5 * i + 1]) for i in range(40)]


def test_hard_negatives_keep_their_margins(tmp_path: Path) -> None:
    model = CrossEncoder()
    cached = Cached(model, tmp_path / "store", identity="ce", order="given", verify=0)
    mined = mine_hard_negatives(
        PAIRS, BiEncoder(), corpus=TEXTS, cross_encoder=cached, absolute_margin=0.2, max_score=0.7, num_negatives=2, output_scores=True
    )
    assert set(mined) == {"anchor", "positive", "negative", "scores"} and len(mined["anchor"]) >= 40
    for anchor, positive, negative, (of_positive, of_negative) in zip(*mined.values()):
        assert of_positive == pytest.approx(model.of(anchor, positive)) and of_negative == pytest.approx(model.of(anchor, negative))
        assert of_negative <= of_positive - 0.2 + 1e-12 and of_negative <= 0.7 and negative not in (positive,)
    calls = len(model.asked)
    mine_hard_negatives(PAIRS, BiEncoder(), corpus=TEXTS, cross_encoder=cached, relative_margin=0.1)
    assert len(model.asked) == calls


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        ("triplet", {"anchor", "positive", "negative"}),
        ("n-tuple", {"anchor", "positive", "negative_1", "negative_2"}),
        ("labeled-pair", {"anchor", "positive", "label"}),
        ("labeled-list", {"anchor", "positive", "labels"}),
    ],
)
@pytest.mark.parametrize("strategy", ["top", "random"])
def test_negatives_have_the_formats_of_sentence_transformers(form: Any, columns: set[str], strategy: Any) -> None:
    mined = mine_hard_negatives(PAIRS, BiEncoder(), cross_encoder=CrossEncoder(), num_negatives=2, output_format=form, sampling_strategy=strategy)
    assert set(mined) == columns and len({len(column) for column in mined.values()}) == 1 and len(mined["anchor"]) > 0


def test_columns_are_named_and_too_few_negatives_are_a_warning() -> None:
    columns = {"query": [a for a, _ in PAIRS], "answer": [b for _, b in PAIRS], "id": list(range(40))}
    with pytest.warns(UserWarning, match="40 of 40 pairs have fewer than 3 negatives"):
        mined = mine_hard_negatives(columns, cross_encoder=CrossEncoder(), absolute_margin=10.0)
    assert mined == {}
    named = mine_hard_negatives(columns, BiEncoder(), positive_column_name="answer", cross_encoder=CrossEncoder(), num_negatives=1)
    assert set(named) == {"query", "answer", "negative"}


def test_communities_have_a_center() -> None:
    communities = community_detection(TEXTS, 0.6, 4, cross_encoder=CrossEncoder(), model=BiEncoder(), calls_per_item=80)
    assert len(communities) > 20 and len({item for one in communities for item in one}) == sum(map(len, communities))
    for one in communities:
        assert len(one) >= 4 and all(MEAN[one[0], item] >= 0.6 for item in one[1:])

"""Scores that depend on the order of a pair are not taken as symmetric without a word, and what that costs is in the planned calls."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import pytest

from landmark import Blockwise, Landmark

TEXTS = [f"text {i * 7919 % 1009} {'x' * (i % 9)}" for i in range(60)]


class Model:
    """A cross-encoder as sentence-transformers has it; `skew` is how much the order counts."""

    def __init__(self, skew: float) -> None:
        self.skew = skew
        self.asked: Counter[tuple[str, str]] = Counter()

    def of(self, a: str, b: str) -> float:
        return len(set(a) & set(b)) / len(set(a) | set(b)) + self.skew * (len(a) - len(b))

    def predict(self, sentences: list[list[str]]) -> Any:
        self.asked.update((a, b) for a, b in sentences)
        return np.array([self.of(a, b) for a, b in sentences])


def function(model: Model) -> Any:
    return lambda pairs: model.predict([list(pair) for pair in pairs])


@pytest.mark.parametrize("samples", [0, 100])
@pytest.mark.parametrize("store", [False, True])
def test_a_symmetric_score_costs_sixteen_calls_more_and_the_call_plan_says_so(store: bool, samples: int, tmp_path: Any) -> None:
    model = Model(0.0)
    kept = {"store": tmp_path, "identity": "model"} if store else {}
    lm = Landmark(function(model), 8, error_samples=samples, **kept)
    call_plan = lm.plan(TEXTS)
    assert not model.asked and call_plan.is_exact and call_plan.calls_of_the_probe == 16
    lm.fit(TEXTS)
    assert sum(model.asked.values()) == call_plan.calls == lm.call_plan_.calls == lm.n_calls_ and lm.order_ == "symmetric"
    assert max(model.asked.values()) == 1, "no pair twice in one order"
    said = Landmark(function(Model(0.0)), 8, order="symmetric", error_samples=samples).fit(TEXTS)
    assert lm.n_calls_ - said.n_calls_ == 16 and lm.embedding_.tobytes() == said.embedding_.tobytes()
    if store:
        again = Landmark(function(model), 8, error_samples=samples, **kept)
        assert again.plan(TEXTS).calls == again.fit(TEXTS).n_calls_ == 0


def test_the_pairs_that_are_asked_are_the_same_in_every_process() -> None:
    asked = []
    for _ in range(2):
        model = Model(0.0)
        Landmark(function(model), 8, error_samples=0).fit(TEXTS)
        asked.append([pair for pair in model.asked if pair[::-1] in model.asked])
    assert asked[0] == asked[1] and len(asked[0]) == 2 * 16 + 8


@pytest.mark.parametrize("samples", [0, 100])
def test_a_function_of_two_orders_is_refused_before_the_fit_with_what_to_do(samples: int) -> None:
    model = Model(0.05)
    lm = Landmark(function(model), 8, error_samples=samples)
    with pytest.raises(ValueError, match=r'not symmetric.*`order="mean"`.*`order="symmetric"`'):
        lm.fit(TEXTS)
    assert sum(model.asked.values()) == 32
    for order in ("mean", "symmetric"):
        model.asked.clear()
        lm.set_params(order=order).fit(TEXTS)
        assert lm.order_ == order and sum(model.asked.values()) == lm.n_calls_ == lm.call_plan_.calls
        assert lm.call_plan_.calls_of_the_probe == 0


@pytest.mark.parametrize("samples", [0, 100])
@pytest.mark.parametrize("method", ["shift_ridge", "sicur"])
def test_a_predictor_of_two_orders_is_used_as_their_mean(method: str, samples: int, tmp_path: Any) -> None:
    model = Model(0.05)
    kept = {"store": tmp_path, "identity": "model"}
    lm = Landmark(model, 8, method=method, error_samples=samples, **kept)
    call_plan = lm.plan(TEXTS)
    assert not call_plan.is_exact and not model.asked
    lm.fit(TEXTS)
    assert lm.order_ == "mean" and sum(model.asked.values()) == lm.n_calls_ == lm.call_plan_.calls == call_plan.calls
    assert max(model.asked.values()) == 1
    i = int(lm.component_indices_[0])
    assert lm.similarities(i, 7) == pytest.approx((model.of(TEXTS[i], TEXTS[7]) + model.of(TEXTS[7], TEXTS[i])) / 2)
    said = Landmark(Model(0.05), 8, method=method, order="mean", error_samples=samples).fit(TEXTS)
    assert lm.embedding_.tobytes() == said.embedding_.tobytes()
    # what is scored after the fit, and read from a file, is the mean as well
    before = lm.n_calls_
    lm.transform(["new"])
    assert lm.n_calls_ - before == 2 * len(lm.component_indices_)
    lm.save(tmp_path / "factors")
    assert Landmark.load(tmp_path / "factors", model, TEXTS).order_ == "mean"


def test_a_symmetric_predictor_costs_less_than_its_plan() -> None:
    model = Model(0.0)
    lm = Landmark(model, 8, error_samples=50)
    call_plan = lm.plan(TEXTS)
    lm.fit(TEXTS)
    assert lm.order_ == "symmetric" and sum(model.asked.values()) == lm.n_calls_ == lm.call_plan_.calls < call_plan.calls


def test_blocks_are_asked_in_both_orders_too() -> None:
    cells: Counter[tuple[float, float]] = Counter()

    def block(rows: Any, columns: Any, skew: float) -> Any:
        cells.update((a, b) for a in rows[:, 0].tolist() for b in columns[:, 0].tolist())
        return np.exp(-((rows - columns.T) ** 2)) + skew * (rows - columns.T)

    x = np.linspace(0, 3, 50)[:, None]
    lm = Landmark(Blockwise(block, skew=0.0), 6, error_samples=0)
    call_plan = lm.plan(x)
    lm.fit(x)
    assert call_plan.calls == lm.n_calls_ == lm.call_plan_.calls and 0 < call_plan.calls_of_the_probe <= 32
    with pytest.raises(ValueError, match="not symmetric"):
        Landmark(Blockwise(block, skew=0.1), 6, error_samples=0).fit(x)


@pytest.mark.parametrize("landmarks", ["kmeans++", "farthest"])
def test_landmarks_that_are_chosen_by_scores_are_probed_beside_them(landmarks: str) -> None:
    model = Model(0.0)
    lm = Landmark(function(model), 6, landmarks=landmarks, error_samples=0)
    call_plan = lm.plan(TEXTS)
    lm.fit(TEXTS)
    assert call_plan.calls_of_the_probe == 32 and sum(model.asked.values()) == lm.n_calls_ <= call_plan.calls
    with pytest.raises(ValueError, match="not symmetric"):
        Landmark(function(Model(0.05)), 6, landmarks=landmarks, error_samples=0).fit(TEXTS)


def test_a_budget_is_not_spent_on_the_other_order() -> None:
    model = Model(0.05)
    said = Landmark(function(Model(0.05)), 5, order="symmetric", error_samples=0)
    calls = said.plan(TEXTS).calls
    lm = Landmark(function(model), 5, budget=calls, error_samples=0).fit(TEXTS)
    assert lm.call_plan_.calls_of_the_probe == 0 and sum(model.asked.values()) == calls and lm.n_components_ == 5


def test_few_items_and_copies_have_few_pairs() -> None:
    for texts in (["a", "ab"], ["a", "ab", "abc"], ["a"] * 5 + ["ab"] * 5, ["a", "a"]):
        model = Model(0.0)
        lm = Landmark(function(model), 2, error_samples=0)
        call_plan = lm.plan(texts)
        lm.fit(texts)
        assert sum(model.asked.values()) == lm.n_calls_ == call_plan.calls


def test_workers_are_told_that_they_do_not_look(tmp_path: Any) -> None:
    kept = {"store": tmp_path, "identity": "model"}
    with pytest.raises(ValueError, match='`order="mean"`'):
        Landmark(Model(0.1), 4, **kept).tiles(TEXTS)
    with pytest.warns(UserWarning, match="do not look at both orders"):
        Landmark(function(Model(0.1)), 4, **kept).tiles(TEXTS)


def truth(model: Model, texts: list[str], k: int) -> list[set[int]]:
    scores = np.array([[(model.of(a, b) + model.of(b, a)) / 2 for b in texts] for a in texts])
    np.fill_diagonal(scores, -np.inf)
    return [set(row) for row in np.argsort(-scores, axis=1)[:, :k].tolist()]


class Noisy(Model):
    """Half of what the order adds belongs to the items, half to the pair."""

    def of(self, a: str, b: str) -> float:
        noise = (hash_of(a + "\0" + b) - hash_of(b + "\0" + a)) + hash_of(a) - hash_of(b)
        return len(set(a.split()) & set(b.split())) / len(set(a.split()) | set(b.split())) + self.skew * noise


def hash_of(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little") / 2**32 - 0.5


def sentences(n: int) -> list[str]:
    rng = np.random.default_rng(5)
    return [" ".join(f"w{word}" for word in np.sort(rng.choice(12, 5)) + 8 * (i % 20)) + f" e{i}" for i in range(n)]


def test_a_search_asks_for_one_order_first_and_for_both_of_the_best(tmp_path: Any) -> None:
    texts, b = sentences(200), 20
    vectors = np.array([[1.0 * (f"w{word}" in text.split()) for word in range(180)] for text in texts]) + 0.05
    model = Noisy(0.1)
    kept = {"store": tmp_path, "identity": "model"}
    lm = Landmark(function(model), 2, order="mean", proxy=vectors, error_samples=0, **kept).fit(texts)
    before = lm.n_calls_
    planned = lm.plan_kneighbors(n_neighbors=5, calls_per_item=b)
    found, items = lm.kneighbors(n_neighbors=5, calls_per_item=b)
    calls = lm.n_calls_ - before
    assert calls == sum(model.asked.values()) - before <= planned == b * len(texts)
    assert max(model.asked.values()) == 1, "no order twice"
    single = sum(pair[::-1] not in model.asked for pair in model.asked)
    assert single > 0.4 * calls, "most pairs are known in one order"
    exact = lm.neighbors_exact_
    assert 0 < exact.sum() < exact.size
    for i, place in zip(*np.nonzero(exact), strict=True):
        a, other = texts[i], texts[items[i, place]]
        assert model.asked[a, other] == model.asked[other, a] == 1
        assert found[i, place] == pytest.approx((model.of(a, other) + model.of(other, a)) / 2, abs=1e-12)
    # what was asked is kept, in one order and in both
    model.asked.clear()
    again = Landmark(function(model), 2, order="mean", proxy=vectors, error_samples=0, **kept).fit(texts)
    assert np.array_equal(again.kneighbors(n_neighbors=5, calls_per_item=b)[1], items)
    assert again.n_calls_ == sum(model.asked.values()) == 0


def test_one_order_first_finds_more_than_both_orders_at_equal_calls() -> None:
    texts = sentences(200)
    vectors = np.array([[1.0 * (f"w{word}" in text.split()) for word in range(0, 180, 3)] for text in texts]) + 0.05
    model = Noisy(0.05)
    wanted = truth(model, texts, 5)

    def recall(similarity: Any, order: Any, calls: int) -> float:
        lm = Landmark(similarity, 2, order=order, proxy=vectors, error_samples=0).fit(texts)
        before = lm.n_calls_
        items = lm.kneighbors(n_neighbors=5, calls_per_item=calls)[1]
        assert lm.n_calls_ - before <= calls * len(texts)
        return float(np.mean([len(near & set(row)) / 5 for near, row in zip(wanted, items.tolist(), strict=True)]))

    # the mean as a score of its own: half of the pairs for the same calls of the model
    both = recall(lambda pairs: [(model.of(a, b) + model.of(b, a)) / 2 for a, b in pairs], "symmetric", 6)
    assert recall(function(model), "mean", 12) > both + 0.02


def test_a_budget_ends_a_search_in_one_order_and_what_it_knows_is_listed() -> None:
    texts = sentences(120)
    model = Noisy(0.1)
    lm = Landmark(function(model), 2, order="mean", error_samples=0, budget=1500).fit(texts)
    with pytest.warns(UserWarning, match="the budget ended"):
        items = lm.kneighbors(n_neighbors=5, calls_per_item=40)[1]
    assert lm.n_calls_ == sum(model.asked.values()) <= 1500 and items.shape == (120, 5)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_budget_that_ends_while_other_orders_are_asked_wastes_no_call(seed: int) -> None:
    texts = sentences(120)
    vectors = np.array([[1.0 * (f"w{word}" in text.split()) for word in range(180)] for text in texts]) + 0.05

    def searched(budget: int | None) -> tuple[Landmark, int, Model]:
        model = Noisy(0.1)
        lm = Landmark(function(model), 2, order="mean", proxy=vectors, error_samples=0, budget=budget, random_state=seed).fit(texts)
        before = lm.n_calls_
        lm.kneighbors(n_neighbors=5, calls_per_item=20)
        return lm, before, model

    whole, before, _ = searched(None)
    explored = before + (whole.n_calls_ - before) * 3 // 4
    with pytest.warns(UserWarning, match="the budget ended"):
        cut, _, model = searched(explored + 200)
    both = sum(pair[::-1] in model.asked for pair in model.asked) // 2
    # every call of the last batch completes a pair; the others are of the fit, whose pairs take two
    assert cut.n_calls_ == explored + 200 and both >= before // 2 + 195


def test_a_search_of_pairs_asks_for_one_order_first_and_lists_means() -> None:
    texts, model = sentences(100), Noisy(0.1)
    lm = Landmark(function(model), 4, order="mean", error_samples=0).fit(texts)
    before = lm.n_calls_
    pairs = lm.mine(0.2, budget=2000)
    assert lm.n_calls_ - before <= 2000 and lm.n_calls_ == model.asked.total() and max(model.asked.values()) == 1
    assert sum(pair[::-1] not in model.asked for pair in model.asked) > 300, "one order of many pairs"
    assert len(pairs) > 50 and pairs.exact.all()
    for (i, j), score in zip(pairs.items.tolist(), pairs.scores, strict=True):
        a, b = texts[i], texts[j]
        assert model.asked[a, b] == model.asked[b, a] == 1
        assert score == pytest.approx((model.of(a, b) + model.of(b, a)) / 2, abs=1e-12)


def test_distances_and_equal_items_are_searched_in_one_order_too() -> None:
    texts = sentences(80) + sentences(80)[:10]
    model = Noisy(0.1)
    distance = lambda pairs: [1.5 - model.of(a, b) for a, b in pairs]  # noqa: E731
    lm = Landmark(distance, 2, order="mean", gamma=1.0, diagonal=1.0, error_samples=0).fit(texts)
    found, items = lm.kneighbors(n_neighbors=3, calls_per_item=20)
    for i, place in zip(*np.nonzero(lm.neighbors_exact_), strict=True):
        a, other = texts[i], texts[items[i, place]]
        mean = 1.0 if a == other else np.exp(-1.5 + (model.of(a, other) + model.of(other, a)) / 2)
        assert found[i, place] == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("store", [False, True])
def test_a_function_of_blocks_is_searched_as_one_of_pairs(store: bool, tmp_path: Any) -> None:
    texts, model = sentences(80), Noisy(0.1)

    def lists(similarity: Any, name: str) -> Any:
        kept = {"store": tmp_path / name, "identity": "model"} if store else {}
        lm = Landmark(similarity, 4, order="mean", error_samples=0, **kept).fit(texts)
        before = lm.n_calls_
        found, items = lm.kneighbors(n_neighbors=3, calls_per_item=16)
        return items, found.round(12), lm.n_calls_ - before

    by_block = Blockwise(lambda rows, columns: np.array([[model.of(a, b) for b in columns] for a in rows]))
    for one, other in zip(lists(function(model), "pairs"), lists(by_block, "blocks"), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("store", [False, True])
def test_what_a_search_asked_in_one_order_takes_the_other_alone_later(store: bool, tmp_path: Any) -> None:
    texts, model = sentences(100), Noisy(0.1)
    kept = {"store": tmp_path, "identity": "model"} if store else {}
    lm = Landmark(function(model), 2, order="mean", error_samples=0, **kept).fit(texts)
    lm.kneighbors(n_neighbors=3, calls_per_item=20)
    begun = [pair for pair in model.asked if pair[::-1] not in model.asked]
    # an audit needs whole rows, of both orders
    lm.kneighbors(n_neighbors=3, target_recall=0.5, delta=0.4)
    ended = [pair for pair in begun if pair[::-1] in model.asked]
    assert len(begun) > 300 and len(ended) > 100
    assert max(model.asked.values()) == 1 and lm.n_calls_ == model.asked.total()
    if store:
        wide = Landmark(function(model), 30, order="mean", error_samples=0, **kept)
        planned, before = wide.plan(texts).calls, model.asked.total()
        wide.fit(texts)
        assert 0 < model.asked.total() - before == wide.n_calls_ == planned and max(model.asked.values()) == 1
        # and by a list that grew
        longer = [*texts, *sentences(120)[100:]]
        known = model.asked.total()
        grown = Landmark(function(model), 2, order="mean", error_samples=0, **kept).fit(longer)
        grown.kneighbors(n_neighbors=3, calls_per_item=20)
        assert max(model.asked.values()) == 1 and model.asked.total() - known < 20 * len(longer) / 2

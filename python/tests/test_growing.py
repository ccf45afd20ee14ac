"""Lists that grow, shrink and are reordered, and lists with equal items: what they cost."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landmark import Blockwise, Landmark, work

N, S = 1000, 50


class Trigrams:
    """Jaccard of character trigrams; remembers which pairs it was asked for."""

    def __init__(self) -> None:
        self.asked: Counter[frozenset[str]] = Counter()

    def of(self, a: str, b: str) -> float:
        x, y = ({text[at : at + 3] for at in range(len(text) - 2)} for text in (a, b))
        return len(x & y) / len(x | y)

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        self.asked.update(frozenset(pair) for pair in pairs)
        return [self.of(a, b) for a, b in pairs]


def made(count: int, seed: int = 3) -> list[str]:
    rng = np.random.default_rng(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts["".join(rng.choice(list("abcd"), size=rng.integers(6, 20)))] = None
    return list(texts)


TEXTS = made(N + 100)
BASE = TEXTS[:N]

CHANGES: dict[str, Callable[[], list[str]]] = {
    "append 1": lambda: TEXTS[: N + 1],
    "append 10": lambda: TEXTS[: N + 10],
    "append 100": lambda: TEXTS,
    "prepend one": lambda: [TEXTS[N], *BASE],
    "drop the first": lambda: BASE[1:],
    "shuffle": lambda: [BASE[place] for place in np.random.default_rng(1).permutation(N)],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("samples", [0, 1000])
def test_a_list_that_grows_shrinks_or_is_reordered_pays_for_what_is_new(tmp_path: Path, samples: int, seed: int) -> None:
    def landmark(store: str) -> Landmark:
        return Landmark(Trigrams(), S, store=tmp_path / store, identity="trigrams", random_state=seed, error_samples=samples)

    first = landmark("store").fit(BASE)
    before = {BASE[place] for place in first.component_indices_}
    for change, of in CHANGES.items():
        texts = of()
        shutil.copytree(tmp_path / "store", tmp_path / change)
        lm = landmark(change)
        planned = lm.plan(texts).calls
        lm.fit(texts)
        assert lm.n_calls_ == planned
        new = len(set(texts) - set(BASE))
        columns = len({texts[place] for place in lm.component_indices_} - before)
        # of a uniform draw a part s·new/n is new items: those columns, the others' scores of new items, and pairs in the place of those with a new one
        unavoidable = new * (S - columns) + columns * len(texts) + 2 * samples * (new + columns) // len(texts)
        print(f"\n{change}, {samples} samples, seed {seed}: {planned} calls of {lm.call_plan_.calls_alone}, {columns} new columns, {unavoidable} unavoidable", end="")
        assert planned <= 1.3 * unavoidable + 25, change
        assert columns <= {"append 100": 12, "append 10": 4, "shuffle": 0}.get(change, 1), change
        if change == "shuffle":
            assert planned == 0


def test_copies_are_scored_once_and_the_call_plan_says_so() -> None:
    score = Trigrams()
    texts = BASE[:100] * 3
    lm = Landmark(score, 30, order="symmetric", error_samples=0, random_state=0)
    call_plan = lm.plan(texts)
    lm.fit(texts)
    # 30 different landmarks of 100 different texts, and their own 30 self-similarities are among them
    assert call_plan.calls == call_plan.calls_alone == lm.n_calls_ == sum(score.asked.values()) == 100 * 30 - 30 * 29 // 2
    assert max(score.asked.values()) == 1
    assert len({texts[place] for place in lm.component_indices_}) == 30
    place = int(lm.component_indices_[4])
    copy = (place + 100) % 300
    assert lm.similarities(place, copy) == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(lm.embedding_[:100], lm.embedding_[100:200], rtol=0, atol=1e-12)


@pytest.mark.parametrize("samples", [0, 300])
@pytest.mark.parametrize("method", ["shift_ridge", "sms_nystrom", "sicur"])
@pytest.mark.parametrize("order", ["symmetric", "mean"])
def test_what_is_planned_is_what_is_called_with_copies(samples: int, method: str, order: str) -> None:
    score = Trigrams()
    texts = [*BASE[:60], *BASE[:20], *BASE[40:70], BASE[3]]
    lm = Landmark(score, 12, method=method, order=order, error_samples=samples, random_state=2)
    call_plan = lm.plan(texts)
    lm.fit(texts)
    assert call_plan.calls == call_plan.calls_alone == lm.n_calls_ == sum(score.asked.values())
    # both orders of a pair, and a text with itself once
    assert max(score.asked.values()) == (2 if order == "mean" else 1)


def test_a_pair_of_equal_items_is_the_self_similarity_that_is_known() -> None:
    def never_itself(pairs: list[tuple[str, str]]) -> list[float]:
        assert all(a != b for a, b in pairs)
        return Trigrams()(pairs)

    texts = BASE[:40] * 2
    lm = Landmark(never_itself, 10, diagonal=1.0, error_samples=200, random_state=0)
    call_plan = lm.plan(texts)
    lm.fit(texts)
    assert lm.n_calls_ == call_plan.calls
    lists, items = lm.kneighbors(n_neighbors=3, calls_per_item=20)
    exact = lm.neighbors_exact_[:, 0]
    copies = items[:, 0] == (np.arange(80) + 40) % 80
    assert np.all(lists[copies & exact, 0] == 1.0)
    assert [pair for pair in lm.mine(0.99, rescore=True) if pair[0] != 1.0] == []


def test_blocks_hold_no_copies() -> None:
    cells = []

    def block(rows: list[str], columns: list[str]) -> Any:
        cells.append(len(rows) * len(columns))
        assert len(set(rows)) == len(rows) and len(set(columns)) == len(columns)
        return [[Trigrams().of(a, b) for b in columns] for a in rows]

    texts = BASE[:50] * 2
    lm = Landmark(Blockwise(block), 10, order="symmetric", error_samples=0, random_state=0)
    call_plan = lm.plan(texts)
    lm.fit(texts)
    assert lm.n_calls_ == call_plan.calls == 50 * 10 - 10 * 9 // 2


def test_workers_score_copies_once(tmp_path: Path) -> None:
    score = Trigrams()
    texts = BASE[:60] * 2
    lm = Landmark(score, 8, order="symmetric", store=tmp_path, identity="trigrams", error_samples=100, random_state=4)
    call_plan = lm.plan(texts)
    assert sum(work(tile) for tile in lm.tiles(texts, calls=200)) == call_plan.calls
    assert lm.fit(texts).n_calls_ == 0


def test_the_order_of_keys_makes_no_other_item(tmp_path: Path) -> None:
    calls = []

    def score(pairs: list[tuple[Any, Any]]) -> list[float]:
        calls.extend(pairs)
        return [1.0 / (1 + abs(a["x"] - b["x"]) + abs(len(a["tags"]) - len(b["tags"]))) for a, b in pairs]

    records = [{"x": x, "tags": {str(x), "a", "b" * (x % 3)}} for x in range(30)]
    turned = [{"tags": set(sorted(record["tags"], reverse=True)), "x": record["x"]} for record in records]
    lm = Landmark(score, 6, store=tmp_path, identity="records", error_samples=0, random_state=1).fit(records)
    asked = len(calls)
    assert np.array_equal(lm.transform(turned[:10]), lm.embedding_[:10])
    other = Landmark(score, 6, store=tmp_path, identity="records", error_samples=0, random_state=1).fit(turned)
    assert len(calls) == asked and other.n_calls_ == 0
    assert Landmark(score, 6, order="symmetric", error_samples=0, random_state=1).plan(records + turned).calls == 30 * 6 - 15

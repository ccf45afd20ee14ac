"""An exception of the score names the pair that raised it, and the scores before it are kept."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from landmark import Blockwise, Landmark

TEXTS = [f"text {i * 7919 % 1009}" for i in range(80)]
SETTINGS: dict[str, Any] = {"n_components": 10, "error_samples": 0, "diagonal": 1.0}


class Picky:
    """Raises for a batch with one pair in it."""

    def __init__(self, bad: str) -> None:
        self.bad, self.is_on, self.scored = bad, True, 0

    def of(self, a: str, b: str) -> float:
        if self.is_on and {a, b} == {self.bad, TEXTS[4]}:
            raise RuntimeError("too long")
        return len(set(a) & set(b)) / len(set(a) | set(b))

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        scores = [self.of(a, b) for a, b in pairs]
        self.scored += len(pairs)
        return scores


@pytest.mark.parametrize("order", [None, "symmetric", "mean"])
def test_the_pair_that_raised_is_named_and_those_before_it_are_kept(order: str | None, tmp_path: Any) -> None:
    score = Picky(TEXTS[61])
    lm = Landmark(score, landmarks=[4, *range(20, 29)], order=order, store=tmp_path, identity="picky", **SETTINGS)
    with pytest.raises(RuntimeError, match="too long") as caught:
        lm.fit(TEXTS)
    notes = "".join(caught.value.__notes__)
    assert "while scoring the pair (" in notes and repr(TEXTS[61]) in notes and repr(TEXTS[4]) in notes
    score.is_on, stored = False, lm.plan(TEXTS).stored
    # all before the pair of its batch, in the order asked; a pair of two orders counts twice
    asked = score.scored
    assert stored >= 0.8 * (asked - 16) > 0
    lm.fit(TEXTS)
    assert score.scored - asked == lm.n_calls_ == lm.call_plan_.calls_alone - stored


def test_the_pairs_of_coroutines_that_came_back_are_kept(tmp_path: Any) -> None:
    score, asked = Picky(TEXTS[61]), []

    async def one(a: str, b: str) -> float:
        asked.append((a, b))
        await asyncio.sleep(0)
        return score.of(a, b)

    lm = Landmark(one, landmarks=[4, *range(20, 29)], order="symmetric", store=tmp_path, identity="one", **SETTINGS)
    with pytest.raises(RuntimeError) as caught:
        lm.fit(TEXTS)
    assert repr(TEXTS[61]) in "".join(caught.value.__notes__)
    assert lm.plan(TEXTS).stored >= len(asked) - 2 * lm.concurrency


def test_a_batch_that_is_too_large_is_scored_in_parts_with_a_warning() -> None:
    def small(pairs: list[tuple[str, str]]) -> list[float]:
        if len(pairs) > 20:
            raise MemoryError("out of memory")
        return [1.0 / (1 + abs(len(a) - len(b))) for a, b in pairs]

    with pytest.warns(UserWarning, match="MemoryError for .* pairs at once, and scored them in smaller batches"):
        lm = Landmark(small, **SETTINGS).fit(TEXTS)
    assert lm.embedding_.shape[0] == 80


def test_a_connection_that_is_gone_is_not_tried_for_every_pair() -> None:
    calls = 0

    def gone(pairs: list[tuple[str, str]]) -> list[float]:
        nonlocal calls
        calls += 1
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError) as caught:
        Landmark(gone, **SETTINGS).fit(TEXTS)
    assert calls == 1 and "pairs at once" in "".join(caught.value.__notes__)


def test_the_pair_of_a_block_is_named() -> None:
    x = np.arange(40.0)[:, None]

    def block(rows: Any, columns: Any) -> Any:
        if 33.0 in rows and 7.0 in columns:
            raise RuntimeError("no")
        return np.exp(-np.abs(rows - columns.T))

    with pytest.raises(RuntimeError) as caught:
        Landmark(Blockwise(block), 3, landmarks=[1, 7, 9], order="symmetric", error_samples=0).fit(x)
    assert "while scoring the pair (33, 7)" in "".join(caught.value.__notes__)


def test_own_landmarks_set_their_number() -> None:
    lm = Landmark(Picky("none"), landmarks=[3, 14, 15], error_samples=0).fit(TEXTS)
    assert lm.component_indices_.tolist() == [3, 14, 15] and lm.n_components_ == 3

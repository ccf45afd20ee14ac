"""A score in Python as the compiled half calls it: which exception is of which pair, and what its answers become."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._items import Items, plain, shown, taken
from ._native import MeteredStore

if TYPE_CHECKING:
    from ._progress import Progress
    from .scores import Blockwise


def add_note(error: BaseException, note: str) -> None:
    """`error.add_note`, which Python 3.10 lacks; an exception that takes no note stays as it is."""
    try:
        if hasattr(error, "add_note"):
            error.add_note(note)
        else:
            error.__notes__ = [*getattr(error, "__notes__", []), note]
    except (AttributeError, TypeError):
        pass


class Batches:
    """A score in Python over some items, as the compiled half calls it: two arrays of items in, an array of scores out.

    A batch that raises is asked for again in halves, so that the exception names the pair that raised it and the scores before it are kept.
    """

    def __init__(self, ask: Callable[[list[tuple[Any, Any]]], Any], items: Items, *, both_orders: bool = False) -> None:
        self._ask, self._items, self._both_orders = ask, items, both_orders
        self.progress: Progress | None = None
        # scores of ordered pairs that were asked for and that no store has yet
        self.known: dict[tuple[int, int], float] = {}

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        pairs = list(zip(rows.tolist(), columns.tolist()))
        known = self.known
        new = [pair for pair in pairs if pair not in known] if known else pairs
        scores = self._score(new)
        if self.progress is not None:
            self.progress.add(len(new))
        if len(new) == len(pairs):
            return scores
        answers = iter(scores.tolist())
        return np.array([known[pair] if pair in known else next(answers) for pair in pairs])

    def in_both_orders(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores of pairs in the order given and in the other, which stay known."""
        there, back = list(map(tuple, pairs.tolist())), list(map(tuple, pairs[:, ::-1].tolist()))
        scores = self._score(there + back)
        self.known.update(zip(there + back, scores.tolist()))
        if self.progress is not None:
            self.progress.add(len(scores))
        return scores[: len(there)], scores[len(there) :]

    def hand_over(self, matrix: MeteredStore) -> None:
        """Puts what is known into the store of a fit or search that ended with an exception."""
        pairs = [pair for pair in self.known if not self._both_orders or pair[::-1] in self.known]
        if pairs:
            try:
                matrix.scores(np.array(pairs, dtype=np.int64))
            except Exception:
                # the exception that ended the search is the one to be seen
                pass

    def _score(self, places: list[tuple[int, int]]) -> NDArray[np.float64]:
        if not places:
            return np.empty(0)
        scores = np.full(len(places), np.nan)
        raised: Exception | None = None
        # parts of the batch, the next one last
        parts = [(0, len(places))]
        while parts:
            first, last = parts.pop()
            error = self._score_part(places[first:last], scores[first:last])
            if error is None:
                continue
            raised = raised or error
            if last - first > 1 and _may_be_of_one_pair(error):
                middle = (first + last) // 2
                parts += [(middle, last), (first, middle)]
                continue
            self.known.update((pair, score) for pair, score in zip(places, scores.tolist()) if score == score)
            raise error
        if raised is not None:
            message = f"the score raised {type(raised).__name__} for {len(places)} pairs at once, and scored them in smaller batches"
            warnings.warn(f"{message}: {raised}", stacklevel=2)
        return scores

    def _score_part(self, places: list[tuple[int, int]], room: NDArray[np.float64]) -> Exception | None:
        """Scores pairs into `room`; answers the exception, which names its pair."""
        items = self._items
        pairs = [(items[i], items[j]) for i, j in places]
        try:
            answer = self._ask(pairs)
        except Exception as error:
            for place, score in getattr(error, "_landmark_done", {}).items():
                if isinstance(score, (int, float, np.number)):
                    self.known[places[place]] = float(score)
            if len(pairs) == 1 or not _may_be_of_one_pair(error):
                self._name(error, places, getattr(error, "_landmark_place", None))
            return error
        try:
            room[:] = as_numbers(answer, len(pairs))
        except (TypeError, ValueError) as error:
            self._name(error, places, None)
            error._landmark_place = None  # type: ignore[union-attr]
            return error
        return None

    def _name(self, error: Exception, places: list[tuple[int, int]], place: int | None) -> None:
        """Notes at an exception which pair it is of, or which pairs."""
        i, j = places[place or 0]
        first = f"({i}, {j}): {shown(self._items[i])} and {shown(self._items[j])}"
        is_one = place is not None or len(places) == 1
        add_note(error, f"while scoring the pair {first}" if is_one else f"while scoring {len(places)} pairs at once, from {first}")
        if any(i == j for i, j in ([places[place or 0]] if is_one else places)):
            add_note(error, _ON_THE_DIAGONAL)


def _may_be_of_one_pair(error: Exception) -> bool:
    """False for exceptions that name the pair they are of, and for those of a connection, a file or a whole batch."""
    return not hasattr(error, "_landmark_place") and not isinstance(error, OSError)


class Blocks:
    """A `Blockwise` score over some items, as the compiled half calls it: two arrays of items in, the scores of their block out, row by row."""

    def __init__(self, score: Blockwise, items: Items) -> None:
        self._score, self._items = score, items
        self.progress: Progress | None = None

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        try:
            block = self._ask(rows, columns)
        except Exception as error:
            if not getattr(error, "_landmark_shape", False) and _may_be_of_one_pair(error):
                error, rows, columns = self._narrowed(error, rows, columns)
            i, j = int(rows[0]), int(columns[0])
            first = f"({i}, {j}): {shown(self._items[i])} and {shown(self._items[j])}"
            is_one = len(rows) == len(columns) == 1
            note = f"while scoring the pair {first}" if is_one else f"while scoring a block of {len(rows)} × {len(columns)}, from the pair {first}"
            add_note(error, note)
            raise error
        if self.progress is not None:
            self.progress.add(block.size)
        return block.ravel()

    def _ask(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        answer = self._score(taken(self._items, rows), taken(self._items, columns))
        try:
            return as_block(answer, len(rows), len(columns))
        except (TypeError, ValueError) as error:
            error._landmark_shape = True  # type: ignore[union-attr]
            raise

    def _narrowed(
        self, error: Exception, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> tuple[Exception, NDArray[np.int64], NDArray[np.int64]]:
        """The smallest block that halving finds to raise, and what it raised."""
        while len(rows) * len(columns) > 1:
            is_tall = len(rows) >= len(columns)
            side = rows if is_tall else columns
            for half in (side[: len(side) // 2], side[len(side) // 2 :]):
                part = (half, columns) if is_tall else (rows, half)
                try:
                    self._ask(*part)
                except Exception as smaller:
                    error, (rows, columns) = smaller, part
                    break
            else:
                break
        return error, rows, columns


_ON_THE_DIAGONAL = (
    "pairs of an item with itself are among them: where the score can't take these, give `diagonal`, the self-similarity that is known "
    "without a call (1.0 for most similarities, 0.0 for a distance)"
)


def _numbers(scores: Any, each: str) -> NDArray[np.float64]:
    """What a score answered as an array: of lists, arrays, sparse arrays, and tensors of any device. Truth values are 0 and 1; texts are no numbers."""
    for step in ("detach", "cpu", "numpy", "toarray"):
        if hasattr(scores, step) and not isinstance(scores, np.ndarray):
            scores = getattr(scores, step)()
    refused = f"a score answers one number {each}, and this one answered {shown(scores)}"
    try:
        array = np.asarray(plain(scores))
        is_text = array.dtype.kind in "USTcmMV" or (array.dtype.kind == "O" and any(one is None or isinstance(one, (str, bytes)) for one in array.ravel()))
        # NumPy turns numbers that are mixed with texts into texts, and `None` into NaN
        numbers = array.astype(np.float64) if not is_text else None
    except (TypeError, ValueError) as error:
        raise TypeError(refused) from error
    if numbers is None:
        raise TypeError(refused)
    return np.asarray(numbers)


def as_numbers(scores: Any, wanted: int) -> NDArray[np.float64]:
    """Scores of a batch as one array, which may come as m × 1."""
    numbers = _numbers(scores, "a pair")
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (wanted,):
        hint = "; a function of two lists of items that answers their block is handed over as `Blockwise(function)`"
        message = f"{wanted} pairs were asked for, and the score answered an array of shape {numbers.shape}"
        raise ValueError(message + (hint if numbers.ndim == 2 else ""))
    return np.ascontiguousarray(numbers)


def as_block(scores: Any, rows: int, columns: int) -> NDArray[np.float64]:
    """Scores of a block as an array of its shape."""
    numbers = _numbers(scores, "for each row with each column")
    if numbers.shape != (rows, columns):
        hint = "; a function of a list of pairs is handed over as it is, without `Blockwise`" if numbers.ndim == 1 else ""
        raise ValueError(f"a block of {rows} × {columns} was asked for, and the score answered an array of shape {numbers.shape}{hint}")
    return np.ascontiguousarray(numbers)

"""Scores: what gives two items a number, and how the compiled half asks it."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _loop
from ._items import Items, digest, plain, shown
from ._native import Oracle

if TYPE_CHECKING:
    from ._progress import Progress

ORDERS = ("symmetric", "mean", "max", "min")


@runtime_checkable
class BuiltIn(Protocol):
    """A score that the compiled half computes itself."""

    def oracle(self, items: Items) -> Oracle:
        """The score over these items."""


class Wmd:
    """Exact word mover's distance between texts, or one of its lower bounds.

    Words are those of the program: lower-cased runs of letters and digits, stop words and words without a vector left out. The score is a
    distance: give the estimator a `gamma` for exp(−γ·distance).

    Parameters
    ----------
    words : one word a row of `vectors`, or a mapping from words to vectors.
    vectors : len(words) × d.
    kind : `wmd`, or the bounds `rwmd` and `wcd`, which make good proxies.
    drop_stop_words : leave out the stop words of the program's list.
    empty : distance of a text without any known word from all others; `None` refuses such texts.
    """

    def __init__(
        self,
        words: Sequence[str] | Mapping[str, ArrayLike],
        vectors: ArrayLike | None = None,
        *,
        kind: str = "wmd",
        drop_stop_words: bool = True,
        empty: float | None = None,
    ) -> None:
        if isinstance(words, Mapping):
            vectors = np.stack([np.asarray(vector) for vector in words.values()])
        if vectors is None:
            raise TypeError("Wmd needs `vectors`, one row a word, or a mapping from words to vectors")
        self.words: list[str] = list(plain(words))
        self.vectors: NDArray[np.float32] = np.ascontiguousarray(plain(vectors), dtype=np.float32)
        self.kind, self.drop_stop_words, self.empty = kind, drop_stop_words, empty

    def oracle(self, items: Items) -> Oracle:
        return Oracle.wmd(list(plain(items)), self.words, self.vectors, self.kind, self.drop_stop_words, self.empty)

    def __repr__(self) -> str:
        return f"Wmd({len(self.words)} words × {self.vectors.shape[1]}, kind={self.kind!r})"


class TreeKernel:
    """Kernel between trees in brackets, `(S (NP they) (VP laughed))`: `st`, `sst` or `ptk`.

    `normalise` divides by the root of both self-similarities. Other parameters (`lambda_`, `mu`, `terminal_factor`, `leaves`) are those
    of the kernel; defaults are KeLP's.
    """

    def __init__(self, kernel: str = "ptk", *, normalise: bool = True, **params: float | bool) -> None:
        self.kernel, self.normalise = kernel, normalise
        self.params = {name.rstrip("_"): value for name, value in params.items()}

    def oracle(self, items: Items) -> Oracle:
        return Oracle.tree_kernel(list(plain(items)), json.dumps({"kernel": self.kernel, **self.params}), self.normalise)

    def __repr__(self) -> str:
        return f"TreeKernel({self.kernel!r}, normalise={self.normalise}, **{self.params})"


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
    """A score in Python over some items, as the compiled half calls it: two arrays of items in, an array of scores out."""

    def __init__(self, ask: Callable[[list[tuple[Any, Any]]], Any], items: Items) -> None:
        self._ask, self._items = ask, items
        self.progress: Progress | None = None

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        items, at = self._items, rows.tolist()
        of = columns.tolist()
        pairs = [(items[i], items[j]) for i, j in zip(at, of)]
        try:
            scores = as_numbers(self._ask(pairs), len(pairs))
        except Exception as error:
            place = getattr(error, "_landmark_place", None)
            if place is not None or len(pairs) == 1:
                k = place or 0
                add_note(error, f"while scoring the pair ({at[k]}, {of[k]}): {shown(pairs[k][0])} and {shown(pairs[k][1])}")
            else:
                note = f"while scoring {len(pairs)} pairs at once, the first of them ({at[0]}, {of[0]}): "
                add_note(error, note + f"{shown(pairs[0][0])} and {shown(pairs[0][1])}")
            raise
        if self.progress is not None:
            self.progress.add(len(pairs))
        return scores


def as_numbers(scores: Any, wanted: int) -> NDArray[np.float64]:
    """Scores of a batch as one array: lists, arrays, m × 1 arrays, and tensors of any device."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(scores, step) and not isinstance(scores, np.ndarray):
            scores = getattr(scores, step)()
    try:
        numbers = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"a score answers one number a pair, and this one answered {shown(scores)}") from error
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (wanted,):
        raise ValueError(f"{wanted} pairs were asked for, and the score answered an array of shape {numbers.shape}")
    return np.ascontiguousarray(numbers)


def _is_coroutine(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def asker(score: Any, concurrency: int) -> tuple[Callable[[list[tuple[Any, Any]]], Any], int]:
    """A function of a list of pairs, and how many calls it works on at once."""
    if _is_coroutine(score):
        return functools.partial(_loop.gather, score, at_once=concurrency), concurrency
    predict = getattr(score, "predict", None)
    if callable(predict) and not inspect.isroutine(score):
        if _is_coroutine(predict):
            return functools.partial(_loop.gather, predict, at_once=concurrency), concurrency
        return functools.partial(_predict, predict), 1
    if callable(score):
        return score, 1
    raise TypeError(
        f"`score` is {shown(score)}, but must be a function of a list of pairs, an object with `predict`, an `async def` of two items, "
        "an n × n array, `Wmd` or `TreeKernel`"
    )


def _predict(predict: Callable[..., Any], pairs: list[tuple[Any, Any]]) -> Any:
    # sentence-transformers wants lists of two texts, and draws a bar of its own unless told not to
    try:
        quiet = "show_progress_bar" in inspect.signature(predict).parameters
    except (TypeError, ValueError):
        quiet = False
    wanted = [list(pair) for pair in pairs]
    return predict(wanted, show_progress_bar=False) if quiet else predict(wanted)


def is_matrix(score: Any) -> bool:
    """True for a square array: a matrix that is there already."""
    shape = getattr(score, "shape", None)
    return shape is not None and len(shape) == 2 and shape[0] == shape[1] and not callable(score)


def over(
    score: Any, items: Items, *, identity: str | None, order: str, diagonal: float | None, concurrency: int
) -> tuple[Oracle, Batches | None]:
    """The score over items, and its Python half where it has one."""
    if order not in ORDERS:
        raise ValueError(f"`order` is {order!r}, but must be one of {', '.join(ORDERS)}")
    if isinstance(score, BuiltIn):
        return score.oracle(items), None
    ask, at_once = asker(score, concurrency)
    batches = Batches(ask, items)
    name = f"{identity or ''}\n{digest(items)}"
    oracle = Oracle.function(batches, len(items), name, order == "symmetric", diagonal, at_once)
    return (oracle if order == "symmetric" else oracle.symmetrized(order)), batches

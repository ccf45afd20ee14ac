"""The recall of pairs or lists that something else found: a blocking rule, an index, a join."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._checks import pairs_of, real, whole
from ._items import plain
from ._numbered import Numbered
from .cached import Order
from .results import Recall

_NAME = "recall_of"
# pairs sampled by default, and whole rows of lists
_PAIRS = 4000
_ROWS = 60


def recall_of(
    candidates: Any,
    similarity: Any,
    items: Any = None,
    *,
    right: Any = None,
    threshold: float | None = None,
    k: int | None = None,
    scores: ArrayLike | None = None,
    delta: float = 0.1,
    calls: int | None = None,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    order: Order | None = None,
    random_state: int = 0,
) -> Recall:
    """Audit candidates: state which share of the true pairs, or of each item's true neighbors, they hold.

    Candidates may come from anywhere. Nothing is assumed of them or of the score: the bound holds with probability 1 − `delta` over a uniform
    draw of audited pairs or items.

    Parameters
    ----------
    candidates : list of pairs, array of shape (n_pairs, 2), Pairs, or array of shape (n_items, m)
        With `threshold`, pairs of item numbers. With `k`, a list of item numbers for each item, −1 where it ends early.
    similarity : callable, object or array
        The score: a function of a list of pairs, an object with ``predict``, `Cached`, the matrix, or a fitted `Landmark`, whose items, score and
        store are used.
    items : list or array, default=None
        Items that the numbers are of; not needed for a matrix or a `Landmark`.
    right : list or array, default=None
        Items of a second list: pairs are (item of `items`, item of `right`), and lists are of items of `right`.
    threshold : float or None, default=None
        Least score of a true pair.
    k : int or None, default=None
        Number of true neighbors of an item.
    scores : array-like of shape (n_pairs,), default=None
        Scores of the candidate pairs, if they are known: no candidate is evaluated then.
    delta : float, default=0.1
        Probability that the recall is lower than `lower`.
    calls : int or None, default=None
        Most calls, two of which score a pair if both orders count; with `k`, at least one whole row is scored. ``None`` for 4,000 pairs, or for the
        rows of 60 items. Candidates get half of them, and what the other pairs leave.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store.
    order : {"mean", "max", "min", "symmetric", "given"} or None, default=None
        As in `Cached`. ``None`` is ``"given"`` for two lists, ``"mean"`` for an object with ``predict``, and ``"symmetric"`` otherwise.
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    Recall
        ``recall`` is the estimate, ``lower`` the lower bound, ``scored_pairs`` the pairs that were evaluated, ``enough`` a hint if the bound is 0.

    Raises
    ------
    ValueError
        If not exactly one of `threshold` and `k` is given, or candidates are of other items.

    See Also
    --------
    plan_recall_of : The number of calls, before the first.

    Examples
    --------
    >>> import numpy as np
    >>> from landmark import recall_of
    >>> x = np.arange(40)
    >>> K = np.exp(-0.5 * np.abs(x[:, None] - x))
    >>> audit = recall_of([(i, i + 1) for i in range(39)], K, threshold=0.3)
    >>> audit.recall, audit.scored_pairs
    (0.5064935064935064, 780)
    """
    audit = _Audit.drawn(candidates, similarity, items, right, threshold, k, scores, delta, calls, store, identity, order, random_state)
    return audit.run()


def plan_recall_of(
    candidates: Any,
    similarity: Any,
    items: Any = None,
    *,
    right: Any = None,
    threshold: float | None = None,
    k: int | None = None,
    scores: ArrayLike | None = None,
    delta: float = 0.1,
    calls: int | None = None,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    order: Order | None = None,
    random_state: int = 0,
) -> int:
    """Count the calls of `recall_of` with the same arguments. No call is made.

    Parameters
    ----------
    candidates, similarity, items, right, threshold, k, scores, delta, calls, store, identity, order, random_state : object
        Those of `recall_of`.

    Returns
    -------
    int
        Calls, exactly; scores in the store take none.

    Examples
    --------
    >>> from landmark import plan_recall_of
    >>> plan_recall_of([(0, 1)], lambda pairs: [0.5] * len(pairs), ["a", "b", "c"], threshold=0.4)
    3
    """
    audit = _Audit.drawn(candidates, similarity, items, right, threshold, k, scores, delta, calls, store, identity, order, random_state)
    return audit.of.missing(audit.asked())


@dataclass
class _Audit:
    """What is drawn before the first call."""

    of: Numbered
    threshold: float | None
    k: int
    delta: float
    # pairs: candidates, those that are scored, others that are sampled
    candidates: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    scored: NDArray[np.int64]
    sampled: NDArray[np.int64]
    # lists: audited items
    rows: NDArray[np.int64]

    @classmethod
    def drawn(
        cls,
        candidates: Any,
        similarity: Any,
        items: Any,
        right: Any,
        threshold: float | None,
        k: int | None,
        scores: ArrayLike | None,
        delta: float,
        calls: int | None,
        store: str | os.PathLike[str] | None,
        identity: str | None,
        order: Order | None,
        seed: int,
    ) -> _Audit:
        if (threshold is None) == (k is None):
            raise ValueError("give `threshold` for pairs, or `k` for lists of neighbors (one of them)")
        delta, seed = real("delta", delta, above=0.0, below=1.0), whole("random_state", seed, 0)
        if calls is not None:
            calls = whole("calls", calls, 1)
        of = Numbered(similarity, items, right, store=store, identity=identity, order=order)
        room = _PAIRS if calls is None else pairs_of("calls", calls, of.calls_per_pair)
        none = np.empty((0, 2), dtype=np.int64)
        if k is not None:
            k = whole("k", k, 1)
            lists = _lists(candidates, len(of.first), of.n - (of.left or 0))
            width = of.n - 1 if of.left is None else of.n - of.left
            rows = _ROWS if calls is None else max(calls // (max(width, 1) * of.calls_per_pair), 1)
            audited = _native.audited_rows(len(of.first), rows, seed, _NAME)
            return cls(of, None, k, delta, lists, None, none, none, audited)
        threshold = real("threshold", threshold, finite=False)
        pairs, values = _pairs(candidates, scores, of)
        # candidates get half, and what the others leave
        others = of.universe - len(pairs)
        known = 0 if values is None else len(pairs)
        wanted = 0 if known else min(len(pairs), max(room // 2, room - others))
        scored, sampled = _native.audit_pairs(of.n, of.left, pairs, max(wanted, known), min(others, room - wanted), seed, _NAME)
        return cls(of, threshold, 0, delta, pairs, values, scored, sampled, np.empty(0, dtype=np.int64))

    def _rows(self) -> list[NDArray[np.int64]]:
        """All pairs of each audited item."""
        others = np.arange(self.of.n) if self.of.left is None else np.arange(self.of.left, self.of.n)
        return [np.stack([np.full(len(with_it), row), with_it], axis=1) for row in self.rows.tolist() for with_it in [others[others != row]]]

    def asked(self) -> NDArray[np.int64]:
        """Pairs that are evaluated."""
        own = self.scored if self.scores is None else self.scored[:0]
        return np.vstack([own, self.sampled, *self._rows()])

    def run(self) -> Recall:
        return self._of_lists() if self.threshold is None else self._of_pairs(self.threshold)

    def _of_pairs(self, threshold: float) -> Recall:
        asked = self.asked()
        found = self.of(asked) if len(asked) else np.empty(0)
        good = found >= threshold
        own = good[: len(asked) - len(self.sampled)] if self.scores is None else self.scores >= threshold
        missed = int(np.sum(good[len(asked) - len(self.sampled) :]))
        others, positive = self.of.universe - len(self.candidates), int(np.sum(own))
        counts = [len(self.candidates), len(own), positive, others, len(self.sampled), missed]
        recall, lower = _native.recall_of_pairs(counts, self.delta)
        is_whole = len(own) == len(self.candidates) and len(self.sampled) == others
        enough = None
        if not positive:
            enough = "no true pair is among the candidates that were scored: lower the threshold, or raise `calls`"
        elif lower == 0.0:
            enough = "too few pairs were audited: raise `calls`"
        return self._recall(recall, lower, "all pairs" if is_whole else "audited pairs, hypergeometric", len(self.sampled), len(asked), enough)

    def _of_lists(self) -> Recall:
        shares = []
        first = 0 if self.of.left is None else self.of.left
        rows = self._rows()
        found = self.of(np.vstack(rows)) if rows else np.empty(0)
        start = 0
        for row, pairs in zip(self.rows.tolist(), rows):
            scores = np.full(self.of.n - first, np.nan)
            scores[pairs[:, 1] - first] = found[start : start + len(pairs)]
            start += len(pairs)
            listed = self.candidates[row]
            is_other = (listed >= 0) & ((listed != row) | (self.of.left is not None))
            shares.append(_native.share_of_nearest(scores, self.k, np.ascontiguousarray(listed[is_other])))
        recall, lower, bound = _native.recall_of_lists(np.array(shares), len(self.of.first), self.k, self.delta)
        enough = "too few rows were audited: raise `calls`" if lower == 0.0 else None
        return self._recall(recall, lower, bound, len(shares), len(found), enough)

    def _recall(self, recall: float, lower: float, bound: str, rows: int, scored: int, enough: str | None) -> Recall:
        return Recall(
            target=lower, delta=self.delta, is_reached=lower > 0.0, recall=recall, lower=lower, bound=bound, rows=rows, scored_pairs=scored, enough=enough
        )


def _pairs(candidates: Any, scores: ArrayLike | None, of: Numbered) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Distinct pairs of numbers below n, the smaller first, and their scores if they are known."""
    if hasattr(candidates, "items") and hasattr(candidates, "exact"):
        # of this package
        if scores is None and bool(np.all(candidates.exact)):
            scores = candidates.scores
        candidates = candidates.items
    listed = plain(candidates)
    if isinstance(listed, Iterable) and not hasattr(listed, "__array__"):
        rows = [tuple(row) for row in listed]
        if rows and len(rows[0]) == 3:
            # (score, i, j), as sentence-transformers lists them
            scores = [row[0] for row in rows] if scores is None else scores
            rows = [row[1:] for row in rows]
        listed = rows
    array = np.asarray(listed)
    if array.size == 0:
        array = np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"cannot read `candidates`: expected pairs of item numbers (got an array of shape {array.shape} of {array.dtype})")
    array = array.astype(np.int64)
    if of.left is None:
        array = np.sort(array, axis=1)
        ends: tuple[int, int] = (of.n, of.n)
    else:
        ends = (of.left, of.n - of.left)
    for side, end in enumerate(ends):
        wrong = (array[:, side] < 0) | (array[:, side] >= end)
        if wrong.any():
            raise IndexError(f"cannot read `candidates`: item {array[wrong][0, side]} is out of range (there are {end})")
    if of.left is not None:
        array = array + np.array([0, of.left])
    stays = array[:, 0] != array[:, 1]
    values = None if scores is None else np.asarray(plain(scores), dtype=np.float64)
    if values is not None and values.shape != (len(array),):
        raise ValueError(f"cannot read `scores`: expected one per candidate ({len(array)}, got the shape {values.shape})")
    array, first = np.unique(array[stays], axis=0, return_index=True)
    return np.ascontiguousarray(array), None if values is None else values[stays][first]


def _lists(candidates: Any, rows: int, others: int) -> NDArray[np.int64]:
    """Lists of item numbers as an array, −1 where one ends early."""
    if hasattr(candidates, "items") and hasattr(candidates, "exact"):
        candidates = candidates.items
    candidates = plain(candidates)
    if not hasattr(candidates, "__array__"):
        lists = [[one["corpus_id"] if isinstance(one, dict) else one for one in row] for row in candidates]
        width = max((len(row) for row in lists), default=0)
        candidates = [list(row) + [-1] * (width - len(row)) for row in lists]
    array = np.asarray(candidates)
    if array.ndim != 2 or len(array) != rows or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"cannot read `candidates`: expected a list of item numbers for each of {rows} items (got an array of shape {array.shape})")
    array = array.astype(np.int64)
    if array.size and (array.min() < -1 or array.max() >= others):
        raise IndexError(f"cannot read `candidates`: item {array.max() if array.max() >= others else array.min()} is out of range (there are {others})")
    return array

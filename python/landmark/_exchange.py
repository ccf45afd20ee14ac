"""Pairs out, scores in: the calls of a fit, scored by whatever the user has, and handed back."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._checks import whole
from ._items import Items, content, plain, shown, taken
from ._mining import Mining
from ._native import MeteredStore
from .scores import BOTH, SAME

# key of the identity of a score among the metadata of an Arrow table
_IDENTITY = b"landmark.identity"


@dataclass(frozen=True, repr=False)
class PairBatch:
    """Pairs that are to be scored.

    Iterating gives the items of each pair. To Arrow it is a table of `item` and `other`, the numbers.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, 2)
        Item numbers. With ``order="mean"``, ``"max"`` or ``"min"`` each pair is there in both orders.
    items : list or array
        All items.
    identity : str
        Identity of the score in the store.
    """

    pairs: NDArray[np.int64]
    items: Any
    identity: str
    _matrix: MeteredStore | None = field(default=None, compare=False, init=False)

    def _of(self, matrix: MeteredStore | None) -> PairBatch:
        object.__setattr__(self, "_matrix", matrix)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_matrix": None}

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"PairBatch({len(self):,} pairs of {len(self.items):,} items)"

    @property
    def left(self) -> Any:
        """First items of the pairs."""
        return taken(self.items, self.pairs[:, 0])

    @property
    def right(self) -> Any:
        """Second items of the pairs."""
        return taken(self.items, self.pairs[:, 1])

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for i, j in self.pairs.tolist():
            yield self.items[i], self.items[j]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The numbers as a table."""
        return _native.arrow_table(["item", "other"], [np.ascontiguousarray(side) for side in self.pairs.T])

    def to_arrow(self) -> Any:
        """Convert to a table of pyarrow, which must be installed.

        Returns
        -------
        pyarrow.Table
            A pair per row: ``item``, ``other`` (numbers), and ``left``, ``right``, the items, if Arrow has a type for them. The identity of the score
            is among the metadata.
        """
        import pyarrow

        columns: dict[str, Any] = {"item": self.pairs[:, 0], "other": self.pairs[:, 1]}
        if len(self.items) and isinstance(self.items[0], (str, int, float)):
            columns.update(left=list(self.left), right=list(self.right))
        return pyarrow.table(columns).replace_schema_metadata({_IDENTITY: self.identity})


class Exchange(Mining):
    """Scores that are made elsewhere."""

    def pairs(self, X: Any) -> PairBatch:
        """List the pairs that `fit(X)` would score. No call is made.

        Parameters
        ----------
        X : list or array
            Items.

        Returns
        -------
        PairBatch
            Pairs that are not in the store yet. Score them anywhere, and hand the scores to `tell` or `put`; `fit` then makes no call.

        Raises
        ------
        ValueError
            If there is no `store`, or the pairs depend on scores.

        Examples
        --------
        >>> import tempfile
        >>> from landmark import Landmark
        >>> lm = Landmark(n_components=2, store=tempfile.mkdtemp(), identity="f", order="symmetric", error_samples=0)
        >>> todo = lm.pairs(["abc", "abd", "xyz"])
        >>> len(todo)
        5
        >>> lm.tell(todo, [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in todo])
        5
        >>> lm.fit(["abc", "abd", "xyz"]).n_calls_
        0
        """
        items, matrix = self._exchanged(X)
        wanted = _distinct(items, self._planned(matrix, items))
        if matrix.diagonal is not None:
            wanted = wanted[wanted[:, 0] != wanted[:, 1]]
        new = np.ascontiguousarray(wanted[np.isnan(matrix.known(wanted))])
        if self._order in BOTH:
            across = new[new[:, 0] != new[:, 1]]
            new = np.vstack([new, across[:, ::-1]])
            # both orders of a pair stand together
            new = new[np.lexsort((new[:, 0], new.max(axis=1), new.min(axis=1)))]
        return PairBatch(np.ascontiguousarray(new), items, matrix.identity)._of(matrix)

    def iter_pairs(self, X: Any, batch_size: int = 4096) -> Iterator[PairBatch]:
        """Iterate over the pairs that `fit(X)` would score.

        Parameters
        ----------
        X : list or array
            Items.
        batch_size : int, default=4096
            Pairs of a batch, about.

        Yields
        ------
        PairBatch
            Pairs to be scored; hand their scores to `tell`.
        """
        size = whole("batch_size", batch_size, 1)
        every = self.pairs(X)
        first = 0
        while first < len(every):
            last = min(first + size, len(every))
            while last < len(every) and set(every.pairs[last].tolist()) == set(every.pairs[last - 1].tolist()):
                last += 1
            yield PairBatch(np.ascontiguousarray(every.pairs[first:last]), every.items, every.identity)._of(every._matrix)
            first = last

    def tell(self, batch: PairBatch, scores: Any) -> int:
        """Store the scores of a batch.

        Parameters
        ----------
        batch : PairBatch
            A batch of `iter_pairs`, or all of `pairs`.
        scores : array-like of shape (n_pairs,)
            Scores in the order of the batch; distances, if there is a `gamma`.

        Returns
        -------
        int
            Pairs that were not stored before.

        Raises
        ------
        ValueError
            If a score is missing, not finite, or not the one that is stored.
        """
        values = np.asarray(plain(scores), dtype=np.float64).reshape(-1)
        if len(values) != len(batch):
            raise ValueError(f"cannot store scores: expected one per pair of the batch ({len(batch)}, got {len(values)})")
        matrix = batch._matrix
        if matrix is None:
            matrix = self._exchanged(batch.items)[1]
        if matrix.identity != batch.identity:
            raise ValueError("cannot store scores: the batch is of another score, order or list of items than those of this estimator")
        return self._keep(matrix, batch.items, batch.pairs, values)

    def put(self, table: Any, X: Any) -> int:
        """Store a table of scores.

        Parameters
        ----------
        table : mapping, data frame or Arrow table
            Columns ``item`` and ``other``, numbers of items, and ``score``. More columns are left alone.
        X : list or array
            Items that the numbers are of.

        Returns
        -------
        int
            Pairs that were not stored before. A warning states how many pairs of `fit(X)` are still missing.

        Raises
        ------
        ValueError
            If a column is missing, a score is not finite, two scores of a pair differ, or the table is of another score.
        """
        items, matrix = self._exchanged(X)
        metadata = getattr(getattr(table, "schema", None), "metadata", None) or {}
        named = metadata.get(_IDENTITY) if hasattr(metadata, "get") else None
        if named is not None and named.decode() != matrix.identity:
            raise ValueError("cannot store the table: it is of another score, order or list of items than those of this estimator")
        numbers, values = _read(table)
        wrong = (numbers < 0) | (numbers >= len(items))
        if wrong.any():
            raise IndexError(f"cannot store the table: item {numbers[wrong][0]} is out of range (there are {len(items)})")
        new = self._keep(matrix, items, numbers, values)
        left = len(self.pairs(X))
        if left:
            warnings.warn(f"{left:,} pairs of the fit are still missing", stacklevel=2)
        return new

    def _exchanged(self, X: Any) -> tuple[Items, MeteredStore]:
        """Items, and what the store has of them."""
        if self._store is None:
            raise ValueError("scores that are made elsewhere meet in a store: give `store` and `identity`")
        if self._order is None:
            warnings.warn(
                'the score is taken as symmetric: set `order="mean"` to use both orders of a pair, or `order="symmetric"` if it is', stacklevel=3
            )
        items = self._items_of(X, reset=False)
        return items, self._open(items)[0]

    def _planned(self, matrix: MeteredStore, items: Items) -> NDArray[np.int64]:
        """Pairs of a fit: columns, and single ones."""
        columns, single = matrix.entries(json.dumps(self._settings(len(items), self._seed())))
        n = len(items)
        pairs = [single] + [np.stack([np.arange(n), np.full(n, column)], axis=1) for column in columns.tolist()]
        return np.vstack(pairs).astype(np.int64)

    def _keep(self, matrix: MeteredStore, items: Items, numbers: NDArray[np.int64], values: NDArray[np.float64]) -> int:
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            i, j = numbers[bad[0]].tolist()
            raise ValueError(f"cannot store the score of ({i}, {j}), {shown(items[i])} and {shown(items[j])}: it is {values[bad[0]]} (expected a finite number)")
        firsts = _firsts(items)
        given = firsts[numbers]
        low, high = given.min(axis=1), given.max(axis=1)
        keys, inverse = np.unique(low * len(items) + high, return_inverse=True)
        pairs = np.ascontiguousarray(np.stack(np.divmod(keys, len(items)), axis=1))
        is_turned = given[:, 0] > given[:, 1]
        sides = []
        for turned in (False, True):
            mine = is_turned == turned
            least, most = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
            np.minimum.at(least, inverse[mine], values[mine])
            np.maximum.at(most, inverse[mine], values[mine])
            sides.append((least, most))
        order = self._order or "symmetric"
        if order in BOTH:
            for least, most in sides:
                self._agree(items, pairs, least, most)
            (there, _), (back, _) = sides
            is_self = pairs[:, 0] == pairs[:, 1]
            half = np.flatnonzero(~is_self & (~np.isfinite(there) | ~np.isfinite(back)))
            if len(half):
                i, j = pairs[half[0]].tolist()
                raise ValueError(f"cannot store the score of ({i}, {j}): `order=\"{order}\"` takes both orders of a pair, and one is missing")
            back = np.where(is_self, there, back)
            made = {"mean": (there + back) / 2, "max": np.maximum(there, back), "min": np.minimum(there, back)}[order]
        else:
            least, most = np.minimum(sides[0][0], sides[1][0]), np.maximum(sides[0][1], sides[1][1])
            self._agree(items, pairs, least, most)
            made = least
        if matrix.diagonal is not None:
            stays = pairs[:, 0] != pairs[:, 1]
            pairs, made = np.ascontiguousarray(pairs[stays]), made[stays]
        stored = matrix.known(pairs)
        there = ~np.isnan(stored)
        self._agree(items, pairs[there], np.minimum(stored, made)[there], np.maximum(stored, made)[there], "is stored")
        return matrix.put(pairs, np.ascontiguousarray(made))

    @staticmethod
    def _agree(
        items: Items, pairs: NDArray[np.int64], least: NDArray[np.float64], most: NDArray[np.float64], what: str = "is given, too"
    ) -> None:
        """Refuses two scores of a pair that differ."""
        size = np.maximum(np.maximum(np.abs(least), np.abs(most)), 1e-6)
        wrong = np.flatnonzero(np.isfinite(least) & (most - least > SAME * np.where(np.isfinite(size), size, 1.0)))
        if len(wrong):
            i, j = pairs[wrong[0]].tolist()
            pair = f"({i}, {j}), {shown(items[i])} and {shown(items[j])}"
            raise ValueError(f"cannot store the score of {pair}: {most[wrong[0]]:.6g} contradicts {least[wrong[0]]:.6g}, which {what}")


def _firsts(items: Items) -> NDArray[np.int64]:
    """The first item that is equal to each."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(content(item), place) for place, item in enumerate(items)], dtype=np.int64)


def _distinct(items: Items, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Distinct pairs, the smaller number first, equal items by the first of them."""
    mapped = np.sort(_firsts(items)[pairs], axis=1)
    return np.ascontiguousarray(np.unique(mapped, axis=0)) if len(mapped) else mapped


def _read(table: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers and scores of a table."""
    names = [("item", "i"), ("other", "j"), ("score", "similarity", "scores")]
    columns = []
    for choices in names:
        for name in choices:
            try:
                columns.append(np.asarray(plain(table[name])))
                break
            except (KeyError, IndexError, TypeError, ValueError):
                continue
        else:
            columns = []
            break
    if not columns and hasattr(table, "__arrow_c_stream__"):
        found = _native.arrow_items(table)
        if getattr(found, "ndim", 0) == 2 and found.shape[1] == 3:
            columns = list(found.T)
    if len(columns) != 3:
        raise ValueError("cannot read the table: expected the columns `item`, `other` and `score`")
    first, second, values = columns
    if any(side.dtype.kind not in "iuf" or (side.dtype.kind == "f" and np.any(side != np.floor(side))) for side in (first, second)):
        raise ValueError("cannot read the table: `item` and `other` are numbers of items")
    numbers = np.stack([first.astype(np.int64), second.astype(np.int64)], axis=1)
    return numbers, np.ascontiguousarray(values, dtype=np.float64)

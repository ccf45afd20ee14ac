"""K̃ as it is read from arrays: Z diag(±1) Zᵀ, with what was evaluated put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native

_ROWS_AT_A_TIME = 512


@dataclass
class Factors:
    """Everything that a fit leaves; plain arrays, so that it can be pickled and saved."""

    vectors: NDArray[np.float64]
    signature: NDArray[np.float64]
    landmarks: NDArray[np.int64]
    columns: NDArray[np.float64] | None = None
    projector: NDArray[np.float64] | None = None
    scattered_pairs: NDArray[np.int64] | None = None
    scattered_scores: NDArray[np.float64] | None = None
    diagonal: float | None = None
    # evaluated columns that K̃ does not return, because they are shrunk
    judged: NDArray[np.float64] | None = None
    _place: NDArray[np.int64] = field(init=False, repr=False)
    _scattered: dict[int, list[tuple[int, float]]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._place = np.full(len(self.vectors), -1, dtype=np.int64)
        if self.columns is not None:
            self._place[self.landmarks] = np.arange(len(self.landmarks))
        if self.scattered_pairs is not None and self.scattered_scores is not None:
            for (i, j), score in zip(self.scattered_pairs.tolist(), self.scattered_scores.tolist()):
                self._scattered.setdefault(i, []).append((j, score))
                self._scattered.setdefault(j, []).append((i, score))

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Scattered pairs and their scores, where there are any."""
        if self.scattered_pairs is None or self.scattered_scores is None or not len(self.scattered_scores):
            return None
        return self.scattered_pairs, self.scattered_scores

    def block(self, rows: Sequence[int] | NDArray[Any], cols: Sequence[int] | NDArray[Any]) -> NDArray[np.float64]:
        """K̃[rows, cols]."""
        at, of = np.asarray(rows, dtype=np.int64), np.asarray(cols, dtype=np.int64)
        out: NDArray[np.float64] = (self.vectors[at] * self.signature) @ self.vectors[of].T
        if self.columns is not None:
            known_rows, known_cols = np.flatnonzero(self._place[at] >= 0), np.flatnonzero(self._place[of] >= 0)
            out[known_rows] = self.columns[np.ix_(of, self._place[at[known_rows]])].T
            out[:, known_cols] = self.columns[np.ix_(at, self._place[of[known_cols]])]
        if self._scattered:
            places: dict[int, list[int]] = {}
            for b, j in enumerate(of.tolist()):
                places.setdefault(j, []).append(b)
            for a, i in enumerate(at.tolist()):
                for j, score in self._scattered.get(i, ()):
                    for b in places.get(j, ()):
                        out[a, b] = score
        if self.diagonal is not None:
            out[at[:, None] == of[None, :]] = self.diagonal
        return out

    def row(self, i: int) -> NDArray[np.float64]:
        """K̃[i, :]."""
        return self.block([i], np.arange(len(self))).reshape(-1)

    def top_k(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """The k most similar other items of every item, best first: items, similarities, and which of these were evaluated."""
        n = len(self)
        k = min(k, max(n - 1, 0))
        if self.columns is None:
            items, scores = _native.top_k(self.vectors, self.signature, k, self.entries)
            exact = np.zeros(items.shape, dtype=bool)
        else:
            items, scores, exact = self._top_k_with_columns(k)
        for i, near in self._scattered.items():
            exact[i] |= np.isin(items[i], [j for j, _ in near])
        return items, scores, exact

    def _top_k_with_columns(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        assert self.columns is not None
        n = len(self)
        others = np.flatnonzero(self._place < 0)
        place_of = np.full(n, -1, dtype=np.int64)
        place_of[others] = np.arange(len(others))
        found, estimates = _native.top_k(self.vectors[others], self.signature, k, self._among(place_of))
        items = np.full((n, k), -1, dtype=np.int64)
        scores = np.full((n, k), np.nan)
        exact = np.zeros((n, k), dtype=bool)
        for first in range(0, len(others), _ROWS_AT_A_TIME):
            rows = others[first : first + _ROWS_AT_A_TIME]
            near = others[found[first : first + len(rows)]]
            here = np.hstack([near, np.broadcast_to(self.landmarks, (len(rows), len(self.landmarks)))])
            of = np.hstack([estimates[first : first + len(rows)], self.columns[rows]])
            order = _best(of, here, k)
            items[rows], scores[rows] = np.take_along_axis(here, order, 1), np.take_along_axis(of, order, 1)
            exact[rows] = order >= near.shape[1]
        all_items = np.arange(n)
        for place, landmark in enumerate(self.landmarks.tolist()):
            row = self.columns[:, place].copy()
            row[landmark] = -np.inf
            order = _best(row[None, :], all_items[None, :], k)[0]
            items[landmark], scores[landmark], exact[landmark] = order, row[order], True
        return items, scores, exact

    def _among(self, place_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Scattered pairs of two items that have a place, by their places."""
        if self.entries is None:
            return None
        pairs, scores = self.entries
        placed = place_of[pairs]
        both = np.all(placed >= 0, axis=1)
        return (np.ascontiguousarray(placed[both]), np.ascontiguousarray(scores[both])) if np.any(both) else None

    def pairs_above(
        self, at_least: float, count: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Pairs of two items without a known column whose estimate is at least so much, best first."""
        others = np.flatnonzero(self._place < 0)
        place_of = np.full(len(self), -1, dtype=np.int64)
        place_of[others] = np.arange(len(others))
        pairs, scores = _native.best_pairs(
            self.vectors[others], self.signature, count, at_least, self._among(place_of)
        )
        return others[pairs], scores

    def landmark_pairs(self, at_least: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Pairs with a known column that score at least so much, each once."""
        if self.columns is None:
            return np.empty((0, 2), dtype=np.int64), np.empty(0)
        rows, places = np.nonzero(self.columns >= at_least)
        of = self.landmarks[places]
        # a pair of two landmarks stands in the column of the later one; none is a pair with itself
        once = (rows != of) & ((self._place[rows] < 0) | (self._place[rows] < places))
        rows, places, of = rows[once], places[once], of[once]
        pairs = np.sort(np.stack([rows, of], axis=1), axis=1).astype(np.int64)
        return pairs, self.columns[rows, places]


def _best(scores: NDArray[np.float64], items: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Places of the k best of each row, best first, ties to the smaller item."""
    if k < scores.shape[1]:
        # one more than k, so that a tie at the end is seen
        worst = -np.partition(-scores, k - 1, axis=1)[:, k - 1 : k]
        scores = np.where(scores >= worst, scores, -np.inf)
    return np.lexsort((items, -scores), axis=1)[:, :k]

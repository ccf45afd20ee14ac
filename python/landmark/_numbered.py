"""A model over numbered items, as audits, joins and groups ask it: pairs of item numbers in, scores out, each pair once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import scores
from ._items import Items, as_objects, plain
from .cached import Cached


def listed(X: Any) -> Items:
    """Items as a list, or rows of an array."""
    X = plain(X)
    found = as_objects(X)
    return found if found is not None else np.asarray(X)


class Numbered:
    """Scores of items by their numbers. Of two lists, those of the second come after those of the first, and stand second in a pair."""

    def __init__(
        self,
        similarity: Any,
        items: Any = None,
        right: Any = None,
        *,
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        order: str | None = None,
    ) -> None:
        # a fitted estimator, which counts its calls itself
        self.fitted: Any = None
        if scores.is_matrix(similarity):
            matrix = np.asarray(plain(similarity), dtype=np.float64)
            items = range(len(matrix)) if items is None else items
            if len(listed(items)) != len(matrix):
                raise ValueError(f"the matrix is {len(matrix)} × {len(matrix)}, and there are {len(listed(items))} items")
            # items are identified by their numbers
            items, similarity, order = list(range(len(matrix))), _Matrix(matrix), order or "symmetric"
        if hasattr(similarity, "__sklearn_is_fitted__") and hasattr(similarity, "_opened"):
            if items is not None or right is not None or store is not None or identity is not None:
                raise ValueError("items, score and store are those of the fitted `Landmark`: leave `items`, `right`, `store` and `identity` out")
            if not similarity.__sklearn_is_fitted__():
                raise ValueError("cannot ask an estimator that is not fitted: call `fit` first")
            self.fitted = similarity
            items, similarity, order = list(range(len(similarity.embedding_))), _Fitted(similarity), "symmetric"
        if items is None:
            raise TypeError("give the items that candidates are numbers of")
        self.first = listed(items)
        self.second = None if right is None else listed(right)
        self.left = None if right is None else len(self.first)
        self.n = len(self.first) + (0 if self.second is None else len(self.second))
        if isinstance(similarity, Cached):
            if store is not None or identity is not None:
                raise ValueError("`store` and `identity` are those of the `Cached`: leave them out")
            self.model = similarity
        else:
            if order is None:
                order = "given" if right is not None else "mean" if scores.is_predictor(similarity) else "symmetric"
            if isinstance(similarity, (scores.BuiltIn, scores.Blockwise)):
                raise TypeError(f"cannot ask {similarity!r} for pairs: hand over a function of a list of pairs")
            self.model = Cached(similarity, store, identity=identity, order=order)  # type: ignore[arg-type]

    @property
    def universe(self) -> int:
        """Number of all pairs."""
        return self.n * (self.n - 1) // 2 if self.left is None else self.left * (self.n - self.left)

    @property
    def calls_per_pair(self) -> int:
        if self.fitted is not None:
            return int(self.fitted._calls_per_pair())
        return self.model._calls_per_pair

    def pairs(self, numbers: NDArray[np.int64]) -> list[tuple[Any, Any]]:
        """Items of pairs of numbers."""
        if self.left is None or self.second is None:
            return [(self.first[i], self.first[j]) for i, j in numbers.tolist()]
        ordered = np.sort(numbers, axis=1).tolist()
        return [(self.first[i], self.second[j - self.left]) for i, j in ordered]

    def missing(self, numbers: NDArray[np.int64]) -> int:
        """Calls that these pairs take."""
        if self.fitted is not None:
            return int(self.fitted._opened()[0].missing(np.ascontiguousarray(numbers)))
        return self.model.missing(self.pairs(numbers))

    def __call__(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.model(self.pairs(numbers))

    def served(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for the compiled half."""
        return self(np.stack([rows, columns], axis=1))


class _Fitted:
    """The score of a fitted estimator, through its store, as a function of pairs of numbers."""

    def __init__(self, lm: Any) -> None:
        self.lm = lm

    def __call__(self, pairs: list[tuple[int, int]]) -> NDArray[np.float64]:
        matrix = self.lm._opened()[0]
        try:
            return np.asarray(matrix.scores(np.array(pairs, dtype=np.int64).reshape(-1, 2)))
        finally:
            self.lm.n_calls_ = matrix.calls


class _Matrix:
    """A matrix as a function of pairs of numbers."""

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self.matrix = matrix

    def __call__(self, pairs: list[tuple[int, int]]) -> NDArray[np.float64]:
        rows, columns = np.array(pairs, dtype=np.int64).T
        return np.asarray(self.matrix[rows, columns])

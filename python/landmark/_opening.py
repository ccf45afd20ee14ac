"""Settings, items and stores of the estimator: from its parameters to a score that is counted and kept."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, validate_data

from . import scores
from ._items import Items, is_texts_or_objects, plain, shown
from ._native import MeteredStore, NotFiniteError, Oracle
from ._progress import Progress
from .bill import Bill
from .reading import Factors


class Opening(BaseEstimator):  # type: ignore[misc]
    """What fits, searches and workers open first. Parameters are those of `Landmark`."""

    score: Any
    n_components: int
    metric: str | None
    proxy: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    identity: str | None
    method: str | Mapping[str, Any]
    landmarks: str | Mapping[str, Any] | ArrayLike
    order: str
    diagonal: float | None
    gamma: float | None
    scattered: Mapping[str, Any] | None
    link: int | str
    popularity: bool
    error_samples: int
    confidence: float
    known: bool
    concurrency: int
    random_state: Any
    name: str
    verbose: bool
    _factors: Factors
    _items: Items
    _settings_: dict[str, Any]

    def _items_of(self, X: Any, *, reset: bool) -> Items:
        """The items of X: rows of an array of numbers, checked as scikit-learn does, or a list of whatever the score reads."""
        X = plain(X)
        if self.metric == "precomputed":
            X = validate_data(self, X, reset=reset, dtype=np.float64, ensure_min_samples=2)
            if reset or X.shape[0] == X.shape[1]:
                if X.shape[0] != X.shape[1]:
                    raise ValueError(f"a precomputed matrix is square, and this one is {X.shape[0]} × {X.shape[1]}")
            return np.asarray(X)
        if self.metric is not None:
            raise ValueError(f"`metric` is {self.metric!r}, but must be 'precomputed' or None")
        if self.score is None and reset:
            raise ValueError("give a `score`, or `metric='precomputed'` and the matrix itself")
        if is_texts_or_objects(X):
            items = list(X)
            if reset and len(items) < 2:
                raise ValueError(f"Found array with {len(items)} sample(s) while a minimum of 2 is required by Landmark.")
            return items
        if hasattr(self, "_factors") and not hasattr(self, "n_features_in_"):
            return np.asarray(check_array(X))
        return np.asarray(validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1))

    def _open(
        self, items: Items, *, shares: bool = True, dry: bool = False
    ) -> tuple[MeteredStore, scores.Batches | scores.Blocks | None]:
        """Score, budget and store over items. `shares`: with other lists of them. `dry`: nothing is written."""
        matrix: Any = items if self.metric == "precomputed" else self.score
        is_array = self.metric == "precomputed" or scores.is_matrix(matrix)
        # in memory there are no other lists
        shares = shares and self.store is not None and not is_array
        if self.score is None and not is_array:
            raise ValueError("give a `score`, or `metric='precomputed'` and the matrix itself")
        if is_array:
            values = check_array(plain(matrix), dtype=np.float64)
            if len(values) != len(items):
                raise ValueError(f"the matrix is {len(values)} × {len(values)}, and there are {len(items)} items")
            asymmetry = "reject" if self.order == "symmetric" else self.order
            oracle, batches = Oracle.precomputed(np.ascontiguousarray(values), asymmetry), None
        else:
            if self.store is not None and self.identity is None and not isinstance(self.score, scores.BuiltIn):
                raise ValueError(
                    "a store keeps scores for good: give `identity`, the name of everything that moves a score (model, version, prompt)"
                )
            oracle, batches = scores.over(
                self.score,
                items,
                identity=self.identity,
                order=self.order,
                diagonal=self.diagonal,
                concurrency=self.concurrency,
            )
        self._identity_ = oracle.identity
        store = None if self.store is None or is_array else os.fspath(self.store)
        # what costs nothing is not kept, and a block whose columns nobody wants to keep is not either
        comes_in_blocks = isinstance(self.score, (scores.Blockwise, scores.VectorKernel))
        is_kept = not is_array and (store is not None or self.known or not comes_in_blocks)
        # landmarks that are chosen by what is seen read their columns twice
        keep = is_kept or self._policy()["id"] not in ("uniform", "given")
        description = f"{self.identity or 'a score'}, {len(items)} items"
        opened = MeteredStore(oracle, store, self.budget, self.gamma, "python", description, keep, shares, dry)
        return opened, batches

    def _opened(self) -> tuple[MeteredStore, scores.Batches | scores.Blocks | None]:
        """The store of the fit, opened again after a pickle or a load."""
        matrix: MeteredStore | None = getattr(self, "_matrix", None)
        if matrix is None:
            if getattr(self, "_items", None) is None:
                raise ValueError("this needs calls of the score: load the factors with `score` and `items`")
            matrix, self._batches = self._open(self._items)
            self._matrix = matrix
            self._settings_ = self._settings(len(self._items), getattr(self, "_seed_", self._seed()))
        return matrix, self._batches

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _method(self) -> dict[str, Any]:
        return {"id": self.method} if isinstance(self.method, str) else dict(self.method)

    def _policy(self) -> dict[str, Any]:
        if isinstance(self.landmarks, str):
            return {"id": self.landmarks}
        if isinstance(self.landmarks, Mapping):
            return dict(self.landmarks)
        return {"id": "given", "indices": np.asarray(self.landmarks).tolist()}

    def _settings(self, n: int, seed: int) -> dict[str, Any]:
        if not isinstance(self.n_components, (int, np.integer)) or self.n_components < 1:
            raise ValueError(f"`n_components` is {self.n_components!r}, but must be a whole number, at least 1")
        if self.link not in (1, 2, 3):
            raise ValueError(f"`link` is {self.link!r}, but must be 1, 2 or 3")
        method = self._method()
        rank = int(self.n_components)
        if rank > n:
            warnings.warn(f"n_components is {rank}, more than the {n} items; all of them are landmarks", stacklevel=3)
            rank = n
        settings = {
            "method": {
                "id": method.pop("id"),
                "params": method,
                "scattered": None if self.scattered is None else dict(self.scattered),
                "degree": self.link,
                "popularity": self.popularity,
            },
            "landmarks": self._policy(),
            "rank": rank,
            "seed": seed,
            "name": self.name,
            "samples": int(self.error_samples),
            "confidence": self.confidence,
            "known": self.known,
        }
        return json.loads(json.dumps(settings, default=_plain))  # type: ignore[no-any-return]

    def _embeddings(self, items: Items) -> list[NDArray[np.float64]]:
        arrays = [items if isinstance(one, str) and one == "items" else one for one in as_list(self.proxy)]
        if any(issparse(array) for array in arrays):
            raise TypeError(
                "a proxy is a dense array, and this one is sparse: hand over `proxy.toarray()`, or `TruncatedSVD(300).fit_transform(proxy)` where that is large"
            )
        checked = [np.ascontiguousarray(check_array(plain(array), dtype=np.float64)) for array in arrays]
        for array in checked:
            if len(array) != len(items):
                raise ValueError(f"a proxy has one row an item: this one has {len(array)}, and there are {len(items)} items")
        return checked

    def _proxies(self, items: Items) -> list[Oracle]:
        if self.proxy is None:
            return []
        if any(isinstance(one, scores.BuiltIn) for one in as_list(self.proxy)):
            return [one.oracle(items) for one in as_list(self.proxy)]
        return [Oracle.vectors(array) for array in self._embeddings(items)]

    def _bill(self, matrix: MeteredStore, settings: dict[str, Any], proxies: list[Oracle]) -> Bill:
        told = json.loads(matrix.plan(json.dumps(settings), proxies))
        return Bill(
            items=told["items"],
            calls=told["calls"],
            calls_alone=told["calls_alone"],
            calls_of_the_estimate=told["calls_of_the_estimate"],
            entries=told["entries"],
            n_components=told["rank"],
            budget=self.budget,
            is_exact=told["exact"],
        )

    @contextmanager
    def _told(self, calls: int, title: str, batches: scores.Batches | scores.Blocks | None = None, items: Items | None = None) -> Iterator[None]:
        """Shows progress, and names the items of a score that is no number."""
        batches = batches if batches is not None else getattr(self, "_batches", None)
        progress = Progress(calls, title, self.verbose)
        if batches is not None:
            batches.progress = progress
        try:
            yield
        except NotFiniteError as error:
            of = items if items is not None else getattr(self, "_items", None)
            if of is not None and self.metric != "precomputed":
                i, j = error.pair
                scores.add_note(error, f"item {i} is {shown(of[i])}, item {j} is {shown(of[j])}")
            raise
        finally:
            if batches is not None:
                batches.progress = None
            progress.close()


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{shown(value)} is no setting")



def as_list(proxy: Any) -> list[Any]:
    return list(proxy) if isinstance(proxy, (list, tuple)) and not np.isscalar(proxy[0]) and not _is_rows(proxy) else [proxy]


def _is_rows(proxy: Sequence[Any]) -> bool:
    first = proxy[0]
    return isinstance(first, (list, tuple)) and len(first) > 0 and np.isscalar(first[0]) or getattr(first, "ndim", 2) == 1

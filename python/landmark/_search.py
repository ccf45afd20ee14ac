"""Neighbors of the estimator: by the factors without a call, by a number of calls, or until a recall is stated."""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._checks import one_of, pairs_of, real, whole
from ._items import joined
from ._native import MeteredStore
from ._opening import Opening
from .results import Neighbors, Pairs, Recall, sorted_pairs


class Search(Opening):
    """Searches of a fitted estimator."""

    n_components_: int
    order_: str
    component_indices_: NDArray[np.int64]
    n_calls_: int

    def transform(self, X: Any, *, proxy: Any = None) -> NDArray[np.float64]:
        raise NotImplementedError

    def _embedded(self, items: Any, proxy: Any = None, opened: Any = None) -> NDArray[np.float64]:
        raise NotImplementedError

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int = 10,
        *,
        calls_per_item: int | None = None,
        target_recall: float | None = None,
        delta: float = 0.1,
        rounds: int = 4,
        share: float = 0.2,
        strict: bool = False,
        audit_rows: int | None = None,
        candidates: Any = None,
        return_similarity: bool = True,
        as_distance: bool = False,
        include_self: bool = False,
    ) -> Any:
        """Find the most similar items, best first.

        Without further arguments lists come from the factors, at no call. With `calls_per_item` they come from that number of new calls per item,
        on top of what the fit has evaluated, or of the scores of new items with the landmarks: no list lacks a better neighbor that the fit or this
        search evaluated. If the budget ends before, lists are those of the calls that were made, with a warning.

        Parameters
        ----------
        X : list or array, default=None
            New items, whose nearest items of the fit are wanted. ``None`` for the items of the fit, whose lists leave the item itself out.
        n_neighbors : int, default=10
            Length k of the lists.
        calls_per_item : int or None, default=None
            New calls per item. With `target_recall` they include those of the audited rows, and fewer than these raise an error before the first
            call; ``None`` ends the search after 100 calls per item beyond the audit.
        target_recall : float or None, default=None
            Search until the mean recall over the items of the fit is at least this, with probability 1 − `delta`; `recall_` has what was reached.
        delta : float, default=0.1
            Probability that the recall is lower than stated.
        rounds : int, default=4
            Rounds of the search: each spends its calls where the scores so far indicate.
        share : float, default=0.2
            Share of the calls that explores instead of confirming.
        strict : bool, default=False
            Use a bound that is a theorem for lists of more than one, which takes more calls.
        audit_rows : int or None, default=None
            Items whose whole rows are evaluated to state the recall. ``None`` for as many as the target needs.
        candidates : array-like of shape (n_items, w) or None, default=None
            Items to evaluate first with `calls_per_item`, such as the lists of an index of vectors; −1 for none, and an item itself is skipped.
        return_similarity : bool, default=True
            Return similarities, too.
        as_distance : bool, default=False
            Return 1 − similarity, at least 0, in place of similarities.
        include_self : bool, default=False
            Put each item of the fit first into its own list, as UMAP's ``precomputed_knn`` wants it.

        Returns
        -------
        similarities : ndarray of shape (n_items, k)
            Similarities, highest first, NaN where a list ends early; only if `return_similarity`.
        items : ndarray of shape (n_items, k)
            Item numbers, −1 where a list ends early. `neighbors_` has both, and which similarities are evaluated scores.

        Raises
        ------
        BudgetExhausted
            If new items cannot be scored with all landmarks.
        ValueError
            If `calls_per_item` is less than the audited rows of `target_recall` take, or if `candidates` are of other items.

        Examples
        --------
        >>> from landmark import Landmark
        >>> close = lambda pairs: [1 / (1 + abs(a - b)) for a, b in pairs]
        >>> lm = Landmark(close, n_components=4, order="symmetric", error_samples=0).fit([1, 2, 8, 9])
        >>> lm.kneighbors(n_neighbors=1, return_similarity=False).ravel().tolist()
        [1, 0, 3, 2]
        """
        check_is_fitted(self)
        if isinstance(X, (int, np.integer)):
            raise TypeError(f"cannot use {X!r} as `X`: it is a list of new items; write `kneighbors(n_neighbors={X})` for lists of {X}")
        if candidates is not None and (X is not None or target_recall is not None or calls_per_item is None):
            raise ValueError("cannot use `candidates`: they begin a search with `calls_per_item`, without `X` and without `target_recall`")
        k = whole("n_neighbors", n_neighbors, 1)
        if X is not None:
            if target_recall is not None or include_self:
                raise ValueError("`target_recall` and `include_self` are of the items of the fit: leave out `X`")
            found, items = self._neighbors_of(X, k, calls_per_item)
        elif calls_per_item is None and target_recall is None:
            found, items = self._neighbors(*self._factors.top_k(k))
        else:
            found, items = self._near(k, calls_per_item, target_recall, delta, rounds, share, strict, audit_rows, candidates)
        if include_self:
            own = np.arange(len(items))[:, None]
            items = np.hstack([own, items[:, : k - 1]])
            found = np.hstack([self._self_similarities()[:, None], found[:, : k - 1]])
        if as_distance:
            found = np.maximum(1.0 - found, 0.0)
        return (found, items) if return_similarity else items

    def _self_similarities(self) -> NDArray[np.float64]:
        of = self._factors
        if of.diagonal is not None:
            return np.full(len(of), of.diagonal)
        own: NDArray[np.float64] = np.einsum("ij,j,ij->i", of.vectors, of.signature, of.vectors)
        return own

    def _neighbors_of(self, X: Any, k: int, calls_per_item: int | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The items of the fit that are nearest to new items: by their vectors, and by `calls_per_item` further calls each."""
        of = self._factors
        k, n = min(k, len(of)), len(of)
        if calls_per_item is None:
            items, found = _native.nearest_vectors(np.ascontiguousarray(self.transform(X)), of.vectors, of.signature, k)
            return self._neighbors(items, found, np.zeros(items.shape, dtype=bool))
        calls = min(pairs_of("calls_per_item", whole("calls_per_item", calls_per_item, 1), self._calls_per_pair()), n)
        if getattr(self, "_items", None) is None:
            raise ValueError("new items are scored with those of the fit: load the factors with `similarity` and `items`")
        new = self._items_of(X, reset=False)
        m, both = len(new), joined(self._items, new)
        # one store, so that a pair with a landmark is scored once
        matrix, batches = self._open(both, shares=False, spent=getattr(self, "n_calls_", 0))
        try:
            rows = self._embedded(new, opened=(both, matrix, batches))
            items, found = _native.nearest_vectors(np.ascontiguousarray(rows), of.vectors, of.signature, max(k, calls))
            exact = np.zeros(items.shape, dtype=bool)
            # the best of all items, then the second of each
            pairs = np.stack([np.tile(np.arange(n, n + m), calls), items[:, :calls].T.ravel()], axis=1)
            paid = paid_for(matrix, pairs)
            if paid < len(pairs):
                warnings.warn("the budget ended before the search did: its lists are those of the calls that were made", stacklevel=3)
            scores = np.full(len(pairs), np.nan)
            with self._progress(matrix.missing(pairs[:paid]), "neighbors", batches, both, matrix):
                scores[:paid] = matrix.scores(pairs[:paid])
        finally:
            self._count(matrix.calls)
        exact[:, :calls] = (np.arange(len(pairs)) < paid).reshape(calls, m).T
        found[:, :calls] = np.where(exact[:, :calls], scores.reshape(calls, m).T, found[:, :calls])
        # evaluated ones first: estimates fill a list up
        order = np.lexsort((items, -found, ~exact), axis=1)
        items, found, exact = (np.take_along_axis(array, order, 1) for array in (items, found, exact))
        items, found, exact = (np.ascontiguousarray(array[:, :k]) for array in (items, found, exact))
        return self._neighbors(items, found, exact)

    def _near(
        self,
        k: int,
        calls_per_item: int | None,
        target_recall: float | None,
        delta: float,
        rounds: int,
        share: float,
        strict: bool,
        audit_rows: int | None,
        candidates: Any,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Lists of a search that makes calls."""
        matrix, batches = self._opened()
        search = self._search(k, calls_per_item, target_recall, delta, rounds, share, strict, audit_rows)
        proxies = self._proxies(self._items)
        given = None if candidates is None else _indices(candidates)
        fitted = self._fitted(matrix)
        known = _distinct(len(self._items), fitted[0], fitted[2])
        call_plan, before = json.loads(matrix.plan_nearest(json.dumps(search), bool(proxies), known))["calls"], matrix.calls
        try:
            with self._progress(call_plan, "neighbors", batches, matrix=matrix):
                out = matrix.nearest(json.dumps(search), proxies, fitted, given)
        finally:
            self.n_calls_ = matrix.calls
        statement = json.loads(out["statement"])
        if target_recall is not None:
            self.recall_ = stated(statement)
        self._warn_of(statement, target_recall)
        if statement["cut_short"] and matrix.calls == before:
            # nothing was left for it: the factors know more
            return self._neighbors(*self._factors.top_k(k))
        return self._neighbors(out["items"], out["scores"], out["exact"])

    def _fitted(self, matrix: MeteredStore) -> tuple[NDArray[Any], ...]:
        """What a search stands on: landmarks, their columns, single pairs, their scores, Z and its signs.

        Columns that the fit did not keep are read from the store, where all of them are there.
        """
        of, n = self._factors, len(self._factors)
        landmarks, columns = np.asarray(of.landmarks, dtype=np.int64), of.columns if of.judged is None else of.judged
        if columns is None and len(landmarks):
            items = np.arange(n)
            pairs = np.stack([np.repeat(items, len(landmarks)), np.tile(landmarks, n)], axis=1)
            if matrix.missing(pairs[pairs[:, 0] != pairs[:, 1]]) == 0 and matrix.diagonal is not None:
                columns = matrix.block(items, landmarks)
        if columns is None:
            landmarks, columns = np.empty(0, dtype=np.int64), np.empty((n, 0))
        pairs, scores = of.entries or (np.empty((0, 2), dtype=np.int64), np.empty(0))
        arrays = (columns, scores, of.vectors, of.signature)
        columns, scores, vectors, signature = (np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
        return landmarks, columns, np.ascontiguousarray(pairs, dtype=np.int64), scores, vectors, signature

    @staticmethod
    def _warn_of(statement: dict[str, Any], target_recall: float | None) -> None:
        if target_recall is None:
            if statement["cut_short"]:
                warnings.warn("the budget ended before the search did: its lists are those of the calls that were made", stacklevel=4)
        elif statement["cut_short"]:
            message = f"the budget ended before a recall of {target_recall} was known: the lists are those of the calls that were made"
            warnings.warn(f"{message}; {statement['enough']}", stacklevel=4)
        elif not statement["reached"]:
            warnings.warn(f"a recall of {target_recall} was not reached: {statement['enough']}", stacklevel=4)

    def _neighbors(
        self, items: NDArray[np.int64], found: NDArray[np.float64], exact: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        self.neighbors_, self.neighbors_exact_ = Neighbors(items, found, exact), exact
        return found, items

    def plan_kneighbors(
        self, X: Any = None, n_neighbors: int = 10, *, calls_per_item: int | None = None, target_recall: float | None = None, delta: float = 0.1
    ) -> int:
        """Estimate the calls of such a search beyond the fit. No call is made.

        Parameters
        ----------
        X : list or array, default=None
            Items of a fit to come; ``None`` for those of the fit.
        n_neighbors : int, default=10
            Length of the lists.
        calls_per_item : int or None, default=None
            New calls per item; ``None`` for 20, or with `target_recall` for 100 beyond the audit.
        target_recall : float or None, default=None
            Recall to be reached.
        delta : float, default=0.1
            Probability that the recall is lower than stated.

        Returns
        -------
        int
            Calls, at most.
        """
        k = n_neighbors
        if X is None:
            check_is_fitted(self)
        items = self._items_of(X, reset=False) if X is not None else self._items
        order = None if X is None else self._presumed_order()
        matrix = self._open(items, shares=False, order=order)[0]
        if calls_per_item is None and target_recall is None:
            calls_per_item = 20
        search = self._search(k, calls_per_item, target_recall, delta, 4, 0.2, False, None)
        known = None
        if target_recall is None:
            n, of = len(items), getattr(self, "_factors", None) if X is None else None
            landmarks = np.arange(min(int(self.n_components), n)) if of is None else of.landmarks
            entries = None if of is None else of.entries
            known = _distinct(n, landmarks, np.empty((0, 2), dtype=np.int64) if entries is None else entries[0])
        return int(json.loads(matrix.plan_nearest(json.dumps(search), self.proxy is not None, known))["calls"])

    def _search(
        self,
        k: int,
        calls_per_item: int | None,
        recall: float | None,
        delta: float,
        rounds: int,
        share: float,
        strict: bool,
        audit_rows: int | None,
    ) -> dict[str, Any]:
        calls = 100 if calls_per_item is None else whole("calls_per_item", calls_per_item, 1)
        if recall is not None:
            recall = real("target_recall", recall, above=0.0, below=1.0)
        if audit_rows is not None:
            audit_rows = whole("audit_rows", audit_rows, 1)
        k, delta = whole("n_neighbors", k, 1), real("delta", delta, above=0.0, below=1.0)
        rounds, share = whole("rounds", rounds, 1), real("share", share, at_least=0.0, at_most=1.0)
        seed = getattr(self, "_seed_", None)
        return {
            "rounds": {"k": k, "calls_per_item": calls, "rounds": rounds, "share": share},
            "seed": self._seed() if seed is None else seed,
            "name": self.name,
            "recall": recall,
            "delta": delta,
            "strict": strict,
            "audit_rows": audit_rows,
            "is_bounded": calls_per_item is not None,
        }

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int = 10,
        *,
        mode: Literal["connectivity", "similarity", "distance"] = "connectivity",
        symmetric: Literal["union", "mutual"] | None = None,
        include_self: bool = False,
        **search: Any,
    ) -> csr_matrix:
        """Build the graph of `kneighbors`.

        Parameters
        ----------
        X : list or array, default=None
            New items; ``None`` for the items of the fit.
        n_neighbors : int, default=10
            Neighbors of each item.
        mode : {"connectivity", "similarity", "distance"}, default="connectivity"
            Values: 1, the similarity, or 1 − similarity, at least 0. A distance of 0 is an explicit entry.
        symmetric : {"union", "mutual"} or None, default=None
            Keep an edge in both directions if it is in either list, or only if it is in both. ``HDBSCAN(metric="precomputed")`` wants ``"union"``.
        include_self : bool, default=False
            Each item is its own neighbor, too.
        **search : object
            Arguments of `kneighbors`, such as ``calls_per_item``.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_items, n_items), or (number of new items, n_items)
            The graph; distances of an item ascend, other values are in the order of their indices.

        Examples
        --------
        >>> from landmark import Landmark
        >>> close = lambda pairs: [1 / (1 + abs(a - b)) for a, b in pairs]
        >>> lm = Landmark(close, n_components=4, order="symmetric", error_samples=0).fit([1, 2, 8, 9])
        >>> lm.kneighbors_graph(n_neighbors=1, symmetric="union").nnz
        4
        """
        one_of("mode", mode, ("connectivity", "similarity", "distance"))
        if symmetric is not None:
            one_of("symmetric", symmetric, ("union", "mutual"))
            if X is not None:
                raise ValueError("`symmetric` is of the items of the fit: leave out `X`")
        found, items = self.kneighbors(X, n_neighbors, **search)
        rows, places = np.nonzero(items >= 0)
        columns, values = items[rows, places], found[rows, places]
        if include_self and X is None:
            own = np.arange(len(items))
            rows, columns = np.concatenate([own, rows]), np.concatenate([own, columns])
            values = np.concatenate([self._self_similarities(), values])
        if mode == "connectivity":
            values = np.ones(len(values))
        elif mode == "distance":
            values = np.maximum(1.0 - values, 0.0)
        n, m = len(items), len(self._factors)
        if symmetric is not None:
            rows, columns, values = _symmetric(rows, columns, values, n, symmetric)
        # scikit-learn wants distances in ascending order
        order = np.lexsort((columns, values, rows)) if mode == "distance" else np.lexsort((columns, rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        return csr_matrix((values[order], columns[order], starts), shape=(n, m))


def _symmetric(
    rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64], n: int, how: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Edges in both directions, zeros among them. A pair in both lists has the mean of its two values."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    keys, inverse, count = np.unique(low * n + high, return_inverse=True, return_counts=True)
    mean = np.bincount(inverse, weights=values) / count
    low, high = np.divmod(keys, n)
    stays = (count > 1) | (low == high) if how == "mutual" else np.ones(len(keys), dtype=bool)
    low, high, mean = low[stays], high[stays], mean[stays]
    across = low != high
    return (
        np.concatenate([low, high[across]]),
        np.concatenate([high, low[across]]),
        np.concatenate([mean, mean[across]]),
    )


def _indices(candidates: Any) -> NDArray[np.int64]:
    """Candidates as whole numbers, n × w."""
    array = np.asarray(candidates)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"cannot use the candidates: they are {array.dtype} of shape {array.shape} (expected whole numbers, one row per item)")
    return np.ascontiguousarray(array, dtype=np.int64)


def paid_for(matrix: MeteredStore, pairs: NDArray[np.int64]) -> int:
    """Number of pairs, from the first on, that the budget still pays for."""
    left = matrix.calls_left
    if left is None:
        return len(pairs)
    return bisect_right(range(len(pairs) + 1), left, key=lambda count: matrix.missing(pairs[:count])) - 1


def _distinct(n: int, landmarks: NDArray[np.int64], pairs: NDArray[np.int64]) -> int:
    """Pairs of two items with a landmark, or among the single ones."""
    s = len(landmarks)
    single = pairs[~np.isin(pairs, landmarks).any(axis=1)]
    return s * n - s * (s + 1) // 2 + len(np.unique(np.sort(single, axis=1), axis=0))


def stated(statement: dict[str, Any]) -> Recall:
    """What a search states of its recall; NaN where nothing is known."""
    return Recall(
        target=statement["target_recall"],
        delta=statement["delta"],
        is_reached=statement["reached"],
        recall=float("nan") if statement["recall"] is None else statement["recall"],
        lower=statement["lower"],
        bound=statement["bound"],
        rows=statement["audited_rows"],
        scored_pairs=statement["scored_pairs"],
        enough=statement["enough"],
    )


def audited_pairs(out: dict[str, Any], target_recall: float, n: int, calls: int, max_pairs: int | None = None, **more: Any) -> Pairs:
    """Pairs of an audited search, with a warning if it ended before its target."""
    statement = json.loads(out["statement"])
    if not statement["reached"]:
        warnings.warn(f"a recall of {target_recall} was not reached: {statement['enough']}", stacklevel=4)
    return sorted_pairs(out["pairs"], out["scores"], n, calls, most=max_pairs, recall=stated(statement), **more)

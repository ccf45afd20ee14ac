"""Neighbours and pairs of the estimator: by the factors at no call, by the score at a number of calls, or until a recall is stated."""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from ._checks import real, whole
from ._native import MeteredStore
from ._opening import Opening
from .bill import Neighbors, Pairs, Recall


class Search(Opening):
    """Searches of a fitted estimator."""

    n_components_: int
    order_: str
    component_indices_: NDArray[np.int64]

    def kneighbors(
        self,
        k: int = 10,
        *,
        calls_per_item: int | None = None,
        target_recall: float | None = None,
        delta: float = 0.1,
        rounds: int = 4,
        share: float = 0.2,
        strict: bool = False,
        audit_rows: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The k most similar other items of every item: similarities (highest first) and items, n × k.

        Without further arguments from the factors, at no call. With `calls_per_item` from so many new calls an item of the score itself, on top of
        what the fit has evaluated: its columns and single pairs are in the lists from the start, and the factors say where to look. No list
        lacks a better neighbor that the fit or this search evaluated; estimates fill it up only where fewer than k were. With `target_recall` the search goes on until that share of the true ones
        is there with probability 1 − `delta`; `recall_` says what was reached, and `calls_per_item` (100) is where it gives up.
        Where the budget ends before, the lists are those that it pays for, with a warning, and no recall is stated that is not known.
        `neighbors_exact_` is true where a similarity is the score's own; `neighbors_` is all of it as a table for Arrow.
        """
        check_is_fitted(self)
        k = whole("k", k, 1)
        if calls_per_item is None and target_recall is None:
            return self._neighbors(*self._factors.top_k(k))
        matrix, batches = self._opened()
        search = self._search(k, calls_per_item, target_recall, delta, rounds, share, strict, audit_rows)
        proxies = self._proxies(self._items)
        fitted = self._fitted(matrix) if target_recall is None else None
        known = None if fitted is None else _distinct(len(self._items), fitted[0], fitted[2])
        bill, before = json.loads(matrix.plan_nearest(json.dumps(search), bool(proxies), known))["calls"], matrix.calls
        try:
            with self._told(bill, "neighbours", batches, matrix=matrix):
                out = matrix.nearest(json.dumps(search), proxies, fitted)
        finally:
            self.n_calls_ = matrix.calls
        statement = json.loads(out["statement"])
        if target_recall is not None:
            self.recall_ = _recall(statement)
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
        landmarks, columns = np.asarray(of.landmarks, dtype=np.int64), of.columns
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
                warnings.warn("the budget ended before the search did: its lists are those of the calls that were made", stacklevel=3)
        elif statement["cut_short"]:
            told = f"the budget ended before a recall of {target_recall} was known: the lists are those of the calls that were made"
            warnings.warn(f"{told}; {statement['enough']}", stacklevel=3)
        elif not statement["reached"]:
            warnings.warn(f"a recall of {target_recall} was not reached: {statement['enough']}", stacklevel=3)

    def _neighbors(
        self, items: NDArray[np.int64], found: NDArray[np.float64], exact: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        self.neighbors_, self.neighbors_exact_ = Neighbors(items, found, exact), exact
        return found, items

    def plan_kneighbors(
        self, X: Any = None, k: int = 10, *, calls_per_item: int = 20, target_recall: float | None = None, delta: float = 0.1
    ) -> int:
        """Calls of such a search beyond the fit, at most. No call is made."""
        if X is None:
            check_is_fitted(self)
        items = self._items_of(X, reset=False) if X is not None else self._items
        order = None if X is None else self._presumed_order()
        matrix = self._open(items, shares=False, order=order)[0]
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
        k, delta = whole("k", k, 1), real("delta", delta, above=0.0, below=1.0)
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
        }

    def kneighbors_graph(
        self, k: int = 10, *, mode: Literal["connectivity", "similarity", "distance"] = "connectivity", **search: Any
    ) -> csr_matrix:
        """The graph of `kneighbors` as a CSR matrix, n × n. `distance` is 1 − similarity, at least 0."""
        found, items = self.kneighbors(k, **search)
        is_there = items >= 0
        starts = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        if mode == "connectivity":
            values = np.ones(int(is_there.sum()))
        elif mode == "similarity":
            values = found[is_there]
        elif mode == "distance":
            values = np.maximum(1.0 - found[is_there], 0.0)
        else:
            raise ValueError(f"`mode` is {mode!r}, but must be one of connectivity, similarity, distance")
        n = len(self._factors)
        return csr_matrix((values, items[is_there], starts), shape=(n, n))

    def mine(
        self,
        threshold: float,
        *,
        target_recall: float | None = None,
        delta: float = 0.1,
        rescore: bool | None = None,
        max_pairs: int | None = None,
        budget: int | None = None,
    ) -> Pairs:
        """Pairs of at least `threshold`, best first.

        Without `target_recall` and `budget`, pairs come from the estimates, without a call and with a warning: their recall is unknown. `budget`
        is the largest number of new calls. Alone, it pays for a search of the most similar pairs of all; the evaluated pairs of the fit and of this search take part.
        `rescore=True` scores the candidates, one call each, and drops those below the threshold.

        With `target_recall`, pairs are scored in the order of their estimates, and a uniform sample of the others is audited. With probability
        1 − `delta` over the draw of that sample, at least that share of all true pairs is listed, whatever the score, the landmarks or the groups of
        similar pairs are. It says nothing of groups: one missed pair can leave two of them apart. If the budget ends before, the pairs that were
        found are listed with a warning, and `recall.is_reached` is false; a larger budget continues from there. See docs/explanation/recall.md.
        """
        check_is_fitted(self)
        threshold, delta, target_recall, max_pairs = _mining(threshold, delta, target_recall, max_pairs)
        if budget is not None and rescore is not None:
            raise ValueError("`budget` is of a search of its own: leave out `rescore`, or `budget`")
        if budget is not None:
            budget = whole("budget", budget, 1)
        if target_recall is not None:
            return self._audited(threshold, target_recall, delta, budget, max_pairs)
        if budget is not None:
            return self._searched(threshold, budget, max_pairs)
        if not rescore:
            warnings.warn(
                "these pairs are estimates, and their recall is not known: `mine(threshold, budget=CALLS)` searches for more, "
                "`target_recall=0.9` guarantees a recall",
                stacklevel=2,
            )
        near, near_scores = self._factors.landmark_pairs(threshold)
        candidates, estimates = self._factors.pairs_above(threshold, max_pairs)
        exact, calls = np.zeros(len(estimates), dtype=bool), 0
        if rescore:
            matrix, batches = self._opened()
            before, paid = matrix.calls, self._paid_for(matrix, candidates)
            if paid < len(candidates):
                warnings.warn(f"the budget pays for {paid} of {len(candidates)} candidates: pairs are missing", stacklevel=2)
                candidates = candidates[:paid]
            try:
                with self._told(matrix.missing(candidates), "pairs", batches, matrix=matrix):
                    estimates = matrix.scores(candidates)
            finally:
                self.n_calls_ = matrix.calls
            calls = matrix.calls - before
            good = estimates >= threshold
            candidates, estimates = candidates[good], estimates[good]
            exact = np.ones(len(estimates), dtype=bool)
        items = np.vstack([near, candidates])
        found = np.concatenate([near_scores, estimates])
        exact = np.concatenate([np.ones(len(near), dtype=bool), exact])
        order = np.lexsort((items[:, 1], items[:, 0], -found))[:max_pairs]
        return Pairs(items[order], found[order], exact[order], len(self._factors), calls)

    def _audited(self, threshold: float, target_recall: float, delta: float, budget: int | None, max_pairs: int | None) -> Pairs:
        """Pairs of at least `threshold` with a guaranteed recall."""
        matrix, batches = self._opened()
        fitted, before = self._fitted(matrix), matrix.calls
        planned = json.loads(matrix.pairs(self._pair_search(threshold, target_recall, delta, None, plan=True), fitted)["statement"])
        try:
            with self._told(planned["planned"], "pairs", batches, matrix=matrix):
                out = matrix.pairs(self._pair_search(threshold, target_recall, delta, budget, plan=False), fitted)
        finally:
            self.n_calls_ = matrix.calls
        statement = json.loads(out["statement"])
        if not statement["reached"]:
            warnings.warn(f"a recall of {target_recall} was not reached: {statement['enough']}", stacklevel=3)
        items, found = out["pairs"], out["scores"]
        order = np.lexsort((items[:, 1], items[:, 0], -found))[:max_pairs]
        exact = np.ones(len(order), dtype=bool)
        return Pairs(items[order], found[order], exact, len(self._factors), matrix.calls - before, _recall(statement))

    def _pair_search(self, threshold: float, recall: float, delta: float, budget: int | None, *, plan: bool) -> str:
        seed = getattr(self, "_seed_", None)
        settings = {"at_least": float(threshold), "recall": float(recall), "delta": float(delta), "budget": budget, "plan": plan}
        return json.dumps({**settings, "seed": self._seed() if seed is None else seed, "name": self.name})

    def _searched(self, threshold: float, budget: int, max_pairs: int | None) -> Pairs:
        """Pairs of at least `threshold` among those of the fit and of a search at so many new calls."""
        n, k = len(self._factors), 10
        matrix, batches = self._opened()
        fitted = self._fitted(matrix)
        before, paid = matrix.calls, budget if matrix.calls_left is None else min(budget, matrix.calls_left)
        landmarks, columns, pairs, scores = fitted[:4]
        items = np.arange(n)
        known = [np.stack([np.full(n - 1, landmark), items[items != landmark]], axis=1) for landmark in landmarks.tolist()]
        known_scores = [columns[items != landmark, place] for place, landmark in enumerate(landmarks.tolist())]
        found, found_scores = [*known, pairs], [*known_scores, scores]
        try:
            if paid // n:
                search = self._search(k, paid // n, None, 0.1, 4, 0.2, False, None)
                search["rounds"]["pairs"] = True
                with self._told(paid, "pairs", batches, matrix=matrix):
                    out = matrix.nearest(json.dumps(search), self._proxies(self._items), fitted)
                found.append(out["pairs"])
                found_scores.append(out["pair_scores"])
            # what is left of the budget goes to the best estimates of all pairs
            left = paid - (matrix.calls - before)
            best = self._factors.pairs_above(-np.inf, left + sum(len(some) for some in found[len(known) :]))[0]
            asked = {(min(i, j), max(i, j)) for some in found[len(known) :] for i, j in some.tolist()}
            new = np.array([pair for pair in best.tolist() if tuple(sorted(pair)) not in asked], dtype=np.int64).reshape(-1, 2)
            count = bisect_right(range(len(new) + 1), left, key=lambda count: matrix.missing(new[:count])) - 1
            found.append(new[:count])
            found_scores.append(matrix.scores(new[:count]))
        finally:
            self.n_calls_ = matrix.calls
        every, values = np.sort(np.vstack(found), axis=1), np.concatenate(found_scores)
        every, first = np.unique(every, axis=0, return_index=True)
        values = values[first]
        good = values >= threshold
        every, values = every[good], values[good]
        order = np.lexsort((every[:, 1], every[:, 0], -values))[:max_pairs]
        exact = np.ones(len(order), dtype=bool)
        return Pairs(every[order], values[order], exact, n, matrix.calls - before, None)

    def plan_mine(
        self,
        threshold: float,
        *,
        target_recall: float | None = None,
        delta: float = 0.1,
        rescore: bool | None = None,
        max_pairs: int | None = None,
    ) -> int:
        """Calls that such a `mine` makes beyond the fit. No call is made.

        With `target_recall` it is the least: the pairs to be scored next, and an audit that meets no similar pair. A poor estimate takes more.
        Without, the number is exact. The budget may end before.
        """
        check_is_fitted(self)
        threshold, delta, target_recall, max_pairs = _mining(threshold, delta, target_recall, max_pairs)
        matrix = self._opened()[0] if rescore or target_recall is not None else None
        if matrix is None:
            return 0
        if target_recall is not None:
            search = self._pair_search(threshold, target_recall, delta, None, plan=True)
            return int(json.loads(matrix.pairs(search, self._fitted(matrix))["statement"])["planned"])
        return int(matrix.missing(self._factors.pairs_above(threshold, max_pairs)[0]))

    def _paid_for(self, matrix: MeteredStore, pairs: NDArray[np.int64]) -> int:
        """Number of pairs, from the first on, that the budget still pays for."""
        if self.budget is None:
            return len(pairs)
        left = self.budget - matrix.calls
        return bisect_right(range(len(pairs) + 1), left, key=lambda count: matrix.missing(pairs[:count])) - 1


def _mining(
    threshold: Any, delta: Any, target_recall: Any, max_pairs: Any
) -> tuple[float, float, float | None, int | None]:
    """Numbers of `mine`; an infinite threshold is one that every pair passes, or none."""
    return (
        real("threshold", threshold, finite=False),
        real("delta", delta, above=0.0, below=1.0),
        None if target_recall is None else real("target_recall", target_recall, above=0.0, below=1.0),
        None if max_pairs is None else whole("max_pairs", max_pairs, 0),
    )


def _distinct(n: int, landmarks: NDArray[np.int64], pairs: NDArray[np.int64]) -> int:
    """Pairs of two items with a landmark, or among the single ones."""
    s = len(landmarks)
    single = pairs[~np.isin(pairs, landmarks).any(axis=1)]
    return s * n - s * (s + 1) // 2 + len(np.unique(np.sort(single, axis=1), axis=0))


def _recall(statement: dict[str, Any]) -> Recall:
    """What a search says of its recall; NaN where nothing is known."""
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

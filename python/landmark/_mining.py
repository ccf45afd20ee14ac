"""Pairs of the estimator: by the factors without a call, by a number of calls, or until a recall is stated."""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._checks import real, whole
from ._search import Search, audited_pairs, paid_for
from .results import Pairs, sorted_pairs


class Mining(Search):
    """Searches for pairs."""

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
        """Find pairs of at least a threshold, best first.

        Without `target_recall` and `budget`, pairs come from the estimates, without a call and with a warning: their recall is unknown. With
        `target_recall`, pairs are scored in the order of their estimates, and a uniform sample of the others is audited: with probability 1 − `delta`
        over the draw of that sample, at least that share of all true pairs is listed, whatever the score, the landmarks or the groups of similar pairs
        are. It does not cover groups: one missed pair can leave two of them apart.

        Parameters
        ----------
        threshold : float
            Least similarity of a pair.
        target_recall : float or None, default=None
            Share of all pairs above the threshold to be listed.
        delta : float, default=0.1
            Probability that the recall is lower than stated.
        rescore : bool or None, default=None
            Evaluate the pairs that the estimates put above the threshold (one call each, or two if both orders count), and drop those below it.
        max_pairs : int or None, default=None
            Return at most this number of pairs, the best.
        budget : int or None, default=None
            Most new calls. Alone, they are spent on the likely most similar pairs of all.

        Returns
        -------
        Pairs
            Pairs. If a budget ended the search before its target, ``recall.is_reached`` is false, and a larger budget continues from there.

        Raises
        ------
        ValueError
            If `budget` and `rescore` are both given.

        Examples
        --------
        >>> from landmark import Landmark
        >>> close = lambda pairs: [1 / (1 + abs(a - b)) for a, b in pairs]
        >>> lm = Landmark(close, n_components=3, order="symmetric", error_samples=0).fit([1, 2, 8, 9])
        >>> list(lm.mine(0.5, target_recall=0.9))
        [(0.5, 0, 1), (0.5, 2, 3)]
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
            before, paid = matrix.calls, paid_for(matrix, candidates)
            if paid < len(candidates):
                warnings.warn(f"the budget pays for {paid} of {len(candidates)} candidates: pairs are missing", stacklevel=2)
                candidates = candidates[:paid]
            try:
                with self._progress(matrix.missing(candidates), "pairs", batches, matrix=matrix):
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
        return sorted_pairs(items, found, len(self._factors), calls, exact, most=max_pairs, threshold=threshold)

    def _audited(self, threshold: float, target_recall: float, delta: float, budget: int | None, max_pairs: int | None) -> Pairs:
        """Pairs of at least `threshold` with a guaranteed recall."""
        matrix, batches = self._opened()
        fitted, before = self._fitted(matrix), matrix.calls
        planned = json.loads(matrix.pairs(self._pair_search(threshold, target_recall, delta, None, plan=True), fitted)["statement"])
        try:
            with self._progress(planned["planned"], "pairs", batches, matrix=matrix):
                out = matrix.pairs(self._pair_search(threshold, target_recall, delta, budget, plan=False), fitted)
        finally:
            self.n_calls_ = matrix.calls
        return audited_pairs(out, target_recall, len(self._factors), matrix.calls - before, max_pairs, threshold=threshold)

    def _pair_search(self, threshold: float, recall: float, delta: float, budget: int | None, *, plan: bool) -> str:
        seed = getattr(self, "_seed_", None)
        settings = {"at_least": float(threshold), "recall": float(recall), "delta": float(delta), "budget": budget, "plan": plan}
        return json.dumps({**settings, "seed": self._seed() if seed is None else seed, "name": self.name})

    def _searched(self, threshold: float, budget: int, max_pairs: int | None) -> Pairs:
        """Pairs of at least `threshold` among those of the fit and of a search at `budget` new calls."""
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
                with self._progress(paid, "pairs", batches, matrix=matrix):
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
        return sorted_pairs(every[good], values[good], n, matrix.calls - before, most=max_pairs, threshold=threshold)

    def plan_mine(
        self,
        threshold: float,
        *,
        target_recall: float | None = None,
        delta: float = 0.1,
        rescore: bool | None = None,
        max_pairs: int | None = None,
    ) -> int:
        """Estimate the calls of such a `mine` beyond the fit. No call is made.

        Parameters
        ----------
        threshold : float
            Least similarity of a pair.
        target_recall : float or None, default=None
            Share of all pairs above the threshold to be listed.
        delta : float, default=0.1
            Probability that the recall is lower than stated.
        rescore : bool or None, default=None
            Evaluate the pairs that the estimates put above the threshold.
        max_pairs : int or None, default=None
            Return at most this number of pairs, the best.

        Returns
        -------
        int
            Calls: exact without `target_recall`. With it, the least: pairs to be scored next, and an audit that meets no similar pair.
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

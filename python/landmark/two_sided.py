"""Two lists: the best of one for each item of the other, and all pairs across that are similar. Pairs within a list do not exist."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._checks import on_a_copy, pairs_of, real, whole
from ._items import plain
from ._numbered import Numbered, listed
from ._search import audited_pairs
from .cached import Order
from .results import Neighbors, Pairs, sorted_pairs

_NAME = "two lists"
# singular values of the landmarks' block below this share of the largest are noise
_SMALL = 1e-3
# factors at most, turns of fitting them, and their ridge as a share of the mean Gram entry
_RANK = 12
_TURNS = 6
_RIDGE = 0.02
# rounds of a search, each of which learns from the scores so far
_ROUNDS = 4


class TwoSided(BaseEstimator):  # type: ignore[misc]
    """Nearest documents of queries under an expensive score, at a number of calls per query.

    Some documents are scored with all queries and some queries with all documents; both, and embeddings if there are any, estimate the other
    scores, and the best estimates are evaluated. Nothing is scored within a list. A pair is always asked as (query, document).

    Parameters
    ----------
    similarity : callable or object
        Score of pairs (query, document): a function of a list of pairs, an object with ``predict``, or `Cached`.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off a ``CrossEncoder``.
    order : {"given", "mean", "max", "min", "symmetric"}, default="given"
        ``"given"`` asks for (query, document) only; others are those of `Cached`.
    random_state : int, default=0
        Seed of the landmarks.

    Attributes
    ----------
    n_calls_ : int
        Calls of the model by the last search.
    neighbors_ : Neighbors
        Lists of the last search, and which of their scores are evaluated.

    See Also
    --------
    join : Pairs of two lists.

    Examples
    --------
    >>> from landmark import TwoSided
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> search = TwoSided(overlap).fit(["abc", "xyz", "abx"])
    >>> scores, documents = search.kneighbors(["ab", "xy"], n_neighbors=1, calls_per_query=3)
    >>> documents.ravel().tolist()
    [0, 1]
    """

    def __init__(
        self,
        similarity: Any,
        *,
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        order: Order = "given",
        random_state: int = 0,
    ) -> None:
        self.similarity = similarity
        self.store = store
        self.identity = identity
        self.order = order
        self.random_state = random_state

    @on_a_copy
    def fit(self, X: Any, y: Any = None, *, proxy: Any = None) -> TwoSided:
        """Take the documents in. No call is made.

        Parameters
        ----------
        X : list or array
            Documents.
        y : None
            Ignored.
        proxy : array of shape (n_documents, n_dims), default=None
            Embeddings of the documents; queries then need theirs.

        Returns
        -------
        TwoSided
            The estimator.
        """
        self.documents_ = listed(X)
        self._proxy = _rows(proxy, len(self.documents_))
        return self

    def kneighbors(
        self,
        X: Any,
        n_neighbors: int = 10,
        *,
        calls_per_query: int = 50,
        proxy: Any = None,
        return_similarity: bool = True,
    ) -> Any:
        """Find the best documents of each query.

        Parameters
        ----------
        X : list or array
            Queries.
        n_neighbors : int, default=10
            Documents per query.
        calls_per_query : int, default=50
            Calls per query, on average.
        proxy : array of shape (n_queries, n_dims), default=None
            Embeddings of the queries, if `fit` got those of the documents.
        return_similarity : bool, default=True
            Return scores, too.

        Returns
        -------
        similarities : ndarray of shape (n_queries, k)
            Scores, highest first: those that were evaluated come first, estimates fill a list up. Only if `return_similarity`.
        items : ndarray of shape (n_queries, k)
            Document numbers.
        """
        check_is_fitted(self, "documents_")
        k, calls = whole("n_neighbors", n_neighbors, 1), whole("calls_per_query", calls_per_query, 1)
        of = self._numbered(X)
        m, n = len(of.first), len(self.documents_)
        k = min(k, n)
        known = _searched(of, self._embeddings(proxy, m), m * calls // of.calls_per_pair, whole("random_state", self.random_state, 0))
        self.n_calls_ = of.model.n_calls_ - known.calls_before
        estimates = known.estimates()
        exact = ~np.isnan(known.scores)
        values = np.where(exact, known.scores, estimates)
        order = np.lexsort((np.broadcast_to(np.arange(n), values.shape), -values, ~exact), axis=1)[:, :k]
        found = np.take_along_axis(values, order, 1)
        self.neighbors_ = Neighbors(order.astype(np.int64), found, np.take_along_axis(exact, order, 1))
        return (found, self.neighbors_.items) if return_similarity else self.neighbors_.items

    def _numbered(self, X: Any) -> Numbered:
        return Numbered(self.similarity, X, self.documents_, store=self.store, identity=self.identity, order=self.order)

    def _embeddings(self, proxy: Any, m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        if (proxy is None) != (self._proxy is None):
            raise ValueError("give `proxy` to `fit` and to `kneighbors`, or to neither")
        queries = _rows(proxy, m)
        return None if queries is None or self._proxy is None else (queries, self._proxy)


def in_order(found: Neighbors) -> NDArray[np.float64]:
    """Scores of lists whose order is that of the lists: estimates, which stand last, are moved below what was evaluated."""
    lowest = np.min(np.where(found.exact, found.scores, np.inf), axis=1, initial=np.inf)
    highest = np.max(np.where(found.exact, -np.inf, found.scores), axis=1, initial=-np.inf)
    gap = highest - lowest
    moved = np.where(np.isfinite(gap) & (gap >= 0.0), gap + 1e-6 * (1.0 + np.abs(lowest)), 0.0)
    return np.where(found.exact, found.scores, found.scores - moved[:, None])


class _Known:
    """Scores of m × n pairs as far as they were evaluated, and estimates of the others."""

    def __init__(self, of: Numbered, proxy: tuple[NDArray[np.float64], NDArray[np.float64]] | None) -> None:
        self.of = of
        m, n = len(of.first), of.n - len(of.first)
        self.scores = np.full((m, n), np.nan)
        self.calls_before = of.model.n_calls_
        self.cosines = None if proxy is None else _unit(proxy[0]) @ _unit(proxy[1]).T
        self.rows = np.empty(0, dtype=np.int64)
        self.columns = np.empty(0, dtype=np.int64)

    def ask(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
        """Evaluates pairs (rows[a], columns[a]) that are not there."""
        new = np.isnan(self.scores[rows, columns])
        rows, columns = rows[new], columns[new]
        if len(rows):
            self.scores[rows, columns] = self.of.served(rows, columns + len(self.of.first))

    def link(self) -> NDArray[np.float64]:
        """What the embeddings predict for all scores: a parabola of their cosine, or the mean without them."""
        there = ~np.isnan(self.scores)
        if not there.any():
            return np.zeros(self.scores.shape) if self.cosines is None else self.cosines
        if self.cosines is None:
            return np.full(self.scores.shape, float(np.mean(self.scores[there])))
        basis = self.cosines[there][:, None] ** np.arange(3)
        fit = np.linalg.lstsq(basis, self.scores[there], rcond=1e-8)[0]
        found: NDArray[np.float64] = fit[0] + fit[1] * self.cosines + fit[2] * self.cosines**2
        # the best are where the cosine is high: a parabola that falls there carries no information
        return found if fit[1] + 2 * fit[2] * self.cosines.max() > 0 else self.cosines

    def factors(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The link, and factors U (m × r), V (n × r) of what it misses: those of the landmarks, then fitted to all scores in turns."""
        link = self.link()
        there = ~np.isnan(self.scores)
        misses = np.where(there, self.scores - link, 0.0)
        left, right = self._of_landmarks(misses)
        if not left.shape[1]:
            return link, left, right
        mask = there.astype(np.float64)
        for _ in range(_TURNS):
            left = _solved(mask, misses, right)
            right = _solved(mask.T, misses.T, left)
        return link, left, right

    def _of_landmarks(self, misses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Factors by the whole rows and columns, of balanced lengths."""
        m, n = misses.shape
        none = np.zeros((m, 0)), np.zeros((n, 0))
        if not len(self.rows) or not len(self.columns):
            return none
        left, sizes, right = np.linalg.svd(misses[np.ix_(self.rows, self.columns)], full_matrices=False)
        stays = np.flatnonzero(sizes > max(sizes.max(initial=0.0) * _SMALL, 1e-12))[:_RANK]
        if not len(stays):
            return none
        # shrunk: the least ones are the noise of the others
        root = np.sqrt(sizes[stays] / (sizes[stays] ** 2 + (_SMALL * sizes.max()) ** 2))
        return misses[:, self.columns] @ right[stays].T * root, misses[self.rows].T @ left[:, stays] * root

    def estimates(self) -> NDArray[np.float64]:
        link, left, right = self.factors()
        return link + left @ right.T


def _solved(mask: NDArray[np.float64], misses: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ridge regression of each row's known entries on the factors of the columns."""
    r = factors.shape[1]
    products = (factors[:, :, None] * factors[:, None, :]).reshape(len(factors), r * r)
    gram = (mask @ products).reshape(-1, r, r)
    ridge = _RIDGE * max(float(np.mean(np.einsum("kii->k", gram))) / r, 1e-12)
    solved: NDArray[np.float64] = np.linalg.solve(gram + ridge * np.eye(r), (misses @ factors)[:, :, None])[:, :, 0]
    return solved


def _searched(of: Numbered, proxy: tuple[NDArray[np.float64], NDArray[np.float64]] | None, pairs: int, seed: int) -> _Known:
    """Evaluates about `pairs` pairs where the best of each row are likely."""
    known = _Known(of, proxy)
    m, n = known.scores.shape
    if pairs >= m * n:
        known.ask(*(side.ravel() for side in np.indices((m, n))))
        return known
    _landmarks(known, pairs, seed)
    spent = int(np.sum(~np.isnan(known.scores)))
    for turn in range(_ROUNDS):
        room = (pairs - spent) // (_ROUNDS - turn)
        if room <= 0:
            continue
        estimates = np.where(np.isnan(known.scores), known.estimates(), -np.inf)
        each = min(max(room // m, 0), n)
        best = np.argpartition(-estimates, max(each - 1, 0), axis=1)[:, :each]
        rows = np.repeat(np.arange(m), each)
        chosen = best.ravel()
        good = np.isfinite(estimates[rows, chosen])
        known.ask(rows[good], chosen[good])
        if each * m < room:
            # what a whole number per row leaves goes to the best of all
            left = np.where(np.isnan(known.scores), estimates, -np.inf).ravel()
            most = min(room - each * m, int(np.sum(np.isfinite(left))))
            if most:
                rest = np.argpartition(-left, most - 1)[:most]
                known.ask(*np.divmod(rest, n))
        spent = int(np.sum(~np.isnan(known.scores)))
    return known


def _landmarks(known: _Known, pairs: int, seed: int) -> None:
    """Evaluates whole rows and whole columns by about half of the calls: as many of each."""
    m, n = known.scores.shape
    count = min(pairs // (2 * (m + n)), m, n)
    if not count:
        return
    draw = np.random.default_rng([seed, m, n])
    known.rows = np.sort(draw.choice(m, count, replace=False))
    known.columns = np.sort(draw.choice(n, count, replace=False))
    known.ask(np.repeat(known.rows, n), np.tile(np.arange(n), count))
    known.ask(np.tile(np.arange(m), count), np.repeat(known.columns, m))


def join(
    left: Any,
    right: Any,
    similarity: Any,
    *,
    threshold: float | None = None,
    k: int | None = None,
    proxy: tuple[Any, Any] | None = None,
    budget: int | None = None,
    target_recall: float | None = None,
    delta: float = 0.1,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    order: Order = "given",
    random_state: int = 0,
) -> Pairs:
    """Join two lists by an expensive score.

    With `target_recall`, pairs are scored in the order of their estimates, and a uniform sample of the others is audited: with probability
    1 − `delta` over that draw, at least that share of all true pairs is listed, whatever the score and the estimates are.

    Parameters
    ----------
    left, right : list or array
        Items. A pair is always asked as (item of left, item of right).
    similarity : callable or object
        Score: a function of a list of pairs, an object with ``predict``, or `Cached`.
    threshold : float or None, default=None
        Return pairs that score at least this.
    k : int or None, default=None
        Return the k best items of `right` for each item of `left`.
    proxy : tuple of two arrays, default=None
        Embeddings of both lists.
    budget : int or None, default=None
        Most calls. ``None`` is ten per item of both lists, and no limit with `target_recall`.
    target_recall : float or None, default=None
        Share of all pairs above the threshold to be listed.
    delta : float, default=0.1
        Probability that the recall is lower than stated.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store.
    order : {"given", "mean", "max", "min", "symmetric"}, default="given"
        As in `TwoSided`.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Pairs
        Pairs (i, j) of item i of `left` and item j of `right`, best first. ``recall`` has what is known of the recall.

    Raises
    ------
    ValueError
        If not exactly one of `threshold` and `k` is given.

    Examples
    --------
    >>> from landmark import join
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> list(join(["ab", "xy"], ["abc", "xyz"], overlap, threshold=0.5, budget=4))
    [(0.6666666666666666, 0, 0), (0.6666666666666666, 1, 1)]
    """
    if (threshold is None) == (k is None):
        raise ValueError("give `threshold` or `k` (one of them)")
    if target_recall is not None and threshold is None:
        raise ValueError("`target_recall` is of pairs above a threshold: give `threshold` in place of `k`")
    of = Numbered(similarity, left, right, store=store, identity=identity, order=order)
    m, n = len(of.first), of.n - len(of.first)
    embeddings = None
    if proxy is not None:
        first, second = _rows(proxy[0], m), _rows(proxy[1], n)
        assert first is not None and second is not None
        embeddings = first, second
    seed = whole("random_state", random_state, 0)
    calls = 10 * (m + n) if budget is None else whole("budget", budget, 1)
    most = pairs_of("budget", calls, of.calls_per_pair)
    before = of.model.n_calls_
    if target_recall is not None:
        assert threshold is not None
        recall, share = real("target_recall", target_recall, above=0.0, below=1.0), real("delta", delta, above=0.0, below=1.0)
        return _audited(of, embeddings, real("threshold", threshold), recall, share, calls, budget is not None, seed)
    known = _searched(of, embeddings, most, seed)
    scores = np.where(np.isnan(known.scores), -np.inf, known.scores)
    if k is not None:
        k = min(whole("k", k, 1), n)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        pairs = np.stack([np.repeat(np.arange(m), k), best.ravel()], axis=1)
        found = np.take_along_axis(scores, best, 1).ravel()
        stays = np.isfinite(found)
        pairs, found = pairs[stays], found[stays]
    else:
        pairs = np.argwhere(scores >= real("threshold", threshold, finite=False))
        found = scores[pairs[:, 0], pairs[:, 1]]
        if np.isnan(known.scores).any():
            warnings.warn("the recall of these pairs is not known: `target_recall=0.9` guarantees one", stacklevel=2)
    return sorted_pairs(pairs, found, m + n, of.model.n_calls_ - before, left=m, threshold=threshold)


def _audited(
    of: Numbered,
    proxy: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    threshold: float,
    recall: float,
    delta: float,
    calls: int,
    is_limited: bool,
    seed: int,
) -> Pairs:
    """Pairs of at least a threshold with a guaranteed recall."""
    before = of.model.n_calls_
    known = _Known(of, proxy)
    m, n = known.scores.shape
    # landmarks by a fraction of what a search costs
    _landmarks(known, min(calls // of.calls_per_pair // 2, 5 * (m + n)), seed)
    link, left, right = known.factors()
    if known.cosines is not None:
        # the link as factors: a parabola of the cosines is the best of a few products
        u, s, vt = np.linalg.svd(link, full_matrices=False) if min(m, n) <= 2000 else _thin(link)
        stays = s > s.max(initial=0.0) * 1e-4
        left, right = np.hstack([left, u[:, stays] * s[stays]]), np.hstack([right, vt[stays].T])
    vectors = np.vstack([left, right]) if left.shape[1] else np.zeros((m + n, 1))
    landmarks = np.concatenate([known.rows, known.columns + m]).astype(np.int64)
    block = np.zeros((m + n, len(landmarks)))
    for place, row in enumerate(known.rows.tolist()):
        block[m:, place] = known.scores[row]
    for place, column in enumerate(known.columns.tolist()):
        block[:m, len(known.rows) + place] = known.scores[:, column]
    oracle = _native.Oracle.function(of.served, of.n, _NAME, True, None, 1, False, None)
    matrix = _native.MeteredStore(oracle)
    settings = {
        "at_least": threshold,
        "recall": recall,
        "delta": delta,
        "budget": None if not is_limited else max((calls - (of.model.n_calls_ - before)) // of.calls_per_pair, 0),
        "plan": False,
        "left": m,
        "seed": seed,
        "name": _NAME,
    }
    none = np.empty((0, 2), dtype=np.int64), np.empty(0)
    fitted = landmarks, block, *none, np.ascontiguousarray(vectors), np.ones(vectors.shape[1])
    out = matrix.pairs(json.dumps(settings), fitted)
    out["pairs"] = np.sort(out["pairs"], axis=1) - np.array([0, m])
    return audited_pairs(out, recall, m + n, of.model.n_calls_ - before, left=m, threshold=threshold)


def _thin(matrix: NDArray[np.float64], rank: int = 64) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Largest singular values by a random range (Halko, Martinsson & Tropp 2011)."""
    draw = np.random.default_rng(0).normal(size=(matrix.shape[1], rank))
    basis = np.linalg.qr(matrix @ (matrix.T @ (matrix @ draw)))[0]
    u, s, vt = np.linalg.svd(basis.T @ matrix, full_matrices=False)
    return basis @ u, s, vt


def _rows(proxy: Any, n: int) -> NDArray[np.float64] | None:
    if proxy is None:
        return None
    rows = np.asarray(plain(proxy), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != n:
        raise ValueError(f"cannot use an array of shape {rows.shape} as `proxy`: expected one row per item ({n})")
    return rows


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0))

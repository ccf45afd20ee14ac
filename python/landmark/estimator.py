"""`Landmark`: an expensive pairwise score as a scikit-learn estimator."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from . import scores
from ._batches import Batches
from ._checks import on_a_copy, places, whole
from ._items import Items, content, joined, plain, taken
from ._native import BudgetExhausted, MeteredStore, Projector
from ._opening import DEFAULT_COMPONENTS, PROBED, as_list, is_asked
from ._saved import Saved
from ._shrinking import refitted, variance_of
from .results import CallPlan, spectrum, table
from .noise import JudgeNoise
from .reading import Factors
from .workers import Tile, cut

log = logging.getLogger("landmark")

# items, and a store over them
_Opened = tuple[Items, MeteredStore, Any]


class Landmark(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saved):  # type: ignore[misc]
    """Factors, neighbors and near-duplicates from a few columns of an expensive, possibly indefinite similarity matrix.

    The score is evaluated for all items with `n_components` landmarks and for nothing else. K̃ = Z diag(signature_) Zᵀ approximates the matrix,
    and returns evaluated scores exactly.

    Parameters
    ----------
    similarity : callable, object or array, default=None
        The score of a pair. A function of a list of pairs that returns one number each; `Blockwise` around a function of two lists of items that
        returns their block, as scikit-learn's kernels do; an object with ``predict``, such as a ``CrossEncoder``; `Cached`; an ``async def`` of two
        items; an n × n array; `Program`, `Wmd`, `TreeKernel` or `VectorKernel`.
    n_components : int, default=100
        Number of landmarks s. A symmetric score takes n·s − s(s − 1)/2 calls.
    metric : {"precomputed"} or None, default=None
        ``"precomputed"`` if `fit` gets the matrix itself.
    proxy : array of shape (n_items, n_dims), list of arrays, or ``"items"``, default=None
        Embeddings of the items, the best first: cheap similarities whose cosine the score is learned from. ``"items"`` are the rows themselves.
    budget : int or None, default=None
        Most calls that this object may make from one fit on, new items included. The largest rank that fits into it is used.
    store : str or path or None, default=None
        Folder or URL that keeps every score, shared with the program and between processes. ``None`` keeps them in memory.
    identity : str or None, default=None
        Name of everything that moves a score of two items (model, version, prompt, a table that their numbers point into). Required with a `store`,
        but for `Wmd`, `TreeKernel`, `VectorKernel` and `Program`, and for a ``CrossEncoder``, whose model, revision, maximum length, activation and dtype
        are its name. A new model needs a new name.
    method : str or mapping, default="shift_ridge"
        Id of an approximator, or a mapping with ``id`` and its parameters; `landmark.methods` lists them.
    landmarks : str, mapping or array-like of int, default="uniform"
        Id of a policy, a mapping with ``id``, or item numbers, most important first; their count replaces the default `n_components`.
    order : {"symmetric", "mean", "max", "min"} or None, default=None
        ``"symmetric"`` if f(a, b) = f(b, a); ``"mean"``, ``"max"`` or ``"min"`` of both orders otherwise, two calls per pair. ``None`` compares both
        orders of 16 pairs before a fit (16 further calls). If they differ by more than 0.1%, an object with ``predict`` is used as the mean, and a
        function raises a `ValueError`. Nothing is compared if the store has scores of these items or if the budget is too small for it.
    diagonal : float or None, default=None
        Similarity of an item with itself, if it is known without a call: 1.0 for most similarities, also with `gamma`.
    gamma : float or None, default=None
        Use exp(−gamma·score), for a score that is a distance. Any gamma may be tried on stored distances.
    scattered : mapping or None, default=None
        Share of the calls that go to single pairs instead of columns, such as ``{"columns": 0.75}``.
    link : {1, 2, 3}, default=2
        Degree of the polynomial by which the score is learned from the proxy.
    popularity : bool, default=False
        Let the link use hubness: how high an item scores with all others.
    noise : float, JudgeNoise or None, default=None
        Variance of one answer of a judge that varies, as `judge_noise` estimates it. Evaluated columns are shrunk by it before they are factored:
        `embedding_` and `similarities` are estimates of the mean answer. Searches list the judge's answers as they are.
    error_samples : int, default=1000
        Further calls that estimate the error; 0 for none.
    confidence : float, default=0.95
        Confidence level of `error_interval_`.
    known : bool, default=True
        Keep the evaluated columns (8·n·s bytes). Without them and without a store, a `Blockwise` score or a `VectorKernel` is evaluated again by
        searches.
    concurrency : int, default=8
        Coroutines in flight at a time.
    random_state : int, RandomState instance or None, default=0
        Seed. The same seed and `name` give the same bits as the program for matrices, `Wmd`, `TreeKernel` and `Program`.
    name : str, default="landmark"
        Name of the random streams, as ``dataset.name`` is for the program.
    verbose : bool, default=False
        Show a progress bar (tqdm, if it is installed) or lines.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_items, r)
        Z.
    signature_ : ndarray of shape (r,)
        1 or −1 for each column of Z.
    component_indices_ : ndarray of shape (s,)
        Item numbers of the landmarks.
    error_ : float or None
        Estimated ‖K − K̃‖ / ‖K‖; 0.0 if all pairs were evaluated, ``None`` without samples.
    error_interval_ : tuple of float or None
        Confidence interval of the error.
    error_report_ : dict or None
        Details of the estimate. With `noise`, ``"noiseless"`` is the error against the mean answer on pairs that are not evaluated.
    n_calls_ : int
        Calls that were made from the fit on, by searches and for new items, too.
    n_components_ : int
        Landmarks that were used.
    order_ : str
        Order of the fit.
    call_plan_ : CallPlan
        Call estimate of the fit.
    report_ : dict
        Shift, ridge and eigenvalues of the fit.

    See Also
    --------
    Cached : A model that scores no pair twice.
    landmark.sbert : The utilities of sentence-transformers by a cross-encoder.

    Examples
    --------
    >>> from landmark import Landmark
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> lm = Landmark(overlap, n_components=2, order="symmetric", error_samples=0).fit(["abc", "abd", "xyz", "xya"])
    >>> lm.n_calls_
    7
    >>> lm.embedding_.shape[0]
    4
    """

    def __init__(
        self,
        similarity: Any = None,
        n_components: int = DEFAULT_COMPONENTS,
        *,
        metric: Literal["precomputed"] | None = None,
        proxy: Any = None,
        budget: int | None = None,
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        method: str | Mapping[str, Any] = "shift_ridge",
        landmarks: str | Mapping[str, Any] | ArrayLike = "uniform",
        order: Literal["symmetric", "mean", "max", "min"] | None = None,
        diagonal: float | None = None,
        gamma: float | None = None,
        scattered: Mapping[str, Any] | None = None,
        link: int = 2,
        popularity: bool = False,
        noise: float | JudgeNoise | None = None,
        error_samples: int = 1000,
        confidence: float = 0.95,
        known: bool = True,
        concurrency: int = 8,
        random_state: Any = 0,
        name: str = "landmark",
        verbose: bool = False,
    ) -> None:
        self.similarity = similarity
        self.n_components = n_components
        self.metric = metric
        self.proxy = proxy
        self.budget = budget
        self.store = store
        self.identity = identity
        self.method = method
        self.landmarks = landmarks
        self.order = order
        self.diagonal = diagonal
        self.gamma = gamma
        self.scattered = scattered
        self.link = link
        self.popularity = popularity
        self.noise = noise
        self.error_samples = error_samples
        self.confidence = confidence
        self.known = known
        self.concurrency = concurrency
        self.random_state = random_state
        self.name = name
        self.verbose = verbose

    # --- what scikit-learn asks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.string = self.metric != "precomputed"
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_clone__(self) -> Landmark:
        # a model is shared, and not copied with its weights; a store is a name
        shared = ("similarity", "proxy", "store")
        params = self.get_params(deep=False)
        copy = type(self)(**{name: value if name in shared else deepcopy(value) for name, value in params.items()})
        for name in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, name):
                setattr(copy, name, deepcopy(getattr(self, name)))
        return copy

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # open stores and threads stay here; a projector of proxies is no array
        for gone in ("_matrix", "_batches", "_projector"):
            state.pop(gone, None)
        return state

    # --- the planned calls and the fit

    def plan(self, X: Any, y: Any = None) -> CallPlan:
        """Estimate the calls of `fit(X)`. No call is made.

        Parameters
        ----------
        X : list or array
            Items.
        y : None
            Ignored.

        Returns
        -------
        CallPlan
            Planned calls, exact unless it states otherwise.
        """
        items = self._items_of(X, reset=False)
        settings = self._settings(len(items), self._seed())
        matrix, batches = self._open(items, dry=True, order=self._order or "symmetric")
        probe = self._probe(matrix, batches, json.dumps(settings))[1]
        is_known = not probe or not self._asks_both()
        if not is_known:
            # of a predictor the probe decides: at most the calls of both orders
            probe = probe if probe > PROBED else 0
            matrix, _ = self._open(items, dry=True, order="mean")
        return self._call_plan(matrix, settings, self._proxies(items), probe, is_known)

    def tiles(self, X: Any, calls: int = 10_000) -> list[Tile]:
        """Cut the calls of `fit(X)` into tiles, for `work` or `Worker` on any machine that reaches the store. No call is made.

        Parameters
        ----------
        X : list or array
            Items.
        calls : int, default=10000
            Calls of a tile, about.

        Returns
        -------
        list of Tile
            Tiles, in any order.
        """
        if self._store is None:
            raise ValueError("workers meet in a store: give `store` and `identity`")
        if not isinstance(self.random_state, (int, np.integer)):
            raise ValueError("tiles are those of one seed: give a whole number as `random_state`")
        calls = whole("calls", calls, 1)
        if self._order is None and self._asks_both():
            raise ValueError('workers do not look at both orders of a pair: set `order="mean"`, or `order="symmetric"` if the order does not count')
        if self._order is None and is_asked(self):
            warnings.warn(
                'workers do not look at both orders of a pair and take the score as symmetric: set `order="mean"`, or `order="symmetric"` if it is',
                stacklevel=2,
            )
        items = self._items_of(X, reset=False)
        matrix, _ = self._open(items)
        columns, single = matrix.entries(json.dumps(self._settings(len(items), self._seed())))
        return cut(clone(self), items, columns, single, len(items), calls)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_factors")

    @on_a_copy
    def fit(self, X: Any, y: Any = None) -> Landmark:
        """Evaluate the columns of the landmarks and factor them.

        A fit that raises, or is interrupted, leaves the estimator as it was.

        Parameters
        ----------
        X : list or array
            Items: texts, rows of an array, whole numbers, or any objects. With ``metric="precomputed"``, the n × n matrix.
        y : None
            Ignored.

        Returns
        -------
        Landmark
            The fitted estimator.
        """
        items = self._items_of(X, reset=True)
        noise = variance_of(self.noise, method=self._method()["id"], gamma=self.gamma, scattered=self.scattered, known=self.known)
        self._seed_ = self._seed()
        self._settings_ = self._settings(len(items), self._seed_)
        self._items = items
        settings, proxies = json.dumps(self._settings_), self._proxies(items)
        matrix, batches = self._opened_for_fit(items, settings)
        self._matrix, self._batches, self._identity_ = matrix, batches, matrix.identity
        self.call_plan_ = self._call_plan(matrix, self._settings_, proxies, matrix.calls)
        log.info("a fit of %s items takes %s calls, %s of them new", len(items), self.call_plan_.calls_alone, self.call_plan_.calls)
        most = self.call_plan_.calls if matrix.calls_left is None else min(self.call_plan_.calls, matrix.calls_left + matrix.calls)
        # scores of both orders are there already
        done = max(matrix.calls, len(batches.known) if isinstance(batches, Batches) else 0)
        with self._progress(most - done, "scores", batches, items, matrix):
            out = matrix.fit(settings, proxies)
        self._is_cut_short, self._had_proxy = bool(out["cut_short"]), False
        if out["cut_short"]:
            warnings.warn(
                f"the budget of {self.budget} calls pays for {out['rank']} of the {self._settings_['rank']} landmarks that were asked for",
                stacklevel=3,
            )
        self._take(out if noise is None else refitted(out, matrix, self._settings_, proxies, noise), matrix)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Fit, and return Z.

        Parameters
        ----------
        X : list or array
            Items.
        y : None
            Ignored.
        **fit_params : object
            Ignored.

        Returns
        -------
        ndarray of shape (n_items, r)
            `embedding_`, not a copy.
        """
        return self.fit(X, y).embedding_

    def _take(self, out: dict[str, Any], matrix: MeteredStore) -> None:
        projector = out["projector"]
        self._projector: Projector | None = projector if isinstance(projector, Projector) else None
        self._factors = Factors(
            vectors=out["vectors"],
            signature=out["signature"],
            landmarks=out["landmarks"],
            columns=out["columns"],
            projector=None if self._projector is not None else projector,
            scattered_pairs=out.get("scattered_pairs"),
            scattered_scores=out.get("scattered_scores"),
            diagonal=matrix.diagonal,
            judged=out.get("judged"),
        )
        self.report_ = json.loads(out["report"])
        self._set_error(json.loads(out["error"]) if out["error"] else None)
        self.n_components_ = int(out["rank"])
        matrix.charge(int(out.get("uncounted", 0)))
        self.n_calls_ = matrix.calls
        self._name_arrays()

    # --- reading K̃

    def row(self, i: int) -> NDArray[np.float64]:
        """Read a row of K̃.

        Parameters
        ----------
        i : int
            Item number.

        Returns
        -------
        ndarray of shape (n_items,)
            K̃[i, :].
        """
        check_is_fitted(self)
        return self._factors.row(int(self._one("i", i)[0]))

    def similarities(self, rows: ArrayLike, columns: ArrayLike) -> Any:
        """Read K̃[rows, columns]; evaluated scores come back exactly.

        Parameters
        ----------
        rows, columns : int or array-like of int
            Item numbers, or masks of one truth value per item.

        Returns
        -------
        float or ndarray
            A number for two item numbers, a row or a column for one number and a list, a block for two lists.
        """
        check_is_fitted(self)
        n = len(self._factors)
        block = self._factors.block(
            self._one("rows", rows) if np.ndim(rows) == 0 else places("rows", rows, n),
            self._one("columns", columns) if np.ndim(columns) == 0 else places("columns", columns, n),
        )
        if np.ndim(rows) == 0 and np.ndim(columns) == 0:
            return float(block[0, 0])
        return block[0] if np.ndim(rows) == 0 else block[:, 0] if np.ndim(columns) == 0 else block

    def _one(self, name: str, item: Any) -> NDArray[np.int64]:
        return places(name, [whole(name, item)], len(self._factors))

    # --- new items

    def transform(self, X: Any, *, proxy: Any = None) -> NDArray[np.float64]:
        """Embed items: those of the fit without a call, new ones by their scores with the landmarks.

        Parameters
        ----------
        X : list or array
            Items. With ``metric="precomputed"``, the m × n similarities to the items of the fit.
        proxy : array or list of arrays, default=None
            Embeddings of X, if the fit has a proxy.

        Returns
        -------
        ndarray of shape (n_samples, r)
            Rows of Z.
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            values = np.asarray(validate_data(self, plain(X), reset=False, dtype=np.float64))
            return self._project(self._similar(values[:, self.component_indices_]))
        return self._embedded(self._items_of(X, reset=False), proxy)

    def _embedded(self, items: Items, proxy: Any = None, opened: _Opened | None = None) -> NDArray[np.float64]:
        """Rows of Z; `opened` is a store over the items of the fit and these after them, whose calls somebody else counts."""
        places = self._places()
        known = np.array([places.get(content(item), -1) for item in items], dtype=np.int64)
        out = np.empty((len(items), self.embedding_.shape[1]))
        out[known >= 0] = self.embedding_[known[known >= 0]]
        new = np.flatnonzero(known < 0)
        if len(new):
            rows = self._new_rows(items, new, opened)
            out[new] = self._project(rows, None if proxy is None else _rows_of(proxy, new))
        return out

    def _places(self) -> dict[bytes, int]:
        if getattr(self, "_items", None) is None:
            return {}
        return {content(item): place for place, item in reversed(list(enumerate(self._items)))}

    def _new_rows(self, items: Items, new: NDArray[np.int64], opened: _Opened | None) -> NDArray[np.float64]:
        """Similarities of new items to the landmarks, through the store."""
        if getattr(self, "_items", None) is None or (self._similarity is None and self.metric is None):
            raise ValueError("new items are scored with the landmarks: load the factors with `similarity` and `items`")
        if scores.is_matrix(self._similarity):
            raise ValueError("a matrix has no scores of new items; use `metric='precomputed'` and hand over their rows")
        t = len(self.component_indices_)
        if opened is None:
            both = joined(taken(self._items, self.component_indices_), taken(items, new))
            # one list for each batch of new items would be one more to read for all others
            matrix, batches = self._open(both, shares=False, spent=getattr(self, "n_calls_", 0))
            rows, columns = np.arange(t, t + len(new)), np.arange(t)
        else:
            both, matrix, batches = opened
            rows, columns = len(self._factors) + new, self.component_indices_
        pairs = np.stack([np.repeat(rows, t), np.tile(columns, len(new))], axis=1)
        missing, left = matrix.missing(pairs), matrix.calls_left
        if left is not None and missing > left:
            # a part of the scores would embed nothing
            raise BudgetExhausted(
                f"cannot score {len(new)} new items with {t} landmarks: they take {missing} calls, and {left} of the budget of {self.budget} are left; "
                "raise `budget`, or embed fewer items at a time"
            )
        try:
            with self._progress(missing, "new items", batches, both, matrix):
                return matrix.block(rows, columns)
        finally:
            if opened is None:
                self._count(matrix.calls)

    def _similar(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values if self.gamma is None else np.asarray(np.exp(-self.gamma * values))

    def _project(self, rows: NDArray[np.float64], proxy: Any = None) -> NDArray[np.float64]:
        if self._factors.projector is not None:
            return np.asarray(rows @ self._factors.projector)
        projector = getattr(self, "_projector", None)
        if projector is None:
            has_proxy = self.proxy is not None or getattr(self, "_had_proxy", False)
            why = "a proxy takes part, and its part is not pickled or saved: fit again" if has_proxy else "this method has none"
            raise ValueError(f"new items have no vectors here: {why}")
        if proxy is None:
            raise ValueError("a proxy takes part: hand over the embeddings of the new items as `proxy`")
        if any(isinstance(one, scores.BuiltIn) for one in as_list(self.proxy)):
            raise ValueError("cannot embed new items by a proxy that scores items itself: hand over embeddings as `proxy` of the fit")
        to_landmarks, to_anchors = [], []
        for ours, theirs in zip(self._embeddings(self._items), proxy, strict=True):
            to_landmarks.append(_cosines(theirs, ours[self.component_indices_]))
            to_anchors.append(_cosines(theirs, ours[projector.anchors]))
        return np.asarray(projector.project(np.ascontiguousarray(rows), to_landmarks, to_anchors))

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return str(super()._repr_html_())
        rows: list[tuple[str, Any]] = [
            ("items", len(self._factors)),
            ("landmarks", self.n_components_),
            ("columns of Z", int(self.embedding_.shape[1])),
            ("calls made", self.n_calls_),
            ("relative error", "not estimated" if self.error_ is None else self.error_),
            ("columns that count negatively", int(np.sum(self.signature_ < 0))),
        ]
        sizes = np.einsum("ij,ij->j", self.embedding_, self.embedding_)
        return table("Landmark", rows) + spectrum(sizes, self.signature_)


def _rows_of(proxy: Any, rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    return [np.asarray(plain(one), dtype=np.float64)[rows] for one in as_list(proxy)]


def _unit(rows: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(rows, dtype=np.float64)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    return np.asarray(np.divide(array, norms, out=np.zeros_like(array), where=norms > 0))


def _cosines(left: ArrayLike, right: ArrayLike) -> NDArray[np.float64]:
    return np.ascontiguousarray(_unit(left) @ _unit(right).T)

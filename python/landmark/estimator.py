"""`Landmark`: an expensive pairwise score as a scikit-learn estimator."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from . import factors as files
from . import scores
from ._batches import Batches
from ._checks import on_a_copy, places, real, whole
from ._items import Items, content, digest, joined, plain, taken
from ._native import MeteredStore, Projector
from ._opening import DEFAULT_COMPONENTS, PROBED, as_list, is_asked
from ._search import Search
from .bill import Bill, spectrum, table
from .reading import Factors
from .workers import Tile, cut

log = logging.getLogger("landmark")


class Landmark(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Search):  # type: ignore[misc]
    """Factors, neighbours and near-duplicates from a few columns of an expensive, possibly indefinite similarity matrix.

    The score is asked for all items with `n_components` landmarks and for nothing else; K̃ = Z diag(±1) Zᵀ with what was evaluated put back.

    Parameters
    ----------
    score : what scores a pair. A function of a list of pairs that answers one number each; `Blockwise` around one of two lists of items that
        answers their block, as scikit-learn's kernels do; an object with `predict` (a cross-encoder of sentence-transformers as it is); an
        `async def` of two items; an n × n array; `Program`, `Wmd`, `TreeKernel` or `VectorKernel`.
    n_components : s, the landmarks. Calls of a symmetric score: n·s − s(s − 1)/2.
    metric : `"precomputed"` where `fit` is handed the matrix itself.
    proxy : n × d embeddings of the items, or several such arrays, best first: cheap relatives whose cosine the score is learned from. Arrays
        of the rows themselves may be named `"items"`.
    budget : most calls that this object may make from one fit on. The largest rank that it pays for is fitted.
    store : folder or URL that keeps every score for good, shared with the program and between processes; none keeps them in memory.
    identity : name of everything that moves a score of two items (model, version, prompt, a table that their numbers point into). Needed
        with a store, where the scores of two items serve every list that has both; a new model needs a new name.
    method : id of an approximator, or a mapping with `id` and its parameters; `landmark.methods()` lists them.
    landmarks : id of a policy, a mapping with `id`, or your own item numbers, most important first; their count replaces the default `n_components`.
    order : `symmetric` if f(a, b) = f(b, a); `mean`, `max` or `min` of both orders for a score that depends on them, two calls per pair.
        `None` asks for 16 pairs in both orders before the first scores of a fit (16 further calls, `bill_.calls_of_the_probe`). If they differ by more than
        0.1%, an object with `predict` (a cross-encoder) is used as the `mean`, and a function is refused; the `plan` of such an object is an upper bound.
        Nothing is asked if the store has scores of these items or if the budget is too small for it. `order_` is what the fit used.
    diagonal : self-similarity if it is known without a call. With `gamma` it is the similarity exp(−gamma·distance), so 1.0 for a distance of 0.
    gamma : similarities exp(−gamma·score), for a score that is a distance. Any gamma may be tried on what the store has.
    scattered : share of the calls that go to single pairs instead of columns, as `{"columns": 0.75}`; `None` for none.
    link : how the score is learned from the proxy: degree of a polynomial (1 to 3).
    popularity : let the link use how popular items are.
    error_samples : further calls that estimate the error; 0 for none.
    confidence : of the interval of the error.
    known : keep the evaluated columns (8·n·s bytes): K̃ returns them exactly. Without them, and without a store, a `Blockwise` score or a
        `VectorKernel` is asked anew for what a search wants of them.
    concurrency : coroutines under way at a time.
    random_state : seed; the same seed and `name` give the same bits as the program, for matrices, `Wmd`, `TreeKernel` and `Program`. The draws of a
        function go by the content of the items, whatever their order (docs/python.md, "Lists that grow").
    name : name of the random streams, as `dataset.name` is for the program.
    verbose : show a bar (tqdm, where it is installed) or lines.

    Attributes
    ----------
    embedding_ : Z, n × r. signature_ : ±1 for each column. component_indices_ : the landmarks.
    error_ : estimated ‖K − K̃‖ / ‖K‖ (None without samples), error_interval_, error_report_.
    n_calls_ : calls really made. order_ : the order of the fit. bill_ : the bill of the fit. report_ : shift, ridge, eigenvalues of the fit.
    """

    def __init__(
        self,
        score: Any = None,
        n_components: int = DEFAULT_COMPONENTS,
        *,
        metric: str | None = None,
        proxy: Any = None,
        budget: int | None = None,
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        method: str | Mapping[str, Any] = "shift_ridge",
        landmarks: str | Mapping[str, Any] | ArrayLike = "uniform",
        order: str | None = None,
        diagonal: float | None = None,
        gamma: float | None = None,
        scattered: Mapping[str, Any] | None = None,
        link: int = 2,
        popularity: bool = False,
        error_samples: int = 1000,
        confidence: float = 0.95,
        known: bool = True,
        concurrency: int = 8,
        random_state: Any = 0,
        name: str = "landmark",
        verbose: bool = False,
    ) -> None:
        self.score = score
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
        shared = ("score", "proxy", "store")
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

    # --- the bill and the fit

    def plan(self, X: Any, y: Any = None) -> Bill:
        """The bill of `fit(X)`. No call is made."""
        items = self._items_of(X, reset=False)
        settings = self._settings(len(items), self._seed())
        matrix, batches = self._open(items, dry=True, order=self.order or "symmetric")
        probe = self._probe(matrix, batches, json.dumps(settings))[1]
        is_known = not probe or not self._asks_both()
        if not is_known:
            # of a predictor the probe decides: at most the calls of both orders
            probe = probe if probe > PROBED else 0
            matrix, _ = self._open(items, dry=True, order="mean")
        return self._bill(matrix, settings, self._proxies(items), probe, is_known)

    def tiles(self, X: Any, calls: int = 10_000) -> list[Tile]:
        """The calls of `fit(X)` in tiles of about so many, for `landmark.work` on any machine that reaches the store. No call is made."""
        if self.store is None:
            raise ValueError("workers meet in a store: give `store` and `identity`")
        if not isinstance(self.random_state, (int, np.integer)):
            raise ValueError("tiles are those of one seed: give a whole number as `random_state`")
        calls = whole("calls", calls, 1)
        if self.order is None and self._asks_both():
            raise ValueError('workers do not look at both orders of a pair: set `order="mean"`, or `order="symmetric"` if the order does not count')
        if self.order is None and is_asked(self):
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
        """Evaluates the columns of the landmarks and factors them. A fit that raises, or is interrupted, leaves the estimator as it was."""
        items = self._items_of(X, reset=True)
        self._seed_ = self._seed()
        self._settings_ = self._settings(len(items), self._seed_)
        self._items = items
        settings, proxies = json.dumps(self._settings_), self._proxies(items)
        matrix, batches = self._opened_for_fit(items, settings)
        self._matrix, self._batches, self._identity_ = matrix, batches, matrix.identity
        self.bill_ = self._bill(matrix, self._settings_, proxies, matrix.calls)
        log.info("a fit of %s items takes %s calls, %s of them new", len(items), self.bill_.calls_alone, self.bill_.calls)
        most = self.bill_.calls if matrix.calls_left is None else min(self.bill_.calls, matrix.calls_left + matrix.calls)
        # scores of both orders are there already
        done = max(matrix.calls, len(batches.known) if isinstance(batches, Batches) else 0)
        with self._told(most - done, "scores", batches, items, matrix):
            out = matrix.fit(settings, proxies)
        if out["cut_short"]:
            warnings.warn(
                f"the budget of {self.budget} calls pays for {out['rank']} of the {self._settings_['rank']} landmarks that were asked for",
                stacklevel=3,
            )
        self._take(out, matrix)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Fits, and returns Z (n × r), not a copy."""
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
        )
        self.report_ = json.loads(out["report"])
        self._told_error(json.loads(out["error"]) if out["error"] else None)
        self.n_components_ = int(out["rank"])
        self.n_calls_ = matrix.calls + int(out.get("uncounted", 0))
        self._name_arrays()

    def _told_error(self, error: dict[str, Any] | None) -> None:
        self.error_report_ = error
        self.error_ = None if error is None else error["relative_error"]
        self.error_interval_ = None if error is None else (error["lower"], error["upper"])

    def _name_arrays(self) -> None:
        self.embedding_ = self._factors.vectors
        self.signature_ = self._factors.signature
        self.component_indices_ = self._factors.landmarks

    # --- reading K̃

    def similarity(self, i: int, j: int) -> float:
        """K̃[i, j]; the score itself where it was evaluated."""
        check_is_fitted(self)
        return float(self._factors.block(self._one("i", i), self._one("j", j))[0, 0])

    def row(self, i: int) -> NDArray[np.float64]:
        """K̃[i, :], length n."""
        check_is_fitted(self)
        return self._factors.row(int(self._one("i", i)[0]))

    def similarities(self, rows: ArrayLike, columns: ArrayLike) -> NDArray[np.float64]:
        """K̃[rows, columns], by item numbers or boolean masks of n values."""
        check_is_fitted(self)
        n = len(self._factors)
        return self._factors.block(places("rows", rows, n), places("columns", columns, n))

    def _one(self, name: str, item: int) -> NDArray[np.int64]:
        return places(name, [whole(name, item)], len(self._factors))

    # --- new items

    def transform(self, X: Any, *, proxy: Any = None) -> NDArray[np.float64]:
        """Rows of Z for items: those of the fit at no call, new ones from their scores with the landmarks.

        With `metric="precomputed"` X is m × n, similarities to the items of the fit. Where a proxy takes part, `proxy` has the embeddings of X.
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            values = np.asarray(validate_data(self, plain(X), reset=False, dtype=np.float64))
            return self._project(self._similar(values[:, self.component_indices_]))
        items = self._items_of(X, reset=False)
        places = self._places()
        known = np.array([places.get(content(item), -1) for item in items], dtype=np.int64)
        out = np.empty((len(items), self.embedding_.shape[1]))
        out[known >= 0] = self.embedding_[known[known >= 0]]
        new = np.flatnonzero(known < 0)
        if len(new):
            rows = self._new_rows(taken(items, new))
            out[new] = self._project(rows, None if proxy is None else _rows_of(proxy, new))
        return out

    def _places(self) -> dict[bytes, int]:
        if getattr(self, "_items", None) is None:
            return {}
        return {content(item): place for place, item in reversed(list(enumerate(self._items)))}

    def _new_rows(self, new: Items) -> NDArray[np.float64]:
        """Similarities of new items to the landmarks, through the store."""
        if getattr(self, "_items", None) is None or (self.score is None and self.metric is None):
            raise ValueError("new items are scored with the landmarks: load the factors with `score` and `items`")
        if scores.is_matrix(self.score):
            raise ValueError("a matrix says nothing of new items; use `metric='precomputed'` and hand over their rows")
        t = len(self.component_indices_)
        both = joined(taken(self._items, self.component_indices_), new)
        # one list for each batch of new items would be one more to read for all others
        matrix, batches = self._open(both, shares=False)
        rows, columns = np.arange(t, t + len(new)), np.arange(t)
        pairs = np.stack([np.repeat(rows, t), np.tile(columns, len(new))], axis=1)
        with self._told(matrix.missing(pairs), "new items", batches, both, matrix):
            block = matrix.block(rows, columns)
        self.n_calls_ = getattr(self, "n_calls_", 0) + matrix.calls
        return block

    def _similar(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values if self.gamma is None else np.asarray(np.exp(-self.gamma * values))

    def _project(self, rows: NDArray[np.float64], proxy: Any = None) -> NDArray[np.float64]:
        if self._factors.projector is not None:
            return np.asarray(rows @ self._factors.projector)
        projector = getattr(self, "_projector", None)
        if projector is None:
            why = "a proxy takes part, and its part is not pickled or saved: fit again" if self.proxy is not None else "this method has none"
            raise ValueError(f"new items have no vectors here: {why}")
        if proxy is None:
            raise ValueError("a proxy takes part: hand over the embeddings of the new items as `proxy`")
        to_landmarks, to_anchors = [], []
        for ours, theirs in zip(self._embeddings(self._items), proxy, strict=True):
            to_landmarks.append(_cosines(theirs, ours[self.component_indices_]))
            to_anchors.append(_cosines(theirs, ours[projector.anchors]))
        return np.asarray(projector.project(np.ascontiguousarray(rows), to_landmarks, to_anchors))

    # --- files

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the factors as the program does, and the evaluated columns beside them."""
        check_is_fitted(self)
        of = self._factors
        items = getattr(self, "_items", None)
        error = self.error_report_
        info = {
            "version": files.VERSION,
            "items": len(of),
            "columns": int(of.vectors.shape[1]),
            "method": self._method()["id"],
            "rank": self.n_components_,
            "landmarks": of.landmarks.tolist(),
            "oracle": self._identity_,
            "texts": None,
            "gamma": self.gamma,
            "error": None if error is None else {"relative": error["relative_error"], "lower": error["lower"], "upper": error["upper"]},
            "scattered": 0 if of.scattered_scores is None else len(of.scattered_scores),
            "proxy": self.proxy is not None,
            "cut_short": self.n_components_ < self.n_components,
            "failed_pairs": 0,
            "scorer": self.identity,
            "python": {
                "items": None if items is None else digest(items),
                "report": self.report_,
                "error": error,
                "diagonal": of.diagonal,
                "order": getattr(self, "order_", self.order),
            },
        }
        arrays = {
            "vectors": of.vectors,
            "signature": of.signature,
            "projector": of.projector,
            "known_columns": of.columns,
            "scattered_pairs": None if of.scattered_pairs is None else of.scattered_pairs.astype(np.uint64),
            "scattered_scores": of.scattered_scores,
        }
        files.write(folder, arrays, info)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], score: Any = None, items: Any = None, **params: Any) -> Landmark:
        """Factors from a folder of `save` or of the program. With `score` and `items` (those of the fit) it can also score, and embed new items."""
        arrays, info = files.read(folder)
        lm = cls(score, n_components=info["rank"], identity=info.get("scorer"), gamma=info.get("gamma"), **params)
        python = info.get("python") or {}
        pairs = arrays["scattered_pairs"]
        lm._factors = Factors(
            vectors=_floats(arrays["vectors"]),
            signature=_floats(arrays["signature"]),
            landmarks=np.asarray(info["landmarks"], dtype=np.int64),
            columns=None if arrays["known_columns"] is None else _floats(arrays["known_columns"]),
            projector=None if arrays["projector"] is None else _floats(arrays["projector"]),
            scattered_pairs=None if pairs is None else pairs.astype(np.int64),
            scattered_scores=arrays["scattered_scores"],
            diagonal=python.get("diagonal"),
        )
        if items is not None:
            given = lm._items_of(items, reset=True)
            if len(given) != info["items"]:
                raise ValueError(f"the factors are of {info['items']} items, and {len(given)} are given")
            if python.get("items") not in (None, digest(given)):
                raise ValueError("the factors are of other items than these")
            lm._items = given
        error = info.get("error")
        told = None if error is None else {"relative_error": error["relative"], "lower": error["lower"], "upper": error["upper"]}
        lm._told_error(python.get("error") or told)
        lm.n_components_, lm.n_calls_ = info["rank"], 0
        lm.order_ = lm.order or python.get("order") or "symmetric"
        lm.report_, lm._identity_ = python.get("report") or {"method": info["method"]}, info["oracle"]
        lm._name_arrays()
        return lm

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



def _floats(array: NDArray[Any] | None) -> NDArray[np.float64]:
    return np.ascontiguousarray(array, dtype=np.float64)



def _rows_of(proxy: Any, rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    return [np.asarray(plain(one), dtype=np.float64)[rows] for one in as_list(proxy)]



def _unit(rows: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(rows, dtype=np.float64)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    return np.asarray(np.divide(array, norms, out=np.zeros_like(array), where=norms > 0))


def _cosines(left: ArrayLike, right: ArrayLike) -> NDArray[np.float64]:
    return np.ascontiguousarray(_unit(left) @ _unit(right).T)

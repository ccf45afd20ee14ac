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
from ._batches import Batches, Blocks, add_note
from ._checks import one_of, real, whole
from ._items import Items, as_objects, plain, shown
from ._native import MeteredStore, NotFiniteError, Oracle
from ._progress import Progress
from .results import CallPlan
from .cached import Cached, identity_of
from .reading import Factors

# pairs whose both orders are compared before the first fit, as the program does
PROBED = 16
DEFAULT_COMPONENTS = 100


class Opening(BaseEstimator):  # type: ignore[misc]
    """What fits, searches and workers open first. Parameters are those of `Landmark`."""

    similarity: Any
    n_components: int
    metric: str | None
    proxy: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    identity: str | None
    method: str | Mapping[str, Any]
    landmarks: str | Mapping[str, Any] | ArrayLike
    order: str | None
    diagonal: float | None
    gamma: float | None
    scattered: Mapping[str, Any] | None
    link: int
    popularity: bool
    noise: Any
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
    n_calls_: int

    @property
    def _shared(self) -> Cached | None:
        """The cache whose model, store and order are those of this estimator, too: one with a store, unless another is named here."""
        given = self.similarity
        is_shared = isinstance(given, Cached) and given.store is not None and given.order != "given" and self.store is None
        return given if is_shared and given.diagonal == self.diagonal else None

    @property
    def _similarity(self) -> Any:
        if self.similarity is None and self.metric is None and self.store is not None and self.identity is not None:
            return scored_elsewhere
        return self.similarity if self._shared is None else self._shared.model

    @property
    def _store(self) -> str | os.PathLike[str] | None:
        return self.store if self._shared is None else self._shared.store

    @property
    def _scorer(self) -> str | None:
        if self._shared is not None:
            return self._shared.identity
        if self.identity is None and self.store is not None and scores.is_predictor(self.similarity):
            return identity_of(self.similarity)
        return self.identity

    @property
    def _order(self) -> str | None:
        if self.order is None and isinstance(self.similarity, Cached) and self.similarity.order != "given":
            # a cache whose store is not shared makes one score of both orders itself
            return "symmetric" if self._shared is None else self._shared.order
        return self.order

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
        if self._similarity is None and reset:
            raise ValueError("give a `similarity`, or `metric='precomputed'` and the matrix itself")
        items = as_objects(X)
        if items is not None:
            if len(items) < (2 if reset else 1):
                least = 2 if reset else 1
                raise ValueError(f"Found array with {len(items)} sample(s) while a minimum of {least} is required by Landmark.")
            return items
        if hasattr(self, "_factors") and not hasattr(self, "n_features_in_"):
            return np.asarray(check_array(X))
        return np.asarray(validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1))

    def _open(
        self, items: Items, *, shares: bool = True, dry: bool = False, order: str | None = None, spent: int = 0
    ) -> tuple[MeteredStore, Batches | Blocks | None]:
        """Score, budget and store over items. `shares`: with other lists of them. `dry`: nothing is written. `order`: that of a fit. `spent`: calls
        that the budget has paid for already."""
        if self._shared is not None:
            self._shared.flush()
        # what a fit found out holds for what is scored after it
        order = str(order or self._order or getattr(self, "order_", "symmetric"))
        matrix: Any = items if self.metric == "precomputed" else self._similarity
        is_array = self.metric == "precomputed" or scores.is_matrix(matrix)
        # in memory there are no other lists
        shares = shares and self._store is not None and not is_array
        if self._similarity is None and not is_array:
            raise ValueError("give a `similarity`, or `metric='precomputed'` and the matrix itself")
        if is_array:
            values = check_array(plain(matrix), dtype=np.float64)
            if len(values) != len(items):
                raise ValueError(f"the matrix is {len(values)} × {len(values)}, and there are {len(items)} items")
            asymmetry = "reject" if order == "symmetric" else one_of("order", order, scores.ORDERS)
            oracle, batches = Oracle.precomputed(np.ascontiguousarray(values), asymmetry), None
        else:
            if self._store is not None and self._scorer is None and not isinstance(self._similarity, scores.BuiltIn):
                raise ValueError(
                    "a store keeps scores for good: give `identity`, the name of everything that moves a score (model, version, prompt)"
                )
            oracle, batches = scores.over(
                self._similarity,
                items,
                identity=self._scorer,
                order=order,
                diagonal=self._self_similarity(),
                concurrency=self.concurrency,
            )
        store = None if self._store is None or is_array else os.fspath(self._store)
        # what costs nothing is not kept, and a block whose columns nobody wants to keep is not either
        comes_in_blocks = isinstance(self._similarity, (scores.Blockwise, scores.VectorKernel))
        is_kept = not is_array and (store is not None or self.known or not comes_in_blocks)
        # landmarks that are chosen by what is seen read their columns twice
        keep = is_kept or self._policy()["id"] not in ("uniform", "given")
        description = f"{self._scorer or 'a score'}, {len(items)} items"
        budget = None if self.budget is None else max(whole("budget", self.budget, 0) - spent, 0)
        gamma = None if self.gamma is None else real("gamma", self.gamma, above=0.0)
        # above the distances: with `gamma` the store keeps these, and the diagonal is of similarities
        diagonal = None if is_array or isinstance(self._similarity, scores.BuiltIn) else self._self_similarity()
        opened = MeteredStore(oracle, store, budget, gamma, "python", description, keep, shares, dry, diagonal)
        self._check_diagonal(opened.diagonal)
        return opened, batches

    def _self_similarity(self) -> float | None:
        """`diagonal`, checked: with `gamma` it is exp(-gamma·distance) of an item with itself."""
        if self.diagonal is None:
            return None
        if self.gamma is None:
            return real("diagonal", self.diagonal)
        diagonal = real("diagonal", self.diagonal)
        if not 0.0 < diagonal <= 1.0:
            raise ValueError(
                f"cannot use {diagonal:g} as `diagonal` with `gamma`: it is the self-similarity exp(-gamma·distance) "
                "(expected a number above 0 and at most 1); give `diagonal=1.0` if the distance of an item to itself is 0"
            )
        return diagonal

    def _check_diagonal(self, known: float | None) -> None:
        """Refuses a self-similarity that a score which knows its own contradicts."""
        if self.diagonal is None or known is None or np.isclose(known, self.diagonal, rtol=1e-6, atol=1e-12):
            return
        raise ValueError(
            f"cannot use {self.diagonal:g} as `diagonal`: the self-similarity of {shown(self._similarity)} is {known:g}; leave `diagonal` out"
        )

    def _presumed_order(self) -> str:
        """The order of a fit before anything is asked: at most as cheap as what a probe may lead to."""
        return self._order or ("mean" if self._asks_both() else "symmetric")

    def _asks_both(self) -> bool:
        return self.metric is None and not isinstance(self._similarity, scores.BuiltIn) and scores.is_predictor(self._similarity)

    def _opened_for_fit(self, items: Items, settings: str) -> tuple[MeteredStore, Batches | Blocks | None]:
        """Score, budget and store of a fit, after a look at both orders of some pairs where nobody stated that one is enough.

        The pairs are the fit's own where these are known by name, so that one of their orders is no further call.
        """
        matrix, batches = self._open(items, order=self._order or "symmetric")
        self.order_ = self._order or "symmetric"
        pairs, calls = self._probe(matrix, batches, settings)
        if batches is None or not len(pairs):
            return matrix, batches
        with self._progress(len(pairs) * 2, "both orders", batches, items, matrix):
            if isinstance(batches, Blocks):
                there, back = matrix.asked(pairs), matrix.asked(np.ascontiguousarray(pairs[:, ::-1]))
            else:
                there, back = batches.in_both_orders(pairs)
        at = scores.first_difference(there, back)
        if at is not None and not self._asks_both():
            i, j = pairs[at].tolist()
            raise ValueError(
                f"the score is not symmetric: {there[at]:.6g} for ({shown(items[i])}, {shown(items[j])}) and {back[at]:.6g} in the other order; "
                'set `order="mean"` to use the mean of both orders (two calls per pair), or `order="symmetric"` to use the order that comes first'
            )
        if isinstance(batches, Blocks):
            return matrix, batches
        known = batches.known
        if at is not None:
            self.order_ = "mean"
            matrix, again = self._open(items, order="mean")
            assert isinstance(again, Batches)
            batches, batches.known = again, known
        # what the fit does not ask for itself is counted here, and answered by what is known
        with self._progress(0, "both orders", batches, items, matrix):
            if at is None:
                matrix.asked(np.ascontiguousarray(np.concatenate([pairs[:, ::-1], pairs])[:calls]))
            elif calls > len(pairs):
                matrix.asked(pairs)
        if calls > len(pairs):
            batches.known = {}
        return matrix, batches

    def _probe(
        self, matrix: MeteredStore, batches: Batches | Blocks | None, settings: str
    ) -> tuple[NDArray[np.int64], int]:
        """Pairs to be asked in both orders before a fit, and the calls that this adds to it: none where the user named the order, where scores
        of the fit are there already, and where the budget is too small."""
        none = np.empty((0, 2), dtype=np.int64), 0
        if self._order is not None or not is_asked(self):
            return none
        call_plan = json.loads(matrix.plan(settings, []))
        if not call_plan["calls"] or call_plan["calls"] < call_plan["calls_alone"]:
            return none
        pairs, is_named = matrix.probe(settings, PROBED)
        if isinstance(self._similarity, scores.Blockwise):
            # one block in either order, which no store keeps
            rows, columns = (list(dict.fromkeys(side.tolist()))[:4] for side in pairs.T)
            pairs, is_named = np.array([(i, j) for i in rows for j in columns if i != j], dtype=np.int64).reshape(-1, 2), False
        calls = len(pairs) * (1 if is_named else 2)
        left = matrix.calls_left
        # a fit that the budget pays for stays whole, and one that it cuts short loses little
        is_too_much = left is not None and (left < call_plan["calls"] + calls if call_plan["calls"] <= left else left < 10 * calls)
        return none if is_too_much else (pairs, calls)

    def _opened(self) -> tuple[MeteredStore, Batches | Blocks | None]:
        """The store of the fit, opened again after a pickle or a load."""
        matrix: MeteredStore | None = getattr(self, "_matrix", None)
        if matrix is not None and self._store is not None and matrix.process != os.getpid():
            # a forked child opens files and connections of its own, and does not close those of its parent
            _of_parents.append(matrix)
            matrix = None
        if matrix is None:
            if getattr(self, "_items", None) is None:
                raise ValueError("this needs calls of the score: load the factors with `similarity` and `items`")
            matrix, self._batches = self._open(self._items)
            # those before the pickle or the fork
            matrix.charge(getattr(self, "n_calls_", 0))
            self._matrix = matrix
            self._settings_ = self._settings(len(self._items), getattr(self, "_seed_", self._seed()))
        return matrix, self._batches

    def _calls_per_pair(self) -> int:
        """Calls that a pair takes: two where both orders count."""
        is_array = self.metric == "precomputed" or scores.is_matrix(self._similarity)
        return 1 if is_array or getattr(self, "order_", "symmetric") == "symmetric" else 2

    def _count(self, calls: int) -> None:
        """Counts calls for new items, which a store of their own made."""
        self.n_calls_ = getattr(self, "n_calls_", 0) + calls
        matrix: MeteredStore | None = getattr(self, "_matrix", None)
        if matrix is not None:
            matrix.charge(calls)

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
        if isinstance(self.landmarks, Iterator):
            raise TypeError("cannot use an iterator as `landmarks`: a fit reads them more than once; hand over a list of item numbers")
        given = np.asarray(self.landmarks)
        if given.dtype.kind == "b":
            raise TypeError("cannot use truth values as `landmarks`: hand over item numbers, such as those of `np.flatnonzero(mask)`")
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise TypeError(f"cannot use {shown(self.landmarks)} as `landmarks`: expected the id of a policy or a list of item numbers")
        return {"id": "given", "indices": given.tolist()}

    def _settings(self, n: int, seed: int) -> dict[str, Any]:
        rank = whole("n_components", self.n_components, 1)
        if isinstance(self.link, (bool, np.bool_)) or self.link not in (1, 2, 3):
            raise ValueError(f"`link` is {self.link!r}, but must be 1, 2 or 3")
        samples, confidence = whole("error_samples", self.error_samples, 0), real("confidence", self.confidence, above=0.0, below=1.0)
        method = self._method()
        policy = self._policy()
        if policy["id"] == "given" and isinstance(self.n_components, int) and self.n_components == DEFAULT_COMPONENTS:
            # a list of landmarks determines how many there are
            rank = max(len(policy.get("indices") or []), 1)
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
            "landmarks": policy,
            "rank": rank,
            "seed": seed,
            "name": self.name,
            "samples": samples,
            "confidence": confidence,
            "known": self.known,
        }
        return json.loads(json.dumps(settings, default=_plain))  # type: ignore[no-any-return]

    def _embeddings(self, items: Items) -> list[NDArray[np.float64]]:
        return [_rows(one, items) for one in as_list(self.proxy)]

    def _proxies(self, items: Items) -> list[Oracle]:
        if self.proxy is None:
            return []
        return [one.oracle(items) if isinstance(one, scores.BuiltIn) else Oracle.vectors(_rows(one, items)) for one in as_list(self.proxy)]

    def _call_plan(self, matrix: MeteredStore, settings: dict[str, Any], proxies: list[Oracle], probe: int = 0, exact: bool = True) -> CallPlan:
        planned = json.loads(matrix.plan(json.dumps(settings), proxies))
        return CallPlan(
            items=planned["items"],
            calls=planned["calls"] + probe,
            calls_alone=planned["calls_alone"] + probe,
            calls_of_the_estimate=planned["calls_of_the_estimate"],
            entries=planned["entries"],
            n_components=planned["rank"],
            budget=self.budget,
            is_exact=planned["exact"] and exact,
            calls_of_the_probe=probe,
        )

    @contextmanager
    def _progress(
        self,
        calls: int,
        title: str,
        batches: Batches | Blocks | None = None,
        items: Items | None = None,
        matrix: MeteredStore | None = None,
    ) -> Iterator[None]:
        """Shows progress, and names the items of a score that is no number. What was scored before an exception goes to the store of `matrix`."""
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
                add_note(error, f"item {i} is {shown(of[i])}, item {j} is {shown(of[j])}")
            raise
        except Exception:
            if matrix is not None and isinstance(batches, Batches):
                batches.hand_over(matrix)
            raise
        finally:
            if batches is not None:
                batches.progress = None
            progress.close()


def scored_elsewhere(pairs: list[tuple[Any, Any]]) -> list[float]:
    """Stands in for a score that `tell` and `put` bring."""
    raise ValueError(f"{len(pairs)} pairs have no score yet: give `similarity`, or store the scores of `lm.pairs(items)` by `lm.tell` first")


# stores that a parent of this process has open
_of_parents: list[MeteredStore] = []


def is_asked(of: Opening) -> bool:
    """True for a score that is a function of Python's: others know whether the order of a pair counts."""
    return of.metric is None and not isinstance(of._similarity, scores.BuiltIn) and not scores.is_matrix(of._similarity)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{shown(value)} is no setting")

def _rows(proxy: Any, items: Items) -> NDArray[np.float64]:
    """Embeddings of the items, one row each."""
    array = items if isinstance(proxy, str) and proxy == "items" else proxy
    if issparse(array):
        raise TypeError(
            "a proxy is a dense array, and this one is sparse: hand over `proxy.toarray()`, or `TruncatedSVD(300).fit_transform(proxy)` where that is large"
        )
    checked = np.ascontiguousarray(check_array(plain(array), dtype=np.float64))
    if len(checked) != len(items):
        raise ValueError(f"a proxy has one row an item: this one has {len(checked)}, and there are {len(items)} items")
    return checked


def as_list(proxy: Any) -> list[Any]:
    """Proxies as a list: rows of one array in a list are one proxy."""
    if isinstance(proxy, Iterator):
        raise TypeError("cannot use an iterator as `proxy`: it can be read once only; hand over an array, or a list of arrays")
    if not isinstance(proxy, (list, tuple)) or not len(proxy):
        return [proxy]
    is_one = not isinstance(proxy[0], str) and (np.isscalar(proxy[0]) or _is_rows(proxy))
    return [proxy] if is_one else list(proxy)


def _is_rows(proxy: Sequence[Any]) -> bool:
    first = proxy[0]
    return isinstance(first, (list, tuple)) and len(first) > 0 and np.isscalar(first[0]) or getattr(first, "ndim", 2) == 1

"""Maps that need no pairs: structured random features, and a sketch of a stream of rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._checks import on_a_copy, one_of, real, whole
from ._items import plain


def seed_of(random_state: Any) -> int:
    """A seed of what scikit-learn calls a random state."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


# parameters that a kernel or a family cannot do without
_KERNELS: dict[str, tuple[str, ...]] = {
    "gaussian": (),
    "inner_product": (),
    "step": (),
    "sign": (),
    "relu": (),
    "arc_cosine": ("order",),
}
_FAMILIES: dict[str, tuple[str, ...]] = {
    "circulant": (),
    "toeplitz": (),
    "hankel": (),
    "low_displacement": ("rank", "nonzeros"),
    "fastfood": (),
    "hd3": (),
    "dense": (),
}


def _with_id(name: str, given: str | Mapping[str, Any], known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """A kernel or a family as a mapping with all that it needs."""
    found: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"id": given}
    missing = [parameter for parameter in known[one_of(name, found.get("id"), known)] if parameter not in found]
    if missing:
        example = ", ".join(f"{parameter!r}: …" for parameter in missing)
        raise ValueError(
            f"cannot use {found['id']!r} as `{name}` without {' and '.join(f'`{one}`' for one in missing)}: give a mapping {{'id': {found['id']!r}, {example}}}"
        )
    return found


class StructuredFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Random features of a kernel by a structured matrix, in place of ``RBFSampler``: O((d + m) log d) per item instead of O(dm).

    Parameters
    ----------
    kernel : str or mapping, default="gaussian"
        ``"gaussian"`` (with `sigma`), ``"inner_product"``, ``"step"``, ``"sign"``, ``"relu"``, or ``"arc_cosine"`` as a mapping with ``id`` and ``order``.
    family : str or mapping, default="hd3"
        ``"hd3"``, ``"circulant"``, ``"toeplitz"``, ``"hankel"``, ``"fastfood"``, ``"dense"``, or ``"low_displacement"`` as a mapping with ``id``, ``rank`` and
        ``nonzeros``.
    n_components : int, default=1024
        Number of projections; the Gaussian kernel has two features of each.
    sigma : float, default=1.0
        Width of the Gaussian kernel exp(−‖x − y‖² / (2 sigma²)).
    preprocess : bool, default=True
        Rotate items at random first; turn it off only if they are known to be spread out.
    random_state : int, RandomState instance or None, default=0
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from landmark import StructuredFeatures
    >>> StructuredFeatures(n_components=8).fit_transform(np.eye(3)).shape
    (3, 16)
    """

    def __init__(
        self,
        kernel: str | Mapping[str, Any] = "gaussian",
        family: str | Mapping[str, Any] = "hd3",
        n_components: int = 1024,
        *,
        sigma: float = 1.0,
        preprocess: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.family = family
        self.n_components = n_components
        self.sigma = sigma
        self.preprocess = preprocess
        self.random_state = random_state

    @property
    def _n_features_out(self) -> int:
        return self._map().features

    @on_a_copy
    def fit(self, X: Any, y: Any = None) -> StructuredFeatures:
        """Draw the map for items as wide as these.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Items; their values are not used.
        y : None
            Ignored.

        Returns
        -------
        StructuredFeatures
            The fitted map.
        """
        X = validate_data(self, plain(X), dtype=np.float64)
        kernel, family = _with_id("kernel", self.kernel, _KERNELS), _with_id("family", self.family, _FAMILIES)
        if kernel["id"] == "gaussian":
            kernel.setdefault("sigma", real("sigma", self.sigma, above=0.0))
        self._params = json.dumps(
            {"kernel": kernel, "family": family, "features": whole("n_components", self.n_components, 1), "preprocess": self.preprocess, "seed": seed_of(self.random_state)}
        )
        self._columns = X.shape[1]
        self._drawn: _native.StructuredFeatures | None = None
        self._map()
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Map items to features whose inner products estimate the kernel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Features.
        """
        check_is_fitted(self, "_params")
        X = validate_data(self, plain(X), reset=False, dtype=np.float64)
        return self._map().transform(np.ascontiguousarray(X))

    def _map(self) -> _native.StructuredFeatures:
        check_is_fitted(self, "_params")
        if self._drawn is None:
            self._drawn = _native.StructuredFeatures(self._columns, self._params)
        return self._drawn

    def __getstate__(self) -> dict[str, Any]:
        # drawn again from its seed
        state = dict(super().__getstate__())
        return {**state, "_drawn": None} if "_drawn" in state else state


class FrequentDirections(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Sketch of a stream of rows: the largest directions of XᵀX in a few rows, with a bound that needs no X.

    Parameters
    ----------
    n_components : int, default=10
        Directions that `transform` projects on.
    rows : int, default=100
        Rows l of the sketch, at least `n_components`: ‖XᵀX − YᵀY‖₂ ≤ ‖X‖²_F / l.
    form : {"buffered", "figure_1"}, default="buffered"
        How rows are taken in; ``"figure_1"`` as the paper has it.
    buffer : int or None, default=None
        Rows that are collected before the sketch is shrunk.

    Examples
    --------
    >>> import numpy as np
    >>> from landmark import FrequentDirections
    >>> FrequentDirections(2, rows=4).fit_transform(np.arange(20.0).reshape(5, 4)).shape
    (5, 2)
    """

    def __init__(self, n_components: int = 10, *, rows: int = 100, form: Literal["buffered", "figure_1"] = "buffered", buffer: int | None = None) -> None:
        self.n_components = n_components
        self.rows = rows
        self.form = form
        self.buffer = buffer

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    @on_a_copy
    def fit(self, X: Any, y: Any = None) -> FrequentDirections:
        """Sketch these rows alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        FrequentDirections
            The sketch.
        """
        self._sketch: _native.FrequentDirections | None = None
        return self._append(X, reset=True)

    def partial_fit(self, X: Any, y: Any = None) -> FrequentDirections:
        """Sketch further rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        FrequentDirections
            The sketch.
        """
        return self._append(X, reset=getattr(self, "_sketch", None) is None)

    def _append(self, X: Any, *, reset: bool) -> FrequentDirections:
        X = validate_data(self, plain(X), reset=reset, dtype=np.float64)
        if getattr(self, "_sketch", None) is None:
            params = {
                "rows": whole("rows", self.rows, whole("n_components", self.n_components, 1)),
                "form": one_of("form", self.form, ("buffered", "figure_1")),
                "buffer": None if self.buffer is None else whole("buffer", self.buffer, 1),
            }
            self._sketch = _native.FrequentDirections(X.shape[1], json.dumps(params))
        assert self._sketch is not None
        self._sketch.append(np.ascontiguousarray(X))
        return self._read()

    def merge(self, other: FrequentDirections) -> FrequentDirections:
        """Add the rows of another sketch: the bound holds for all of them.

        Parameters
        ----------
        other : FrequentDirections
            A sketch of other rows.

        Returns
        -------
        FrequentDirections
            The sketch of all rows.
        """
        check_is_fitted(self, "components_")
        check_is_fitted(other, "components_")
        assert self._sketch is not None and other._sketch is not None
        self._sketch.merge(other._sketch)
        return self._read()

    def _read(self) -> FrequentDirections:
        assert self._sketch is not None
        most = min(self.n_components, self.rows, self.n_features_in_)
        directions, squares = self._sketch.projection(most)
        self.components_, self.singular_values_ = directions.T, np.sqrt(squares)
        self.bound_ = json.loads(self._sketch.bound())
        return self

    def sketch(self) -> NDArray[np.float64]:
        """Return the sketch Y, whose YᵀY approximates XᵀX.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            At most `rows` rows.
        """
        check_is_fitted(self, "components_")
        assert self._sketch is not None
        return self._sketch.sketched()

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Project rows on the largest directions; they are not centered.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Projections.
        """
        check_is_fitted(self, "components_")
        X = validate_data(self, plain(X), reset=False, dtype=np.float64)
        return np.asarray(X @ self.components_.T)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_sketch") is not None:
            state["_sketch"] = state["_sketch"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("_sketch"), bytes):
            state = {**state, "_sketch": _native.FrequentDirections.from_bytes(state["_sketch"])}
        super().__setstate__(state)

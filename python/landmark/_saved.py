"""Factors of the estimator in files, as the program writes and reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import factors as files
from ._items import digest
from ._exchange import Exchange
from .reading import Factors

E = TypeVar("E", bound="Saved")


class Saved(Exchange):
    """Saving and loading."""

    embedding_: NDArray[np.float64]
    signature_: NDArray[np.float64]
    error_: float | None
    error_interval_: tuple[float, float] | None
    report_: dict[str, Any]
    error_report_: dict[str, Any] | None
    n_calls_: int
    _identity_: str

    def _set_error(self, error: dict[str, Any] | None) -> None:
        self.error_report_ = error
        self.error_ = None if error is None else error["relative_error"]
        self.error_interval_ = None if error is None else (error["lower"], error["upper"])

    def _name_arrays(self) -> None:
        self.embedding_ = self._factors.vectors
        self.signature_ = self._factors.signature
        self.component_indices_ = self._factors.landmarks

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the factors as the program does, and the evaluated columns next to them.

        Parameters
        ----------
        folder : str or path
            Folder that is written, in place of factors that are there.
        """
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
            "proxy": self.proxy is not None or getattr(self, "_had_proxy", False),
            "cut_short": getattr(self, "_is_cut_short", False),
            "failed_pairs": 0,
            "scorer": self._scorer,
            "python": {
                "items": None if items is None else digest(items),
                "report": self.report_,
                "error": error,
                "diagonal": of.diagonal,
                "order": getattr(self, "order_", self._order),
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
    def load(cls: type[E], folder: str | os.PathLike[str], similarity: Any = None, items: Any = None, **params: Any) -> E:
        """Read factors from a folder of `save` or of the program.

        Parameters
        ----------
        folder : str or path
            The folder.
        similarity : object, default=None
            The score. With `items` the estimator can also score pairs and embed new items.
        items : list or array, default=None
            Items of the fit.
        **params : object
            Further parameters of the estimator.

        Returns
        -------
        Landmark
            A fitted estimator.

        Raises
        ------
        ValueError
            If the factors are damaged, or of other items than `items`, or of another `identity`, `gamma` or `method`.
        FileNotFoundError
            If the folder has no factors.
        """
        arrays, info = files.read(folder)
        written = {"n_components": info["rank"], "identity": info.get("scorer"), "gamma": info.get("gamma"), "method": info["method"]}
        for name in ("identity", "gamma", "method"):
            given = params.get(name, written[name])
            given = given["id"] if name == "method" and isinstance(given, Mapping) else given
            # factors without an identity may get one
            if given != written[name] and not (name == "identity" and written[name] is None):
                raise ValueError(f"the factors are of {name}={written[name]!r}, and {given!r} is given: leave `{name}` out, or fit again")
        lm: Any = cls(similarity, **{**written, **params})
        lm._had_proxy, lm._is_cut_short = bool(info.get("proxy")), bool(info.get("cut_short"))
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
        stated = None if error is None else {"relative_error": error["relative"], "lower": error["lower"], "upper": error["upper"]}
        lm._set_error(python.get("error") or stated)
        lm.n_components_, lm.n_calls_ = info["rank"], 0
        lm.order_ = lm.order or python.get("order") or "symmetric"
        lm.report_, lm._identity_ = python.get("report") or {"method": info["method"]}, info["oracle"]
        lm._name_arrays()
        return lm  # type: ignore[no-any-return]


def _floats(array: NDArray[Any] | None) -> NDArray[np.float64]:
    return np.ascontiguousarray(array, dtype=np.float64)

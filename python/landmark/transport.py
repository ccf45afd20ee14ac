"""Optimal transport: the exact earth mover's distance, and word mover's distance between texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._items import plain
from .scores import Wmd


@overload
def emd(a: ArrayLike, b: ArrayLike, costs: ArrayLike, *, flow: Literal[False] = False) -> float: ...
@overload
def emd(a: ArrayLike, b: ArrayLike, costs: ArrayLike, *, flow: Literal[True]) -> tuple[float, NDArray[np.float64]]: ...
def emd(a: ArrayLike, b: ArrayLike, costs: ArrayLike, *, flow: bool = False) -> float | tuple[float, NDArray[np.float64]]:
    """Least cost of turning the masses `a` (m) into `b` (n) under `costs` (m × n), and with `flow` how: m × n.

    Exact to rounding for costs of any size, from 1e-300 to 1e300.
    """
    masses = [np.ascontiguousarray(plain(side), dtype=np.float64) for side in (a, b)]
    found, how = _native.emd(masses[0], masses[1], np.ascontiguousarray(plain(costs), dtype=np.float64), flow)
    return found if how is None else (found, how)


def wmd(a: str, b: str, words: Sequence[str] | Mapping[str, ArrayLike], vectors: ArrayLike | None = None, **settings: Any) -> float:
    """Word mover's distance of two texts, by vectors in single precision; settings are those of `Wmd`."""
    oracle = Wmd(words, vectors, **settings).oracle([a, b])
    return float(oracle.scores(np.array([[0, 1]], dtype=np.int64))[0])


def wmd_matrix(
    texts: Sequence[str], words: Sequence[str] | Mapping[str, ArrayLike], vectors: ArrayLike | None = None, **settings: Any
) -> NDArray[np.float64]:
    """Word mover's distances of all pairs of texts, n × n, by vectors in single precision; settings are those of `Wmd`."""
    texts = list(plain(texts))
    oracle = Wmd(words, vectors, **settings).oracle(texts)
    every = np.arange(len(texts), dtype=np.int64)
    return oracle.block(every, every)

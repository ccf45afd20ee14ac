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
    """Compute the earth mover's distance exactly.

    Exact to rounding for costs of any size, from 1e-300 to 1e300.

    Parameters
    ----------
    a : array-like of shape (m,)
        Masses.
    b : array-like of shape (n,)
        Masses of the same sum.
    costs : array-like of shape (m, n)
        Cost of moving one unit.
    flow : bool, default=False
        Return the transport, too.

    Returns
    -------
    float, or tuple of float and ndarray of shape (m, n)
        Least cost, and how it is reached.

    Examples
    --------
    >>> from landmark import emd
    >>> emd([0.5, 0.5], [1.0, 0.0], [[0.0, 3.0], [3.0, 0.0]])
    1.5
    """
    masses = [np.ascontiguousarray(plain(side), dtype=np.float64) for side in (a, b)]
    found, how = _native.emd(masses[0], masses[1], np.ascontiguousarray(plain(costs), dtype=np.float64), flow)
    return found if how is None else (found, how)


def wmd(a: str, b: str, words: Sequence[str] | Mapping[str, ArrayLike], vectors: ArrayLike | None = None, **settings: Any) -> float:
    """Compute the word mover's distance of two texts.

    Parameters
    ----------
    a, b : str
        Texts.
    words : list of str or mapping of str to vector
        Words, one per row of `vectors`, or their vectors.
    vectors : array-like of shape (n_words, n_dims), default=None
        Vectors; single precision is used.
    **settings : object
        Settings of `Wmd`.

    Returns
    -------
    float
        Distance.
    """
    oracle = Wmd(words, vectors, **settings).oracle([a, b])
    return float(oracle.scores(np.array([[0, 1]], dtype=np.int64))[0])


def wmd_matrix(
    texts: Sequence[str], words: Sequence[str] | Mapping[str, ArrayLike], vectors: ArrayLike | None = None, **settings: Any
) -> NDArray[np.float64]:
    """Compute the word mover's distances of all pairs of texts.

    Parameters
    ----------
    texts : list of str
        Texts.
    words : list of str or mapping of str to vector
        Words, one per row of `vectors`, or their vectors.
    vectors : array-like of shape (n_words, n_dims), default=None
        Vectors; single precision is used.
    **settings : object
        Settings of `Wmd`.

    Returns
    -------
    ndarray of shape (n_texts, n_texts)
        Distances.
    """
    texts = list(plain(texts))
    oracle = Wmd(words, vectors, **settings).oracle(texts)
    every = np.arange(len(texts), dtype=np.int64)
    return oracle.block(every, every)

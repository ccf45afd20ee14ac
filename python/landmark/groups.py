"""Groups of similar items from pairs: by connection, or by the mean or the least similarity inside, so that one wrong pair merges nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._checks import one_of
from ._native import MeteredStore
from ._numbered import Numbered

LINKS = ("components", "average", "complete")

# scores of pairs of numbers, and the calls that pairs take
_Ask = tuple[Callable[[NDArray[np.int64]], NDArray[np.float64]], Callable[[NDArray[np.int64]], int]]


def components(items: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """A number for each item; items that pairs connect share it. Numbers count from 0 in the order of the items."""
    parent = list(range(n))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for i, j in items.tolist():
        a, b = root(i), root(j)
        parent[max(a, b)] = min(a, b)
    return numbered([root(item) for item in range(n)])


def numbered(labels: list[int]) -> NDArray[np.int64]:
    """Labels as numbers from 0 in the order of the items."""
    number = {of: place for place, of in enumerate(dict.fromkeys(labels))}
    return np.array([number[of] for of in labels], dtype=np.int64)


def asker(verify: Any) -> _Ask:
    """A fitted estimator, or a score of pairs of item numbers, as two functions."""
    if hasattr(verify, "_opened") and hasattr(verify, "similarities"):
        matrix: MeteredStore = verify._opened()[0]

        def ask(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
            try:
                return matrix.scores(pairs)
            finally:
                verify.n_calls_ = matrix.calls

        return ask, matrix.missing
    if isinstance(verify, Numbered):
        return verify, verify.missing
    if callable(verify):
        return lambda pairs: np.asarray(verify(pairs), dtype=np.float64), len
    raise TypeError(f"cannot use {verify!r} as `verify`: expected a fitted `Landmark`, or a function of an array of pairs of item numbers")


def missing_inside(items: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Pairs of two items of one component that are not listed."""
    labels = components(items, n)
    order = np.argsort(labels, kind="stable")
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    listed = np.sort(items, axis=1)
    keys = set((listed[:, 0] * n + listed[:, 1]).tolist())
    found = []
    for members in np.split(order, cuts):
        if len(members) > 2:
            first, second = np.triu_indices(len(members), 1)
            pairs = np.sort(np.stack([members[first], members[second]], axis=1), axis=1)
            found.append(pairs[[key not in keys for key in (pairs[:, 0] * n + pairs[:, 1]).tolist()]])
    return np.vstack(found) if found else np.empty((0, 2), dtype=np.int64)


def linked(
    items: NDArray[np.int64], scores: NDArray[np.float64], n: int, link: str, threshold: float, ask: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> NDArray[np.int64]:
    """Groups inside the components of pairs whose mean, or least, similarity is at least a threshold."""
    one_of("link", link, LINKS)
    labels = components(items, n)
    rest = missing_inside(items, n)
    of_rest = ask(rest) if len(rest) else np.empty(0)
    known: dict[tuple[int, int], float] = {}
    for pairs, values in ((np.sort(items, axis=1), scores), (rest, of_rest)):
        known.update(zip(map(tuple, pairs.tolist()), np.asarray(values).tolist()))
    out = labels.copy()
    next_label = n
    order = np.argsort(labels, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if len(members) < 2:
            continue
        square = np.ones((len(members), len(members)))
        first, second = np.triu_indices(len(members), 1)
        inside = [known[pair] for pair in zip(members[first].tolist(), members[second].tolist())]
        square[first, second] = square[second, first] = inside
        # merges are strictly below a threshold of 1 − similarity
        cut = float(np.nextafter(1.0 - threshold, np.inf))
        parts = _native.linkage_clusters(square, cut, link)
        out[members] = next_label + parts
        next_label += len(members)
    return numbered(out.tolist())

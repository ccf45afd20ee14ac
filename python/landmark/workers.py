"""The calls of a fit cut into tiles, for any engine that maps a function over a list: Dask, Ray, a pool, a job array.

>>> plan = lm.tiles(texts, calls=2000)                    # doctest: +SKIP
>>> client.gather(client.map(landmark.work, plan))        # doctest: +SKIP
>>> lm.fit(texts)                                         # everything is there   # doctest: +SKIP

A tile puts its scores into the store as they are made. One that is done again, by whomever, calls nothing; a worker that is killed loses
about a second of scoring.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .estimator import Landmark

_PAIRS_AT_A_TIME = 1 << 14


@dataclass(frozen=True)
class Tile:
    """Pairs of a fit that one worker scores: stretches of columns, and single pairs.

    A stretch is (place among `columns`, first row, last row). A pair of two columns belongs to the earlier one.
    """

    lm: Landmark
    items: Any
    columns: NDArray[np.int64]
    stretches: tuple[tuple[int, int, int], ...]
    single: NDArray[np.int64]

    def pairs(self) -> Iterator[NDArray[np.int64]]:
        """The pairs, some thousands at a time."""
        for place, first, last in self.stretches:
            column = self.columns[place]
            for start in range(first, last, _PAIRS_AT_A_TIME):
                rows = np.arange(start, min(start + _PAIRS_AT_A_TIME, last), dtype=np.int64)
                rows = rows[~np.isin(rows, self.columns[:place])]
                yield np.stack([rows, np.full(len(rows), column)], axis=1)
        for start in range(0, len(self.single), _PAIRS_AT_A_TIME):
            yield np.ascontiguousarray(self.single[start : start + _PAIRS_AT_A_TIME])


def cut(lm: Landmark, items: Any, columns: NDArray[np.int64], single: NDArray[np.int64], n: int, calls: int) -> list[Tile]:
    """Tiles of about so many calls: columns are cut where they are longer, and taken together where they are shorter."""
    tiles: list[Tile] = []
    none = np.empty((0, 2), dtype=np.int64)
    held: list[tuple[int, int, int]] = []
    room = calls
    for place in range(len(columns)):
        first = 0
        while first < n:
            last = min(n, first + room)
            held.append((place, first, last))
            room -= last - first
            first = last
            if room == 0:
                tiles.append(Tile(lm, items, columns, tuple(held), none))
                held, room = [], calls
    if held:
        tiles.append(Tile(lm, items, columns, tuple(held), none))
    tiles.extend(Tile(lm, items, columns, (), single[first : first + calls]) for first in range(0, len(single), calls))
    return tiles


def work(tile: Tile) -> int:
    """Scores a tile into the store of its plan; answers how many calls that took."""
    # what other lists of these items have was taken over when the tiles were cut
    matrix, batches = tile.lm._open(tile.items, shares=False)
    with tile.lm._told(0, "tile", batches, tile.items, matrix):
        for pairs in tile.pairs():
            matrix.scores(pairs)
    return matrix.calls

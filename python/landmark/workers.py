"""The calls of a fit cut into tiles, for any engine that maps a function over a list: Dask, Ray, a pool, a job array.

>>> plan = lm.tiles(texts, calls=2000)                    # doctest: +SKIP
>>> client.gather(client.map(landmark.work, plan))        # doctest: +SKIP
>>> lm.fit(texts)                                         # everything is there   # doctest: +SKIP

A tile puts its scores into the store as they are made. One that is done again, by whomever, calls nothing; a worker that is killed loses
about a second of scoring.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._native import MeteredStore
    from .estimator import Landmark

_PAIRS_AT_A_TIME = 1 << 14


@dataclass(frozen=True)
class Tile:
    """Pairs of a fit that one worker scores: stretches of columns, and single pairs.

    Parameters
    ----------
    lm : Landmark
        Estimator of the plan.
    items : list or array
        Items.
    columns : ndarray of int
        Columns of the fit. A pair of two columns belongs to the earlier one.
    stretches : tuple of (int, int, int)
        Place among `columns`, first row, last row.
    single : ndarray of shape (n_pairs, 2)
        Single pairs.
    """

    lm: Landmark
    items: Any
    columns: NDArray[np.int64]
    stretches: tuple[tuple[int, int, int], ...]
    single: NDArray[np.int64]

    def pairs(self) -> Iterator[NDArray[np.int64]]:
        """Iterate over the pairs, some thousands at a time.

        Yields
        ------
        ndarray of shape (n_pairs, 2)
            Item numbers.
        """
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
    """Score a tile into the store of its plan.

    Parameters
    ----------
    tile : Tile
        A tile of `Landmark.tiles`.

    Returns
    -------
    int
        Calls that were made.
    """
    # what other lists of these items have was taken over when the tiles were cut
    matrix, batches = tile.lm._open(tile.items, shares=False)
    with tile.lm._told(0, "tile", batches, tile.items, matrix):
        for pairs in tile.pairs():
            matrix.scores(pairs)
    return matrix.calls


class Worker:
    """A worker of a plan: items and model are loaded once per process, tiles are numbers.

    It is a class to be constructed on each process and called with rows of tile numbers: Ray's ``map_batches``, an actor of Dask, Spark's ``mapInArrow``,
    a job of an array.

    Parameters
    ----------
    plan : list of Tile, or callable
        Tiles of `Landmark.tiles`, or a function without arguments that returns them: a function is called once per process, so that items and model are
        loaded there and do not travel.

    Examples
    --------
    >>> import tempfile
    >>> from landmark import Landmark, Worker
    >>> close = lambda pairs: [1 / (1 + abs(a - b)) for a, b in pairs]
    >>> lm = Landmark(close, n_components=2, order="symmetric", store=tempfile.mkdtemp(), identity="close", error_samples=0)
    >>> plan = lm.tiles(range(6), calls=5)
    >>> worker = Worker(plan)
    >>> worker({"tile": list(range(len(plan)))})["calls"].sum().item()
    11
    >>> lm.fit(range(6)).n_calls_
    0
    """

    def __init__(self, plan: Sequence[Tile] | Callable[[], Sequence[Tile]]) -> None:
        self._plan = plan
        self._tiles: Sequence[Tile] | None = None
        self._opened: tuple[MeteredStore, Any] | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"_plan": self._plan}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # opened again where it is called
        self.__init__(state["_plan"])  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._loaded())

    def _loaded(self) -> Sequence[Tile]:
        if self._tiles is None:
            self._tiles = self._plan() if callable(self._plan) else self._plan
        return self._tiles

    def tiles(self) -> list[dict[str, int]]:
        """List the tiles as rows for an engine, such as ``ray.data.from_items(worker.tiles())``.

        Returns
        -------
        list of dict
            ``{"tile": number}``.
        """
        return [{"tile": number} for number in range(len(self))]

    def __call__(self, batch: Any) -> dict[str, NDArray[np.int64]]:
        """Score tiles into the store.

        Parameters
        ----------
        batch : mapping
            ``{"tile": numbers}``, as Ray hands over; one number, or a list of them, is taken, too.

        Returns
        -------
        dict of ndarray
            ``{"tile": numbers, "calls": calls of each}``. A tile that was scored before takes none.
        """
        numbers = np.atleast_1d(np.asarray(batch["tile"] if hasattr(batch, "keys") else batch, dtype=np.int64))
        # one tile at a time: a process has one model
        with self._lock:
            calls = [self._work(int(number)) for number in numbers]
        return {"tile": numbers, "calls": np.array(calls, dtype=np.int64)}

    def map_in_arrow(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Score tiles in Spark: ``frame.mapInArrow(worker.map_in_arrow, "tile long, calls long")``.

        Parameters
        ----------
        batches : iterator of pyarrow.RecordBatch
            Batches with a column ``tile``.

        Yields
        ------
        pyarrow.RecordBatch
            ``tile`` and ``calls``.
        """
        import pyarrow

        for batch in batches:
            done = self({"tile": batch.column(batch.schema.get_field_index("tile")).to_numpy()})
            yield pyarrow.RecordBatch.from_pydict({name: pyarrow.array(values) for name, values in done.items()})

    def _work(self, number: int) -> int:
        tile = self._loaded()[number]
        if self._opened is None:
            # one store for all tiles of this process
            self._opened = tile.lm._open(tile.items, shares=False)
        matrix, batches = self._opened
        before = matrix.calls
        with tile.lm._told(0, "tile", batches, tile.items, matrix):
            for pairs in tile.pairs():
                matrix.scores(pairs)
        return matrix.calls - before

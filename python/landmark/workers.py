"""The calls of a fit or a search cut into tiles, for any engine that maps a function over a list: Dask, Ray, a pool, a job array.

>>> plan = lm.tiles(texts, calls=2000)                    # doctest: +SKIP
>>> client.gather(client.map(landmark.work, plan))        # doctest: +SKIP
>>> lm.fit(texts)                                         # everything is there   # doctest: +SKIP

A tile puts its scores into the store as they are made. One that is done again, by whomever, calls nothing; a worker that is killed loses
about a second of scoring.
"""

from __future__ import annotations

import copy
import queue
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
# seconds that a stopped search has to end
_PATIENCE = 5.0
# turns that may end without a score, because their workers were killed
_LOST = 3


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
    """Tiles of about `calls` calls: columns are cut where they are longer, and taken together where they are shorter."""
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
    return _scored(tile, *tile.lm._open(tile.items, shares=False))


def _scored(tile: Tile, matrix: MeteredStore, batches: Any) -> int:
    """The calls of scoring a tile into an open store."""
    before = matrix.calls
    with tile.lm._progress(0, "tile", batches, tile.items, matrix):
        for pairs in tile.pairs():
            matrix.scores(pairs)
    return matrix.calls - before


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

    def __call__(self, batch: Any) -> dict[str, NDArray[Any]]:
        """Score tiles into the store.

        Parameters
        ----------
        batch : mapping
            ``{"tile": numbers}``, as Ray hands over; one number, or a list of them, is taken, too. Or a tile of `search_tiles`,
            ``{"item": numbers, "other": numbers, "in_order": truth values}``.

        Returns
        -------
        dict of ndarray
            ``{"tile": numbers, "calls": calls of each}``. A tile that was scored before takes none. Of a tile of `search_tiles`, its pairs and their
            ``"score"``.
        """
        if hasattr(batch, "keys") and "item" in batch:
            pairs = np.stack([np.asarray(batch[name], dtype=np.int64) for name in ("item", "other")], axis=1)
            in_order = "in_order" in batch and bool(np.any(batch["in_order"]))
            with self._lock:
                return {"item": pairs[:, 0], "other": pairs[:, 1], "score": self._score(np.ascontiguousarray(pairs), in_order)}
        numbers = np.atleast_1d(np.asarray(batch["tile"] if hasattr(batch, "keys") else batch, dtype=np.int64))
        # one tile at a time: a process has one model
        with self._lock:
            tiles = [self._loaded()[int(number)] for number in numbers]
            calls = [_scored(tile, *self._open(tile)) for tile in tiles]
            if self._opened is not None:
                # who waits for a tile reads its scores from the store
                self._opened[0].flush()
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

    def _open(self, tile: Tile) -> tuple[MeteredStore, Any]:
        if self._opened is None:
            # one store for all tiles of this process
            self._opened = tile.lm._open(tile.items, shares=False)
        return self._opened

    def _score(self, pairs: NDArray[np.int64], in_order: bool) -> NDArray[np.float64]:
        tiles = self._loaded()
        if not tiles:
            raise ValueError("cannot score a tile of a search: the plan has no tile, which names the items and the model")
        matrix, batches = self._open(tiles[0])
        with tiles[0].lm._progress(0, "tile", batches, tiles[0].items, matrix):
            found = matrix.scores_in_order(pairs) if in_order else matrix.scores(pairs)
        matrix.flush()
        return found


def search_tiles(lm: Landmark, search: Callable[[Landmark], Any], calls: int = 1000) -> Iterator[list[dict[str, NDArray[Any]]]]:
    """Cut the calls of a search, or of an audit, into tiles for `Worker`, round by round. No call is made here.

    Each turn of the loop hands over the pairs that the search needs next. When workers have scored them, the next turn reads the scores from the store.
    After the loop, the same search on `lm` makes no call. With ``order="mean"`` a tile holds single orders of pairs.

    Parameters
    ----------
    lm : Landmark
        Fitted estimator with a `store`.
    search : callable
        What is searched, such as ``lambda lm: lm.kneighbors(n_neighbors=10, calls_per_item=20)``, or `mine` or an audit by `recall_of` with
        ``lm.similarity``. It is called once, in a thread, with a copy of `lm`.
    calls : int, default=1000
        Pairs of a tile, at most.

    Yields
    ------
    list of dict
        Tiles ``{"item": numbers, "other": numbers, "in_order": truth values}``. Pairs of a tile that was lost come again in the next turn.

    Raises
    ------
    RuntimeError
        If several turns in a row leave no score in the store.

    Examples
    --------
    >>> import tempfile
    >>> from landmark import Landmark, Worker, search_tiles
    >>> close = lambda pairs: [1 / (1 + abs(a - b)) for a, b in pairs]
    >>> lm = Landmark(close, n_components=2, order="symmetric", store=tempfile.mkdtemp(), identity="close", error_samples=0)
    >>> worker = Worker(lm.tiles(range(30)))
    >>> search = lambda lm: lm.kneighbors(n_neighbors=2, calls_per_item=5)
    >>> for tiles in search_tiles(lm.fit(range(30)), search, calls=40):
    ...     scores = [worker(tile)["score"] for tile in tiles]
    >>> before = lm.n_calls_
    >>> lists = search(lm)
    >>> lm.n_calls_ == before
    True
    """
    from ._checks import whole
    from ._items import content

    calls = whole("calls", calls, 1)
    if not lm.__sklearn_is_fitted__():
        raise ValueError("cannot cut a search into tiles: fit the estimator first")
    if lm._store is None:
        raise ValueError("workers meet in a store: give `store` and `identity`")
    if lm.budget is not None:
        raise ValueError("cannot cut a search with a `budget` into tiles: limit its calls by `calls_per_item`")
    place = {content(item): number for number, item in reversed(list(enumerate(lm._items)))}
    turns: queue.Queue[Any] = queue.Queue()
    answers: queue.Queue[Any] = queue.Queue()

    def asked(pairs: list[tuple[Any, Any]]) -> NDArray[np.float64]:
        numbers = np.array([(place[content(a)], place[content(b)]) for a, b in pairs], dtype=np.int64)
        turns.put(numbers)
        found = answers.get()
        if isinstance(found, BaseException):
            raise found
        return np.asarray(found)

    asked._landmark_at_once = _PAIRS_AT_A_TIME  # type: ignore[attr-defined]
    # a store of its own would be written twice
    driver = copy.copy(lm)
    driver.similarity, driver.store, driver.identity = asked, None, None
    driver.order = lm.order_
    for opened in ("_matrix", "_batches"):
        driver.__dict__.pop(opened, None)
    # which orders are known decides what is asked for
    if driver.order == "mean":
        driver._opened()[0].copy_from(lm._open(lm._items, shares=False, dry=True)[0])

    def run() -> None:
        try:
            search(driver)
            turns.put(None)
        except BaseException as error:
            turns.put(error)

    thread = threading.Thread(target=run, daemon=True, name="landmark search")
    thread.start()
    try:
        while True:
            turn = turns.get()
            if turn is None:
                return
            if isinstance(turn, BaseException):
                raise turn
            yield from _until_scored(lm, turn, calls, answers)
    finally:
        # of a loop that was left early
        answers.put(_Stopped("the search was stopped"))
        thread.join(_PATIENCE)


class _Stopped(OSError):
    """Ends a search whose caller has gone; no score is at fault."""


def _until_scored(
    lm: Landmark, pairs: NDArray[np.int64], calls: int, answers: queue.Queue[Any]
) -> Iterator[list[dict[str, NDArray[Any]]]]:
    """Tiles of what the store lacks of some pairs, until it lacks nothing."""
    before, lost = len(pairs) + 1, 0
    while True:
        # opened again: it reads what others have written meanwhile
        store = lm._open(lm._items, shares=False, dry=True)[0]
        known = store.known_in_order(pairs) if store.has_orders else store.known(pairs)
        missing = pairs[np.isnan(known)]
        if not len(missing):
            answers.put(known)
            return
        lost = lost + 1 if len(missing) >= before else 0
        if lost == _LOST:
            raise RuntimeError(f"none of the {before:,} pairs of the last {_LOST} turns is in the store: do workers use `{lm._store}`?")
        before = len(missing)
        missing = np.unique(missing if store.has_orders else np.sort(missing, axis=1), axis=0)
        parts = (missing[at : at + calls] for at in range(0, len(missing), calls))
        yield [{"item": part[:, 0].copy(), "other": part[:, 1].copy(), "in_order": np.full(len(part), store.has_orders)} for part in parts]

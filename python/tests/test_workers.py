"""Tiles of a plan in any order, by any worker, more than once: the same bits, and no call twice."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import landmark
from landmark import Landmark

TEXTS = [str(number * 7 % 101) for number in range(70)]


def difference(pairs: list[tuple[str, str]]) -> list[float]:
    return [1.0 / (1.0 + abs(int(a) - int(b))) for a, b in pairs]


def estimator(store: Path) -> Landmark:
    return Landmark(difference, 12, order="symmetric", store=str(store), identity="difference", error_samples=150)


@dataclass(frozen=True)
class Mortal:
    """The same score, which writes down what it is asked and kills the process that asks for a certain item, once."""

    log: str
    deadly: str = TEXTS[5]

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        with open(self.log, "a", encoding="utf-8") as log:
            log.writelines(f"{a} {b}\n" for a, b in pairs)
        if any(self.deadly in pair for pair in pairs):
            try:
                os.close(os.open(f"{self.log}.killed", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return difference(pairs)

    def asked(self) -> Counter[frozenset[str]]:
        return Counter(frozenset(line.split()) for line in Path(self.log).read_text(encoding="utf-8").splitlines())


def mortal(tmp_path: Path) -> Landmark:
    return estimator(tmp_path / "store").set_params(similarity=Mortal(str(tmp_path / "asked")))


def check_mortal(tmp_path: Path, lm: Landmark, tiles: list[landmark.Tile]) -> None:
    """A worker was killed, and what it had not published is all that was asked for twice."""
    asked = lm.similarity.asked()
    again = {pair for pair, times in asked.items() if times > 1}
    of_tiles = [{frozenset(TEXTS[i] for i in pair) for block in tile.pairs() for pair in block.tolist()} for tile in tiles]
    assert Path(f"{lm.similarity.log}.killed").exists() and again
    assert any(again <= pairs for pairs in of_tiles) and max(asked.values()) == 2
    assert lm.fit(TEXTS).n_calls_ == 0
    alone = estimator(tmp_path / "alone").fit(TEXTS)
    assert lm.embedding_.tobytes() == alone.embedding_.tobytes() and lm.error_ == alone.error_


@pytest.mark.parametrize("calls", [1, 17, 70, 500, 100_000])
def test_tiles_are_the_calls_of_the_fit_and_no_pair_is_in_two(tmp_path: Path, calls: int) -> None:
    lm = estimator(tmp_path)
    tiles = lm.tiles(TEXTS, calls)
    pairs = [tuple(sorted(pair)) for tile in tiles for block in tile.pairs() for pair in block.tolist()]
    assert len(pairs) == len(set(pairs)) == lm.plan(TEXTS).calls
    assert all(sum(map(len, tile.pairs())) <= calls for tile in tiles)


def check(tmp_path: Path, done: list[int]) -> None:
    lm = estimator(tmp_path / "store").fit(TEXTS)
    alone = estimator(tmp_path / "alone").fit(TEXTS)
    assert sum(done) == alone.n_calls_ and lm.n_calls_ == 0
    assert lm.embedding_.tobytes() == alone.embedding_.tobytes() and lm.error_ == alone.error_


def test_tiles_done_in_another_order_give_the_same_bits(tmp_path: Path) -> None:
    tiles = estimator(tmp_path / "store").tiles(TEXTS, 60)
    done = [landmark.work(tile) for tile in reversed(tiles)]
    assert sum(landmark.work(tile) for tile in tiles[:3]) == 0, "again"
    check(tmp_path, done)
    with pytest.raises(ValueError, match="meet in a store"):
        Landmark(difference, order="symmetric").tiles(TEXTS)
    with pytest.raises(ValueError, match="whole number"):
        estimator(tmp_path).set_params(random_state=None).tiles(TEXTS)


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_a_killed_worker_loses_nothing_published(tmp_path: Path) -> None:
    lm = mortal(tmp_path)
    tiles = lm.tiles(TEXTS, 40)
    for tile in tiles:
        work = ["import pickle, sys, landmark", f"sys.path.insert(0, {str(Path(__file__).parent)!r})", "landmark.work(pickle.load(sys.stdin.buffer))"]
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", "; ".join(work)], input=pickle.dumps(tile), capture_output=True, check=False)
            if done.returncode == 0:
                break
            assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        assert done.returncode == 0
    check_mortal(tmp_path, lm, tiles)


SEARCHES = {
    "rounds": lambda lm: lm.kneighbors(n_neighbors=3, calls_per_item=15)[1],
    "audit": lambda lm: lm.kneighbors(n_neighbors=3, target_recall=0.8, delta=0.2)[1],
    "pairs": lambda lm: lm.mine(0.3, target_recall=0.8, delta=0.2).items,
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("settings", [{}, {"order": "mean"}, {"gamma": 0.5}], ids=str)
def test_tiles_of_a_search_are_its_calls_and_leave_none(tmp_path: Path, name: str, settings: dict[str, object]) -> None:
    search = SEARCHES[name]
    lm = estimator(tmp_path / "store").set_params(**settings)
    worker = landmark.Worker(lm.tiles(TEXTS))
    lm.fit(TEXTS)
    seen: list[tuple[int, int]] = []
    for tiles in landmark.search_tiles(lm, search, calls=60):
        for tile in tiles:
            assert 0 < len(tile["item"]) <= 60
            done = worker(pickle.loads(pickle.dumps(tile)))
            assert len(done["score"]) == len(tile["item"])
            seen += zip(tile["item"].tolist(), tile["other"].tolist())
    before = lm.n_calls_
    found = search(lm)
    assert lm.n_calls_ == before and len(set(seen)) == len(seen) > 0
    alone = estimator(tmp_path / "alone").set_params(**settings).fit(TEXTS)
    calls = alone.n_calls_
    assert np.array_equal(found, search(alone))
    assert alone.n_calls_ - calls == len(seen)


@pytest.mark.parametrize("name", SEARCHES)
def test_equal_items_and_both_orders_leave_no_call_to_the_search(tmp_path: Path, name: str) -> None:
    texts = [*TEXTS[:50], *TEXTS[:6]]
    lm = estimator(tmp_path).set_params(order="mean")
    worker = landmark.Worker(lm.tiles(texts))
    lm.fit(texts)
    for tiles in landmark.search_tiles(lm, SEARCHES[name], calls=60):
        for tile in tiles:
            worker(tile)
    before = lm.n_calls_
    SEARCHES[name](lm)
    assert lm.n_calls_ == before


def test_an_audit_of_given_candidates_is_cut_into_tiles_too(tmp_path: Path) -> None:
    lm = estimator(tmp_path / "store")
    worker = landmark.Worker(lm.tiles(TEXTS))
    lm.fit(TEXTS)
    candidates = [(i, i + 1) for i in range(len(TEXTS) - 1)]

    def audit(lm: Landmark) -> landmark.Recall:
        return landmark.recall_of(candidates, lm.similarity, TEXTS, threshold=0.3, calls=600)

    turns = 0
    for tiles in landmark.search_tiles(lm, audit, calls=100):
        turns += 1
        assert sum(worker(tile)["score"].shape[0] for tile in tiles) <= 600
    assert turns == 1
    again = landmark.recall_of(
        candidates, landmark.Cached(difference, str(tmp_path / "store"), identity="difference", order="symmetric", verify=0), TEXTS, threshold=0.3, calls=600
    )
    assert again == audit(estimator(tmp_path / "alone"))


def test_a_search_whose_tiles_nobody_scores_or_that_is_left_ends(tmp_path: Path) -> None:
    lm = estimator(tmp_path / "store").fit(TEXTS)
    with pytest.raises(RuntimeError, match="do workers use"):
        for _ in landmark.search_tiles(lm, SEARCHES["rounds"]):
            pass
    for _ in landmark.search_tiles(lm, SEARCHES["rounds"]):
        break
    deadline = time.monotonic() + 20
    while any(thread.name == "landmark search" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with pytest.raises(ZeroDivisionError):
        list(landmark.search_tiles(lm, lambda lm: 1 / 0))
    with pytest.raises(ValueError, match="fit the estimator first"):
        list(landmark.search_tiles(estimator(tmp_path / "new"), SEARCHES["rounds"]))
    with pytest.raises(ValueError, match="a `budget`"):
        list(landmark.search_tiles(lm.set_params(budget=10_000), SEARCHES["rounds"]))


@dataclass(frozen=True)
class MortalLater(Mortal):
    """Lives until `armed` is there."""

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        return super().__call__(pairs) if Path(f"{self.log}.armed").exists() else difference(pairs)


def check_search(lm: Landmark, log: Path, turns: int) -> None:
    """A worker was killed in a search, and the lists are those of a search that nobody disturbed."""
    assert Path(f"{log}.killed").exists() and turns > 1
    before = lm.n_calls_
    found = SEARCHES["audit"](lm)
    assert lm.n_calls_ == before
    alone = Landmark(difference, 12, order="symmetric", error_samples=150).fit(TEXTS)
    assert np.array_equal(found, SEARCHES["audit"](alone))


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_a_worker_killed_in_a_search_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    log = tmp_path / "asked"
    lm = estimator(tmp_path / "store").set_params(similarity=MortalLater(str(log)))
    plan = lm.tiles(TEXTS, 10_000)
    lm.fit(TEXTS)
    Path(f"{log}.armed").touch()
    (tmp_path / "plan").write_bytes(pickle.dumps(plan))
    program = f"""
import pickle, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import landmark
worker = landmark.Worker(pickle.load(open({str(tmp_path / "plan")!r}, "rb")))
for tile in pickle.load(sys.stdin.buffer):
    worker(tile)
"""
    turns, survivor = 0, landmark.Worker(plan)
    for tiles in landmark.search_tiles(lm, SEARCHES["audit"], calls=20):
        turns += 1
        if Path(f"{log}.killed").exists():
            list(map(survivor, tiles))
            continue
        done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(tiles), capture_output=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    check_search(lm, log, turns)


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_engine_does_the_rounds_of_a_search_and_outlives_a_worker(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> None:
    cluster = request.getfixturevalue(engine)
    log = tmp_path / "asked"
    lm = estimator(tmp_path / "store").set_params(similarity=MortalLater(str(log)))
    worker = landmark.Worker(lm.tiles(TEXTS))
    lm.fit(TEXTS)
    Path(f"{log}.armed").touch()
    turns = 0
    for tiles in landmark.search_tiles(lm, SEARCHES["audit"], calls=100):
        turns += 1
        if engine == "dask":
            cluster.gather(cluster.map(worker, tiles, pure=False))
        else:
            on_ray = cluster.remote(lambda tile: worker(tile))
            cluster.get([on_ray.remote(tile) for tile in tiles])
    check_search(lm, log, turns)


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_engine_does_the_tiles_of_a_fit_and_outlives_a_worker(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> None:
    cluster = request.getfixturevalue(engine)
    lm = mortal(tmp_path)
    tiles = lm.tiles(TEXTS, 100)
    if engine == "dask":
        cluster.gather(cluster.map(landmark.work, tiles))
    else:
        cluster.get([cluster.remote(landmark.work).remote(tile) for tile in tiles])
    check_mortal(tmp_path, lm, tiles)

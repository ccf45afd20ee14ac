"""Tiles of a plan in any order, by any worker, more than once: the same bits, and no call twice."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import landmark
from landmark import Landmark

TEXTS = [str(number * 7 % 101) for number in range(70)]


def difference(pairs: list[tuple[str, str]]) -> list[float]:
    return [1.0 / (1.0 + abs(int(a) - int(b))) for a, b in pairs]


def estimator(store: Path) -> Landmark:
    return Landmark(difference, 12, store=str(store), identity="difference", error_samples=150)


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
        Landmark(difference).tiles(TEXTS)
    with pytest.raises(ValueError, match="whole number"):
        estimator(tmp_path).set_params(random_state=None).tiles(TEXTS)


def test_a_dask_cluster_does_them(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    tiles = estimator(tmp_path / "store").tiles(TEXTS, 100)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        done = client.gather(client.map(landmark.work, tiles))
    check(tmp_path, done)


def test_ray_does_them(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    tiles = estimator(tmp_path / "store").tiles(TEXTS, 100)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}})
    try:
        done = ray.get([ray.remote(landmark.work).remote(tile) for tile in tiles])
    finally:
        ray.shutdown()
    check(tmp_path, done)
    assert np.sum(done) > 0

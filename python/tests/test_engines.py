"""`Worker` under local engines: Ray's map_batches, Dask, Spark's mapInArrow (its function alone), a killed worker."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landmark import Landmark, Worker

TEXTS = [str(number * 7 % 101) for number in range(60)]


def difference(pairs: list[tuple[str, str]]) -> list[float]:
    return [1.0 / (1.0 + abs(int(a) - int(b))) for a, b in pairs]


def estimator(store: Path) -> Landmark:
    return Landmark(difference, 8, order="symmetric", store=str(store), identity="difference", error_samples=60)


def test_a_plan_that_is_a_function_is_loaded_once_where_it_is_called(tmp_path: Path) -> None:
    loaded = []

    def plan() -> list:
        loaded.append(os.getpid())
        return estimator(tmp_path / "store").tiles(TEXTS, calls=40)

    worker = Worker(plan)
    assert not loaded and len(pickle.dumps(Worker([]))) < 200
    rows = worker.tiles()
    calls = [int(worker({"tile": [row["tile"]]})["calls"][0]) for row in rows]
    assert len(loaded) == 1 and sum(calls) == estimator(tmp_path / "other").plan(TEXTS).calls
    assert worker(0)["calls"].tolist() == [0]
    assert estimator(tmp_path / "store").fit(TEXTS).n_calls_ == 0


def test_sparks_map_in_arrow_takes_record_batches(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    worker = Worker(estimator(tmp_path / "store").tiles(TEXTS, calls=100))
    batches = [pyarrow.RecordBatch.from_pydict({"tile": [row["tile"]]}) for row in worker.tiles()]
    done = list(worker.map_in_arrow(iter(batches)))
    assert [batch.schema.names for batch in done] == [["tile", "calls"]] * len(batches)
    assert estimator(tmp_path / "store").fit(TEXTS).n_calls_ == 0


def test_ray_maps_batches_of_tiles(tmp_path: Path, ray: Any) -> None:
    pytest.importorskip("pandas")
    plan = estimator(tmp_path / "store").tiles(TEXTS, calls=100)
    rows = ray.data.from_items(Worker(plan).tiles())
    done = rows.map_batches(Worker, fn_constructor_kwargs={"plan": plan}, concurrency=1, batch_size=2).take_all()
    assert sum(row["calls"] for row in done) == estimator(tmp_path / "other").plan(TEXTS).calls
    assert estimator(tmp_path / "store").fit(TEXTS).n_calls_ == 0


def test_dask_maps_a_worker(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        worker = Worker(estimator(tmp_path / "store").tiles(TEXTS, calls=100))
        done = client.gather(client.map(worker, range(len(worker)), pure=False))
    assert sum(int(one["calls"].sum()) for one in done) == estimator(tmp_path / "other").plan(TEXTS).calls
    assert estimator(tmp_path / "store").fit(TEXTS).n_calls_ == 0


KILLED = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import test_engines
from landmark import Worker
count = [0]
def deadly(pairs):
    count[0] += len(pairs)
    if count[0] > 150:
        os.kill(os.getpid(), signal.SIGKILL)
    return test_engines.difference(pairs)
lm = test_engines.estimator({store!r}).set_params(similarity=deadly)
worker = Worker(lm.tiles(test_engines.TEXTS, calls=100))
for row in worker.tiles():
    worker(row["tile"])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_worker_that_is_killed_is_replaced_by_another(tmp_path: Path) -> None:
    program = KILLED.format(folder=os.path.dirname(os.path.abspath(__file__)), store=str(tmp_path / "store"))
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    worker = Worker(estimator(tmp_path / "store").tiles(TEXTS, calls=100))
    calls = int(worker(np.arange(len(worker)))["calls"].sum())
    # what the killed one published is not asked again
    assert 0 < calls <= estimator(tmp_path / "other").plan(TEXTS).calls
    assert estimator(tmp_path / "store").fit(TEXTS).n_calls_ == 0

"""Small matrices and scores that count their calls."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TEXTS = [f"text {i * 7919 % 1009}" for i in range(30)]
SETTINGS: dict[str, Any] = {"n_components": 5, "error_samples": 0, "order": "symmetric"}


def overlap(pairs: list[tuple[str, str]]) -> list[float]:
    return [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]


class Counted:
    """A symmetric score of texts that remembers which pairs it was asked for."""

    def __init__(self) -> None:
        self.asked: Counter[frozenset[str]] = Counter()
        self.batches: list[int] = []
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        return sum(self.asked.values())

    def of(self, a: str, b: str) -> float:
        x, y = set(a), set(b)
        return len(x & y) / len(x | y) + 0.01 * (len(a) * len(b)) ** 0.5

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        with self._lock:
            self.asked.update(frozenset(pair) for pair in pairs)
            self.batches.append(len(pairs))
        return [self.of(a, b) for a, b in pairs]


@pytest.fixture
def score() -> Counted:
    return Counted()


@pytest.fixture(scope="session")
def texts() -> list[str]:
    rng = np.random.default_rng(3)
    made: dict[str, None] = {}
    while len(made) < 60:
        made["".join(rng.choice(list("abcdefghij"), size=rng.integers(3, 9)))] = None
    return list(made)


def truth(score: Counted, texts: list[str]) -> np.ndarray:
    """All of K."""
    return np.array([[score.of(a, b) for b in texts] for a in texts])


def matrix(n: int = 80, seed: int = 5) -> np.ndarray:
    """A similarity matrix with a few negative eigenvalues."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 4))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    noise = rng.normal(scale=0.02, size=(n, n))
    return np.exp(-distances) + (noise + noise.T) / 2


@pytest.fixture
def dask() -> Iterator[Any]:
    """A client of two worker processes, which come back when they are killed."""
    distributed = pytest.importorskip("distributed", reason="the package distributed (Dask) is not installed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def ray() -> Iterator[Any]:
    """Ray with two processors, whose workers import this folder and the package."""
    module = pytest.importorskip("ray", reason="the package ray is not installed")
    package = str(Path(sys.modules["landmark"].__file__ or "").parent.parent)
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parent), package, os.environ.get("PYTHONPATH")]))
    settings = {"include_dashboard": False, "log_to_driver": False, "configure_logging": False, "runtime_env": {"env_vars": {"PYTHONPATH": paths}}}
    module.init(num_cpus=2, **settings)
    yield module
    module.shutdown()

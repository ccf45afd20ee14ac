"""Small matrices and scores that count their calls."""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest


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

"""A fit that raises or is interrupted changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import matrix
from sklearn.exceptions import NotFittedError

from landmark import FrequentDirections, Landmark, LinearSvm, StructuredFeatures

A = [f"aaa {i}" for i in range(40)]
B = [f"bbb {3 * i}" for i in range(40)]


class Down:
    """A score of texts that stops to work."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        if self.error is not None:
            raise self.error
        return [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]


@pytest.mark.parametrize("error", [RuntimeError("gpu down"), KeyboardInterrupt()])
def test_a_fit_that_ends_early_leaves_the_old_fit_whole(error: BaseException) -> None:
    score = Down()
    lm = Landmark(score, 10, error_samples=20).fit(A)
    before = dict(vars(lm))
    z, lists = lm.transform(A[5:6]), lm.kneighbors(n_neighbors=3, calls_per_item=2)[1]
    after = set(vars(lm)) - set(before)
    score.error = error
    with pytest.raises(type(error)):
        lm.fit(B)
    score.error = None
    for name, value in before.items():
        if name != "n_calls_":
            assert vars(lm)[name] is value, name
    assert set(vars(lm)) == set(before) | after
    assert np.array_equal(lm.transform(A[5:6]), z)
    assert np.array_equal(lm.kneighbors(n_neighbors=3, calls_per_item=2)[1], lists)
    # an item of the list that was not fitted is a new one
    calls = lm.n_calls_
    lm.transform(B[5:6])
    assert lm.n_calls_ - calls == 10


def test_after_a_first_fit_that_failed_nothing_is_fitted() -> None:
    score = Down()
    score.error = RuntimeError("gpu down")
    lm = Landmark(score, 5, error_samples=0)
    with pytest.raises(RuntimeError, match="gpu down"):
        lm.fit(A)
    for read in (lambda: lm.row(0), lambda: lm.kneighbors(n_neighbors=3), lambda: lm.mine(0.5), lambda: lm.plan_kneighbors(), lambda: lm.save("nowhere")):
        with pytest.raises(NotFittedError):
            read()
    assert set(vars(lm)) == set(lm.get_params())
    score.error = None
    assert lm.fit(A).row(0).shape == (40,)


def test_a_fit_that_is_refused_keeps_the_number_of_columns_and_the_identity() -> None:
    lm = Landmark(metric="precomputed", n_components=5, error_samples=0).fit(matrix(30))
    name, row = lm._identity_, lm.row(2)
    with pytest.raises(ValueError, match="square"):
        lm.fit(np.ones((4, 7)))
    assert lm.n_features_in_ == 30 and lm._identity_ == name and np.array_equal(lm.row(2), row)
    lm.plan(matrix(30, seed=2))
    assert lm._identity_ == name


def test_what_is_scored_after_a_fit_does_not_rename_it(tmp_path: Any) -> None:
    lm = Landmark(Down(), 5, error_samples=0).fit(A)
    name = lm._identity_
    lm.transform(B[:2])
    lm.plan(B)
    lm.plan_kneighbors(B, 3)
    lm.save(tmp_path / "factors")
    assert lm._identity_ == name == Landmark.load(tmp_path / "factors")._identity_


def test_other_estimators_stay_whole_too() -> None:
    x, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    for estimator in (LinearSvm().fit(x, y), StructuredFeatures(n_components=8).fit(x), FrequentDirections(2, rows=4).fit(x)):
        before = dict(vars(estimator))
        wrong = {LinearSvm: {"C": -1.0}, StructuredFeatures: {"family": "no such"}, FrequentDirections: {"form": "no such"}}[type(estimator)]
        with pytest.raises(ValueError):
            estimator.set_params(**wrong).fit(x[:, :3], 1 - y)
        estimator.set_params(**{name: before[name] for name in wrong})
        assert vars(estimator) == before, type(estimator)

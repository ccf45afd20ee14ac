"""Kernels of vectors, computed by the compiled half: those of scikit-learn."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from test_blocks import by_pairs, points

from landmark import Blockwise, Landmark, VectorKernel

KERNELS = [
    (VectorKernel("rbf", gamma=0.2), partial(rbf_kernel, gamma=0.2)),
    (VectorKernel("polynomial", gamma=0.1, coef0=0.5, degree=2), partial(polynomial_kernel, gamma=0.1, coef0=0.5, degree=2)),
    (VectorKernel("sigmoid", gamma=0.1, coef0=-1.0), partial(sigmoid_kernel, gamma=0.1, coef0=-1.0)),
]


@pytest.mark.parametrize(("kernel", "theirs"), KERNELS, ids=["rbf", "polynomial", "sigmoid"])
def test_kernels_of_vectors_are_those_of_scikit_learn(kernel: VectorKernel, theirs: Callable[..., np.ndarray]) -> None:
    x = np.random.default_rng(3).normal(size=(300, 5))
    some = np.array([7, 0, 299, 12])
    np.testing.assert_allclose(kernel.oracle(x).block(np.arange(300), some), theirs(x, x[some]), rtol=1e-12, atol=1e-14)
    # a vector is like itself, which rbf knows without a call
    itself = 1.0 if kernel.kernel == "rbf" else None
    # a kernel draws by place and a function by content: the same landmarks, and all pairs for the error
    ours = Landmark(kernel, 40, random_state=1, error_samples=50_000).fit(x)
    named = Landmark(Blockwise(theirs), 40, order="symmetric", random_state=1, diagonal=itself, error_samples=50_000, landmarks=ours.component_indices_)
    new = np.random.default_rng(4).normal(size=(7, 5))
    k = [lm.fit(x).similarities(range(300), range(300)) for lm in (ours, named)]
    # the fits are the same but for rounding, which small eigenvalues magnify
    np.testing.assert_allclose(k[0], k[1], atol=1e-5)
    np.testing.assert_allclose(ours.transform(new) @ ours.embedding_.T, named.transform(new) @ named.embedding_.T, atol=1e-5)
    assert ours.error_ == pytest.approx(named.error_, rel=1e-3)
    assert (ours.n_calls_, ours.call_plan_.calls_alone) == (named.n_calls_, named.call_plan_.calls_alone)


def test_a_kernel_of_vectors_is_nystroem_with_its_landmarks_and_gamma() -> None:
    x = np.random.default_rng(3).normal(size=(600, 5))
    theirs = Nystroem(kernel="rbf", n_components=50, random_state=0).fit(x)
    ours = Landmark(VectorKernel(), 50, method="nystrom", landmarks=theirs.component_indices_, error_samples=0, known=False)
    z, wanted = ours.fit_transform(x), theirs.transform(x)
    np.testing.assert_allclose(z @ z.T, wanted @ wanted.T, atol=1e-8)


def test_a_kernel_of_vectors_is_cloned_pickled_stored_and_a_proxy(tmp_path: Path) -> None:
    x = points(80)
    lm = Landmark(VectorKernel("rbf", gamma=0.3), 8, store=tmp_path / "scores", error_samples=0)
    assert lm.plan(x).calls == lm.fit(x).n_calls_ > 0
    again = clone(lm).fit(x)
    assert again.n_calls_ == 0 and again.embedding_.tobytes() == lm.embedding_.tobytes()
    assert clone(lm).set_params(similarity=VectorKernel("rbf", gamma=0.4)).plan(x).calls == lm.n_calls_
    assert pickle.loads(pickle.dumps(lm)).similarities(3, 4) == lm.similarities(3, 4)
    with_proxy = Landmark(by_pairs, 8, proxy=VectorKernel("rbf", gamma=0.3), error_samples=200).fit(x)
    assert with_proxy.error_ is not None and with_proxy.error_ < 0.5
    assert repr(VectorKernel("sigmoid", gamma=0.1)) == "VectorKernel('sigmoid', gamma=0.1, coef0=1.0)"


def test_what_is_no_kernel_of_vectors_is_said() -> None:
    x = points(20)
    for kernel, said in [
        (VectorKernel("gaussian"), "`kernel` is \"gaussian\", but must be one of rbf, polynomial, sigmoid"),
        (VectorKernel(gamma=-1.0), "`gamma` is -1, but must be a finite number above 0"),
        (VectorKernel("polynomial", degree=0), "`degree` is 0, but must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            Landmark(kernel, 3).fit(x)
    with pytest.raises(TypeError, match="the rows of an array of numbers, and the first item is 'a text'"):
        Landmark(VectorKernel(), 2).fit(["a text", "another"])

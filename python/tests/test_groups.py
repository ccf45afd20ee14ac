"""Groups that one wrong pair does not merge, and the calls that they take."""

from __future__ import annotations

import numpy as np
import pytest

from landmark import Landmark, Pairs

SIZES = [5, 4, 1, 3]
TRUTH = np.repeat(np.arange(4), SIZES)
N = len(TRUTH)
CLEAN = np.where(TRUTH[:, None] == TRUTH, 0.9, 0.1)
# one wrong pair between the groups 0 and 1
K = CLEAN.copy()
K[2, 7] = K[7, 2] = 0.8


def pairs_of(matrix: np.ndarray) -> Pairs:
    i, j = np.nonzero(np.triu(matrix, 1) >= 0.5)
    return Pairs(np.stack([i, j], axis=1), matrix[i, j], np.ones(len(i), dtype=bool), N, threshold=0.5)


@pytest.mark.parametrize("link", ["average", "complete"])
def test_one_wrong_pair_merges_nothing(link: str) -> None:
    pairs = pairs_of(K)
    assert len(set(pairs.groups().tolist())) == 3
    asked = []

    def score(numbers: np.ndarray) -> np.ndarray:
        asked.extend(map(tuple, numbers.tolist()))
        return K[numbers[:, 0], numbers[:, 1]]

    planned = pairs.plan_groups(score)
    assert not asked
    np.testing.assert_array_equal(pairs.groups(link, verify=score), TRUTH)
    # the pairs across the two groups, but the wrong one, which is listed
    assert len(asked) == planned == 5 * 4 - 1


def test_a_fitted_estimator_asks_for_what_it_lacks() -> None:
    calls = []

    def score(pairs: list[tuple[int, int]]) -> list[float]:
        calls.extend(pairs)
        return [float(K[i, j]) for i, j in pairs]

    lm = Landmark(score, n_components=3, order="symmetric", error_samples=0, diagonal=1.0).fit(range(N))
    pairs = lm.mine(0.5, rescore=True, target_recall=None)
    planned, before = pairs.plan_groups(lm), len(calls)
    groups = pairs.groups("average", verify=lm)
    assert len(calls) - before == planned and len(groups) == N
    assert len(calls) == len({frozenset(pair) for pair in calls}) == lm.n_calls_


def test_groups_by_links_want_the_score() -> None:
    with pytest.raises(ValueError, match="give `verify`"):
        pairs_of(K).groups("average")
    with pytest.raises(ValueError, match="one of components, average, complete"):
        pairs_of(K).groups("single")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="as `verify`"):
        pairs_of(K).groups("average", verify=3)


def test_found_pairs_become_frames() -> None:
    pairs = pairs_of(K)
    for name, columns in (("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")):
        pytest.importorskip(name)
        frame = getattr(pairs, columns)()
        named = frame.column_names if name == "pyarrow" else list(frame.columns)
        assert named == ["item", "other", "similarity", "exact"] and len(frame) == len(pairs)
    lm = Landmark(K, 4, error_samples=0).fit(range(N))
    lm.kneighbors(n_neighbors=2)
    assert list(lm.neighbors_.to_pandas().columns) == ["item", "rank", "other", "similarity", "exact"]

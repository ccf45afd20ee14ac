"""Scores that come in blocks, as scikit-learn's kernels do: the scores of a function of pairs, from blocks of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Counted
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from test_scores import run_and_interrupt

from landmark import Blockwise, Landmark, NotFiniteError


def of_points(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A score of rows that has the same bits in blocks of any shape: one number after the other, no matrix product."""
    score = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    for k in range(a.shape[-1]):
        score -= (a[..., k] - b[..., k]) ** 2
    return 1.0 / (1.0 - score)


def by_pairs(pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    left, right = (np.stack(side) for side in zip(*pairs))
    return of_points(left, right)


class Recorded:
    """A function of blocks that remembers which cells it was asked for, by the first number of each row."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, int]] = []
        self.cells: Counter[tuple[float, float]] = Counter()

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        assert isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray), "rows of an array come as an array"
        self.shapes.append((len(rows), len(columns)))
        self.cells.update((a, b) for a in rows[:, 0].tolist() for b in columns[:, 0].tolist())
        return of_points(rows[:, None], columns[None])


def points(n: int = 70, seed: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


SETTINGS = [
    {},
    {"diagonal": 1.0},
    {"known": False, "method": "nystrom"},
    {"error_samples": 0, "landmarks": "farthest"},
    {"scattered": {"columns": 0.6}},
    {"order": "mean"},
    {"order": "max", "gamma": 0.3},
]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_bits_and_the_calls_are_those_of_a_function_of_pairs(settings: dict[str, Any], kept: bool, tmp_path: Path) -> None:
    x = points()
    store = {"store": tmp_path / "blocks", "identity": "points"} if kept else {}
    both = {"n_components": 12, "error_samples": 200, "order": "symmetric", **settings}
    pairs, blocks = Landmark(by_pairs, **both).fit(x), Landmark(Blockwise(Recorded()), **both, **store).fit(x)
    assert blocks.embedding_.tobytes() == pairs.embedding_.tobytes()
    assert blocks.component_indices_.tolist() == pairs.component_indices_.tolist()
    assert (blocks.n_calls_, blocks.error_, blocks.call_plan_.calls) == (pairs.n_calls_, pairs.error_, pairs.call_plan_.calls)
    every = np.arange(len(x))
    assert blocks.similarities(every, every).tobytes() == pairs.similarities(every, every).tobytes()
    assert blocks.transform(points(5, 9)).tobytes() == pairs.transform(points(5, 9)).tobytes()
    for search in ({"calls_per_item": 8}, {"target_recall": 0.8, "delta": 0.2}):
        found, wanted = blocks.kneighbors(n_neighbors=4, **search), pairs.kneighbors(n_neighbors=4, **search)
        np.testing.assert_array_equal(found[1], wanted[1])
        assert found[0].tobytes() == wanted[0].tobytes()
    if "known" not in settings or kept:
        assert blocks.n_calls_ == pairs.n_calls_
    else:
        assert blocks.n_calls_ > pairs.n_calls_, "nothing of a fit is kept that keeps no columns, and a search asks anew"


def test_a_fit_asks_for_blocks_and_for_no_cell_twice() -> None:
    x, asked = points(500), Recorded()
    lm = Landmark(Blockwise(asked), 40, error_samples=0, order="symmetric").fit(x)
    # the square of the landmarks with its mirrored cells, then all other rows, in blocks that grow
    assert lm.n_calls_ == 500 * 40 - 40 * 39 // 2
    assert sum(asked.cells.values()) == 500 * 40 == len(asked.cells)
    assert len(asked.shapes) < 20 and max(rows * columns for rows, columns in asked.shapes) > 2000
    before = len(asked.shapes)
    lm.fit(x)
    assert len(asked.shapes) > before, "another fit without a store asks again"
    before = sum(asked.cells.values())
    new = lm.transform(np.vstack([x[:3], points(6, 8)]))
    assert new.shape[0] == 9 and sum(asked.cells.values()) - before == 6 * 40


def test_single_pairs_come_in_blocks_that_hold_little_else() -> None:
    x, asked = points(300), Recorded()
    lm = Landmark(Blockwise(asked), 10, error_samples=0, diagonal=1.0).fit(x)
    fitted, before = len(asked.shapes), lm.n_calls_
    lm.kneighbors(n_neighbors=5, calls_per_item=20)
    cells = sum(rows * columns for rows, columns in asked.shapes[fitted:])
    calls = lm.n_calls_ - before
    assert calls <= cells <= 1.5 * calls
    assert len(asked.shapes) - fitted < calls / 4


def test_a_store_of_blocks_is_resumed_by_blocks_and_by_pairs(tmp_path: Path) -> None:
    x, asked = points(200), Recorded()
    fails = True

    def flaky(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if fails and len(asked.shapes) > 20:
            raise OSError("gone")
        return asked(rows, columns)

    store = {"store": tmp_path, "identity": "points", "error_samples": 50}
    lm = Landmark(Blockwise(flaky), 15, **store)
    with pytest.raises(OSError, match="gone") as caught:
        lm.fit(x)
    assert "while scoring " in "".join(caught.value.__notes__)
    kept = lm.plan(x).stored
    assert 0 < kept < lm.plan(x).calls_alone
    fails = False
    lm.fit(x)
    assert lm.n_calls_ == lm.call_plan_.calls_alone - kept
    again = Landmark(by_pairs, 15, **store).fit(x)
    assert again.n_calls_ == 0 and again.embedding_.tobytes() == lm.embedding_.tobytes()


def test_an_asymmetric_function_of_blocks_is_asked_in_both_orders(texts: list[str]) -> None:
    def skewed(rows: list[str], columns: list[str]) -> np.ndarray:
        return np.array([[len(a) - 0.5 * len(b) for b in columns] for a in rows])

    lm = Landmark(Blockwise(skewed), 4, order="mean", error_samples=0)
    call_plan = lm.plan(texts)
    lm.fit(texts)
    assert lm.n_calls_ == call_plan.calls
    i = int(lm.component_indices_[0])
    assert lm.similarities(i, 0) == pytest.approx(0.25 * (len(texts[i]) + len(texts[0])))


def test_items_of_any_kind_come_as_lists(score: Counted, texts: list[str]) -> None:
    def overlap(rows: list[str], columns: list[str]) -> list[list[float]]:
        assert isinstance(rows, list) and isinstance(columns, list) and isinstance(rows[0], str)
        return [[score.of(a, b) for b in columns] for a in rows]

    blocks = Landmark(Blockwise(overlap), 10, order="symmetric", error_samples=100).fit(texts)
    pairs = Landmark(score, 10, order="symmetric", error_samples=100).fit(texts)
    assert blocks.embedding_.tobytes() == pairs.embedding_.tobytes() and blocks.n_calls_ == score.calls
    things = [{"text": text} for text in texts]
    by_text = Blockwise(lambda rows, columns: overlap([a["text"] for a in rows], [b["text"] for b in columns]))
    # other contents, other draws
    named = Landmark(by_text, 10, landmarks=pairs.component_indices_, error_samples=100)
    assert named.fit(things).embedding_.tobytes() == pairs.embedding_.tobytes()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows, columns: np.ones((len(columns), len(rows) + 1)), r"a block of \d+ × \d+ was asked for, and the score answered an array of shape"),
        (lambda rows, columns: np.ones(len(rows)), "a function of a list of pairs is handed over as it is, without `Blockwise`"),
        (lambda rows, columns: 1.0, "answered an array of shape"),
        (lambda rows, columns: [["x"]], "one number for each row with each column"),
    ],
)
def test_an_answer_that_is_no_block_is_refused(answer: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Landmark(Blockwise(answer), 5, error_samples=0).fit(points())


def test_what_is_handed_over_in_the_wrong_form_is_told_the_right_one() -> None:
    for score in (rbf_kernel, lambda a, b: 0.0):
        with pytest.raises(TypeError, match="`Blockwise"):
            Landmark(score, 5, error_samples=0).plan(points())
    with pytest.raises(ValueError, match="`Blockwise"):
        Landmark(lambda pairs: np.ones((len(pairs), len(pairs))), 5, error_samples=0).fit(points())
    with pytest.raises(TypeError, match="takes a function of two lists"):
        Blockwise(points())  # type: ignore[arg-type]
    assert repr(Blockwise(rbf_kernel, gamma=0.5)) == "Blockwise(rbf_kernel, gamma=0.5)"


@pytest.mark.parametrize("kept", [False, True])
def test_a_block_with_a_score_that_is_no_number_names_the_items(texts: list[str], kept: bool, tmp_path: Path) -> None:
    def broken(rows: list[str], columns: list[str]) -> np.ndarray:
        return np.array([[np.nan if texts[7] in (a, b) and a != b else 1.0 for b in columns] for a in rows])

    store = {"store": tmp_path, "identity": "broken"} if kept else {}
    with pytest.raises(NotFiniteError) as caught:
        Landmark(Blockwise(broken), landmarks=[7, 1], n_components=2, error_samples=0, **store).fit(texts)
    assert 7 in caught.value.pair and repr(texts[7]) in "".join(caught.value.__notes__)
    assert "the score of the pair" in str(caught.value) and "oracle" not in str(caught.value)


def test_a_known_diagonal_stands_whatever_the_block_says_of_it() -> None:
    def refuses_itself(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        block = of_points(rows[:, None], columns[None])
        block[np.all(rows[:, None] == columns[None], axis=2)] = np.nan
        return block

    x = points()
    lm = Landmark(Blockwise(refuses_itself), 10, order="symmetric", diagonal=1.0, error_samples=0).fit(x)
    assert lm.similarities(3, 3) == 1.0 and lm.n_calls_ == 70 * 10 - 10 * 11 // 2
    with pytest.raises(NotFiniteError, match="`diagonal`"):
        Landmark(Blockwise(refuses_itself), 10, error_samples=0).fit(x)


def test_parameters_move_the_identity_and_none_is_that_of_pairs() -> None:
    x = points()
    fitted = [
        Landmark(score, 3, error_samples=0, identity="kernel").fit(x)._identity_
        for score in (by_pairs, Blockwise(Recorded()), Blockwise(rbf_kernel, gamma=0.1), Blockwise(rbf_kernel, gamma=0.2))
    ]
    assert fitted[0] == fitted[1] and len(set(fitted)) == 3


def test_a_budget_is_spent_to_the_last_call_and_never_passed() -> None:
    x = points(120)
    whole = Landmark(Blockwise(Recorded()), 10, error_samples=0).fit(x)
    with pytest.warns(UserWarning, match="the budget ended"):
        cut = Landmark(Blockwise(Recorded()), 10, error_samples=0, budget=whole.n_calls_ + 77).fit(x)
        cut.kneighbors(n_neighbors=3, calls_per_item=20)
    assert cut.n_calls_ == cut.budget


def test_it_is_nystroem_with_its_landmarks() -> None:
    x = np.random.default_rng(3).normal(size=(600, 5))
    theirs = Nystroem(kernel="rbf", gamma=0.2, n_components=50, random_state=0).fit(x)
    ours = Landmark(Blockwise(rbf_kernel, gamma=0.2), 50, method="nystrom", landmarks=theirs.component_indices_, error_samples=0)
    z, wanted = ours.fit_transform(x), theirs.transform(x)
    # Z up to a rotation: the same K̃ but for rounding, which the inverse of a kernel's small eigenvalues magnifies
    np.testing.assert_allclose(z @ z.T, wanted @ wanted.T, atol=1e-8)
    new = np.random.default_rng(4).normal(size=(7, 5))
    np.testing.assert_allclose(ours.transform(new) @ z.T, theirs.transform(new) @ wanted.T, atol=1e-8)


def test_ctrl_c_in_a_block_is_heard_and_what_was_scored_is_kept(tmp_path: Path) -> None:
    program = f"""
        import tempfile, time
        import numpy as np
        from landmark import Blockwise, Landmark
        x = np.arange(60.0)[:, None]
        def slow(rows, columns):
            time.sleep(0.01 * len(rows) * len(columns))
            return 1.0 / (1.0 + np.abs(rows - columns.T))
        lm = Landmark(Blockwise(slow), 10, store=tempfile.mkdtemp(dir={str(tmp_path)!r}), identity="slow", error_samples=0)
        print("ready", flush=True)
        try:
            lm.fit(x)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            print(lm.plan(x).stored, flush=True)
    """
    said = run_and_interrupt(program, 1.5)
    # all of them would take 5.5 s
    assert said.startswith("interrupted") and 0 < int(said.split()[1]) < 540, said

"""Pairs out, scores in: what is scored elsewhere is checked, and a fit asks for nothing of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landmark import Landmark

TEXTS = [f"{a}{b}{c}" for a in "abc" for b in "defg" for c in "hij"]


def of(a: str, b: str) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b)) + 0.1 * (a < b)


def symmetric(a: str, b: str) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


def lm(folder: Path, order: Any = "symmetric", **settings: Any) -> Landmark:
    return Landmark(n_components=6, store=folder, identity="elsewhere", order=order, error_samples=40, **settings)


@pytest.mark.parametrize("order", ["symmetric", "mean", "max", "min"])
def test_a_fit_of_scores_from_elsewhere_is_that_of_a_function(tmp_path: Path, order: str) -> None:
    f = symmetric if order == "symmetric" else of
    away = lm(tmp_path / "store", order)
    sizes = []
    for batch in away.iter_pairs(TEXTS, batch_size=50):
        away.tell(pickle.loads(pickle.dumps(batch)), [f(a, b) for a, b in batch])
        sizes.append(len(batch))
    assert max(sizes) <= 51 and len(away.pairs(TEXTS)) == 0
    here = lm(tmp_path / "other", order, similarity=lambda pairs: [f(a, b) for a, b in pairs]).fit(TEXTS)
    assert away.fit(TEXTS).n_calls_ == 0 and sum(sizes) == here.n_calls_
    np.testing.assert_array_equal(away.embedding_, here.embedding_)
    assert away.error_ == here.error_


def test_copies_are_scored_once(tmp_path: Path) -> None:
    texts = TEXTS[:10] * 3
    away = lm(tmp_path / "store")
    todo = away.pairs(texts)
    assert len(todo) == len({frozenset(pair) for pair in todo}) <= 10 * 11 // 2
    away.tell(todo, [symmetric(a, b) for a, b in todo])
    assert away.fit(texts).n_calls_ == 0


def test_what_has_no_score_yet_is_an_error_that_names_the_way(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no score yet: give `similarity`, or store"):
        lm(tmp_path / "store").fit(TEXTS)
    with pytest.raises(ValueError, match="give `store` and `identity`"):
        Landmark(symmetric).pairs(TEXTS)


@pytest.mark.parametrize("kind", ["dict", "pandas", "pyarrow", "polars"])
def test_tables_go_out_and_come_back(tmp_path: Path, kind: str) -> None:
    away = lm(tmp_path / "store", "mean")
    todo = away.pairs(TEXTS)
    columns = {"item": todo.pairs[:, 0], "other": todo.pairs[:, 1], "score": np.array([of(a, b) for a, b in todo])}
    table: Any = columns
    if kind == "pyarrow":
        pytest.importorskip("pyarrow")
        out = todo.to_arrow()
        assert out["left"].to_pylist() == [a for a, _ in todo]
        import pyarrow

        table = out.append_column("score", pyarrow.array(columns["score"]))
    elif kind != "dict":
        frames = pytest.importorskip(kind)
        table = frames.DataFrame(columns)
    assert away.put(table, TEXTS) > 0
    assert away.fit(TEXTS).n_calls_ == 0


def test_a_table_of_another_score_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = lm(tmp_path / "store").pairs(TEXTS).to_arrow()
    table = table.append_column("score", pyarrow.array(np.zeros(len(table))))
    other = Landmark(n_components=6, store=tmp_path / "store", identity="another", order="symmetric", error_samples=40)
    with pytest.raises(ValueError, match="of another score"):
        other.put(table, TEXTS)


def test_checks_name_the_pair(tmp_path: Path) -> None:
    away = lm(tmp_path / "store")
    todo = away.pairs(TEXTS)
    scores = np.array([symmetric(a, b) for a, b in todo])
    with pytest.raises(ValueError, match="expected one per pair"):
        away.tell(todo, scores[:-1])
    i, j = todo.pairs[3].tolist()
    wrong = scores.copy()
    wrong[3] = np.nan
    with pytest.raises(ValueError, match=rf"\({i}, {j}\).*it is nan"):
        away.tell(todo, wrong)
    away.tell(todo, scores)
    wrong[3] = scores[3] + 0.5
    with pytest.raises(ValueError, match=rf"\({i}, {j}\).*contradicts.*is stored"):
        away.tell(todo, wrong)
    both = {"item": [0, 1], "other": [1, 0], "score": [0.1, 0.9]}
    with pytest.raises(ValueError, match="contradicts.*is given, too"):
        lm(tmp_path / "new").put(both, TEXTS)
    with pytest.raises(ValueError, match="takes both orders of a pair, and one is missing"):
        lm(tmp_path / "new", "mean").put({"item": [0], "other": [1], "score": [0.1]}, TEXTS)
    with pytest.raises(ValueError, match="expected the columns `item`, `other` and `score`"):
        away.put({"a": [1]}, TEXTS)
    with pytest.raises(IndexError, match="item 99 is out of range"):
        away.put({"item": [0], "other": [99], "score": [0.1]}, TEXTS)


def test_pairs_that_a_table_lacks_are_told(tmp_path: Path) -> None:
    away = lm(tmp_path / "store")
    todo = away.pairs(TEXTS)
    with pytest.warns(UserWarning, match=f"{len(todo) - 2} pairs of the fit are still missing"):
        away.put({"item": todo.pairs[:2, 0], "other": todo.pairs[:2, 1], "score": [symmetric(a, b) for a, b in list(todo)[:2]]}, TEXTS)

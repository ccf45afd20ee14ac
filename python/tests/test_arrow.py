"""Arrow columns and tables in and out, by the PyCapsule protocol and whichever library is available."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Counted, matrix

from landmark import FrequentDirections, Landmark, Wmd, wmd_matrix
from landmark._native import arrow_items, arrow_table

SETTINGS = {"n_components": 8, "error_samples": 0}


class Lent:
    """A table as another library would lend it."""

    def __init__(self, **columns: np.ndarray) -> None:
        self.columns = columns

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return arrow_table(list(self.columns), list(self.columns.values()))


def test_what_goes_out_comes_back_in() -> None:
    rng = np.random.default_rng(3)
    table = Lent(a=rng.normal(size=50), b=np.arange(50), c=np.linspace(0, 1, 50))
    found = arrow_items(table)
    assert found.dtype == np.float64 and found.shape == (50, 3)
    for place, column in enumerate(table.columns.values()):
        np.testing.assert_array_equal(found[:, place], column)
    np.testing.assert_array_equal(arrow_items(Lent(said=np.array([True, False, True]))), [[1], [0], [1]])
    with pytest.raises(ValueError, match="must have the same length|same length"):
        arrow_table(["a", "b"], [np.ones(2), np.ones(3)])


def test_rows_of_a_table_are_items_proxies_and_matrices() -> None:
    k = matrix(40)
    names = [f"to_{place}" for place in range(40)]
    table = Lent(**dict(zip(names, np.ascontiguousarray(k.T))))
    ours = Landmark(metric="precomputed", **SETTINGS).fit(table)
    np.testing.assert_array_equal(ours.embedding_, Landmark(metric="precomputed", **SETTINGS).fit(k).embedding_)
    np.testing.assert_array_equal(ours.transform(table), ours.transform(k))

    def dot(pairs: list[tuple[np.ndarray, np.ndarray]]) -> list[float]:
        return [float(a @ b) for a, b in pairs]

    lm = Landmark(dot, proxy=table, **SETTINGS).fit(table)
    plain = Landmark(dot, proxy=k, **SETTINGS).fit(k)
    np.testing.assert_array_equal(lm.embedding_, plain.embedding_)
    sketch = FrequentDirections(3, rows=6).partial_fit(table).partial_fit(table)
    assert sketch.bound_["rows"] == 80


def test_lists_and_pairs_are_tables(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=20, error_samples=0).fit(texts)
    similarities, items = lm.kneighbors(n_neighbors=4)
    rows = arrow_items(lm.neighbors_)
    assert rows.shape == (60 * 4, 5)
    np.testing.assert_array_equal(rows[:, 0], np.repeat(np.arange(60), 4))
    np.testing.assert_array_equal(rows[:, 1], np.tile(np.arange(4), 60))
    np.testing.assert_array_equal(rows[:, 2], items.ravel())
    np.testing.assert_array_equal(rows[:, 3], similarities.ravel())
    np.testing.assert_array_equal(rows[:, 4], lm.neighbors_exact_.ravel())
    pairs = lm.mine(0.9)
    assert len(pairs) > 0
    rows = arrow_items(pairs)
    np.testing.assert_array_equal(rows, np.column_stack([pairs.items, pairs.scores, pairs.exact]))


def columns_of_texts(texts: list[str]) -> dict[str, Any]:
    """The texts in every form that the available libraries have."""
    found: dict[str, Any] = {}
    try:
        import nanoarrow

        found["nanoarrow"] = nanoarrow.Array(texts, nanoarrow.string())
    except ImportError:
        pass
    try:
        import pyarrow

        column = pyarrow.array(texts)
        found["pyarrow"] = column
        found["pyarrow, chunked"] = pyarrow.chunked_array([column[:20], column[20:33], column[33:]])
        found["pyarrow, large"] = column.cast(pyarrow.large_string())
        found["pyarrow, view"] = column.cast(pyarrow.string_view())
        found["pyarrow, dictionary"] = column.dictionary_encode()
        found["pyarrow, table"] = pyarrow.table({"text": column})
    except ImportError:
        pass
    try:
        import polars

        found["polars"] = polars.Series(texts)
        found["polars, categories"] = polars.Series(texts, dtype=polars.Categorical)
        found["polars, frame"] = polars.DataFrame({"text": texts})
    except ImportError:
        pass
    try:
        import pandas

        found["pandas"] = pandas.Series(texts)
    except ImportError:
        pass
    return found


def test_a_column_of_texts_is_a_list_of_texts(score: Counted, texts: list[str], tmp_path) -> None:
    columns = columns_of_texts(texts)
    if not columns:
        pytest.skip("neither nanoarrow, pyarrow, polars nor pandas is installed")
    lm = Landmark(score, store=tmp_path, identity="texts", **SETTINGS).fit(texts)
    for name, column in columns.items():
        again = Landmark(score, store=tmp_path, identity="texts", **SETTINGS)
        assert again.plan(column).calls == 0, name
        np.testing.assert_array_equal(again.fit(column).embedding_, lm.embedding_, err_msg=name)
        assert again.n_calls_ == 0, name
        np.testing.assert_array_equal(again.transform(column), lm.embedding_, err_msg=name)


def test_nulls_and_columns_that_are_no_items_are_refused_by_name(score: Counted) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    lm = Landmark(score, n_components=1, error_samples=0)
    with pytest.raises(ValueError, match="row 3 is null"):
        lm.fit(pyarrow.chunked_array([["a", "b"], ["c", None]]))
    with pytest.raises(TypeError, match="column `text` of 2 has Utf8"):
        lm.fit(pyarrow.table({"text": ["a", "b"], "number": [1, 2]}))
    with pytest.raises(TypeError, match="Timestamp"):
        lm.fit(pyarrow.array([0, 1], pyarrow.timestamp("s")))
    with pytest.raises(ValueError, match="row 2 has 1 numbers, and those before it have 2"):
        arrow_items(pyarrow.chunked_array([[[1.0, 2.0], [3.0, 4.0]], [[5.0]]]))
    with pytest.raises(ValueError, match="row 1 has a null in it"):
        arrow_items(pyarrow.array([[1.0], [None]]))
    assert score.calls == 0


def test_embeddings_are_columns_of_lists(score: Counted, texts: list[str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    vectors = np.random.default_rng(1).normal(size=(60, 5)).astype(np.float32)
    wanted = Landmark(score, proxy=vectors, **SETTINGS).fit(texts)
    rows = pyarrow.array(vectors.tolist(), pyarrow.list_(pyarrow.float32()))
    fixed = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), 5)
    for column in (rows, fixed, fixed[:], pyarrow.chunked_array([rows[:7], rows[7:]])):
        ours = Landmark(score, proxy=column, **SETTINGS).fit(texts)
        np.testing.assert_array_equal(ours.embedding_, wanted.embedding_)
        np.testing.assert_array_equal(ours.transform(["new"], proxy=column[:1]), wanted.transform(["new"], proxy=vectors[:1]))
    np.testing.assert_array_equal(arrow_items(fixed[10:20]), vectors[10:20])
    words = pyarrow.array(["cat", "dog"])
    told = wmd_matrix(pyarrow.array(["a cat", "the dog"]), words, pyarrow.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(told, [[0, 5], [5, 0]])
    assert len(Wmd(words, np.zeros((2, 2))).words) == 2


def test_frames_are_made_of_what_was_found(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=20, error_samples=0).fit(texts)
    lm.kneighbors(n_neighbors=3)
    pairs = lm.mine(0.9)
    made = 0
    try:
        import polars

        frame = polars.DataFrame(pairs)
        assert frame.columns == ["item", "other", "similarity", "exact"] and frame["exact"].to_list() == pairs.exact.tolist()
        assert polars.DataFrame(lm.neighbors_).height == 180
        z = Landmark(score, **SETTINGS).set_output(transform="polars").fit_transform(texts)
        assert isinstance(z, polars.DataFrame) and z.columns[0] == "landmark0"
        made += 1
    except ImportError:
        pass
    try:
        import pyarrow

        table = pyarrow.table(pairs)
        assert table["similarity"].to_pylist() == pairs.scores.tolist() and pyarrow.table(lm.neighbors_).num_rows == 180
        made += 1
    except ImportError:
        pass
    if not made:
        pytest.skip("neither polars nor pyarrow is installed")


def test_numbers_of_a_frame_keep_their_names() -> None:
    polars = pytest.importorskip("polars")

    def near(pairs: list[tuple[np.ndarray, np.ndarray]]) -> list[float]:
        return [float(np.exp(-np.sum((np.asarray(a) - np.asarray(b)) ** 2))) for a, b in pairs]

    x = np.random.default_rng(2).normal(size=(30, 2))
    frame = polars.DataFrame({"left": x[:, 0], "right": x[:, 1]})
    lm = Landmark(near, **SETTINGS).fit(frame)
    assert lm.feature_names_in_.tolist() == ["left", "right"]
    np.testing.assert_array_equal(lm.embedding_, Landmark(near, **SETTINGS).fit(x).embedding_)

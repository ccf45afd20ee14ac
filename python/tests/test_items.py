"""Items in whatever they come: iterators are read once and whole, ids are items, what is missing is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SETTINGS, TEXTS, overlap

from landmark import (
    Blockwise,
    FrequentDirections,
    Landmark,
    LinearSvm,
    Program,
    StructuredFeatures,
    TreeKernel,
    VectorKernel,
    Wmd,
    average_linkage,
    coreference_scores,
    emd,
    ranking_scores,
    wmd_matrix,
)
from landmark._items import plain

def once(items: Iterable[Any]) -> list[Any]:
    """The same items as everything that can be read once."""
    return [(item for item in items), iter(list(items)), map(lambda item: item, items), dict.fromkeys(map(_hashable, items)).keys()]


def _hashable(item: Any) -> Any:
    return tuple(item) if isinstance(item, (list, np.ndarray)) else item


@pytest.mark.parametrize("kind", range(4))
def test_iterators_keep_their_first_item(kind: int) -> None:
    whole = Landmark(overlap, **SETTINGS).fit(TEXTS)
    lm = Landmark(overlap, **SETTINGS).fit(once(TEXTS)[kind])
    assert lm.embedding_.tobytes() == whole.embedding_.tobytes() and len(lm.embedding_) == 30
    assert np.array_equal(lm.transform(once(TEXTS[:4])[kind]), whole.embedding_[:4])
    assert lm.plan(once(TEXTS)[kind]).items == 30
    assert lm.plan_kneighbors(once(TEXTS)[kind], 3) == lm.plan_kneighbors(TEXTS, 3)


def test_an_open_file_is_the_list_of_its_lines(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS) + "\n")
    with open(tmp_path / "lines.txt") as lines:
        lm = Landmark(overlap, **SETTINGS).fit(lines)
    assert lm._items == [f"{text}\n" for text in TEXTS]


def test_tiles_and_loads_read_iterators(tmp_path: Path) -> None:
    lm = Landmark(overlap, store=tmp_path / "store", identity="overlap", **SETTINGS)
    assert [len(tile.items) for tile in lm.tiles(iter(TEXTS))] == [30]
    lm.fit(TEXTS).save(tmp_path / "factors")
    assert len(Landmark.load(tmp_path / "factors", overlap, iter(TEXTS))._items) == 30


def test_rows_may_come_from_an_iterator() -> None:
    x = np.random.default_rng(0).normal(size=(20, 3))
    y = np.arange(20) % 2
    lm = Landmark(VectorKernel(), 5, error_samples=0)
    assert lm.fit(iter(x)).embedding_.tobytes() == lm.fit(x).embedding_.tobytes()
    k = x @ x.T
    pre = Landmark(metric="precomputed", n_components=3, error_samples=0)
    assert np.array_equal(pre.fit(iter(k)).row(0), pre.fit(k).row(0))
    assert np.array_equal(StructuredFeatures(n_components=4).fit(iter(x)).transform(iter(x)), StructuredFeatures(n_components=4).fit_transform(x))
    sketch = FrequentDirections(2, rows=4).fit(iter(x))
    assert sketch.bound_["rows"] == 20
    machine = LinearSvm().fit(iter(x), iter(y))
    assert np.array_equal(machine.predict(iter(x)), LinearSvm().fit(x, y).predict(x))
    assert np.array_equal(average_linkage(iter(x), 0.5), average_linkage(x, 0.5))


def test_scores_of_texts_read_iterators() -> None:
    words = {"cat": [0.0, 0.0], "dog": [3.0, 4.0]}
    assert wmd_matrix(iter(["cat", "dog"]), words)[0, 1] == 5.0
    assert Wmd(iter(words), iter(words.values())).oracle(iter(["cat", "dog"])).block(np.array([0]), np.array([1]))[0, 0] == 5.0
    trees = ["(A (B b))", "(A (C c))", "(A (B b))"]
    assert len(TreeKernel().oracle(iter(trees))) == 3
    assert emd(iter([0.5, 0.5]), iter([0.5, 0.5]), iter([[0.0, 1.0], [1.0, 0.0]])) == 0.0
    assert coreference_scores(iter([0, 0, 1]), iter([0, 0, 1]))["muc"]["f1"] == 1.0
    assert ranking_scores(iter([iter([(1.0, True, True), (0.5, False, False)])]))["map"] == 1.0


def test_what_is_read_more_than_once_is_no_iterator() -> None:
    for settings in ({"proxy": iter(np.eye(30))}, {"landmarks": iter([1, 2])}):
        with pytest.raises(TypeError, match="cannot use an iterator"):
            Landmark(overlap, **{**SETTINGS, **settings}).fit(TEXTS)


@pytest.mark.parametrize("ids", [range(20), list(range(20)), np.arange(20), np.arange(20, dtype=np.uint8)])
def test_ids_are_items(ids: Any) -> None:
    seen: set[type] = set()

    def score(pairs: list[tuple[int, int]]) -> list[float]:
        seen.update(type(item) for pair in pairs for item in pair)
        return [1.0 / (1 + abs(a - b)) for a, b in pairs]

    lm = Landmark(score, **SETTINGS).fit(ids)
    assert seen == {int} and lm.similarities(int(lm.component_indices_[0]), 3) == 1.0 / (1 + abs(lm.component_indices_[0] - 3))
    same = Landmark(score, **SETTINGS).fit(list(range(20)))
    assert same.embedding_.tobytes() == lm.embedding_.tobytes()


def test_arrays_of_their_own_shapes_are_items() -> None:
    rng = np.random.default_rng(1)
    tokens = [rng.normal(size=(2 + i % 5, 3)) for i in range(20)]

    def late_interaction(pairs: list[tuple[Any, Any]]) -> list[float]:
        return [float((a @ b.T).max(axis=1).mean() + (b @ a.T).max(axis=1).mean()) for a, b in pairs]

    lm = Landmark(late_interaction, **SETTINGS).fit(tokens)
    i = int(lm.component_indices_[0])
    assert lm.similarities(i, 4) == pytest.approx(late_interaction([(tokens[i], tokens[4])])[0])
    images = rng.normal(size=(12, 4, 4))
    assert Landmark(lambda pairs: [float((a * b).sum()) for a, b in pairs], **SETTINGS).fit(images).row(0).shape == (12,)


def test_items_that_are_none_say_what_is_wrong() -> None:
    lm = Landmark(overlap, **SETTINGS)
    for items, message in (
        (["a", None, "b"], "item 1 is missing"),
        ([None, "a", "b"], "item 0 is missing"),
        (["a", float("nan")], "item 1 is missing"),
        ([], "0 sample"),
        (iter([]), "0 sample"),
        (np.linspace(0, 1, 9), "reshape"),
    ):
        with pytest.raises(ValueError, match=message):
            lm.fit(items)
    with pytest.raises(TypeError, match="wrap it in a list"):
        lm.fit("one text")
    for score in (TreeKernel(), Wmd({"cat": [0.0]}), Program(["cat"])):
        with pytest.raises(TypeError, match=r"scores texts, and item 0 is 0"):
            Landmark(score, **SETTINGS).fit(range(5))


def test_a_frame_of_one_column_of_texts_is_a_list_of_texts() -> None:
    pandas = pytest.importorskip("pandas")
    whole = Landmark(overlap, **SETTINGS).fit(TEXTS).embedding_
    for items in (pandas.DataFrame({"text": TEXTS}), pandas.Series(TEXTS), pandas.DataFrame({"text": TEXTS})["text"]):
        assert Landmark(overlap, **SETTINGS).fit(items).embedding_.tobytes() == whole.tobytes()
    ids = Landmark(lambda pairs: [1.0 / (1 + abs(a - b)) for a, b in pairs], **SETTINGS).fit(pandas.Series(range(9)))
    assert ids.row(0).shape == (9,)


def test_plain_leaves_arrays_lists_and_sparse_ones_alone() -> None:
    from scipy.sparse import csr_matrix

    for items in (TEXTS, np.eye(3), csr_matrix(np.eye(3)), (1, 2), range(4)):
        assert plain(items) is items
    assert plain({"a", "b"}) in (["a", "b"], ["b", "a"])
    assert Blockwise(lambda a, b: np.ones((len(a), len(b))))([1], [2]).shape == (1, 1)

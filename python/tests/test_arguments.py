"""Numbers that are none, masks, texts in the place of scores, contradictions: each is an error that names itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SETTINGS, TEXTS, matrix, overlap

from landmark import (
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
)

NAN = float("nan")
@pytest.fixture(scope="module")
def lm() -> Landmark:
    return Landmark(overlap, **SETTINGS).fit(TEXTS)


def test_a_boolean_mask_selects_as_in_numpy(lm: Landmark) -> None:
    mask = np.arange(30) % 7 == 0
    places = np.flatnonzero(mask)
    for rows in (mask, mask.tolist()):
        assert np.array_equal(lm.similarities(rows, mask), lm.similarities(places, places))
    assert np.array_equal(lm.similarities([-1], range(30)), lm.similarities([29], np.arange(30)))
    assert lm.similarities([], mask).shape == (0, 5)
    for wrong, error in (
        (mask[:9], IndexError),
        ([True, 2], TypeError),
        ([0.0, 1.0], TypeError),
        (["1"], TypeError),
        ([30], IndexError),
        ([-31], IndexError),
        ([[0, 1]], ValueError),
    ):
        with pytest.raises(error):
            lm.similarities(wrong, [0])
    for wrong in (True, 1.0, "1", np.bool_(True)):
        with pytest.raises((TypeError, ValueError), match="whole number"):
            lm.similarities(wrong, 0)
        with pytest.raises((TypeError, ValueError), match="whole number"):
            lm.row(wrong)
    with pytest.raises(TypeError, match="flatnonzero"):
        Landmark(overlap, 4, landmarks=mask).fit(TEXTS)


WRONG: dict[str, list[dict[str, Any]]] = {
    "kneighbors": [
        {"n_neighbors": 0},
        {"n_neighbors": True},
        {"n_neighbors": 2.0},
        {"n_neighbors": 3, "calls_per_item": 0},
        {"n_neighbors": 3, "calls_per_item": NAN},
        {"n_neighbors": 3, "target_recall": NAN},
        {"n_neighbors": 3, "target_recall": 0.9, "delta": NAN},
        {"n_neighbors": 3, "calls_per_item": 5, "share": NAN},
        {"n_neighbors": 3, "calls_per_item": 5, "rounds": 0},
        {"n_neighbors": 3, "target_recall": 0.9, "audit_rows": 0},
    ],
    "mine": [
        {"threshold": NAN},
        {"threshold": "0.5"},
        {"threshold": True},
        {"threshold": None},
        {"threshold": 0.5, "target_recall": NAN},
        {"threshold": 0.5, "target_recall": 0.9, "delta": NAN},
        {"threshold": 0.5, "max_pairs": 1.5},
        {"threshold": 0.5, "max_pairs": -1},
        {"threshold": 0.5, "budget": NAN},
    ],
    "plan_mine": [{"threshold": NAN}, {"threshold": 0.5, "target_recall": 1.0}, {"threshold": 0.5, "target_recall": 0.5, "delta": 0.0}],
    "plan_kneighbors": [{"n_neighbors": 0}, {"n_neighbors": 3, "calls_per_item": NAN}, {"n_neighbors": 3, "target_recall": NAN}],
}


@pytest.mark.parametrize(("method", "arguments"), [(method, one) for method, all_of in WRONG.items() for one in all_of])
def test_searches_refuse_numbers_that_are_none(lm: Landmark, method: str, arguments: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="cannot use .* as `"):
        getattr(lm, method)(**arguments)


def test_an_infinite_threshold_is_one(lm: Landmark) -> None:
    assert len(lm.mine(float("inf"))) == 0 and len(lm.mine(float("-inf"))) == 30 * 29 // 2


@pytest.mark.parametrize(
    "settings",
    [
        {"n_components": True},
        {"n_components": 2.0},
        {"budget": -1},
        {"budget": NAN},
        {"budget": 10.5},
        {"diagonal": NAN},
        {"diagonal": "1.0"},
        {"gamma": NAN},
        {"gamma": True},
        {"error_samples": NAN},
        {"error_samples": -1},
        {"error_samples": 2.7},
        {"confidence": NAN},
        {"confidence": 1.0},
        {"concurrency": 0},
    ],
)
def test_settings_refuse_numbers_that_are_none(settings: dict[str, Any]) -> None:
    for change in (lambda lm: lm.plan(TEXTS), lambda lm: lm.fit(TEXTS)):
        with pytest.raises((ValueError, TypeError), match="cannot use .* as `"):
            change(Landmark(_of_two if "concurrency" in settings else overlap, **{**SETTINGS, **settings}))


async def _of_two(a: str, b: str) -> float:
    return overlap([(a, b)])[0]


X = np.random.default_rng(0).normal(size=(20, 3))
CALLS: list[Callable[[], Any]] = [
    lambda: average_linkage(X, NAN),
    lambda: average_linkage(X, "0.5"),  # type: ignore[arg-type]
    lambda: LinearSvm(C=NAN).fit(X, np.arange(20) % 2),
    lambda: LinearSvm(max_iter=0).fit(X, np.arange(20) % 2),
    lambda: LinearSvm(class_weight={0: NAN}).fit(X, np.arange(20) % 2),
    lambda: StructuredFeatures(sigma=NAN).fit(X),
    lambda: StructuredFeatures(n_components=True).fit(X),
    lambda: FrequentDirections(10, rows=5).fit(X),
    lambda: FrequentDirections(NAN).fit(X),  # type: ignore[arg-type]
    lambda: Wmd({"cat": [0.0]}, empty=NAN),
    lambda: Program(["cat"], failed=NAN).oracle(["a"]),
    lambda: VectorKernel(gamma=NAN).oracle(X),
    lambda: VectorKernel("polynomial", degree=2.5).oracle(X),  # type: ignore[arg-type]
    lambda: ranking_scores([[(NAN, True, True)]]),
    lambda: ranking_scores([[("0.5", True, True)]]),  # type: ignore[list-item]
    lambda: ranking_scores([[(0.5, "False", True)]]),  # type: ignore[list-item]
    lambda: Landmark(overlap, store="x", identity="y", order="symmetric").tiles(TEXTS, calls=NAN),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call", CALLS)
def test_the_other_functions_refuse_them_too(call: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="cannot use .* as `"):
        call()


def test_labels_that_are_nan_and_costs_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="mention 1 is NaN"):
        coreference_scores([0.0, NAN], [0.0, 1.0])
    for costs in ([[NAN]], [[float("inf")]]):
        with pytest.raises(ValueError, match="want a finite number"):
            emd([1.0], [1.0], costs)


def test_clusters_are_of_a_symmetric_matrix_and_of_signs() -> None:
    k = matrix(12)
    k[3, 7] += 0.1
    with pytest.raises(ValueError, match=r"not symmetric: it has .* at \(3, 7\).*matrix.T"):
        average_linkage(k, 0.5, linkage="average")
    k[3, 7] -= 0.1
    k[3, 7] += 1e-14
    average_linkage(k, 0.5, linkage="average")
    for sign in (2.0, 0.0, 0.5, NAN):
        with pytest.raises(ValueError, match="expected 1 or -1"):
            average_linkage(X, 0.5, signature=[1.0, sign, 1.0])
    with pytest.raises(ValueError, match="leave one of them out"):
        average_linkage(k, 0.5, linkage="average", signature=np.ones(12))


@pytest.mark.parametrize("bad", [["0.5"], [b"0.5"], [None], [1j], ["0.5", 0.5], np.array(["0.5"]), np.array([0.5, "1"], dtype=object)])
def test_a_text_is_no_score(bad: Any) -> None:
    def score(pairs: list[tuple[str, str]]) -> Any:
        return [bad[k % len(bad)] for k in range(len(pairs))] if isinstance(bad, list) else np.resize(bad, len(pairs))

    with pytest.raises(TypeError, match="answers one number a pair"):
        Landmark(score, **SETTINGS).fit(TEXTS)


def test_truth_values_are_the_scores_0_and_1() -> None:
    from decimal import Decimal

    by_bool = Landmark(lambda pairs: [a[-1] == b[-1] for a, b in pairs], **SETTINGS).fit(TEXTS)
    by_number = Landmark(lambda pairs: [float(a[-1] == b[-1]) for a, b in pairs], **SETTINGS).fit(TEXTS)
    by_decimal = Landmark(lambda pairs: [Decimal(int(a[-1] == b[-1])) for a, b in pairs], **SETTINGS).fit(TEXTS)
    assert by_bool.embedding_.tobytes() == by_number.embedding_.tobytes() == by_decimal.embedding_.tobytes()


def distance(pairs: list[tuple[str, str]]) -> list[float]:
    assert all(a != b for a, b in pairs)
    return [1.0 - one for one in overlap(pairs)]


@pytest.mark.parametrize("order", ["symmetric", "mean"])
def test_a_diagonal_is_a_similarity_with_gamma_too(order: str) -> None:
    # copies are pairs of an item with itself
    texts = [*TEXTS, *TEXTS[:5]]
    lm = Landmark(distance, 10, gamma=2.0, diagonal=1.0, order=order, error_samples=20).fit(texts)
    assert lm.similarities(5, 5) == 1.0 and lm._factors.diagonal == 1.0
    i = int(lm.component_indices_[0])
    assert lm.similarities(i, i) == 1.0
    other = next(j for j in range(30) if TEXTS[j] != texts[i])
    assert lm.similarities(i, other) == pytest.approx(np.exp(-2.0 * distance([(texts[i], texts[other])])[0]))
    copy = next((j for j in range(35) if j != i and texts[j] == texts[i]), None)
    assert copy is None or lm.similarities(i, copy) == 1.0
    found, items = lm.kneighbors(n_neighbors=3, calls_per_item=20)
    is_copy = np.array([[texts[i] == texts[j] for j in row] for i, row in enumerate(items)])
    assert np.all(found[is_copy & lm.neighbors_exact_] == 1.0) and (is_copy & lm.neighbors_exact_).any()


@pytest.mark.parametrize("diagonal", [0.0, -1.0, 1.5, float("inf")])
def test_a_self_similarity_that_gamma_rules_out_is_refused(diagonal: float) -> None:
    lm = Landmark(distance, 4, gamma=2.0, diagonal=diagonal, order="symmetric")
    for read in (lm.plan, lm.fit):
        with pytest.raises(ValueError, match="cannot use .* as `diagonal`"):
            read(TEXTS)


def test_a_self_similarity_that_the_score_contradicts_is_refused() -> None:
    lm = Landmark(TreeKernel("sst"), 2, diagonal=0.5, error_samples=0)
    trees = ["(S (NP they) (VP laughed))", "(S (NP they) (VP cried))", "(S (NP we) (VP (V saw) (NP them)))"]
    with pytest.raises(ValueError, match="self-similarity of TreeKernel.* is 1"):
        lm.fit(trees)
    assert lm.set_params(diagonal=1.0).fit(trees).similarities(0, 0) == 1.0


def test_a_diagonal_with_gamma_keeps_the_name_of_its_store() -> None:
    def one(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0 for _ in pairs]

    lm = Landmark(one, 2, identity="v1", error_samples=0, diagonal=1.0, gamma=0.5, order="symmetric").fit(["a", "b", "c"])
    # that of the same score without gamma: one store serves any gamma
    assert lm._identity_ == "3d29854f081dc7bde078f37195f7222635d8b2302bb6e882c911263633cb9449"


def test_messages_speak_of_python() -> None:
    with pytest.raises(ValueError, match="without `rank` and `nonzeros`: give a mapping"):
        StructuredFeatures(family="low_displacement").fit(X)
    with pytest.raises(ValueError, match="without `order`"):
        StructuredFeatures("arc_cosine").fit(X)
    with pytest.raises(ValueError) as caught:
        Wmd({"cat": [0.0]}).oracle(["cat", "whale"])
    assert "`empty`" in str(caught.value) and "oracle." not in str(caught.value)
    with pytest.raises(ValueError) as caught:
        Landmark(overlap, 3, method={"id": "sms_nystrom", "alfa": 1}).fit(TEXTS)
    assert "alfa" in str(caught.value) and " column " not in str(caught.value)
    with pytest.raises(ValueError) as caught:
        Landmark(overlap, 3, scattered={"collumns": 0.5}).fit(TEXTS)
    assert "collumns" in str(caught.value) and " column " not in str(caught.value)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_emd_holds_at_both_ends_of_the_range(size: float) -> None:
    costs = np.array([[1.0, 4.0, 2.5], [3.0, 1.5, 0.5]])
    a, b = [0.6, 0.4], [0.1, 0.5, 0.4]
    plain, flow = emd(a, b, costs, flow=True)
    far, same = emd(a, b, costs * size, flow=True)
    assert far / size == pytest.approx(plain, rel=1e-12) and emd(a, b, costs * size) == far
    np.testing.assert_array_equal(flow, same)


def test_found_pairs_can_be_sliced() -> None:
    k = matrix(40)
    pairs = Landmark(metric="precomputed", n_components=40, error_samples=0).fit(k).mine(0.3)
    assert pairs[0] == next(iter(pairs)) and pairs[-1] == list(pairs)[-1]
    assert list(pairs[:10]) == list(pairs)[:10] and pairs[:10].n_items == 40
    with pytest.raises(IndexError):
        pairs[len(pairs)]

"""The estimator: planned calls, factors, neighbors, files."""

from __future__ import annotations

import json
import pickle
import re
import warnings

import numpy as np
import pytest
from conftest import Counted, matrix, truth
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import clone

import landmark
from landmark import BudgetExhausted, Landmark


def test_the_call_plan_is_what_is_called_and_a_second_fit_calls_nothing(score: Counted, texts: list[str], tmp_path) -> None:
    lm = Landmark(score, n_components=10, order="symmetric", store=tmp_path / "store", identity="test", error_samples=50)
    call_plan = lm.plan(texts)
    assert score.calls == 0 and call_plan.is_exact and call_plan.n_components == 10
    n, s = len(texts), 10
    assert call_plan.calls_alone - call_plan.calls_of_the_estimate == n * s - s * (s - 1) // 2
    lm.fit(texts)
    assert score.calls == call_plan.calls == lm.n_calls_
    assert max(score.asked.values()) == 1, "no pair twice"
    again = Landmark(score, n_components=8, store=tmp_path / "store", identity="test", method="sicur", error_samples=0)
    assert again.plan(texts).stored > 0
    lm2 = clone(lm).fit(texts)
    assert lm2.n_calls_ == 0 and score.calls == call_plan.calls
    np.testing.assert_array_equal(lm2.embedding_, lm.embedding_)


def test_what_was_evaluated_is_exact_and_the_error_is_that_of_what_is_read(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=15, error_samples=2000).fit(texts)
    k, read = truth(score, texts), lm.similarities(range(len(texts)), range(len(texts)))
    np.testing.assert_allclose(read[:, lm.component_indices_], k[:, lm.component_indices_], atol=1e-12)
    np.testing.assert_allclose(read, read.T, atol=1e-12)
    np.testing.assert_allclose(lm.row(3), read[3], atol=1e-14)
    assert lm.similarities(3, 14) == pytest.approx(read[3, 14], abs=1e-12)
    exact = np.linalg.norm(k - read) / np.linalg.norm(k)
    low, high = lm.error_interval_
    # all pairs were drawn: the interval is a point
    assert low - 1e-12 <= exact <= high + 1e-12 and lm.error_ == pytest.approx(exact, rel=0.2)
    assert Landmark(score, n_components=len(texts), error_samples=0).fit(texts).row(0) == pytest.approx(k[0])


def test_the_error_of_what_was_evaluated_in_full_is_zero_and_not_unknown(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=len(texts)).fit(texts)
    assert lm.error_ == 0.0 and lm.error_interval_ == (0.0, 0.0)
    assert lm.n_calls_ == score.calls == lm.call_plan_.calls and lm.call_plan_.calls_of_the_estimate == 0
    without = Landmark(score, n_components=len(texts), error_samples=0).fit(texts)
    assert without.error_ is None and without.error_interval_ is None


def test_vectors_are_handed_over_and_not_copied(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=10, error_samples=0)
    z = lm.fit_transform(texts)
    assert z is lm.embedding_ and z.flags.c_contiguous and z.dtype == np.float64
    bare = (z * lm.signature_) @ z.T
    others = np.setdiff1d(np.arange(len(texts)), lm.component_indices_)
    np.testing.assert_allclose(bare[np.ix_(others, others)], lm.similarities(others, others), atol=1e-12)


@pytest.mark.parametrize("method", sorted(landmark.methods()))
def test_every_method_fits_what_its_call_plan_says(method: str) -> None:
    k = matrix()
    asked: list[tuple[int, int]] = []

    def look_up(pairs: list[tuple[int, int]]) -> np.ndarray:
        asked.extend(tuple(sorted(pair)) for pair in pairs)
        return np.array([k[i, j] for i, j in pairs])

    items = [{"item": i} for i in range(len(k))]
    lm = Landmark(lambda pairs: look_up([(a["item"], b["item"]) for a, b in pairs]), 12, order="symmetric", method=method, error_samples=100)
    call_plan = lm.plan(items)
    lm.fit(items)
    assert len(asked) == len(set(asked)) == lm.n_calls_
    assert lm.n_calls_ <= call_plan.calls and (lm.n_calls_ == call_plan.calls or method == "stack" or not call_plan.is_exact)
    assert np.all(np.isfinite(lm.embedding_))


@pytest.mark.parametrize("policy", landmark.landmark_policies())
def test_every_landmark_policy_stays_within_its_call_plan(policy: str) -> None:
    k = matrix()
    chosen = {"id": policy, "indices": list(range(12))} if policy == "given" else policy
    lm = Landmark(metric="precomputed", n_components=12, landmarks=chosen, error_samples=0)
    call_plan = lm.plan(k)
    lm.fit(k)
    assert len(set(lm.component_indices_.tolist())) == 12
    assert lm.n_calls_ <= call_plan.calls and (lm.n_calls_ == call_plan.calls or not call_plan.is_exact)
    own = Landmark(metric="precomputed", n_components=3, landmarks=[7, 1, 5], error_samples=0).fit(k)
    assert own.component_indices_.tolist() == [7, 1, 5]


def test_a_budget_is_never_passed(score: Counted, texts: list[str]) -> None:
    with pytest.warns(UserWarning, match="pays for"):
        lm = Landmark(score, n_components=20, budget=400, error_samples=50).fit(texts)
    assert 0 < score.calls <= 400 and 1 <= lm.n_components_ < 20
    with pytest.raises(BudgetExhausted, match="budget of 10"):
        Landmark(score, n_components=20, budget=10, error_samples=0).fit(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = score.calls
        Landmark(score, n_components=2, budget=150, error_samples=0).fit(texts).kneighbors(n_neighbors=3, calls_per_item=10)
    assert score.calls - before <= 150


def test_a_score_of_one_order_is_asked_in_both(texts: list[str]) -> None:
    asked: list[tuple[str, str]] = []

    def skewed(pairs: list[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [len(a) - 0.5 * len(b) for a, b in pairs]

    lm = Landmark(skewed, n_components=4, order="mean", error_samples=0)
    call_plan = lm.plan(texts)
    lm.fit(texts)
    assert len(asked) == call_plan.calls == lm.n_calls_
    i = int(lm.component_indices_[0])
    assert lm.similarities(i, 0) == pytest.approx(0.25 * (len(texts[i]) + len(texts[0])))


def test_a_known_diagonal_takes_no_call_and_gamma_no_new_one(score: Counted, texts: list[str]) -> None:
    asked: list[tuple[str, str]] = []

    def distance(pairs: list[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [abs(len(a) - len(b)) + 0.1 for a, b in pairs]

    lm = Landmark(distance, n_components=5, diagonal=1.0, gamma=0.5, error_samples=0).fit(texts)
    assert all(a != b for a, b in asked)
    assert lm.similarities(7, 7) == 1.0
    i = int(lm.component_indices_[0])
    assert lm.similarities(i, 9) == pytest.approx(np.exp(-0.5 * (abs(len(texts[i]) - len(texts[9])) + 0.1)))


def test_a_proxy_lowers_the_error_and_new_items_are_embedded_with_it() -> None:
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(90, 6))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    k = 0.2 + 0.8 * cosine**2 + 0.02 * np.outer(unit[:, 0], unit[:, 0])
    items = [str(i) for i in range(90)]

    def score(pairs: list[tuple[str, str]]) -> list[float]:
        return [k[int(a), int(b)] for a, b in pairs]

    fitted = [Landmark(score, 6, proxy=proxy, error_samples=500).fit(items[:80]) for proxy in (None, vectors[:80])]
    assert fitted[1].error_ < 0.5 * fitted[0].error_
    lm = fitted[1]
    before = lm.n_calls_
    z = lm.transform(items[80:], proxy=vectors[80:])
    assert lm.n_calls_ - before == 10 * 6
    estimate = (z * lm.signature_) @ lm.embedding_.T
    assert np.linalg.norm(estimate - k[80:, :80]) < 0.1 * np.linalg.norm(k[80:, :80])
    with pytest.raises(ValueError, match="hand over the embeddings"):
        lm.transform(items[80:])
    np.testing.assert_array_equal(lm.transform(items[:5]), lm.embedding_[:5])


def test_new_items_take_s_calls_each_and_known_ones_none(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=10, error_samples=0).fit(texts)
    before = score.calls
    z = lm.transform([*texts[:3], "new", "newer"])
    assert score.calls - before == 2 * 10
    np.testing.assert_array_equal(z[:3], lm.embedding_[:3])
    rows = np.array([[score.of(text, texts[j]) for j in lm.component_indices_] for text in ("new", "newer")])
    whole = Landmark(metric="precomputed", n_components=10, landmarks=lm.component_indices_, error_samples=0)
    k = truth(score, texts)
    padded = np.zeros((2, len(texts)))
    padded[:, lm.component_indices_] = rows
    np.testing.assert_allclose(z[3:], whole.fit(k).transform(padded), atol=1e-9)


def test_neighbors_of_the_factors_are_those_of_the_rows(score: Counted, texts: list[str]) -> None:
    for settings in ({}, {"known": False}, {"scattered": {"columns": 0.5}}):
        lm = Landmark(score, n_components=12, error_samples=0, **settings).fit(texts)
        found, items = lm.kneighbors(n_neighbors=5)
        for i in range(len(texts)):
            row = lm.row(i)
            row[i] = -np.inf
            best = np.sort(row)[::-1][:5]
            np.testing.assert_allclose(found[i], best, atol=1e-9)
            np.testing.assert_allclose(row[items[i]], best, atol=1e-9)
        assert bool(lm.neighbors_exact_.any()) == (settings != {"known": False})


def test_a_search_makes_the_calls_of_its_call_plan_and_finds_more(score: Counted, texts: list[str]) -> None:
    k = truth(score, texts)
    np.fill_diagonal(k, -np.inf)
    true = [set(np.argsort(-row)[:3].tolist()) for row in k]
    lm = Landmark(score, n_components=4, error_samples=0).fit(texts)
    call_plan = lm.plan_kneighbors(texts, 3, calls_per_item=20)
    assert call_plan == 20 * len(texts)
    fresh = Landmark(score, n_components=4, error_samples=0).fit(texts)
    _, by_factors = fresh.kneighbors(n_neighbors=3)
    before = score.calls
    found, items = lm.kneighbors(n_neighbors=3, calls_per_item=20)
    assert score.calls - before <= call_plan, "columns of the fit are there"
    recall = [np.mean([len(true[i] & set(of[i].tolist())) / 3 for i in range(len(texts))]) for of in (by_factors, items)]
    assert recall[1] > max(recall[0], 0.7)
    assert np.all(np.diff(found, axis=1) <= 1e-12) and found.shape == items.shape == (len(texts), 3)


def test_a_stated_recall_is_kept_and_a_search_that_misses_it_says_so(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=4, error_samples=0).fit(texts)
    lm.kneighbors(n_neighbors=5, target_recall=0.8, delta=0.2)
    assert lm.recall_.is_reached and lm.recall_.lower >= 0.8 and lm.recall_.recall >= lm.recall_.lower
    fresh = Landmark(score, n_components=4, error_samples=0).fit(texts)
    before = score.calls
    with pytest.raises(ValueError, match=r"audited rows alone take \d+ calls") as refused:
        fresh.kneighbors(n_neighbors=5, target_recall=0.95, calls_per_item=2)
    assert score.calls == before
    least = int(re.search(r"at least `calls_per_item=(\d+)`", str(refused.value))[1])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fresh.kneighbors(n_neighbors=5, target_recall=0.95, calls_per_item=least)
    assert score.calls - before <= least * len(texts)
    assert any("not reached" in str(warning.message) for warning in heard) != fresh.recall_.is_reached

    # scores that nothing foretells: the least calls pay for the audit, and the search finds little
    noise = np.random.default_rng(3).random((200, 200))
    drawn = Landmark(
        lambda pairs: [float(noise[min(i, j), max(i, j)]) for i, j in pairs], n_components=4, error_samples=0
    ).fit(list(range(200)))
    with pytest.raises(ValueError, match=r"audited rows alone take \d+ calls") as refused:
        drawn.kneighbors(n_neighbors=5, target_recall=0.9, calls_per_item=2)
    least = int(re.search(r"at least `calls_per_item=(\d+)`", str(refused.value))[1])
    with pytest.warns(UserWarning, match="not reached"):
        drawn.kneighbors(n_neighbors=5, target_recall=0.9, calls_per_item=least)
    assert not drawn.recall_.is_reached


def test_a_search_with_a_recall_stands_on_the_fit_and_keeps_to_its_calls() -> None:
    x = np.random.default_rng(1).standard_normal((300, 6))
    asked: set[tuple[int, int]] = set()

    def score(pairs: list[tuple[int, int]]) -> list[float]:
        asked.update((min(i, j), max(i, j)) for i, j in pairs)
        return [float(x[i] @ x[j]) for i, j in pairs]

    lm = Landmark(score, n_components=60, error_samples=0).fit(list(range(300)))
    for calls_per_item in (100, 120):
        before = lm.n_calls_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, items = lm.kneighbors(n_neighbors=5, target_recall=0.9, calls_per_item=calls_per_item)
        assert lm.n_calls_ - before <= 300 * calls_per_item
        # no list lacks a better neighbor that was evaluated, by the fit or by the search
        for i, of in enumerate(items):
            known = [j for j in range(300) if (min(i, j), max(i, j)) in asked and j != i]
            best = sorted(known, key=lambda j: -(x[i] @ x[j]))[:5]
            assert set(best) <= set(of.tolist()) or len(known) < 5
    # rows of the landmarks come back whole
    for landmark in lm.component_indices_[:60]:
        true = np.argsort(-(x @ x[landmark]) + np.where(np.arange(300) == landmark, np.inf, 0.0))[:5]
        assert set(true.tolist()) == set(items[landmark].tolist())


def clusters() -> np.ndarray:
    """Cosines of twelve clusters of fifteen."""
    rng = np.random.default_rng(8)
    centres = rng.normal(size=(12, 8))
    points = np.repeat(centres, 15, axis=0) + 0.15 * rng.normal(size=(180, 8))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    return unit @ unit.T


def test_mined_pairs_are_true_and_say_how_many() -> None:
    k = clusters()
    items = [str(i) for i in range(180)]
    lm = Landmark(lambda pairs: [k[int(a), int(b)] for a, b in pairs], 40, error_samples=0).fit(items)
    mined = lm.mine(0.9, target_recall=0.8, delta=0.2)
    true = {(i, j) for i, j in zip(*np.nonzero(k >= 0.9)) if i < j}
    found = {(i, j) for _, i, j in mined}
    assert found <= true and mined.exact.all()
    assert len(found) == len(mined) and mined.recall is not None and mined.recall.is_reached and mined.recall.lower >= 0.8
    assert len(found) >= 0.8 * len(true)
    assert [score for score, _, _ in mined] == sorted(mined.scores.tolist(), reverse=True)
    free = lm.mine(0.9)
    assert free.calls == 0 and {(i, j) for _, i, j in free if k[i, j] >= 0.9} >= found - true or len(free) > 0
    groups = mined.groups()
    assert len(set(groups.tolist())) < 180 and len(mined.keep()) == len(set(groups.tolist()))
    # nothing is asked of the landmarks, nor of the method
    for settings in ({"landmarks": "farthest"}, {"method": "stack"}):
        other = Landmark(metric="precomputed", n_components=20, error_samples=0, **settings).fit(k).mine(0.9, target_recall=0.8)
        assert other.recall is not None and other.recall.is_reached and len(other) >= 0.8 * len(true)


def grouped() -> NDArray[np.float64]:
    """60 items in groups of one to six; factors see each group with an error of its own, and a third of the groups not at all."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(17), [1 + at % 6 for at in range(17)])[:60]
    n = len(group)
    noise = rng.uniform(0, 0.2, (n, n))
    k = (noise + noise.T) / 2
    return np.where(group[:, None] == group[None, :], 0.6 + k, k) + np.eye(n) * 0.2


def test_a_guaranteed_recall_of_groups_of_pairs_is_wrong_in_no_more_draws_than_stated() -> None:
    k = grouped()
    count = np.count_nonzero(np.triu(k >= 0.6, 1))
    wrong, draws = 0, 200
    for seed in range(draws):
        lm = Landmark(metric="precomputed", n_components=5, error_samples=0, random_state=seed).fit(k)
        mined = lm.mine(0.6, target_recall=0.9, delta=0.1)
        assert mined.recall is not None
        wrong += len(mined) < mined.recall.lower * count
    assert wrong <= draws * (0.1 + 3 * (0.1 * 0.9 / draws) ** 0.5)


def test_a_budget_ends_a_search_for_pairs_with_what_was_found_and_a_larger_one_continues_from_there(tmp_path) -> None:
    k = clusters()
    items = [str(i) for i in range(180)]
    asked: list[frozenset[str]] = []

    def score(pairs: list[tuple[str, str]]) -> list[float]:
        asked.extend(frozenset(pair) for pair in pairs)
        return [k[int(a), int(b)] for a, b in pairs]

    def opened() -> Landmark:
        settings = {"order": "symmetric", "diagonal": 1.0, "identity": "clusters", "store": tmp_path / "store"}
        return Landmark(score, 20, error_samples=0, random_state=3, **settings).fit(items)

    true = {(i, j) for i, j in zip(*np.nonzero(k >= 0.9)) if i < j}
    whole = Landmark(lambda pairs: [k[int(a), int(b)] for a, b in pairs], 20, error_samples=0, diagonal=1.0, random_state=3).fit(items)
    least = whole.plan_mine(0.9, target_recall=0.95)
    every = whole.mine(0.9, target_recall=0.95)
    assert 0 < least <= every.calls and whole.plan_mine(0.9, target_recall=0.95) == 0, "what was scored is kept"
    lm, spent, listed = opened(), 0, -1
    for budget in (1, 40, 100, every.calls // 4, every.calls // 2):
        before = len(asked)
        with pytest.warns(UserWarning, match="a recall of 0.95 was not reached"):
            cut = lm.mine(0.9, target_recall=0.95, budget=budget)
        assert cut.calls == len(asked) - before <= budget
        spent, lm = spent + cut.calls, opened()
        found = {(i, j) for _, i, j in cut}
        assert cut.recall is not None and not cut.recall.is_reached and cut.recall.enough and "budget" in cut.recall.enough
        # what is stated of the others holds, and nothing that was found is lost
        assert found <= true and len(found) >= cut.recall.lower * len(true) and len(found) >= listed
        listed = len(found)
        if spent + budget > every.calls:
            break
    rest = lm.mine(0.9, target_recall=0.95)
    assert rest.recall is not None and rest.recall.is_reached
    assert {(i, j) for _, i, j in rest} == {(i, j) for _, i, j in every}
    assert spent + rest.calls == every.calls, "the audit of the continued search is the same"
    assert len(asked) == len(set(asked)), "no pair is scored twice"


def test_an_audit_that_the_budget_does_not_pay_for_is_not_begun_and_what_it_could_show_is_told() -> None:
    k = clusters()

    def opened() -> Landmark:
        score = lambda pairs: [k[int(a), int(b)] for a, b in pairs]  # noqa: E731
        return Landmark(score, 40, error_samples=0, diagonal=1.0, random_state=1).fit([str(i) for i in range(180)])

    every = opened().mine(0.9, target_recall=0.8, delta=0.2)
    with pytest.warns(UserWarning, match=r"the audit of \d+ of \d+ pairs takes \d+ calls, and \d+ are left, which could show a recall of 0\.\d+ at most"):
        cut = opened().mine(0.9, target_recall=0.8, delta=0.2, budget=every.calls - 1)
    assert every.recall is not None and cut.recall is not None
    # its calls are those above the cut alone
    assert cut.calls == every.recall.scored_pairs - every.recall.rows and cut.recall.rows == 0 and np.isnan(cut.recall.recall)
    assert cut.recall.lower == 0.0 and 0 < len(cut) <= len(every)


def test_a_threshold_that_no_pair_reaches_is_told_and_nothing_is_stated() -> None:
    k = clusters()
    lm = Landmark(metric="precomputed", n_components=10, error_samples=0).fit(k)
    with pytest.warns(UserWarning, match="no pair of at least 2 is among .* lower the threshold"):
        none = lm.mine(2.0, target_recall=0.9)
    assert len(none) == 0 and none.recall is not None and not none.recall.is_reached and none.recall.lower == 0.0
    for settings in ({}, {"budget": 5}, {"target_recall": 0.9}):
        with pytest.raises(ValueError, match="cannot use nan as `threshold`"):
            lm.mine(float("nan"), **settings)
    with pytest.raises(ValueError, match="cannot use nan as `threshold`"):
        lm.plan_mine(float("nan"), target_recall=0.9)


def test_of_mined_pairs_as_many_draws_reach_the_target_as_delta_says() -> None:
    k = clusters()
    count = np.count_nonzero(np.triu(k >= 0.9, 1))
    items = [str(i) for i in range(180)]
    missed = 0
    for seed in range(40):
        lm = Landmark(lambda pairs: [k[int(a), int(b)] for a, b in pairs], 40, error_samples=0, random_state=seed).fit(items)
        missed += len(lm.mine(0.9, target_recall=0.8, delta=0.2)) < 0.8 * count
    # 8 are expected at most; of 40 coins of .2 more than 13 fall in one case of sixty
    assert missed <= 13


def test_factors_are_saved_as_the_program_has_them(score: Counted, texts: list[str], tmp_path) -> None:
    lm = Landmark(score, n_components=10, scattered={"columns": 0.6}, error_samples=100, identity="mine").fit(texts)
    lm.save(tmp_path / "factors")
    info = json.loads((tmp_path / "factors" / "factors.json").read_text())
    assert info["items"] == 60 and info["rank"] == 10 and info["scattered"] == len(lm._factors.scattered_scores)
    assert np.load(tmp_path / "factors" / "scattered_pairs.npy").dtype == np.uint64
    read = Landmark.load(tmp_path / "factors")
    np.testing.assert_array_equal(read.row(5), lm.row(5))
    np.testing.assert_array_equal(read.kneighbors(n_neighbors=4)[1], lm.kneighbors(n_neighbors=4)[1])
    assert read.error_ == lm.error_ and read.component_indices_.tolist() == lm.component_indices_.tolist()
    with pytest.raises(ValueError, match="calls of the score"):
        read.kneighbors(n_neighbors=3, calls_per_item=5)
    whole = Landmark.load(tmp_path / "factors", score, texts)
    assert whole.transform(["other"]).shape == (1, lm.embedding_.shape[1])
    with pytest.raises(ValueError, match="other items"):
        Landmark.load(tmp_path / "factors", score, texts[::-1])
    with pytest.raises(FileNotFoundError, match="no factors"):
        Landmark.load(tmp_path)
    np.save(tmp_path / "factors" / "vectors.npy", np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        Landmark.load(tmp_path / "factors")


def test_a_pickled_estimator_reads_and_scores_as_before(texts: list[str]) -> None:
    lm = Landmark(_length, n_components=6, error_samples=0).fit(texts)
    copy = pickle.loads(pickle.dumps(lm))
    np.testing.assert_array_equal(copy.row(2), lm.row(2))
    np.testing.assert_array_equal(copy.transform(["abc"]), lm.transform(["abc"]))
    assert copy.kneighbors(n_neighbors=2, calls_per_item=3)[1].shape == (60, 2)


def _length(pairs: list[tuple[str, str]]) -> list[float]:
    return [1.0 / (1 + abs(len(a) - len(b))) for a, b in pairs]


def test_call_plans_and_fits_show_themselves_as_tables(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=5, error_samples=10)
    assert "calls to be made" in str(lm.plan(texts)) and "<table>" in lm.plan(texts)._repr_html_()
    shown = lm.fit(texts)._repr_html_()
    assert "<svg" in shown and "relative error" in shown


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "at least 1"),
        ({"method": "nystroem"}, "unknown; there are nystrom"),
        ({"method": {"id": "sms_nystrom", "alfa": 1}}, "alfa"),
        ({"landmarks": "random"}, "unknown; there are uniform"),
        ({"landmarks": [1, 1]}, "item 1 is landmark 0 and again landmark 1"),
        ({"order": "both"}, "must be one of symmetric"),
        ({"link": 5}, "must be 1, 2 or 3"),
        ({"gamma": -1.0}, "gamma"),
        ({"proxy": np.ones((4, 2))}, "one row an item"),
        ({"similarity": None}, "give a `similarity`"),
        ({"similarity": 3}, "function of a list of pairs"),
        ({"store": "somewhere"}, "give `identity`"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it(score: Counted, texts: list[str], settings, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Landmark(**{"similarity": score, "n_components": 2, "error_samples": 0, **settings}).fit(texts)
    assert score.calls == 0


def test_a_budget_that_ends_amid_pairs_leaves_the_best_of_them() -> None:
    items = np.random.default_rng(0).standard_normal((200, 4))
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    asked = 0

    def score(pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> list[float]:
        nonlocal asked
        asked += len(pairs)
        return [float(a @ b) for a, b in pairs]

    whole = Landmark(score, 30, error_samples=0, diagonal=1.0).fit(items)
    every = whole.mine(0.6, target_recall=0.8, delta=0.2)
    assert every.recall is not None and every.recall.is_reached and every.calls > 100
    assert "of all" in repr(every)
    asked = 0
    cut = Landmark(score, 30, error_samples=0, diagonal=1.0, budget=whole.n_calls_ - every.calls // 2).fit(items)
    with pytest.warns(UserWarning, match="a recall of 0.8 was not reached"):
        some = cut.mine(0.6, target_recall=0.8, delta=0.2)
    assert cut.n_calls_ == asked <= cut.budget
    assert 0 < len(some) < len(every) and set(some) <= set(every)
    assert some.recall is not None and not some.recall.is_reached
    # a search that no budget is left for has the lists of the factors
    with pytest.warns(UserWarning, match="the budget ended"):
        _, left = cut.kneighbors(n_neighbors=3, target_recall=0.9)
    assert cut.n_calls_ == asked and np.isnan(cut.recall_.recall)
    np.testing.assert_array_equal(left, cut.kneighbors(n_neighbors=3)[1])


def test_a_budget_that_ends_before_a_recall_is_known_pays_for_the_best_lists(score: Counted, texts: list[str]) -> None:
    k = truth(score, texts)
    np.fill_diagonal(k, -np.inf)
    true = [set(np.argsort(-row)[:3].tolist()) for row in k]

    def recall(items: NDArray[np.int64]) -> float:
        return float(np.mean([len(true[i] & set(of.tolist())) / 3 for i, of in enumerate(items)]))

    fitted = Landmark(score, 4, error_samples=0).fit(texts)
    by_factors, paid = recall(fitted.kneighbors(n_neighbors=3)[1]), fitted.n_calls_
    # no audited rows can be paid for: a search without them, to the last call
    few = Landmark(score, 4, error_samples=0, budget=paid + 700).fit(texts)
    before = score.calls
    with pytest.warns(UserWarning, match=r"the budget ended before a recall of 0.9 was known.* calls, and 700 are left"):
        found, items = few.kneighbors(n_neighbors=3, target_recall=0.9)
    assert 500 <= score.calls - before == few.n_calls_ - paid <= 700
    assert not few.recall_.is_reached and np.isnan(few.recall_.recall) and few.recall_.lower == 0.0
    assert recall(items) > 2 * by_factors and np.all(np.diff(found, axis=1) <= 1e-12)


def test_a_budget_that_ends_in_the_search_leaves_the_recall_that_is_known_then() -> None:
    x = np.random.default_rng(1).standard_normal((300, 6))

    def score(pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> list[float]:
        return [float(a @ b) for a, b in pairs]

    settings = {"n_components": 4, "error_samples": 0}
    fitted = Landmark(score, **settings).fit(x)
    with pytest.raises(ValueError, match="audited rows alone take") as refused:
        fitted.kneighbors(n_neighbors=5, calls_per_item=1, target_recall=0.9)
    rows = int(re.search(r"take (\d+) calls", str(refused.value))[1])
    cut = Landmark(score, **settings, budget=fitted.n_calls_ + rows + 2000).fit(x)
    with pytest.warns(UserWarning, match="the budget ended before a recall of 0.9 was known"):
        _, items = cut.kneighbors(n_neighbors=5, target_recall=0.9)
    assert fitted.n_calls_ + rows < cut.n_calls_ <= cut.budget
    assert not cut.recall_.is_reached and cut.recall_.rows > 0 and 0.0 < cut.recall_.lower < cut.recall_.recall < 1.0
    true = [set(np.argsort(-np.delete(row, i))[:5].tolist()) for i, row in enumerate(x @ x.T)]
    found = [{other - (other > i) for other in of.tolist()} for i, of in enumerate(items)]
    share = np.mean([len(a & b) / 5 for a, b in zip(true, found)])
    # what is stated holds for the lists that are returned
    assert share >= cut.recall_.lower


def test_the_calls_of_a_mine_are_told_before_the_first(score: Counted) -> None:
    k = clusters()
    items = [str(i) for i in range(180)]
    asked = 0

    def look_up(pairs: list[tuple[str, str]]) -> list[float]:
        nonlocal asked
        asked += len(pairs)
        return [k[int(a), int(b)] for a, b in pairs]

    lm = Landmark(look_up, 40, error_samples=0).fit(items)
    for settings, is_free in (({}, True), ({"rescore": True, "max_pairs": 50}, False), ({"target_recall": 0.8, "delta": 0.2}, False)):
        before = asked
        told = lm.plan_mine(0.9, **settings)
        assert asked == before
        calls = lm.mine(0.9, **settings).calls
        # an audit that meets similar pairs takes more
        assert calls == asked - before and (calls == told or ("target_recall" in settings and calls > told > 0))
        assert (told == 0) == is_free
        assert lm.plan_mine(0.9, **settings) == 0, "what was scored is kept"


def test_a_score_that_refuses_an_item_with_itself_is_told_of_the_diagonal(texts: list[str]) -> None:
    def picky(pairs: list[tuple[str, str]]) -> list[float]:
        if any(a == b for a, b in pairs):
            raise ValueError("the same text twice")
        return [1.0 / (1 + abs(len(a) - len(b))) for a, b in pairs]

    with pytest.raises(ValueError, match="the same text twice") as caught:
        Landmark(picky, 4, error_samples=0).fit(texts)
    assert "give `diagonal`" in "".join(caught.value.__notes__)
    Landmark(picky, 4, error_samples=0, diagonal=1.0).fit(texts)


def test_a_sparse_proxy_is_refused_with_what_to_hand_over() -> None:
    with pytest.raises(TypeError, match="TruncatedSVD"):
        Landmark(lambda pairs: [0.0] * len(pairs), 5, proxy=csr_matrix(np.eye(30))).fit(np.eye(30))


def test_a_search_begins_with_the_candidates_of_an_index(score: Counted, texts: list[str]) -> None:
    lm = Landmark(score, n_components=4, order="symmetric", error_samples=0).fit(texts)
    n, known = len(texts), set(score.asked)
    candidates = np.stack([np.arange(n), (np.arange(n) + 7) % n, np.full(n, -1)], axis=1)
    _, items = lm.kneighbors(n_neighbors=3, calls_per_item=1, candidates=candidates)
    assert items.shape == (n, 3) and len(set(score.asked) - known) <= n
    wanted = {frozenset((texts[i], texts[(i + 7) % n])) for i in range(n)}
    assert wanted <= {frozenset(pair) for pair in score.asked}
    for wrong, words in [
        (candidates[:5], "there are 5 rows"),
        (np.full((n, 1), n), f"names item {n}"),
        (np.full((n, 1), -2), "names item -2"),
        (np.arange(n)[:, None], "no item has another item"),
        (candidates / 2, "whole numbers"),
    ]:
        with pytest.raises(ValueError, match=words):
            lm.kneighbors(n_neighbors=3, calls_per_item=1, candidates=wrong)
    with pytest.raises(ValueError, match="calls_per_item"):
        lm.kneighbors(n_neighbors=3, candidates=candidates)

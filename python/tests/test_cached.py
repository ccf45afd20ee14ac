"""`Cached`: a model that scores no pair twice, and shares what it scored with `Landmark`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from landmark import Cached, Landmark

TEXTS = [f"{a}{b}{c}" for a in "abc" for b in "defg" for c in "hij"]


class Model:
    """A cross-encoder whose order counts."""

    name_or_path = "somewhere/model"

    def __init__(self, bias: float = 0.0) -> None:
        self.asked: list[tuple[str, str]] = []
        self.bias = bias
        self.arguments: list[dict[str, Any]] = []
        self.max_length = 128

    def of(self, a: str, b: str) -> float:
        return len(set(a) & set(b)) / len(set(a) | set(b)) + 0.1 * (a < b) + self.bias

    def predict(self, sentences: list[Any], batch_size: int = 32, show_progress_bar: bool = False, activation_fn: Any = None) -> np.ndarray:
        self.asked += [tuple(pair) for pair in sentences]
        self.arguments.append({"batch_size": batch_size, "activation_fn": activation_fn})
        scores = np.array([self.of(a, b) for a, b in sentences], dtype=np.float32)
        return scores if activation_fn is None else activation_fn(scores)

    def encode_nothing(self) -> str:
        return "the model's own"


PAIRS = [(a, b) for a in TEXTS[:6] for b in TEXTS[6:12]]


def test_a_pair_is_scored_once_in_either_order(tmp_path: Path) -> None:
    model = Model()
    cached = Cached(model, tmp_path / "store", identity="m")
    first = cached.predict(PAIRS)
    assert cached.n_calls_ == len(model.asked) == 2 * len(PAIRS) and cached.n_hits_ == 0
    np.testing.assert_array_equal(cached.predict([(b, a) for a, b in PAIRS]), first)
    assert len(model.asked) == 2 * len(PAIRS) and cached.n_hits_ == len(PAIRS)
    np.testing.assert_allclose(first, [(model.of(a, b) + model.of(b, a)) / 2 for a, b in PAIRS], rtol=1e-6)


@pytest.mark.parametrize("order", ["mean", "max", "min", "symmetric", "given"])
def test_every_order_is_what_it_says(order: Any) -> None:
    model = Model()
    cached = Cached(model, order=order)
    a, b = "adh", "bdh"
    both = [np.float32(model.of(a, b)), np.float32(model.of(b, a))]
    wanted = {"mean": np.mean(np.array(both, dtype=float)), "max": max(both), "min": min(both), "symmetric": both[0], "given": both[0]}[order]
    assert cached.predict([(a, b)])[0] == pytest.approx(wanted, abs=1e-12)
    assert cached.missing([(b, a), (a, b), (a, "cgj")]) == {"mean": 2, "max": 2, "min": 2, "symmetric": 1, "given": 2}[order]


def test_another_session_asks_for_nothing_but_the_check(tmp_path: Path) -> None:
    Cached(Model(), tmp_path / "store", identity="m").predict(PAIRS)
    model = Model()
    again = Cached(model, tmp_path / "store", identity="m")
    assert again.missing(PAIRS) == 0 and again.missing([*PAIRS, ("new", "newer")]) == 2
    again.predict(PAIRS)
    assert again.n_calls_ == 0 and again.n_verified_ == len(model.asked) == 16


def test_a_model_that_changed_under_its_name_is_noticed(tmp_path: Path) -> None:
    Cached(Model(), tmp_path / "store", identity="m").predict(PAIRS)
    with pytest.raises(ValueError, match="cannot use the stored scores of `m`.*another `identity`"):
        Cached(Model(0.2), tmp_path / "store", identity="m").predict(PAIRS[:3])
    assert Cached(Model(0.2), tmp_path / "store", identity="m", verify=0).predict(PAIRS[:3]).shape == (3,)
    assert Cached(Model(0.2), tmp_path / "store", identity="m 2").predict(PAIRS[:3]).shape == (3,)


def test_landmark_does_not_ask_for_what_was_cached(tmp_path: Path) -> None:
    store = tmp_path / "store"
    cached = Cached(Model(), store, identity="m")
    cached.predict([(a, b) for a in TEXTS for b in TEXTS])
    model = Model()
    lm = Landmark(model, n_components=8, store=store, identity="m", order="mean", diagonal=None, error_samples=50)
    cached.flush()
    assert lm.plan(TEXTS).calls == 0
    assert lm.fit(TEXTS).n_calls_ == 0 and not model.asked


def test_what_landmark_scored_is_cached(tmp_path: Path) -> None:
    store = tmp_path / "store"
    lm = Landmark(Model(), n_components=8, store=store, identity="m", order="mean", error_samples=0).fit(TEXTS)
    model = Model()
    cached = Cached(model, store, identity="m", verify=0)
    landmark = TEXTS[lm.component_indices_[0]]
    found = cached.predict([(landmark, text) for text in TEXTS if text != landmark])
    assert not model.asked and cached.n_calls_ == 0
    np.testing.assert_allclose(found, [lm.similarities(int(lm.component_indices_[0]), i) for i, text in enumerate(TEXTS) if text != landmark])


def test_a_cache_is_a_similarity_and_shares_its_store(tmp_path: Path) -> None:
    model = Model()
    cached = Cached(model, tmp_path / "store", identity="m")
    cached.predict([(TEXTS[0], text) for text in TEXTS[1:]])
    lm = Landmark(cached, n_components=8, error_samples=0)
    assert lm.plan(TEXTS).calls_alone - lm.plan(TEXTS).calls == 2 * len(TEXTS[1:]) - 0 or lm.plan(TEXTS).calls < lm.plan(TEXTS).calls_alone
    before = len(model.asked)
    fitted = clone(lm).fit(TEXTS)
    assert fitted.n_calls_ == len(model.asked) - before and fitted.order_ == "mean"
    # and the other way: what the fit scored is in the cache
    after = len(model.asked)
    column = TEXTS[int(fitted.component_indices_[1])]
    cached.predict([(column, text) for text in TEXTS if text != column])
    assert len(model.asked) == after


def test_a_cache_in_memory_is_a_similarity_too() -> None:
    model = Model()
    cached = Cached(model)
    lm = Landmark(cached, n_components=5, error_samples=0).fit(TEXTS)
    assert lm.order_ == "symmetric"
    asked = len(model.asked)
    Landmark(cached, n_components=5, error_samples=0).fit(TEXTS)
    assert len(model.asked) == asked


def test_it_goes_where_a_cross_encoder_goes() -> None:
    model = Model()
    cached = Cached(model, batch_size=7)
    assert cached.max_length == 128 and cached.encode_nothing() == "the model's own"
    assert isinstance(cached.predict(["adh", "adi"]), float)
    assert model.arguments[0]["batch_size"] == 7
    ranked = cached.rank("adh", TEXTS[:5], top_k=2, return_documents=True)
    assert ranked[0]["text"] == "adh" and [entry["corpus_id"] for entry in ranked][0] == 0 and len(ranked) == 2
    assert cached([("adh", "adi")]).shape == (1,)
    with pytest.raises(AttributeError):
        cached.nothing_of_the_kind  # noqa: B018


def test_arguments_that_move_scores_keep_them_apart() -> None:
    model = Model()
    cached = Cached(model, order="symmetric")
    plain = cached.predict([("adh", "adi")])
    doubled = cached.predict([("adh", "adi")], activation_fn=twice)
    assert doubled[0] == 2 * plain[0] and len(model.asked) == 2
    cached.predict([("adh", "adi")], batch_size=4, show_progress_bar=True)
    assert len(model.asked) == 2


def twice(scores: np.ndarray) -> np.ndarray:
    return 2 * scores


class Failing(Model):
    def predict(self, sentences: list[Any], **params: Any) -> np.ndarray:
        if any("cgj" in pair for pair in sentences):
            raise RuntimeError("too long")
        return super().predict(sentences, **params)


def test_what_was_scored_before_an_exception_is_kept_and_the_pair_is_named() -> None:
    model = Failing()
    cached = Cached(model, order="symmetric")
    pairs = [("adh", text) for text in TEXTS]
    with pytest.raises(RuntimeError, match="too long") as raised:
        cached.predict(pairs)
    assert "cgj" in "".join(raised.value.__notes__)
    assert cached.n_calls_ > 20 and cached.missing(pairs) == len(pairs) - cached.n_calls_


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot store the score of"):
        Cached(lambda pairs: [float("nan")] * len(pairs)).predict([("a", "b")])
    with pytest.raises(ValueError, match="cannot store scores"):
        Cached(Model()).put([("a", "b")], [1.0, 2.0])


def test_scores_from_elsewhere_are_put() -> None:
    model = Model()
    cached = Cached(model, verify=0)
    assert cached.put([("a", "b"), ("b", "a"), ("a", "c")], [0.5, 0.5, 0.25]) == 2
    assert cached.predict([("b", "a"), ("c", "a")]).tolist() == [0.5, 0.25] and not model.asked


def test_a_store_wants_an_identity_that_a_cross_encoder_has(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot tell the identity of .*give `identity`"):
        Cached(lambda pairs: [1.0] * len(pairs), tmp_path / "store")

    class Config:
        _name_or_path = "cross-encoder/x"
        _commit_hash = "abc"

    model = Model()
    model.config = Config()  # type: ignore[attr-defined]
    assert Cached(model, tmp_path / "store").identity == "model cross-encoder/x, revision abc, max_length 128"
    # and the estimator names it the same
    assert Landmark(model, store=tmp_path / "store")._scorer == "model cross-encoder/x, revision abc, max_length 128"


def test_a_pickle_finds_its_store_again(tmp_path: Path) -> None:
    cached = Cached(Model(), tmp_path / "store", identity="m", verify=0)
    cached.predict(PAIRS)
    copy = pickle.loads(pickle.dumps(cached))
    calls = copy.n_calls_
    copy.predict(PAIRS)
    assert copy.n_calls_ == calls


def test_scores_are_written_at_the_end_of_a_program(tmp_path: Path) -> None:
    program = (
        "from landmark import Cached\n"
        f"cached = Cached(lambda pairs: [0.5] * len(pairs), {str(tmp_path / 'store')!r}, identity='m', order='symmetric')\n"
        "cached.predict([('a', 'b'), ('a', 'c')])\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert Cached(lambda pairs: [0.5] * len(pairs), tmp_path / "store", identity="m", order="symmetric").missing([("b", "a"), ("c", "a")]) == 0

"""Scores of every kind, their errors, interrupts, threads."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import Counted, matrix, truth

from landmark import Landmark, NotFiniteError, Program, TreeKernel, Wmd

SETTINGS = {"n_components": 6, "error_samples": 0, "order": "symmetric"}


def of_length(a: str, b: str) -> float:
    return 1.0 / (1 + abs(len(a) - len(b)))


class Predicts:
    """As a cross-encoder of sentence-transformers: callable, and with `predict`."""

    def __call__(self, *_: object) -> None:
        raise AssertionError("`forward` is no score")

    def predict(self, sentences: list[list[str]], batch_size: int = 32, show_progress_bar: bool | None = None) -> np.ndarray:
        assert show_progress_bar is False and all(isinstance(pair, list) for pair in sentences)
        return np.array([of_length(a, b) for a, b in sentences], dtype=np.float32)


class Tensor:
    """A tensor of another device."""

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return np.array(self.values)[:, None]


def test_functions_predictors_coroutines_tensors_and_matrices_agree(texts: list[str]) -> None:
    at_once, most = 0, 0

    async def alone(a: str, b: str) -> float:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.001)
        at_once -= 1
        return of_length(a, b)

    k = np.array([[of_length(a, b) for b in texts] for a in texts])
    kinds = [
        lambda pairs: [of_length(a, b) for a, b in pairs],
        Predicts(),
        alone,
        lambda pairs: Tensor([of_length(a, b) for a, b in pairs]),
        k,
    ]
    rows = [Landmark(score, **SETTINGS).fit(texts).row(4) for score in kinds]
    for row in rows:
        np.testing.assert_allclose(row, rows[0], atol=1e-6)
    assert 1 < most <= 8
    precomputed = Landmark(metric="precomputed", **SETTINGS).fit(k)
    np.testing.assert_array_equal(precomputed.row(4), rows[4])


def test_an_exception_comes_back_as_itself_with_the_pair(texts: list[str]) -> None:
    class Refused(RuntimeError):
        pass

    def picky(pairs: list[tuple[str, str]]) -> list[float]:
        raise Refused("no")

    with pytest.raises(Refused) as caught:
        Landmark(picky, **SETTINGS).fit(texts)
    assert str(caught.value) == "no" and type(caught.value) is Refused
    assert "while scoring the pair (" in "".join(caught.value.__notes__)

    async def refuses_one(a: str, b: str) -> float:
        if texts[5] in (a, b):
            raise Refused(a)
        return of_length(a, b)

    with pytest.raises(Refused) as caught:
        Landmark(refuses_one, **SETTINGS).fit(texts)
    assert "the pair (" in "".join(caught.value.__notes__) and repr(texts[5]) in "".join(caught.value.__notes__)


def test_what_was_scored_before_an_error_is_kept(texts: list[str], tmp_path) -> None:
    asked: list[tuple[str, str]] = []
    fails = True

    def flaky(pairs: list[tuple[str, str]]) -> list[float]:
        if fails and len(asked) > 50:
            raise OSError("gone")
        asked.extend(pairs)
        return [of_length(a, b) for a, b in pairs]

    lm = Landmark(flaky, store=tmp_path, identity="flaky", **SETTINGS)
    with pytest.raises(OSError, match="gone"):
        lm.fit(texts)
    fails, before = False, len(asked)
    assert before > 50 and lm.plan(texts).stored == before
    lm.fit(texts)
    assert len({frozenset(pair) for pair in asked}) == len(asked) == lm.call_plan_.calls_alone


@pytest.mark.parametrize(("bad", "error"), [(float("nan"), NotFiniteError), (float("inf"), NotFiniteError), ("x", TypeError)])
def test_a_score_that_is_no_number_names_the_items(texts: list[str], bad: object, error: type[Exception]) -> None:
    def broken(pairs: list[tuple[str, str]]) -> list[object]:
        return [bad if texts[7] in pair else 1.0 for pair in pairs]

    with pytest.raises(error) as caught:
        Landmark(broken, landmarks=[7, 1], n_components=2, error_samples=0).fit(texts)
    told = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    assert repr(texts[7]) in told or error is TypeError
    with pytest.raises(ValueError, match="answered an array of shape"):
        Landmark(lambda pairs: [1.0], **SETTINGS).fit(texts)


def test_threads_share_one_score_and_one_store(texts: list[str], tmp_path) -> None:
    score, fitted = Counted(), {}

    def fit(seed: int) -> None:
        lm = Landmark(score, 8, store=tmp_path, identity="shared", random_state=seed, error_samples=0)
        fitted[seed] = lm.fit(texts).row(0)

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for seed, row in fitted.items():
        alone = Landmark(score, 8, random_state=seed, error_samples=0).fit(texts)
        np.testing.assert_array_equal(alone.row(0), row)
    lm = Landmark(score, 8, store=tmp_path, identity="shared", error_samples=0).fit(texts)
    rows: list[np.ndarray] = []
    readers = [threading.Thread(target=lambda: rows.append(lm.kneighbors(n_neighbors=3, calls_per_item=6)[0])) for _ in range(4)]
    [thread.start() for thread in readers]
    [thread.join() for thread in readers]
    assert all(np.array_equal(row, rows[0]) for row in rows)


def run_and_interrupt(program: str, after: float) -> str:
    """What a program prints when it is sent SIGINT some time after it printed that it is ready."""
    # a shell has what it runs in the background ignore SIGINT, and so do these tests then
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    process = subprocess.Popen([sys.executable, "-c", heed + textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    return said


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_in_a_score_ends_it_and_keeps_what_was_scored(tmp_path) -> None:
    program = f"""
        import tempfile, time
        from landmark import Landmark
        texts = [str(item) for item in range(40)]
        def slow(pairs):
            time.sleep(0.01 * len(pairs))
            return [1.0 / (1 + abs(int(a) - int(b))) for a, b in pairs]
        lm = Landmark(slow, 10, store=tempfile.mkdtemp(dir={str(tmp_path)!r}), identity="slow", error_samples=0)
        print("ready", flush=True)
        try:
            lm.fit(texts)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            print(lm.plan(texts).stored, flush=True)
    """
    said = run_and_interrupt(program, 1.5)
    # all of them would take 3.5 s, and the first batch takes .08
    assert said.startswith("interrupted") and 0 < int(said.split()[1]) < 350, said


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("after", [0.1, 1.0])
def test_ctrl_c_in_the_numerics_is_heard(after: float) -> None:
    program = """
        import numpy as np
        from landmark import Landmark
        x = np.random.default_rng(0).normal(size=(3000, 50))
        lm = Landmark(metric="precomputed", n_components=2500, error_samples=0)
        k = x @ x.T
        print("ready", flush=True)
        try:
            lm.fit(k)
            print("finished", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        import os
        os._exit(0)
    """
    assert run_and_interrupt(program, after) == "interrupted\n"


def test_progress_is_lines_where_there_is_no_bar_and_the_logger_tells_the_sum(
    texts: list[str], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def length(pairs: list[tuple[str, str]]) -> list[float]:
        return [of_length(a, b) for a, b in pairs]

    monkeypatch.setattr("landmark._progress._SECONDS_BETWEEN_LINES", 0.0)
    calls = Landmark(length, **SETTINGS).fit(texts).n_calls_
    assert capsys.readouterr().err == ""
    with caplog.at_level("INFO", logger="landmark"), monkeypatch.context() as without:
        without.setitem(sys.modules, "tqdm.auto", None)
        Landmark(length, verbose=True, **SETTINGS).fit(texts)
    assert f"scores: {calls:,} of {calls:,} calls" in capsys.readouterr().err
    assert f"scores: {calls:,} calls" in caplog.text
    pytest.importorskip("tqdm")
    Landmark(length, verbose=True, **SETTINGS).fit(texts)
    shown = capsys.readouterr().err
    assert "scores" in shown and f"{calls}/{calls}" in shown


SCORER = """
import json, sys
json.loads(sys.stdin.readline())
print(json.dumps({"landmark": 1, "identity": "lengths", "symmetric": SYMMETRIC}), flush=True)
for line in sys.stdin:
    batch = json.loads(line)
    scores = [{"error": "empty"} if "" in (a, b) else 1.0 / (1 + abs(len(a) - FACTOR * len(b))) for a, b in batch["pairs"]]
    print(json.dumps({"batch": batch["batch"], "scores": scores}), flush=True)
"""


def test_any_program_is_a_score(texts: list[str], tmp_path) -> None:
    script = tmp_path / "score.py"
    script.write_text(SCORER.replace("SYMMETRIC", "True").replace("FACTOR", "1"))
    program = Program([sys.executable, str(script)], batch=16, processes=2)
    lm = Landmark(program, store=tmp_path / "store", **SETTINGS)
    planned = lm.plan(texts).calls
    # a program and a function have other digests of a text, and so other draws
    drawn = lm.fit(texts).component_indices_
    lengths = Landmark(lambda pairs: [of_length(a, b) for a, b in pairs], landmarks=drawn, **SETTINGS).fit(texts)
    assert planned == lengths.n_calls_
    assert lm.embedding_.tobytes() == lengths.embedding_.tobytes() and lm.n_calls_ == lengths.n_calls_
    again = Landmark(Program([sys.executable, str(script)]), store=tmp_path / "store", **SETTINGS).fit(texts)
    assert again.n_calls_ == 0, "it names itself"
    with pytest.raises(ValueError, match="empty"):
        Landmark(program, **SETTINGS).fit([*texts, ""])
    kinder = Program([sys.executable, str(script)], failed=0.0)
    assert Landmark(kinder, landmarks=[60, 0], n_components=2, error_samples=0).fit([*texts, ""]).similarities(3, 60) == 0.0
    with pytest.raises(ValueError, match="landmarks"):
        Landmark(Program([sys.executable, str(script)], landmarks=3), **SETTINGS).fit(texts)
    with pytest.raises(ValueError, match="cannot be started"):
        Landmark(Program(["no-such-program"]), **SETTINGS).fit(texts)
    with pytest.raises(TypeError, match="one text"):
        Program("score.py")
    script.write_text(SCORER.replace("SYMMETRIC", "False").replace("FACTOR", "0.5"))
    with pytest.raises(ValueError, match="the order of a pair counts"):
        Landmark(Program([sys.executable, str(script)]), **SETTINGS).fit(texts)
    mean = Landmark(Program([sys.executable, str(script)]), **{**SETTINGS, "order": "mean"}).fit(texts)
    i = int(mean.component_indices_[0])
    both = [1.0 / (1 + abs(len(a) - 0.5 * len(b))) for a, b in ((texts[i], texts[3]), (texts[3], texts[i]))]
    assert mean.similarities(i, 3) == pytest.approx(np.mean(both))


def test_word_movers_distance_of_texts() -> None:
    vectors = {"cat": [0.0, 0.0], "dog": [3.0, 4.0], "bird": [0.0, 1.0]}
    texts = ["cat", "Dog!", "the cat, a bird", "cat cat", "bird"]
    score = Wmd(vectors)
    lm = Landmark(score, n_components=5, error_samples=0).fit(texts)
    assert lm.similarities(0, 1) == pytest.approx(5.0) and lm.similarities(0, 2) == pytest.approx(0.5)
    assert lm.similarities(0, 3) == 0.0
    near = Landmark(score, n_components=3, gamma=1.0, proxy=Wmd(vectors, kind="rwmd"), error_samples=0).fit(texts)
    assert near.similarities(2, 2) == 1.0
    with pytest.raises(ValueError, match="no word with a vector"):
        Landmark(score, n_components=1).fit(["cat", "whale"])
    assert Landmark(Wmd(vectors, empty=2.0), 2, error_samples=0).fit(["cat", "whale"]).similarities(0, 1) == 2.0


def test_tree_kernels() -> None:
    trees = ["(S (NP they) (VP laughed))", "(S (NP they) (VP cried))", "(S (NP we) (VP (V saw) (NP them)))"]
    lm = Landmark(TreeKernel("sst", lambda_=0.4), n_components=3, error_samples=0).fit(trees)
    assert lm.similarities(0, 0) == pytest.approx(1.0)
    assert lm.similarities(0, 1) > lm.similarities(0, 2)
    with pytest.raises(ValueError, match="tree 1"):
        Landmark(TreeKernel(), n_components=1).fit(["(A b)", "(A b"])


def test_a_matrix_that_is_not_symmetric_is_refused_or_averaged() -> None:
    k = matrix(20)
    k[3, 4] += 1.0
    with pytest.raises(ValueError, match=r"\(i = 3, j = 4\)"):
        Landmark(metric="precomputed", **SETTINGS).fit(k)
    lm = Landmark(metric="precomputed", order="mean", n_components=20, error_samples=0).fit(k)
    assert lm.similarities(3, 4) == pytest.approx((k[3, 4] + k[4, 3]) / 2)


def test_rows_of_an_array_are_items_too(score: Counted, texts: list[str]) -> None:
    x = np.random.default_rng(1).normal(size=(50, 3))

    def rbf(pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        left, right = (np.stack(side) for side in zip(*pairs))
        return np.exp(-np.sum((left - right) ** 2, axis=1))

    lm = Landmark(rbf, n_components=50, proxy="items", error_samples=0).fit(x)
    np.testing.assert_allclose(lm.row(0), np.exp(-np.sum((x - x[0]) ** 2, axis=1)), atol=1e-9)
    assert truth(score, texts).shape == (60, 60)

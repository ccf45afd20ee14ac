"""Forked children compute: they have their parent's memory and none of its threads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

HEAD = """
    import multiprocessing, sys, threading, time, warnings
    import numpy as np
    import landmark
    from landmark import *
    warnings.simplefilter("ignore")
    fork = multiprocessing.get_context("fork")
    texts = [f"text {i * 7919 % 10007}" for i in range(300)]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 30))
    calls = [0]
    def overlap(pairs):
        calls[0] += len(pairs)
        return [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    def in_a_child(work, *arguments):
        answers = fork.Queue()
        process = fork.Process(target=lambda: answers.put(work(*arguments)))
        process.start()
        answer = answers.get(timeout=60)
        process.join(60)
        assert process.exitcode == 0
        return answer
"""


def run(program: str, timeout: float = 150) -> str:
    """What a program prints; one that hangs is ended and fails."""
    source = textwrap.dedent(HEAD) + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_child_searches_fits_and_embeds_after_its_parent_computed() -> None:
    run("""
        lm = Landmark(overlap, 20, error_samples=50).fit(texts)
        def work():
            before = calls[0]
            lists = lm.kneighbors(n_neighbors=3)[1]
            paid = lm.kneighbors(n_neighbors=3, calls_per_item=4)[1]
            mined = lm.mine(0.9, budget=200).scores
            again = Landmark(overlap, 20, error_samples=50).fit(texts)
            return lists, paid, mined, again.embedding_, lm.transform(["text 5x"]), lm.row(3), lm.n_calls_
        for child, parent in zip(in_a_child(work), work()):
            assert np.array_equal(child, parent)
        # a child of a child, and two of them at a time
        assert np.array_equal(in_a_child(lambda: in_a_child(lambda: lm.kneighbors(n_neighbors=3)[1])), lm.kneighbors(n_neighbors=3)[1])
        with fork.Pool(3) as pool:
            for found in pool.map(lm.row, range(6), chunksize=1):
                assert found.shape == (300,)
    """)


def test_what_a_parent_scored_a_child_does_not_ask_again() -> None:
    run("""
        lm = Landmark(overlap, 20, error_samples=0, order="symmetric").fit(texts)
        lm.kneighbors(n_neighbors=3, calls_per_item=4)
        def work():
            before = calls[0]
            lm.kneighbors(n_neighbors=3, calls_per_item=4)
            return calls[0] - before
        assert in_a_child(work) == work() == 0
        blocks = Landmark(Blockwise(lambda a, b: np.exp(-np.abs(a[:, :1] - b[:, :1].T))), 10, error_samples=0, order="symmetric").fit(x)
        before = blocks.n_calls_
        def search():
            blocks.kneighbors(n_neighbors=3, calls_per_item=4)
            return blocks.n_calls_
        assert in_a_child(search) == search() > before
    """)


def test_a_child_shares_a_store_with_its_parent(tmp_path: Path) -> None:
    run(f"""
        folder = {str(tmp_path)!r}
        lm = Landmark(overlap, 20, error_samples=0, order="symmetric", store=folder, identity="overlap").fit(texts[:200])
        def work():
            before = calls[0]
            lm.kneighbors(n_neighbors=3, calls_per_item=4)
            Landmark(overlap, 20, error_samples=0, order="symmetric", store=folder, identity="overlap").fit(texts)
            return calls[0] - before
        made = in_a_child(work)
        assert made > 0
        # all of it is published, and nothing of the parent's is gone
        assert work() == 0
        assert lm.transform(texts[250:251]).shape[0] == 1
    """)


def test_every_other_computation_runs_in_a_child() -> None:
    run("""
        trees = [f"(S (NP w{i % 7}) (VP (V v{i % 5}) (NP w{i % 3})))" for i in range(60)]
        words = {f"w{i}": rng.normal(size=20) for i in range(50)}
        bags = [" ".join(rng.choice(list(words), size=9)) for _ in range(40)]
        k = x @ x.T
        sketch = FrequentDirections(5, rows=12).fit(x[:200])
        def work():
            out = [
                Landmark(metric="precomputed", n_components=50, error_samples=100).fit(k).embedding_,
                Landmark(VectorKernel(), 50, error_samples=100, proxy="items").fit(x).row(0),
                Landmark(TreeKernel(), 10, error_samples=0).fit(trees).row(0),
                wmd_matrix(bags, words),
                Landmark(Wmd(words), 10, gamma=1.0, proxy=Wmd(words, kind="rwmd"), error_samples=0).fit(bags).row(0),
                emd(np.ones(60) / 60, np.ones(60) / 60, np.abs(k[:60, :60])),
                average_linkage(x, 0.5),
                average_linkage(k, 0.5, linkage="average"),
                LinearSvm(max_iter=50).fit(x, np.arange(400) % 3).coef_,
                StructuredFeatures(n_components=64).fit(x).transform(x),
                FrequentDirections(5, rows=12).fit(x).sketch(),
                sketch.transform(x[:3]),
                sketch.sketch(),
            ]
            lm = Landmark(VectorKernel(), 20, error_samples=0, proxy=x).fit(x)
            out.append(lm.transform(x[:4] + 1.0, proxy=x[:4] + 1.0))
            return out
        ours = work()
        for theirs, mine in zip(in_a_child(work), ours, strict=True):
            assert np.array_equal(theirs, mine)
        sketch.partial_fit(x[200:])
        assert in_a_child(lambda: sketch.merge(FrequentDirections(5, rows=12).fit(x)).bound_["rows"]) == 800
    """)


def test_a_child_of_a_parent_at_work_computes_or_says_why_not() -> None:
    run("""
        # a fit that is under way on another thread while the process is forked
        def slow(pairs):
            time.sleep(0.002 * len(pairs))
            return overlap(pairs)
        lm = Landmark(slow, 20, error_samples=0, order="symmetric").fit(texts[:40])
        thread = threading.Thread(target=lm.kneighbors, args=(3,), kwargs={"calls_per_item": 20})
        thread.start()
        def work():
            try:
                lm.kneighbors(n_neighbors=2, calls_per_item=1)
            except StoreFailure as error:
                assert "forked process" in str(error), error
            return Landmark(overlap, 5, error_samples=0).fit(texts[:50]).kneighbors(n_neighbors=3)[1].shape
        for _ in range(5):
            time.sleep(0.1)
            assert in_a_child(work) == (50, 3)
        thread.join()
        assert lm.kneighbors(n_neighbors=3)[1].shape == (40, 3)
    """)


def test_a_program_of_the_parent_outlives_a_child(tmp_path: Path) -> None:
    script = tmp_path / "score.py"
    script.write_text(
        textwrap.dedent("""
            import json, sys
            sys.stdin.readline()
            print(json.dumps({"landmark": 1, "identity": "lengths", "symmetric": True}), flush=True)
            for line in sys.stdin:
                batch = json.loads(line)
                print(json.dumps({"batch": batch["batch"], "scores": [1 / (1 + abs(len(a) - len(b))) for a, b in batch["pairs"]]}), flush=True)
        """)
    )
    run(f"""
        program = Program([sys.executable, {str(script)!r}])
        lm = Landmark(program, 10, error_samples=0).fit(texts)
        def work():
            found = Landmark(program, 10, error_samples=0).fit(texts).embedding_
            lm.kneighbors(n_neighbors=3)
            return found
        assert np.array_equal(in_a_child(work), lm.embedding_)
        import gc, os
        child = os.fork()
        if child == 0:
            # all that the parent left is taken apart here
            del lm, program, work
            gc.collect()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert lm.kneighbors(n_neighbors=3, calls_per_item=5)[1].shape == (300, 3)
    """)


def test_processes_of_joblib_read_a_fit() -> None:
    pytest.importorskip("joblib")
    run("""
        import joblib
        lm = Landmark(overlap, 20, error_samples=0).fit(texts)
        with joblib.parallel_backend("multiprocessing", n_jobs=2):
            rows = joblib.Parallel()(joblib.delayed(lm.kneighbors)(n_neighbors=k) for k in range(1, 7))
        assert [found[1].shape for found in rows] == [(300, k) for k in range(1, 7)]
    """)

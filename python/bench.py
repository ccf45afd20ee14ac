"""What the package costs next to what it is built on, and next to its peers, in one run.

    python bench.py [--pairs 200000] [--runner target/release/landmark]

Prints a table; ratios below 1 are faster. Build with `scripts/setup python` first. POT is optional (`pip install pot`), and so is the program.
"""

from __future__ import annotations

import argparse
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

import landmark
from landmark import Blockwise, Landmark, VectorKernel, Wmd
from landmark._native import MeteredStore, Oracle
from landmark.scores import Batches


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """Median CPU seconds of this process: other work on the machine does not count."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def line(what: str, value: str, aim: str) -> None:
    print(f"{what:<66} {value:>12}   {aim}", flush=True)


def importing() -> None:
    taken = []
    for _ in range(7):
        for program, into in (("pass", -1.0), ("import landmark", 1.0)):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            taken.append(into * (time.perf_counter() - start))
    once = statistics.median(late + early for early, late in zip(taken[::2], taken[1::2]))
    line("import landmark, beyond an empty interpreter", f"{1e3 * once:.1f} ms", "≤ 100 ms")


IN_A_SCORE = """
from landmark import Landmark
import time
def slow(pairs):
    time.sleep(0.01 * len(pairs))
    return [1.0 / (1 + abs(int(a) - int(b))) for a, b in pairs]
def fit():
    Landmark(slow, 10, error_samples=0).fit([str(item) for item in range(400)])
"""
IN_THE_NUMERICS = """
from landmark import Landmark
import numpy as np
x = np.random.default_rng(0).normal(size=(3000, 50))
def fit():
    Landmark(metric="precomputed", n_components=2500, error_samples=0).fit(x @ x.T)
"""
AND_WAIT = """
print("ready", flush=True)
try:
    fit()
except KeyboardInterrupt:
    print("interrupted", flush=True)
import os
os._exit(0)
"""


def interrupting() -> None:
    for what, program in (("in a score", IN_A_SCORE), ("in the numerics", IN_THE_NUMERICS)):
        waited = []
        for _ in range(5):
            process = subprocess.Popen([sys.executable, "-c", program + AND_WAIT], stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            start = time.perf_counter()
            assert process.stdout.readline() == "interrupted\n"
            waited.append(time.perf_counter() - start)
            process.wait()
        line(f"from Ctrl-C {what} to KeyboardInterrupt", f"{1e3 * statistics.median(waited):.0f} ms", "≤ 200 ms")


def overhead(pairs: int) -> None:
    """Scores of 256 pairs at a time that cost nothing, against the same function called directly."""
    texts = [str(item) for item in range(2000)]
    answer = [0.5] * 256

    def score(batch: list[tuple[str, str]]) -> list[float]:
        return answer[: len(batch)]

    rng = np.random.default_rng(0)
    chosen = rng.choice(2000 * 1999 // 2, size=pairs, replace=False)
    rows = ((1 + np.sqrt(1 + 8 * chosen.astype(float))) / 2).astype(np.int64)
    every = np.stack([rows, chosen - rows * (rows - 1) // 2], axis=1)
    batches = [np.ascontiguousarray(every[first : first + 256]) for first in range(0, pairs - 255, 256)]

    def through(keep: bool) -> None:
        oracle = Oracle.function(Batches(score, texts), 2000, "bench")
        metered = MeteredStore(oracle, keep=keep)
        for batch in batches:
            metered.scores(batch)

    def directly() -> None:
        for batch in batches:
            score([(texts[i], texts[j]) for i, j in batch.tolist()])

    bare, count = seconds(directly), 256 * len(batches)
    for keep, what in ((False, "metered"), (True, "metered and kept in a store")):
        line(f"a pair at batches of 256, {what}, beyond the function", f"{1e6 * (seconds(lambda: through(keep)) - bare) / count:.2f} µs", "≤ 2 µs")


CONFIG = """
name: bench
experiment: own_data
dataset: {{ name: precomputed, path: {matrix} }}
oracle: {{ kind: precomputed }}
methods: [{{ id: shift_ridge }}]
ranks: {s}
seed: 5
error_estimate: 1000
output: {{ formats: [npy] }}
"""


def against_the_program(runner: str | None) -> None:
    """The matrix read, fitted and its error estimated; the program also writes the factors, and a page."""
    if runner is None:
        line("fit_transform over the program", "skipped", "name it by --runner")
        return
    for n, s in ((2_000, 200), (6_000, 400)):
        x = np.random.default_rng(3).normal(size=(n, 8))
        k = rbf_kernel(x, gamma=0.1)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            np.save(place / "k.npy", k)
            (place / "bench.yaml").write_text(CONFIG.format(matrix=place / "k.npy", s=s))
            command = [runner, str(place / "bench.yaml"), "--quiet", "--force", "--store", str(place / "store"), "--results", str(place / "results")]
            theirs = []
            for _ in range(3):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, check=True, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                theirs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            lm = Landmark(metric="precomputed", n_components=s, random_state=5, name="precomputed")
            ours = seconds(lambda: lm.fit_transform(np.load(place / "k.npy")), 3)
            same = Landmark.load(next((place / "results").rglob("factors"))).embedding_.tobytes() == lm.embedding_.tobytes()
        bits = "the same bits" if same else "OTHER BITS"
        line(f"fit_transform over the program, a matrix of n {n}, s {s}", f"{ours / statistics.median(theirs):.2f}", f"≤ 1.05; {bits}")


def against_nystroem() -> None:
    """`fit_transform` of both with the same landmarks: CPU seconds, and next to them those of the clock."""
    rng = np.random.default_rng(1)
    for n, s in ((3_000, 100), (30_000, 400)):
        x = rng.normal(size=(n, 20))
        theirs = Nystroem(kernel="rbf", gamma=0.05, n_components=s, random_state=0)
        theirs.fit(x)
        probe = rng.choice(n, 400, replace=False)
        k = rbf_kernel(x[probe], gamma=0.05)
        forms: list[tuple[str, object]] = [("VectorKernel", VectorKernel("rbf", gamma=0.05)), ("blocks", Blockwise(rbf_kernel, gamma=0.05))]
        # pair by pair it takes minutes at the larger size
        forms += [("pairs", rbf)] if n < 10_000 else []
        for form, score in forms:
            ours = Landmark(score, s, method="nystrom", landmarks=theirs.component_indices_, error_samples=0, known=False)
            z = [one.fit_transform(x) for one in (ours, theirs)]
            errors = [np.linalg.norm(k - one[probe] @ one[probe].T) / np.linalg.norm(k) for one in z]
            taken = [both(lambda: ours.fit_transform(x), lambda: theirs.fit_transform(x)) for _ in range(2 if form == "pairs" else 9)]
            cpu, clock = (statistics.median(ratio) for ratio in zip(*taken))
            note = f"≤ 1; {clock:.2f} by the clock; errors {errors[0]:.4f} and {errors[1]:.4f}"
            line(f"nystrom over Nystroem, rbf by {form}, n {n}, s {s}", f"{cpu:.2f}", note)


def both(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Time of one over that of the other, one after the other: of this process, and of the clock."""
    taken = []
    for work in (one, other):
        start = time.process_time(), time.perf_counter()
        work()
        taken.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return taken[0][0] / taken[1][0], taken[0][1] / taken[1][1]


def rbf(pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    left, right = (np.asarray(side) for side in zip(*pairs))
    return np.exp(-0.05 * ((left - right) ** 2).sum(axis=1))


def against_pot() -> None:
    try:
        import ot
    except ImportError:
        line("emd over POT's emd2", "skipped", "`pip install pot`")
        return
    rng = np.random.default_rng(2)
    for m in (8, 20, 100):
        problems = []
        for _ in range(4000 // m):
            a, b = rng.random(m), rng.random(m)
            x, y = rng.normal(size=(m, 30)), rng.normal(size=(m, 30))
            problems.append((a / a.sum(), b / b.sum(), np.linalg.norm(x[:, None] - y[None], axis=2)))
        far = max(abs(landmark.emd(*one) - ot.emd2(*one)) for one in problems)
        ratio = seconds(lambda: [landmark.emd(*one) for one in problems]) / seconds(lambda: [ot.emd2(*one) for one in problems])
        line(f"emd over POT's emd2, {m} × {m}", f"{ratio:.2f}", f"below 1; differ by {far:.0e} at most")
    words = [f"w{number}" for number in range(800)]
    vectors = rng.normal(size=(800, 50)).astype(np.float32)
    texts = [" ".join(rng.choice(words, size=rng.integers(5, 15))) for _ in range(80)]

    def by_pot() -> None:
        for a in range(80):
            for b in range(a):
                left, right = (sorted(set(texts[one].split())) for one in (a, b))
                masses = [np.array([texts[one].split().count(word) for word in of], dtype=float) for one, of in ((a, left), (b, right))]
                costs = np.linalg.norm(vectors[[int(w[1:]) for w in left]][:, None] - vectors[[int(w[1:]) for w in right]][None], axis=2)
                ot.emd2(masses[0] / masses[0].sum(), masses[1] / masses[1].sum(), costs.astype(float))

    oracle, every = Wmd(words, vectors).oracle(texts), np.arange(80)
    line("wmd of all pairs of 80 texts over POT's emd2", f"{seconds(lambda: oracle.block(every, every), 3) / seconds(by_pot, 3):.3f}", "below 1")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--runner", help="the program, built for release")
    options = parser.parse_args()
    importing()
    interrupting()
    overhead(options.pairs)
    against_the_program(options.runner)
    against_nystroem()
    against_pot()

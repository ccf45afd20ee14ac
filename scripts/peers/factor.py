#!/usr/bin/env python3
"""Factoring against NumPy/SciPy: the same work on the same matrix in one run, with the same number of threads.

    cargo build --release -p landmark-core --example factor_times
    python scripts/peers/factor.py target/release/examples/factor_times [--threads 2] [--n 3000] [--s 700]

Needs numpy and scipy; 8n² bytes of memory and of disk, and as much again for the file's cache (n = 30,000: 7 GB each). Prints seconds of
both and their ratio (ours / theirs, at most 1 is the aim). Each twin starts from the full matrix in memory, picks its columns and ends with
factors, as ours does; SMS takes SciPy's Lanczos for the smallest eigenvalue, shift_ridge the same quadratic form for its grid. The steps of
Nyström are timed by themselves as well: without an aim, to see where its time goes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ours", help="the built example `factor_times`")
parser.add_argument("--threads", default="2")
parser.add_argument("--n", type=int, default=3000)
parser.add_argument("--s", type=int, default=700)
parser.add_argument("--repeats", type=int, default=7)
options = parser.parse_args()
# before NumPy is loaded
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = options.threads

import numpy as np  # noqa: E402
from scipy.sparse.linalg import eigsh  # noqa: E402

from aims import end, hold  # noqa: E402
from shift_ridge import shift_ridge_of  # noqa: E402


def write_similarity(path, n, rng, height=1000):
    """A positive part of falling spectrum plus symmetric noise, n × n, to a file: block by block, for a matrix of 7 GB fits in memory once."""
    K = np.memmap(path, dtype=float, mode="w+", shape=(n, n))
    signal = rng.uniform(-1, 1, (n, 100)) / (1 + np.arange(100) / 4)
    for i in range(0, n, height):
        for j in range(i, n, height):
            block = signal[i : i + height] @ signal[j : j + height].T
            block += rng.uniform(-0.05, 0.05, block.shape) + rng.uniform(-0.05, 0.05, block.shape)
            K[i : i + height, j : j + height] = block if i < j else (block + block.T) / 2
            K[j : j + height, i : i + height] = K[i : i + height, j : j + height].T
    K.flush()


def nystrom(K, order, s):
    S = order[:s]
    C = K[:, S]
    w, V = np.linalg.eigh(C[S])
    return C @ (V / np.sqrt(np.abs(w)))


def sms_nystrom(K, order, s):
    S, S2 = order[:s], order[: 2 * s]
    C = K[:, S]
    lambda_min = eigsh(K[np.ix_(S2, S2)], k=1, which="SA", tol=1e-3, return_eigenvectors=False)[0]
    e = -1.5 * min(0.0, lambda_min)
    w, V = np.linalg.eigh(C[S])
    P = V / np.sqrt(np.abs(w + e))
    Z = C @ P
    Z[S] += e * P
    return Z


def sicur(K, order, s):
    s1 = s // 2
    C = K[:, order[:s]]
    U = np.linalg.pinv(C[order[:s], :s1], rcond=1e-10)
    return C[:, :s1].copy(), C @ U.T


def stacur(K, order, s):
    S = order[:s]
    C = K[:, S]
    U = (len(K) / s) * np.linalg.pinv(C.T @ C, rcond=s * np.finfo(float).eps) @ C[S]
    return C, C @ U.T


def shift_ridge(K, order, s):
    return shift_ridge_of(K[:, order[:s]], order[:s], order[s:], np.random.default_rng(0))


def cpu():
    times = os.times()
    return times.user + times.system


def main():
    rng = np.random.default_rng(2022)
    with tempfile.NamedTemporaryFile(suffix=".f64") as file:
        write_similarity(file.name, options.n, rng)
        arguments = [options.ours, file.name, str(options.n), str(options.s), str(options.repeats)]
        lines = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split("\n")
        # not before: there is room for one of the two
        K = np.fromfile(file.name).reshape(options.n, options.n)
    order = rng.permutation(options.n)
    ours = {name: (float(wall), float(cpu)) for name, wall, cpu in (line.split() for line in lines if line)}
    print(f"n = {options.n}, s = {options.s}, {options.threads} threads, median of {options.repeats}; numpy {np.__version__}")
    print(f"{'method':12} {'ours':>8} {'cpu':>8} {'NumPy':>8} {'cpu':>8} {'ratio':>6}")

    def compare(name, run):
        times = []
        for _ in range(options.repeats):
            wall, used = time.perf_counter(), cpu()
            run()
            times.append((time.perf_counter() - wall, cpu() - used))
        wall, used = sorted(times)[options.repeats // 2]
        mine, mine_cpu = ours[name]
        print(f"{name:12} {mine:8.3f} {mine_cpu:8.3f} {wall:8.3f} {used:8.3f} {mine / wall:6.2f}")
        return mine, wall

    for method in (nystrom, sms_nystrom, sicur, stacur, shift_ridge):
        mine, wall = compare(method.__name__, lambda: method(K, order, options.s))
        hold(f"{method.__name__} over NumPy", mine / wall, at_most=1, ours=mine, theirs=wall)
    S = order[: options.s]
    C, W = K[:, S], K[np.ix_(S, S)]
    V = np.linalg.eigh(W)[1]
    print("the steps of nystrom")
    for name, step in (("columns", lambda: K[:, S]), ("eigh", lambda: np.linalg.eigh(W)), ("product", lambda: C @ V)):
        compare(name, step)
    return end()


if __name__ == "__main__":
    sys.exit(main())

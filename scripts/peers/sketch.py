#!/usr/bin/env python3
"""Frequent Directions against NumPy: the same rows in one run, on one thread.

    cargo build --release -p landmark-features --example sketch_times
    python scripts/peers/sketch.py target/release/examples/sketch_times [--n 1000000] [--d 100] [--l 100]

Needs numpy. The peers are the two forms as one writes them with NumPy: figure 1 of the paper by SVD, and a buffer of 2l rows shrunk by the
eigendecomposition of its Gram matrix. X is standard normal (table 3 of the paper). Prints seconds, ||X'X - Y'Y||_2 and the ratio ours / theirs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ours", help="the built example `sketch_times`")
parser.add_argument("--n", type=int, default=1_000_000)
parser.add_argument("--d", type=int, default=100)
parser.add_argument("--l", type=int, default=100)
parser.add_argument("--repeats", type=int, default=3, help="of ours; the peers run once")
options = parser.parse_args()
# before NumPy is loaded
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from aims import end, hold  # noqa: E402


def figure_1(X, l):
    Y = np.zeros((l, X.shape[1]))
    filled = at = 0
    while at < len(X):
        take = min(l - filled, len(X) - at)
        Y[filled : filled + take] = X[at : at + take]
        filled, at = filled + take, at + take
        if filled == l:
            _, s, V = np.linalg.svd(Y, full_matrices=False)
            s = np.sqrt(np.maximum(s**2 - s[(l + 1) // 2 - 1] ** 2, 0))
            Y[:] = 0
            Y[: len(s)] = s[:, None] * V
            filled = int((s > 0).sum())
    return Y


def buffered_2l(X, l):
    B = np.zeros((2 * l, X.shape[1]))
    filled = at = 0
    while at < len(X):
        take = min(2 * l - filled, len(X) - at)
        B[filled : filled + take] = X[at : at + take]
        filled, at = filled + take, at + take
        if filled == 2 * l or at == len(X):
            G = B.T @ B if B.shape[1] <= len(B) else B @ B.T
            w, V = np.linalg.eigh(G)
            w, V = np.maximum(w[::-1], 0), V[:, ::-1]
            delta = w[l] if len(w) > l else 0.0
            kept = int((w[:l] - delta > 0).sum())
            if B.shape[1] <= len(B):
                Y = np.sqrt(w[:kept] - delta)[:, None] * V[:, :kept].T
            else:
                Y = (V[:, :kept] * np.sqrt((w[:kept] - delta) / w[:kept])).T @ B
            B[:] = 0
            B[:kept] = Y
            filled = kept
    return B[:filled]


def main():
    X = np.random.default_rng(2022).standard_normal((options.n, options.d))
    with tempfile.NamedTemporaryFile(suffix=".f64") as file:
        X.tofile(file)
        file.flush()
        sizes = [str(v) for v in (options.n, options.d, options.l, options.repeats)]
        lines = subprocess.run([options.ours, file.name, *sizes], check=True, capture_output=True, text=True).stdout
    ours = {name: rest for name, *rest in (line.split() for line in lines.splitlines() if line)}
    C = X.T @ X
    print(f"n = {options.n}, d = {options.d}, l = {options.l}, one thread; numpy {np.__version__}")
    print(f"||X||_F^2 = {np.trace(C):.2f}, 2||X||_F^2/l = {2 * np.trace(C) / options.l:.2f}")
    print(f"{'form':14} {'ours':>8} {'NumPy':>8} {'ratio':>6} {'error':>12} {'NumPy':>12} {'bound':>12}")
    peers = {}
    for peer in (figure_1, buffered_2l):
        start = time.perf_counter()
        Y = peer(X, options.l)
        peers[peer.__name__] = (time.perf_counter() - start, np.linalg.norm(C - Y.T @ Y, 2))
    for name, (seconds, error, bound, _) in ours.items():
        theirs, their_error = peers[name if name in peers else "buffered_2l"]
        ratio = float(seconds) / theirs
        hold(f"{name} over NumPy", ratio, at_most=1, ours=float(seconds), theirs=theirs)
        print(f"{name:14} {float(seconds):8.3f} {theirs:8.3f} {ratio:6.2f} {float(error):12.2f} {their_error:12.2f} {float(bound):12.2f}")
    return end()


if __name__ == "__main__":
    sys.exit(main())

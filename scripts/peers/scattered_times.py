#!/usr/bin/env python3
"""Scattered entries against the same steps in NumPy: equal calls on one matrix, in one run, with the same number of threads.

    cargo build --release -p landmark-core --example scattered_table
    python scripts/peers/scattered_times.py target/release/examples/scattered_table [--threads 2] [--n 3000] [--share 0.1]

Needs numpy. Both start from all of K and of one proxy in memory, fit shift_ridge around the proxy on the columns and without each
fifth of them, learn the size of residuals, evaluate the largest in two rounds and end with factors and entries; the twin holds a matrix
of n² predicted sizes, ours looks at it in blocks. Prints seconds, their ratio (at most 1 is the aim) and both errors.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ours", help="the built example `scattered_table`")
parser.add_argument("--threads", default="2")
parser.add_argument("--n", type=int, default=3000)
parser.add_argument("--share", type=float, default=0.1, help="s/n")
parser.add_argument("--repeats", type=int, default=3)
options = parser.parse_args()
# before NumPy is loaded
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = options.threads

import numpy as np  # noqa: E402

from aims import end, hold  # noqa: E402
from scattered import features, ridge  # noqa: E402
from shift_ridge import shift_ridge_of  # noqa: E402

PRIOR = 5.0


def problem(n, rng):
    """A score that bends what a noisy proxy sees, with item effects and a few items that are hard to predict."""
    seen, hidden = rng.standard_normal((n, 12)), rng.standard_normal((n, 8)) / 4
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)  # noqa: E731
    proxy, more = unit(seen) @ unit(seen).T, hidden @ hidden.T
    noise = rng.standard_normal((n, n)) * 0.02 * np.where(np.arange(n) % 10 == 0, 4, 1)[:, None]
    effect = rng.uniform(-0.1, 0.1, n)
    return proxy + 0.5 * proxy**3 + more + (noise + noise.T) / 2 + effect[:, None] + effect, proxy


def proxied(K, P, order, s, rng):
    """q(P) + shift_ridge of the residual columns: the coefficients of q and the signed factors."""
    S = order[:s]
    off = np.ones((len(K), s), bool)
    off[S, np.arange(s)] = False
    design = np.stack([np.ones(off.sum()), P[:, S][off], P[:, S][off] ** 2], -1)
    q = np.linalg.lstsq(design, K[:, S][off], rcond=None)[0]
    residual = K[:, S] - (q[0] + q[1] * P[:, S] + q[2] * P[:, S] ** 2)
    return q, *shift_ridge_of(residual, S, order[s:], rng, allow_zero=True)


def predict(fit, P, rows, cols):
    q, Z, signs = fit
    p = P[np.ix_(rows, cols)]
    return q[0] + q[1] * p + q[2] * p**2 + (Z[rows] * signs) @ Z[cols].T


def scattered(K, P, order, s, share, rounds, rng):
    n = len(K)
    calls = lambda s: n * s - s * (s - 1) // 2  # noqa: E731
    few = max(t for t in range(4, s + 1) if calls(t) <= max(share * calls(s), calls(4)))
    S, every = order[:few], np.arange(n)
    fit = proxied(K, P, order, few, rng)
    i, j, m = [], [], []
    for held in np.array_split(rng.permutation(few), 5):
        kept = np.setdiff1d(np.arange(few), held)
        smaller = proxied(K, P, np.concatenate([S[kept], order[few:]]), len(kept), rng)
        rows = np.setdiff1d(every, S[kept])
        block = predict(smaller, P, rows, S[held])
        a, b = np.nonzero(rows[:, None] != S[held][None, :])
        i.append(rows[a]), j.append(S[held][b]), m.append(block[a, b])
    i, j, m = map(np.concatenate, (i, j, m))
    predicted = predict(fit, P, every, every)
    left = np.triu(np.ones((n, n), bool), 1)
    left[S], left[:, S] = False, False
    pairs, k, todo = [], K[i, j], calls(s) - calls(few)
    for part in range(rounds):
        square = (k - m) ** 2
        mean = square.mean()
        total = np.bincount(i, square, n) + np.bincount(j, square, n)
        count = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
        sigma, scale = np.sqrt((total + PRIOR * mean) / (count + PRIOR)), np.sqrt(mean)
        without = lambda item: np.sqrt((total[item] - square + PRIOR * mean) / (count[item] - 1 + PRIOR))  # noqa: E731
        model = ridge(features(m, without(i), without(j), scale, [P[i, j]]), np.sqrt(np.abs(k - m)))
        sizes = np.full((n, n), -np.inf)
        for first in range(0, n, 500):  # a block of rows of features at a time: all of them would take n² · 12 numbers
            rows = slice(first, first + 500)
            wide = features(predicted[rows], sigma[rows, None], sigma[None], scale, [P[rows]])
            sizes[rows] = np.where(left[rows], model(wide.reshape(-1, wide.shape[-1])).reshape(-1, n), -np.inf)
        want = (todo - len(pairs)) // (rounds - part)
        found = np.argpartition(sizes, sizes.size - want, axis=None)[-want:]
        a, b = np.unravel_index(found, sizes.shape)
        left[a, b] = False
        pairs.extend(zip(a, b))
        i, j, m, k = (np.concatenate(x) for x in ((i, a), (j, b), (m, predicted[a, b]), (k, K[a, b])))
    return predicted, S, np.array(pairs)


def main():
    rng = np.random.default_rng(2022)
    n, s = options.n, round(options.share * options.n)
    K, P = problem(n, rng)
    order = rng.permutation(n)
    seconds = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        predicted, S, pairs = scattered(K, P, order, s, 0.75, 2, np.random.default_rng(1))
        seconds.append(time.perf_counter() - start)
    known = predicted.copy()
    known[S], known[:, S] = K[S], K[:, S]
    known[pairs[:, 0], pairs[:, 1]] = known[pairs[:, 1], pairs[:, 0]] = K[pairs[:, 0], pairs[:, 1]]
    theirs, error = sorted(seconds)[len(seconds) // 2], np.linalg.norm(K - known) / np.linalg.norm(K)
    with tempfile.TemporaryDirectory() as folder:
        K.tofile(pathlib.Path(folder, "K.f64"))
        P.tofile(pathlib.Path(folder, "proxy0.f64"))
        arguments = [options.ours, folder, "2", str(options.repeats), str(options.share), "scattered .75"]
        printed = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    words = printed.strip().split()
    mine, own_error = float(words[words.index("seconds") - 1]), float(words[words.index("±") - 1])
    print(f"n = {n}, s/n = {options.share}, {options.threads} threads, {options.repeats} fits; numpy {np.__version__}")
    print(f"ours {mine:.2f} s, error {own_error:.4f}; NumPy {theirs:.2f} s, error {error:.4f}; ratio {mine / theirs:.2f}")
    hold("scattered entries over NumPy", mine / theirs, at_most=1, ours=mine, theirs=theirs)
    return end()


if __name__ == "__main__":
    sys.exit(main())

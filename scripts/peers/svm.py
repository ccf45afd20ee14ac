#!/usr/bin/env python3
"""Linear SVM against scikit-learn's LinearSVC (LIBLINEAR) on the same rows, in one run.

    cargo build --release -p landmark-tasks --example time_svm
    scripts/peers/svm.py [--example PATH] [--rows N --columns D --classes K --c C --gap G] [--threads T]

Needs Python 3 with numpy and scikit-learn (any virtual environment). Both solve L2-regularised squared-hinge machines, one class
against the rest, with a regularised bias. Both gaps are measured here and alike, from the weights alone: alpha_i = 2 C
max(0, 1 - y_i f_i) is feasible for the dual, so primal(w) - dual(alpha) bounds the error of w. LinearSVC runs to the loosest tolerance of
a ladder whose gap is as small as ours; each rung's time is that of a fresh fit. It uses one thread; ours is timed with --threads.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.svm import LinearSVC

from aims import hold


def relative_gap(x, labels, weights, bias, c):
    """The largest (primal - dual) / primal over the machines of all classes, the bias being a feature of value 1."""
    worst = 0.0
    for k, (w, b) in enumerate(zip(weights, bias)):
        y = np.where(labels == k, 1.0, -1.0)
        error = np.maximum(0.0, 1.0 - y * (x @ w + b))
        alpha = 2.0 * c * error
        v, v_bias = x.T @ (alpha * y), (alpha * y).sum()
        primal = 0.5 * (w @ w + b * b) + c * (error @ error)
        dual = alpha.sum() - 0.5 * (v @ v + v_bias * v_bias) - (alpha @ alpha) / (4.0 * c)
        worst = max(worst, (primal - dual) / primal)
    return worst


def time_peer(x, labels, c, dual, tolerance, iterations, classes):
    machine = LinearSVC(C=c, dual=dual, tol=tolerance, max_iter=iterations, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        machine.fit(x, labels)
        seconds = time.perf_counter() - start
    weights, bias = machine.coef_, machine.intercept_
    if classes == 2:
        weights, bias = np.vstack([-weights, weights]), np.concatenate([-bias, bias])
    return seconds, relative_gap(x, labels, weights, bias, c), not caught


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--example", default=root / "target/release/examples/time_svm", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--c", type=float, default=1.0)
    parser.add_argument("--gap", type=float, default=1e-4, help="relative duality gap that both must reach")
    parser.add_argument("--threads", type=int, default=2, help="threads of ours; LinearSVC has one")
    parser.add_argument("--iterations", type=int, default=1000, help="LinearSVC's max_iter")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sizes = [str(v) for v in (arguments.rows, arguments.columns, arguments.classes, arguments.c, arguments.gap)]
        environment = dict(os.environ, RAYON_NUM_THREADS=str(arguments.threads))
        printed = subprocess.run(
            [arguments.example, folder, *sizes], env=environment, check=True, capture_output=True, text=True
        ).stdout
        ours = json.loads(printed)
        x = np.fromfile(folder / "x.f64").reshape(arguments.rows, arguments.columns)
        labels = np.fromfile(folder / "labels.u64", dtype=np.uint64).astype(int)
        weights = np.fromfile(folder / "weights.f64").reshape(arguments.classes, arguments.columns)
        bias = np.fromfile(folder / "bias.f64")

    gap = relative_gap(x, labels, weights, bias, arguments.c)
    print(f"rows {arguments.rows}, columns {arguments.columns}, classes {arguments.classes}, C {arguments.c:g}")
    print(f"{'solver':<34}{'seconds':>10}{'gap':>12}{'ratio':>9}")
    print(f"{'landmark, ' + str(ours['threads']) + ' thread(s)':<34}{ours['seconds']:>10.3f}{gap:>12.2e}{1:>9.1f}")
    for dual in (False, True):
        for tolerance in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            seconds, reached, converged = time_peer(
                x, labels, arguments.c, dual, tolerance, arguments.iterations, arguments.classes
            )
            label = f"LinearSVC dual={dual} tol={tolerance:g}" + ("" if converged else " (gave up)")
            print(f"{label:<34}{seconds:>10.3f}{reached:>12.2e}{seconds / ours['seconds']:>9.1f}", flush=True)
            if reached <= max(gap, arguments.gap) or not converged:
                # the rung that is loose enough may differ from run to run, the name of the ratio may not
                peer = f"LinearSVC dual={dual}" + ("" if converged else " (gave up)")
                hold(f"{peer} over landmark", seconds / ours["seconds"], ours=ours["seconds"], theirs=seconds)
                break


if __name__ == "__main__":
    main()

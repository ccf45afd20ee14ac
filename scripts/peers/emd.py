#!/usr/bin/env python3
"""Word mover's distance against POT (Python Optimal Transport) on the same pairs of documents, in one run.

    cargo build --release -p landmark-oracles --example time_emd
    scripts/peers/emd.py [--example PATH] [--shape synthetic_tweets] [--columns C --rows R --rounds K]

Needs Python 3 with numpy and pot (any virtual environment). One thread on both sides, processor time, median over rounds, word distances
included: ours from the vectors of the words (with tables shared along a column), POT's from one matrix product a pair. `ot.emd2` is POT's
usual entry, `emd_c` the C++ network simplex behind it without its checks. The distances themselves are compared too.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import ot
from ot.lp.emd_wrap import emd_c

from aims import hold


def load(folder):
    """The pairs as (weights, weights, vectors, vectors), and our distances."""
    read = lambda name, kind: np.fromfile(folder / name, dtype=kind)
    offsets, words, weights = read("offsets", "<u8"), read("words", "<u8"), read("weights", "<f8")
    vectors = read("vectors", "<f4").reshape(-1, 300).astype(float)
    documents = [(weights[a:b].copy(), vectors[words[a:b].astype(int)]) for a, b in zip(offsets[:-1], offsets[1:])]
    pairs = read("pairs", "<u8").astype(int).reshape(-1, 2)
    return [documents[i] + documents[j] for i, j in pairs], read("distances", "<f8")


def costs(x, y):
    """Euclidean distances by one matrix product; what is left of a cancelled square is 0, as a shared word must cost."""
    norms = (x * x).sum(1)[:, None] + (y * y).sum(1)
    squared = norms - 2.0 * x @ y.T
    squared[squared < 1e-12 * norms] = 0.0
    return np.sqrt(squared)


def median_microseconds(run, pairs, rounds):
    """Median processor time a pair, and the last results."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        results = [run(*pair) for pair in pairs]
        times.append(time.process_time() - start)
    return 1e6 * float(np.median(times)) / len(pairs), results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--example", default="target/release/examples/time_emd")
    parser.add_argument("--shape", nargs="+", default=["synthetic_tweets", "synthetic_news"])
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    for shape in options.shape:
        with tempfile.TemporaryDirectory() as folder:
            sizes = [str(options.columns), str(options.rows), str(options.rounds)]
            command = [options.example, shape, folder, *sizes]
            ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
            pairs, distances = load(pathlib.Path(folder))
        rounds = max(1, options.rounds // 2)
        cost_time, matrices = median_microseconds(lambda a, x, b, y: costs(x, y), pairs, rounds)
        problems = [(a, b, matrix) for (a, _, b, _), matrix in zip(pairs, matrices)]
        emd2_time, theirs = median_microseconds(ot.emd2, problems, rounds)
        emd_c_time, _ = median_microseconds(
            lambda a, b, matrix: emd_c(a, b * (a.sum() / b.sum()), matrix, 1_000_000, 1), problems, rounds
        )
        difference = float(np.abs(np.array(theirs) - distances).max())
        print(f"{shape}: {len(pairs)} pairs of documents of {ours['words']:.1f} words on average, one thread, microseconds a pair")
        print(f"  landmark  WMD {ours['wmd']:9.2f}   scattered pairs {ours['wmd_scattered']:.2f}, RWMD {ours['rwmd']:.3f}, WCD {ours['wcd']:.3f}")
        print(f"  POT emd2      {emd2_time + cost_time:9.2f}   ({emd2_time:.2f} + {cost_time:.2f} for the costs)")
        print(f"  POT emd_c     {emd_c_time + cost_time:9.2f}   ({emd_c_time:.2f} + {cost_time:.2f} for the costs)")
        print(f"  ratio to emd2 {ours['wmd'] / (emd2_time + cost_time):.3f}, to emd_c {ours['wmd'] / (emd_c_time + cost_time):.3f}")
        for peer, theirs in (("emd2", emd2_time + cost_time), ("emd_c", emd_c_time + cost_time)):
            hold(f"WMD of {shape} over POT {peer}", ours["wmd"] / theirs, ours=1e-6 * ours["wmd"], theirs=1e-6 * theirs)
        print(f"  on 2 threads {ours['speedup_on_2_threads']:.2f} times as fast; largest difference of a distance {difference:.1e}")


if __name__ == "__main__":
    main()

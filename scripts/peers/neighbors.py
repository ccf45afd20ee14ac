#!/usr/bin/env python3
"""Top-k of all items from factors against scikit-learn's brute force: the same vectors in one run, the same threads.

    cargo build --release -p landmark-tasks --example time_neighbors
    python scripts/peers/neighbors.py target/release/examples/time_neighbors [--n 100000] [--r 500] [--k 10]

Needs numpy and scikit-learn. Rows have length 1, so that the largest inner product is the smallest Euclidean distance, which is
what scikit-learn's fastest brute force (`metric="euclidean"`) computes. Prints seconds of both and ours / theirs, and checks
that the neighbors are the same.
"""

import argparse
import os
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ours", help="the built example `time_neighbors`")
parser.add_argument("--threads", default="2")
parser.add_argument("--n", type=int, default=100_000)
parser.add_argument("--r", type=int, default=500)
parser.add_argument("--k", type=int, default=10)
options = parser.parse_args()
# before NumPy is loaded
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = options.threads

import numpy as np  # noqa: E402
from sklearn.neighbors import NearestNeighbors  # noqa: E402

from aims import hold  # noqa: E402

n, r, k = options.n, options.r, options.k
Z = np.random.default_rng(2022).normal(size=(n, r)) / (1 + np.arange(r) / 20)
Z /= np.linalg.norm(Z, axis=1, keepdims=True)

with tempfile.TemporaryDirectory() as folder:
    vectors, found = os.path.join(folder, "vectors.f64"), os.path.join(folder, "found.u64")
    Z.tofile(vectors)
    arguments = [options.ours, vectors, str(n), str(r), str(k), found]
    ours = float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
    items = np.fromfile(found, dtype=np.uint64).reshape(n, k)

start = time.perf_counter()
theirs = NearestNeighbors(n_neighbors=k, algorithm="brute", metric="euclidean").fit(Z).kneighbors(return_distance=False)
seconds = time.perf_counter() - start
same = np.mean(items == theirs)
print(f"top-{k} of {n:,} items at rank {r}: ours {ours:.1f} s, scikit-learn {seconds:.1f} s, ratio {ours / seconds:.2f}")
hold("top-k over scikit-learn", ours / seconds, ours=ours, theirs=seconds)
print(f"the same neighbors in the same places: {100 * same:.4f} %")
# equal to the last bits: distances and products round differently
assert same > 0.9999, "the neighbors differ"

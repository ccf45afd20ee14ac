#!/usr/bin/env python3
"""Top-k of all items from factors against scikit-learn's brute force: the same vectors in one run, the same threads.

    cargo build --release -p landmark-tasks --example time_neighbors
    python scripts/peers/neighbors.py target/release/examples/time_neighbors [--n 100000] [--r 500] [--k 10] [--index [SPREAD]]

`--index` compares the index of clusters with FAISS (`faiss-cpu`): an inverted file of as many clusters, of which as few are searched as hold the
same share of the nearest neighbors. Vectors are then drawn around 2,000 centers, at SPREAD (1) times the distance of these from 0.

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
parser.add_argument("--index", type=float, nargs="?", const=1.0, metavar="SPREAD", help="the index of clusters against that of FAISS")
options = parser.parse_args()
# before NumPy is loaded
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = options.threads

import numpy as np  # noqa: E402
from sklearn.neighbors import NearestNeighbors  # noqa: E402

from aims import hold  # noqa: E402

n, r, k = options.n, options.r, options.k
draw = np.random.default_rng(2022)
Z = draw.normal(size=(n, r)) / (1 + np.arange(r) / 20)
if options.index is not None:
    Z = options.index * Z + (draw.normal(size=(2000, r)) / (1 + np.arange(r) / 20))[draw.integers(0, 2000, n)]
Z /= np.linalg.norm(Z, axis=1, keepdims=True)



def timed(*more):
    """Seconds and lists of the example."""
    with tempfile.TemporaryDirectory() as folder:
        vectors, found = os.path.join(folder, "vectors.f64"), os.path.join(folder, "found.u64")
        Z.tofile(vectors)
        arguments = [options.ours, vectors, str(n), str(r), str(k), found, *more]
        seconds = float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
        return seconds, np.fromfile(found, dtype=np.uint64).reshape(n, k).astype(np.int64)


def against_faiss():
    import faiss

    faiss.omp_set_num_threads(int(options.threads))
    ours, items = timed("index")
    checked = draw.choice(n, 1000, replace=False)
    scores = Z[checked] @ Z.T
    scores[np.arange(1000), checked] = -np.inf
    exact = np.argpartition(-scores, k, axis=1)[:, :k]
    recall = lambda lists: np.mean([len(set(a) & set(b)) / k for a, b in zip(lists, exact)])  # noqa: E731
    X = Z.astype(np.float32)
    start = time.perf_counter()
    clusters = int(4 * np.sqrt(n))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(r), r, clusters, faiss.METRIC_INNER_PRODUCT)
    index.train(X)
    index.add(X)
    built = time.perf_counter() - start
    of = lambda rows: [[j for j in row if j != i][:k] for i, row in zip(rows, index.search(X[rows], k + 1)[1])]  # noqa: E731
    while recall(of(checked)) < recall(items[checked]) and index.nprobe < clusters:
        index.nprobe = index.nprobe + max(1, index.nprobe // 8)
    start = time.perf_counter()
    index.search(X, k + 1)
    theirs = built + time.perf_counter() - start
    print(f"recall {recall(items[checked]):.4f}, FAISS {recall(of(checked)):.4f} with {index.nprobe} of {clusters} clusters")
    print(f"top-{k} of {n:,} items at rank {r} by an index: ours {ours:.1f} s, FAISS {theirs:.1f} s, ratio {ours / theirs:.2f}")
    hold("index over FAISS", ours / theirs, ours=ours, theirs=theirs)


if options.index is not None:
    against_faiss()
    raise SystemExit

ours, items = timed()
start = time.perf_counter()
theirs = NearestNeighbors(n_neighbors=k, algorithm="brute", metric="euclidean").fit(Z).kneighbors(return_distance=False)
seconds = time.perf_counter() - start
same = np.mean(items == theirs)
print(f"top-{k} of {n:,} items at rank {r}: ours {ours:.1f} s, scikit-learn {seconds:.1f} s, ratio {ours / seconds:.2f}")
hold("top-k over scikit-learn", ours / seconds, ours=ours, theirs=seconds)
print(f"the same neighbors in the same places: {100 * same:.4f} %")
# equal to the last bits: distances and products round differently
assert same > 0.9999, "the neighbors differ"

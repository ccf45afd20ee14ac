#!/usr/bin/env python3
"""Average linkage against SciPy's on the same distances, and the scorer against its bound, in one run.

    cargo build --release -p landmark-tasks --example time_coref
    scripts/peers/coref.py [--example PATH] [--items N] [--mentions M --clusters C]

Needs Python 3 with numpy and scipy (any virtual environment). Both cluster the same condensed matrix in one thread and must give the same
clusters below the threshold. The scorer computes all figures of the reference scorers, optimal alignments included.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from aims import hold


def renamed(labels):
    """Numbers in the order of first appearance."""
    names = {}
    return np.array([names.setdefault(label, len(names)) for label in labels])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--example", default=root / "target/release/examples/time_coref", type=pathlib.Path)
    parser.add_argument("--items", type=int, default=5_000)
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--mentions", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3, help="the best of this number is taken, on both sides")
    arguments = parser.parse_args()

    ours, theirs = [], []
    for _ in range(arguments.repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            sizes = [arguments.items, arguments.threshold, arguments.mentions, arguments.clusters]
            printed = subprocess.run(
                [arguments.example, folder, *map(str, sizes)], check=True, capture_output=True, text=True
            ).stdout
            ours.append(json.loads(printed))
            distances = np.fromfile(folder / "distances.f64")
            labels = np.fromfile(folder / "labels.u64", dtype=np.uint64)
        start = time.perf_counter()
        merges = linkage(distances, "average")
        # SciPy merges up to the threshold, ours strictly below: the next smaller number makes them the same
        peer = fcluster(merges, np.nextafter(arguments.threshold, 0.0), "distance")
        theirs.append(time.perf_counter() - start)
        if not np.array_equal(renamed(labels), renamed(peer)):
            raise SystemExit("the clusters differ from SciPy's")
    best, peer = min(run["linkage_seconds"] for run in ours), min(theirs)
    print(f"average linkage of {arguments.items} mentions, {len(set(labels))} clusters below {arguments.threshold:g}, the same in both")
    print(f"{'landmark':<52}{best:>9.3f} s")
    print(f"{'scipy.cluster.hierarchy.linkage':<52}{peer:>9.3f} s{peer / best:>8.2f}x")
    hold("SciPy's linkage over landmark", peer / best, ours=best, theirs=peer)

    print(f"all figures of {arguments.mentions} mentions in {arguments.clusters} clusters")
    for k, row in enumerate(ours[0]["scoring"]):
        seconds = min(run["scoring"][k]["seconds"] for run in ours)
        print(f"{'landmark, ' + format(row['moved'], '.0%') + ' of the mentions elsewhere':<52}{seconds:>9.3f} s   CoNLL F1 {row['conll']:.4f}")


if __name__ == "__main__":
    main()

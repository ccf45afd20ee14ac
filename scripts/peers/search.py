#!/usr/bin/env python3
"""Neighbors and best pairs at equal calls: Landmark against other ways to choose pairs, on the same scores in one run.

    cargo build --release -p landmark-neighbors --example pairwise_recall
    python scripts/peers/search.py target/release/examples/pairwise_recall --data "$LANDMARK_DATA" [--matrix trees tweets recipes FILE.npz]

A call is an evaluated unordered pair; b calls per item are b*n pairs. Prints recall@1 and recall@10 of the lists and the share of the
n best pairs that was evaluated. A list holds the best evaluated pairs; the method's own estimate fills what is left. Every method gets
the same main proxy and the same item vectors. With `--all-proxies`, Landmark and the forest get every proxy of the matrix. A file of
your own has the score `K` (n x n, symmetric) and `vectors` of the items (n x d), whose cosine is the proxy.

    rerank       the best pairs of the proxy, by their place in the lists of both items
    gar          graph-adaptive reranking on the graph of the proxy (MacAvaney et al. 2022), every item in turn
    best first   the same on the graph of evaluated pairs: neighbors of neighbors, the best known path first
    nn-descent   NN-Descent (Dong et al. 2011) from the proxy's lists, stopped at the number of calls
    row gp       a Gaussian process per item with an RBF kernel over vectors, by upper confidence bounds (as BAGEL and GPR-LLM)
    forest       a random forest over proxies, vectors and row means, refitted four times (scikit-learn)

What was tuned on what: Landmark was developed on `trees`; `tweets` were seen in one early trial and in the choice of 256 directions,
`recipes` never. The other methods have one setting for all matrices, chosen before they were run on any; they are our implementations
but for the forest. Needs numpy and scikit-learn.
"""

import argparse
import heapq
import pathlib
import re
import subprocess
import tempfile

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from aims import end, hold

NAMES = ["trees", "tweets", "recipes"]
CALLS = (5, 10, 20, 50)
K = 10
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ours", help="the built example `pairwise_recall`")
parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with matrices/*.npz")
parser.add_argument("--matrix", nargs="+", default=NAMES, help="names, or files of your own")
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--all-proxies", action="store_true")
options = parser.parse_args()


class Matrix:
    """A score, its proxies (the main one first) and vectors of the items."""

    def __init__(self, name):
        is_own = name.endswith(".npz")
        if not is_own and name not in NAMES:
            parser.error(f"unknown matrix `{name}`: expected one of {', '.join(NAMES)}, or a file that ends with .npz")
        [path] = [pathlib.Path(name)] if is_own else (options.data / "matrices").glob(f"{name}*.npz")
        arrays = {key: value.astype(np.float64) for key, value in np.load(path).items()}
        if is_own:
            self.K, self.vectors = arrays["K"], arrays["vectors"]
            unit = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
            self.proxies = [unit @ unit.T]
        elif name == "trees":
            self.K, self.vectors = arrays["K"], arrays["E"]
            self.proxies = [arrays["bow"], arrays["tfidf"], arrays["wv"]]
        else:
            gamma = 1.25 if name == "tweets" else 3.0
            self.K, self.vectors = np.exp(-gamma * arrays["wmd"]), arrays["C"]
            self.proxies = [np.exp(-gamma * arrays[key]) for key in ("wcd", "rwmd", "rwmin")] + [arrays["bow"]]
        if not options.all_proxies:
            self.proxies = self.proxies[:1]
        self.name, self.n = path.stem, len(self.K)
        self.proxy = self.proxies[0].copy()
        np.fill_diagonal(self.proxy, -np.inf)
        off = self.K.copy()
        np.fill_diagonal(off, -np.inf)
        self.off = off
        self.truth = np.argsort(-off, axis=1, kind="stable")[:, :K]
        upper = np.sort(self.K[np.triu_indices(self.n, 1)])
        self.least_of_best = upper[-self.n]


class Calls:
    """Evaluates pairs until the calls end; a pair is evaluated once."""

    def __init__(self, matrix, per_item):
        self.matrix, self.left = matrix, per_item * matrix.n
        self.known = np.full((matrix.n, matrix.n), -np.inf)

    def is_known(self, i, j):
        return self.known[i, j] > -np.inf

    def score(self, i, j):
        """The score, or None if no call is left."""
        if i == j:
            return None
        if not self.is_known(i, j):
            if self.left == 0:
                return None
            self.left -= 1
            self.known[i, j] = self.known[j, i] = self.matrix.K[i, j]
        return self.known[i, j]

    def score_best(self, estimate, count):
        """Evaluates the `count` pairs that stand highest in the list of either item."""
        open_pairs = np.where(self.known > -np.inf, -np.inf, estimate)
        np.fill_diagonal(open_pairs, -np.inf)
        place = np.argsort(np.argsort(-open_pairs, axis=1, kind="stable"), axis=1, kind="stable")
        rank = np.minimum(place, place.T)
        first, second = np.triu_indices(self.matrix.n, 1)
        usable = np.isfinite(np.maximum(open_pairs, open_pairs.T)[first, second])
        first, second = first[usable], second[usable]
        order = np.lexsort((-np.maximum(open_pairs, open_pairs.T)[first, second], rank[first, second]))
        for at in order[: min(count, self.left)]:
            self.score(first[at], second[at])

    def figures(self, estimate):
        known = self.known > -np.inf
        ranked = np.where(known, 1e6 + self.known, estimate)
        np.fill_diagonal(ranked, -np.inf)
        found = np.argsort(-ranked, axis=1, kind="stable")[:, :K]
        truth = self.matrix.truth
        at_ten = np.mean([len(set(a) & set(b)) / K for a, b in zip(found.tolist(), truth.tolist())])
        at_one = np.mean([b[0] in a for a, b in zip(found.tolist(), truth.tolist())])
        first, second = np.triu_indices(self.matrix.n, 1)
        best = known[first, second] & (self.matrix.K[first, second] >= self.matrix.least_of_best)
        return at_one, at_ten, min(best.sum(), self.matrix.n) / self.matrix.n


def rerank(matrix, calls, rng):
    calls.score_best(matrix.proxy, calls.left)
    return matrix.proxy


def gar(matrix, calls, rng):
    """Every item in turn evaluates alternately its best open one by the proxy and a neighbor, by the proxy, of the best that it knows."""
    n = matrix.n
    by_proxy = np.argsort(-matrix.proxy, axis=1, kind="stable")
    cursor, turn = np.zeros(n, dtype=int), 0
    while calls.left > 0:
        before = calls.left
        for i in rng.permutation(n):
            if turn % 2 == 1:
                best = [j for j in np.argsort(-calls.known[i])[:K] if calls.is_known(i, j)]
                around = (j for near in best for j in by_proxy[near, :K] if j != i and not calls.is_known(i, j))
                j = next(around, None)
                if j is not None:
                    calls.score(i, j)
                    continue
            while cursor[i] < n - 1 and calls.is_known(i, by_proxy[i, cursor[i]]):
                cursor[i] += 1
            if cursor[i] < n - 1:
                calls.score(i, by_proxy[i, cursor[i]])
        turn += 1
        if calls.left == before and turn % 2 == 0:
            break
    return matrix.proxy


def best_first(matrix, calls, rng):
    """A third of the calls goes to the proxy's best; then the open pair (i, k) with the highest min(s(i, j), s(j, k)) is next."""
    calls.score_best(matrix.proxy, calls.left // 3)
    heap, queued = [], set()

    def add(i, j):
        score = calls.known[i, j]
        for a, b in ((i, j), (j, i)):
            # the ends of `b` around `a`
            for c in np.argsort(-calls.known[b])[:K]:
                if c != a and calls.is_known(b, c) and not calls.is_known(a, c):
                    key = (min(a, c), max(a, c))
                    strength = min(score, calls.known[b, c])
                    if (key, strength) not in queued:
                        queued.add((key, strength))
                        heapq.heappush(heap, (-strength, *key))

    for i, j in zip(*np.nonzero(np.triu(calls.known > -np.inf, 1))):
        add(i, j)
    while calls.left > 0 and heap:
        _, i, j = heapq.heappop(heap)
        if not calls.is_known(i, j):
            calls.score(i, j)
            add(i, j)
    calls.score_best(matrix.proxy, calls.left)
    return matrix.proxy


def nn_descent(matrix, calls, rng):
    """Local joins of the lists, both directions, from the proxy's best third of the calls."""
    calls.score_best(matrix.proxy, max(matrix.n, calls.left // 3))
    n = matrix.n
    while calls.left > 0:
        before = calls.left
        lists = [[j for j in np.argsort(-calls.known[i])[:K] if calls.is_known(i, j)] for i in range(n)]
        reverse = [[] for _ in range(n)]
        for i, near in enumerate(lists):
            for j in near:
                reverse[j].append(i)
        for i in rng.permutation(n):
            around = list(dict.fromkeys(lists[i] + reverse[i]))[: 2 * K]
            joins = [(a, b) for at, a in enumerate(around) for b in around[at + 1 :] if not calls.is_known(a, b)]
            for a, b in joins:
                calls.score(a, b)
            if calls.left == 0:
                break
        if calls.left == before:
            break
    calls.score_best(matrix.proxy, calls.left)
    return matrix.proxy


def row_gp(matrix, calls, rng):
    """Each row regressed on the vectors by a GP of its own; four rounds of the highest mean + deviation."""
    n, vectors = matrix.n, matrix.vectors
    squares = (vectors**2).sum(axis=1)
    distance = np.maximum(squares[:, None] + squares - 2 * vectors @ vectors.T, 0)
    kernel = np.exp(-distance / (2 * np.median(distance[np.triu_indices(n, 1)])))
    rounds, total = 4, calls.left
    calls.score_best(matrix.proxy, total // (rounds + 1))
    mean = matrix.proxy
    for _ in range(rounds):
        mean, bound = np.empty((n, n)), np.empty((n, n))
        for i in range(n):
            at = np.flatnonzero(calls.known[i] > -np.inf)
            if not len(at):
                mean[i], bound[i] = matrix.proxy[i], matrix.proxy[i]
                continue
            level, spread = calls.known[i, at].mean(), max(calls.known[i, at].std(), 1e-6)
            solve = np.linalg.solve(kernel[np.ix_(at, at)] + 0.05 * np.eye(len(at)), np.column_stack([(calls.known[i, at] - level) / spread, kernel[at]]))
            mean[i] = level + spread * (kernel[at].T @ solve[:, 0])
            deviation = np.sqrt(np.maximum(1 - (kernel[at] * solve[:, 1:]).sum(axis=0), 0))
            bound[i] = mean[i] + spread * deviation
        calls.score_best(bound, total // (rounds + 1))
    calls.score_best(bound, calls.left)
    return mean


def forest(matrix, calls, rng):
    """Features of a pair: proxies, products of the leading components of the vectors, means of the known scores of both items."""
    n = matrix.n
    centered = matrix.vectors - matrix.vectors.mean(axis=0)
    left, singular, _ = np.linalg.svd(centered, full_matrices=False)
    parts = (left * singular)[:, :12]
    first, second = np.triu_indices(n, 1)
    fixed = np.column_stack([*(proxy[first, second] for proxy in matrix.proxies), parts[first] * parts[second], np.abs(parts[first] - parts[second])])
    rounds, total = 4, calls.left
    start = rng.permutation(len(first))[: total // 10]
    for at in start:
        calls.score(first[at], second[at])
    calls.score_best(matrix.proxy, total // (rounds + 1) - len(start))
    estimate = matrix.proxy
    for _ in range(rounds):
        known = calls.known > -np.inf
        scores = np.where(known, calls.known, 0)
        everywhere = scores.sum() / max(known.sum(), 1)
        level = (scores.sum(axis=1) + 3 * everywhere) / (known.sum(axis=1) + 3)
        features = np.column_stack([fixed, np.minimum(level[first], level[second]), np.maximum(level[first], level[second])])
        is_known = known[first, second]
        trees = RandomForestRegressor(60, min_samples_leaf=2, max_features=0.5, n_jobs=-1, random_state=int(rng.integers(1 << 31)))
        trees.fit(features[is_known], calls.known[first, second][is_known])
        predicted = trees.predict(features)
        estimate = np.full((n, n), -np.inf)
        estimate[first, second] = estimate[second, first] = predicted
        calls.score_best(estimate, total // (rounds + 1))
    calls.score_best(estimate, calls.left)
    return estimate


def landmark(matrix):
    """recall@1, recall@10 and the share of best pairs, of lists and of pairs, by the example; the mean of its five draws."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        score = matrix.K.copy()
        np.fill_diagonal(score, 1.0)
        score.tofile(folder / "K")
        files = []
        for at, proxy in enumerate(matrix.proxies):
            whole = proxy.copy()
            np.fill_diagonal(whole, 1.0)
            whole.tofile(folder / f"proxy{at}")
            files.append(str(folder / f"proxy{at}"))
            if at == 0:
                matrix.vectors.tofile(folder / "vectors")
                files.append(str(folder / "vectors"))
        printed = subprocess.run([options.ours, str(folder / "K"), str(matrix.n), *files], check=True, capture_output=True, text=True).stdout
    lists = re.findall(r"^ *(\d+) +[\d.]+ [\d.]+ +([\d.]+) ([\d.]+) \(", printed, re.M)
    pairs = re.findall(r"^ *(\d+) +[\d.]+ +[\d.]+ +([\d.]+)$", printed, re.M)
    assert [int(b) for b, *_ in lists] == list(CALLS) == [int(b) for b, _ in pairs], printed
    return {int(b): (float(one), float(ten), float(share)) for (b, one, ten), (_, share) in zip(lists, pairs)}


BASELINES = {"rerank": rerank, "gar": gar, "best first": best_first, "nn-descent": nn_descent, "row gp": row_gp, "forest": forest}
for name in options.matrix:
    matrix = Matrix(name)
    table = {"Landmark": landmark(matrix)}
    for title, method in BASELINES.items():
        table[title] = {}
        for b in CALLS:
            runs = []
            for seed in range(1 if title == "rerank" else options.seeds):
                calls = Calls(matrix, b)
                estimate = method(matrix, calls, np.random.default_rng([seed, b]))
                assert calls.left >= 0
                runs.append(calls.figures(estimate))
            table[title][b] = tuple(np.mean(runs, axis=0))
    print(f"\n{matrix.name}, {matrix.n} items, {len(matrix.proxies)} proxies: recall@1, recall@10 and share of the n best pairs at {', '.join(map(str, CALLS))} calls per item")
    for title, row in table.items():
        print(f"| {title} | " + " | ".join(" ".join(f"{row[b][measure]:.3f}" for b in CALLS) for measure in range(3)) + " |", flush=True)
    for measure, what, floor in ((1, "recall@10", 0.995), (2, "best pairs", None), (0, "recall@1", None)):
        for b in CALLS:
            title, best = max(((title, row[b][measure]) for title, row in table.items() if title != "Landmark"), key=lambda one: one[1])
            hold(f"{what} over the best other ({title}), {matrix.name}, {b} calls", table["Landmark"][b][measure] / best, at_least=floor)
raise SystemExit(end())

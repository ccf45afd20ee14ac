"""Nearest neighbors and near-duplicates among 10,000 distinct sentences of STS-B, at 20 calls per sentence, with the recall that an audit shows.

    python sts_b_neighbors.py --data "$LANDMARK_DATA" [--items 10000] [--store scores]
    python sts_b_neighbors.py --data "$LANDMARK_DATA" --model stsb-cross-encoder --proxy all-MiniLM-L6-v2 --threshold 0.8 --rows 20

All pairs would be 49,995,000 calls. Without `--model` the score is exp(-1.25 WMD) of the word vectors `self300`, which needs no model, and the proxy is
the mean of these vectors. With `--model` the score is a cross-encoder of sentence-transformers, such as `fine_tune_sts_b.py` makes, called once per pair
with the sentences in alphabetical order; the proxy is a bi-encoder. The last lines compare with reranking: the same number of candidates per sentence,
chosen by the proxy alone.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from landmark import Landmark, Wmd, recall_of

K, LANDMARKS = 10, 2

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, required=True, help="folder with stsb/ and vectors/")
parser.add_argument("--items", type=int, default=10_000)
parser.add_argument("--calls", type=int, default=20, help="calls per sentence")
parser.add_argument("--threshold", type=float, default=0.6, help="least score of a near-duplicate")
parser.add_argument("--rows", type=int, default=60, help="sentences of the audit")
parser.add_argument("--model", help="a cross-encoder of sentence-transformers: a name on the hub or a folder")
parser.add_argument("--dtype", default="float32", help="of the cross-encoder: bfloat16 is faster on processors with instructions for it")
parser.add_argument("--proxy", default="sentence-transformers/all-MiniLM-L6-v2", help="the bi-encoder next to `--model`")
parser.add_argument("--store", help="folder that keeps the scores")
options = parser.parse_args()

rows = [line.split("\t") for part in ("train", "dev", "test") for line in (options.data / f"stsb/{part}.tsv").read_text("utf-8").splitlines()[1:]]
texts = list(dict.fromkeys(text for row in rows for text in row[-2:]))
words = [line.split("\t")[0] for line in (options.data / "vectors/self300.vocab.tsv").read_text("utf-8").splitlines()]
vectors = normalize(np.load(options.data / "vectors/self300.f16.npy").astype(np.float32)[: len(words)])
if len(words) == len(vectors) + 1:
    words = words[1:]

# sentences with two known words at least; the proxy is the mean of their word vectors
counts = CountVectorizer(vocabulary={word: place for place, word in enumerate(words)}, token_pattern=r"[a-z0-9]+").transform(texts)
known = np.flatnonzero(counts.getnnz(axis=1) >= 2)
chosen = np.sort(np.random.default_rng(0).permutation(known)[: options.items])
texts, proxy = [texts[place] for place in chosen], normalize(counts[chosen] @ vectors)
n = len(texts)

if options.model:
    from sentence_transformers import CrossEncoder, SentenceTransformer

    model = CrossEncoder(options.model, model_kwargs={"dtype": options.dtype})
    proxy = SentenceTransformer(options.proxy).encode(texts, normalize_embeddings=True)

    def score(pairs: list[tuple[str, str]]) -> np.ndarray:
        """The score of the alphabetical order: symmetric, and one call per pair."""
        return model.predict([sorted(pair) for pair in pairs], batch_size=16, show_progress_bar=False)

    settings = {"similarity": score, "order": "symmetric", "identity": f"{Path(options.model).name}, {options.dtype}, alphabetical order"}
else:
    settings = {"similarity": Wmd(words, vectors, empty=2.0), "gamma": 1.25, "diagonal": 1.0}
lm = Landmark(n_components=LANDMARKS, proxy=proxy, store=options.store, error_samples=0, **settings)

start = time.monotonic()
lm.fit(texts)
scores, found = lm.kneighbors(n_neighbors=K, calls_per_item=options.calls - LANDMARKS)
minutes, calls = (time.monotonic() - start) / 60, lm.n_calls_
print(f"{n:,} sentences: {calls:,} calls ({calls / n:.1f} per sentence, {calls / (n * (n - 1) / 2):.2%} of all pairs), {minutes:.1f} minutes")

# a near-duplicate is an evaluated score of either list
rows, ranks = np.nonzero((scores >= options.threshold) & lm.neighbors_.exact)
pairs, first = np.unique(np.sort(np.stack([rows, found[rows, ranks]], axis=1), axis=1), axis=0, return_index=True)
similar = scores[rows, ranks][first]
print(f"{len(pairs):,} near-duplicates of {options.threshold} and more are among them, such as")
for place in np.argsort(-similar)[[0, len(pairs) // 2, len(pairs) - 1]] if len(pairs) else []:
    print(f"  {similar[place]:.2f}  {texts[pairs[place, 0]]}\n        {texts[pairs[place, 1]]}")

# reranking holds the true neighbors that are among its candidates: as many per sentence as the same number of distinct pairs allows
near = np.empty((n, 3 * options.calls), dtype=np.int64)
for first in range(0, n, 500):
    cosines = proxy[first : first + 500] @ proxy.T
    cosines[np.arange(len(cosines)), first + np.arange(len(cosines))] = -2.0
    best = np.argpartition(-cosines, near.shape[1], axis=1)[:, : near.shape[1]]
    near[first : first + 500] = np.take_along_axis(best, np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1), axis=1)
keys = np.minimum(np.arange(n)[:, None], near) * n + np.maximum(np.arange(n)[:, None], near)
width = next((width for width in range(near.shape[1], options.calls, -1) if len(np.unique(keys[:, :width])) <= calls), options.calls)
near = near[:, :width]
print(f"reranking: {width} candidates per sentence, {len(np.unique(keys[:, :width])):,} pairs")
for name, lists in (("rounds", found), ("reranking", near)):
    audit = recall_of(lists, lm, k=K, calls=options.rows * (n - 1))
    print(f"recall@{K} of {name}: about {audit.recall:.3f}, at least {audit.lower:.3f} with probability 0.9 ({audit.rows} audited sentences)")
audit = recall_of(pairs, lm, threshold=options.threshold, scores=similar, calls=options.rows * (n - 1))
print(f"recall of the near-duplicates: about {audit.recall:.3f}, at least {audit.lower:.3f} with probability 0.9 ({audit.rows:,} audited pairs)")
print(f"the audits took {lm.n_calls_ - calls:,} calls, {(time.monotonic() - start) / 60:.1f} minutes in all")

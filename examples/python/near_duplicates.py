"""Near-duplicates among sentences: those of at least a threshold, four of five of them found at least, by a fraction of all calls.

    python near_duplicates.py [--model cross-encoder/stsb-roberta-base] [--store scores]

Without `--model` the score is the overlap of words, so that the script runs anywhere.
"""

import argparse

from common import IDENTITY, overlap, sentences

from landmark import Landmark

parser = argparse.ArgumentParser()
parser.add_argument("--model", help="a cross-encoder of sentence-transformers")
parser.add_argument("--store", help="folder that keeps the scores")
parser.add_argument("--threshold", type=float, default=0.5)
options = parser.parse_args()

score, identity, order = overlap, IDENTITY, "symmetric"
if options.model:
    from sentence_transformers import CrossEncoder

    # both orders of a pair count: a cross-encoder is not symmetric
    score, identity, order = CrossEncoder(options.model), options.model, "mean"

texts, _ = sentences(160)
lm = Landmark(score, n_components=60, store=options.store, identity=identity, order=order, error_samples=300)
print(lm.plan(texts))
lm.fit(texts)
print(f"\nrelative error {lm.error_:.3f} ({lm.error_interval_[0]:.3f} to {lm.error_interval_[1]:.3f}) after {lm.n_calls_:,} calls")

pairs = lm.mine(options.threshold, target_recall=0.8, delta=0.2)
print(f"{len(pairs)} pairs of {options.threshold} and more, at least {pairs.recall.lower:.0%} of all, {pairs.calls:,} further calls")
for similarity, i, j in list(pairs)[:3]:
    print(f"  {similarity:.2f}  {texts[i]}\n        {texts[j]}")
print(f"{len(pairs.keep())} of {len(texts)} sentences stay when each group keeps its first")

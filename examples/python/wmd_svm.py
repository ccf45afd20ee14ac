"""Topics of sentences: exact word mover's distance, factors from a few columns, a linear machine, in one scikit-learn pipeline.

Word vectors are made from the sentences themselves (co-occurrences and an SVD); load yours instead.
"""

import itertools
import re

import numpy as np
from common import sentences
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from landmark import Landmark, LinearSvm, Wmd

texts, topics = sentences(150)
words = [re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower()) for text in texts]
vocabulary = sorted(set(itertools.chain(*words)))
place = {word: number for number, word in enumerate(vocabulary)}
counts = np.zeros((len(vocabulary), len(vocabulary)))
for line in words:
    for a, b in itertools.permutations(line, 2):
        counts[place[a], place[b]] += 1
total = counts.sum()
expected = np.outer(counts.sum(1), counts.sum(0)) / total
ppmi = np.log(np.maximum(counts / np.maximum(expected, 1e-12), 1.0))
u, s, _ = np.linalg.svd(ppmi)
vectors = u[:, :40] * np.sqrt(s[:40])

wmd = Wmd(vocabulary, vectors, empty=10.0)
lm = Landmark(wmd, n_components=40, gamma=0.3, error_samples=500, proxy=None)
print(lm.plan(texts))
print(f"relative error of the factors: {lm.fit(texts).error_:.3f}")
accuracy = cross_val_score(make_pipeline(lm.set_params(error_samples=0), StandardScaler(), LinearSvm(C=0.01)), texts, topics, cv=3)
print(f"accuracy on {len(set(topics))} topics: {accuracy.mean():.3f}")

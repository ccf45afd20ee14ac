"""Clusters of mentions: average linkage straight on the factors, no n × n matrix, and the scores of the CoNLL shared tasks.

The mentions are made up: names with misspellings and initials. Their score is an edit similarity, which is indefinite.
"""

import difflib

import numpy as np

from landmark import Landmark, average_linkage, coreference_scores

rng = np.random.default_rng(11)
people = ["Marguerite Delacroix", "Tobias Lindqvist", "Ngozi Okonkwo", "Hiroshi Tanaka", "Ewa Kowalczyk", "Rafael Montenegro", "Priya Raman", "Owen Fairweather"]


def mention(name):
    """The name with an error or two, or its first letter alone."""
    letters = list(name)
    for _ in range(rng.integers(0, 3)):
        letters[rng.integers(len(letters))] = rng.choice(list("abcdefghijklmnopqrstuvwxyz"))
    text = "".join(letters)
    return f"{text[0]}. {text.split(' ')[-1]}" if rng.random() < 0.3 else text


truth = rng.integers(len(people), size=160)
mentions = [mention(people[person]) for person in truth]


def alike(pairs):
    """Share of matching characters, the order of the pair averaged out."""
    matcher = difflib.SequenceMatcher
    return [(matcher(None, a, b, False).ratio() + matcher(None, b, a, False).ratio()) / 2 for a, b in pairs]


lm = Landmark(alike, n_components=30, diagonal=1.0, error_samples=300)
print(lm.plan(mentions))
z = lm.fit_transform(mentions)
found = average_linkage(z, 0.5, signature=lm.signature_)
scores = coreference_scores(truth, found)
print(f"relative error {lm.error_:.3f}; {found.max() + 1} clusters of {len(people)} people, CoNLL F1 {scores['conll']:.3f}")

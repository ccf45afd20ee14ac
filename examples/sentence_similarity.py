#!/usr/bin/env python3
"""How alike two sentences are: soft overlap of their words, words compared by their letters. Python alone, no package.

    python3 sentence_similarity.py < batches        # the protocol: "Protocol of scorer programs" in the documentation

Each word of one sentence is matched with its most similar word of the other (shared letter trigrams, Dice), and both
directions are averaged: 1 for equal sentences, 0 for sentences without a letter trigram in common. Nothing makes it a
kernel, and Landmark does not ask for one.
"""

import functools
import json
import re
import sys

VERSION = 1  # a change of the score is a new identity


@functools.lru_cache(maxsize=None)
def trigrams(word):
    padded = f"  {word} "
    return frozenset(padded[k : k + 3] for k in range(len(padded) - 2))


@functools.lru_cache(maxsize=None)
def words(text):
    return tuple(dict.fromkeys(re.findall(r"\w+", text.lower())))


@functools.lru_cache(maxsize=1 << 20)
def alike(a, b):
    one, other = trigrams(a), trigrams(b)
    return 2 * len(one & other) / (len(one) + len(other))


def one_way(these, those):
    return sum(max(alike(*sorted((a, b))) for b in those) for a in these) / len(these)


def score(a, b):
    these, those = words(a), words(b)
    if not these or not those:
        return {"error": "a sentence without a word"}
    return (one_way(these, those) + one_way(those, these)) / 2


def main():
    sys.stdin.readline()  # the greeting of Landmark
    greeting = {"landmark": 1, "identity": f"soft word overlap by trigrams, version {VERSION}", "symmetric": True}
    print(json.dumps(greeting), flush=True)
    for line in sys.stdin:
        batch = json.loads(line)
        scores = [score(a, b) for a, b in batch["pairs"]]
        print(json.dumps({"batch": batch["batch"], "scores": scores}), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A scoring program that spreads each batch over a Ray cluster.

    RAY_ADDRESS=auto landmark ...        # oracle: { kind: subprocess, command: [python3, ray_scorer.py], batch: 2048 }

Landmark stays one process: it plans, asks and keeps the scores. Ray schedules chunks of each batch, moves them to its nodes and
retries those of a node that is lost. Without RAY_ADDRESS it starts a local cluster. Replace `sentence_similarity` by your own score.
"""

import json
import sys
from pathlib import Path

import ray
from sentence_similarity import VERSION, score

CHUNK = 64  # pairs per task: aim at a second or more


@ray.remote
def score_chunk(pairs):
    return [score(a, b) for a, b in pairs]


def main():
    # the nodes get this folder, because the score is imported from it
    folder = str(Path(__file__).resolve().parent)
    ray.init(runtime_env={"working_dir": folder}, log_to_driver=False, logging_level="warning")
    sys.stdin.readline()  # the greeting of Landmark
    greeting = {"landmark": 1, "identity": f"soft word overlap by trigrams, version {VERSION}", "symmetric": True}
    print(json.dumps(greeting), flush=True)
    for line in sys.stdin:
        batch = json.loads(line)
        pairs = batch["pairs"]
        chunks = [score_chunk.remote(pairs[start : start + CHUNK]) for start in range(0, len(pairs), CHUNK)]
        scores = [score for chunk in ray.get(chunks) for score in chunk]
        print(json.dumps({"batch": batch["batch"], "scores": scores}), flush=True)


if __name__ == "__main__":
    main()

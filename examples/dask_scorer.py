#!/usr/bin/env python3
"""A scoring program that spreads each batch over a Dask cluster.

    DASK_SCHEDULER_ADDRESS=tcp://host:8786 landmark ...        # oracle: { kind: subprocess, command: [python3, dask_scorer.py], batch: 2048 }

Landmark stays one process: it plans, asks and keeps the scores. Dask schedules chunks of each batch, moves them to its workers and
retries those of a worker that is lost. Without an address it starts workers on this machine. Replace `sentence_similarity` by your own score.
"""

import json
import os
import sys
from pathlib import Path

from dask.distributed import Client
from sentence_similarity import VERSION, score

CHUNK = 64  # pairs per task: aim at a second or more


def score_chunk(pairs):
    return [score(a, b) for a, b in pairs]


def main():
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    client = Client(address) if address else Client(dashboard_address=None)
    if address:
        client.upload_file(str(Path(__file__).with_name("sentence_similarity.py")))
    sys.stdin.readline()  # the greeting of Landmark
    greeting = {"landmark": 1, "identity": f"soft word overlap by trigrams, version {VERSION}", "symmetric": True}
    print(json.dumps(greeting), flush=True)
    for line in sys.stdin:
        batch = json.loads(line)
        pairs = batch["pairs"]
        chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
        # pure=False: the store of Landmark keeps the scores, so Dask need not hash the texts
        scores = [score for chunk in client.gather(client.map(score_chunk, chunks, pure=False)) for score in chunk]
        print(json.dumps({"batch": batch["batch"], "scores": scores}), flush=True)
    client.close()


if __name__ == "__main__":
    main()

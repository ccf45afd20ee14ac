"""What the scripts share: the sentences that ship with Landmark, and a score that needs no model."""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from sentence_similarity import VERSION, score  # noqa: E402

IDENTITY = f"soft word overlap, version {VERSION}"


def sentences(limit=None):
    """Texts and their topics."""
    with open(ROOT / "configs/own_data/sentences.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[:limit]
    return [row["text"] for row in rows], [row["topic"] for row in rows]


def overlap(pairs):
    """Soft overlap of the words of two sentences, as a cross-encoder would be asked: a list of pairs in, a number each out."""
    return [score(a, b) for a, b in pairs]

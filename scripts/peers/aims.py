"""Ratios and their aims: kept for the table that scripts/bench-peers ends with, and for the exit status of the script that measured them."""

import os
import pathlib
import sys

# no status of a script that broke: Python gives those 1, argparse 2
MISSED = 3
missed = []


def hold(what, ratio, at_most=None, at_least=None, ours=None, theirs=None):
    """Keeps a ratio, and the seconds of both sides where it is one of times; a missed aim makes `end` return 3. Without one it is only reported."""
    met = (at_most is None or ratio <= at_most) and (at_least is None or ratio >= at_least)
    aim = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}" if at_least is not None else "-"
    verdict = "-" if aim == "-" else "met" if met else "MISSED"
    if not met:
        missed.append(what)
    table = os.environ.get("PEERS_TABLE")
    if table:
        seconds = ["-" if side is None else f"{side:.4g}" for side in (ours, theirs)]
        peer = os.environ.get("PEER", pathlib.Path(sys.argv[0]).stem)
        with open(table, "a") as file:
            print(peer, what, f"{ratio:.4g}", aim, verdict, *seconds, sep="\t", file=file)
    return met


def end():
    """The exit status."""
    return MISSED if missed else 0

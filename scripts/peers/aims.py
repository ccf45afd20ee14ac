"""Ratios beside their aims: kept for the table that scripts/bench-peers ends with, and for the exit status of the script that measured them."""

import os
import pathlib
import sys

missed = []


def hold(what, ratio, at_most=None, at_least=None):
    """Keeps a ratio; a missed aim makes `end` return 1. Without an aim it is only told."""
    met = (at_most is None or ratio <= at_most) and (at_least is None or ratio >= at_least)
    aim = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}" if at_least is not None else "-"
    verdict = "-" if aim == "-" else "met" if met else "MISSED"
    if not met:
        missed.append(what)
    table = os.environ.get("PEERS_TABLE")
    if table:
        with open(table, "a") as file:
            file.write(f"{pathlib.Path(sys.argv[0]).stem}\t{what}\t{ratio:.3f}\t{aim}\t{verdict}\n")
    return met


def end():
    """The exit status."""
    return 1 if missed else 0

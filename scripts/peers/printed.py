#!/usr/bin/env python3
"""Ratios out of what an example prints that measures both sides itself: reads it, passes it on, and holds the ratios.

    cargo run --release -p landmark-oracles --example time_tree_kernels | scripts/peers/printed.py trees
    cargo run --release -p landmark-neural --example time_coref_pairs | scripts/peers/printed.py coref_pairs

Ends with 1 where there is none: then the example prints something else than this reads.
"""

import re
import sys

from aims import end, hold

# evaluations a second of ours and of the published recursion written down plainly, for two kernels
TREES = re.compile(r"(?P<trees>.+): sst (?P<sst>[\d.]+) / (?P<plain_sst>[\d.]+) = .*; ptk (?P<ptk>[\d.]+) / (?P<plain_ptk>[\d.]+) = ")
PAIRS = re.compile(r"(?P<side>landmark|libtorch)\b.*? (?P<seconds>[\d.]+) s +(?P<rate>[\d.]+) pairs/s")


def trees(lines):
    for found in filter(None, map(TREES.match, lines)):
        for kernel in ("sst", "ptk"):
            ours, plain = float(found[kernel]), float(found[f"plain_{kernel}"])
            yield f"plain recursion over {kernel} of {found['trees']}", ours / plain, 1 / ours, 1 / plain


def coref_pairs(lines):
    sides = {found["side"]: found for found in filter(None, map(PAIRS.match, lines))}
    if len(sides) == 2:
        rate, seconds = ([float(sides[side][key]) for side in ("landmark", "libtorch")] for key in ("rate", "seconds"))
        yield "pair scores of libtorch over landmark", rate[0] / rate[1], *seconds


def printed(lines):
    """The lines, each printed as it is read."""
    for line in lines:
        print(line, end="", flush=True)
        yield line


def main():
    readers = {"trees": trees, "coref_pairs": coref_pairs}
    if len(sys.argv) != 2 or sys.argv[1] not in readers:
        sys.exit(f"usage: printed.py {'|'.join(readers)}")
    any_ratio = False
    for what, ratio, ours, theirs in readers[sys.argv[1]](printed(sys.stdin)):
        hold(what, ratio, ours=ours, theirs=theirs)
        any_ratio = True
    if not any_ratio:
        sys.exit(f"printed.py {sys.argv[1]}: the example printed no ratio")
    return end()


if __name__ == "__main__":
    sys.exit(main())

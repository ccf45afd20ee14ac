#!/usr/bin/env python3
"""Recorded ratios against peers, and the tables made from them. Needs the standard library alone.

    scripts/peers/history.py write     # results/bench/README.md, and the table of README.md between its markers
    scripts/peers/history.py check     # compares them with the files, writes nothing
    scripts/peers/history.py record    # what one peer measured, for `scripts/bench-peers --record`

A record is results/bench/DATE-MACHINE.json: the machine in words, and by peer its revision, versions and lines. Why an aim is missed is written
by hand in scripts/peers/reasons.json: {peer: {what: sentence}}, `(the script)` as what for a peer that failed.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import sys

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
SCRIPT = "(the script)"
NO_REASON = "no reason given yet"
NO_RUN = "No run is recorded yet: `scripts/bench-peers --record` writes one."
FIELDS = {"revision", "changed", "finished", "versions", "arguments", "failed", "lines"}
LINE_FIELDS = {"what", "ratio", "aim", "verdict", "ours_seconds", "theirs_seconds"}


class Fault(Exception):
    """What is wrong with a file, and what to do."""


# records


def machine():
    """The machine in words: its processor, threads that this process may use, memory in whole GiB."""
    info = pathlib.Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE) if info.exists() else None
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"processor": named[1].strip() if named else platform.machine(), "threads": threads, "memory_gib": round(memory)}


def slug(machine):
    """A short name for a file; machines of one name are of one kind."""
    plain = re.sub(r"\((r|tm|c)\)|@.*$|\b(cpu|processor|\d+-core)\b", " ", machine["processor"].lower())
    words = re.findall(r"[a-z0-9]+", plain) or ["machine"]
    return "-".join([*words, f"{machine['threads']}-threads", f"{machine['memory_gib']}-gib"])


def in_words(machine):
    return f"{machine['processor']}, {machine['threads']} threads, {machine['memory_gib']} GiB"


def number(text):
    return None if text == "-" else float(text)


def lines_of(table):
    """The lines that `aims.hold` wrote: peer, what, ratio, aim, verdict, seconds of ours and of theirs."""
    lines = []
    for row in table.splitlines():
        _, what, ratio, aim, verdict, ours, theirs = row.split("\t")
        lines.append({
            "what": what, "ratio": float(ratio), "aim": None if aim == "-" else aim, "verdict": None if verdict == "-" else verdict.lower(),
            "ours_seconds": number(ours), "theirs_seconds": number(theirs),
        })
    return lines


def record(root, options):
    """Puts what a peer measured in place of what the record of that day and machine had of it."""
    lines = lines_of(pathlib.Path(options.ratios).read_text())
    failed = f"exit {options.code}" if options.code not in (0, 3) else None if lines else "no ratio"
    here = machine()
    path = root / "results/bench" / f"{options.date}-{slug(here)}.json"
    kept = read(path)["peers"] if path.exists() else {}
    kept[options.peer] = {
        "revision": options.revision,
        "changed": options.changed,
        "finished": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": dict(pin.split("==") for pin in options.versions.split()),
        # a path of this machine says nothing elsewhere
        "arguments": [os.path.basename(os.path.normpath(word)) if os.path.isabs(word) else word for word in options.arguments],
        "failed": failed,
        "lines": lines,
    }
    content = {"date": options.date, "machine": here, "peers": dict(sorted(kept.items()))}
    path.parent.mkdir(parents=True, exist_ok=True)
    # a kill leaves the old file or the new one
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    new.replace(path)
    print(f"{path.relative_to(root)}: {options.peer} is recorded{' as failed: ' + failed if failed else ''}")


def read(path):
    try:
        content = json.loads(path.read_text())
        wanted = f"{content['date']}-{slug(content['machine'])}.json"
        for peer, part in content["peers"].items():
            if missing := FIELDS - part.keys():
                raise Fault(f"`{path}`: `{peer}` lacks `{min(missing)}`")
            if missing := {field for line in part["lines"] for field in LINE_FIELDS - line.keys()}:
                raise Fault(f"`{path}`: a line of `{peer}` lacks `{min(missing)}`")
            counts = collections.Counter(line["what"] for line in part["lines"])
            if twice := [what for what, count in counts.items() if count > 1]:
                raise Fault(f"`{path}`: `{peer}` has two lines `{twice[0]}`")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Fault(f"`{path}` is no record: {error!r}") from error
    if path.name != wanted:
        raise Fault(f"`{path}` should be called `{wanted}` by the date and machine in it")
    return content


def read_all(folder):
    """All records, newest first, by the date and then by the end of the last peer."""
    newest = lambda one: (one["date"], max((part["finished"] for part in one["peers"].values()), default=""), slug(one["machine"]))
    return sorted(map(read, folder.glob("*.json")), key=newest, reverse=True)


def read_reasons(path, records):
    """Sentences by peer and what was measured. One that no record has is an error: it would never be shown."""
    try:
        content = json.loads(path.read_text()) if path.exists() else {}
        reasons = {(peer, what): sentence for peer, lines in content.items() for what, sentence in lines.items()}
    except (ValueError, AttributeError) as error:
        raise Fault(f"`{path}` is not of the form {{peer: {{what: sentence}}}}: {error}") from error
    known = {(peer, what) for one in records for peer, part in one["peers"].items() for what in whats(part)}
    for peer, what in sorted(reasons.keys() - known):
        raise Fault(f"`{path}` gives a reason for `{what}` of `{peer}`, which no record has: correct the name or remove it")
    return reasons


def whats(part):
    """The names of a peer's lines, that of a failure first."""
    return ([SCRIPT] if part["failed"] else []) + [line["what"] for line in part["lines"]]


# tables


def ratio_of(line):
    ratio = line["ratio"]
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.3f}" if ratio >= 0.1 else f"{ratio:.3g}"


def time_of(seconds):
    if seconds is None:
        return "–"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds / 1e-9:.3g} ns"


def row(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def table(head, rows):
    return "\n".join([row(head), "|" + "---|" * len(head), *map(row, rows)])


def revision_of(part):
    return part["revision"][:7] + (", changed" if part["changed"] else "")


def versions_of(parts):
    return ", ".join(sorted({f"{name} {version}" for part in parts for name, version in part["versions"].items()})) or "–"


def line_of(part, what):
    return next((line for line in part["lines"] if line["what"] == what), None)


def is_red(part, what):
    """Whether this line of a peer wants a reason."""
    line = line_of(part, what)
    return bool(part["failed"]) if what == SCRIPT else line is not None and line["verdict"] == "missed"


def newest_by_peer(records):
    """Each peer's newest part, of records that stand newest first."""
    parts = {}
    for one in records:
        for peer, part in one["peers"].items():
            parts.setdefault(peer, (one, part))
    return dict(sorted(parts.items()))


def cell(part, what, aim):
    """A line in the column of a run; its aim is told where it was another one."""
    if part is None:
        return "–"
    if what == SCRIPT:
        return f"**failed, {part['failed']}**" if part["failed"] else "ran"
    line = line_of(part, what)
    if line is None:
        return "–"
    missed = "missed" if line["verdict"] == "missed" else ""
    other = f"aim {line['aim'] or 'none'}" if line["aim"] != aim else ""
    text = ", ".join(filter(None, [ratio_of(line), missed, other]))
    return f"**{text}**" if missed else text


def history(records, reasons):
    """results/bench/README.md."""
    head = """# Ratios over time

Generated by `scripts/peers/history.py write` from the files of this folder, which `scripts/bench-peers --record` writes; `scripts/test` compares it. `a over b` is the time of a divided by that of b, both measured
in one run (recall by recall where it says so). Bold: the aim is missed, or the peer failed. The reason stands where the newest run of some machine misses the aim.
"""
    if not records:
        return f"{head}\n{NO_RUN}\n"
    named = lambda one: f"{one['date']}-{slug(one['machine'])}.json"
    runs = []
    for one in records:
        parts = one["peers"].values()
        revisions = "; ".join(sorted(set(map(revision_of, parts))))
        runs.append([f"[{one['date']}]({named(one)})", in_words(one["machine"]), revisions, versions_of(parts)])
    machines = {}
    for one in records:
        machines.setdefault(slug(one["machine"]), []).append(one)
    now = [newest_by_peer(of_one) for of_one in machines.values()]
    rows = []
    for peer in newest_by_peer(records):
        parts = [one["peers"].get(peer) for one in records]
        # as the newest run has them, then those that only older ones have
        for what in dict.fromkeys(what for part in parts if part for what in whats(part)):
            lines = [line for part in parts if part for line in [line_of(part, what)] if line]
            aim = lines[0]["aim"] if lines else None
            red = any(peer in newest and is_red(newest[peer][1], what) for newest in now)
            reason = reasons.get((peer, what), NO_REASON) if red else ""
            rows.append([peer, what, aim or "–", *(cell(part, what, aim) for part in parts), reason])
    columns = [f"{one['date']}, {one['machine']['processor']}, {one['machine']['threads']} threads" for one in records]
    return "\n".join([
        head, "Newest first.\n", table(["run", "machine", "revision", "peers"], runs), "",
        table(["peer", "what", "aim", *columns, "reason"], rows), "",
    ])


def latest(records, reasons):
    """The table of README.md: each peer's newest lines on the machine of the latest run."""
    if not records:
        return NO_RUN + "\n"
    here = slug(records[0]["machine"])
    parts = newest_by_peer([one for one in records if slug(one["machine"]) == here])
    rows, red, aims = [], [], 0
    for peer, (one, part) in parts.items():
        when = f"{one['date']}, {revision_of(part)}"
        for what in whats(part):
            line = line_of(part, what)
            text = cell(part, what, line and line["aim"])
            seconds = [time_of(line[side]) for side in ("ours_seconds", "theirs_seconds")] if line else ["–", "–"]
            aim = line["aim"] or "–" if line else "–"
            aims += aim != "–"
            rows.append([peer, what, *seconds, text, aim, when])
            if is_red(part, what):
                told = f"{what}: {ratio_of(line)}, aim {aim}" if line else f"failed, {part['failed']}"
                red.append(f"- `{peer}`, {told}: {reasons.get((peer, what), NO_REASON)}")
    missed = sum(is_red(part, what) for _, part in parts.values() for what in whats(part) if what != SCRIPT)
    failed = sum(bool(part["failed"]) for _, part in parts.values())
    text = f"Measured on {in_words(records[0]['machine'])}, against {versions_of([part for _, part in parts.values()])}. "
    text += f"{aims - missed} of {aims} aims are met{f', and {failed} of {len(parts)} peers failed' if failed else ''}{':' if red else '.'}\n"
    if red:
        text += "\n" + "\n".join(red) + "\n"
    head = ["peer", "what", "ours", "theirs", "ratio", "aim", "recorded"]
    return f"{text}\n<details><summary>All ratios</summary>\n\n{table(head, rows)}\n\n</details>\n"


def pages(root):
    """The two pages as they should be, by path."""
    records = read_all(root / "results/bench")
    reasons = read_reasons(root / "scripts/peers/reasons.json", records)
    readme = root / "README.md"
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise Fault(f"`{readme}` has no place for the table: put `{BEGIN}` and `{END}` on lines of their own")
    new = f"{before}{BEGIN}\n\n{latest(records, reasons)}\n{END}{after}"
    return {root / "results/bench/README.md": history(records, reasons), readme: new}, len(records)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=pathlib.Path, default=root, help="of the repository")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write", help="write the tables")
    commands.add_parser("check", help="compare the tables with the records")
    one = commands.add_parser("record", help="record what one peer measured")
    one.add_argument("--peer", required=True)
    one.add_argument("--ratios", required=True, help="the file that `aims.hold` wrote")
    one.add_argument("--code", type=int, required=True, help="exit status of the peer: 3 where an aim is missed")
    one.add_argument("--date", required=True)
    one.add_argument("--revision", required=True)
    one.add_argument("--changed", action="store_true", help="the tree differs from the revision")
    one.add_argument("--versions", default="", help="NAME==VERSION...")
    one.add_argument("arguments", nargs="*", help="of the peer's script")
    options = parser.parse_args()
    root = options.root
    try:
        if options.command == "record":
            record(root, options)
            return 0
        wanted, count = pages(root)
        stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
        for path in stale:
            name = path.relative_to(root)
            if options.command == "check":
                raise Fault(f"the ratios in `{name}` are out of date: `scripts/peers/history.py write` writes them")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
            print(f"{name}: written")
        print(f"ratios against peers: the tables agree with {count} recorded runs")
    except Fault as fault:
        print(f"history.py: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

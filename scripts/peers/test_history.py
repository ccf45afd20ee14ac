#!/usr/bin/env python3
"""Tests of history.py, aims.py, printed.py and `scripts/bench-peers --record`, in temporary folders. Needs the standard library, bash and git."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import history  # noqa: E402

AMD = {"processor": "AMD EPYC 9R14 96-Core Processor", "threads": 2, "memory_gib": 15}
INTEL = {"processor": "Intel(R) Xeon(R) CPU @ 2.60GHz", "threads": 4, "memory_gib": 31}


def line(what, ratio, aim=None, verdict=None, ours=None, theirs=None):
    return {"what": what, "ratio": ratio, "aim": aim, "verdict": verdict, "ours_seconds": ours, "theirs_seconds": theirs}


def part(*lines, failed=None, revision="0123456789ab", changed=False, finished="2026-03-01T10:00:00Z"):
    versions = {"numpy": "2.4.6"}
    return {"revision": revision, "changed": changed, "finished": finished, "versions": versions, "arguments": [], "failed": failed, "lines": list(lines)}


class Folder(unittest.TestCase):
    """A repository with nothing but a README."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        (self.root / "results/bench").mkdir(parents=True)
        (self.root / "scripts/peers").mkdir(parents=True)
        (self.root / "README.md").write_text("# Mine\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nend\n")

    def put(self, date, machine, peers):
        path = self.root / "results/bench" / f"{date}-{history.slug(machine)}.json"
        path.write_text(json.dumps({"date": date, "machine": machine, "peers": peers}))
        return path

    def explain(self, reasons):
        (self.root / "scripts/peers/reasons.json").write_text(json.dumps(reasons))

    def run_history(self, *arguments):
        """Exit status, and what it said."""
        said = io.StringIO()
        command = ["history.py", "--root", str(self.root), *arguments]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return history.main(), said.getvalue()

    def write(self):
        """Both pages, written."""
        code, said = self.run_history("write")
        self.assertEqual(code, 0, said)
        return (self.root / "README.md").read_text(), (self.root / "results/bench/README.md").read_text()


class Tables(Folder):
    def two_runs(self):
        """The first of March on AMD, the second on Intel: nystrom slower than its aim there."""
        self.put("2026-03-01", AMD, {
            "emd": part(line("WMD over POT emd2", 0.0481)),
            "factor": part(line("nystrom over NumPy", 0.953, "at most 1", "met", 0.1, 0.105), line("old over NumPy", 0.5)),
        })
        self.put("2026-03-02", INTEL, {
            "factor": part(line("nystrom over NumPy", 1.17, "at most 1", "missed", 0.117, 0.1), changed=True, finished="2026-03-02T10:00:00Z"),
            "trees": part(line("plain recursion over sst", 447.3, ours=2e-7, theirs=8.9e-5), finished="2026-03-02T11:00:00Z"),
        })

    def test_without_a_run_both_pages_say_so_and_agree(self):
        readme, over_time = self.write()
        self.assertEqual(readme, f"# Mine\n<!-- bench:begin -->\n\n{history.NO_RUN}\n\n<!-- bench:end -->\nend\n")
        self.assertIn(history.NO_RUN, over_time)
        self.assertEqual(self.run_history("check")[0], 0)

    def test_runs_stand_beside_each_other_newest_first(self):
        self.two_runs()
        _, page = self.write()
        head = next(text for text in page.splitlines() if text.startswith("| peer"))
        self.assertLess(head.index("2026-03-02, Intel"), head.index("2026-03-01, AMD"))
        rows = [text for text in page.splitlines() if text.startswith(("| emd", "| factor", "| trees"))]
        self.assertEqual(rows, [
            "| emd | WMD over POT emd2 | – | – | 0.0481 |  |",
            "| factor | nystrom over NumPy | at most 1 | **1.170, missed** | 0.953 | no reason given yet |",
            "| factor | old over NumPy | – | – | 0.500 |  |",
            "| trees | plain recursion over sst | – | 447 | – |  |",
        ])
        self.assertIn("| 0123456; 0123456, changed | numpy 2.4.6 |", page)

    def test_the_readme_has_the_latest_run_with_what_is_missed_and_why(self):
        self.two_runs()
        readme, _ = self.write()
        self.assertIn("Measured on Intel(R) Xeon(R) CPU @ 2.60GHz, 4 threads, 31 GiB, against numpy 2.4.6. 0 of 1 aims are met:", readme)
        self.assertIn("- `factor`, nystrom over NumPy: 1.170, aim at most 1: no reason given yet", readme)
        self.assertIn("| trees | plain recursion over sst | 200 ns | 89 µs | 447 | – | 2026-03-02, 0123456 |", readme)
        # another machine's
        self.assertNotIn("WMD over POT", readme)
        self.explain({"factor": {"nystrom over NumPy": "Its eigh takes longer."}})
        readme, page = self.write()
        self.assertIn("nystrom over NumPy: 1.170, aim at most 1: Its eigh takes longer.", readme)
        self.assertIn("| **1.170, missed** | 0.953 | Its eigh takes longer. |", page)
        self.assertNotIn(history.NO_REASON, readme + page)

    def test_a_later_run_of_one_peer_leaves_the_others_in_the_readme(self):
        self.two_runs()
        self.put("2026-03-03", INTEL, {"factor": part(line("nystrom over NumPy", 0.9, "at most 1", "met"), finished="2026-03-03T10:00:00Z")})
        readme, page = self.write()
        self.assertIn("1 of 1 aims are met.", readme)
        self.assertIn("| 0.900 | at most 1 | 2026-03-03, 0123456 |", readme)
        self.assertIn("| 447 | – | 2026-03-02, 0123456 |", readme)
        # the miss of before needs no reason any more
        self.assertIn("| 0.900 | **1.170, missed** | 0.953 |  |", page)

    def test_a_failed_peer_is_told_with_what_it_measured_before(self):
        self.put("2026-03-01", AMD, {"svm": part(line("a over b", 2.0), failed="exit 1")})
        readme, page = self.write()
        self.assertIn("0 of 0 aims are met, and 1 of 1 peers failed:\n\n- `svm`, failed, exit 1: no reason given yet", readme)
        self.assertIn("| svm | (the script) | – | **failed, exit 1** | no reason given yet |\n| svm | a over b | – | 2.000 |  |", page)

    def test_an_aim_that_was_another_one_is_told_in_its_cell(self):
        self.put("2026-03-01", AMD, {"factor": part(line("x", 1.1, "at most 1.2", "met"))})
        self.put("2026-03-02", AMD, {"factor": part(line("x", 0.9, "at most 1", "met"))})
        self.assertIn("| factor | x | at most 1 | 0.900 | 1.100, aim at most 1.2 |  |", self.write()[1])

    def test_check_refuses_pages_that_disagree_with_the_files_and_writes_nothing(self):
        self.two_runs()
        self.write()
        self.assertEqual(self.run_history("check")[0], 0)
        for path, was, forged in (("README.md", "1.170", "0.170"), ("results/bench/README.md", "447", "999")):
            page = self.root / path
            good = page.read_text()
            page.write_text(good.replace(was, forged))
            code, said = self.run_history("check")
            self.assertEqual((code, f"`{path}` are out of date" in said), (1, True), said)
            self.assertIn(forged, page.read_text())
            page.write_text(good)
        self.two_runs()
        self.put("2026-03-04", AMD, {"svm": part(line("y", 2.0))})
        self.assertEqual(self.run_history("check")[0], 1)

    def test_what_cannot_be_read_is_named(self):
        self.two_runs()
        path = self.put("2026-03-05", AMD, {"svm": part(line("y", 2.0), line("y", 3.0))})
        self.assertIn("two lines `y`", self.run_history("check")[1])
        path.write_text('{"date": ')
        self.assertIn(f"`{path}` is no record", self.run_history("check")[1])
        self.put("2026-03-05", AMD, {"svm": {key: value for key, value in part().items() if key != "revision"}})
        self.assertIn("`svm` lacks `revision`", self.run_history("check")[1])
        self.put("2026-03-05", AMD, {}).rename(path.with_name("2026-03-06-other.json"))
        self.assertIn("should be called `2026-03-05-amd-epyc-9r14-2-threads-15-gib.json`", self.run_history("check")[1])

    def test_a_reason_for_a_line_that_no_record_has_is_refused(self):
        self.two_runs()
        self.explain({"factor": {"nystrom over Numpy": "A typing error."}})
        code, said = self.run_history("write")
        self.assertEqual((code, "`nystrom over Numpy` of `factor`, which no record has" in said), (1, True), said)


class Recording(Folder):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(history, "machine", lambda: AMD)
        patch.start()
        self.addCleanup(patch.stop)

    def record(self, peer, rows, code=0, *more):
        ratios = self.root / "ratios"
        ratios.write_text("".join("\t".join([peer, *row]) + "\n" for row in rows))
        wanted = ["--peer", peer, "--ratios", str(ratios), "--code", str(code), "--date", "2026-03-01", "--revision", "0123456789ab"]
        status, said = self.run_history("record", *wanted, *more)
        self.assertEqual(status, 0, said)
        (path,) = (self.root / "results/bench").iterdir()
        return json.loads(path.read_text())

    def test_runs_of_one_day_and_machine_merge_by_peer(self):
        self.record("svm", [["a", "2.5", "-", "-", "0.2", "0.5"]], 0, "--versions", "numpy==2.4.6 scipy==1.17.1")
        self.record("factor", [["b", "1.5", "at most 1", "MISSED", "-", "-"]], 3, "--changed")
        content = self.record("svm", [["c", "3", "-", "-", "-", "-"]])
        self.assertEqual((content["date"], content["machine"]), ("2026-03-01", AMD))
        self.assertEqual(content["peers"]["svm"]["lines"], [line("c", 3.0)])
        factor = content["peers"]["factor"]
        self.assertEqual(factor["lines"], [line("b", 1.5, "at most 1", "missed")])
        self.assertEqual((factor["changed"], factor["failed"], factor["revision"]), (True, None, "0123456789ab"))
        self.assertEqual(self.run_history("write")[0], 0)

    def test_a_peer_that_fails_or_says_nothing_is_recorded_as_failed(self):
        content = self.record("svm", [["a", "2.5", "-", "-", "0.2", "0.5"]], 1, "--versions", "numpy==2.4.6 scipy==1.17.1")
        self.assertEqual(content["peers"]["svm"]["failed"], "exit 1")
        self.assertEqual(content["peers"]["svm"]["lines"], [line("a", 2.5, ours=0.2, theirs=0.5)])
        self.assertEqual(content["peers"]["svm"]["versions"], {"numpy": "2.4.6", "scipy": "1.17.1"})
        self.assertEqual(self.record("emd", [])["peers"]["emd"]["failed"], "no ratio")

    def test_arguments_are_kept_without_the_folders_of_this_machine(self):
        content = self.record("bert", [["a", "2.5", "-", "-", "-", "-"]], 0, "--", "--model", "/home/me/stsb", "--pairs", "some/pairs.tsv")
        self.assertEqual(content["peers"]["bert"]["arguments"], ["--model", "stsb", "--pairs", "some/pairs.tsv"])


class Machines(unittest.TestCase):
    def test_a_name_keeps_what_tells_machines_apart(self):
        self.assertEqual(history.slug(AMD), "amd-epyc-9r14-2-threads-15-gib")
        self.assertEqual(history.slug(INTEL), "intel-xeon-4-threads-31-gib")

    def test_this_machine_has_a_name(self):
        self.assertRegex(history.slug(history.machine()), r"^[a-z0-9-]+-[1-9]\d*-threads-\d+-gib$")


class Peers(Folder):
    def rows(self, command, **keywords):
        """What a script held: its exit status, its rows, and what it said."""
        ratios = self.root / "ratios"
        environment = dict(os.environ, PEERS_TABLE=str(ratios), PEER="mine", PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(HERE))
        ran = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, **keywords)
        return ran.returncode, history.lines_of(ratios.read_text()) if ratios.exists() else [], ran.stdout + ran.stderr

    def test_aims_are_read_as_they_are_held(self):
        text = "from aims import *; hold('a', 1.5, at_most=1, ours=3, theirs=2); hold('b', .5); hold('c', 6, at_least=5); raise SystemExit(end())"
        code, lines, said = self.rows(["-c", text])
        self.assertEqual(code, 3, said)
        self.assertEqual(lines, [line("a", 1.5, "at most 1", "missed", 3, 2), line("b", 0.5), line("c", 6, "at least 5", "met")])

    def test_ratios_are_read_out_of_what_our_examples_print(self):
        printed = "one thread: evaluations a second, landmark / twin = ratio\nTREC grct: sst 2000000 / 40000 = 50.0; ptk 500000 / 5000 = 100.0\n"
        code, lines, said = self.rows([HERE / "printed.py", "trees"], input=printed)
        self.assertEqual((code, said), (0, printed))
        self.assertEqual(lines, [
            line("plain recursion over sst of TREC grct", 50, ours=5e-7, theirs=2.5e-5),
            line("plain recursion over ptk of TREC grct", 100, ours=2e-6, theirs=2e-4),
        ])
        (self.root / "ratios").unlink()
        printed = f"400 mentions\n{'landmark':<34}{0.25:>10.3f} s{640000:>12.0f} pairs/s\n{'libtorch, the same MLP':<34}{0.5:>10.3f} s{320000:>12.0f} pairs/s    2.00x\n"
        code, lines, said = self.rows([HERE / "printed.py", "coref_pairs"], input=printed)
        self.assertEqual((code, lines), (0, [line("pair scores of libtorch over landmark", 2, ours=0.25, theirs=0.5)]), said)
        self.assertEqual(self.rows([HERE / "printed.py", "trees"], input="something else\n")[0], 1)

    def test_bench_peers_records_what_ran_what_missed_and_what_failed(self):
        """The real script, over stand-ins for cargo, for the environment of the peers and for the peers."""
        scripts = self.root / "scripts"
        shutil.copy(HERE.parent / "bench-peers", scripts)
        shutil.copy(HERE.parent / "setup", scripts)
        for name in ("aims.py", "history.py", "printed.py"):
            shutil.copy(HERE / name, scripts / "peers")
        self.explain({})
        peers = {
            "factor": "hold('nystrom over NumPy', 1.5, at_most=1, ours=3, theirs=2)\nraise SystemExit(end())",
            "sketch": "hold('figure_1 over NumPy', .75, at_most=1)\nraise SystemExit(end())",
            "svm": "hold('a over b', 2)\nassert 'the twins' == 'differ'",
        }
        for name, text in peers.items():
            (scripts / f"peers/{name}.py").write_text(f"from aims import end, hold\n{text}\n")

        def program(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)

        target = self.root / "target"
        program(self.root / "bin/cargo", f"[ \"$1\" != metadata ] || echo '{{\"target_directory\": \"{target}\"}}'")
        program(self.root / "bin/date", "echo 2026-03-01")  # midnight may pass between two runs
        program(target / "peers/bin/python", f'exec {sys.executable} -B "$@"')
        pins = re.search(r"^pins='(.*)'$", (scripts / "bench-peers").read_text(), re.MULTILINE)[1]
        (target / "peers/pins").write_text(pins + "\n")
        (self.root / ".gitignore").write_text("/target\n/bin\n__pycache__\n")
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = dict(outside, **settings, PATH=f"{self.root / 'bin'}:{os.environ['PATH']}")

        def run(*command):
            return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)

        for command in ("init --quiet", "add --all", "-c user.name=n -c user.email=e commit --quiet --message one"):
            done = run("git", *command.split())
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run("bash", "scripts/bench-peers", "--record", "factor", "sketch", "svm")
        self.assertEqual(done.returncode, 1, done.stderr)
        (path,) = (self.root / "results/bench").glob("*.json")
        content = json.loads(path.read_text())
        self.assertEqual(content["machine"], history.machine())
        kept = content["peers"]
        revision = run("git", "rev-parse", "--short=12", "HEAD").stdout.strip()
        for name, failed, lines in (
            ("factor", None, [line("nystrom over NumPy", 1.5, "at most 1", "missed", 3, 2)]),
            ("sketch", None, [line("figure_1 over NumPy", 0.75, "at most 1", "met")]),
            ("svm", "exit 1", [line("a over b", 2)]),
        ):
            self.assertEqual((kept[name]["failed"], kept[name]["lines"]), (failed, lines))
            self.assertEqual((kept[name]["revision"], kept[name]["changed"]), (revision, False))
            self.assertEqual(kept[name]["versions"], dict(pin.split("==") for pin in pins.split()))
        # the tables are written with it
        self.assertEqual(self.run_history("check")[0], 0)
        self.assertIn("1 of 2 aims are met, and 1 of 3 peers failed", (self.root / "README.md").read_text())
        shown = done.stdout.split("== ratios beside their aims")[1]
        self.assertEqual([text.split()[0] for text in shown.strip().splitlines()], ["peer", "factor", "sketch", "svm", "svm"])
        self.assertEqual(shown.count("FAILED"), 1)

        # what was recorded is not yet committed, and changes nothing of what is measured
        done = run("bash", "scripts/bench-peers", "sketch", "--record")
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = json.loads(path.read_text())["peers"]
        self.assertEqual([kept[name]["changed"] for name in ("factor", "sketch", "svm")], [False] * 3)

        # svm alone, mended and not committed; its record is replaced, the others stay
        (scripts / "peers/svm.py").write_text("from aims import hold\nhold('a over b', 4)\n")
        done = run("bash", "scripts/bench-peers", "svm", "--record")
        self.assertEqual(done.returncode, 0, done.stderr)
        again = json.loads(path.read_text())["peers"]
        self.assertEqual((again["svm"]["failed"], again["svm"]["lines"], again["svm"]["changed"]), (None, [line("a over b", 4)], True))
        self.assertEqual((again["factor"], again["sketch"]), (kept["factor"], kept["sketch"]))

        # without --record nothing is written, and sizes of one's own are not recorded
        before = path.read_bytes()
        self.assertEqual(run("bash", "scripts/bench-peers", "factor").returncode, 1)
        done = run("bash", "scripts/bench-peers", "--record", "svm", "--", "--rows", "10")
        self.assertEqual((done.returncode, "takes `svm` as it is" in done.stderr), (2, True), done.stderr)
        self.assertEqual(path.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()

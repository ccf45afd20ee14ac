"""One store between runs and processes: killed, resumed, shared."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from landmark import Landmark, StoreFailure

TEXTS = [str(item) for item in range(80)]

PROGRAM = """
    import sys, time
    from landmark import Landmark
    texts = [str(item) for item in range(80)]
    log = open({log!r}, "a")
    def slow(pairs):
        time.sleep({seconds} * len(pairs))
        for a, b in pairs:
            log.write(f"{{a}} {{b}}\\n")
        log.flush()
        return [1.0 / (1 + abs(int(a) - int(b))) for a, b in pairs]
    lm = Landmark(slow, 20, store={store!r}, identity="slow", error_samples=100)
    print("ready", flush=True)
    sys.stdin.readline()
    lm.fit(texts)
    print(lm.n_calls_, lm.bill_.calls_alone, repr(lm.similarity(3, 14)), flush=True)
"""


def start(store: Path, log: Path, seconds: float) -> subprocess.Popen[str]:
    program = textwrap.dedent(PROGRAM).format(store=str(store), log=str(log), seconds=seconds)
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return process


def end(process: subprocess.Popen[str]) -> tuple[int, int, str]:
    out, _ = process.communicate(timeout=60)
    made, alone, similarity = out.split()
    return int(made), int(alone), similarity


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_killed_in_the_middle_of_scoring_only_what_is_missing_is_scored(tmp_path: Path) -> None:
    first = go(start(tmp_path / "store", tmp_path / "first", 0.002))
    # until something is published; all of it takes 3 s and more
    while not any((tmp_path / "store").rglob("*.tile")):
        assert first.poll() is None
        time.sleep(0.02)
    first.kill()
    first.wait()
    assert first.stdout is not None
    first.stdout.close()
    assert first.stdin is not None
    first.stdin.close()
    made, alone, similarity = end(go(start(tmp_path / "store", tmp_path / "second", 0.0)))
    whole = end(go(start(tmp_path / "other", tmp_path / "third", 0.0)))
    assert 0 < made < alone == whole[0]
    assert similarity == whole[2], "the same bits"
    before = set((tmp_path / "first").read_text().splitlines())
    again = before & set((tmp_path / "second").read_text().splitlines())
    # what waited to be published when it was killed is scored again, and nothing else
    assert len(again) < len(before)
    assert made == alone - (len(before) - len(again))
    assert end(go(start(tmp_path / "store", tmp_path / "fourth", 0.0)))[0] == 0


def test_two_processes_share_a_store_and_the_calls(tmp_path: Path) -> None:
    both = [start(tmp_path / "store", tmp_path / f"log{number}", 0.002) for number in range(2)]
    found = [end(process) for process in [go(process) for process in both]]
    (made, alone, similarity), (other, _, same) = found
    assert similarity == same
    assert min(made, other) > 0, "both took part"
    # what both had under way before either was published may be scored twice
    assert alone <= made + other < 1.5 * alone


def test_another_identity_is_another_score(tmp_path: Path) -> None:
    def one(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0 for _ in pairs]

    settings = {"n_components": 2, "store": tmp_path, "error_samples": 0}
    Landmark(one, identity="v1", **settings).fit(TEXTS)
    assert Landmark(one, identity="v1", **settings).plan(TEXTS).calls == 0
    for lm, texts in [
        (Landmark(one, identity="v2", **settings), TEXTS),
        (Landmark(one, identity="v1", **settings), [*TEXTS[:-1], "other"]),
        (Landmark(one, identity="v1", order="mean", **settings), TEXTS),
    ]:
        assert lm.plan(texts).stored == 0


def test_a_damaged_tile_is_refused_by_name(tmp_path: Path) -> None:
    def one(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0 for _ in pairs]

    lm = Landmark(one, 2, store=tmp_path, identity="v1", error_samples=0).fit(TEXTS)
    tile = next(tmp_path.rglob("*.tile"))
    tile.chmod(0o644)
    tile.write_bytes(tile.read_bytes()[:-3])
    with pytest.raises(StoreFailure, match=tile.name[:20]):
        lm.plan(TEXTS)

"""One store between runs and processes: killed, resumed, shared."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landmark import Blockwise, Landmark, Program, StoreFailure, work

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
    lm = Landmark(slow, 20, order="symmetric", store={store!r}, identity="slow", error_samples=100)
    print("ready", flush=True)
    sys.stdin.readline()
    lm.fit(texts)
    print(lm.n_calls_, lm.call_plan_.calls_alone, repr(lm.similarities(3, 14)), flush=True)
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
    # two runs at once may score a pair twice, but none scores it two times
    assert alone <= made + other <= 2 * alone and max(made, other) <= alone


def test_another_identity_is_another_score(tmp_path: Path) -> None:
    def one(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0 for _ in pairs]

    settings = {"n_components": 2, "store": tmp_path, "error_samples": 0}
    Landmark(one, identity="v1", **settings).fit(TEXTS)
    assert Landmark(one, identity="v1", **settings).plan(TEXTS).calls == 0
    for lm, texts in [
        (Landmark(one, identity="v2", **settings), TEXTS),
        (Landmark(one, identity="v2", **settings), TEXTS[:40]),
        (Landmark(one, identity="v1", order="mean", **settings), TEXTS),
        (Landmark(one, identity="v1", diagonal=1.0, **settings), TEXTS),
        (Landmark(one, identity="v1", **settings), [f"other {text}" for text in TEXTS]),
    ]:
        assert lm.plan(texts).stored == 0


def test_the_name_of_a_score_in_a_store_stays_what_it_is() -> None:
    def one(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0 for _ in pairs]

    def name(**settings: Any) -> str:
        return Landmark(one, 2, identity="v1", error_samples=0, **settings).fit(["a", "b", "c"])._identity_

    # of stores that are there already: another name would ask for everything in them again
    assert name(order="mean") == "d38b616614972df0265d244ca457d52c8aee4aa71087a698ffddc5570a6d5dfe"
    assert name(diagonal=1.0) == "3d29854f081dc7bde078f37195f7222635d8b2302bb6e882c911263633cb9449"


class Asked:
    """1 / (1 + |a − b|), which may depend on the order, and the pairs that it was asked for."""

    def __init__(self, turned: float = 1.0) -> None:
        self.pairs: list[tuple[Any, Any]] = []
        self.turned = turned

    def __call__(self, pairs: list[tuple[Any, Any]]) -> list[float]:
        self.pairs.extend((str(a), str(b)) for a, b in pairs)
        scores = [1.0 / (1 + abs(float(np.sum(np.float64(a))) - float(np.sum(np.float64(b))))) for a, b in pairs]
        return [score if str(a) <= str(b) else self.turned * score for score, (a, b) in zip(scores, pairs)]


@pytest.mark.parametrize("kind", ["texts", "rows", "mean of both orders"])
def test_another_list_takes_over_what_is_kept_of_its_pairs(tmp_path: Path, kind: str) -> None:
    items: Any = np.arange(80.0)[:, None] if kind == "rows" else TEXTS
    order = "mean" if kind == "mean of both orders" else "symmetric"
    settings = {"identity": "v1", "order": order, "landmarks": list(range(10)), "n_components": 10, "error_samples": 0}
    score = Asked(0.5 if order == "mean" else 1.0)
    Landmark(score, store=tmp_path / "store", **settings).fit(items[:50])
    fresh = Asked(score.turned)
    lm = Landmark(fresh, store=tmp_path / "store", **settings)
    call_plan = lm.plan(items)
    lm.fit(items)
    alone = Landmark(Asked(score.turned), **settings).fit(items)
    # ten landmarks with the thirty that are new
    assert call_plan.calls == lm.n_calls_ == len(fresh.pairs) == 300 * (2 if order == "mean" else 1)
    assert not set(fresh.pairs) & set(score.pairs)
    np.testing.assert_array_equal(lm.embedding_, alone.embedding_)
    # the same items in another sequence, and some of them: the landmarks are others, their pairs with the old ones are there
    turned = Landmark(Asked(), store=tmp_path / "store", **{**settings, "landmarks": list(range(70, 80))}).fit(items[::-1])
    assert turned.n_calls_ == 0
    part = Landmark(Asked(), store=tmp_path / "store", **settings).fit(items[:40])
    assert part.n_calls_ == 0


def test_blocks_and_programs_take_over_what_is_kept_too(tmp_path: Path) -> None:
    settings = {"landmarks": list(range(5)), "n_components": 5, "error_samples": 0, "store": tmp_path / "store"}
    rows = np.arange(30.0)[:, None] / 30

    def block(some: Any, others: Any, scale: float) -> Any:
        return np.exp(-scale * (some - others.T) ** 2)

    Landmark(Blockwise(block, scale=1.0), identity="v1", **settings).fit(rows[:20])
    assert Landmark(Blockwise(block, scale=1.0), identity="v1", **settings).plan(rows).calls == 5 * 10
    assert Landmark(Blockwise(block, scale=2.0), identity="v1", **settings).plan(rows).stored == 0
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import json, sys
            sys.stdin.readline()
            print(json.dumps({"landmark": 1, "identity": "lengths", "symmetric": True, "diagonal": 1}), flush=True)
            for line in sys.stdin:
                batch = json.loads(line)
                print(json.dumps({"batch": batch["batch"], "scores": [1 / (1 + abs(int(a) - int(b))) for a, b in batch["pairs"]]}), flush=True)
        """)
    )
    Landmark(Program([sys.executable, str(program)]), **settings).fit(TEXTS[:20])
    assert Landmark(Program([sys.executable, str(program)]), **settings).plan(TEXTS[:30]).calls == 5 * 10


def test_a_plan_writes_nothing_and_equal_landmarks_cost_what_one_of_them_does(tmp_path: Path) -> None:
    settings = {"landmarks": list(range(3)), "n_components": 3, "error_samples": 0, "store": tmp_path, "identity": "v1"}
    texts = ["0"] * 30 + TEXTS[1:31]
    Landmark(Asked(), **settings).fit(texts)
    before = {path: path.stat().st_size for path in tmp_path.rglob("*")}
    grown = Landmark(Asked(), **settings)
    assert grown.plan([*texts, "80"]).calls == 1
    assert {path: path.stat().st_size for path in tmp_path.rglob("*")} == before
    assert grown.fit([*texts, "80"]).n_calls_ == 1
    tiles = grown.tiles([*texts, "81"])
    assert sum(work(tile) for tile in tiles) == 1


def test_new_items_are_no_list_for_others(tmp_path: Path) -> None:
    lm = Landmark(Asked(), 5, store=tmp_path, identity="v1", error_samples=0).fit(TEXTS[:40])
    lists = sorted((tmp_path / "lists").rglob("*"))
    lm.transform(TEXTS[40:])
    assert sorted((tmp_path / "lists").rglob("*")) == lists


def test_a_damaged_tile_is_refused_by_name(tmp_path: Path) -> None:
    def one(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0 for _ in pairs]

    lm = Landmark(one, 2, store=tmp_path, identity="v1", error_samples=0).fit(TEXTS)
    tile = next(tmp_path.rglob("*.tile"))
    tile.chmod(0o644)
    tile.write_bytes(tile.read_bytes()[:-3])
    with pytest.raises(StoreFailure, match=tile.name[:20]):
        lm.plan(TEXTS)

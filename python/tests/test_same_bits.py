"""The same factors as the Rust program, bit for bit, where the program is available."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import matrix

from landmark import Landmark

ROOT = Path(__file__).resolve().parents[2]

CONFIG = """
name: same_bits
experiment: own_data
dataset: {{ name: precomputed, path: {matrix} }}
oracle: {{ kind: precomputed }}
methods: [{{ id: {method} }}]
ranks: 25
seed: 77
error_estimate: 300
output: {{ formats: [npy] }}
"""


def program() -> str | None:
    """The program: `LANDMARK_RUNNER`, or what cargo built last."""
    named = os.environ.get("LANDMARK_RUNNER")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / kind / "landmark" for kind in ("debug", "release")]
    return named or next((str(path) for path in built if path.exists()), None) or shutil.which("landmark")


QUICKSTART = """
name: quickstart
experiment: own_data
dataset: { name: embedded, vectors: { kind: ppmi_svd, dimension: 50 } }
oracle: { kind: wmd, gamma: 0.5, empty_documents: drop }
methods: [shift_ridge]
ranks: 40
seed: 2022
output: { formats: [npy] }
"""


def run(*arguments: str | Path) -> None:
    """Runs the program with its results and store in the folder of its configuration; skips where there is none."""
    runner = program()
    if runner is None:
        pytest.skip("the program is not built: `cargo build -p runner`, or name it by LANDMARK_RUNNER")
    done = subprocess.run([runner, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


def test_same_bits_on_the_matrix_of_the_quickstart(tmp_path: Path) -> None:
    config = tmp_path / "quickstart.yaml"
    config.write_text(QUICKSTART)
    here = ["--results", tmp_path / "results", "--store", tmp_path / "store", "--quiet"]
    run(config, *here)
    theirs = Landmark.load(next((tmp_path / "results").rglob("factors")))
    n = len(theirs.embedding_)
    assert n == 200
    pairs = "".join(f"{i}\t{j}\n" for i in range(n) for j in range(i))
    (tmp_path / "pairs.tsv").write_text(f"first\tsecond\n{pairs}")
    run("pairs", config, tmp_path / "pairs.tsv", "--evaluate", "--out", tmp_path / "scored.tsv", *here)
    k = np.eye(n)
    for line in (tmp_path / "scored.tsv").read_text().splitlines()[1:]:
        i, j, _, score = line.split("\t")
        k[int(i), int(j)] = k[int(j), int(i)] = float(score)
    # both draw by place: the program knows no content of this corpus, and a matrix has none
    drawn = Landmark(metric="precomputed", n_components=40, random_state=2022, name="embedded", error_samples=0).fit(k).component_indices_
    assert drawn.tolist() == theirs.component_indices_.tolist()
    ours = Landmark(
        lambda pairs: [k[i["item"], j["item"]] for i, j in pairs], 40, diagonal=1.0, random_state=2022, landmarks=drawn, name="embedded", error_samples=0
    ).fit([{"item": item} for item in range(n)])
    assert ours.embedding_.tobytes() == theirs.embedding_.tobytes(), np.abs(ours.embedding_ - theirs.embedding_).max()
    assert ours.signature_.tobytes() == theirs.signature_.tobytes()


@pytest.mark.parametrize("method", ["shift_ridge", "sms_nystrom", "nystrom", "stack"])
def test_same_bits_as_the_program(tmp_path: Path, method: str) -> None:
    k = matrix(90)
    np.save(tmp_path / "k.npy", k)
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.format(matrix=tmp_path / "k.npy", method=method))
    run(config, "--results", tmp_path / "results", "--store", tmp_path / "store", "--quiet")
    folder = next((tmp_path / "results").rglob("factors"))
    theirs = Landmark.load(folder)
    ours = Landmark(
        metric="precomputed", n_components=25, method=method, random_state=77, name="precomputed", error_samples=300
    ).fit(k)
    assert ours.component_indices_.tolist() == theirs.component_indices_.tolist()
    assert ours.embedding_.tobytes() == theirs.embedding_.tobytes(), np.abs(ours.embedding_ - theirs.embedding_).max()
    assert ours.signature_.tobytes() == theirs.signature_.tobytes()
    assert ours._factors.projector is None or ours._factors.projector.tobytes() == theirs._factors.projector.tobytes()
    ours.save(tmp_path / "again")
    for name in ("vectors.npy", "signature.npy"):
        mine, its = np.load(tmp_path / "again" / name), np.load(folder / name)
        # headers are padded differently, and a file may be column by column
        assert (mine.dtype, mine.shape, mine.tobytes()) == (its.dtype, its.shape, its.tobytes()), name

"""The same factors as the Rust program, bit for bit, where the program is at hand."""

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
    built = [target / kind / "runner" for kind in ("debug", "release")]
    return named or next((str(path) for path in built if path.exists()), None) or shutil.which("runner")


@pytest.mark.parametrize("method", ["shift_ridge", "sms_nystrom", "nystrom", "stack"])
def test_same_bits_as_the_program(tmp_path: Path, method: str) -> None:
    runner = program()
    if runner is None:
        pytest.skip("the program is not built: `cargo build -p runner`, or name it by LANDMARK_RUNNER")
    k = matrix(90)
    np.save(tmp_path / "k.npy", k)
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.format(matrix=tmp_path / "k.npy", method=method))
    done = subprocess.run(
        [runner, str(config), "--results", str(tmp_path / "results"), "--store", str(tmp_path / "store"), "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
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

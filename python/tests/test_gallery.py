"""The scripts of `examples/python` run as they are, and the guide's code runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples/python").glob("*.py"))
SAYS = {
    "near_duplicates": "pairs of 0.5 and more",
    "rerank": "recall@5 of rounds",
    "wmd_svm": "accuracy on",
    "llm_judge": "nearest to",
    "mentions": "CoNLL F1",
}


@pytest.mark.parametrize("name", SAYS)
def test_a_script_of_the_gallery_runs(name: str) -> None:
    if not SCRIPTS:
        pytest.skip("the scripts are in the repository, and this is none")
    script = ROOT / "examples/python" / f"{name}.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout, done.stdout


def test_the_neighbors_of_sentences_of_sts_b_come_with_an_audited_recall_above_that_of_reranking() -> None:
    data = os.environ.get("LANDMARK_DATA")
    if not data or not (Path(data) / "vectors/self300.f16.npy").exists():
        pytest.skip("LANDMARK_DATA names no folder with stsb/ and vectors/")
    command = [sys.executable, str(ROOT / "examples/python/sts_b_neighbors.py"), "--data", data, "--items", "300", "--rows", "300"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = {name: (float(about), float(least)) for name, about, least in re.findall(r"recall@10 of (\w+): about ([\d.]+), at least ([\d.]+)", done.stdout)}
    # all rows are audited: the bound is the recall
    assert figures["rounds"][0] == figures["rounds"][1] > figures["reranking"][0] + 0.1, done.stdout
    assert "300 sentences: 5,9" in done.stdout and "recall of the near-duplicates: about" in done.stdout, done.stdout


@pytest.mark.parametrize(("page", "least"), [("README.md", 1), ("SKILL.md", 1), ("docs/tutorials/python.md", 3), ("docs/how-to/scikit-learn.md", 1), ("docs/how-to/sketches.md", 1), ("docs/how-to/judge.md", 1), ("docs/python.md", 5), *((f"docs/how-to/{name}.md", 2) for name in ("audit", "cache-a-model", "two-lists", "python-engines"))])
def test_the_code_of_a_page_runs_from_top_to_bottom(page: str, least: int, tmp_path: Path) -> None:
    guide = ROOT / page
    if not guide.exists():
        pytest.skip("the guide is in the repository, and this is none")
    text = guide.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= least
    program = tmp_path / "guide.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT / "examples/python")]))}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    # a block of text after code is what the code prints
    for printed in re.findall(r"^```python\n(?:(?!^```).)*?^```\n\n```text\n(.*?)^```", text, re.M | re.S):
        assert printed in done.stdout, done.stdout

"""The wheel and the source distribution, where `scripts/test-python --all` has built them (`LANDMARK_DIST` is their folder)."""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = os.environ.get("LANDMARK_DIST")
pytestmark = pytest.mark.skipif(DIST is None, reason="no wheel was built: `scripts/test-python --all`")


def only(pattern: str) -> Path:
    assert DIST is not None
    found = list(Path(DIST).glob(pattern))
    assert len(found) == 1, f"{pattern} in {DIST}: {found}"
    return found[0]


def test_the_wheel_is_for_every_python_from_3_10_on() -> None:
    wheel = only("*.whl")
    assert re.fullmatch(r"landmark_similarity-[\d.]+-cp310-abi3-\w+\.whl", wheel.name), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {"landmark/__init__.py", "landmark/_native.abi3.so", "landmark/_native.pyi", "landmark/py.typed"} <= names
        said = archive.read(next(name for name in names if name.endswith("/WHEEL"))).decode()
        assert "Tag: cp310-abi3-" in said and "Root-Is-Purelib: false" in said
        assert not any("test" in name or name.endswith(".rs") for name in names)


def test_the_wheel_names_no_path_of_this_machine() -> None:
    places = {str(ROOT), str(Path.home()), os.environ.get("CARGO_HOME", ""), os.environ.get("CARGO_TARGET_DIR", "")}
    with zipfile.ZipFile(only("*.whl")) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            for place in filter(lambda place: len(place) > 1, places):
                found = re.search(re.escape(place.encode()) + rb"[/\x00-\x20][^\x00]{0,80}", content)
                assert found is None, f"{name}: {found.group()!r}"


def test_the_source_distribution_has_what_a_build_needs() -> None:
    with tarfile.open(only("*.tar.gz")) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "PKG-INFO", "landmark/__init__.py", "landmark/_native.pyi", "Cargo.lock"} <= names
    for crate in ("core", "data", "features", "neighbors", "oracles", "python", "store", "tasks"):
        assert f"crates/{crate}/Cargo.toml" in names, crate
    assert not any(name.startswith(("crates/neural", "crates/runner")) for name in names), "torch and the program stay out"

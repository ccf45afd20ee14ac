"""The package itself: stubs, types, names, time of import."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import landmark
from landmark import _native

PACKAGE = Path(landmark.__file__).parent


def test_stubs_name_what_the_module_has() -> None:
    stubs = ast.parse((PACKAGE / "_native.pyi").read_text())
    told = {node.name: node for node in stubs.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in dir(_native) if not name.startswith("_")}
    assert set(told) == there
    for name, node in told.items():
        real = getattr(_native, name)
        if isinstance(node, ast.FunctionDef):
            assert _parameters(node) == _signature(real), name
            continue
        if issubclass(real, BaseException):
            continue
        members = {member.name: member for member in node.body if isinstance(member, ast.FunctionDef)}
        real_members = {member for member in vars(real) if not member.startswith("_") or member in ("__len__", "__new__")}
        assert set(members) | {"__new__"} == real_members | {"__new__"}, name
        for member, of in members.items():
            if not member.startswith("_") and not any(_is(mark, "property") for mark in of.decorator_list):
                assert [one for one in _parameters(of) if one != "self"] == _signature(getattr(real, member)), member


def _is(mark: ast.expr, name: str) -> bool:
    return isinstance(mark, ast.Name) and mark.id == name


def _parameters(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args]


def _signature(real: object) -> list[str]:
    text = getattr(real, "__text_signature__", "") or ""
    names = [part.split("=")[0].strip() for part in text.strip("()").split(",")]
    return [name for name in names if name and name not in ("/", "*", "$self", "self")]


def test_every_name_is_there_and_documented() -> None:
    for name in landmark.__all__:
        assert getattr(landmark, name).__doc__ or name == "__version__", name
    with pytest.raises(AttributeError, match="no attribute 'Lankmark'"):
        landmark.Lankmark  # noqa: B018
    assert set(landmark.__all__) <= set(dir(landmark))
    assert sorted(landmark.__all__) == sorted([*landmark._HOMES, "__version__"])


def test_strict_type_checkers_see_every_name(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    names = ", ".join(name for name in landmark.__all__ if name != "__version__")
    user.write_text(f"from landmark import {names}\n")
    settings = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *settings, str(user)], cwd=PACKAGE.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted({"landmark", "landmark.sbert", *(f"landmark.{home}" for home in ("mteb", "pyterrier") if importlib.util.find_spec(home)), *(f"landmark.{home}" for home in landmark._HOMES.values() if home != "_native")}))
def test_the_examples_of_the_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def public() -> list[str]:
    """Names of everything that users call: functions, classes and their methods."""
    names = []
    for name in landmark.__all__:
        value = getattr(landmark, name)
        if name != "__version__" and callable(value) and landmark._HOMES[name] != "_native":
            names.append(f"landmark.{name}")
            for base in value.__mro__ if isinstance(value, type) and not issubclass(value, BaseException) else ():
                if base.__module__.startswith("landmark."):
                    names += [f"landmark.{name}.{member}" for member, of in vars(base).items() if callable(of) and not member.startswith("_") and member != "oracle"]
    adapters = {"mteb": ("Search", "Search.index", "Search.search"), "pyterrier": ("Reranker", "Reranker.transform", "Retriever", "Retriever.transform")}
    extra = [f"landmark.{home}.{name}" for home, of in adapters.items() if importlib.util.find_spec(home) for name in of]
    return names + extra + [f"landmark.sbert.{name}" for name in ("paraphrase_mining", "semantic_search", "mine_hard_negatives", "community_detection")]


@pytest.mark.parametrize("name", sorted(set(public())))
def test_docstrings_are_numpydoc(name: str) -> None:
    validate = pytest.importorskip("numpydoc.validate").validate
    # sections and their form; which words a sentence begins with is a matter of taste
    wanted = ("GL08", "SS01", "PR01", "PR02", "PR05", "PR06", "PR07", "PR08", "PR10", "RT03")
    assert [error for error in validate(name)["errors"] if error[0] in wanted] == []


def test_importing_needs_neither_scikit_learn_nor_scipy() -> None:
    program = "import sys, landmark; print([name for name in ('sklearn', 'scipy', 'numpy') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_a_free_threaded_interpreter_stays_so() -> None:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this interpreter has a lock of its own: PYTHON=python3.14t scripts/test-python")
    program = "import sys, landmark._native; print(sys._is_gil_enabled())"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"


def test_types_are_strict() -> None:
    pytest.importorskip("mypy")
    if not (PACKAGE.parent / "pyproject.toml").exists():
        pytest.skip("the package is installed without its project file")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml"], cwd=PACKAGE.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout

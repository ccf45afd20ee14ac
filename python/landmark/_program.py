"""The command ``landmark``, whose program lies inside the wheel."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

__all__ = ["main"]

#: The release of PyTorch whose libtorch the program's cross-encoders are built for.
TORCH = "2.11"


def _torch_folder() -> Path | None:
    """Find the folder of libtorch in this environment without importing torch."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "lib"


def _environment(folder: Path) -> dict[str, str]:
    """Make the variables by which the program finds libtorch and its cross-encoders."""
    environment = dict(os.environ)
    library = next(iter(folder.glob("*landmark_neural.*")), None)
    if library is None or "LANDMARK_NEURAL" in environment:
        return environment
    environment["LANDMARK_NEURAL"] = str(library)
    torch = _torch_folder()
    if torch is None:
        environment["LANDMARK_NEURAL_NEXT_STEP"] = f"run: pip install 'torch=={TORCH}.*'"
        return environment
    try:
        installed = version("torch")
    except PackageNotFoundError:
        installed = "an unknown version"
    if not installed.startswith(f"{TORCH}."):
        environment["LANDMARK_NEURAL_NEXT_STEP"] = (
            f"it needs PyTorch {TORCH}, but {installed} is installed: run: pip install 'torch=={TORCH}.*'"
        )
    name = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    environment[name] = os.pathsep.join([str(torch), *filter(None, [environment.get(name)])])
    return environment


def main() -> int:
    """Run the program with the arguments of this process, in its place.

    Returns
    -------
    int
        The exit code, if the process could not be replaced.
    """
    folder = Path(__file__).parent / "_bin"
    program = folder / "landmark"
    if not program.is_file():
        print(
            f"landmark: cannot find the program `{program}`: this build of the package has the library only. "
            "Install a wheel, or run `cargo install --path crates/runner`.",
            file=sys.stderr,
        )
        return 2
    os.execve(program, [str(program), *sys.argv[1:]], _environment(folder))
    return 2


if __name__ == "__main__":
    sys.exit(main())

"""Factors in files: the folder that the program writes (`runs/<name>/factors`) and reads, with the evaluated columns next to it.

`vectors.npy` (Z, n × r), `signature.npy` (r signs), `projector.npy`, `scattered_pairs.npy`, `scattered_scores.npy`, `factors.json`; from
Python also `known_columns.npy`, which the program leaves alone.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1


def write(folder: str | os.PathLike[str], arrays: dict[str, NDArray[Any] | None], info: dict[str, Any]) -> None:
    """Writes the folder next to its place and moves it there whole."""
    place = Path(folder)
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        for name, array in arrays.items():
            if array is not None:
                np.save(part / f"{name}.npy", np.ascontiguousarray(array))
        (part / "factors.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")
        if place.exists():
            if not (place / "factors.json").exists() and any(place.iterdir()):
                raise FileExistsError(f"`{place}` holds something else than factors; name another folder")
            shutil.rmtree(place)
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def read(folder: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any] | None], dict[str, Any]]:
    """Arrays and metadata of a folder.

    Raises FileNotFoundError where there are none, ValueError where files do not fit together.
    """
    place = Path(folder)
    if not (place / "factors.json").exists():
        raise FileNotFoundError(f"there are no factors in `{place}`: no `factors.json`")
    try:
        info: dict[str, Any] = json.loads((place / "factors.json").read_text(encoding="utf-8"))
        items, columns, scattered = int(info["items"]), int(info["columns"]), int(info.get("scattered", 0))
        landmarks = len(info["landmarks"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"`{place / 'factors.json'}` is damaged: {error!r}") from error
    if info.get("version") != VERSION:
        raise ValueError(f"`{place}` has factors of version {info.get('version')}, and this build reads {VERSION}")
    shapes = {
        "vectors": (items, columns),
        "signature": (columns,),
        "projector": (landmarks, columns),
        "known_columns": (items, landmarks),
        "scattered_pairs": (scattered, 2),
        "scattered_scores": (scattered,),
    }
    needed = {"vectors", "signature"} | ({"scattered_pairs", "scattered_scores"} if scattered else set())
    arrays = {name: _array(place / f"{name}.npy", shape, name in needed) for name, shape in shapes.items()}
    return arrays, info


def _array(path: Path, shape: tuple[int, ...], is_needed: bool) -> NDArray[Any] | None:
    if not path.exists() and not is_needed:
        return None
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"`{path}` is missing or damaged: {error}") from error
    if array.shape != shape:
        raise ValueError(f"`{path}` has the shape {array.shape}, but `factors.json` names {shape}")
    return array

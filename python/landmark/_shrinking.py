"""A fit to what a noisy judge would answer on average: evaluated columns are shrunk, and the factors are those of the shrunk columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import real
from ._native import MeteredStore, Oracle
from .noise import JudgeNoise, shrunk

_RESAMPLES = 500
# methods that read the columns of their landmarks and nothing else, and that a core of lower rank does not upset
_METHODS = ("shift_ridge", "nystrom", "sicur")


def variance_of(noise: Any, *, method: str, gamma: float | None, scattered: Any, known: bool) -> float | None:
    """`noise` of an estimator as a variance, where the estimator can shrink; ``None`` if there is none."""
    if noise is None:
        return None
    variance = noise.variance if isinstance(noise, JudgeNoise) else real("noise", noise)
    if variance < 0.0:
        raise ValueError(f"`noise` is {variance:g}, but is a variance (expected at least 0)")
    if method not in _METHODS:
        raise ValueError(f"cannot shrink by `noise` with the method `{method}`: expected one of {', '.join(_METHODS)}")
    for name, is_given in (("gamma", gamma is not None), ("scattered", scattered is not None), ("known=False", not known)):
        if is_given:
            raise ValueError(f"cannot shrink by `noise` with `{name}`: only whole columns of the score itself are shrunk; leave one of them out")
    return variance or None


def refitted(
    out: dict[str, Any], matrix: MeteredStore, settings: Mapping[str, Any], proxies: Sequence[Oracle], variance: float
) -> dict[str, Any]:
    """The fit to the shrunk columns of a fit. No call is made."""
    raw, landmarks = np.asarray(out["columns"]), np.asarray(out["landmarks"], dtype=np.int64)
    n = len(raw)
    less, report = shrunk(raw, landmarks, variance, matrix.diagonal)
    place = np.full(n, -1, dtype=np.int64)
    place[landmarks] = np.arange(len(landmarks))

    def served(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        of_column = place[columns] >= 0
        place_at, row = np.where(of_column, place[columns], place[rows]), np.where(of_column, rows, columns)
        if (place_at < 0).any():
            raise ValueError("cannot shrink by `noise`: the method reads scores outside the columns of its landmarks")
        return np.ascontiguousarray(less[row, place_at])

    again = {**settings, "landmarks": {"id": "given", "indices": landmarks.tolist()}, "rank": int(out["rank"]), "samples": 0}
    oracle = Oracle.function(served, n, "shrunk", symmetric=True, diagonal=matrix.diagonal)
    inner = MeteredStore(oracle, diagonal=matrix.diagonal).fit(json.dumps(again), proxies)
    error = _error(inner, raw, landmarks, matrix, {**again, "samples": settings["samples"]}, variance) if settings["samples"] else None
    return {
        **inner,
        "columns": None,
        "judged": raw,
        "report": json.dumps({**json.loads(inner["report"]), "noise": report}),
        "error": None if error is None else json.dumps(error),
        "cut_short": out["cut_short"],
        "uncounted": out.get("uncounted", 0),
    }


def _error(
    inner: Mapping[str, Any],
    raw: NDArray[np.float64],
    landmarks: NDArray[np.int64],
    matrix: MeteredStore,
    settings: Mapping[str, Any],
    variance: float,
) -> dict[str, Any] | None:
    """Relative error off the diagonal against the judge: of all evaluated columns, and of the pairs that were sampled from the others."""
    n, s = raw.shape
    pairs = matrix.entries(json.dumps(settings))[1]
    pairs = np.ascontiguousarray(pairs[pairs[:, 0] != pairs[:, 1]])
    if matrix.missing(pairs) or not len(pairs):
        return None
    vectors, signed = inner["vectors"], inner["vectors"] * inner["signature"]
    judged = matrix.scores(pairs)
    missed = np.einsum("ij,ij->i", signed[pairs[:, 0]], vectors[pairs[:, 1]]) - judged
    # an entry of a column stands for two of K, but for those of two landmarks, which are there twice
    weight = np.full((n, s), 2.0)
    weight[landmarks] = 1.0
    weight[landmarks, np.arange(s)] = 0.0
    left = (n - s) * (n - s - 1)
    of_columns = np.array([np.sum(weight * (signed @ vectors[landmarks].T - raw) ** 2), np.sum(weight * raw**2)])
    each = np.stack([missed**2, judged**2])
    error = _root(of_columns + left * each.mean(axis=1))
    rng = np.random.default_rng(settings["seed"])
    draws = each[:, rng.integers(len(pairs), size=(_RESAMPLES, len(pairs)))].mean(axis=2)
    tail = 50.0 * (1.0 - settings["confidence"])
    lower, upper = np.percentile(_root(of_columns[:, None] + left * draws), [tail, 100.0 - tail])
    noiseless = _root(np.maximum(each.mean(axis=1) - variance, 0.0))
    return {
        "relative_error": float(error),
        "lower": float(lower),
        "upper": float(upper),
        "noiseless": float(noiseless),
        "confidence": settings["confidence"],
        "samples": len(pairs),
    }


def _root(parts: NDArray[np.float64]) -> Any:
    return np.sqrt(np.divide(parts[0], parts[1], out=np.full_like(parts[0], np.nan), where=parts[1] > 0.0))

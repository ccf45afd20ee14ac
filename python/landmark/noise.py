"""A judge that answers differently when it is asked again: how much its answers vary, and scores with less of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from . import _native
from ._checks import real, whole
from ._items import plain
from ._numbered import Numbered
from .cached import _Asked

if TYPE_CHECKING:
    from .estimator import Landmark

_NAME = "judge_noise"


@dataclass(frozen=True)
class NoisyErrors:
    """Relative errors of estimated scores on a uniform sample of pairs.

    Parameters
    ----------
    judge : float
        Against one answer of the judge, whose noise is part of it.
    noiseless : float
        Against what the judge answers on average.
    labels : float or None
        Against labels; ``None`` without them.
    judge_labels : float or None
        One answer of the judge against labels.
    """

    judge: float
    noiseless: float
    labels: float | None = None
    judge_labels: float | None = None


@dataclass(frozen=True, repr=False)
class JudgeNoise:
    """The noise of a judge, from repeated answers to a uniform sample of pairs.

    Parameters
    ----------
    variance : float
        Variance of one answer around the mean answer to its pair.
    interval : tuple of float
        Confidence interval of `variance`.
    signal_variance : float
        Variance of the mean answers over pairs, without noise.
    answers : ndarray of shape (n_pairs, repeats)
        All answers.
    pairs : ndarray of shape (n_pairs, 2)
        Item numbers of the pairs.
    n_calls : int
        Calls that were made.
    """

    variance: float
    interval: tuple[float, float]
    signal_variance: float
    answers: NDArray[np.float64]
    pairs: NDArray[np.int64]
    n_calls: int

    @property
    def reliability(self) -> float:
        """Share of the variance of one answer that is signal."""
        total = self.signal_variance + self.variance
        return self.signal_variance / total if total > 0.0 else 1.0

    def __repr__(self) -> str:
        low, high = self.interval
        numbers = f"variance {self.variance:.4g} ({low:.4g} to {high:.4g}), reliability {self.reliability:.3f}"
        return f"JudgeNoise({numbers}, {len(self.pairs):,} pairs, {self.n_calls:,} calls)"

    def errors(self, lm: Landmark, labels: ArrayLike | None = None) -> NoisyErrors:
        """State the errors of a fitted estimator on the sampled pairs. No call is made.

        Parameters
        ----------
        lm : Landmark
            Estimator that was fitted to the same items. Its own calls are answers of their own, so that the sample is independent of the fit.
        labels : array-like of shape (n_pairs,) or None, default=None
            What people answer for `pairs`, in the unit of the score.

        Returns
        -------
        NoisyErrors
            Root mean squares of the errors, relative to that of the scores.
        """
        estimates = np.array([lm.similarities(i, j) for i, j in self.pairs.tolist()])
        means = self.answers.mean(axis=1)
        of_mean = self.variance / self.answers.shape[1]
        squared, size = np.mean((estimates - means) ** 2), np.mean(means**2)
        judge = _ratio(squared + self.variance - of_mean, size + self.variance - of_mean)
        noiseless = _ratio(squared - of_mean, size - of_mean)
        if labels is None:
            return NoisyErrors(judge, noiseless)
        given = np.asarray(plain(labels), dtype=np.float64)
        if given.shape != means.shape or not np.isfinite(given).all():
            raise ValueError(f"cannot read `labels`: expected one finite number per pair ({len(means)}, got the shape {given.shape})")
        size = np.mean(given**2)
        return NoisyErrors(
            judge, noiseless, _ratio(np.mean((estimates - given) ** 2), size), _ratio(np.mean((self.answers[:, 0] - given) ** 2), size)
        )


def judge_noise(
    similarity: Any,
    items: Any,
    *,
    n_pairs: int = 200,
    repeats: int = 2,
    order: Literal["mean", "max", "min", "symmetric"] | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> JudgeNoise:
    """Estimate the noise of a judge: ask it several times for a uniform sample of pairs.

    Parameters
    ----------
    similarity : callable, object or Cached
        The judge: a function of a list of pairs, or an object with ``predict``. Of a `Cached`, the model is asked.
    items : list or array
        Items.
    n_pairs : int, default=200
        Pairs of the sample.
    repeats : int, default=2
        Answers per pair, at least 2. They must not come from a cache of the judge.
    order : {"mean", "max", "min", "symmetric"} or None, default=None
        As in `Landmark`: with the first three, one answer is made of both orders of a pair. ``None`` is that of a `Cached`, ``"mean"`` for an object
        with ``predict``, and ``"symmetric"`` otherwise.
    confidence : float, default=0.95
        Confidence level of `interval`.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    JudgeNoise
        Variance of an answer, its interval, and the reliability of the judge.

    See Also
    --------
    Landmark : Its parameter `noise` shrinks what it evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> from landmark import judge_noise
    >>> rng = np.random.default_rng(0)
    >>> judge = lambda pairs: [1 / (1 + abs(a - b)) + rng.normal(scale=0.1) for a, b in pairs]
    >>> noise = judge_noise(judge, range(100), n_pairs=500)
    >>> abs(noise.variance - 0.01) < 0.002, noise.n_calls
    (True, 1000)
    """
    n_pairs, repeats = whole("n_pairs", n_pairs, 2), whole("repeats", repeats, 2)
    confidence, seed = real("confidence", confidence, above=0.0, below=1.0), whole("random_state", random_state, 0)
    of = Numbered(similarity, items, order=order)
    universe = of.n * (of.n - 1) // 2
    none = np.empty((0, 2), dtype=np.int64)
    pairs = _native.audit_pairs(of.n, None, none, 0, min(n_pairs, universe), seed, _NAME)[1]
    listed = of.pairs(pairs)
    asked = _Asked(listed, of.model.order)
    # one of several pairs of equal items
    first = np.sort(np.unique(asked.place, return_index=True)[1])
    first = first[~asked.is_self[asked.place[first]]]
    if len(first) < 2:
        raise ValueError(f"cannot estimate the noise of the judge: there are {len(first)} pairs of different items (expected 2 at least)")
    places = asked.place[first]
    answers = np.stack([of.model._ask(asked, places, {}, None) for _ in range(repeats)], axis=1)
    within = answers.var(axis=1, ddof=1)
    variance = float(within.mean())
    signal = max(0.0, float(answers.mean(axis=1).var(ddof=1)) - variance / repeats)
    return JudgeNoise(
        variance, _interval(within, confidence), signal, answers, pairs[first], len(first) * repeats * of.calls_per_pair
    )


def _interval(within: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Interval of a mean variance: a chi-square whose degrees of freedom match the spread over pairs (Satterthwaite 1946)."""
    mean, spread = float(within.mean()), float(within.var(ddof=1))
    if mean == 0.0 or spread == 0.0:
        return mean, mean
    freedom = 2.0 * len(within) * mean**2 / spread
    tail = (1.0 - confidence) / 2.0
    return float(freedom * mean / chi2.ppf(1.0 - tail, freedom)), float(freedom * mean / chi2.ppf(tail, freedom))


def _ratio(squared: Any, size: Any) -> float:
    return float(np.sqrt(max(squared, 0.0) / size)) if size > 0.0 else float("nan")


def shrunk(columns: NDArray[np.float64], landmarks: NDArray[np.int64], variance: float, diagonal: float | None) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Evaluated columns with less noise, and what was done.

    Singular values of the centered columns are shrunk as is optimal for a low-rank matrix in noise of known variance (Gavish and Donoho, IEEE Trans.
    Inf. Theory 63, 2017). An entry is then moved from what the judge answered towards this estimate by the share of its residual's
    variance that is noise.

    Parameters
    ----------
    columns : ndarray of shape (n, s)
        Evaluated columns.
    landmarks : ndarray of shape (s,)
        Their items.
    variance : float
        Variance of one answer.
    diagonal : float or None
        Self-similarity that is known without a call.

    Returns
    -------
    tuple of ndarray and dict
        Columns, and ``directions``, ``reliability``.
    """
    n, s = columns.shape
    own = np.arange(s)
    mean = columns.mean(axis=0)
    left, sizes, right = np.linalg.svd(columns - mean, full_matrices=False)
    unit, shape = np.sqrt(variance * max(n, s)), min(n, s) / max(n, s)
    y = sizes / unit
    kept = y > 1.0 + np.sqrt(shape)
    y = y[kept]
    low = mean + (left[:, kept] * (unit * np.sqrt((y**2 - shape - 1.0) ** 2 - 4.0 * shape) / y)) @ right[kept]
    residual = columns - low
    # a fit of r directions and the means takes up so much of the noise
    taken = (len(y) * (n + s - len(y)) + s) / (n * s)
    signal = max(0.0, float(np.mean(residual**2)) - variance * max(0.0, 1.0 - taken))
    reliability = signal / (signal + variance)
    out = low + reliability * residual
    square = out[landmarks]
    out[landmarks] = (square + square.T) / 2.0
    if diagonal is not None:
        out[landmarks, own] = diagonal
    return np.ascontiguousarray(out), {"variance": variance, "directions": len(y), "reliability": reliability}

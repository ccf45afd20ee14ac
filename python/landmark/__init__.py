"""Expensive pairwise scores as matrices you can use, from a few of their columns.

>>> from landmark import Landmark
>>> lm = Landmark(lambda pairs: [1.0 if a == b else 0.5 for a, b in pairs], n_components=2, order="symmetric", error_samples=0)
>>> lm.plan(["a", "b", "c"]).calls
5
>>> lm.fit(["a", "b", "c"]).similarities(0, 1)
0.5

Classes are imported when they are first used: `import landmark` needs neither scikit-learn nor SciPy. `landmark.sbert` has the utilities of
sentence-transformers by a cross-encoder.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import (
        BudgetExhausted as BudgetExhausted,
        NotFiniteError as NotFiniteError,
        StoreFailure as StoreFailure,
        landmark_policies as landmark_policies,
    )
    from ._exchange import PairBatch as PairBatch
    from .results import CallPlan as CallPlan, Neighbors as Neighbors, Pairs as Pairs, Recall as Recall
    from .cached import Cached as Cached
    from .estimator import Landmark as Landmark
    from .features import FrequentDirections as FrequentDirections, StructuredFeatures as StructuredFeatures
    from .noise import JudgeNoise as JudgeNoise, NoisyErrors as NoisyErrors, judge_noise as judge_noise
    from .recall import plan_recall_of as plan_recall_of, recall_of as recall_of
    from .scores import Blockwise as Blockwise, Program as Program, TreeKernel as TreeKernel, VectorKernel as VectorKernel, Wmd as Wmd
    from .tasks import (
        LinearSvm as LinearSvm,
        average_linkage as average_linkage,
        coreference_scores as coreference_scores,
        methods as methods,
        ranking_scores as ranking_scores,
    )
    from .transport import emd as emd, wmd as wmd, wmd_matrix as wmd_matrix
    from .two_sided import TwoSided as TwoSided, join as join
    from .workers import Tile as Tile, Worker as Worker, search_tiles as search_tiles, work as work

__version__ = "0.1.0"

_HOMES = {
    "PairBatch": "_exchange",
    "BudgetExhausted": "_native",
    "NotFiniteError": "_native",
    "StoreFailure": "_native",
    "landmark_policies": "_native",
    "CallPlan": "results",
    "Neighbors": "results",
    "Pairs": "results",
    "Recall": "results",
    "Cached": "cached",
    "Landmark": "estimator",
    "FrequentDirections": "features",
    "StructuredFeatures": "features",
    "JudgeNoise": "noise",
    "NoisyErrors": "noise",
    "judge_noise": "noise",
    "plan_recall_of": "recall",
    "recall_of": "recall",
    "Blockwise": "scores",
    "Program": "scores",
    "TreeKernel": "scores",
    "VectorKernel": "scores",
    "Wmd": "scores",
    "LinearSvm": "tasks",
    "average_linkage": "tasks",
    "coreference_scores": "tasks",
    "methods": "tasks",
    "ranking_scores": "tasks",
    "emd": "transport",
    "wmd": "transport",
    "wmd_matrix": "transport",
    "TwoSided": "two_sided",
    "join": "two_sided",
    "Tile": "workers",
    "Worker": "workers",
    "search_tiles": "workers",
    "work": "workers",
}

# a literal, which type checkers read
__all__ = [
    "CallPlan",
    "Blockwise",
    "BudgetExhausted",
    "Cached",
    "FrequentDirections",
    "JudgeNoise",
    "Landmark",
    "LinearSvm",
    "Neighbors",
    "NoisyErrors",
    "NotFiniteError",
    "PairBatch",
    "Pairs",
    "Program",
    "Recall",
    "StoreFailure",
    "StructuredFeatures",
    "Tile",
    "TreeKernel",
    "TwoSided",
    "VectorKernel",
    "Wmd",
    "Worker",
    "average_linkage",
    "coreference_scores",
    "emd",
    "join",
    "judge_noise",
    "landmark_policies",
    "methods",
    "plan_recall_of",
    "ranking_scores",
    "recall_of",
    "search_tiles",
    "wmd",
    "wmd_matrix",
    "work",
    "__version__",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'landmark' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

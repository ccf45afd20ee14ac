"""Expensive pairwise scores as matrices you can use, from a few of their columns.

>>> from landmark import Landmark
>>> lm = Landmark(lambda pairs: [1.0 if a == b else 0.5 for a, b in pairs], n_components=2, order="symmetric", error_samples=0)
>>> lm.plan(["a", "b", "c"]).calls
5
>>> lm.fit(["a", "b", "c"]).similarity(0, 1)
0.5

Classes are imported when they are asked for: `import landmark` needs neither scikit-learn nor SciPy.
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
    from .bill import Bill as Bill, Neighbors as Neighbors, Pairs as Pairs, Recall as Recall
    from .estimator import Landmark as Landmark
    from .features import FrequentDirections as FrequentDirections, StructuredFeatures as StructuredFeatures
    from .scores import Blockwise as Blockwise, Program as Program, TreeKernel as TreeKernel, VectorKernel as VectorKernel, Wmd as Wmd
    from .tasks import (
        LinearSvm as LinearSvm,
        average_linkage as average_linkage,
        coreference_scores as coreference_scores,
        methods as methods,
        ranking_scores as ranking_scores,
    )
    from .transport import emd as emd, wmd as wmd, wmd_matrix as wmd_matrix
    from .workers import Tile as Tile, work as work

__version__ = "0.1.0"

_HOMES = {
    "BudgetExhausted": "_native",
    "NotFiniteError": "_native",
    "StoreFailure": "_native",
    "landmark_policies": "_native",
    "Bill": "bill",
    "Neighbors": "bill",
    "Pairs": "bill",
    "Recall": "bill",
    "Landmark": "estimator",
    "FrequentDirections": "features",
    "StructuredFeatures": "features",
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
    "Tile": "workers",
    "work": "workers",
}

# a literal, which type checkers read
__all__ = [
    "Bill",
    "Blockwise",
    "BudgetExhausted",
    "FrequentDirections",
    "Landmark",
    "LinearSvm",
    "Neighbors",
    "NotFiniteError",
    "Pairs",
    "Program",
    "Recall",
    "StoreFailure",
    "StructuredFeatures",
    "Tile",
    "TreeKernel",
    "VectorKernel",
    "Wmd",
    "average_linkage",
    "coreference_scores",
    "emd",
    "landmark_policies",
    "methods",
    "ranking_scores",
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

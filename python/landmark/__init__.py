"""Expensive pairwise scores as matrices you can use, from a few of their columns.

>>> from landmark import Landmark
>>> lm = Landmark(lambda pairs: [1.0 if a == b else 0.5 for a, b in pairs], n_components=2, error_samples=0)
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
    from ._native import BudgetExhausted, NotFiniteError, StoreFailure, landmark_policies
    from .bill import Bill, Neighbors, Pairs, Recall
    from .estimator import Landmark
    from .features import FrequentDirections, StructuredFeatures
    from .scores import Blockwise, Program, TreeKernel, VectorKernel, Wmd
    from .tasks import LinearSvm, average_linkage, coreference_scores, methods, ranking_scores
    from .transport import emd, wmd, wmd_matrix
    from .workers import Tile, work

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

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'landmark' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

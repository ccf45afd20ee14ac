"""What is told of a fit or a search: its bill, its recall, the pairs that were found. Each shows itself as a table in notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _native


def _number(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(title: str, rows: list[tuple[str, Any]]) -> str:
    """Rows of two cells as HTML."""
    cells = "".join(
        f"<tr><td style='text-align:left'>{html.escape(name)}</td><td style='text-align:right'>{html.escape(_number(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{cells}</tbody></table>"


@dataclass(frozen=True)
class Bill:
    """Calls of a fit or a search, before the first of them.

    `calls` are those still to be made; `calls_alone` what it would take with an empty store. `is_exact` is false where what is asked
    depends on what was seen: then both are upper bounds. `calls_of_the_probe` are among them: pairs in the other order, which tell whether the score
    is symmetric.
    """

    items: int
    calls: int
    calls_alone: int
    calls_of_the_estimate: int
    entries: int
    n_components: int
    budget: int | None
    is_exact: bool
    calls_of_the_probe: int = 0

    @property
    def stored(self) -> int:
        """Calls that the store saves."""
        return self.calls_alone - self.calls

    @property
    def share_of_all_pairs(self) -> float:
        """Calls as a share of those of all pairs."""
        all_pairs = self.items * (self.items - 1) / 2
        return self.calls_alone / all_pairs if all_pairs else 0.0

    def _rows(self) -> list[tuple[str, Any]]:
        bound = "" if self.is_exact else ", at most"
        return [
            ("items", self.items),
            (f"calls to be made{bound}", self.calls),
            ("calls that the store saves", self.stored),
            ("calls of the error estimate", self.calls_of_the_estimate),
            ("calls in the other order", self.calls_of_the_probe),
            ("share of all pairs", self.share_of_all_pairs),
            ("landmarks", self.n_components),
            ("budget", "none" if self.budget is None else self.budget),
        ]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {_number(value)}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return table("The bill", self._rows())


@dataclass(frozen=True)
class Recall:
    """Share of the true neighbours, or pairs, that was found, as far as it can be stated: at least `lower` with probability 1 − `delta`.

    It holds if `is_reached` is true. For `mine` it also holds if a budget ended the search after its audit; for `kneighbors`, `lower` is an estimate then.
    If the budget ended before anything was known, `is_reached` is false, `recall` is NaN and `lower` is 0. `rows` counts audited rows, and audited pairs
    of `mine`.
    """

    target: float
    delta: float
    is_reached: bool
    recall: float
    lower: float
    bound: str
    rows: int
    scored_pairs: int
    enough: str | None = None

    def _repr_html_(self) -> str:
        return table("Stated recall", [(field.name, getattr(self, field.name)) for field in fields(self)])


@dataclass(frozen=True)
class Neighbors:
    """Lists of neighbours, n × k, best first: `items` (−1 where a list ends early), `scores` (NaN there), and `exact`, true where a score is the
    score's own.

    To Arrow it is a table of `item`, `rank` (from 0), `other`, `similarity` and `exact`, a neighbour a row: `polars.DataFrame(lm.neighbors_)`.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.items)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table, in the types that it has."""
        rows, ranks = np.nonzero(self.items >= 0)
        at = (rows, ranks)
        return _native.arrow_table(
            ["item", "rank", "other", "similarity", "exact"],
            [rows.astype(np.int64), ranks.astype(np.int64), self.items[at], self.scores[at], self.exact[at]],
        )


@dataclass(frozen=True, repr=False)
class Pairs:
    """Pairs of items, best first: `items` (m × 2), `scores`, and `exact`, true where the score is the score's own and no estimate.

    Iterating gives (score, i, j), as `sentence_transformers.util.paraphrase_mining` does. To Arrow it is a table of `item`, `other`, `similarity`
    and `exact`, a pair a row: `polars.DataFrame(pairs)`, `pyarrow.table(pairs)`.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]
    n_items: int
    calls: int = 0
    recall: Recall | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, place: int) -> tuple[float, int, int]: ...
    @overload
    def __getitem__(self, place: slice) -> Pairs: ...
    def __getitem__(self, place: int | slice) -> tuple[float, int, int] | Pairs:
        """A pair as (score, i, j), or some of the pairs: `pairs[:10]` are the ten best, with the calls and the recall of all."""
        if isinstance(place, slice):
            return replace(self, items=self.items[place], scores=self.scores[place], exact=self.exact[place])
        i, j = self.items[place].tolist()
        return float(self.scores[place]), i, j

    def __iter__(self) -> Iterator[tuple[float, int, int]]:
        for score, (i, j) in zip(self.scores.tolist(), self.items.tolist()):
            yield score, i, j

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table, in the types that it has."""
        first, second = (np.ascontiguousarray(side) for side in self.items.T)
        return _native.arrow_table(["item", "other", "similarity", "exact"], [first, second, self.scores, self.exact])

    def __repr__(self) -> str:
        said = "" if self.recall is None else f", about {self.recall.recall:.3f} of all" if self.recall.is_reached else ", no recall stated"
        return f"Pairs({len(self):,} of {self.n_items:,} items{said}, {self.calls:,} calls)"

    def groups(self) -> NDArray[np.int64]:
        """A number for each item; items that pairs connect share it. Numbers count from 0 in the order of the items.

        The recall of pairs says nothing of groups: one missed pair can leave two large groups apart.
        """
        parent = list(range(self.n_items))

        def root(item: int) -> int:
            while parent[item] != item:
                parent[item] = parent[parent[item]]
                item = parent[item]
            return item

        for i, j in self.items.tolist():
            a, b = root(i), root(j)
            parent[max(a, b)] = min(a, b)
        roots = [root(item) for item in range(self.n_items)]
        number = {of: place for place, of in enumerate(dict.fromkeys(roots))}
        return np.array([number[of] for of in roots], dtype=np.int64)

    def keep(self) -> NDArray[np.int64]:
        """The first item of each group: what is left when duplicates go."""
        return np.unique(self.groups(), return_index=True)[1].astype(np.int64)


def spectrum(values: NDArray[np.float64], signature: NDArray[np.float64], width: int = 360, height: int = 90) -> str:
    """Squared lengths of the columns of Z as inline SVG: those that count negatively hang below the line."""
    sizes = np.sort(values * signature)[::-1]
    if not len(sizes) or not np.any(sizes):
        return ""
    top, bottom = max(sizes.max(), 0.0), min(sizes.min(), 0.0)
    scale, step = height / (top - bottom), width / len(sizes)
    zero = top * scale
    bars = "".join(
        f"<rect x='{place * step:.2f}' y='{min(zero, zero - size * scale):.2f}' width='{max(step * 0.9, 0.3):.2f}' "
        f"height='{abs(size) * scale:.2f}' fill='{'#3b6ea5' if size >= 0 else '#b5503c'}'/>"
        for place, size in enumerate(sizes.tolist())
    )
    return f"<svg width='{width}' height='{height}' role='img' aria-label='spectrum'>{bars}</svg>"

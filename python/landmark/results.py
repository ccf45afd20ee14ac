"""Results of a fit or a search: planned calls, recall, pairs. Each is shown as a table in notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _native, groups
from ._checks import one_of


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
class CallPlan:
    """Planned calls of a fit.

    Parameters
    ----------
    items : int
        Number of items.
    calls : int
        Calls still to be made.
    calls_alone : int
        Calls with an empty store.
    calls_of_the_estimate : int
        Calls of the error estimate.
    entries : int
        Pairs.
    n_components : int
        Landmarks.
    budget : int or None
        Most calls.
    is_exact : bool
        False if the pairs depend on scores: `calls` and `calls_alone` are upper bounds then.
    calls_of_the_probe : int, default=0
        Calls in the other order, which show whether the score is symmetric.
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
        return table("Planned calls", self._rows())


@dataclass(frozen=True)
class Recall:
    """Share of the true neighbors, or pairs, that was found, as far as it can be stated.

    With probability 1 − `delta` it is at least `lower`, if `is_reached` is true. For `mine` that also holds if a budget ended the search after its
    audit; for `kneighbors`, `lower` is an estimate then.

    Parameters
    ----------
    target : float
        Recall that was asked for.
    delta : float
        Probability that the recall is lower than stated.
    is_reached : bool
        True if the statement holds.
    recall : float
        Estimate; NaN if nothing is known.
    lower : float
        Lower bound; 0 if nothing is known.
    bound : str
        Kind of bound.
    rows : int
        Audited items, or audited pairs.
    scored_pairs : int
        Pairs that were evaluated.
    enough : str or None, default=None
        What would be enough, if the target was not reached.
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


class _Table:
    """Rows that Arrow, polars and pandas take; the class defines what a row is."""

    def _columns(self) -> dict[str, NDArray[Any]]:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table, in the types that it has."""
        columns = self._columns()
        return _native.arrow_table(list(columns), list(columns.values()))

    def to_arrow(self) -> Any:
        """Convert to a table of pyarrow, which must be installed.

        Returns
        -------
        pyarrow.Table
            The rows.
        """
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """Convert to a frame of polars, which must be installed.

        Returns
        -------
        polars.DataFrame
            The rows.
        """
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Convert to a frame of pandas, which must be installed.

        Returns
        -------
        pandas.DataFrame
            The rows.
        """
        import pandas

        return pandas.DataFrame(self._columns())


@dataclass(frozen=True)
class Neighbors(_Table):
    """Lists of neighbors, best first.

    To Arrow it is a table of ``item``, ``rank`` (from 0), ``other``, ``similarity`` and ``exact``, a neighbor per row: ``polars.DataFrame(lm.neighbors_)``.

    Parameters
    ----------
    items : ndarray of shape (n_items, k)
        Item numbers, −1 where a list ends early.
    scores : ndarray of shape (n_items, k)
        Similarities, NaN where a list ends early.
    exact : ndarray of shape (n_items, k)
        True for evaluated scores.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.items)

    def _columns(self) -> dict[str, NDArray[Any]]:
        rows, ranks = np.nonzero(self.items >= 0)
        at = (rows, ranks)
        values = [rows.astype(np.int64), ranks.astype(np.int64), self.items[at], self.scores[at], self.exact[at]]
        return dict(zip(["item", "rank", "other", "similarity", "exact"], values))


@dataclass(frozen=True, repr=False)
class Pairs(_Table):
    """Pairs of items, best first.

    Iterating gives (score, i, j), as ``sentence_transformers.util.paraphrase_mining`` does; ``pairs[:10]`` are the ten best. To Arrow it is a table of
    ``item``, ``other``, ``similarity`` and ``exact``, a pair per row: ``polars.DataFrame(pairs)``, ``pyarrow.table(pairs)``.

    Parameters
    ----------
    items : ndarray of shape (n_pairs, 2)
        Item numbers.
    scores : ndarray of shape (n_pairs,)
        Similarities.
    exact : ndarray of shape (n_pairs,)
        True for evaluated scores.
    n_items : int
        Number of items, those of both lists if there are two.
    calls : int, default=0
        Calls of the search.
    recall : Recall or None, default=None
        What is known of the recall.
    left : int or None, default=None
        Items of the first of two lists.
    threshold : float or None, default=None
        Least similarity that was asked for.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]
    n_items: int
    calls: int = 0
    recall: Recall | None = None
    left: int | None = None
    threshold: float | None = None

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

    def _columns(self) -> dict[str, NDArray[Any]]:
        first, second = (np.ascontiguousarray(side) for side in self.items.T)
        return {"item": first, "other": second, "similarity": np.ascontiguousarray(self.scores), "exact": np.ascontiguousarray(self.exact)}

    def __repr__(self) -> str:
        recall = "" if self.recall is None else f", about {self.recall.recall:.3f} of all" if self.recall.is_reached else ", no recall stated"
        return f"Pairs({len(self):,} of {self.n_items:,} items{recall}, {self.calls:,} calls)"

    def groups(self, link: Literal["components", "average", "complete"] = "components", *, verify: Any = None) -> NDArray[np.int64]:
        """Group the items.

        With ``"components"`` items that pairs connect share a group: one wrong pair merges two groups, and one missed pair can leave two apart. With
        ``"average"`` or ``"complete"`` the mean, or the least, similarity inside a group is at least the threshold of the pairs; the pairs inside
        components that are not listed are evaluated for it. `plan_groups` counts them before.

        Parameters
        ----------
        link : {"components", "average", "complete"}, default="components"
            What makes a group.
        verify : Landmark or callable, default=None
            Score of the pairs that are not listed: the fitted estimator, or a function of an array of pairs of item numbers. Needed if `link` is not
            ``"components"``.

        Returns
        -------
        ndarray of shape (n_items,)
            A number for each item, from 0 in the order of the items. Of two lists, items of the second come after those of the first.

        Raises
        ------
        ValueError
            If `verify` is missing, or pairs are those of two lists and `link` is not ``"components"``.

        Examples
        --------
        >>> import numpy as np
        >>> from landmark import Pairs
        >>> K = np.kron(np.eye(2), np.ones((3, 3))) * 0.9
        >>> K[2, 3] = K[3, 2] = 0.9  # one wrong pair
        >>> i, j = np.nonzero(np.triu(K, 1) >= 0.5)
        >>> pairs = Pairs(np.stack([i, j], axis=1), K[i, j], np.ones(len(i), dtype=bool), 6, threshold=0.5)
        >>> pairs.groups().tolist()
        [0, 0, 0, 0, 0, 0]
        >>> pairs.groups("average", verify=lambda pairs: K[pairs[:, 0], pairs[:, 1]]).tolist()
        [0, 0, 0, 1, 1, 1]
        """
        offset = 0 if self.left is None else self.left
        items = self.items + np.array([0, offset])
        if one_of("link", link, groups.LINKS) == "components":
            return groups.components(items, self.n_items)
        if self.left is not None:
            raise ValueError('pairs within a list do not exist: two lists have groups by `link="components"` only')
        if verify is None:
            raise ValueError(f'`link="{link}"` evaluates pairs inside groups: give `verify`, the fitted `Landmark` or a function of pairs of item numbers')
        least = float(np.min(self.scores)) if self.threshold is None and len(self) else self.threshold
        return groups.linked(items, self.scores, self.n_items, link, 0.0 if least is None else least, groups.asker(verify)[0])

    def plan_groups(self, verify: Any = None) -> int:
        """Count the calls of `groups` by ``"average"`` or ``"complete"``. No call is made.

        Parameters
        ----------
        verify : Landmark or callable, default=None
            That of `groups`; scores in its store take no call.

        Returns
        -------
        int
            Calls, exactly.

        Raises
        ------
        ValueError
            If pairs are those of two lists, whose groups take no call.
        """
        if self.left is not None:
            raise ValueError('pairs within a list do not exist: two lists have groups by `link="components"` only, which takes no call')
        rest = groups.missing_inside(self.items, self.n_items)
        return len(rest) if verify is None else int(groups.asker(verify)[1](rest))

    def keep(self) -> NDArray[np.int64]:
        """Keep the first item of each group: what is left when duplicates go.

        Returns
        -------
        ndarray of shape (n_groups,)
            Item numbers.
        """
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


def sorted_pairs(
    items: NDArray[np.int64],
    scores: NDArray[np.float64],
    n: int,
    calls: int,
    exact: NDArray[np.bool_] | None = None,
    *,
    most: int | None = None,
    **more: Any,
) -> Pairs:
    """Pairs, best first, ties by their numbers; all are evaluated if `exact` is not given."""
    exact = np.ones(len(scores), dtype=bool) if exact is None else exact
    order = np.lexsort((items[:, 1], items[:, 0], -scores))[:most]
    return Pairs(items[order], scores[order], exact[order], n, calls, **more)

"""Arguments of the public interface: numbers that are numbers, and calls that leave an object whole."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])


def on_a_copy(change: F) -> F:
    """A method that changes its object as a whole, or, where it raises or is interrupted, not at all."""

    @functools.wraps(change)
    def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        change(copy, *args, **kwargs)
        # one assignment: an interrupt comes before or after it
        self.__dict__ = copy.__dict__
        return self

    return changed  # type: ignore[return-value]


def _refused(name: str, value: Any, expected: str) -> str:
    shown = repr(value)
    return f"cannot use {shown if len(shown) <= 60 else shown[:59] + '…'} as `{name}`: expected {expected}"


def whole(name: str, value: Any, at_least: int | None = None) -> int:
    """A whole number. `True` and `2.0` are none."""
    expected = "a whole number" if at_least is None else f"a whole number, at least {at_least}"
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(_refused(name, value, expected))
    try:
        number = operator.index(value)
    except TypeError:
        # a number of the wrong kind is a wrong value
        error = ValueError if isinstance(value, (float, np.floating)) else TypeError
        raise error(_refused(name, value, expected)) from None
    if at_least is not None and number < at_least:
        raise ValueError(_refused(name, value, expected))
    return number


def real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    below: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    finite: bool = True,
) -> float:
    """A number of the real line within bounds. NaN is none, and neither are texts and truth values; infinities only where `finite` is false."""
    bounds = [("above", above), ("at least", at_least), ("at most", at_most), ("below", below)]
    bounded = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
    expected = ("a finite number" if finite else "a number that is not NaN") + (f", {bounded}" if bounded else "")
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(_refused(name, value, expected))
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(_refused(name, value, expected)) from None
    is_good = (
        not math.isnan(number)
        and (not finite or math.isfinite(number))
        and (above is None or number > above)
        and (below is None or number < below)
        and (at_least is None or number >= at_least)
        and (at_most is None or number <= at_most)
    )
    if not is_good:
        raise ValueError(_refused(name, value, expected))
    return number


def pairs_of(name: str, calls: int, each: int) -> int:
    """Pairs that these calls score, at least one, where a pair takes `each` calls."""
    if calls < each:
        raise ValueError(f"cannot use {calls} as `{name}`: a pair takes {each} calls, one of each order (expected at least {each})")
    return calls // each


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """One of some words."""
    known = list(known)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"`{name}` is {value!r}, but must be one of {', '.join(known)}")
    return value


def places(name: str, given: Any, n: int) -> NDArray[np.int64]:
    """Numbers of some of n items. A mask of n truth values selects as in NumPy; negative numbers count from the end."""
    listed = given if hasattr(given, "__array__") or not isinstance(given, Iterable) else list(given)
    array = np.asarray(listed)
    if array.ndim != 1:
        raise ValueError(f"cannot read `{name}`: expected a list of item numbers (got an array of shape {array.shape})")
    if array.dtype.kind == "b":
        if len(array) != n:
            raise IndexError(f"cannot read `{name}`: a boolean mask has one value per item (expected {n}, got {len(array)})")
        return np.flatnonzero(array).astype(np.int64)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"cannot read `{name}`: expected whole numbers of items (got {array.dtype}, such as {array[0]!r})")
    if isinstance(listed, list) and any(isinstance(one, (bool, np.bool_)) for one in listed):
        raise TypeError(f"cannot read `{name}`: truth values among item numbers; hand over numbers or a mask")
    wrong = (array < -n) | (array >= n)
    if wrong.any():
        raise IndexError(f"item {array[wrong][0]} is out of range: there are {n}")
    return np.where(array < 0, array.astype(np.int64) + n, array).astype(np.int64)

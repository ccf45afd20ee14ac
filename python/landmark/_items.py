"""Items of a fit: what they are, by what they are distinguished, and which of them were there before."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _native


_ROWS_AT_A_TIME = 4096


class Items(Protocol):
    """A list of items, or the rows of an array."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


def key(item: Any) -> bytes:
    """Bytes that two items share when a score can't distinguish them: the text, the numbers of a row, or the pickled object."""
    if isinstance(item, str):
        return b"s" + item.encode("utf-8", "surrogatepass")
    if isinstance(item, bytes):
        return b"b" + item
    if isinstance(item, np.ndarray) and item.dtype != object:
        return b"a" + str((item.dtype.str, item.shape)).encode() + np.ascontiguousarray(item).tobytes()
    return b"p" + pickle.dumps(item, protocol=5)


def content(item: Any) -> bytes:
    """The `key` of an item, or, where it has a mapping or a set in it, bytes that the order of these doesn't move."""
    return _ordered(item) if _has_no_order(item) else key(item)


def _has_no_order(item: Any) -> bool:
    kind = type(item)
    return kind in (dict, set, frozenset) or (kind in (list, tuple) and any(_has_no_order(part) for part in item))


def _ordered(item: Any) -> bytes:
    kind = type(item)
    if kind is dict:
        parts = sorted(_joined(map(_ordered, entry)) for entry in item.items())
    elif kind in (set, frozenset):
        parts = sorted(map(_ordered, item))
    elif kind in (list, tuple):
        parts = [_ordered(part) for part in item]
    else:
        return key(item)
    return b"o" + kind.__name__.encode() + b":" + _joined(parts)


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def digest(items: Items) -> str:
    """Digest of all items, in their order: of the length and the `key` of each."""
    state = hashlib.blake2b(digest_size=32)
    if isinstance(items, np.ndarray) and items.ndim == 2 and items.dtype != object and items.size:
        for keys in _keys_of_rows(items):
            state.update(keys)
        return state.hexdigest()
    for item in items:
        of_item = key(item)
        state.update(len(of_item).to_bytes(8, "little"))
        state.update(of_item)
    return state.hexdigest()


def digests(items: Items) -> bytes:
    """Digests of the `content` of each item, 16 bytes each, one behind the other."""
    return b"".join(hashlib.blake2b(content(item), digest_size=16).digest() for item in items)


def _keys_of_rows(rows: NDArray[Any]) -> Iterator[bytes]:
    """The bytes that `digest` takes of all rows one by one, many rows at a time: each row's numbers behind the same head."""
    first = key(rows[0])
    head = np.frombuffer(len(first).to_bytes(8, "little") + first[: len(first) - rows[0].nbytes], dtype=np.uint8)
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        some = np.ascontiguousarray(rows[start : start + _ROWS_AT_A_TIME])
        numbers = some.view(np.uint8).reshape(len(some), -1)
        yield np.hstack([np.broadcast_to(head, (len(some), len(head))), numbers]).tobytes()


def taken(items: Items, places: NDArray[np.int64]) -> Any:
    """Some of the items: rows of an array, or a list."""
    if isinstance(items, np.ndarray):
        return items[places]
    return [items[place] for place in places.tolist()]


def joined(first: Items, then: Items) -> Items:
    """Items after others: an array where both are rows of one kind, else a list."""
    if isinstance(first, np.ndarray) and isinstance(then, np.ndarray) and first.dtype == then.dtype:
        return np.concatenate([first, then])
    return [*first, *then]


def plain(x: Any) -> Any:
    """Items that can be read more than once: iterators (generators, `map`, open files) and views as lists, and what an Arrow column or table lends
    (`__arrow_c_stream__`, `__arrow_c_array__`) as a list of texts or an array; all else as it is.

    Tables that state their own shape (polars, pyarrow) stay as they are where they are numbers, so that scikit-learn sees the names of their columns;
    so does what pandas has, but for a single column of texts.
    """
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "iloc"):
        return _texts_of_frame(x)
    if hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__"):
        found = _native.arrow_items(x)
        return x if getattr(found, "shape", None) == getattr(x, "shape", ()) else found
    is_array = any(hasattr(x, name) for name in ("__array__", "__array_interface__", "__dataframe__", "toarray"))
    is_read_once = isinstance(x, Iterator) or (isinstance(x, Iterable) and not hasattr(x, "__getitem__"))
    return list(x) if is_read_once and not is_array else x


def _texts_of_frame(frame: Any) -> Any:
    """The texts of a frame of one column of texts; any other frame or series as it is."""
    if getattr(frame, "ndim", 1) != 2 or frame.shape[1] != 1:
        return frame
    column = frame.iloc[:, 0]
    return column.tolist() if getattr(column.dtype, "kind", "O") in "OUT" else frame


def as_objects(x: Any) -> list[Any] | None:
    """Items that no n × d array of numbers holds, as a list: texts, objects, whole numbers (names of rows elsewhere), arrays of their own shape each.
    `None` for rows of numbers.

    Raises TypeError for one text in the place of a list, ValueError for an item that is missing.
    """
    if isinstance(x, (str, bytes)):
        raise TypeError("items are a list of texts, and this is one text; wrap it in a list")
    if hasattr(x, "toarray") or hasattr(x, "sparse"):
        return None
    if hasattr(x, "__array__"):
        return _objects_of_array(x)
    if not hasattr(x, "__iter__"):
        return None
    items = list(x)
    if items and (all(map(_is_row_of_numbers, items)) and len({np.shape(item) for item in items}) == 1):
        return None
    return _none_missing(items)


def _objects_of_array(x: Any) -> list[Any] | None:
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    dimensions = getattr(x, "ndim", 2)
    is_text = kind in ("U", "S", "T")
    if dimensions == 1 and (is_text or kind in ("O", "i", "u")):
        # numbers as Python has them: an item is the same whichever array it came in
        return _none_missing(x.tolist() if hasattr(x, "tolist") else list(x))
    if dimensions == 1 and kind == "f":
        raise ValueError(
            "cannot read the items: expected rows of numbers, texts or whole numbers (got a 1D array of floats). Reshape your data: "
            "`x.reshape(-1, 1)` has rows of one number"
        )
    return list(x) if is_text or dimensions > 2 else None


def _none_missing(items: list[Any]) -> list[Any]:
    for place, item in enumerate(items):
        if item is None or (isinstance(item, float) and item != item) or type(item).__name__ in ("NAType", "NaTType"):
            raise ValueError(f"item {place} is missing ({item!r}): drop it, or put a text in its place")
    return items


def _is_row_of_numbers(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and item.dtype.kind in "fiub"
    if not isinstance(item, (list, tuple)):
        return isinstance(item, (float, complex, np.inexact))
    return all(isinstance(number, (int, float, complex, np.number)) for number in item)


def shown(item: Any, width: int = 60) -> str:
    """An item as a message names it."""
    text = repr(item).replace("\n", " ")
    return text if len(text) <= width else text[: width - 1] + "…"

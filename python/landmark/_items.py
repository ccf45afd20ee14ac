"""Items of a fit: what they are, by what they are told apart, and which of them were there before."""

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
    """Bytes that two items share when a score can't tell them apart: the text, the numbers of a row, or the pickled object."""
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
    """What an Arrow column or table lends (`__arrow_c_stream__`, `__arrow_c_array__`) as a list of texts or an array; all else as it is.

    Tables that say their own shape (polars, pyarrow) stay as they are where they are numbers, so that scikit-learn sees the names of their columns;
    so does what pandas has.
    """
    is_arrow = hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__")
    if not is_arrow or isinstance(x, np.ndarray) or hasattr(x, "iloc"):
        return x
    found = _native.arrow_items(x)
    return x if getattr(found, "shape", None) == getattr(x, "shape", ()) else found


def is_texts_or_objects(x: Any) -> bool:
    """True for items that no array of numbers holds: texts, objects, rows of text."""
    if isinstance(x, (str, bytes)):
        raise TypeError("items are a list of texts, and this is one text; wrap it in a list")
    if hasattr(x, "__array__") or hasattr(x, "toarray") or hasattr(x, "sparse"):
        kind = getattr(getattr(x, "dtype", None), "kind", None)
        is_row = getattr(x, "ndim", 2) == 1
        return kind in ("U", "S", "T") or (kind == "O" and bool(is_row))
    first = next(iter(x), None) if hasattr(x, "__iter__") else None
    return first is not None and not _is_row_of_numbers(first)


def _is_row_of_numbers(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return bool(item.dtype != object)
    if not isinstance(item, (list, tuple)):
        return isinstance(item, (int, float, complex, np.number))
    return all(isinstance(number, (int, float, complex, np.number)) for number in item)


def shown(item: Any, width: int = 60) -> str:
    """An item as a message names it."""
    text = repr(item).replace("\n", " ")
    return text if len(text) <= width else text[: width - 1] + "…"

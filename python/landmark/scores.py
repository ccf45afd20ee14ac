"""Scores: what gives two items a number, and how the compiled half asks it."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _loop
from ._batches import Batches, Blocks
from ._checks import one_of, real, whole
from ._items import Items, digest, digests, plain, shown
from ._native import Oracle

# one score of both orders of a pair
BOTH = ("mean", "max", "min")
ORDERS = ("symmetric", *BOTH)
# both orders of a pair may differ by this part of the larger score, which single precision and padded batches explain
SAME = 1e-3


@runtime_checkable
class BuiltIn(Protocol):
    """A score that the compiled half computes itself."""

    def oracle(self, items: Items) -> Oracle:
        """The score over these items."""


# programs that a parent of this process started, and that must not be ended here
_of_parents: list[Oracle] = []


def _texts(items: Items, score: BuiltIn) -> list[str]:
    texts = list(plain(items))
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"`{type(score).__name__}` scores texts, and item {place} is {shown(text)}")
    return texts


class Wmd:
    """Exact word mover's distance between texts, or one of its lower bounds.

    Words are those of the program: lower-cased runs of letters and digits, stop words and words without a vector left out. The score is a
    distance: give the estimator a `gamma` for exp(−γ·distance).

    Vectors are rounded to single precision (float32), as the program stores them: a distance differs by about 1e-7 of itself from that of
    vectors in double precision. The transport between the rounded vectors is exact.

    Parameters
    ----------
    words : list of str or mapping of str to vector
        Words, one per row of `vectors`, or their vectors. Of gensim: ``Wmd(kv.index_to_key, kv.vectors)``.
    vectors : array-like of shape (n_words, n_dims), default=None
        Vectors.
    kind : {"wmd", "rwmd", "wcd"}, default="wmd"
        The distance, or one of its lower bounds, which make good proxies.
    drop_stop_words : bool, default=True
        Leave out the stop words of the program's list.
    empty : float or None, default=None
        Distance of a text without any known word from all others; ``None`` raises for such texts.
    """

    def __init__(
        self,
        words: Sequence[str] | Mapping[str, ArrayLike],
        vectors: ArrayLike | None = None,
        *,
        kind: Literal["wmd", "rwmd", "wcd"] = "wmd",
        drop_stop_words: bool = True,
        empty: float | None = None,
    ) -> None:
        if isinstance(words, Mapping):
            vectors = np.stack([np.asarray(vector) for vector in words.values()])
        if vectors is None:
            raise TypeError("Wmd needs `vectors`, one row a word, or a mapping from words to vectors")
        self.words: list[str] = list(plain(words))
        one_of("kind", kind, ("wmd", "rwmd", "wcd"))
        if empty is not None:
            empty = real("empty", empty, at_least=0.0)
        self.vectors: NDArray[np.float32] = np.ascontiguousarray(plain(vectors), dtype=np.float32)
        self.kind, self.drop_stop_words, self.empty = kind, drop_stop_words, empty

    def oracle(self, items: Items) -> Oracle:
        return Oracle.wmd(_texts(items, self), self.words, self.vectors, self.kind, self.drop_stop_words, self.empty)

    def __repr__(self) -> str:
        return f"Wmd({len(self.words)} words × {self.vectors.shape[1]}, kind={self.kind!r})"


class TreeKernel:
    """Kernel between trees in brackets, such as ``(S (NP they) (VP laughed))``.

    Parameters
    ----------
    kernel : {"ptk", "sst", "st"}, default="ptk"
        Partial trees, subset trees, or subtrees.
    normalise : bool, default=True
        Divide by the root of both self-similarities.
    **params : float or bool
        ``lambda_``, ``mu``, ``terminal_factor``, ``leaves`` of the kernel; defaults are KeLP's.
    """

    def __init__(self, kernel: Literal["ptk", "sst", "st"] = "ptk", *, normalise: bool = True, **params: float | bool) -> None:
        self.kernel, self.normalise = kernel, normalise
        self.params = {name.rstrip("_"): value for name, value in params.items()}

    def oracle(self, items: Items) -> Oracle:
        return Oracle.tree_kernel(_texts(items, self), json.dumps({"kernel": self.kernel, **self.params}), self.normalise)

    def __repr__(self) -> str:
        return f"TreeKernel({self.kernel!r}, normalise={self.normalise}, **{self.params})"


class VectorKernel:
    """Kernel between vectors, the rows of an array: `rbf`, `polynomial` or `sigmoid`, as `sklearn.metrics.pairwise` defines them.

    ``rbf`` exp(−γ‖x − y‖²), ``polynomial`` (γ⟨x, y⟩ + coef0)^degree, ``sigmoid`` tanh(γ⟨x, y⟩ + coef0). For other functions of arrays there is
    `Blockwise`.

    Parameters
    ----------
    kernel : {"rbf", "polynomial", "sigmoid"}, default="rbf"
        Kernel.
    gamma : float or None, default=None
        Above 0; ``None`` is 1/d for vectors of length d.
    coef0 : float, default=1.0
        Constant of ``polynomial`` and ``sigmoid``.
    degree : int, default=3
        Degree of ``polynomial``.
    """

    def __init__(self, kernel: Literal["rbf", "polynomial", "sigmoid"] = "rbf", *, gamma: float | None = None, coef0: float = 1.0, degree: int = 3) -> None:
        self.kernel, self.gamma, self.coef0, self.degree = kernel, gamma, coef0, degree

    def oracle(self, items: Items) -> Oracle:
        vectors = np.asarray(plain(items))
        if vectors.ndim != 2 or vectors.dtype.kind not in "fiub":
            raise TypeError(f"`VectorKernel` is of the rows of an array of numbers, and the first item is {shown(list(items)[0])}")
        gamma = 1.0 / vectors.shape[1] if self.gamma is None else real("gamma", self.gamma)
        coef0, degree = real("coef0", self.coef0), whole("degree", self.degree)
        return Oracle.vector_kernel(np.ascontiguousarray(vectors, dtype=np.float64), self.kernel, gamma, coef0, degree)

    def __repr__(self) -> str:
        of_products = "" if self.kernel == "rbf" else f", coef0={self.coef0}"
        of_products += f", degree={self.degree}" if self.kernel == "polynomial" else ""
        return f"VectorKernel({self.kernel!r}, gamma={self.gamma}{of_products})"


class Program:
    """Any program in any language that scores texts: JSON lines over its standard input and output, as in docs/reference/protocol.md.

    It names what moves its scores itself, so a store needs no `identity`. Where it states that the order of a pair counts, give the estimator
    an `order`.

    Parameters
    ----------
    command : list of str
        Program and its arguments.
    failed : float or None, default=None
        Score of a pair that the program cannot score; ``None`` raises.
    **settings : object
        ``processes`` at a time (1), pairs of a ``batch`` (256), ``timeout_seconds`` of one (60), ``start_seconds`` until it greets (300),
        ``environment``, further variables.
    """

    def __init__(self, command: Sequence[str], *, failed: float | None = None, **settings: Any) -> None:
        if isinstance(command, str):
            raise TypeError(f"`command` is a list, the program and its arguments, and this is one text: {shown(command)}")
        self.command, self.failed, self.settings = list(command), failed, settings
        self._started: tuple[str, Oracle] | None = None

    def oracle(self, items: Items) -> Oracle:
        texts = _texts(items, self)
        # a forked child has its parent's end of the pipes, which it must leave alone
        of_texts = f"{os.getpid()} {digest(texts)}"
        # a plan and the fit after it talk to one process
        if self._started is None or self._started[0] != of_texts:
            if self._started is not None and not self._started[0].startswith(f"{os.getpid()} "):
                _of_parents.append(self._started[1])
            failed = {} if self.failed is None else {"failed_pairs": {"score": real("failed", self.failed)}}
            self._started = of_texts, Oracle.program(texts, json.dumps({"command": self.command, **failed, **self.settings}))
        return self._started[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_started": None}

    def __repr__(self) -> str:
        return f"Program({self.command})"


class Blockwise:
    """A score that comes in blocks: a function of two lists of items that answers a row for each of the first and a column for each of the second.

    Kernels and distances of `sklearn.metrics.pairwise` are such functions: `Blockwise(rbf_kernel, gamma=0.05)`. Rows of an array are handed
    over as an array, other items as a list. The function must take an item paired with itself, and any two numbers of items.

    Parameters
    ----------
    function : callable
        Called as f(rows, columns), it returns len(rows) × len(columns) numbers: an array, a tensor, or lists.
    **params : object
        Passed to the function by name. They are part of the score's identity; a store keeps those of each value apart.
    """

    def __init__(self, function: Callable[..., Any], **params: Any) -> None:
        if not callable(function):
            raise TypeError(f"`Blockwise` takes a function of two lists of items, and this is {shown(function)}")
        self.function, self.params = function, params

    def __call__(self, rows: Any, columns: Any) -> Any:
        return self.function(rows, columns, **self.params)

    def __repr__(self) -> str:
        params = "".join(f", {name}={shown(value)}" for name, value in self.params.items())
        return f"Blockwise({getattr(self.function, '__name__', shown(self.function))}{params})"


def _is_coroutine(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def asker(score: Any, concurrency: int) -> tuple[Callable[[list[tuple[Any, Any]]], Any], int]:
    """A function of a list of pairs, and how many calls it works on at once."""
    if _is_coroutine(score):
        return functools.partial(_loop.gather, score, at_once=concurrency), concurrency
    if is_predictor(score):
        predict = score.predict
        if _is_coroutine(predict):
            return functools.partial(_loop.gather, predict, at_once=concurrency), concurrency
        return functools.partial(_predict, predict), 1
    if callable(score):
        if _takes_two(score):
            raise TypeError(
                f"a score takes one list of pairs, and {shown(score)} takes two arguments: hand over `lambda pairs: [f(a, b) for a, b in pairs]` "
                "where these are two items, and `Blockwise(f)` where they are two lists of them and it answers their block"
            )
        # a score that hands pairs on takes many at once
        return score, int(getattr(score, "_landmark_at_once", 1))
    raise TypeError(
        f"`score` is {shown(score)}, but must be a function of a list of pairs, `Blockwise` around a function of two lists of items, an object "
        "with `predict`, an `async def` of two items, an n × n array, `Program`, `Wmd`, `TreeKernel` or `VectorKernel`"
    )


def _takes_two(function: Callable[..., Any]) -> bool:
    """True for functions that can't do with one argument, and for those of `X` and `Y`, as scikit-learn has them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    first = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][:2]
    return len(first) == 2 and (first[1].default is inspect.Parameter.empty or [one.name for one in first] == ["X", "Y"])


def _predict(predict: Callable[..., Any], pairs: list[tuple[Any, Any]]) -> Any:
    return predicted(predict, pairs, {})


def predicted(predict: Callable[..., Any], pairs: list[tuple[Any, Any]], how: Mapping[str, Any]) -> Any:
    """What an object with `predict` answers. sentence-transformers wants lists of two texts, and draws a bar of its own unless that is turned off."""
    try:
        parameters = inspect.signature(predict).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        takes = {name for name in ("show_progress_bar", "batch_size") if name in parameters}
    except (TypeError, ValueError):
        takes_all, takes = False, set()
    params = {name: value for name, value in how.items() if takes_all or name in takes or name not in ("show_progress_bar", "batch_size")}
    if "show_progress_bar" in takes:
        params.setdefault("show_progress_bar", False)
    return predict([list(pair) for pair in pairs], **params)


def is_matrix(score: Any) -> bool:
    """True for a square array: a matrix that is there already."""
    shape = getattr(score, "shape", None)
    return shape is not None and len(shape) == 2 and shape[0] == shape[1] and not callable(score)


def is_predictor(score: Any) -> bool:
    """True for an object with `predict`, such as a cross-encoder."""
    return callable(getattr(score, "predict", None)) and not inspect.isroutine(score)


def first_difference(there: NDArray[np.float64], back: NDArray[np.float64]) -> int | None:
    """Place of the first pair whose scores in both orders differ."""
    # a score that is no number is refused by the fit, which names its pair
    is_number = np.isfinite(there) & np.isfinite(back)
    there, back = np.where(is_number, there, 0.0), np.where(is_number, back, 0.0)
    size = np.maximum(np.maximum(np.abs(there), np.abs(back)), 1e-6)
    different = np.flatnonzero(np.abs(there - back) > SAME * size)
    return int(different[0]) if len(different) else None


def over(
    score: Any, items: Items, *, identity: str | None, order: str, diagonal: float | None, concurrency: int
) -> tuple[Oracle, Batches | Blocks | None]:
    """The score over items, and its Python half where it has one."""
    one_of("order", order, ORDERS)
    if isinstance(score, BuiltIn):
        own = score.oracle(items)
        if order == "symmetric" and not own.symmetric:
            raise ValueError(f"the order of a pair counts for {shown(score)}: give `order`, one of {', '.join(BOTH)}")
        return (own if order == "symmetric" else own.symmetrized(order)), None
    params, at_once = "", 1
    asked: Batches | Blocks
    if isinstance(score, Blockwise):
        asked = Blocks(score, items)
        params = f"\n{digest(sorted(score.params.items()))}" if score.params else ""
    else:
        ask, at_once = asker(score, whole("concurrency", concurrency, 1))
        asked = Batches(ask, items, both_orders=order != "symmetric")
    name = f"{identity or ''}\n{digest(items)}{params}"
    apart = (f"{identity}\n{params}", digests(items))
    oracle = Oracle.function(asked, len(items), name, order == "symmetric", diagonal, at_once, isinstance(asked, Blocks), apart)
    return (oracle if order == "symmetric" else oracle.symmetrized(order)), asked

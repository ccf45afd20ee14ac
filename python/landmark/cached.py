"""`Cached`: a cross-encoder, or any score of two items, that scores no pair twice."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import uuid
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import scores
from ._batches import Batches
from ._checks import one_of, real, whole
from ._items import digest, digests, shown
from ._native import ScorePool

Order = Literal["mean", "max", "min", "symmetric", "given"]

# pairs that are handed to the model at a time: what was scored before is kept if it raises
_PAIRS_AT_A_TIME = 2048
_SECONDS_BETWEEN_WRITES = 1.0
# arguments of `predict` that move no score
_HOW = ("batch_size", "show_progress_bar", "num_workers", "convert_to_numpy", "convert_to_tensor", "pool", "chunk_size")


class Cached:
    """A cross-encoder whose scores are stored: each pair is scored once, whoever asks.

    It goes wherever a ``CrossEncoder`` of sentence-transformers goes: evaluators, ``mine_hard_negatives``, rerankers. All attributes that it
    lacks are the model's. `Landmark` and `Cached` share a store: with the same `identity`, a score of one is a score of the other.

    Parameters
    ----------
    model : object
        An object with ``predict(pairs)``, such as a ``CrossEncoder``, or a function of a list of pairs that returns one number each.
    store : str or path or None, default=None
        Folder or URL that keeps every score. ``None`` keeps them as long as this object.
    identity : str or None, default=None
        Name of everything that moves a score. ``None`` reads it off a ``CrossEncoder``: model name, revision, maximum length, activation, dtype.
        Other models need a name if there is a `store`.
    order : {"mean", "max", "min", "symmetric", "given"}, default="mean"
        Use both orders of a pair as one score (two calls per pair), take the score as symmetric (one call), or keep both orders apart
        (``"given"``, one call, and nothing is shared with `Landmark`).
    verify : int, default=8
        Stored pairs that are scored again when stored scores are first used, to notice a model that changed under its name. 0 for none.
    batch_size : int or None, default=None
        ``batch_size`` of the model's ``predict``, if it has one. ``None`` leaves it to the model.
    diagonal : float or None, default=None
        Score of an item with itself, if it is known without a call: the `diagonal` of a `Landmark` that shares the store.

    Attributes
    ----------
    n_calls_ : int
        Calls of the model for new pairs.
    n_hits_ : int
        Pairs that were answered without a call.
    n_verified_ : int
        Further calls of the model by `verify`.

    Raises
    ------
    ValueError
        If there is a `store` and the model's identity is not known.

    Examples
    --------
    >>> from landmark import Cached
    >>> model = Cached(lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs], order="symmetric")
    >>> model.predict([("abc", "abd"), ("abd", "abc")]).tolist()
    [0.5, 0.5]
    >>> model.n_calls_, model.n_hits_
    (1, 1)
    >>> model.rank("abc", ["xyz", "abd"])[0]["corpus_id"]
    1
    """

    def __init__(
        self,
        model: Any,
        store: str | os.PathLike[str] | None = None,
        *,
        identity: str | None = None,
        order: Order = "mean",
        verify: int = 8,
        batch_size: int | None = None,
        diagonal: float | None = None,
    ) -> None:
        if isinstance(model, Cached):
            raise TypeError("cannot cache a `Cached`: hand over its `model`")
        self.model = model
        self.store = None if store is None else os.fspath(store)
        self.order = one_of("order", order, (*scores.ORDERS, "given"))
        self.verify = whole("verify", verify, 0)
        self.batch_size = None if batch_size is None else whole("batch_size", batch_size, 1)
        self.diagonal = None if diagonal is None else real("diagonal", diagonal)
        self.identity = identity if identity is not None else identity_of(model)
        if self.identity is None and store is not None:
            raise ValueError(
                f"cannot tell the identity of {shown(model)}: give `identity`, the name of everything that moves a score (model, version, prompt)"
            )
        self.n_calls_ = self.n_hits_ = self.n_verified_ = 0
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._pools: dict[str, _Pool] = {}
        self._process = os.getpid()

    @property
    def _calls_per_pair(self) -> int:
        return 2 if self.order in scores.BOTH else 1

    def __getstate__(self) -> dict[str, Any]:
        self.flush()
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_pools", "_process")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __getattr__(self, name: str) -> Any:
        # only what this object lacks comes here
        if name.startswith("__") or "model" not in self.__dict__:
            raise AttributeError(f"'Cached' object has no attribute {name!r}")
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"Cached({shown(self.model)}, store={self.store!r}, identity={self.identity!r}, order={self.order!r})"

    def predict(self, sentences: Any, **params: Any) -> Any:
        """Score pairs; the model is asked for those that are not stored.

        Parameters
        ----------
        sentences : list of pairs, or one pair of texts
            Pairs of items. ``inputs`` of later versions of sentence-transformers is the same argument.
        **params : object
            Arguments of the model's ``predict``. Those that move a score (``activation_fn``, ``apply_softmax``, a prompt) keep scores apart.

        Returns
        -------
        numpy.ndarray of shape (n_pairs,), or float for one pair
            A tensor with ``convert_to_tensor=True``, and a list of tensors with ``convert_to_numpy=False``.

        Raises
        ------
        ValueError
            If the model returns more than one number per pair, or other scores than those that are stored under its name.
        """
        is_one = _is_one(sentences)
        pairs = [tuple(sentences)] if is_one else [tuple(pair) for pair in sentences]
        for place, pair in enumerate(pairs):
            if len(pair) != 2:
                raise ValueError(f"cannot score row {place}: expected a pair of two items (got {len(pair)})")
        found = self._scores(pairs, params)
        if params.get("convert_to_tensor"):
            import torch

            return torch.tensor(found[0] if is_one else found)
        if params.get("convert_to_numpy") is False:
            import torch

            return torch.tensor(found[0]) if is_one else [torch.tensor(score) for score in found]
        return float(found[0]) if is_one else found

    def __call__(self, pairs: Sequence[tuple[Any, Any]]) -> NDArray[np.float64]:
        """Score pairs, as a function of a list of pairs does.

        Parameters
        ----------
        pairs : list of pairs
            Pairs of items.

        Returns
        -------
        numpy.ndarray of shape (n_pairs,)
            Scores.
        """
        return self._scores([tuple(pair) for pair in pairs], {})

    def rank(
        self, query: Any, documents: Sequence[Any], top_k: int | None = None, return_documents: bool = False, **params: Any
    ) -> list[dict[str, Any]]:
        """Rank documents by their scores with a query.

        Parameters
        ----------
        query : object
            The query, such as a text.
        documents : list
            Documents.
        top_k : int or None, default=None
            Number of documents to return; ``None`` for all.
        return_documents : bool, default=False
            Return documents, too, as ``"text"``.
        **params : object
            Arguments of the model's ``predict``.

        Returns
        -------
        list of dict
            ``{"corpus_id", "score"}``, the best first.
        """
        for name in ("convert_to_tensor", "convert_to_numpy"):
            params.pop(name, None)
        found = self._scores([(query, document) for document in documents], params)
        best = np.argsort(-found, kind="stable")[: None if top_k is None else whole("top_k", top_k, 1)]
        ranked: list[dict[str, Any]] = [{"corpus_id": int(place), "score": float(found[place])} for place in best]
        if return_documents:
            for entry in ranked:
                entry["text"] = documents[entry["corpus_id"]]
        return ranked

    def missing(self, pairs: Iterable[tuple[Any, Any]], **params: Any) -> int:
        """Count the calls that these pairs take.

        Parameters
        ----------
        pairs : list of pairs
            Pairs of items.
        **params : object
            Arguments of the model's ``predict``.

        Returns
        -------
        int
            Calls of the model, not counting those of `verify`. No call is made.
        """
        with self._lock:
            asked = _Asked([tuple(pair) for pair in pairs], self.order)
            pool = self._pool(params)
            pool.refresh(self.store)
            return asked.calls(np.isnan(pool.get(asked)) & ~self._is_known(asked), self.order)

    def put(self, pairs: Sequence[tuple[Any, Any]], scores: Any) -> int:
        """Store scores that were made elsewhere.

        Parameters
        ----------
        pairs : list of pairs
            Pairs of items. With ``order="mean"``, ``"max"`` or ``"min"`` the scores are those of both orders together.
        scores : array-like of shape (n_pairs,)
            Finite scores.

        Returns
        -------
        int
            Pairs that were not stored before; stored scores stay as they are.
        """
        values = np.ascontiguousarray(scores, dtype=np.float64).reshape(-1)
        listed = [tuple(pair) for pair in pairs]
        if len(values) != len(listed):
            raise ValueError(f"cannot store scores: expected one per pair ({len(listed)}, got {len(values)})")
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise ValueError(f"cannot store the score of pair {bad[0]}: it is {values[bad[0]]} (expected a finite number)")
        with self._lock:
            asked = _Asked(listed, self.order)
            first = np.unique(asked.place, return_index=True)[1]
            new = self._pool({}).put(asked, np.arange(len(asked.pairs)), values[first])
            self.flush()
            return new

    def flush(self) -> None:
        """Write scores that wait to be written. It happens about every second, and at the end of the program."""
        for pool in self._pools.values():
            pool.native.flush()

    def _is_known(self, asked: _Asked) -> NDArray[np.bool_]:
        """Pairs of an item with itself, if their score is known."""
        return asked.is_self if self.diagonal is not None else np.zeros(len(asked.pairs), dtype=bool)

    def _pool(self, params: Mapping[str, Any]) -> _Pool:
        if self._process != os.getpid():
            # a forked child numbers its items on its own
            self._begin()
        moving = sorted((name, repr(value)) for name, value in params.items() if name not in _HOW and value is not None)
        name = f"{self.identity or ''}\n" + (digest(moving) if moving else "")
        if name not in self._pools:
            self._pools[name] = _Pool(name, self.order, self.store, self.diagonal, self.identity or "a score")
            weakref.finalize(self, self._pools[name].native.flush)
        return self._pools[name]

    def _scores(self, pairs: list[tuple[Any, Any]], params: Mapping[str, Any]) -> NDArray[np.float64]:
        if not pairs:
            return np.empty(0)
        with self._lock:
            asked = _Asked(pairs, self.order)
            pool = self._pool(params)
            found = pool.get(asked)
            known = self._is_known(asked)
            found[known] = self.diagonal if self.diagonal is not None else np.nan
            if self.store is not None and np.isnan(found).any() and pool.refresh(self.store):
                found = np.where(np.isnan(found), pool.get(asked), found)
            stored = np.flatnonzero(~np.isnan(found) & ~known)
            new = np.flatnonzero(np.isnan(found))
            if self.verify and not pool.is_verified and len(stored):
                self._verify(asked, stored, found, pool, params)
            for start in range(0, len(new), _PAIRS_AT_A_TIME):
                some = new[start : start + _PAIRS_AT_A_TIME]
                found[some] = self._ask(asked, some, params, pool)
            self.n_hits_ += len(pairs) - len(new)
            pool.write()
            return found[asked.place]

    def _ask(self, asked: _Asked, some: NDArray[np.int64], params: Mapping[str, Any], pool: _Pool | None) -> NDArray[np.float64]:
        """Scores of some of the pairs by the model, which go into the pool."""
        ask = self._asker(params)
        items = list(dict.fromkeys(item for place in some for item in asked.items_of(place)))
        number = {item: place for place, item in enumerate(items)}
        pairs = [(number[a], number[b]) for a, b in map(asked.items_of, some.tolist())]
        is_both = self._calls_per_pair == 2
        back = [(j, i) for i, j in pairs if i != j] if is_both else []
        batches = Batches(ask, [asked.of[item] for item in items], both_orders=is_both)
        try:
            made = dict(zip([*pairs, *back], batches._score([*pairs, *back])))
        except BaseException:
            # what was scored before the exception is kept
            if pool is not None:
                known = batches.known
                done = [at for at, (i, j) in enumerate(pairs) if (i, j) in known and (not is_both or (j, i) in known)]
                self.n_calls_ += len(known)
                pool.put(asked, some[done], np.array([self._both(known, *pairs[at]) for at in done]))
                pool.native.flush()
            raise
        values = np.array([self._both(made, i, j) for i, j in pairs])
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            a, b = (asked.of[item] for item in asked.items_of(some[bad[0]]))
            raise ValueError(f"cannot store the score of ({shown(a)}, {shown(b)}): it is {values[bad[0]]} (expected a finite number)")
        if pool is not None:
            self.n_calls_ += len(made)
            pool.put(asked, some, values)
            pool.own += len(some)
        return values

    def _both(self, made: Mapping[tuple[int, int], float], i: int, j: int) -> float:
        if self.order in ("symmetric", "given"):
            return float(made[i, j])
        there, back = float(made[i, j]), float(made[j, i])
        return {"mean": (there + back) / 2, "max": max(there, back), "min": min(there, back)}[self.order]

    def _asker(self, params: Mapping[str, Any]) -> Any:
        how = {name: value for name, value in params.items() if name not in ("convert_to_tensor", "convert_to_numpy")}
        if self.batch_size is not None:
            how.setdefault("batch_size", self.batch_size)
        if scores.is_predictor(self.model):
            return lambda pairs: scores.predicted(self.model.predict, pairs, how)
        return scores.asker(self.model, 8)[0]

    def _verify(
        self, asked: _Asked, stored: NDArray[np.int64], found: NDArray[np.float64], pool: _Pool, params: Mapping[str, Any]
    ) -> None:
        """Scores some stored pairs again."""
        pool.is_verified = True
        if pool.own:
            return
        some = stored[np.unique(np.linspace(0, len(stored) - 1, min(self.verify, len(stored))).astype(int))]
        again = self._ask(asked, some, params, None)
        self.n_verified_ += int(np.where(asked.is_self[some], 1, self._calls_per_pair).sum())
        at = scores.first_difference(again, found[some])
        if at is not None:
            a, b = (asked.of[item] for item in asked.items_of(some[at]))
            raise ValueError(
                f"cannot use the stored scores of `{self.identity}`: the model returns {again[at]:.6g} for ({shown(a)}, {shown(b)}), and "
                f"{found[some[at]]:.6g} is stored; give the changed model another `identity`"
            )


class _Asked:
    """Distinct pairs of a request, by digests of their items."""

    def __init__(self, pairs: list[tuple[Any, Any]], order: str) -> None:
        self.of: dict[bytes, Any] = {}
        by_id: dict[int, bytes] = {}
        seen: dict[tuple[bytes, bytes], int] = {}
        place = []
        for pair in pairs:
            key = []
            for item in pair:
                name = by_id.get(id(item))
                if name is None:
                    name = by_id[id(item)] = digests([item])
                    self.of.setdefault(name, item)
                key.append(name)
            a, b = key
            if order != "given" and (b, a) in seen:
                a, b = b, a
            place.append(seen.setdefault((a, b), len(seen)))
        self.pairs = list(seen)
        self.place = np.array(place, dtype=np.int64)
        self.is_self = np.array([a == b for a, b in self.pairs], dtype=bool)

    def items_of(self, place: int) -> tuple[bytes, bytes]:
        return self.pairs[place]

    def sides(self, places: Iterable[int]) -> tuple[bytes, bytes]:
        chosen = [self.pairs[place] for place in places]
        return b"".join(a for a, _ in chosen), b"".join(b for _, b in chosen)

    def calls(self, is_missing: NDArray[np.bool_], order: str) -> int:
        """Calls of the pairs that are missing."""
        both = order in scores.BOTH
        return int(np.sum(np.where(self.is_self | (not both), 1, 2)[is_missing]))


class _Pool:
    """Scores of one model under one set of arguments."""

    def __init__(self, name: str, order: str, store: str | None, diagonal: float | None, description: str) -> None:
        self.native = ScorePool(name, order, uuid.uuid4().hex, store, diagonal, description)
        self.is_verified = False
        # scores that this process made
        self.own = 0
        self._written = time.monotonic()

    def get(self, asked: _Asked) -> NDArray[np.float64]:
        return self.native.get(*asked.sides(range(len(asked.pairs))))

    def put(self, asked: _Asked, places: NDArray[np.int64], values: NDArray[np.float64]) -> int:
        return self.native.put(*asked.sides(places), np.ascontiguousarray(values, dtype=np.float64))

    def refresh(self, store: str | None) -> int:
        return 0 if store is None else self.native.refresh()

    def write(self) -> None:
        if time.monotonic() - self._written >= _SECONDS_BETWEEN_WRITES:
            self.native.flush()
            self._written = time.monotonic()


def as_cached(similarity: Any, store: str | os.PathLike[str] | None, identity: str | None, order: Order, batch_size: int | None = None) -> Cached:
    """The score as it is if it has a store of its own, else with this one."""
    return similarity if isinstance(similarity, Cached) else Cached(similarity, store, identity=identity, order=order, batch_size=batch_size)


def _is_one(sentences: Any) -> bool:
    """True for one pair of texts in the place of a list of pairs."""
    return isinstance(sentences, (list, tuple)) and len(sentences) == 2 and all(isinstance(text, str) for text in sentences)


def identity_of(model: Any) -> str | None:
    """Name a cross-encoder by what moves its scores.

    Parameters
    ----------
    model : object
        A ``CrossEncoder``.

    Returns
    -------
    str or None
        Model name, revision, maximum length, activation and dtype; ``None`` for a model that has no name.
    """
    inner = getattr(model, "model", None)
    config = getattr(model, "config", None) or getattr(inner, "config", None)
    name = next((found for attribute in ("_name_or_path", "name_or_path") if (found := getattr(config, attribute, None))), None)
    if not isinstance(name, str):
        return None
    activation = next(
        (found for attribute in ("activation_fn", "default_activation_function") if (found := getattr(model, attribute, None)) is not None), None
    )
    dtype = getattr(inner, "dtype", None) or getattr(model, "dtype", None)
    parts = {
        "model": name,
        "revision": getattr(config, "_commit_hash", None) or _digest_of_folder(name),
        "max_length": getattr(model, "max_length", None) or getattr(model, "max_seq_length", None),
        "activation": None if activation is None else getattr(activation, "__name__", type(activation).__name__),
        "dtype": None if dtype is None else str(dtype),
    }
    return ", ".join(f"{part} {value}" for part, value in parts.items() if value is not None)


def _digest_of_folder(name: str) -> str | None:
    """Digest of the weights and settings in a folder."""
    folder = Path(name)
    if not folder.is_dir():
        return None
    state = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".safetensors", ".bin", ".json", ".txt", ".model", ".onnx") and path.is_file():
            state.update(path.relative_to(folder).as_posix().encode() + b"\0")
            with path.open("rb") as file:
                while block := file.read(1 << 22):
                    state.update(block)
    return state.hexdigest()

"""An expensive score in PyTerrier: transformers that rerank and search. Needs the package ``pyterrier``, and no Java.

>>> from landmark.pyterrier import Reranker                                 # doctest: +SKIP
>>> pipeline = bm25 % 100 >> texts >> Reranker(cross_encoder, calls_per_query=20) # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from ._checks import pairs_of, whole
from .cached import Order, as_cached
from .two_sided import TwoSided, in_order


class Reranker(pt.Transformer):  # type: ignore[misc]
    """Rerank results by a score of (query, document) whose scores are stored: pipelines that share documents score no pair twice.

    Parameters
    ----------
    similarity : callable, object or Cached
        Score of pairs (query, document): a function of a list of pairs, or an object with ``predict``.
    calls_per_query : int or None, default=None
        Number of results of each query to score, the best by their score so far. The others keep their order, below these. ``None`` scores all.
    text : str, default="text"
        Column of the documents' texts.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off a ``CrossEncoder``.
    order : {"given", "mean", "max", "min", "symmetric"}, default="given"
        ``"given"`` asks for (query, document) only; others are those of `Cached`.

    Examples
    --------
    >>> import pandas as pd
    >>> from landmark.pyterrier import Reranker
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> results = pd.DataFrame({"qid": "1", "query": "ab", "docno": ["x", "y"], "text": ["xyz", "abc"]})
    >>> Reranker(overlap)(results).sort_values("rank")["docno"].tolist()
    ['y', 'x']
    """

    def __init__(
        self,
        similarity: Any,
        *,
        calls_per_query: int | None = None,
        text: str = "text",
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        order: Order = "given",
    ) -> None:
        self.model = as_cached(similarity, store, identity, order)
        self.calls_per_query = None if calls_per_query is None else whole("calls_per_query", calls_per_query, 1)
        self.text = text

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Rerank results.

        Parameters
        ----------
        inp : pandas.DataFrame
            ``qid``, ``query``, ``docno`` and the text of each result.

        Returns
        -------
        pandas.DataFrame
            The same rows with ``score`` and ``rank``.
        """
        pt.validate.result_frame(inp, extra_columns=["query", self.text])
        out = inp.copy()
        if not len(out):
            return pt.model.add_ranks(out.assign(score=np.empty(0)))
        n = len(out)
        before = out["score"].to_numpy(dtype=np.float64) if "score" in out else np.zeros(n)
        place = np.arange(n) if "rank" not in out else out["rank"].to_numpy()
        query = pd.factorize(out["qid"])[0]
        order = np.lexsort((place, -before, query))
        starts = np.searchsorted(query[order], np.arange(query.max() + 1))
        depth = np.empty(n, dtype=np.int64)
        depth[order] = np.arange(n) - starts[query[order]]
        most = n if self.calls_per_query is None else pairs_of("calls_per_query", self.calls_per_query, self.model._calls_per_pair)
        scored = np.flatnonzero(depth < most)
        scores = np.empty(n)
        rows = out.iloc[scored]
        scores[scored] = self.model(list(zip(rows["query"], rows[self.text])))
        # the others stand below, in their order
        lowest = np.full(query.max() + 1, np.inf)
        np.minimum.at(lowest, query[scored], scores[scored])
        rest = np.flatnonzero(depth >= most)
        scores[rest] = lowest[query[rest]] - (1.0 + depth[rest] - most)
        return pt.model.add_ranks(out.assign(score=scores))

    @property
    def n_calls_(self) -> int:
        """Calls of the model so far."""
        return self.model.n_calls_


class Retriever(pt.Transformer):  # type: ignore[misc]
    """Search documents by a score of (query, document) at a number of calls per query, without an index of words.

    Parameters
    ----------
    similarity : callable, object or Cached
        Score of pairs (query, document): a function of a list of pairs, or an object with ``predict``.
    documents : iterable of dict, or pandas.DataFrame
        Documents with ``docno`` and ``text``, as indexers of PyTerrier take them.
    encoder : object or None, default=None
        Bi-encoder with ``encode(texts)`` whose embeddings show which documents are likely.
    calls_per_query : int, default=100
        Calls per query, on average over the queries that come together.
    num_results : int, default=1000
        Documents per query.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off a ``CrossEncoder``.
    order : {"given", "mean", "max", "min", "symmetric"}, default="given"
        ``"given"`` asks for (query, document) only; others are those of `Cached`.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from landmark.pyterrier import Retriever
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> documents = [{"docno": "x", "text": "xyz"}, {"docno": "y", "text": "abc"}]
    >>> Retriever(overlap, documents, num_results=1).search("ab")["docno"].tolist()
    ['y']
    """

    def __init__(
        self,
        similarity: Any,
        documents: Iterable[Mapping[str, Any]] | pd.DataFrame,
        *,
        encoder: Any = None,
        calls_per_query: int = 100,
        num_results: int = 1000,
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        order: Order = "given",
        random_state: int = 0,
    ) -> None:
        self.model = as_cached(similarity, store, identity, order)
        rows = documents.to_dict(orient="records") if isinstance(documents, pd.DataFrame) else list(documents)
        self.docnos = np.array([str(row["docno"]) for row in rows], dtype=object)
        texts = [str(row["text"]) for row in rows]
        if not texts:
            raise ValueError("cannot search: there are no `documents`")
        self.encoder = encoder
        self.calls_per_query = whole("calls_per_query", calls_per_query, 1)
        self.num_results = whole("num_results", num_results, 1)
        proxy = None if encoder is None else np.asarray(encoder.encode(texts), dtype=np.float64)
        self._search = TwoSided(self.model, random_state=random_state).fit(texts, proxy=proxy)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Search.

        Parameters
        ----------
        inp : pandas.DataFrame
            ``qid`` and ``query``.

        Returns
        -------
        pandas.DataFrame
            The queries with ``docno``, ``score`` and ``rank``. Estimated scores are below all scores of their query that were evaluated.
        """
        pt.validate.query_frame(inp, extra_columns=["query"])
        if not len(inp):
            return pt.model.add_ranks(inp.assign(docno=pd.Series(dtype=object), score=np.empty(0)))
        queries = inp["query"].tolist()
        proxy = None if self.encoder is None else np.asarray(self.encoder.encode(queries), dtype=np.float64)
        self._search.kneighbors(queries, self.num_results, calls_per_query=self.calls_per_query, proxy=proxy)
        found = self._search.neighbors_
        k = found.items.shape[1]
        out = inp.iloc[np.repeat(np.arange(len(inp)), k)].reset_index(drop=True)
        return pt.model.add_ranks(out.assign(docno=self.docnos[found.items.ravel()], score=in_order(found).ravel()))

    @property
    def n_calls_(self) -> int:
        """Calls of the model so far."""
        return self.model.n_calls_

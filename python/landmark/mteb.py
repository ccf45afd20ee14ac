"""An expensive score in MTEB: a search at a number of calls per query. Needs the package ``mteb``.

>>> import mteb                                                             # doctest: +SKIP
>>> from landmark.mteb import Search                                        # doctest: +SKIP
>>> search = Search(cross_encoder, encoder=bi_encoder, calls_per_query=100) # doctest: +SKIP
>>> mteb.evaluate(search, mteb.get_tasks(["NanoSciFactRetrieval"]))         # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import __version__
from ._checks import whole
from ._numbered import Numbered
from .cached import Order, as_cached, identity_of
from .two_sided import TwoSided, in_order


class Search:
    """Search of MTEB (its ``SearchProtocol``) by a score of (query, document), such as a cross-encoder.

    A retrieval task is searched by `TwoSided`. A reranking task scores the documents that it lists.

    Parameters
    ----------
    similarity : callable, object or Cached
        Score of pairs (query, document): a function of a list of pairs, or an object with ``predict``.
    encoder : object or None, default=None
        Bi-encoder with ``encode(texts)`` whose embeddings show which documents are likely.
    calls_per_query : int, default=100
        Calls per query, on average, in retrieval tasks.
    name : str or None, default=None
        Name of the model in the results of MTEB. ``None`` is made of the identity of the score.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off a ``CrossEncoder``.
    order : {"given", "mean", "max", "min", "symmetric"}, default="given"
        ``"given"`` asks for (query, document) only; others are those of `Cached`.
    random_state : int, default=0
        Seed.

    Attributes
    ----------
    n_calls_ : int
        Calls of the model so far.

    Examples
    --------
    >>> from landmark.mteb import Search
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> search = Search(overlap, calls_per_query=3)
    >>> search.index([{"id": "d1", "text": "abc"}, {"id": "d2", "text": "xyz"}])
    >>> search.search([{"id": "q", "text": "abd"}], top_k=1)
    {'q': {'d1': 0.5}}
    """

    def __init__(
        self,
        similarity: Any,
        *,
        encoder: Any = None,
        calls_per_query: int = 100,
        name: str | None = None,
        store: str | os.PathLike[str] | None = None,
        identity: str | None = None,
        order: Order = "given",
        random_state: int = 0,
    ) -> None:
        self.encoder = encoder
        self.calls_per_query = whole("calls_per_query", calls_per_query, 1)
        self.random_state = random_state
        # one cache for all searches: what a query and a document score is asked once
        self.model = as_cached(similarity, store, identity, order)
        named = identity or identity_of(self.model.model) or type(self.model.model).__name__
        self.name = name or "landmark/" + "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in named)
        self._documents: list[str] = []
        self._ids: list[str] = []
        self._embeddings: NDArray[np.float64] | None = None

    @property
    def n_calls_(self) -> int:
        """Calls of the model so far."""
        return self.model.n_calls_

    @property
    def mteb_model_meta(self) -> Any:
        """What MTEB writes of the model into its results."""
        from mteb.models.model_meta import ModelMeta

        known = {"name": self.name, "revision": __version__, "framework": [], "modalities": ["text"], "model_type": ["cross-encoder"]}
        return ModelMeta.create_empty({**known, "experiment_kwargs": {"calls_per_query": self.calls_per_query}})

    def index(self, corpus: Iterable[Mapping[str, Any]], **params: Any) -> None:
        """Take the documents in.

        Parameters
        ----------
        corpus : datasets.Dataset or list of dict
            Documents with ``id``, ``text`` and perhaps ``title``, which stands before the text.
        **params : object
            Task and split, as MTEB hands over. ``encode_kwargs`` go to the encoder.
        """
        documents = list(corpus)
        self._ids = [str(document["id"]) for document in documents]
        self._documents = [f"{document.get('title') or ''} {document['text']}".strip() for document in documents]
        self._embeddings = self._encoded(self._documents, params)

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **params: Any,
    ) -> dict[str, dict[str, float]]:
        """Find the best documents of each query.

        Parameters
        ----------
        queries : datasets.Dataset or list of dict
            Queries with ``id``, ``text`` and perhaps ``instruction``, which stands after the text.
        top_k : int
            Documents per query.
        top_ranked : mapping of str to list of str, default=None
            Documents to rerank, by query. All of them are scored.
        **params : object
            Task and split, as MTEB hands over. ``encode_kwargs`` go to the encoder.

        Returns
        -------
        dict of dict
            Scores by query and document. Estimated scores are below all scores of their query that were evaluated.
        """
        rows = list(queries)
        if any(not isinstance(row.get("text"), str) for row in rows):
            raise ValueError("cannot search: a query has no `text` (conversations, images and audio are not supported)")
        if not self._ids:
            raise ValueError("cannot search: there are no documents; call `index` first")
        ids = [str(row["id"]) for row in rows]
        texts = [f"{row['text']} {row.get('instruction') or ''}".strip() for row in rows]
        if top_ranked is not None:
            return self._reranked(ids, texts, top_ranked, top_k)
        search = TwoSided(self.model, random_state=self.random_state).fit(self._documents, proxy=self._embeddings)
        search.kneighbors(texts, top_k, calls_per_query=self.calls_per_query, proxy=self._encoded(texts, params))
        found = search.neighbors_
        scores = in_order(found)
        return {
            query: {self._ids[item]: float(score) for item, score in zip(items.tolist(), values)}
            for query, items, values in zip(ids, found.items, scores)
        }

    def _reranked(
        self, ids: Sequence[str], texts: Sequence[str], top_ranked: Mapping[str, Sequence[str]], top_k: int
    ) -> dict[str, dict[str, float]]:
        places = {name: place for place, name in enumerate(self._ids)}
        of = Numbered(self.model, texts, self._documents)
        listed = [[places[name] for name in top_ranked.get(query, ()) if name in places] for query in ids]
        pairs = [(query, len(texts) + place) for query, row in enumerate(listed) for place in row]
        scores = of(np.array(pairs, dtype=np.int64).reshape(-1, 2)) if pairs else np.empty(0)
        out: dict[str, dict[str, float]] = {}
        start = 0
        for query, row in zip(ids, listed):
            mine = scores[start : start + len(row)]
            start += len(row)
            best = np.argsort(-mine, kind="stable")[:top_k]
            out[query] = {self._ids[row[place]]: float(mine[place]) for place in best.tolist()}
        return out

    def _encoded(self, texts: Sequence[str], params: Mapping[str, Any]) -> NDArray[np.float64] | None:
        if self.encoder is None:
            return None
        how = {name: value for name, value in (params.get("encode_kwargs") or {}).items() if name in ("batch_size", "show_progress_bar")}
        return np.asarray(self.encoder.encode(list(texts), **how), dtype=np.float64)

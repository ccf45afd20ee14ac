"""The utilities of sentence-transformers by a cross-encoder: names, arguments and results are theirs.

A cross-encoder scores (a, b) and (b, a) differently: pairs of one list use the mean of both orders, pairs of a query and a document only (query, document).
What cannot be reached is a warning, and no exception.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import scores
from ._checks import one_of, pairs_of, real, whole
from ._items import plain
from ._native import BudgetExhausted
from .results import Recall
from .cached import Cached, Order, as_cached
from .estimator import Landmark
from .two_sided import TwoSided, join

# share of the calls that goes to whole columns: the others go to pairs that columns and embeddings choose
_COLUMNS = 0.4


class MinedPairs(list[list[Any]]):
    """``[[score, i, j], ...]``, best first, as ``util.paraphrase_mining`` returns them.

    Attributes
    ----------
    n_calls_ : int
        Calls of the cross-encoder.
    recall_ : Recall or None
        What is known of the recall.
    """

    n_calls_: int = 0
    recall_: Recall | None = None


def paraphrase_mining(
    model: Any,
    sentences: Any,
    show_progress_bar: bool = False,
    batch_size: int = 32,
    max_pairs: int = 500_000,
    top_k: int = 100,
    *,
    cross_encoder: Any,
    other: Any = None,
    threshold: float | None = None,
    calls_per_item: int = 40,
    target_recall: float | None = None,
    delta: float = 0.1,
    budget: int | None = None,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    random_state: int = 0,
) -> MinedPairs:
    """Mine paraphrases by a cross-encoder.

    Parameters
    ----------
    model : SentenceTransformer, array of shape (n_sentences, n_dims), or None
        Bi-encoder whose embeddings show where paraphrases are likely, or the embeddings. ``None`` does without.
    sentences : list of str
        Sentences.
    show_progress_bar : bool, default=False
        Show a progress bar.
    batch_size : int, default=32
        Batch size of both models.
    max_pairs : int, default=500000
        Largest number of pairs to return.
    top_k : int, default=100
        A pair is returned if it is among the `top_k` best of one of its sentences.
    cross_encoder : CrossEncoder, Cached or callable
        The score.
    other : list of str, default=None
        Second list: pairs are (sentence, other sentence), and each is scored in this order.
    threshold : float or None, default=None
        Return pairs that score at least this.
    calls_per_item : int, default=40
        Calls of the cross-encoder per sentence. A pair takes two of them, one for each order, unless there are two lists.
    target_recall : float or None, default=None
        Search until this share of all pairs above `threshold` is listed, with probability 1 − `delta`.
    delta : float, default=0.1
        Probability that the recall is lower than stated.
    budget : int or None, default=None
        Most calls, in place of `calls_per_item`.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off the ``CrossEncoder``.
    random_state : int, default=0
        Seed.

    Returns
    -------
    MinedPairs
        ``[[score, i, j], ...]``, best first, with ``n_calls_`` and ``recall_``.

    Examples
    --------
    >>> from landmark.sbert import paraphrase_mining
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> paraphrase_mining(None, ["abc", "abd", "xyz"], cross_encoder=overlap, threshold=0.5)
    [[0.5, 0, 1]]
    """
    texts = list(plain(sentences))
    second = None if other is None else list(plain(other))
    out = MinedPairs()
    if len(texts) < (1 if second is not None else 2) or (second is not None and not second):
        return out
    if target_recall is not None and threshold is None:
        warnings.warn("a recall is of pairs above a threshold: `target_recall` has no effect without `threshold`", stacklevel=2)
        target_recall = None
    calls = budget if budget is not None else whole("calls_per_item", calls_per_item, 1) * (len(texts) + len(second or []))
    cached = _cached(cross_encoder, store, identity, "mean" if second is None else "given", batch_size)
    before = cached.n_calls_
    with warnings.catch_warnings():
        # the recall of what is found is stated by `recall_`
        warnings.filterwarnings("ignore", message="the recall of these pairs is not known")
        if second is not None:
            proxy = None if model is None else (_encoded(model, texts, batch_size), _encoded(model, second, batch_size))
            limit = budget if target_recall is not None else calls
            found = join(
                texts, second, cached, threshold=-np.inf if threshold is None else threshold, proxy=proxy, budget=limit,
                target_recall=target_recall, delta=delta, random_state=random_state,
            )  # fmt: skip
            rows: Iterable[tuple[float, int, int]] = found
            out.recall_ = found.recall
        else:
            proxy_ = None if model is None else _encoded(model, texts, batch_size)
            rows, out.recall_ = _mined(cached, texts, proxy_, threshold, calls, budget, target_recall, delta, random_state, show_progress_bar)
    seen = np.zeros(len(texts) + len(second or []), dtype=int)
    offset = 0 if second is None else len(texts)
    for score, i, j in rows:
        if len(out) >= max_pairs:
            break
        if min(seen[i], seen[j + offset]) < top_k:
            out.append([score, i, j])
            seen[i] += 1
            seen[j + offset] += 1
    out.n_calls_ = cached.n_calls_ - before
    return out


def _mined(
    cached: Cached,
    texts: list[Any],
    proxy: NDArray[np.float64] | None,
    threshold: float | None,
    calls: int,
    budget: int | None,
    target_recall: float | None,
    delta: float,
    seed: int,
    verbose: bool,
) -> tuple[list[tuple[float, int, int]], Recall | None]:
    """Pairs of one list, and what is known of their recall."""
    n = len(texts)
    each = cached._calls_per_pair
    pairs = pairs_of("budget", calls, each)
    every = n * (n - 1) // 2
    # a budget that is smaller than a column scores what it can
    if pairs >= every or pairs <= n:
        return _first_pairs(cached, texts, min(pairs, every), every, proxy, threshold)
    rank = max(int(pairs * _COLUMNS) // n, 1)
    # through the cache, which makes one score of both orders: the estimator counts pairs
    settings: dict[str, Any] = {"order": "symmetric", "error_samples": 0, "diagonal": cached.diagonal, "random_state": seed, "verbose": verbose}
    lm = Landmark(cached.__call__, n_components=min(rank, n), proxy=proxy, **settings).fit(texts)
    least = -np.inf if threshold is None else threshold
    try:
        if target_recall is not None:
            left = None if budget is None else max(budget // each - lm.n_calls_, 1)
            found = lm.mine(least, target_recall=target_recall, delta=delta, budget=left)
            rest = 0 if left is None else left - found.calls
            if found.recall is not None and not found.recall.is_reached and rest > 0:
                # an audit that the budget cannot pay for leaves it to a search
                more = {(i, j): score for score, i, j in [*found, *lm.mine(least, budget=rest)]}
                return sorted(((score, i, j) for (i, j), score in more.items()), key=lambda row: (-row[0], row[1:])), found.recall
        else:
            found = lm.mine(least, budget=max(pairs - lm.n_calls_, 1))
    except BudgetExhausted as error:
        warnings.warn(f"{error}: pairs are those that were scored", stacklevel=3)
        found = lm.mine(least)
    return list(found), found.recall


def _first_pairs(
    cached: Cached, texts: list[Any], count: int, every: int, proxy: NDArray[np.float64] | None, threshold: float | None
) -> tuple[list[tuple[float, int, int]], Recall | None]:
    """All pairs, or those that the embeddings put first."""
    n = len(texts)
    first, second = np.triu_indices(n, 1)
    if count < every:
        warnings.warn(f"the calls pay for {count:,} of {every:,} pairs: those that the embeddings put first are scored", stacklevel=4)
        if proxy is not None:
            unit = proxy / np.maximum(np.linalg.norm(proxy, axis=1, keepdims=True), 1e-12)
            best = np.argsort(-np.einsum("ij,ij->i", unit[first], unit[second]), kind="stable")[:count]
        else:
            best = np.random.default_rng(0).choice(every, count, replace=False)
        first, second = first[best], second[best]
    found = cached([(texts[i], texts[j]) for i, j in zip(first.tolist(), second.tolist())])
    order = np.argsort(-found, kind="stable")
    rows = [(float(found[at]), int(first[at]), int(second[at])) for at in order if threshold is None or found[at] >= threshold]
    if count < every:
        return rows, None
    return rows, Recall(
        target=1.0, delta=0.0, is_reached=True, recall=1.0, lower=1.0, bound="all pairs", rows=0, scored_pairs=every
    )  # fmt: skip


def semantic_search(
    queries: Any,
    corpus: Any,
    top_k: int = 10,
    *,
    cross_encoder: Any,
    model: Any = None,
    calls_per_query: int = 100,
    batch_size: int = 32,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    random_state: int = 0,
) -> list[list[dict[str, Any]]]:
    """Find the best documents of each query by a cross-encoder.

    Parameters
    ----------
    queries : list of str
        Queries.
    corpus : list of str
        Documents.
    top_k : int, default=10
        Documents per query.
    cross_encoder : CrossEncoder, Cached or callable
        The score of (query, document).
    model : SentenceTransformer, tuple of two arrays, or None, default=None
        Bi-encoder, or the embeddings of queries and corpus. ``None`` does without.
    calls_per_query : int, default=100
        Calls of the cross-encoder per query, on average.
    batch_size : int, default=32
        Batch size of both models.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off the ``CrossEncoder``.
    random_state : int, default=0
        Seed.

    Returns
    -------
    list of list of dict
        ``{"corpus_id", "score"}`` for each query, best first.

    Examples
    --------
    >>> from landmark.sbert import semantic_search
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> semantic_search(["ab"], ["abc", "xyz"], top_k=1, cross_encoder=overlap)
    [[{'corpus_id': 0, 'score': 0.6666666666666666}]]
    """
    asked, documents = list(plain(queries)), list(plain(corpus))
    if not asked or not documents:
        return [[] for _ in asked]
    cached = _cached(cross_encoder, store, identity, "given", batch_size)
    found, items, exact = _two_sided(cached, asked, documents, model, min(top_k, len(documents)), calls_per_query, batch_size, random_state)
    # estimates are no scores
    return [
        [{"corpus_id": int(item), "score": float(score)} for item, score, is_so in zip(*row) if is_so] for row in zip(items, found, exact)
    ]


def _two_sided(
    cached: Cached, queries: list[Any], documents: list[Any], model: Any, k: int, calls: int, batch_size: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    proxies: tuple[Any, Any] = None, None
    if isinstance(model, tuple):
        proxies = model
    elif model is not None:
        proxies = _encoded(model, queries, batch_size), _encoded(model, documents, batch_size)
    search = TwoSided(cached, random_state=seed).fit(documents, proxy=proxies[1])
    found, items = search.kneighbors(queries, k, calls_per_query=calls, proxy=proxies[0])
    return found, items, search.neighbors_.exact


def mine_hard_negatives(
    dataset: Any,
    model: Any = None,
    anchor_column_name: str | None = None,
    positive_column_name: str | None = None,
    corpus: Sequence[str] | None = None,
    *,
    cross_encoder: Any,
    range_min: int = 0,
    range_max: int | None = None,
    max_score: float | None = None,
    min_score: float | None = None,
    absolute_margin: float | None = None,
    relative_margin: float | None = None,
    num_negatives: int = 3,
    sampling_strategy: Literal["top", "random"] = "top",
    output_format: Literal["triplet", "n-tuple", "labeled-pair", "labeled-list"] = "triplet",
    output_scores: bool = False,
    include_positives: bool = False,
    calls_per_query: int = 50,
    batch_size: int = 32,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    random_state: int = 0,
) -> Any:
    """Mine hard negatives whose scores, and those of the positives, are of the cross-encoder.

    Parameters
    ----------
    dataset : Dataset, data frame, mapping of columns, or list of (anchor, positive)
        Anchors and positives.
    model : SentenceTransformer or None, default=None
        Bi-encoder that shows where negatives are likely.
    anchor_column_name, positive_column_name : str or None, default=None
        Names of the columns; the first two by default.
    corpus : list of str, default=None
        Further candidates, next to all positives.
    cross_encoder : CrossEncoder, Cached or callable
        The score of (anchor, candidate).
    range_min : int, default=0
        Number of the best candidates to leave out.
    range_max : int or None, default=None
        Number of the best candidates to consider; ``None`` for those that `calls_per_query` finds.
    max_score, min_score : float or None, default=None
        Bounds of a negative's score.
    absolute_margin : float or None, default=None
        A negative scores at least this less than the positive.
    relative_margin : float or None, default=None
        A negative scores at most (1 − `relative_margin`) times the positive's score; 0.05 is 95% of it.
    num_negatives : int, default=3
        Negatives per pair.
    sampling_strategy : {"top", "random"}, default="top"
        Take the best candidates, or draw from those that are left.
    output_format : {"triplet", "n-tuple", "labeled-pair", "labeled-list"}, default="triplet"
        As in sentence-transformers.
    output_scores : bool, default=False
        Return scores, too, as ``score`` or ``scores`` (in place of 0/1 ``label`` and ``labels``).
    include_positives : bool, default=False
        A candidate that is a positive of the anchor may be a negative, too.
    calls_per_query : int, default=50
        Calls of the cross-encoder per distinct anchor, on average, beyond its positives.
    batch_size : int, default=32
        Batch size of both models.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off the ``CrossEncoder``.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Dataset or dict of list
        Columns of the output format: a ``Dataset`` for a ``Dataset``, columns otherwise. Pairs with fewer negatives than `num_negatives` are
        left out of ``"n-tuple"``, with a warning, and have those that there are otherwise.

    Examples
    --------
    >>> from landmark.sbert import mine_hard_negatives
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> mined = mine_hard_negatives([("ab", "abc"), ("xy", "xyz")], cross_encoder=overlap, corpus=["abde"], num_negatives=1)
    >>> mined["negative"][0]
    'abde'
    """
    one_of("sampling_strategy", sampling_strategy, ("top", "random"))
    one_of("output_format", output_format, ("triplet", "n-tuple", "labeled-pair", "labeled-list"))
    count, range_min = whole("num_negatives", num_negatives, 1), whole("range_min", range_min, 0)
    anchors, positives, names = _columns_of(dataset, anchor_column_name, positive_column_name)
    documents = list(dict.fromkeys([*positives, *(corpus or [])]))
    number = {text: place for place, text in enumerate(documents)}
    queries = list(dict.fromkeys(anchors))
    place_of = {text: place for place, text in enumerate(queries)}
    cached = _cached(cross_encoder, store, identity, "given", batch_size)
    of_positive = cached(list(zip(anchors, positives)))
    most = min(len(documents), range_max if range_max is not None else max(calls_per_query, range_min + 4 * count))
    found, items, exact = _two_sided(cached, queries, documents, model, most, calls_per_query, batch_size, random_state)
    own: dict[int, set[int]] = {}
    for anchor, positive in zip(anchors, positives):
        own.setdefault(place_of[anchor], set()).add(number[positive])
    draw = np.random.default_rng(random_state)
    rows: list[tuple[str, str, list[int], float, list[float]]] = []
    short = 0
    for anchor, positive, score in zip(anchors, positives, of_positive.tolist()):
        query = place_of[anchor]
        is_good = exact[query].copy()
        values = found[query]
        if not include_positives:
            is_good &= ~np.isin(items[query], list(own[query]))
        is_good &= items[query] != number[positive]
        places = np.flatnonzero(is_good)[range_min:]
        values_left = values[places]
        stays = np.ones(len(places), dtype=bool)
        if max_score is not None:
            stays &= values_left <= real("max_score", max_score)
        if min_score is not None:
            stays &= values_left >= real("min_score", min_score)
        if absolute_margin is not None:
            stays &= values_left <= score - real("absolute_margin", absolute_margin)
        if relative_margin is not None:
            # of a negative score the same share is above it
            stays &= values_left <= score - abs(score) * real("relative_margin", relative_margin)
        places = places[stays]
        if sampling_strategy == "random" and len(places) > count:
            places = np.sort(draw.choice(places, count, replace=False))
        places = places[:count]
        short += len(places) < count
        rows.append((anchor, positive, items[query][places].tolist(), score, values[places].tolist()))
    if short:
        warnings.warn(f"{short:,} of {len(rows):,} pairs have fewer than {count} negatives: raise `calls_per_query`, or widen the margins", stacklevel=2)
    out = _formatted(rows, documents, names, output_format, count, output_scores)
    if type(dataset).__module__.split(".")[0] == "datasets":
        return type(dataset).from_dict(out)
    return out


def _formatted(
    rows: list[tuple[str, str, list[int], float, list[float]]],
    documents: list[str],
    names: tuple[str, str],
    form: str,
    count: int,
    with_scores: bool,
) -> dict[str, list[Any]]:
    """Columns as sentence-transformers has them."""
    anchor_name, positive_name = names
    out: dict[str, list[Any]] = {}

    def add(**values: Any) -> None:
        for name, value in values.items():
            out.setdefault(name, []).append(value)

    for anchor, positive, negatives, score, values in rows:
        texts = [documents[place] for place in negatives]
        if form == "triplet":
            for text, value in zip(texts, values):
                add(**{anchor_name: anchor, positive_name: positive, "negative": text}, **({"scores": [score, value]} if with_scores else {}))
        elif form == "n-tuple":
            if len(texts) == count:
                add(
                    **{anchor_name: anchor, positive_name: positive},
                    **{f"negative_{place}": text for place, text in enumerate(texts, 1)},
                    **({"scores": [score, *values]} if with_scores else {}),
                )
        elif form == "labeled-pair":
            for text, value, label in zip([positive, *texts], [score, *values], [1] + [0] * len(texts)):
                add(**{anchor_name: anchor, positive_name: text}, **({"score": value} if with_scores else {"label": label}))
        else:
            add(
                **{anchor_name: anchor, positive_name: [positive, *texts]},
                **({"scores": [score, *values]} if with_scores else {"labels": [1] + [0] * len(texts)}),
            )
    return out


def community_detection(
    sentences: Any,
    threshold: float = 0.75,
    min_community_size: int = 10,
    *,
    cross_encoder: Any,
    model: Any = None,
    calls_per_item: int = 40,
    batch_size: int = 32,
    store: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    random_state: int = 0,
) -> list[list[int]]:
    """Find communities: sentences that all score at least a threshold with a center.

    Parameters
    ----------
    sentences : list of str
        Sentences.
    threshold : float, default=0.75
        Least score with the center.
    min_community_size : int, default=10
        Least size of a community.
    cross_encoder : CrossEncoder, Cached or callable
        The score.
    model : SentenceTransformer, array, or None, default=None
        Bi-encoder or embeddings that show where members are likely.
    calls_per_item : int, default=40
        Calls of the cross-encoder per sentence.
    batch_size : int, default=32
        Batch size of both models.
    store : str or path or None, default=None
        Folder or URL that keeps the scores.
    identity : str or None, default=None
        Name of the score in the store. ``None`` is read off the ``CrossEncoder``.
    random_state : int, default=0
        Seed.

    Returns
    -------
    list of list of int
        Communities, the largest first, the center first in each. No sentence is in two of them.

    Examples
    --------
    >>> from landmark.sbert import community_detection
    >>> overlap = lambda pairs: [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs]
    >>> community_detection(["abc", "abd", "xyz"], 0.5, 2, cross_encoder=overlap)
    [[0, 1]]
    """
    texts = list(plain(sentences))
    pairs = paraphrase_mining(
        model, texts, cross_encoder=cross_encoder, threshold=threshold, calls_per_item=calls_per_item, batch_size=batch_size,
        max_pairs=len(texts) ** 2, top_k=len(texts), store=store, identity=identity, random_state=random_state,
    )  # fmt: skip
    near: list[list[int]] = [[] for _ in texts]
    for _, i, j in pairs:
        near[i].append(j)
        near[j].append(i)
    taken: set[int] = set()
    communities = []
    for center in sorted(range(len(texts)), key=lambda item: (-len(near[item]), item)):
        members = [item for item in [center, *near[center]] if item not in taken]
        if center in taken or len(members) < min_community_size:
            continue
        communities.append(members)
        taken.update(members)
    return sorted(communities, key=len, reverse=True)


def _cached(model: Any, store: Any, identity: str | None, order: Order, batch_size: int) -> Cached:
    if order == "mean" and not scores.is_predictor(model):
        # a function of the user's is asked once per pair, as everywhere
        order = "symmetric"
    return as_cached(model, store, identity, order, batch_size)


def _encoded(model: Any, texts: list[Any], batch_size: int) -> NDArray[np.float64]:
    """Embeddings of texts, or those that were handed over."""
    if hasattr(model, "encode"):
        model = model.encode(texts, batch_size=batch_size, show_progress_bar=False)
    for step in ("detach", "cpu", "numpy", "toarray"):
        if hasattr(model, step) and not isinstance(model, np.ndarray):
            model = getattr(model, step)()
    return np.asarray(model, dtype=np.float64)


def _columns_of(dataset: Any, anchor: str | None, positive: str | None) -> tuple[list[str], list[str], tuple[str, str]]:
    """Anchors, positives, and the names of their columns."""
    names = getattr(dataset, "column_names", None) or getattr(dataset, "columns", None)
    if names is None and isinstance(dataset, Mapping):
        names = list(dataset)
    if names is None:
        pairs = [tuple(pair) for pair in dataset]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs], (anchor or "anchor", positive or "positive")
    names = [str(name) for name in names]
    first = anchor or names[0]
    second = positive or next(name for name in names if name != first)
    return list(dataset[first]), list(dataset[second]), (first, second)

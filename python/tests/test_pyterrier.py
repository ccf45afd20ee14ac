"""The adapters for PyTerrier, in pipelines and an experiment of PyTerrier's; no Java is started."""

from __future__ import annotations

import pytest

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed: `.venv/bin/python -m pip install pyterrier`")

import pandas as pd

from landmark import Cached
from landmark.pyterrier import Reranker, Retriever

DOCUMENTS = [{"docno": f"d{i}", "text": f"number {i} {'abcdefghij'[i % 10]}"} for i in range(30)]
TOPICS = pd.DataFrame({"qid": [f"q{i}" for i in range(5)], "query": [f"item number {4 * i}" for i in range(5)]})
QRELS = pd.DataFrame({"qid": TOPICS["qid"], "docno": [f"d{4 * i}" for i in range(5)], "label": 1})


def overlap(pairs: list[tuple[str, str]]) -> list[float]:
    return [len(set(a.split()) & set(b.split())) / len(set(a.split()) | set(b.split())) for a, b in pairs]


def results() -> pd.DataFrame:
    """All documents for all topics, those with low numbers first."""
    rows = TOPICS.merge(pd.DataFrame(DOCUMENTS), how="cross")
    rows["score"] = -rows["docno"].str[1:].astype(float)
    return pt.model.add_ranks(rows)


def test_a_reranker_ranks_by_the_score_and_pipelines_share_its_calls() -> None:
    model = Cached(overlap, order="given")
    first = pt.Transformer.from_df(results(), uniform=True)
    exact = first >> Reranker(model)
    found = exact(TOPICS)
    assert len(found) == 150 and model.n_calls_ == 150
    best = found[found["rank"] == 0].set_index("qid")["docno"].to_dict()
    assert best == {f"q{i}": f"d{4 * i}" for i in range(5)}
    (first >> Reranker(model, calls_per_query=10))(TOPICS)
    assert model.n_calls_ == 150, "scored before"
    figures = pt.Experiment([first, exact], TOPICS, QRELS, eval_metrics=["recip_rank"], names=["before", "after"])
    values = figures.set_index("name")["recip_rank"]
    assert values["after"] == 1.0 > values["before"]


def test_results_that_are_not_scored_keep_their_order_below_the_others() -> None:
    reranker = Reranker(overlap, calls_per_query=9)
    shuffled = results().sample(frac=1.0, random_state=3)
    found = reranker(shuffled)
    assert reranker.n_calls_ == 5 * 9
    for qid, mine in found.groupby("qid"):
        order = mine.sort_values("rank")["docno"].tolist()
        assert sorted(order[:9]) == sorted(f"d{i}" for i in range(9)), qid
        assert order[9:] == [f"d{i}" for i in range(9, 30)]
    assert len(reranker(shuffled.iloc[:0])) == 0
    with pytest.raises(KeyError, match="text"):
        reranker(shuffled.drop(columns="text"))


def test_a_retriever_finds_what_a_full_scan_finds_and_keeps_to_its_calls() -> None:
    whole = Retriever(overlap, DOCUMENTS, calls_per_query=30, num_results=5)
    found = whole.transform(TOPICS)
    assert whole.n_calls_ == 150 and len(found) == 25
    assert found[found["rank"] == 0]["docno"].tolist() == [f"d{4 * i}" for i in range(5)]
    scores = overlap(list(zip(found["query"], [f"number {d[1:]} {'abcdefghij'[int(d[1:]) % 10]}" for d in found["docno"]])))
    assert found["score"].tolist() == scores
    few = Retriever(overlap, pd.DataFrame(DOCUMENTS), calls_per_query=8, num_results=30)
    assert len(few(TOPICS)) == 150 and few.n_calls_ <= 40
    assert few.search("item number 4").columns.tolist() == ["qid", "query", "docno", "score", "rank"]
    pipeline = few % 10
    assert len(pipeline(TOPICS)) == 50
    assert pt.inspect.transformer_outputs(few, ["qid", "query"]) == ["qid", "query", "docno", "score", "rank"]
    with pytest.raises(ValueError, match="no `documents`"):
        Retriever(overlap, [])

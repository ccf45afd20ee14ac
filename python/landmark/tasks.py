"""What factors are used for: a linear machine, clusters, and the scores of clusters and rankings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._items import plain
from .features import seed_of


class LinearSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector machine by finite Newton or dual coordinate descent, all classes in parallel.

    Parameters
    ----------
    C : cost of an error. loss : `squared_hinge` or `hinge`. multi_class : `one_vs_rest` or `crammer_singer`.
    class_weight : `None`, `"balanced"`, or a weight a class. max_iter : epochs at most. random_state : seed of the order of visits.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        multi_class: str = "one_vs_rest",
        class_weight: str | Mapping[Any, float] | None = None,
        max_iter: int = 1000,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> LinearSvm:
        """Trains."""
        X, y = validate_data(self, plain(X), y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"LinearSvm needs two classes at least, and there is one class: {self.classes_[0]!r}")
        params = {
            "c": float(self.C),
            "loss": self.loss,
            "multi_class": self.multi_class,
            "class_weights": self._weights(),
            "max_epochs": self.max_iter,
        }
        weights, bias, report = _native.train_linear_svm(
            np.ascontiguousarray(X), labels.astype(np.int64), len(self.classes_), json.dumps(params), seed_of(self.random_state)
        )
        self.report_ = json.loads(report)
        self.n_iter_ = max(int(self.report_["epochs"]), 1)
        is_binary = len(self.classes_) == 2
        self.coef_, self.intercept_ = (weights[1:], bias[1:]) if is_binary else (weights, bias)
        return self

    def _weights(self) -> str | dict[str, list[float]]:
        if self.class_weight is None:
            return "equal"
        if isinstance(self.class_weight, Mapping):
            return {"given": [float(self.class_weight.get(name, 1.0)) for name in self.classes_.tolist()]}
        return self.class_weight

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the classes; of the second one alone where there are two."""
        check_is_fitted(self)
        X = validate_data(self, plain(X), reset=False, dtype=np.float64)
        found: NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the highest score, the first in a tie."""
        found = self.decision_function(X)
        best = (found > 0).astype(int) if len(self.classes_) == 2 else found.argmax(axis=1)
        return np.asarray(self.classes_[best])


def average_linkage(
    vectors: ArrayLike, threshold: float, *, signature: ArrayLike | None = None, linkage: str | None = None
) -> NDArray[np.int64]:
    """Clusters of mentions: merged strictly below `threshold` of 1 − similarity.

    `vectors` is Z with its `signature` (average linkage, no n × n matrix is formed), or, with `linkage` (`average`, `single`, `complete`),
    the matrix of similarities itself.
    """
    array = np.ascontiguousarray(vectors, dtype=np.float64)
    if linkage is not None:
        return _native.linkage_clusters(array, threshold, linkage)
    signs = np.ones(array.shape[1]) if signature is None else np.ascontiguousarray(signature, dtype=np.float64)
    return _native.average_linkage(array, signs, threshold)


def coreference_scores(
    key: ArrayLike, response: ArrayLike, *, drop_singletons: bool = False
) -> dict[str, Any]:
    """MUC, B³, CEAFm, CEAFe, BLANC, LEA and CoNLL F1 of cluster labels: one label a mention, of the key and of the response."""
    gold, found = np.asarray(key), np.asarray(response)
    if gold.shape != found.shape or gold.ndim != 1:
        raise ValueError(f"key and response are one label a mention, and these have the shapes {gold.shape} and {found.shape}")
    documents = [(_clusters(gold), _clusters(found))]
    scores: dict[str, Any] = json.loads(_native.coreference_scores(documents, drop_singletons))
    return scores


def _clusters(labels: NDArray[Any]) -> list[list[str]]:
    clusters: dict[Any, list[str]] = {}
    for mention, label in enumerate(labels.tolist()):
        clusters.setdefault(label, []).append(str(mention))
    return list(clusters.values())


def ranking_scores(questions: Sequence[Sequence[tuple[float, bool, bool]]]) -> dict[str, Any]:
    """MAP, AvgRec, MRR, P, R, F1 and accuracy as SemEval-2016 task 3 scores them: of each question (score, predicted, relevant) an answer."""
    asked = [[(float(score), bool(said), bool(is_so)) for score, said, is_so in answers] for answers in questions]
    scores: dict[str, Any] = json.loads(_native.ranking_scores(asked))
    return scores


def methods() -> dict[str, dict[str, Any]]:
    """Every approximator by its id, with its parameters and their defaults."""
    found: dict[str, dict[str, Any]] = json.loads(_native.methods())
    return found

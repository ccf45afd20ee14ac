"""What factors are used for: a linear machine, clusters, and the scores of clusters and rankings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._checks import on_a_copy, one_of, real, whole
from ._items import plain, shown
from .features import seed_of


class LinearSvm(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector machine by finite Newton or dual coordinate descent, all classes in parallel.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss.
    multi_class : {"one_vs_rest", "crammer_singer"}, default="one_vs_rest"
        How more than two classes are separated.
    class_weight : mapping, "balanced" or None, default=None
        Weight of each class.
    max_iter : int, default=1000
        Most epochs.
    random_state : int, RandomState instance or None, default=0
        Seed of the order of visits.

    Examples
    --------
    >>> from landmark import LinearSvm
    >>> LinearSvm().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        multi_class: Literal["one_vs_rest", "crammer_singer"] = "one_vs_rest",
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

    @on_a_copy
    def fit(self, X: Any, y: Any) -> LinearSvm:
        """Train.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        LinearSvm
            The fitted machine.
        """
        X, y = validate_data(self, plain(X), plain(y), dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"LinearSvm needs two classes at least, and there is one class: {self.classes_[0]!r}")
        params = {
            "c": real("C", self.C, above=0.0),
            "loss": one_of("loss", self.loss, ("squared_hinge", "hinge")),
            "multi_class": one_of("multi_class", self.multi_class, ("one_vs_rest", "crammer_singer")),
            "class_weights": self._weights(),
            "max_epochs": whole("max_iter", self.max_iter, 1),
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
            of = {name: real("class_weight", weight, at_least=0.0) for name, weight in self.class_weight.items()}
            return {"given": [of.get(name, 1.0) for name in self.classes_.tolist()]}
        return one_of("class_weight", self.class_weight, ("balanced",))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores; of the second class alone if there are two.
        """
        check_is_fitted(self)
        X = validate_data(self, plain(X), reset=False, dtype=np.float64)
        found: NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the highest score, the first in a tie.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        found = self.decision_function(X)
        best = (found > 0).astype(int) if len(self.classes_) == 2 else found.argmax(axis=1)
        return np.asarray(self.classes_[best])


def average_linkage(
    vectors: ArrayLike, threshold: float, *, signature: ArrayLike | None = None, linkage: Literal["average", "single", "complete"] | None = None
) -> NDArray[np.int64]:
    """Cluster mentions: merge strictly below a threshold of 1 − similarity.

    Parameters
    ----------
    vectors : array-like of shape (n_items, r), or (n_items, n_items) with `linkage`
        Z, or the matrix of similarities.
    threshold : float
        Clusters merge if 1 − similarity is below it.
    signature : array-like of shape (r,), default=None
        Signs of the columns of Z; no n × n matrix is formed.
    linkage : {"average", "single", "complete"} or None, default=None
        Linkage of the matrix of similarities.

    Returns
    -------
    ndarray of shape (n_items,)
        Cluster labels.

    Raises
    ------
    ValueError
        If the matrix is not symmetric.
    """
    threshold = real("threshold", threshold, finite=False)
    array = np.ascontiguousarray(plain(vectors), dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"cannot read `vectors`: expected an array of two dimensions (got the shape {array.shape})")
    if linkage is not None:
        if signature is not None:
            raise ValueError("`signature` is of Z, and `linkage` of the matrix of similarities: leave one of them out")
        one_of("linkage", linkage, ("average", "single", "complete"))
        _check_symmetric(array)
        return _native.linkage_clusters(array, threshold, linkage)
    signs = np.ones(array.shape[1]) if signature is None else np.ascontiguousarray(plain(signature), dtype=np.float64)
    return _native.average_linkage(array, signs, threshold)


def _check_symmetric(matrix: NDArray[np.float64]) -> None:
    """Refuses a square matrix whose two triangles differ by more than rounding."""
    if matrix.shape[0] != matrix.shape[1]:
        return
    most = 1e-8 * float(np.max(np.abs(matrix), initial=0.0))
    for i in range(len(matrix)):
        different = np.flatnonzero(np.abs(matrix[i, i + 1 :] - matrix[i + 1 :, i]) > most)
        if len(different):
            j = i + 1 + int(different[0])
            raise ValueError(
                f"cannot cluster by a matrix that is not symmetric: it has {matrix[i, j]:g} at ({i}, {j}) and {matrix[j, i]:g} at ({j}, {i}); "
                "hand over `(matrix + matrix.T) / 2`"
            )


def coreference_scores(
    key: ArrayLike, response: ArrayLike, *, drop_singletons: bool = False
) -> dict[str, Any]:
    """Score clusters of mentions: MUC, B³, CEAFm, CEAFe, BLANC, LEA and CoNLL F1.

    Parameters
    ----------
    key, response : array-like of shape (n_mentions,)
        True and found cluster labels.
    drop_singletons : bool, default=False
        Leave out clusters of one mention.

    Returns
    -------
    dict
        Precision, recall and F1 by the name of the metric.
    """
    gold, found = np.asarray(plain(key)), np.asarray(plain(response))
    if gold.shape != found.shape or gold.ndim != 1:
        raise ValueError(f"key and response are one label a mention, and these have the shapes {gold.shape} and {found.shape}")
    for name, labels in (("key", gold), ("response", found)):
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            raise ValueError(f"cannot read the labels of the {name}: that of mention {int(np.flatnonzero(np.isnan(labels))[0])} is NaN")
    documents = [(_clusters(gold), _clusters(found))]
    scores: dict[str, Any] = json.loads(_native.coreference_scores(documents, drop_singletons))
    return scores


def _clusters(labels: NDArray[Any]) -> list[list[str]]:
    clusters: dict[Any, list[str]] = {}
    for mention, label in enumerate(labels.tolist()):
        clusters.setdefault(label, []).append(str(mention))
    return list(clusters.values())


def ranking_scores(questions: Sequence[Sequence[tuple[float, bool, bool]]]) -> dict[str, Any]:
    """Score rankings as SemEval-2016 task 3 does: MAP, AvgRec, MRR, P, R, F1 and accuracy.

    Parameters
    ----------
    questions : list of list of tuple
        For each question (score, predicted, relevant) of each answer.

    Returns
    -------
    dict
        Numbers by the name of the metric.
    """
    asked = [
        [(real("score", score), _truth("predicted", predicted), _truth("relevant", is_so)) for score, predicted, is_so in answers] for answers in questions
    ]
    scores: dict[str, Any] = json.loads(_native.ranking_scores(asked))
    return scores


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"cannot use {shown(value)} as `{name}`: expected a truth value")


def methods() -> dict[str, dict[str, Any]]:
    """List the approximators.

    Returns
    -------
    dict of dict
        Parameters and their defaults, by the id of the approximator.
    """
    found: dict[str, dict[str, Any]] = json.loads(_native.methods())
    return found

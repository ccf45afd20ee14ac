"""A judge whose answers vary: how much is estimated, and the factors have less of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from landmark import Cached, JudgeNoise, Landmark, judge_noise

N = 300
POINTS = np.random.default_rng(1).normal(size=(N, 3))
TRUTH = np.exp(-0.5 * np.sum((POINTS[:, None] - POINTS[None]) ** 2, axis=2))


class Judge:
    """The truth, and noise that is drawn again for each answer."""

    def __init__(self, scale: float, seed: int = 0) -> None:
        self.scale, self.rng, self.calls = scale, np.random.default_rng(seed), 0

    def __call__(self, pairs: list[tuple[int, int]]) -> np.ndarray:
        self.calls += len(pairs)
        rows, columns = np.array(pairs).T
        return TRUTH[rows, columns] + self.rng.normal(scale=self.scale, size=len(pairs))


def fitted(noise: object = None, **settings: object) -> Landmark:
    return Landmark(Judge(0.15), 60, order="symmetric", diagonal=1.0, noise=noise, **settings).fit(range(N))  # type: ignore[arg-type]


def error_of(lm: Landmark) -> float:
    """Against the noiseless matrix."""
    away = ~np.eye(N, dtype=bool)
    everything = np.arange(N)
    return float(np.linalg.norm((lm.similarities(everything, everything) - TRUTH)[away]) / np.linalg.norm(TRUTH[away]))


@pytest.mark.parametrize("repeats", [2, 4])
def test_the_noise_of_a_judge_is_within_its_interval_as_often_as_it_says(repeats: int) -> None:
    held = 0
    for seed in range(120):
        noise = judge_noise(Judge(0.1, seed), range(N), n_pairs=150, repeats=repeats, random_state=seed)
        held += noise.interval[0] <= 0.01 <= noise.interval[1]
    # 95% of 120 are 114; four standard deviations are 10
    assert held >= 104, held


def test_noise_that_differs_from_pair_to_pair_is_their_mean() -> None:
    rows, columns = np.triu_indices(N, 1)
    wanted = np.mean((0.05 * (1 + (rows + columns) % 4)) ** 2)
    held = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)

        def judge(pairs: list[tuple[int, int]], rng: np.random.Generator = rng) -> list[float]:
            return [TRUTH[i, j] + rng.normal(scale=0.05 * (1 + (i + j) % 4)) for i, j in pairs]

        noise = judge_noise(judge, range(N), n_pairs=150, random_state=seed)
        held += noise.interval[0] <= wanted <= noise.interval[1]
    assert held >= 104, held


def test_reliability_is_the_share_of_the_variance_that_is_signal_and_repeats_are_counted() -> None:
    judge = Judge(0.2)
    noise = judge_noise(judge, range(N), n_pairs=3000, repeats=3)
    rows, columns = np.triu_indices(N, 1)
    signal = TRUTH[rows, columns].var()
    assert noise.n_calls == judge.calls == 9000
    assert abs(noise.reliability - signal / (signal + 0.04)) < 0.03
    steady = judge_noise(lambda pairs: [TRUTH[i, j] for i, j in pairs], range(N))
    assert (steady.variance, steady.interval, steady.reliability) == (0.0, (0.0, 0.0), 1.0)
    # both orders are one answer, of half the variance
    both = judge_noise(Judge(0.2), range(N), n_pairs=3000, order="mean")
    assert both.n_calls == 12000 and abs(both.variance - 0.02) < 0.002
    # a cache is not asked, but its model
    cached = Cached(Judge(0.2), order="symmetric")
    cached([(0, 1)] * 3)
    assert judge_noise(cached, range(N), n_pairs=500).variance > 0.03


def test_shrunk_entries_are_nearer_to_the_noiseless_matrix() -> None:
    noise = judge_noise(Judge(0.15, 7), range(N), n_pairs=500)
    raw, less = fitted(), fitted(noise)
    columns = less.component_indices_
    away = columns[None, :] != np.arange(N)[:, None]
    judged = np.linalg.norm((raw.similarities(np.arange(N), columns) - TRUTH[:, columns])[away])
    shrunk = np.linalg.norm((less.similarities(np.arange(N), columns) - TRUTH[:, columns])[away])
    assert shrunk < 0.6 * judged, (shrunk, judged)
    assert error_of(less) < 0.75 * error_of(raw), (error_of(less), error_of(raw))
    assert less.n_calls_ == raw.n_calls_ and less.report_["noise"]["variance"] == noise.variance
    for settings in ({"method": "sicur"}, {"method": "nystrom"}, {"landmarks": "kmeans++"}, {"proxy": POINTS}):
        before, after = fitted(error_samples=0, **settings), fitted(noise, error_samples=0, **settings)
        assert error_of(after) < error_of(before) and after.n_calls_ == before.n_calls_, settings
    # without noise nothing is shrunk
    assert fitted(0.0).embedding_.tobytes() == raw.embedding_.tobytes()


def test_errors_are_stated_against_the_judge_the_mean_answer_and_labels() -> None:
    noise = judge_noise(Judge(0.15, 7), range(N), n_pairs=4000)
    lm = fitted(noise, error_samples=0)
    rows, columns = noise.pairs.T
    labels = TRUTH[rows, columns]
    found = noise.errors(lm, labels)
    everything = np.arange(N)
    estimates = lm.similarities(everything, everything)
    away = ~np.eye(N, dtype=bool)
    truth = error_of(lm)
    judged = np.sqrt(np.mean((estimates - TRUTH)[away] ** 2) + 0.15**2) / np.sqrt(np.mean(TRUTH[away] ** 2) + 0.15**2)
    assert abs(found.noiseless - truth) < 0.05 and abs(found.judge - judged) < 0.05
    assert found.labels is not None and abs(found.labels - truth) < 0.05
    assert found.judge_labels is not None and abs(found.judge_labels - 0.15 / np.sqrt(np.mean(labels**2))) < 0.05
    with pytest.raises(ValueError, match="one finite number per pair"):
        noise.errors(lm, labels[:-1])


def test_the_error_of_a_fit_is_against_the_answers_of_the_judge() -> None:
    noise = np.random.default_rng(3).normal(scale=0.15, size=(N, N))
    answers = TRUTH + np.triu(noise, 1) + np.triu(noise, 1).T
    lm = Landmark(
        lambda pairs: [answers[i, j] for i, j in pairs], 60, order="symmetric", diagonal=1.0, noise=0.15**2, error_samples=4000
    ).fit(range(N))
    away = ~np.eye(N, dtype=bool)
    estimates = lm.similarities(np.arange(N), np.arange(N))
    wanted = np.linalg.norm((estimates - answers)[away]) / np.linalg.norm(answers[away])
    assert lm.error_interval_ is not None and lm.error_interval_[0] <= wanted <= lm.error_interval_[1], (lm.error_, wanted)
    unseen = away.copy()
    unseen[lm.component_indices_] = unseen[:, lm.component_indices_] = False
    noiseless = np.linalg.norm((estimates - TRUTH)[unseen]) / np.linalg.norm(TRUTH[unseen])
    assert lm.error_report_ is not None and abs(lm.error_report_["noiseless"] - noiseless) < 0.05


def test_searches_list_what_the_judge_said() -> None:
    judge = Judge(0.15)
    answers: dict[tuple[int, int], float] = {}

    def remembered(pairs: list[tuple[int, int]]) -> np.ndarray:
        found = judge(pairs)
        answers.update(((min(pair), max(pair)), score) for pair, score in zip(pairs, found.tolist()))
        return found

    lm = Landmark(remembered, 40, order="symmetric", diagonal=1.0, noise=0.15**2, error_samples=0).fit(range(N))
    before = lm.n_calls_
    similarities, items = lm.kneighbors(n_neighbors=5, calls_per_item=60)
    assert before < lm.n_calls_ == judge.calls
    told = [answers[min(i, j), max(i, j)] for i in range(N) for j in items[i].tolist()]
    assert np.array_equal(similarities.ravel(), told)
    again = pickle.loads(pickle.dumps(lm.set_params(similarity=None)))
    assert again.embedding_.tobytes() == lm.embedding_.tobytes()


def test_noise_that_cannot_be_used_is_an_error_before_the_first_call() -> None:
    judge = Judge(0.1)
    for settings, message in [({"gamma": 1.0}, "gamma"), ({"scattered": {"columns": 0.5}}, "scattered"), ({"known": False}, "known"), ({"method": "sms_nystrom"}, "the method `sms_nystrom`")]:
        with pytest.raises(ValueError, match=message):
            Landmark(judge, 10, order="symmetric", noise=0.1, **settings).fit(range(N))
    with pytest.raises(ValueError, match="a variance"):
        Landmark(judge, 10, order="symmetric", noise=-1.0).fit(range(N))
    with pytest.raises(ValueError, match="pairs of different items"):
        judge_noise(judge, [1, 1, 1])
    assert judge.calls == 0
    assert isinstance(judge_noise(judge, range(3)), JudgeNoise)

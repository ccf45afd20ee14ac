"""Bounds on recall by SciPy and NumPy, independent of the Rust code: writes recall.json next to this file.

    python3 recall.py        # needs numpy and scipy
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv
from scipy.stats import beta, binomtest, norm, t

rng = np.random.default_rng(20)


def beta_cases():
    cases = []
    for a, b in [(0.5, 0.5), (1, 1), (3, 1), (30, 1), (27.3, 3.7), (2.5, 40.25), (400, 25), (5000.5, 300.25), (0.02, 5), (90000, 12000)]:
        cases += [{"a": a, "b": b, "p": p, "quantile": float(betaincinv(a, b, p))} for p in (0.01, 0.05, 0.1, 0.2, 0.5, 0.9)]
    return cases


def incomplete_cases():
    return [
        {"a": a, "b": b, "x": x, "value": float(betainc(a, b, x))}
        for a, b in [(0.5, 0.5), (2, 3), (27.3, 3.7), (400, 25)]
        for x in (0.02, 0.3, 0.5, 0.8, 0.93, 0.999)
    ]


def lower(found, draws, delta):
    return 0.0 if found <= 0 else float(beta.ppf(delta, found, draws - found + 1))


def kl_bound(x, delta):
    v, m = len(x), np.mean(x)
    if m == 0:
        return 0.0
    kl = lambda p: (m * np.log(m / p)) + ((1 - m) * np.log((1 - m) / (1 - p)) if m < 1 else 0.0)
    excess = lambda p: v * kl(p) - np.log(1 / delta)
    return brentq(excess, 1e-12, m - 1e-15 if m < 1 else 1 - 1e-15, xtol=1e-14)


def betting_bound(x, delta):
    x = np.asarray(x)
    if x.max() == 0:
        return 0.0
    wealth = lambda p: np.mean([np.prod(1 + g / p * (x - p)) for g in (0.2, 0.4, 0.6, 0.8, 1.0)]) - 1 / delta
    return brentq(wealth, 1e-9 + x.mean() / 100, max(x.mean(), 1e-6), xtol=1e-14)


def audit_path(paths, k, n, s, rho, delta, kind):
    """Lower bounds of the recall of all n lists, effort by effort, and the first effort that reaches rho."""
    v, others = len(paths[0]), n - s
    needed = (rho * n - s) / others
    out, stop = [], None
    for e, x in enumerate(paths):
        m = np.mean(x)
        if kind == "clopper_pearson":
            hits = int(round(m * v))
            low = binomtest(hits, v).proportion_ci(confidence_level=1 - 2 * delta, method="exact").low
        elif kind == "kl":
            low = kl_bound(x, delta)
        else:
            low = betting_bound(x, delta)
        out.append({"estimate": (s + others * m) / n, "lower": (s + others * low) / n})
        if stop is None and low >= needed:
            stop = e
    return out, stop


def audit_cases():
    cases = []
    for kind, k, v, n, s, rho, delta, spread in [
        ("clopper_pearson", 1, 45, 500, 2, 0.9, 0.1, None),
        ("kl", 1, 60, 1000, 0, 0.9, 0.1, None),
        ("kl", 10, 60, 1000, 5, 0.8, 0.2, 4.0),
        ("betting", 10, 60, 1000, 5, 0.9, 0.1, 4.0),
        ("betting", 20, 80, 700, 14, 0.95, 0.05, 20.0),
    ]:
        # each neighbor of each row has the effort at which it is found
        hardness = rng.gamma(2.0, 1.0, size=v) if spread else np.ones(v)
        found_at = rng.exponential(size=(v, k)) * (1 if spread is None else hardness[:, None])
        efforts = 0.4 * 1.2 ** np.arange(18)
        paths = [(found_at <= e).mean(axis=1).tolist() for e in efforts]
        steps, stop = audit_path(paths, k, n, s, rho, delta, kind)
        cases.append({"bound": kind, "k": k, "items": n, "landmarks": s, "recall": rho, "delta": delta, "shares": paths, "steps": steps, "stop": stop})
    return cases


def pair_threshold(n, estimates, between, rho, delta):
    s = len(estimates)
    T = np.array([len(e) for e in estimates], float)
    inside, off = T.sum() + between, T.sum() * (n - s) / (2 * s)
    needed = max(0.0, (rho * (inside + off) - inside) / off)
    sizes, least, rows = [], None, []
    telling = T.sum() ** 2 / (T**2).sum()
    trust = (norm.ppf(delta) / t.ppf(delta, max(telling - 1, 1))) ** 2
    for theta in sorted({e for one in estimates for e in one}, reverse=True):
        A = np.array([sum(e >= theta for e in one) for one in estimates], float)
        R = A.sum() / T.sum()
        err = A - R * T
        var = (1 - s / n) * s / (s - 1) * (err**2).sum() / T.sum() ** 2
        if 0.3 < R < 1 and var > 0:
            least = R if least is None else least
            if R <= max(needed, least):
                sizes.append(R * (1 - R) / var)
        draws = np.median(sizes[-10:]) if sizes else telling
        draws = trust * min(draws, T.sum() / (1 - s / n))
        rows.append((theta, R, lower(R * draws, draws, delta)))
    passing = None
    for row in reversed(rows):
        if row[2] < needed:
            break
        passing = row
    out = {"needed": needed}
    if passing is not None:
        of_all = lambda r: (inside + r * off) / (inside + off)
        out |= {"threshold": passing[0], "estimated_recall": of_all(passing[1]), "lower": of_all(passing[2])}
    return out


def pair_cases():
    cases = []
    for n, s, mean, between, rho, delta in [(500, 40, 3.0, 4, 0.8, 0.2), (800, 60, 2.0, 3, 0.9, 0.1), (400, 25, 12.0, 9, 0.95, 0.05), (900, 30, 0.2, 0, 0.9, 0.1)]:
        counts = rng.poisson(rng.gamma(1.0, mean, size=s))
        shift = rng.normal(0, 0.05, size=s)
        estimates = [[round(float(v), 4) for v in 0.7 + shift[l] + 0.1 * rng.normal(size=c)] for l, c in enumerate(counts)]
        cases.append({"items": n, "between": between, "recall": rho, "delta": delta, "estimates": estimates, **pair_threshold(n, estimates, between, rho, delta)})
    return cases


golden = {"quantiles": beta_cases(), "incomplete": incomplete_cases(), "audits": audit_cases(), "pairs": pair_cases()}
Path(__file__).with_name("recall.json").write_text(json.dumps(golden) + "\n")
for case in golden["audits"]:
    print(case["bound"], case["k"], case["stop"], [round(s["lower"], 3) for s in case["steps"]][:18:3])
for case in golden["pairs"]:
    print({key: case.get(key) for key in ("needed", "threshold", "estimated_recall", "lower")}, sum(map(len, case["estimates"])))

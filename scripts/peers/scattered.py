#!/usr/bin/env python3
"""Golden values of scattered entries and of the stack, by an independent NumPy program: σ, the predicted √|residual| and the pairs it
selects; level 0 (q, item effects, kriging of columns), level 1 (the regression) and the kriging of rows.

    python3 scripts/peers/scattered.py > crates/core/tests/golden/scattered.json
    python3 scripts/peers/scattered.py --stack > crates/core/tests/golden/stack.json
    python3 scripts/peers/scattered.py --export NAME MATRICES FOLDER       # what the example `scattered_table` reads

The formulas are those at the head of scattered.rs, stack.rs and stack/krige.rs in crates/core/src/approximate. Needs NumPy.
"""

import json
import pathlib
import sys

import numpy as np

PRIOR, RIDGE = 5.0, 1e-4


def ridge(x, y):
    """y as a linear function of standardised features, λ = 1e-4 · mean eigenvalue; the answer takes features as they are."""
    mean, deviation = x.mean(0), x.std(0)
    z = (x - mean) / deviation
    a = z.T @ z / len(z)
    w = np.linalg.solve(a + RIDGE * np.trace(a) / len(a) * np.eye(len(a)), z.T @ (y - y.mean()) / len(z))
    return lambda new: (new - mean) / deviation @ w + y.mean()


def features(m, one, other, scale, proxies):
    tau = one * other / scale
    own = [m, m**2, m**3, one + other, tau, tau * m, tau * m**2, np.sqrt(tau)]
    return np.stack(own + [f for p in proxies for f in (p, p**2, p * m, p * tau)], -1)


def residual_sizes(n, i, j, m, k, predicted, proxies):
    """σ of every item and v of every pair, from rows (i, j, m, k) of a table."""
    square = (k - m) ** 2
    mean = square.mean()
    total = np.bincount(i, square, n) + np.bincount(j, square, n)
    count = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
    sigma = np.sqrt((total + PRIOR * mean) / (count + PRIOR))

    def without(item):
        return np.sqrt((total[item] - square + PRIOR * mean) / (count[item] - 1 + PRIOR))

    scale = np.sqrt(mean)
    model = ridge(features(m, without(i), without(j), scale, [p[i, j] for p in proxies]), np.sqrt(np.abs(k - m)))
    all_i, all_j = np.indices((n, n)).reshape(2, -1)
    wide = features(predicted[all_i, all_j], sigma[all_i], sigma[all_j], scale, [p[all_i, all_j] for p in proxies])
    return sigma, model(wide).reshape(n, n)


def case(seed, n, columns, proxies, extra, wanted):
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.1, 1.0, n)
    factor = rng.standard_normal((n, 2))
    predicted = factor @ np.diag([1.0, -1.0]) @ factor.T
    error = rng.standard_normal((n, n)) * np.outer(noise, noise)
    k = predicted + (error + error.T) / 2
    p = [(lambda a: a @ a.T / 3)(rng.standard_normal((n, 3))) for _ in range(proxies)]
    rows = [(i, j) for j in columns for i in range(n) if i != j]
    free = [(i, j) for i in range(n) for j in range(i + 1, n) if i not in columns and j not in columns]
    more = [free[x] for x in rng.permutation(len(free))[:extra]]
    i, j = np.array(rows + more).T
    # a table's prediction is not quite the model's: it comes from smaller fits
    m = predicted[i, j] + 0.05 * rng.standard_normal(len(i))
    sigma, v = residual_sizes(n, i, j, m, k[i, j], predicted, p)
    left = sorted(set(free) - set(more), key=lambda pair: -v[pair])
    return {
        "id": f"{n} items, {proxies} proxies, {extra} scattered",
        "items": n,
        "columns": columns,
        "factor": factor.tolist(),
        "proxies": [x.tolist() for x in p],
        "rows": [[int(a), int(b)] for a, b in zip(i, j)],
        "predicted": m.tolist(),
        "scores": k[i, j].tolist(),
        "extra": [list(pair) for pair in more],
        "expected": {"sigma": sigma.tolist(), "sizes": v.tolist(), "pairs": sorted(map(list, left[:wanted]))},
    }


def alike(rows, sharpness):
    """exp(sharpness · (cosine − 1)) of centered rows."""
    rows = rows - rows.mean(0)
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    return np.exp(sharpness * (rows @ rows.T - 1))


def stack_case(seed, n, columns, proxies, degree, extra):
    rng = np.random.default_rng(seed)
    s = len(columns)
    symmetric = lambda d: (lambda a: a @ a.T / d)(rng.standard_normal((n, d)))
    p, vectors = [symmetric(3) for _ in range(proxies)], rng.standard_normal((n, 4))
    effect, noise = rng.standard_normal(n), rng.standard_normal((n, n))
    k = 0.3 * effect[:, None] + 0.3 * effect + 0.1 * (noise + noise.T) + 0.2 * symmetric(5)
    k += sum(0.3 * x + 0.1 * x**2 for x in p)
    off = np.ones((n, s), bool)
    off[columns, range(s)] = False
    powers = [p[0] ** d for d in range(1, degree + 1)] + [f for x in p[1:] for f in (x, x**2)]
    a = np.stack([np.ones((n, n))] + powers, -1)
    coefficients = np.linalg.lstsq(a[:, columns][off], k[:, columns][off], rcond=None)[0]
    q = a @ coefficients
    r = np.where(off, (k - q)[:, columns], 0.0)
    count = s - np.isin(np.arange(n), columns)
    effects = r.sum(1) / (count + 1)
    ge = alike(vectors, 3.0)
    ge /= np.mean(np.diag(ge))
    c = r / np.sqrt((r**2).mean(1))[:, None]
    g = ge + c @ c.T / np.mean((c * c).sum(1)) + 1
    w = r[columns]
    alpha = np.linalg.solve(g[np.ix_(columns, columns)] + 0.2 * np.eye(s), g[columns])
    kriged = r @ alpha + (r @ alpha).T - alpha.T @ w @ alpha
    # level 1: any features, any target
    x = rng.standard_normal((40, 5)) * [1, 10, 0.1, 1, 3] + [0, 5, 0, 100, 0]
    y = x @ [1, 0.2, 3, 0.01, 0] + 0.1 * rng.standard_normal(40)
    # the rows of a table, and what their kriging predicts
    rows = [(i, j) for j in columns for i in range(n) if i not in columns]
    free = [(i, j) for i in range(n) for j in range(i + 1, n) if i not in columns and j not in columns]
    rows += [free[e] for e in rng.permutation(len(free))[:extra]]
    residuals = rng.standard_normal(len(rows))
    gc = alike(np.where(off, k[:, columns], 0.0), 2.0)
    # alike() centers by columns, over all items
    both = ge + gc
    both /= np.mean(np.diag(both))
    values, basis = np.linalg.eigh(both[np.ix_(columns, columns)])
    keep = values > 1e-8 * values.max()
    phi = both[:, columns] @ basis[:, keep] / np.sqrt(values[keep])
    worth = 1 / (1 + np.maximum(np.diag(both) - (phi**2).sum(1), 0))
    weights = np.zeros_like(phi)
    for i in range(n):
        seen = [(b if a_ == i else a_, e) for (a_, b), e in zip(rows, residuals) if i in (a_, b)]
        if seen:
            items, e = np.array([j for j, _ in seen]), np.array([e for _, e in seen])
            f = phi[items]
            weights[i] = np.linalg.solve(f.T @ (worth[items][:, None] * f) + np.eye(f.shape[1]), f.T @ (worth[items] * e))
    return {
        "id": f"{n} items, {proxies} proxies",
        "columns": columns,
        "degree": degree,
        "scores": k.tolist(),
        "proxies": [x.tolist() for x in p],
        "vectors": vectors.tolist(),
        "features": x.tolist(),
        "target": y.tolist(),
        "rows": [[int(i), int(j)] for i, j in rows],
        "residuals": residuals.tolist(),
        "expected": {
            "link": q.tolist(),
            "effects": effects.tolist(),
            "kriged_columns": kriged.tolist(),
            "regression": ridge(x, y)(x).tolist(),
            "kriged_rows": (weights @ phi.T).tolist(),
        },
    }


def export(name, matrices, folder):
    """Writes K.f64, proxy0.f64, … and vectors.f64 of `tweets`, `recipes`, `trees` or a synthetic matrix."""
    files, folder = pathlib.Path(matrices), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    vectors = None
    if name in ("tweets", "recipes"):
        z, gamma = np.load(files / {"tweets": "tweets700.npz", "recipes": "recipes600.npz"}[name]), {"tweets": 1.25}.get(name, 3.0)
        k = np.exp(-gamma * z["wmd"].astype(float))
        cheap, vectors = [np.exp(-gamma * z[x].astype(float)) for x in ("rwmd", "wcd", "rwmin")] + [z["bow"]], z["C"]
    elif name == "trees":
        z = np.load(files / "trees500.npz")
        k, cheap, vectors = z["K"].astype(float), [z[x] for x in ("bow", "tfidf", "wv")], z["E"]
    else:
        k, cheap = np.load(files / f"synthetic_{name}500.npy").astype(float), []
    if cheap:
        length = z["L"].astype(float)
        cheap.append(-np.abs(length[:, None] - length) / (length[:, None] + length))
        np.fill_diagonal(k, 1.0)
        np.asarray(vectors, float).tofile(folder / "vectors.f64")
    ((k + k.T) / 2).tofile(folder / "K.f64")
    for number, p in enumerate(cheap):
        p = np.asarray(p, float)
        ((p + p.T) / 2).tofile(folder / f"proxy{number}.f64")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--export"]:
        export(*sys.argv[2:])
        sys.exit()
    if sys.argv[1:] == ["--stack"]:
        print(json.dumps({"cases": [stack_case(4, 14, [3, 8, 1, 11], 1, 3, 5), stack_case(5, 16, [9, 2, 14, 5, 0], 3, 2, 8)]}))
        sys.exit()
    cases = [case(1, 14, [2, 7, 11], 0, 0, 9), case(2, 16, [0, 5, 9, 15], 1, 6, 12), case(3, 15, [3, 4, 8], 2, 4, 10)]
    print(json.dumps({"cases": cases}))

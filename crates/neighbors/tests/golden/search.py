"""Golden cases of the search of queries among items (search.json), by NumPy alone: python3 search.py > search.json

An independent twin of crates/neighbors/src/search: dense kernels and general solvers instead of factors and combinations.
"""

import json

import numpy as np

ROUNDS, SHARE, RIDGE = 4, 0.2, 0.3


def design(p, h, hq):
    return np.stack([np.ones_like(p), p, p * p, h, hq, h * hq], -1)


def best(values, known, count):
    order = np.lexsort((np.arange(len(values)), -values))
    return [int(j) for j in order if not known[j]][:count]


def build(C, p_items, p_anchors, P):
    n, a = C.shape
    column = C.mean(0)
    h = np.array([np.mean([C[i, l] - column[l] for l in range(a)]) for i in range(n)])
    without = np.array([[np.mean([C[i, k] - column[k] for k in range(a) if k != l]) for l in range(a)] for i in range(n)])
    sd = np.std(h)
    h, without = h / sd, without / sd
    hq = column - column.mean()
    hq = hq / np.std(hq)
    if p_items is None:
        mu, dev, p = 0.0, 1.0, np.zeros(C.shape)
    else:
        mu, dev = p_items.mean(), p_items.std()
        p = (p_items - mu) / dev
    X = design(p, without, np.broadcast_to(hq, C.shape)).reshape(-1, 6)
    ridge = 1e-4 * C.size * np.diag([0, 1, 1, 1, 1, 1])
    t = np.linalg.solve(X.T @ X + ridge, X.T @ C.ravel())
    R = C - (X @ t).reshape(C.shape)
    Z = R / np.linalg.norm(R, axis=1, keepdims=True)
    Y = C - column
    Y = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    profiles = (Z @ Z.T + Y @ Y.T) / 2
    G = profiles if P is None else (P + profiles) / 2
    return dict(t=t, mu=mu, dev=dev, h=h, R=R, G=G, anchors=p_anchors)


def prior(index, pq, pa):
    n = len(index["h"])
    p = np.zeros(n) if pq is None else (pq - index["mu"]) / index["dev"]
    F = design(p, index["h"], np.zeros(n)) @ index["t"]
    if pa is not None:
        F = F + index["R"] @ (np.linalg.inv(index["anchors"] + RIDGE * np.eye(len(pa))) @ pa)
    return F


def ours(index, pq, pa, truth, b):
    F = prior(index, pq, pa)
    G, n = index["G"], len(F)
    E, O, known = F, [], np.zeros(n, bool)
    for r in range(ROUNDS):
        m = (b - len(O)) // (ROUNDS - r)
        k = 0 if pq is None else int(np.floor(SHARE * m + 0.5))
        new = best(pq, known, k) if k else []
        known[new] = True
        more = best(E, known, m - k)
        known[more] = True
        O += new + more
        if new or more:
            E = F + G[:, O] @ np.linalg.inv(G[np.ix_(O, O)] + RIDGE * np.eye(len(O))) @ (truth[O] - F[O])
    E = E.copy()
    E[O] = truth[O]
    return O, E


def anncur(C, items, truth, b):
    O = list(items)
    E = C @ np.linalg.pinv(C[O]) @ truth[O]
    known = np.zeros(len(truth), bool)
    known[O] = True
    O = O + best(E, known, b - len(O))
    E = E.copy()
    E[O] = truth[O]
    return O, E


def axn(C, pq, truth, b):
    n, a = C.shape
    lam = 0.01 * np.mean(np.sum(C * C, axis=1))
    E, O, known = pq, [], np.zeros(n, bool)
    for r in range(ROUNDS):
        new = best(E, known, (b - len(O)) // (ROUNDS - r))
        known[new] = True
        O += new
        if new:
            # the primal form of the regression
            E = C @ np.linalg.solve(C[O].T @ C[O] + lam * np.eye(a), C[O].T @ truth[O])
    E = E.copy()
    E[O] = truth[O]
    return O, E


def rerank(pq, truth, b):
    O = best(pq, np.zeros(len(pq), bool), b)
    E = pq.copy()
    E[O] = truth[O]
    return O, E


def numbers(x):
    return np.round(x, 6).tolist()


def case(seed, n, a, with_proxy, budgets):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n + a + 2, 5))
    popular = rng.normal(size=n + a + 2)
    S = np.round(np.tanh(0.4 * latent @ latent.T + 0.5 * np.add.outer(popular, popular)), 6)
    V = np.round(latent[:, :3] + 0.3 * rng.normal(size=(n + a + 2, 3)), 6)
    U = V / np.linalg.norm(V, axis=1, keepdims=True)
    P = U @ U.T
    I, A = np.arange(n), np.arange(n, n + a)
    C = S[np.ix_(I, A)]
    index = build(C, P[np.ix_(I, A)], P[np.ix_(A, A)], P[np.ix_(I, I)]) if with_proxy else build(C, None, None, None)
    out = dict(seed=seed, with_proxy=with_proxy, C=numbers(C), vectors=numbers(V), link=numbers(index["t"]),
               popularity=numbers(index["h"]), queries=[])
    for q in (n + a, n + a + 1):
        truth, pq, pa = S[I, q], (P[I, q] if with_proxy else None), (P[A, q] if with_proxy else None)
        found = []
        for b in budgets:
            O, E = ours(index, pq, pa, truth, b)
            runs = dict(ours=dict(asked=O, scores=numbers(E)))
            anchor_items = [int(j) for j in rng.choice(n, (b + 1) // 2, replace=False)]
            O, E = anncur(C, anchor_items, truth, b)
            runs["anncur"] = dict(anchor_items=anchor_items, asked=O, scores=numbers(E))
            if with_proxy:
                for name, (O, E) in dict(axn=axn(C, pq, truth, b), rerank=rerank(pq, truth, b)).items():
                    runs[name] = dict(asked=O, scores=numbers(E))
            found.append(dict(calls=b, runs=runs))
        out["queries"].append(dict(scores=numbers(truth), prior=numbers(prior(index, pq, pa)), found=found))
    return out


print(json.dumps(dict(cases=[case(1, 24, 7, True, [3, 8, 24]), case(2, 24, 7, False, [8]), case(3, 30, 12, True, [13])])))

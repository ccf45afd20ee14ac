"""ROUNDS in NumPy, written from its description and not from the Rust: the twin of crates/neighbors/src/nearest.

    python scripts/peers/rounds.py golden > crates/neighbors/tests/golden/rounds.json

makes the values that the Rust is held against. All of K is available here, E is an n x n matrix, and candidates are a mask, so it is
for small n only. Needs numpy.
"""
import json
import sys

import numpy as np

RIDGES = [0.03, 0.1, 0.3, 1.0, 3.0]


def cosine(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def hubness(K, columns):
    """h, and h without each of the columns."""
    V = K[:, columns].copy()
    V[columns, np.arange(len(columns))] = np.nan
    V -= np.nanmean(V, axis=0)

    def mean(V):
        count = (~np.isnan(V)).sum(axis=1)
        return np.where(count > 0, np.nansum(V, axis=1) / np.maximum(count, 1), 0.0)

    h = mean(V)
    sd = h.std() or 1.0
    return h / sd, [mean(np.delete(V, a, axis=1)) / sd for a in range(len(columns))]


def places(F, may, count):
    """The `count` pairs of the mask `may` that stand highest in the row of either item."""
    n = len(F)
    rank = np.empty((n, n), int)
    order = np.argsort(-F, axis=1, kind="stable")
    rank[np.arange(n)[:, None], order] = np.arange(n)
    i, j = np.triu_indices(n, 1)
    keep = may[i, j]
    i, j = i[keep], j[keep]
    best = np.lexsort((j, i, -F[i, j], np.minimum(rank, rank.T)[i, j]))[:count]
    return i[best], j[best]


def best_mask(F, width):
    mask = np.zeros(F.shape, bool)
    np.put_along_axis(mask, np.argsort(-F, axis=1, kind="stable")[:, :width], True, axis=1)
    return mask | mask.T


class Rounds:
    def __init__(self, K, proxies, columns, judges, b, k, rounds=4, share=0.2, first=1, width=None):
        # K as it is, and as the link and kriging see it
        self.raw, self.K, self.transform = K, K, None
        self.P, self.S, self.judges = proxies, list(columns), list(judges)
        self.b, self.k, self.rounds, self.share, self.first = b, k, rounds, share, first
        self.n = len(K)
        self.width = self.n - 1 if width is None else width
        self.batches, self.lambdas, self.ranked = [], [], []
        self.proxy_order = list(range(len(proxies)))

    def to_ranks(self, known):
        """K becomes the logit of its rank among the scores of the mask `known`, ties half below; between them it is interpolated."""
        distinct, counts = np.unique(self.raw[np.triu(known, 1)], return_counts=True)
        self.K, self.transform = self.raw, None
        if len(distinct) > 1:
            p = (np.cumsum(counts) - counts / 2) / counts.sum()
            self.transform = distinct, np.log(p / (1 - p))
            self.K = np.interp(self.raw, *self.transform)

    def order(self, rows):
        """Each proxy alone, [1, p, p^2], on these rows of columns left out; the best first."""

        def terms(p, mean, sd):
            t = (p - mean) / sd
            return np.stack([np.ones_like(t), t, t * t], axis=-1)

        def error(P):
            total = 0.0
            for l in self.S:
                kept = [m for m in self.S if m != l]
                p, y = P[np.ix_(rows, kept)].ravel(), self.K[np.ix_(rows, kept)].ravel()
                scale = p.mean(), p.std() or 1.0
                X = terms(p, *scale)
                ridge = 1e-4 * len(y) * np.diag([0.0, 1.0, 1.0])
                theta = np.linalg.solve(X.T @ X + ridge, X.T @ y)
                total += ((self.K[rows, l] - terms(P[rows, l], *scale) @ theta) ** 2).sum()
            return total

        return sorted(range(len(self.P)), key=lambda a: error(self.P[a]))

    def expand(self, E):
        """Pairs of an item with the proxy's nearest of those that it scores best with beyond the link."""
        nearest = np.argsort(-self.outside(self.P[0]), axis=1, kind="stable")[:, :8]
        for i, row in enumerate(np.where(self.known, self.K - E, -np.inf)):
            friends = [o for o in np.argsort(-row, kind="stable")[:8] if row[o] > 0]
            for o in friends:
                theirs = nearest[o][nearest[o] != i]
                self.wider[i, theirs] = self.wider[theirs, i] = True

    def outside(self, F):
        F = F.copy()
        np.fill_diagonal(F, -np.inf)
        return F

    def terms(self, p, total, product):
        terms = [np.ones_like(p[0]) if p else np.ones(np.broadcast(total, product).shape)]
        if self.S:
            terms += [total + 0 * terms[0], product + 0 * terms[0]]
        terms += p
        terms += [p[a] * p[b] for a in range(len(p)) for b in range(a, len(p))]
        return np.stack(terms, axis=-1)

    def link(self):
        I, J, hi, hj = [], [], [], []
        for a, l in enumerate(self.S):
            i = np.delete(np.arange(self.n), l)
            i = i[self.known[i, l]]
            I.append(i), J.append(np.full(len(i), l))
            hi.append(self.without[a][i]), hj.append(np.full(len(i), self.h[l]))
        free = np.ones(self.n, bool)
        free[self.S] = False
        i, j = np.nonzero(np.triu(self.known, 1) & free[:, None] & free[None, :])
        I, J = np.concatenate(I + [i]), np.concatenate(J + [j])
        hi, hj = np.concatenate(hi + [self.h[i]]), np.concatenate(hj + [self.h[j]])
        mean = [p[I, J].mean() for p in self.P]
        sd = [p[I, J].std() or 1.0 for p in self.P]
        standard = [(p - m) / s for p, m, s in zip(self.P, mean, sd)]
        X = self.terms([p[I, J] for p in standard], hi + hj, hi * hj)
        ridge = 1e-4 * len(I) * np.eye(X.shape[1])
        ridge[0, 0] = 0.0
        theta = np.linalg.solve(X.T @ X + ridge, X.T @ self.K[I, J])
        h = self.h
        return self.terms(standard, h[:, None] + h[None, :], h[:, None] * h[None, :]) @ theta

    def others(self, i):
        """The known others of item i, the nearest by the proxy."""
        o = np.nonzero(self.known[i])[0]
        return o[np.argsort(-self.P[0][i, o], kind="stable")[:256]] if self.P else o

    def ridge(self, E):
        """The ridge that predicts known entries of the judges best, each left out, or none; and the mean diagonal it is a part of."""
        G, scale = self.P[0], np.mean(np.diag(self.P[0]))
        best, chosen = sum(((self.K - E)[i, self.others(i)] ** 2).sum() for i in self.judges), None
        for ridge in RIDGES:
            error = 0.0
            for i in self.judges:
                residual = self.left_out(E, i, ridge * scale)
                error = np.inf if residual is None else error + (residual**2).sum()
            if error < best:
                best, chosen = error, ridge * scale
        return chosen

    def left_out(self, E, i, lam):
        """What K exceeds its prediction by, at the known others of item i, each left out; none where G is no kernel."""
        o = self.others(i)
        if lam is None or len(o) == 0:
            return (self.K - E)[i, o]
        A = self.P[0][np.ix_(o, o)] + lam * np.eye(len(o))
        if np.linalg.eigvalsh(A)[0] <= 1e-13:
            return None
        Q = np.linalg.inv(A)
        return (Q @ (self.K - E)[i, o]) / np.diag(Q)

    def concordance(self, E, lam):
        """The share of pairs of others, of the judges, that are predicted in the right order."""
        right, total = 0.0, 0
        for i in self.judges:
            k = self.K[i, self.others(i)]
            p = k - self.left_out(E, i, lam)
            for a in range(len(k)):
                for b in range(a):
                    if k[a] != k[b]:
                        total += 1
                        right += 0.5 if p[a] == p[b] else float((p[a] > p[b]) == (k[a] > k[b]))
        return right / max(total, 1)

    def see(self, is_ranked):
        """K as the link and kriging see it: ranks among known scores, or the scores."""
        if is_ranked:
            self.to_ranks(self.known)
        else:
            self.K, self.transform = self.raw, None
        if self.S:
            self.h, self.without = self.popular[is_ranked]

    def estimate(self):
        found = []
        for is_ranked in (False, True):
            self.see(is_ranked)
            E = self.link()
            found.append(self.concordance(E, self.ridge(E) if self.P else None))
        self.ranked.append(bool(found[1] - found[0] >= 0.025))
        self.see(self.ranked[-1])
        E = self.link()
        if not self.P:
            self.lambdas.append(None)
            return E
        self.wider = self.pool.copy()
        self.expand(E)
        self.pool = self.wider
        G, chosen = self.P[0], self.ridge(E)
        self.lambdas.append(chosen)
        if chosen is None:
            return E
        C = np.zeros_like(E)
        for i in range(self.n):
            o = self.others(i)
            if len(o):
                C[i] = G[:, o] @ np.linalg.solve(G[np.ix_(o, o)] + chosen * np.eye(len(o)), (self.K - E)[i, o])
        return E + (C + C.T) / 2

    def ask(self, F, count):
        i, j = places(np.where(self.pool, self.outside(F), -np.inf), self.pool & ~self.known, count)
        self.known[i, j] = self.known[j, i] = True
        self.left -= len(i)
        if len(i):
            self.batches.append(sorted(zip(i.tolist(), j.tolist())))

    def trial(self):
        """Some rows of the columns, and whether hubness explains a sixteenth of the variance of K there, beyond the proxies."""
        n, s = self.n, len(self.S)
        count = min(max(n // 12, 48), 256)
        if not self.P or not s or 2 * count + s > n:
            return [], True
        free = np.setdiff1d(np.arange(n), self.S)
        rows = free[np.arange(count) * len(free) // count]
        if len(self.P) > 1 and s > 1:
            self.proxy_order = self.order(rows)
            self.P = [self.P[a] for a in self.proxy_order]
        K, p = self.K[np.ix_(rows, self.S)], [P[np.ix_(rows, self.S)] for P in self.P]
        p = [(P - P.mean()) / (P.std() or 1.0) for P in p]
        X = [np.ones_like(K)] + p + [p[a] * p[b] for a in range(len(p)) for b in range(a, len(p))]
        X = np.stack([x.ravel() for x in X], axis=1)
        ridge = 1e-4 * len(X) * np.eye(X.shape[1])
        ridge[0, 0] = 0.0
        left = K - (X @ np.linalg.solve(X.T @ X + ridge, X.T @ K.ravel())).reshape(K.shape)
        left -= left.mean(axis=0)
        shared = np.mean([left[:, a] * left[:, b] for a in range(s) for b in range(a)])
        return rows, shared >= 0.0625 * K.var()

    def run(self):
        n = self.n
        self.known = np.zeros((n, n), bool)
        rows, is_worth_columns = self.trial()
        if not is_worth_columns:
            self.known[np.ix_(rows, self.S)] = self.known[np.ix_(self.S, rows)] = True
            self.S = []
        self.known[:, self.S] = self.known[self.S, :] = True
        np.fill_diagonal(self.known, False)
        columns = int(self.known.sum()) // 2
        self.left = min(self.b * n, n * (n - 1) // 2) - columns
        self.h, self.without = np.zeros(n), []
        if self.S:
            self.to_ranks(self.known)
            self.popular = {False: hubness(self.raw, self.S), True: hubness(self.K, self.S)}
            self.see(False)
        if len(self.P) > 1 and len(self.S) > 1:
            order = self.order(np.setdiff1d(np.arange(n), self.S))
            self.P = [self.P[a] for a in order]
            self.proxy_order = [self.proxy_order[a] for a in order]
        self.pool = self.known.copy()
        if self.S or not self.P:
            self.pool |= best_mask(self.outside(self.link()), self.width)
        if self.P:
            self.pool |= best_mask(self.outside(self.P[0]), self.width)
        np.fill_diagonal(self.pool, False)
        if self.P:
            self.ask(self.P[0], min(self.first * n, self.left))
        for r in range(self.rounds):
            if self.left == 0:
                break
            E = self.estimate()
            count = max(1, self.left // (self.rounds - r))
            by_proxy = int(self.share * count) if self.P else 0
            if by_proxy:
                self.ask(self.P[0], by_proxy)
            self.ask(np.where(self.known, self.K, E), count - by_proxy)
        E = self.estimate()
        F = np.where(self.known, self.K, E)
        F = np.where(self.pool, F, -np.inf)
        order = np.argsort(-F, axis=1, kind="stable")[:, : self.k]
        scores = np.take_along_axis(F, order, axis=1)
        exact = np.take_along_axis(self.known, order, axis=1)
        if self.transform:
            scores = np.interp(scores, *self.transform[::-1])
        scores = np.where(exact, np.take_along_axis(self.raw, order, axis=1), scores)
        return order, scores, exact


def case(seed, n, d, b, k, proxies, width=None, hubness=0.3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    popular = rng.normal(size=n) * hubness
    K = np.tanh(cosine(x) + popular[:, None] + popular[None, :] + 0.02 * (lambda e: e + e.T)(rng.normal(size=(n, n))))
    K = np.round((K + K.T) / 2, 5)
    # the better one last
    vectors = [np.round(x + 0.5 * (proxies - a) * rng.normal(size=(n, d)), 3) for a in range(proxies)]
    s = max(2, round(0.2 * b))
    columns, judges = rng.permutation(n)[:s], rng.permutation(n)[:30]
    twin = Rounds(K, [cosine(v) for v in vectors], columns, judges, b, k, width=width)
    lists, scores, exact = twin.run()
    return {
        "calls_per_item": b,
        "k": k,
        "K": [K[i, i + 1 :].tolist() for i in range(n)],
        "vectors": [v.tolist() for v in vectors],
        "columns": columns.tolist(),
        "judges": judges.tolist(),
        "batches": twin.batches,
        "lambdas": twin.lambdas,
        "ranked": twin.ranked,
        "proxy_order": twin.proxy_order,
        "lists": lists.tolist(),
        "scores": np.round(scores, 12).tolist(),
        "exact": exact.tolist(),
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["golden"]:
        sys.exit(__doc__)
    # the third and the fifth are larger than the 128 candidates that every item has at least, and try their columns, which the fifth drops; the
    # fourth has no proxy
    cases = [case(1, 40, 5, 5, 4, 1), case(2, 48, 5, 7, 5, 2), case(3, 136, 3, 4, 6, 1, width=128), case(4, 36, 4, 6, 3, 0)]
    cases.append(case(5, 134, 4, 5, 5, 2, width=128, hubness=0.0))
    json.dump({"cases": cases}, sys.stdout)
    print()

"""shift_ridge in NumPy: the weights of the eigenvalues of W are chosen by how well a part of the landmarks predicts the others."""

import numpy as np

SHIFTS = (0, 0.25, 0.5, 1, 1.5, 2, 3, 5)
RIDGES = (0, 1e-3, 3e-3, 0.01, 0.02, 0.04, 0.08, 0.15)


def weights(w, a, rho, clip):
    shifted, size = w + a * max(0.0, -w.min()), rho * np.abs(w).max()
    g = shifted / np.maximum(shifted**2 + size**2, 1e-300)
    return np.maximum(g, 0) if clip else g


def shift_ridge_of(C, S, others, rng, allow_zero=False):
    """Columns C = K[:,S] as vectors Z (n × s) and signs, so that K̃ = (Z · signs) Zᵀ; zero where that is best and allowed."""
    s, W = len(S), C[S]
    unseen = rng.choice(others, min(400, len(others)), replace=False)
    positions = rng.permutation(s)
    folds = []
    for held in np.array_split(positions[: 3 * (s // 4)], 3):
        kept = np.setdiff1d(positions, held)
        rows = np.vstack([C[unseen], W[held]])
        w, V = np.linalg.eigh(W[np.ix_(kept, kept)])
        X, B, Y = rows[:, kept] @ V, W[np.ix_(held, kept)] @ V, rows[:, held]
        folds.append((w, (X * (Y @ B)).sum(0), (X.T @ X) * (B.T @ B), (Y**2).sum()))
    best = {}
    for clip in (False, True):
        errors = {}
        for a in SHIFTS:
            for rho in RIDGES:
                total = 0.0
                for w, d, G, constant in folds:
                    g = weights(w, a, rho, clip)
                    total += constant - 2 * g @ d + g @ G @ g
                errors[a, rho] = total
        choice = min(errors, key=errors.get)
        best[clip] = (errors[choice], choice)
    error, choice = best[False]
    if allow_zero and error >= sum(constant for *_, constant in folds):
        return np.zeros((len(C), 1)), np.ones(1)
    w, V = np.linalg.eigh(W)
    g = weights(w, *choice, False)
    return C @ (V * np.sqrt(np.abs(g))), np.where(g < 0, -1.0, 1.0)

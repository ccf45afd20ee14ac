"""Expected values of oracle/one_order.rs and approximate/by_one_order: NumPy alone.  python3 one_order.py > one_order.json"""

import json

import numpy as np

MASK = (1 << 64) - 1


def mix(value):
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def is_up(seed, low, high):
    return bool(mix(mix(mix(seed) ^ low) ^ high) & 1)


def effects(n, columns, pairs, b):
    met = np.zeros((n, n), bool)
    met[:, columns] = met[columns, :] = True
    for i, j in pairs:
        met[i, j] = met[j, i] = True
    np.fill_diagonal(met, False)
    laplacian = np.diag(met.sum(1)) - met
    return np.linalg.solve(laplacian + 5 * np.eye(n), b)


rng = np.random.default_rng(7)
coins = []
for seed in (0, 1, 2022, MASK):
    for _ in range(12):
        low, high = sorted(int(x) for x in rng.choice(100_000, 2, replace=False))
        coins.append({"seed": seed, "i": low, "j": high, "is_up": is_up(seed, low, high)})
cases = []
for n, s, m in ((8, 2, 0), (12, 0, 15), (20, 5, 30), (15, 15, 0)):
    columns = [int(x) for x in rng.permutation(n)[:s]]
    pairs = sorted({tuple(sorted(int(x) for x in rng.choice(n, 2, replace=False))) for _ in range(m)})
    b = rng.standard_normal(n)
    cases.append({"columns": columns, "pairs": pairs, "b": b.tolist(), "a": effects(n, columns, pairs, b).tolist()})
print(json.dumps({"coins": coins, "effects": cases}, indent=1))

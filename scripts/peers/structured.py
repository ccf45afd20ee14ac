#!/usr/bin/env python3
"""Structured transforms against SciPy and NumPy on the same inputs, in one run, on one thread.

    cargo build --release -p landmark-features --example structured_times
    python scripts/peers/structured.py target/release/examples/structured_times [--repeats 15]

Needs numpy and scipy. Circulant products against SciPy's real FFTs (the spectrum of the generator kept, as ours is) and against
a BLAS matrix-vector product with the full matrix; Walsh-Hadamard transforms against NumPy's butterflies (one pass of whole-array
sums and differences a level), the product with scipy.linalg.hadamard, and one pass of multiplications over the same memory;
10,000 x 1,024 items to 1,024 features on one thread and two. Results are compared too. Exits with 3 where an aim is missed:
circulant >= 1.0 of SciPy and >= 100 of gemv at 4,096, Walsh-Hadamard >= 5 of NumPy; circulant features on two threads >= 1.8 of one.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import scipy.fft  # noqa: E402
import scipy.linalg  # noqa: E402

from aims import end, hold  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ours", help="the built example `structured_times`")
parser.add_argument("--repeats", type=int, default=15)
options = parser.parse_args()


def shortest(call):
    """Seconds of one call: the shortest mean of enough calls to fill a millisecond, as ours is measured."""
    call()
    start = time.perf_counter()
    call()
    calls = int(np.ceil(min(max(1e-3 / (time.perf_counter() - start), 1), 1e4)))
    best = np.inf
    for _ in range(options.repeats):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def butterflies(x):
    """The usual NumPy transform: log2 n passes, in place."""
    h = 1
    while h < len(x):
        pairs = x.reshape(-1, 2, h)
        total = pairs[:, 0] + pairs[:, 1]
        pairs[:, 1] = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] = total
        h *= 2
    return x


def main():
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([options.ours, folder, str(options.repeats)], check=True, capture_output=True, text=True)
        ours = {}
        for line in lines.stdout.splitlines():
            name, n, seconds = line.split()
            ours[name, int(n)] = float(seconds)
        read = lambda name: np.fromfile(pathlib.Path(folder) / name, dtype="<f8")

        print(f"one thread, shortest of {options.repeats}, microseconds; numpy {np.__version__}, scipy {scipy.__version__}")
        print(f"{'circulant n':>12} {'ours':>9} {'SciPy FFT':>10} {'ratio':>6} {'gemv':>10} {'ratio':>7} {'toeplitz':>9} {'difference':>11}")
        for n in sorted(n for name, n in ours if name == "circulant"):
            g, x, y = (read(f"circulant_{part}_{n}") for part in "gxy")
            spectrum = scipy.fft.rfft(g).conj()
            fft = lambda: scipy.fft.irfft(scipy.fft.rfft(x) * spectrum, n)
            index = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
            matrix = g[index]
            del index
            gemv_time, fft_time, mine = shortest(lambda: matrix @ x), shortest(fft), ours["circulant", n]
            difference = np.abs(matrix @ x - y).max()
            del matrix
            assert difference < 1e-9 and np.abs(fft() - y).max() < 1e-9
            if n == 4096:
                hold(f"SciPy FFT over circulant {n}", fft_time / mine, at_least=1, ours=mine, theirs=fft_time)
                hold(f"gemv over circulant {n}", gemv_time / mine, at_least=100, ours=mine, theirs=gemv_time)
            print(
                f"{n:12} {1e6 * mine:9.2f} {1e6 * fft_time:10.2f} {fft_time / mine:6.2f} {1e6 * gemv_time:10.1f} "
                f"{gemv_time / mine:7.1f} {1e6 * ours['toeplitz', n]:9.2f} {difference:11.1e}"
            )

        header = f"{'hadamard n':>12} {'ours':>10} {'NumPy':>10} {'ratio':>6} {'matrix':>10} {'ratio':>7}"
        print(f"{header} {'in a batch':>11} {'one pass':>10} {'passes':>7}")
        for n in sorted(n for name, n in ours if name == "hadamard"):
            x = np.zeros(n)
            numpy_time, mine = shortest(lambda: butterflies(x)), ours["hadamard", n]
            dense = ""
            if n <= 4096:
                matrix = scipy.linalg.hadamard(n).astype(float)
                dense_time = shortest(lambda: matrix @ x)
                dense = f"{1e6 * dense_time:10.2f} {dense_time / mine:7.1f}"
            if n <= 1 << 20:
                theirs, result = butterflies(read(f"hadamard_x_{n}")), read(f"hadamard_y_{n}")
                assert np.abs(theirs - result).max() < 1e-9
            batch, one_pass = ours["hadamard_batch", n], ours["one_pass", n]
            two = ""
            if ("hadamard_batch_two", n) in ours:
                both = ours["one_pass_two", n]
                two = f"   two threads {one_pass / both:.2f} of the memory and {ours['hadamard_batch_two', n] / both:.2f} passes"
            print(
                f"{n:12} {1e6 * mine:10.2f} {1e6 * numpy_time:10.2f} {numpy_time / mine:6.1f} "
                f"{dense:18} {1e6 * batch:11.2f} {1e6 * one_pass:10.2f} {batch / one_pass:7.2f}{two}"
            )
            hold(f"NumPy over hadamard {n}", numpy_time / mine, at_least=5, ours=mine, theirs=numpy_time)

    print("10,000 x 1,024 items to 1,024 ReLU features, seconds")
    for name, n in list(ours):
        if name.startswith("batch_") and name.endswith("_1"):
            one, two = ours[name, n], ours[name[:-1] + "2", n]
            hold(f"{name[6:-2]}, one thread over two", one / two, at_least=1.8 if name == "batch_circulant_1" else None)
            print(f"{name[6:-2]:>18} one thread {one:7.3f}, two {two:7.3f}, ratio {one / two:.2f}")
    return end()


if __name__ == "__main__":
    sys.exit(main())

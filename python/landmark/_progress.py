"""Progress of the calls: tqdm where it is installed, plain lines where it is not."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

log = logging.getLogger("landmark")

_SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Counts calls towards the planned number, and no further: a block of scores may hold some that nobody asked for."""

    def __init__(self, total: int, title: str, verbose: bool) -> None:
        self._title, self._total, self._done = title, total, 0
        self._bar: Any = None
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        self._plain = False
        if verbose and total > 0:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._plain = True
            else:
                self._bar = tqdm(total=total, desc=title, unit="call")

    def add(self, calls: int) -> None:
        calls = min(calls, self._total - self._done)
        self._done += calls
        if self._bar is not None:
            self._bar.update(calls)
        elif self._plain and time.monotonic() >= self._next:
            print(f"{self._title}: {self._done:,} of {self._total:,} calls", file=sys.stderr)
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._total > 0:
            log.info("%s: %s calls", self._title, f"{self._done:,}")

"""An event loop on a thread of its own: coroutines are served while another thread waits, also where a loop runs already (notebooks)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_process = 0


def _without_the_parents_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    # another thread may have held it when this process was forked
    os.register_at_fork(after_in_child=_without_the_parents_lock)


def _running() -> asyncio.AbstractEventLoop:
    global _loop, _process
    with _lock:
        # a forked child has the loop and not its thread
        if _loop is None or _loop.is_closed() or _process != os.getpid():
            _loop, _process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="landmark-loop", daemon=True).start()
        return _loop


def gather(ask: Callable[[Any, Any], Awaitable[Any]], pairs: list[tuple[Any, Any]], at_once: int) -> list[Any]:
    """Answers of `ask` for all pairs, `at_once` of them in flight at a time. The first exception ends the others."""

    done: dict[int, Any] = {}

    async def all_of_them() -> list[Any]:
        room = asyncio.Semaphore(at_once)

        async def one(place: int, pair: tuple[Any, Any]) -> Any:
            async with room:
                try:
                    done[place] = await ask(*pair)
                    return done[place]
                except Exception as error:
                    if not hasattr(error, "_landmark_place"):
                        try:
                            error._landmark_place = place  # type: ignore[attr-defined]
                            error._landmark_done = done  # type: ignore[attr-defined]
                        except AttributeError:
                            pass
                    raise

        tasks = [asyncio.ensure_future(one(place, pair)) for place, pair in enumerate(pairs)]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    future = asyncio.run_coroutine_threadsafe(all_of_them(), _running())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise

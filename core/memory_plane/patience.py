"""Waiting for what may never come back, for so long and no longer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Patience:
    """Calls functions in threads of their own, which are used again: a new one would cost ten times a call.

    What hangs is left to itself and keeps no process from ending; until it returns, its like is not called again.
    """

    def __init__(self) -> None:
        self._free: list[_Worker] = []
        self._hanging: dict[Hashable, _Worker] = {}

    def call(self, key: Hashable, function: Callable[[], T], seconds: float) -> T:
        """Return or raise what the function does; raise `TimeoutError` where it, or one before with its key, hangs."""
        hanging = self._hanging.get(key)
        if hanging is not None and hanging.answers.empty():
            raise TimeoutError(f"did not answer within {seconds:g} s")
        self._hanging.pop(key, None)
        worker = self._worker()
        try:
            worker.calls.put(function)
            answer, error = worker.answers.get(timeout=seconds)
        except Empty:
            self._hanging[key] = worker
            worker.calls.put(None)
            raise TimeoutError(f"did not answer within {seconds:g} s") from None
        except BaseException:
            worker.calls.put(None)
            raise
        self._free.append(worker)
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the threads that nothing waits for."""
        while self._free:
            self._free.pop().calls.put(None)

    def _worker(self) -> _Worker:
        while self._free:
            worker = self._free.pop()
            if worker.is_alive():  # a process that was forked off has none of the threads
                return worker
        return _Worker()


class _Worker(Thread):
    def __init__(self) -> None:
        super().__init__(name="patience", daemon=True)
        self.calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self.answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        """Call one function after the other, until there is none."""
        while (function := self.calls.get()) is not None:
            try:
                self.answers.put((function(), None))
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                self.answers.put((None, error))

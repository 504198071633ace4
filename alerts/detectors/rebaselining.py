"""Take orders to learn a reference anew, from whoever gives them to the detectors' thread."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import msgspec

from alerts.detectors.stream import Key


class Whose(msgspec.Struct, frozen=True, kw_only=True):
    """Which streams are meant."""

    agent: str
    scorer: str
    environment: str | None = None
    """``None`` for all."""
    scorer_version: str | None = None
    """``None`` for all."""

    def means(self, key: Key) -> bool:
        """Say whether a stream of all versions is one of them."""
        return (
            (key.agent, key.scorer) == (self.agent, self.scorer)
            and (key.agent_version, key.null) == (None, "drift")
            and self.environment in {None, key.environment}
            and self.scorer_version in {None, key.scorer_version}
        )


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Streams that are to learn anew."""

    whose: Whose
    done: Future[tuple[str, ...]]
    """Resolves to the names of the streams, once their new beginning is in the store."""


class Orders:
    """Hold orders until the detectors' thread takes them; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Order] = []

    def give(self, whose: Whose) -> Future[tuple[str, ...]]:
        """Order that streams learn anew; none are named where none is meant."""
        order = Order(whose=whose, done=Future())
        with self._lock:
            # Who gave up waiting would else be kept for as long as the store is away.
            waiting = [one for one in self._waiting if not one.done.cancelled()]
            self._waiting = [*waiting, order]
        return order.done

    def take(self) -> Order | None:
        """Return the first order that is still waited for; ``None`` when there is none."""
        with self._lock:
            while self._waiting:
                order = self._waiting.pop(0)
                if order.done.set_running_or_notify_cancel():
                    return order
        return None

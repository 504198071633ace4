"""Tell somebody of each alarm and of its end, at least once, whatever stands in the way."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

import msgspec

from alerts.incident import Incident, Query, gather
from alerts.notice import notice_of
from alerts.notification_outbox import NotificationOutbox, Untold, Write
from alerts.stream_view import Severity
from alerts.webhook import Answer, Webhook
from collector.errors import OutriderError
from collector.totals import SeriesKey

_LOG = logging.getLogger(__name__)

POLL_S = 5.0
"""Seconds between looks for new alarms."""
FIRST_PAUSE_S = 2.0
LONGEST_PAUSE_S = 300.0
REFUSALS = 3
"""Times a receiver may refuse an alarm before it is given up."""
RESULTS = ("delivered", "failed", "refused", "expired")


class Channel(Protocol):
    """A way to reach somebody."""

    @property
    def channel(self) -> str:
        """Return its name in metrics and events."""

    def post(self, body: bytes, *, key: str, stop: threading.Event) -> Answer:
        """Deliver a document; gives up early when told to stop."""


class _Tries(msgspec.Struct):
    """What was tried with one alarm."""

    item: Untold
    count: int = 0
    refusals: int = 0
    next_ns: int = 0
    why: str = ""


class Notifier:
    """Deliver what the outbox holds, on a thread of its own.

    An alarm that fails is tried again with growing pauses until it is too old; one that the
    receiver refuses is given up after ``REFUSALS`` times. A receiver that does not answer, or
    asks to be left alone, is left alone with all alarms. The end of an alarm is told after
    its beginning, and not at all when that was given up.

    Args:
        outbox: finds what is to be told.
        channel: where it is told.
        query: reads the facts about an alarm.
        console: base URL of the console, without a slash at the end.
        max_age_s: alarms older than this are given up.
        ready: whether the store has its tables; nothing is asked of it before.
        clock_ns: present Unix time.
        count: raises a counter.
        random: gives 0..1, to spread retries.
    """

    def __init__(
        self,
        outbox: NotificationOutbox,
        channel: Channel,
        *,
        query: Query,
        console: str,
        max_age_s: float,
        ready: Callable[[], bool],
        clock_ns: Callable[[], int],
        count: Callable[[str, float, dict[str, str]], None],
        random: Callable[[], float],
    ) -> None:
        self._outbox = outbox
        self._channel = channel
        self._query = query
        self._console = console
        self._max_age_ns = int(max_age_s * 1e9)
        self._ready = ready
        self._has_tables = False
        self._clock_ns = clock_ns
        self._count = count
        self._random = random
        self._tries: dict[str, _Tries] = {}
        self._silent = 0
        """Posts in a row that nobody answered."""
        self._quiet_until_ns = 0
        for result in RESULTS:  # so that their first rise shows
            self._counted(result, 0.0)

    def run(self, stop: threading.Event) -> None:
        """Deliver until told to stop."""
        while not stop.is_set():
            try:
                self.step(stop)
            # An alarm that is not told is worse than whatever this is; its text may hold the URL.
            except Exception as error:  # noqa: BLE001
                _LOG.error("notifications are held up by %s", type(error).__name__)
                self._count("notification_errors_total", 1.0, {})
            stop.wait(POLL_S if not self._tries else min(POLL_S, FIRST_PAUSE_S))

    def step(self, stop: threading.Event) -> None:
        """Try once what is due."""
        now_ns = self._clock_ns()
        try:
            self._has_tables = self._has_tables or self._ready()
            if not self._has_tables:
                return
            items = self._outbox.untold(now_ns - self._max_age_ns)
        except OutriderError as error:
            self._count("notification_errors_total", 1.0, {})
            _LOG.debug("alarms could not be read: %s", error)
            return
        self._expire(now_ns)
        known = {item.event.event_id for item in items}
        self._tries = {
            **{item.event.event_id: _Tries(item=item) for item in items},
            **{name: tries for name, tries in self._tries.items() if name in known},
        }
        # One that cannot be delivered does not hold up the others; an end waits for its beginning.
        for tries in sorted(self._tries.values(), key=lambda t: t.count):
            if stop.is_set() or self._clock_ns() < self._quiet_until_ns:
                break
            waits = tries.item.beginning in self._tries
            if not waits and tries.next_ns <= self._clock_ns():
                self._try(tries, stop)
        try:
            self._outbox.flush()
        except OutriderError as error:
            self._count("notification_errors_total", 1.0, {})
            _LOG.debug("a delivery could not be noted: %s", error)

    def gauges(self) -> dict[SeriesKey, float]:
        """Return how many alarms wait to be told."""
        key = ("notifications_pending", (("channel", self._channel.channel),))
        return {key: float(len(self._tries))}

    def _try(self, tries: _Tries, stop: threading.Event) -> None:
        event = tries.item.event
        notice = notice_of(self._incident(tries.item), console=self._console)
        answer = self._channel.post(msgspec.json.encode(notice), key=event.event_id, stop=stop)
        if answer.result == "stopped":
            return
        now_ns = self._clock_ns()
        tries.count += 1
        tries.why = answer.what
        self._silent = 0 if answer.reached else self._silent + 1
        if answer.result == "delivered":
            self._settle(tries, "delivered")
            return
        _LOG.warning("alarm %s was not taken by the webhook: %s", event.event_id, answer.what)
        if answer.result == "refused":
            tries.refusals += 1
            if tries.refusals >= REFUSALS:
                self._settle(tries, "refused")
                return
        self._counted("failed")
        pause_s = max(self._pause_s(tries.count), answer.retry_after_s)
        tries.next_ns = now_ns + int(pause_s * 1e9)
        if answer.retry_after_s:
            self._quiet_until_ns = tries.next_ns
        elif not answer.reached:
            self._quiet_until_ns = now_ns + int(self._pause_s(self._silent) * 1e9)

    def _incident(self, item: Untold) -> Incident:
        """Look up the facts; without them the alarm is told all the same."""
        try:
            return gather(item.event, self._query)
        except OutriderError as error:
            self._count("notification_errors_total", 1.0, {})
            _LOG.warning("the facts about alarm %s are missing: %s", item.event.event_id, error)
            return Incident(event=item.event)

    def _expire(self, now_ns: int) -> None:
        for tries in list(self._tries.values()):
            if now_ns - tries.item.event.at_ns > self._max_age_ns:
                self._settle(tries, "expired")

    def _settle(self, tries: _Tries, result: str) -> None:
        delivered = result == "delivered"
        self._outbox.settle(
            tries.item,
            "delivered" if delivered else "undeliverable",
            at_ns=self._clock_ns(),
            why="" if delivered else f"{result}: {tries.why}",
        )
        if not delivered:
            _LOG.error("alarm %s is given up: %s", tries.item.event.event_id, result)
        self._counted(result)
        self._tries.pop(tries.item.event.event_id, None)

    def _counted(self, result: str, amount: float = 1.0) -> None:
        labels = {"channel": self._channel.channel, "result": result}
        self._count("notifications_total", amount, labels)

    def _pause_s(self, count: int) -> float:
        longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(count - 1, 16))
        return longest * (0.5 + 0.5 * self._random())


def webhook_notifier(
    url: str,
    *,
    token: str,
    severity: Severity,
    max_age_s: float,
    console: str,
    ready: Callable[[], bool],
    query: Query,
    write: Write,
    clock_ns: Callable[[], int],
    count: Callable[[str, float, dict[str, str]], None],
    random: Callable[[], float],
) -> Notifier | None:
    """Build what posts alarms to a webhook; nothing where there is no URL.

    Args:
        url: The webhook's; empty for none.
        token: Bearer token shown to it; empty for none.
        severity: The least that is posted.
        max_age_s: Alarms older than this are given up.
        console: Base URL of the console.
        ready: Whether the store has its tables.
        query: Reads the store.
        write: Inserts rows durably.
        clock_ns: Present Unix time.
        count: Raises a counter.
        random: Gives 0..1, to spread retries.
    """
    if not url:
        return None
    webhook = Webhook(url, token=token, clock_ns=clock_ns)
    return Notifier(
        NotificationOutbox(query, write, channel=webhook.channel, severity=severity),
        webhook,
        query=query,
        console=console.rstrip("/"),
        max_age_s=max_age_s,
        ready=ready,
        clock_ns=clock_ns,
        count=count,
        random=random,
    )

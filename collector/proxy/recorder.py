"""Keep a copy of what passes, within bounds, for somebody else to read later.

Everything here runs on the thread that passes the bytes on, so it only appends to lists and
never waits. What does not fit is dropped and counted; the call goes on as if nobody looked.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, Full, Queue
from typing import Literal

import msgspec

from collector.proxy.about import About

Ending = Literal["complete", "client", "upstream"]
"""How a call ended: as it should, or left by one of the two."""
DROPPED = "proxy_capture_dropped_total"
_LOG = logging.getLogger(__name__)
_OBJECT = 64
"""Bytes that a piece of a body takes beside what it holds; a stream has thousands of them."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one call that is over."""

    about: About
    request: tuple[bytes, ...]
    """The body as framed and compressed by the client."""
    response: tuple[bytes, ...]
    """The body as framed and compressed by the upstream."""
    status: int
    """0 when no answer came."""
    response_chunked: bool
    response_encoding: str
    response_type: str
    """``Content-Type``."""
    ending: Ending
    started_ns: int
    first_byte_ns: int
    """When the first byte of the response's body came; 0 when none did."""
    ended_ns: int
    size: int
    """Bytes of both bodies."""


class Recorder:
    """Hand recordings to the one who reads them, through a bounded queue."""

    def __init__(
        self,
        *,
        max_call: int,
        max_held: int,
        max_waiting: int,
        clock_ns: Callable[[], int],
        count: Callable[[str, float, dict[str, str]], None],
    ) -> None:
        """Take the bounds.

        Args:
            max_call: Bytes of one call's bodies; a larger one is not captured.
            max_held: Bytes of all calls under way or waiting to be read.
            max_waiting: Calls waiting to be read.
            clock_ns: Unix time in nanoseconds.
            count: Raises a counter, from any thread.
        """
        self.max_call = max_call
        self.clock_ns = clock_ns
        self._max_held = max_held
        self._count = count
        self.faults = 0
        """Recordings given up for an error of ours that could not be counted otherwise."""
        self._held = 0
        self._lock = threading.Lock()
        self._waiting: Queue[Recorded] = Queue(max_waiting)

    def begin(self, about: About, then: Callable[[Recorded], Recorded] | None = None) -> Recording:
        """Begin to copy a call.

        Args:
            about: Whose it is.
            then: Called with the copy when the call is over; returns what is handed on.
        """
        return Recording(self, about, self.clock_ns(), then)

    def take(self, timeout_s: float) -> Recorded | None:
        """Wait for a call that is over; whoever takes one says ``done`` when it is read."""
        try:
            return self._waiting.get(timeout=timeout_s)
        except Empty:
            return None

    def done(self, recorded: Recorded) -> None:
        """Free the room that a call took."""
        self._free(recorded.size)

    def dropped(self, reason: str) -> None:
        """Count a call that will not be captured."""
        self._count(DROPPED, 1.0, {"reason": reason})

    def unread(self, api: str, events: int) -> None:
        """Count events of a captured stream that nobody could read."""
        self._count("proxy_events_unread_total", float(events), {"api": api})

    def reserve(self, size: int) -> bool:
        """Take room for bytes, if there is any."""
        with self._lock:
            if self._held + size > self._max_held:
                return False
            self._held += size
            return True

    def free(self, size: int) -> None:
        """Give room back."""
        self._free(size)

    def offer(self, recorded: Recorded) -> None:
        """Let a call wait to be read."""
        try:
            self._waiting.put_nowait(recorded)
        except Full:
            self._free(recorded.size)
            self.dropped("queue_full")

    def _free(self, size: int) -> None:
        with self._lock:
            self._held -= size


class Recording:
    """Gather the copy of one call under way."""

    __slots__ = (
        "_about",
        "_encoding",
        "_first_ns",
        "_open",
        "_recorder",
        "_request",
        "_response",
        "_size",
        "_started_ns",
        "_status",
        "_then",
        "_type",
        "_was_chunked",
    )

    def __init__(
        self,
        recorder: Recorder,
        about: About,
        started_ns: int,
        then: Callable[[Recorded], Recorded] | None,
    ) -> None:
        self._recorder = recorder
        self._then = then
        self._about = about
        self._started_ns = started_ns
        self._request: list[bytes] = []
        self._response: list[bytes] = []
        self._size = 0
        self._first_ns = 0
        self._status = 0
        self._encoding = self._type = ""
        self._was_chunked = False
        self._open = True

    def sent(self, data: bytes) -> None:
        """Copy part of the request's body."""
        with self._harmless():
            if self._open and self._fits(len(data)):
                self._request.append(data)

    def answered(self, status: int, *, encoding: str, type_: str, chunked: bool) -> None:
        """Note the head of the response."""
        self._status = status
        self._encoding, self._type, self._was_chunked = encoding, type_, chunked

    def received(self, data: bytes) -> None:
        """Copy part of the response's body."""
        with self._harmless():
            if self._open and self._fits(len(data)):
                if not self._first_ns:
                    self._first_ns = self._recorder.clock_ns()
                self._response.append(data)

    def finish(self, ending: Ending) -> None:
        """Hand the copy over; only the first ending counts."""
        if not self._open:
            return
        self._open = False
        with self._harmless():
            recorded = Recorded(
                about=self._about,
                request=tuple(self._request),
                response=tuple(self._response),
                status=self._status,
                response_chunked=self._was_chunked,
                response_encoding=self._encoding,
                response_type=self._type,
                ending=ending,
                started_ns=self._started_ns,
                first_byte_ns=self._first_ns,
                ended_ns=self._recorder.clock_ns(),
                size=self._size,
            )
            self._recorder.offer(recorded if self._then is None else self._then(recorded))

    def give_up(self, reason: str) -> None:
        """Let go of what was gathered."""
        if self._open:
            self._open = False
            self._request.clear()
            self._response.clear()
            with self._harmless():
                self._recorder.free(self._size)
                self._recorder.dropped(reason)

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Let no fault of the recorder reach the call."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the call goes on
            self._open = False
            self._recorder.faults += 1
            _LOG.error("a call is not captured: %s", type(error).__name__)

    def _fits(self, size: int) -> bool:
        size += _OBJECT
        if self._size + size > self._recorder.max_call:
            self.give_up("too_large")
            return False
        if not self._recorder.reserve(size):
            self.give_up("buffer_full")
            return False
        self._size += size
        return True

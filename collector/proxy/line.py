"""Speak between the process that passes calls on and the one that keeps them.

Frames on a pair of Unix sockets: four bytes of length, then MessagePack.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

from collector.proxy.recorder import Recorded
from collector.proxy.server import Settings
from collector.proxy.shadow import ShadowOrders

_LENGTH = 4
_READ = 256 * 1024


class Orders(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What the process that passes calls on is told when it starts."""

    settings: Settings
    anthropic: str
    openai: str
    ca_file: str
    max_call: int
    max_held: int
    max_waiting: int
    shadow: ShadowOrders | None = None


class Counts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Counters that rose."""

    rises: list[tuple[str, float, dict[str, str]]]


class Call(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A call that is over."""

    recorded: Recorded


Message = Orders | Counts | Call
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Message)


def send(line: socket.socket, message: Message) -> None:
    """Send a message; wait as long as the other side does not read.

    Raises:
        OSError: There is no other side.
    """
    body = _ENCODER.encode(message)
    line.sendall(len(body).to_bytes(_LENGTH, "big") + body)


class Reading:
    """Take messages from one end of a line."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._held = bytearray()
        self.ended = False
        """Whether the other side hung up."""

    def next(self, timeout_s: float) -> Message | None:
        """Wait for a message; ``None`` when none came in time, or none will come."""
        until = time.monotonic() + timeout_s
        while True:
            held = self._held
            size = _LENGTH + int.from_bytes(held[:_LENGTH], "big")
            if len(held) >= max(size, _LENGTH + 1):
                message: Message = _DECODER.decode(memoryview(held)[_LENGTH:size])
                self._held = held[size:]
                return message
            left = max(0.0, until - time.monotonic())
            if self.ended or not _readable(self._line, left):
                return None
            try:
                data = self._line.recv(_READ)
            except OSError:
                data = b""
            self.ended = not data
            held += data


def _readable(line: socket.socket, timeout_s: float) -> bool:
    """Wait for something to read; ``select`` would refuse a line in a process with a thousand files."""
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(1_000 * timeout_s))


class Arrivals:
    """Take what one process after another has captured: a source for ``Capture``."""

    def __init__(self, count: Callable[[str, float, dict[str, str]], None]) -> None:
        self._count = count
        self._lines: deque[tuple[socket.socket, Reading]] = deque()
        self._new = threading.Event()

    def attach(self, line: socket.socket) -> None:
        """Read from this line once those before it have ended."""
        self._lines.append((line, Reading(line)))
        self._new.set()

    def take(self, timeout_s: float) -> Recorded | None:
        """Wait for a call that is over."""
        until = time.monotonic() + timeout_s
        while True:
            left = max(0.0, until - time.monotonic())
            if not self._lines:
                self._new.clear()
                if self._lines or self._new.wait(left):
                    continue
                return None
            line, reading = self._lines[0]
            message = reading.next(left)
            if isinstance(message, Call):
                return message.recorded
            if isinstance(message, Counts):
                for name, amount, labels in message.rises:
                    self._count(name, amount, labels)
            elif reading.ended:
                line.close()
                self._lines.popleft()
            elif not left:
                return None

    def done(self, recorded: Recorded) -> None:
        """Do nothing: what was sent over is no burden to the sender any more."""

    def dropped(self, reason: str) -> None:
        """Count a call that will not be captured."""
        self._count("proxy_capture_dropped_total", 1.0, {"reason": reason})

    def unread(self, api: str, events: int) -> None:
        """Count events of a captured stream that nobody could read."""
        self._count("proxy_events_unread_total", float(events), {"api": api})

    def close(self) -> None:
        """Let go of every line."""
        while self._lines:
            self._lines.popleft()[0].close()

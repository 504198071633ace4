"""Pass one client's requests on to its upstream, and the answers back, byte by byte.

Each client connection has an upstream connection of its own, so what happens to the one (slow,
kept alive, half an answer, gone) happens to the other, and no client can be given what another
one's answer left behind. A copy of both bodies goes to a recording.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol, cast

from collector.callers import Callers, Refusal, Shown
from collector.errors import MalformedError, OversizedError
from collector.proxy.framing import Chunked, Framing, Sized, UntilClosed, of_request, of_response
from collector.proxy.http_head import (
    HeadBuffer,
    RequestHead,
    ResponseHead,
    first,
    request_head,
    response_head,
)
from collector.proxy.passing import TOKEN, keeps_alive, to_client, to_upstream
from collector.proxy.recorder import Ending, Recording
from collector.proxy.refusal import refusal
from collector.proxy.upstream import Route, Routes, Upstream
from collector.proxy.upstream_side import UpstreamSide
from collector.tokens import Grant

HEAD_S = 10.0
"""Time for a request's line and headers."""
LINGER_S = 2.0
"""Time left to a client to read an answer that came before its request was over."""
PENDING = 256 * 1024
"""Bytes of a request kept while its upstream is being reached."""
State = Literal["head", "body", "answer", "tunnel", "over"]


class Office(Protocol):
    """What all connections of a proxy share."""

    callers: Callers
    routes: Routes
    idle_s: float

    def dial(
        self,
        upstream: Upstream,
        front: ClientSide,
        connected: Callable[[UpstreamSide | None, str], None],
    ) -> asyncio.Task[None]:
        """Reach an upstream, then call back with it, or with why it cannot be reached."""

    def record(self, head: RequestHead, route: Route, caller: Grant) -> Recording | None:
        """Begin a copy of a call; ``None`` when it is not captured."""

    def joined(self, side: ClientSide) -> bool:
        """Take a connection in, or say that there are too many."""

    def left(self, side: ClientSide) -> None:
        """Forget a connection."""

    def refused(self, reason: str) -> None:
        """Count a request that was turned away."""

    def unread(self, reason: str) -> None:
        """Count a call that nobody captures."""

    def answered(self, upstream: str, status: int) -> None:
        """Count an answer that is passed on."""


class ClientSide(asyncio.Protocol):
    """One client's connection; see the module's docstring."""

    transport: asyncio.Transport

    def __init__(self, office: Office) -> None:
        self._office = office
        self._state: State = "head"
        self._head = HeadBuffer()
        self._later = b""
        """What a client sent before it had its answer."""
        self._method = ""
        self._keep = True
        self._framing: Framing = Sized(0)
        self._up: UpstreamSide | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._pending: list[bytes] = []
        self._answer: Framing | None = None
        self._answer_head = HeadBuffer()
        self._answer_keep = True
        self._recording: Recording | None = None
        self._held_by: set[str] = set()
        """Why the client is not read from."""
        self._timer: asyncio.TimerHandle | None = None
        self._retiring = False

    # --- the client's connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection, or turn it away when there are too many."""
        self.transport = cast("asyncio.Transport", transport)
        if self._office.joined(self):
            self._allow(HEAD_S)
        else:
            self._turn_away(503, "too many connections", "too_many_connections")

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        try:
            self._take(data)
        except OversizedError as error:
            self._turn_away(431, str(error), "oversized")
        except MalformedError as error:
            self._turn_away(400, str(error), "malformed")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        """Close the upstream's connection at once: what it still says would be paid for."""
        self._office.left(self)
        self._allow(None)
        self._drop_upstream()
        self._finish("client")
        self._state = "over"

    def pause_writing(self) -> None:
        """Let the upstream wait for a client that is behind."""
        if self._up is not None:
            self._up.pause(paused=True)

    def resume_writing(self) -> None:
        """Let the upstream go on."""
        if self._up is not None:
            self._up.pause(paused=False)

    def retire(self, *, at_once: bool = False) -> None:
        """End when the call under way is over, or at once."""
        self._retiring = True
        if at_once:
            self.transport.abort()
        elif self._state == "head":
            self.transport.close()

    # --- requests

    def _take(self, data: bytes) -> None:
        while data:
            if self._state == "head":
                begun = len(self._head) > 0
                found = self._head.add(data if begun else data.lstrip(b"\r\n"))
                if found is None:
                    if not begun and len(self._head):
                        self._allow(HEAD_S, self._too_slow)
                    return
                raw, data = found
                self._begin(request_head(raw))
            elif self._state == "body":
                taken = self._framing.take(data)
                self._send(data[:taken])
                data = data[taken:]
                if self._framing.done:
                    self._state = "answer"
            elif self._state == "answer":
                self._later += data
                self._hold("pipelined", held=True)
                return
            elif self._state == "tunnel":
                self._send(data)
                return
            else:
                return

    def _too_slow(self) -> None:
        self._turn_away(408, "the headers did not arrive in time", "slow")

    def _begin(self, head: RequestHead) -> None:
        self._allow(None)
        shown = first(head.fields, TOKEN)
        caller = self._office.callers.judge(
            Shown(
                host=first(head.fields, "host"),
                origin=first(head.fields, "origin"),
                authorization=f"Bearer {shown}" if shown else "",
            ),
            right="write",
        )
        if isinstance(caller, Refusal):
            unknown = caller.status == 401
            reason = "unauthenticated" if unknown else "forbidden"
            message = f"show auth.token in the header {TOKEN}" if unknown else caller.message
            self._turn_away(caller.status, message, reason)
            return
        self._framing = of_request(head)
        self._method = head.method
        self._keep = keeps_alive(head.minor, head.fields)
        self._answer = None
        self._state = "answer" if self._framing.done else "body"
        route = self._office.routes.of(head)
        self._recording = self._office.record(head, route, caller)
        if self._up is not None and not (self._up.open and self._up.upstream == route.upstream):
            self._drop_upstream()
        written = to_upstream(head, route)
        if self._up is not None:
            self._up.transport.write(written)
            return
        self._pending = [written]
        self._dialling = self._office.dial(route.upstream, self, self._connected)

    def _send(self, data: bytes) -> None:
        if self._up is not None:
            self._up.transport.write(data)
        else:
            self._pending.append(data)
            if sum(map(len, self._pending)) > PENDING:
                self._hold("dialling", held=True)
        if self._recording is not None:
            self._recording.sent(data)

    def _connected(self, side: UpstreamSide | None, problem: str) -> None:
        self._dialling = None
        if side is None:
            self._turn_away(502, problem, "unreachable")
            return
        self._up = side
        side.transport.write(b"".join(self._pending))
        self._pending = []
        self._hold("dialling", held=False)

    # --- answers

    def upstream_data(self, side: UpstreamSide, data: bytes) -> None:
        """Pass on what the upstream said."""
        if side is not self._up:
            return
        if self._state == "tunnel":
            self.transport.write(data)
        elif self._state == "head":
            self._drop_upstream()  # it speaks without being asked
            self.transport.close()
        else:
            try:
                self._pass_on(data)
            except (MalformedError, OversizedError) as error:
                self._broken(f"the upstream's answer is no HTTP/1: {error}")

    def _pass_on(self, data: bytes) -> None:
        head = b""
        while self._answer is None:
            found = self._answer_head.add(data)
            if found is None:
                return
            raw, data = found
            head += self._answer_begins(response_head(raw))
            if self._state == "tunnel":
                self.transport.write(head + data)
                return
            if self._answer is None:  # an interim answer, such as 100
                self.transport.write(head)
                head = b""
                if not data:
                    return
        taken = self._answer.take(data)
        more = taken < len(data)
        body = data[:taken] if more else data
        self.transport.write(head + body if head else body)
        if self._recording is not None and body:
            self._recording.received(body)
        if self._answer.done:
            self._answer_over(keep=self._answer_keep and not more)

    def _answer_begins(self, head: ResponseHead) -> bytes:
        if head.status == 101:
            self._state = "tunnel"
            self._office.unread("websocket")
        elif head.status >= 200:
            self._answer = of_response(head, method=self._method)
            self._answer_keep = keeps_alive(head.minor, head.fields) and not isinstance(
                self._answer, UntilClosed
            )
            if self._recording is not None:
                self._recording.answered(
                    head.status,
                    encoding=first(head.fields, "content-encoding").lower(),
                    type_=first(head.fields, "content-type").lower(),
                    chunked=isinstance(self._answer, Chunked),
                )
        if head.status >= 200 and self._up is not None:
            self._office.answered(self._up.upstream.name, head.status)
        return to_client(head, close=not (self._keep and self._answer_keep))

    def _answer_over(self, *, keep: bool) -> None:
        self._finish("complete")
        if self._state == "body":
            self._linger()
        elif not keep or not self._keep or self._retiring:
            self._drop_upstream()
            self._state = "over"
            self.transport.close()
        else:
            self._state = "head"
            self._answer = None
            self._allow(self._office.idle_s)
            later, self._later = self._later, b""
            self._hold("pipelined", held=False)
            if later:
                self.data_received(later)

    def upstream_lost(self, side: UpstreamSide, error: Exception | None) -> None:
        """Do to the client what the upstream did."""
        if side is not self._up:
            return
        self._up = None
        if isinstance(self._answer, UntilClosed) and error is None and self._state != "head":
            self._finish("complete")
        self._finish("upstream")
        if self._state == "head" and len(self._head):
            return  # its next request gets a connection that lives
        self._state = "over"
        self.transport.close()

    def upstream_full(self, *, full: bool) -> None:
        """Let the client wait while the upstream is behind."""
        self._hold("upstream", held=full)

    # --- ends

    def _broken(self, problem: str) -> None:
        """Give up an answer that cannot be passed on."""
        self._finish("upstream")
        if self._answer is None:
            self._turn_away(502, problem, "malformed_answer")
        else:
            self._drop_upstream()
            self._state = "over"
            self.transport.close()

    def _turn_away(self, status: int, message: str, reason: str) -> None:
        self._office.refused(reason)
        self._finish("upstream")
        if self._answer is None and self._state != "tunnel":
            self.transport.write(refusal(status, message))
        self._linger()

    def _linger(self) -> None:
        """Close, but not before the answer was read: closing at once may take it back."""
        self._drop_upstream()
        self._state = "over"
        for reason in tuple(self._held_by):
            self._hold(reason, held=False)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._allow(LINGER_S, self.transport.close)

    def _drop_upstream(self) -> None:
        if self._dialling is not None:
            self._dialling.cancel()
            self._dialling = None
        up, self._up = self._up, None
        if up is not None:
            up.transport.abort()

    def _finish(self, ending: Ending) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.finish(ending)

    def _hold(self, reason: str, *, held: bool) -> None:
        before = bool(self._held_by)
        (self._held_by.add if held else self._held_by.discard)(reason)
        if bool(self._held_by) != before and not self.transport.is_closing():
            if held:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def _allow(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        """Give the client so much time from now on; ``None`` gives it any."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, then or self.transport.abort)

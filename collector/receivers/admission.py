"""Take export requests in, whatever protocol carried them: unpack, journal, count, answer."""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync

from collector.config import ReceiveConfig
from collector.journal_records import Entry
from collector.otlp import Batch, Encoding, Signal, parse, response
from collector.receivers.bearer import credential_hash
from collector.receivers.compression import inflate
from collector.receivers.intake import Allowance, Intake
from collector.receivers.refusals import INTERNAL, Refusal, refusal_of
from collector.tokens import ANYBODY, Grant

HEAVY_BYTES = 256 * 1024
"""Bodies from here on are parsed beside the event loop."""

HEAVY_COMPRESSED_BYTES = 8 * 1024
"""Compressed ones already from here on, for they may grow a thousandfold."""

HEAVY_AT_ONCE = 2
"""Heavy bodies worked on at a time; it bounds what may be decompressed and not yet counted."""

Accept = Callable[[Entry, Batch], Awaitable[None]]
"""Makes a request durable and hands it on; returns once it may be acknowledged."""

Made = TypeVar("Made")


class Count(Protocol):
    """Raise a counter."""

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a request besides its body."""

    receiver: str
    """Way in, as counters and the journal name it."""
    signal: Signal
    encoding: Encoding
    compression: str
    """One of ``compression.ENCODINGS``."""
    authorization: str
    """As shown; only a hash of it is kept."""
    caller: Grant
    """Whose token it was, and so whose traffic this is."""


class Admission:
    """Take in what the receivers have read; one for all of them, so that its bounds hold together."""

    def __init__(
        self,
        *,
        accept: Accept,
        count: Count,
        limits: ReceiveConfig,
        clock_ns: Callable[[], int],
        log: logging.Logger,
    ) -> None:
        """Take what is done with requests.

        Args:
            accept: Makes an accepted request durable and hands it to the pipeline. It may raise
                ``RetryableError``, which senders are told as such.
            count: Raises ``requests_rejected_total{receiver,reason}`` and
                ``spans_rejected_total{receiver,reason}`` (``log_records_rejected_total`` for logs).
            limits: Largest bodies, and how much of them is held at a time.
            clock_ns: Unix time in nanoseconds.
            log: Told of unexpected errors, once a kind.
        """
        self._accept = accept
        self._count = count
        self._max_decompressed = limits.max_decompressed
        self._clock_ns = clock_ns
        self._log = log
        self.intake = Intake(limits.max_in_flight)
        """What bodies take their bytes from while they are read."""
        self._heavy = anyio.CapacityLimiter(HEAVY_AT_ONCE)
        self._known: set[str] = set()
        """Unexpected errors already in the log, by class."""

    async def take(self, sent: Sent, raw: bytes, hold: Allowance) -> bytes:
        """Take a body and return the answer, an export response in the request's encoding.

        Args:
            sent: What else is known of the request.
            raw: The body as sent, already held.
            hold: What the decompressed body is taken from as well.

        Raises:
            PermanentError: The body is not what it should be, or too large when decompressed.
            RetryableError: It cannot be taken now.
        """
        signal, encoding = sent.signal, sent.encoding
        if not raw:
            return response(signal, encoding, rejected=0, message="")
        body, batch = await self._parse(signal, encoding, raw, sent.compression)
        if body is not raw:
            hold.take(len(body))
        if batch.accepted:
            entry = Entry(
                received_ns=self._clock_ns(),
                receiver=sent.receiver,
                signal=signal,
                encoding=encoding,
                tenant=sent.caller.tenant,
                credential=_credential(sent),
                items=batch.accepted,
                body=body,
            )
            await self._accept(entry, batch)
        if batch.rejected:
            name = "spans_rejected_total" if signal == "traces" else "log_records_rejected_total"
            self._count(name, batch.rejected, {"receiver": sent.receiver, "reason": "invalid"})
        return response(signal, encoding, rejected=batch.rejected, message=batch.reject_reason)

    def reject(self, receiver: str, reason: str) -> None:
        """Count a request that was not taken."""
        self._count("requests_rejected_total", 1.0, {"receiver": receiver, "reason": reason})

    def refusal(self, error: Exception) -> tuple[Refusal, str]:
        """Return the answer to an error and what to tell the sender.

        One that nobody foresaw is a bug of ours, which must not make the sender drop its batch.
        It is logged once a kind.
        """
        refusal = refusal_of(error)
        if refusal is not None:
            return refusal, str(error)
        kind = type(error).__name__
        if kind not in self._known:
            self._known.add(kind)
            self._log.error("receiving failed; further %s are only counted", kind, exc_info=error)
        return INTERNAL, f"an unexpected {kind}; try again"

    async def _parse(
        self, signal: Signal, encoding: Encoding, raw: bytes, compression: str
    ) -> tuple[bytes, Batch]:
        """Decompress and parse, beside the event loop when it may take long."""
        limit = self._max_decompressed
        compressed = compression != "identity"
        if len(raw) >= (HEAVY_COMPRESSED_BYTES if compressed else HEAVY_BYTES):

            def work() -> tuple[bytes, Batch]:
                body = inflate(raw, compression, limit=limit)
                return body, parse(signal, encoding, body)

            return await self._beside(work)
        body = inflate(raw, compression, limit=limit)
        if len(body) >= HEAVY_BYTES:
            return body, await self._beside(functools.partial(parse, signal, encoding, body))
        return body, parse(signal, encoding, body)

    async def _beside(self, work: Callable[[], Made]) -> Made:
        """Run work in a thread; what it had made is gone when it raises.

        An error that crosses threads ends up in a cycle with the future that carried it, and keeps
        every frame it passed, with bodies of megabytes, until the garbage collector comes by.
        """

        def outcome() -> tuple[Made] | Exception:
            try:
                return (work(),)
            except Exception as error:  # noqa: BLE001  # raised again below
                error.__cause__ = error.__context__ = None
                return error.with_traceback(None)

        made = await run_sync(outcome, limiter=self._heavy)
        if isinstance(made, tuple):
            return made[0]
        try:
            raise made
        finally:
            del made


def _credential(sent: Sent) -> str:
    """Name the sender by its token's name, which stays when the token is changed."""
    if sent.caller.name == ANYBODY:
        return credential_hash(sent.authorization)
    return credential_hash(f"token {sent.caller.name}")

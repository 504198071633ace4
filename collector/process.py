"""Run the threads and ports around the data path, and stop them in order."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from collector.data_path import DataPath
from collector.hindsight import Label, Outcome
from collector.journal_records import ConversationEnd, Entry, EntrySignal, HindsightSignal
from collector.otlp import Batch
from collector.servers import Port, run_all
from collector.totals import Deltas, SeriesKey

_LOG = logging.getLogger(__name__)

SWITCH_S = 0.0005
"""Longest a thread computes while another one wants to."""
_STOPPING = (signal.SIGINT, signal.SIGTERM)
_LAST_WORD_S = 0.5
"""What a thread is given to end when that time is used up."""


class Process:
    """Hold the threads of one instance."""

    def __init__(
        self, path: DataPath, *, clock_ns: Callable[[], int], shutdown_s: float = 10.0
    ) -> None:
        """Take what is to be run.

        Args:
            path: The stages.
            clock_ns: Unix time in nanoseconds.
            shutdown_s: Longest that a stop waits for all threads together.
        """
        self.path = path
        self._clock_ns = clock_ns
        self._shutdown_s = shutdown_s
        self._ending = threading.Event()
        """Set when nothing more is received."""
        self._stop = threading.Event()
        """Set when no more is to be begun, neither."""
        self._thread = threading.Thread(target=self._work, name="pipeline", daemon=True)
        self._beside = [
            threading.Thread(target=work, args=(self._stop,), daemon=True)
            for work in path.background
        ]
        for source in path.sources:
            self.beside(source)
        self._recovered = threading.Event()
        self._failed = ""
        self.on_failure: Callable[[], None] = lambda: None
        """Called on the pipeline's thread when it cannot go on."""

    # --- what the ports need

    async def accept(self, entry: Entry, batch: Batch) -> None:
        """Make a request durable, then hand it to the pipeline."""
        row = await asyncio.wrap_future(self.path.journal.append(entry))
        self.path.handoff.offer(msgspec.structs.replace(entry, id=row), batch)

    async def end(self, end: ConversationEnd) -> None:
        """Make the end of a conversation durable."""
        await self._append("end", msgspec.json.encode(end), items=0)

    async def note(self, words: Sequence[Outcome] | Sequence[Label]) -> None:
        """Make outcomes or labels durable."""
        signal: HindsightSignal = "outcomes" if isinstance(words[0], Outcome) else "labels"
        await self._append(signal, msgspec.json.encode(words), items=len(words))

    async def _append(self, signal: EntrySignal, body: bytes, *, items: int) -> None:
        entry = Entry(
            received_ns=self._clock_ns(),
            receiver="api",
            signal=signal,
            encoding="json",
            items=items,
            body=body,
        )
        await asyncio.wrap_future(self.path.journal.append(entry))
        self.path.handoff.wake()

    @property
    def failed(self) -> bool:
        """Return whether the pipeline could not go on."""
        return bool(self._failed)

    def problems(self) -> list[str]:
        """Say what keeps this instance from being ready."""
        found = []
        if self._failed:
            found.append(f"the pipeline stopped: {self._failed}")
        if self._ending.is_set():
            found.append("the process is stopping")
        if not self.path.journal.writable:
            found.append(
                "the journal cannot be written, senders are turned away; is the disk full?"
            )
        if not self.path.writer.healthy:
            found.append(
                f"the store does not take rows ({self.path.writer.last_error}); "
                "they stay in the journal"
            )
        return found

    def gauges(self) -> Deltas:
        """Return what is true now, by series."""
        path = self.path
        behind = path.journal.spans_in_flight()
        lag = self._clock_ns() / 1e9 - path.pipeline.now if behind else 0.0
        values: dict[SeriesKey, float] = {
            ("pipeline_lag_seconds", ()): max(0.0, lag),
            ("spans_in_flight", ()): behind,
            ("journal_bytes", ()): path.journal.bytes_used,
            ("journal_requests", ()): path.journal.pending,
            # No counter: what the disk refuses cannot be made durable on it.
            ("journal_writable", ()): float(path.journal.writable),
        }
        if self._recovered.is_set():  # before that they are unknown, which is not nought
            values["open_episodes", ()] = path.assembler.open_episodes
            values["outbox_rows", ()] = path.shipping.unstored
        if path.pipeline.last_score_s:
            values["last_score_timestamp_seconds", ()] = path.pipeline.last_score_s
        return {**values, **path.gauges()}

    # --- life

    def beside(self, work: Callable[[threading.Event], None]) -> None:
        """Take requests in on a thread of its own from the start on, until told to stop."""
        self._beside.append(threading.Thread(target=work, args=(self._ending,), daemon=True))

    def start(self) -> None:
        """Start the threads."""
        # Most objects live as long as an episode; looking at them young would cost every request.
        gc.set_threshold(50_000, 20, 100)
        gc.freeze()
        # Receiving asks for the interpreter after every read; each time it waits for the pipeline.
        sys.setswitchinterval(SWITCH_S)
        self.path.writer.start()
        self._thread.start()
        for thread in self._beside:
            thread.start()

    def stop(self) -> None:
        """Finish what was received, within the time given; what is not done stays in the journal.

        The pipeline gets half of that time, so that the store gets what it concluded.
        """
        until = time.monotonic() + self._shutdown_s

        def left() -> float:
            return max(_LAST_WORD_S, until - time.monotonic())

        self._ending.set()
        self.path.handoff.wake()
        # What an earlier process left is read again by the next one too.
        if self._thread.is_alive() and not self.path.pipeline.recovering:
            self._thread.join(self._shutdown_s / 2)
        self._stop.set()
        self.path.handoff.wake()
        if self._thread.is_alive():
            self._thread.join(left())
        self.path.writer.close(left())
        if not self._failed and not self._thread.is_alive():
            self.path.pipeline.close()
        for thread in self._beside:
            if thread.is_alive():
                thread.join(left())
        self.path.journal.close()
        self.path.store.close()

    def _work(self) -> None:
        try:
            self.path.recover()
            self._recovered.set()
            self.path.pipeline.run(self._stop, self._ending)
        except BaseException as error:  # noqa: BLE001 - its last word; /readyz repeats it
            # Its text may quote traffic; the log has it, redacted.
            self._failed = type(error).__name__
            _LOG.exception("the pipeline cannot go on; what was acknowledged is in the journal")
            self.on_failure()


def serve_until_told(
    process: Process, servers: Sequence[Port], *, announce: Callable[[], None]
) -> int:
    """Serve until SIGINT or SIGTERM, then drain; a second signal ends at once.

    Returns 1 when the pipeline could not go on, so that a supervisor starts us again.

    Raises:
        ConfigError: a port was lost since it was bound.
    """
    try:
        with asyncio.Runner(loop_factory=_event_loop) as runner:
            runner.run(_serve(process, servers, announce))
    finally:
        process.stop()
    return 1 if process.failed else 0


def _event_loop() -> asyncio.AbstractEventLoop:
    """Make the fast event loop where there is one."""
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _serve(process: Process, servers: Sequence[Port], announce: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def stop_all() -> None:
        for server in servers:
            server.stop()

    def on_signal() -> None:
        # From here on a signal ends the process as it would any other, whatever hangs.
        for number in _STOPPING:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop_all()

    def on_failure() -> None:
        loop.call_soon_threadsafe(stop_all)

    process.on_failure = on_failure
    for number in _STOPPING:
        loop.add_signal_handler(number, on_signal)
    process.start()
    for server in servers:
        await server.open()
    announce()
    await run_all(servers)

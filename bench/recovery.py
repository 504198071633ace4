"""Measure how soon an instance receives again whose journal is large, and when it has taken it over.

A journal is filled with the requests of conversations that are still open, as a crash leaves it, and an
instance is started on it. Two cases: the requests were concluded before (it reads them again to have
the conversations back), or were only acknowledged (it does all the work on them).
"""

from __future__ import annotations

import argparse
import http.client
import shutil
import sys
import tempfile
import threading
import time
from http import HTTPStatus
from pathlib import Path

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from bench.corpus_spans import INVENTED, corpus_spans
from bench.invented_talks import invented_talks
from bench.load import Body
from bench.loopback import get
from bench.outrider import announced, samples, start
from bench.usage import cpu_seconds, forget_peak, peak_bytes
from collector import serve_file
from collector.app import data_path
from collector.config import Config, StoreConfig
from collector.journal import Journal
from collector.journal_records import Entry
from collector.otlp_encode import resource_proto
from collector.own_telemetry import SERVICE

GIB = 1024**3
CHUNK = 200
"""Conversations invented at a time."""
_SAID_END = b"outrider.conversation.end"
_OPEN = b"outrider.conversation.enD"
"""Of the same length, so that the request stays one: nobody says that the conversation is over."""
_PATH = "/metrics?name[]=outrider_open_episodes&name[]=outrider_spans_in_flight"
OWN = ExportTraceServiceRequest(
    resource_spans=[
        ResourceSpans(
            resource=resource_proto({"service.name": SERVICE}),
            scope_spans=[
                ScopeSpans(spans=[Span(trace_id=b"t" * 16, span_id=b"s" * 8, name="own")])
            ],
        )
    ]
).SerializeToString()
"""A request that has to become durable, and of which nothing comes."""
NOWHERE = Config(store=StoreConfig(url="http://127.0.0.1:9"))
"""Nobody at the store's address: the engine's start is no part of this."""
_READ_AGAIN_S = 600.0


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """What one start came to."""

    concluded: bool
    """Whether the requests had been concluded before."""
    journal_bytes: int
    requests: int
    episodes: int
    """Open conversations."""
    receives_s: float
    """From the start of the process until a request was acknowledged."""
    recovered_s: float
    """Until all of them were open again and nothing was left to read."""
    cpu_s: float
    """CPU time of the process by then; what others leave of the machine is not in it."""
    peak_bytes: int
    """Peak resident memory meanwhile."""


def recovery(scratch: Path, *, size: int, concluded: bool, chunk: int = CHUNK) -> Recovered:
    """Fill a journal, start on it and measure."""
    directory = Path(tempfile.mkdtemp(prefix="recovery-", dir=scratch))
    data = directory / "data"
    data.mkdir()
    try:
        requests, episodes = fill(data, size=size, concluded=concluded, chunk=chunk)
        began = time.monotonic()
        server = start(data, directory, {"OUTRIDER__STORE__URL": NOWHERE.store.url})
        try:
            server.wait_until(lambda: serve_file.read(data) is not None)
            running = announced(data)
            port = int(running.otlp_http.rpartition(":")[2])
            server.wait_until(lambda: _acknowledges(port))
            receives_s = time.monotonic() - began
            forget_peak(server.pid)
            metrics = int(running.metrics.rpartition(":")[2])

            def recovered() -> bool:
                found = samples(get(metrics, _PATH)[1])
                return (
                    found.get("outrider_open_episodes") == episodes
                    and found.get("outrider_spans_in_flight") == 0
                )

            server.wait_until(recovered, timeout_s=_READ_AGAIN_S)
            recovered_s = time.monotonic() - began
            cpu_s = cpu_seconds(server.pid)
            peak = peak_bytes(server.pid)
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return Recovered(
        concluded=concluded,
        journal_bytes=size,
        requests=requests,
        episodes=episodes,
        receives_s=receives_s,
        recovered_s=recovered_s,
        cpu_s=cpu_s,
        peak_bytes=peak,
    )


def _acknowledges(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("POST", "/v1/traces", OWN, {"Content-Type": "application/x-protobuf"})
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def fill(data: Path, *, size: int, concluded: bool, chunk: int = CHUNK) -> tuple[int, int]:
    """Write requests of open conversations; return how many requests and conversations."""
    journal = Journal.open(
        data / "journal.db",
        max_bytes=4 * GIB + 2 * size,
        seen_limit=1_000_000,
        clock_ns=time.time_ns,
    )
    requests = 0
    seed = 0
    try:
        while journal.bytes_used < size:
            seed += 1
            talks = list(invented_talks(chunk, seed=seed))
            for body in corpus_spans(talks, story=INVENTED, seed=seed).bodies:
                journal.append(_entry(body)).result()
                requests += 1
    finally:
        journal.close()
    if concluded:
        _conclude(data)
    return requests, seed * chunk


def _conclude(data: Path) -> None:
    """Process the journal as an instance does, and let go of it as a crash does."""
    path = data_path(NOWHERE, data, clock_ns=time.time_ns)
    path.recover()
    never = threading.Event()
    while path.pipeline.step(never):
        pass
    time.sleep(2 * NOWHERE.assemble.turn_quiet)  # the first turns' scores are due then
    while path.pipeline.step(never):
        pass
    path.journal.close()
    path.store.close()


def _entry(body: Body) -> Entry:
    return Entry(
        received_ns=time.time_ns(),
        receiver="otlp_http",
        signal="traces",
        encoding="proto",
        items=body.spans,
        body=body.data.replace(_SAID_END, _OPEN),
    )


def main() -> int:
    """Measure both cases and print them."""
    parser = argparse.ArgumentParser(prog="python -m bench.recovery", description=__doc__)
    parser.add_argument("--size", type=float, default=1.0, metavar="GIB", help="default: 1")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outrider-recovery-") as scratch:
        for concluded in (True, False):
            found = recovery(Path(scratch), size=int(arguments.size * GIB), concluded=concluded)
            print(line(found), flush=True)
    return 0


def line(found: Recovered) -> str:
    """Write one start as a sentence."""
    return (
        f"{found.journal_bytes / GIB:.2f} GiB in {found.requests} requests of {found.episodes} open"
        f" conversations, {'concluded' if found.concluded else 'only acknowledged'} before:"
        f" receives after {found.receives_s:.1f} s, recovered after {found.recovered_s:.1f} s,"
        f" {found.cpu_s:.1f} s of CPU, peak {found.peak_bytes / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Be the model provider and the one who sets the tasks, on one local port.

A driver asks ``GET /next`` for a job, sends its calls below ``/jobs/<job>/<call>/`` and is given
what was recorded; a call of ``-`` gets the job's next answer. What went over the wire is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any

import msgspec

from tests.capture.facts import Exchange
from tests.capture.recordings import Cassette, Recording
from tests.listening import Listening

Reply = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""
_OVER = b'{"error": {"type": "invalid_request_error", "message": "nothing more was recorded"}}'


class Job:
    """One cassette to be played, and what came of it."""

    def __init__(self, cassette: Cassette, task: dict[str, Any]) -> None:
        self.cassette = cassette
        self.task = task
        """What the driver is told."""
        self.exchanges: list[Exchange] = []
        self.ran_out = False
        """Whether the driver asked for more than was recorded."""
        self.complaint = ""
        """What went wrong in the driver."""

    def answer(self, call: str, body: bytes) -> Recording | None:
        """Return what was recorded, and note what was asked."""
        recordings = self.cassette.recordings
        number = len(self.exchanges) if call == "-" else int(call)
        if number >= len(recordings):
            self.ran_out = True
            return None
        found = recordings[number]
        self.exchanges.append(
            Exchange(
                api=found.api,
                request=msgspec.json.decode(body),
                status=found.status,
                content_type=found.headers.get("content-type", ""),
                body=found.body,
            )
        )
        return found


class Provider(Listening):
    """Hand out jobs in order and answer their calls."""

    def __init__(self, jobs: Sequence[Job], *, before: Callable[[int], None]) -> None:
        """Take the jobs, and who is told the number of each before it is handed out.

        ``before`` is told the number of jobs in the end.
        """
        self._jobs = jobs
        self._before = before
        self._position = 0
        self._lock = threading.Lock()
        super().__init__(_handler(self))

    def next(self) -> bytes:
        """Return the next job as JSON; empty when all are done."""
        number = self._position
        self._before(number)
        if number == len(self._jobs):
            return b""
        self._position += 1
        url = f"{self.url}/jobs/{number}"
        return msgspec.json.encode({"url": url, **self._jobs[number].task})

    def complain(self, about: str) -> None:
        """Note what went wrong in the job under way."""
        if self._position:
            self._jobs[self._position - 1].complaint = about

    def answer(self, path: str, body: bytes) -> Recording | None:
        """Answer a call."""
        _, _, job, call, *_ = path.split("/")
        with self._lock:
            return self._jobs[int(job)].answer(call, body)


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(_Answering):
        def next(self) -> bytes:
            return provider.next()

        def posted(self, path: str, body: bytes) -> Reply:
            if path == "/complaints":
                provider.complain(body.decode(errors="replace"))
                return 200, {}, b""
            found = provider.answer(path, body)
            if found is None:
                return 410, {"content-type": "application/json"}, _OVER
            return found.status, found.headers, found.body

    return Handler


class _Answering(BaseHTTPRequestHandler):
    """Speak HTTP."""

    protocol_version = "HTTP/1.1"

    def next(self) -> bytes:
        """Return the next job."""
        raise NotImplementedError

    def posted(self, path: str, body: bytes) -> Reply:
        """Answer what was posted."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Answer a driver that asks for work."""
        self._send(200, {}, self.next())

    def do_POST(self) -> None:
        """Answer a client."""
        self._send(*self.posted(self.path, self._read()))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _read(self) -> bytes:
        if self.headers.get("transfer-encoding"):
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _chunk(self) -> bytes:
        data = self.rfile.read(int(self.rfile.readline().split(b";")[0], 16))
        self.rfile.readline()
        return data

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

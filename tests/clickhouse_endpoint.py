"""Serve the embedded engine over the part of ClickHouse's HTTP interface that clients use.

``Endpoint(directory)`` starts it in a process of its own, since an engine belongs to one
process and one directory, and injects faults on demand. Nothing here knows our tables.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import http.client
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

FaultMode = Literal["", "refuse", "hang", "error", "late", "half", "mute"]

_TRANSPORT = frozenset(
    [
        "query",
        "database",
        "default_format",
        "compress",
        "decompress",
        "query_id",
        "session_id",
        "session_timeout",
        "session_check",
        "wait_end_of_query",
        "client_protocol_version",
        "enable_http_compression",
        "send_progress_in_http_headers",
        "http_headers_progress_interval_ms",
        "buffer_size",
        "role",
        "quota_key",
        "user",
        "password",
    ]
)
_INSERT = re.compile(rb"\A\s*(INSERT\s+INTO\s+[^\n]*?)\s+FORMAT\s+(\w+)\s*(?:\n|\Z)", re.IGNORECASE)
_CODE = re.compile(r"Code: (\d+)\.")
_STATUS = {60: 404, 81: 404, 62: 400, 497: 403, 516: 403}


class Endpoint:
    """Run the endpoint as a process and steer it from a test."""

    def __init__(self, directory: Path, *, port: int = 0, password: str = "") -> None:
        """Start the process and wait until it listens."""
        self.directory = directory
        arguments = ["--directory", str(directory), "--port", str(port), "--password", password]
        self._process = subprocess.Popen(  # our own module
            [sys.executable, "-m", "tests.clickhouse_endpoint", *arguments],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent.parent,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the endpoint did not start"
        self.port = int(line)
        self.url = f"http://127.0.0.1:{self.port}"

    def fault(
        self, mode: FaultMode, *, times: int = -1, code: int = 0, status: int = 500, match: str = ""
    ) -> None:
        """Let the next requests fail.

        Args:
            mode: ``refuse`` closes the connection, ``hang`` never answers, ``error`` answers
                with a ClickHouse error; ``late`` runs the statement and closes the connection,
                ``half`` does so with the first half of the rows, ``mute`` runs it and never
                answers; empty ends the fault.
            times: How many requests; -1 until changed.
            code: ClickHouse error code of ``error``; 0 answers as a proxy would, without one.
            status: HTTP status of ``error``.
            match: Only requests whose statement contains this text.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        query = {"mode": mode, "times": times, "code": code, "status": status, "match": match}
        connection.request("POST", f"/fault?{urlencode(query)}")
        assert connection.getresponse().status == 200
        connection.close()

    def kill(self) -> None:
        """End the process without a goodbye."""
        self._process.kill()
        self._finish()

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._finish()

    def _finish(self) -> None:
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        """Return the running endpoint."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()


class _Engine:
    """One engine; a handle per set of settings, one query at a time."""

    def __init__(self, directory: str) -> None:
        # Any: the engine's package has no types.
        engine: Any = importlib.import_module("chdb")
        self._connect: Callable[[], Any] = lambda: engine.connect(directory)
        self._lock = threading.Lock()
        self._handles: dict[tuple[Any, ...], Any] = {(): self._connect()}

    def run(
        self,
        statement: bytes,
        output: str,
        *,
        database: str,
        settings: dict[str, str],
        parameters: dict[str, str],
    ) -> bytes:
        with self._lock:
            handle = self._handle(database, settings)
            insert = _INSERT.match(statement)
            if insert is None:
                result = handle.query(statement.decode(), output, params=parameters)
                return result.bytes() or b""
            with tempfile.NamedTemporaryFile() as data:
                data.write(statement[insert.end() :])
                data.flush()
                head, form = insert.group(1).decode(), insert.group(2).decode()
                handle.query(f"{head} FROM INFILE '{data.name}' FORMAT {form}", output)
            return b""

    def _handle(self, database: str, settings: dict[str, str]) -> Any:
        key = (database, *sorted(settings.items()))
        if key not in self._handles:
            handle = self._connect()
            if database:
                handle.query(f"USE `{database}`")
            for name, value in settings.items():
                handle.query(f"SET {name} = '{value}'")
            self._handles[key] = handle
        return self._handles[key]


class _Fault:
    """What goes wrong next."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.set({})

    def set(self, query: dict[str, str]) -> None:
        with self._lock:
            self.mode = query.get("mode", "")
            self.times = int(query.get("times", -1))
            self.code = int(query.get("code", 0))
            self.status = int(query.get("status", 500))
            self.match = query.get("match", "")

    def take(self, statement: bytes) -> str:
        """Return the fault that this statement meets."""
        with self._lock:
            if not self.mode or not self.times or self.match.encode() not in statement:
                return ""
            self.times -= self.times > 0
            return self.mode


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # headers and body in one packet, or each answer waits for a delayed ACK
    engine: _Engine
    fault: _Fault
    stopping: threading.Event
    password: str

    def do_GET(self) -> None:
        self._answer_statement(b"")

    def do_POST(self) -> None:
        self._answer_statement(self._body())

    def _answer_statement(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if parts.path == "/fault":
            self.fault.set(query)
            self._answer(200, b"")
            return
        if parts.path == "/ping":
            self._answer(200, b"Ok.\n")
            return
        if "query" in query:
            body = query["query"].encode() + (b"\n" + body if body else b"")
        if mode := self.fault.take(body):
            self._fail(mode, body, query)
            return
        if not self._admitted(query):
            self._refuse(516, "default: Authentication failed")
            return
        self._run(body, query)

    def _fail(self, mode: str, body: bytes, query: dict[str, str]) -> None:
        if mode == "error":
            self._refuse(self.fault.code, "injected by the test", status=self.fault.status)
            return
        if mode in ("late", "half", "mute"):
            self._execute(half_of(body) if mode == "half" else body, query)
        if mode in ("hang", "mute"):
            self.stopping.wait()
        self.close_connection = True

    def _run(self, body: bytes, query: dict[str, str]) -> None:
        output = query.get("default_format", "TabSeparated")
        try:
            result = self._execute(body, query)
        except RuntimeError as error:
            text = str(error)
            text = text[max(text.rfind("Code: "), 0) :]
            code = _CODE.search(text)
            self._refuse(int(code.group(1)) if code else 0, text)
            return
        headers = {"X-ClickHouse-Timezone": "UTC"}
        embedded = re.search(rb"\sFORMAT\s+(\w+)\s*;?\s*\Z", body)
        if result:
            headers["X-ClickHouse-Format"] = embedded.group(1).decode() if embedded else output
        if query.get("enable_http_compression") == "1" and "gzip" in self.headers.get(
            "Accept-Encoding", ""
        ):
            result = gzip.compress(result, 1)
            headers["Content-Encoding"] = "gzip"
        self._answer(200, result, headers)

    def _execute(self, body: bytes, query: dict[str, str]) -> bytes:
        return self.engine.run(
            body,
            query.get("default_format", "TabSeparated"),
            database=query.get("database", ""),
            settings={
                key: value
                for key, value in query.items()
                if key not in _TRANSPORT and not key.startswith("param_")
            },
            parameters={
                key.removeprefix("param_"): value
                for key, value in query.items()
                if key.startswith("param_")
            },
        )

    def _admitted(self, query: dict[str, str]) -> bool:
        if not self.password:
            return True
        given = self.headers.get("X-ClickHouse-Key", query.get("password", ""))
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            given = base64.b64decode(value).decode().partition(":")[2]
        return given == self.password

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(chunks)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _refuse(self, code: int, text: str, *, status: int = 0) -> None:
        headers = {"X-ClickHouse-Exception-Code": str(code)} if code else {}
        if code and not text.startswith("Code: "):
            text = f"Code: {code}. DB::Exception: {text}."
        self._answer(status or _STATUS.get(code, 500), text.encode(), headers)

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        summary = json.dumps({"written_rows": "0"})
        for name, value in {"X-ClickHouse-Summary": summary, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: tests read standard output."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def half_of(statement: bytes) -> bytes:
    """Return an insert with the first half of its rows, one a line, and one more when it is odd."""
    found = _INSERT.match(statement)
    if found is None:
        return statement
    rows = statement[found.end() :].splitlines(keepends=True)
    return statement[: found.end()] + b"".join(rows[: (len(rows) + 1) // 2])


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--password", default="")
    options = parser.parse_args()
    _Handler.engine = _Engine(options.directory)
    _Handler.fault = _Fault()
    _Handler.stopping = threading.Event()
    _Handler.password = options.password
    with _Server(("127.0.0.1", options.port), _Handler) as server:
        server.daemon_threads = True
        sys.stdout.write(f"{server.server_address[1]}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    os._exit(0)


if __name__ == "__main__":
    main()

"""Hold every port of a whole process to TLS, tokens, and what its answers tell a browser."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx
import pytest

from collector.answer_headers import HEADERS
from tests.collector.receivers.authority import Authority
from tests.collector.receivers.desk import TWO
from tests.collector.receivers.grpc_desk import call
from tests.e2e.served import PATIENCE_S, ROOT, Served, eventually, free_ports

TOKENS = {
    "AUTH__TOKENS__AGENTS__TOKEN": "t-write",
    "AUTH__TOKENS__AGENTS__RIGHTS": "write",
    "AUTH__TOKENS__AGENTS__TENANT": "acme",
    "AUTH__TOKENS__OPS__TOKEN": "t-read",
    "AUTH__TOKENS__OPS__RIGHTS": "read",
}
PROTO = {"content-type": "application/x-protobuf"}


def bearer(token: str) -> dict[str, str]:
    """Write the header that shows a token."""
    return {"authorization": f"Bearer {token}"}


class Secured:
    """An instance with tokens, whose every port speaks TLS."""

    def __init__(self, folder: Path, **settings: str) -> None:
        own = folder / "own"
        own.mkdir()
        self.authority = Authority(own)
        tls = self.authority.server()
        files = {"CERT_FILE": tls.cert_file, "KEY_FILE": tls.key_file}
        grpc_port, proxy_port = free_ports(2)
        self.grpc, self.proxy = f"127.0.0.1:{grpc_port}", f"https://127.0.0.1:{proxy_port}"
        self.served = Served(
            folder / "data",
            RECEIVE__GRPC=self.grpc,
            PROXY__ADDRESS=f"127.0.0.1:{proxy_port}",
            **TOKENS,
            **{
                f"{port}__TLS__{key}": path
                for port in ("RECEIVE", "PROXY", "CONSOLE", "TELEMETRY")
                for key, path in files.items()
            },
            **settings,
        )
        self.receive, self.console, self.metrics = (
            url.replace("http:", "https:")
            for url in (self.served.receive, self.served.console, self.served.metrics)
        )
        trust = ssl.create_default_context(cafile=self.authority.file)
        self.client = httpx.Client(verify=trust, trust_env=False, timeout=PATIENCE_S)

    def outrider(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the same configuration."""
        environ = {f"OUTRIDER__{key}": value for key, value in self.served.settings.items()}
        return subprocess.run(
            [sys.executable, "-m", "collector.cli", *arguments],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, **environ},
            check=False,
            timeout=PATIENCE_S,
        )


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Run such an instance."""
    made = Secured(tmp_path_factory.mktemp("secured"))
    with made.served, made.client:
        eventually(lambda: _listens(made.console), "the console answers")
        yield made


def _listens(url: str) -> bool:
    parts = httpx.URL(url)
    with socket.socket() as probe:
        return probe.connect_ex((parts.host, parts.port or 0)) == 0


def test_traffic_over_tls(secured: Secured) -> None:
    """Senders come in by their certificate-checked connection and their token, over HTTP and gRPC."""
    url = f"{secured.receive}/v1/traces"
    post = secured.client.post
    assert post(url, content=TWO, headers={**PROTO, **bearer("t-write")}).status_code == 200
    assert post(url, content=TWO, headers=PROTO).status_code == 401
    assert post(url, content=TWO, headers={**PROTO, **bearer("t-read")}).status_code == 403
    with grpc.secure_channel(secured.grpc, secured.authority.credentials()) as through:
        call(through, TWO, authorization="Bearer t-write")


def test_reading_over_tls(secured: Secured) -> None:
    """The console and the metrics answer to who may read, and to no plain HTTP."""
    get = secured.client.get
    assert get(f"{secured.console}/readyz").status_code == 200
    for url in (f"{secured.console}/v1/conversations", f"{secured.metrics}/metrics"):
        assert get(url).status_code == 401
        assert get(url, headers=bearer("t-write")).status_code == 403
        assert get(url, headers=bearer("t-read")).status_code == 200
        with pytest.raises(httpx.TransportError):
            get(url.replace("https:", "http:"))


def test_calls_over_tls(secured: Secured) -> None:
    """The proxy asks for a token that may write, over TLS."""
    answer = secured.client.post(f"{secured.proxy}/v1/messages", content=b"{}")
    assert (answer.status_code, answer.headers["x-outrider-error"]) == (401, "true")
    shown = {"x-outrider-token": "t-read"}
    assert secured.client.post(f"{secured.proxy}/v1/messages", headers=shown).status_code == 403


def test_commands_over_tls(secured: Secured) -> None:
    """Our own commands find the console, trust the authority they are given, and show a fitting token."""
    arguments = ("export", "scores", "--data-dir", str(secured.served.data_dir))
    done = secured.outrider(*arguments, "--ca-file", secured.authority.file)
    assert (done.returncode, done.stderr) == (0, "")
    assert secured.outrider(*arguments).returncode != 0
    said = secured.outrider("doctor", "--data-dir", str(secured.served.data_dir)).stdout
    assert "is ready" in said
    assert secured.outrider("check", "--data-dir", str(secured.served.data_dir)).returncode == 0


def test_a_person_over_tls(secured: Secured) -> None:
    """A browser logs in, and its cookie goes over TLS alone."""
    with httpx.Client(verify=ssl.create_default_context(cafile=secured.authority.file)) as browser:
        sent = browser.get(secured.console, headers={"accept": "text/html"}, follow_redirects=True)
        assert sent.url.path == "/login"
        form = {"token": "t-read", "to": "/ledger"}
        inside = browser.post(f"{secured.console}/login", data=form, follow_redirects=True)
        assert (inside.status_code, inside.url.path) == (200, "/ledger")
        assert "Log out" in inside.text
        assert list(browser.cookies) == ["__Host-outrider_session"]


def test_every_answer_of_every_port(secured: Secured) -> None:
    """Whatever is answered, errors and refusals included, tells a browser to make nothing of it."""
    reader = bearer("t-read")
    asked = [
        *((secured.console, path) for path in ("/healthz", "/v1", "/nothing", "/login", "/v1/x")),
        *(
            (secured.console, path)
            for path in ("/", "/v1/export/none", "/v1/conversations?limit=x")
        ),
        *((secured.metrics, path) for path in ("/metrics", "/", "/nothing")),
        *((secured.receive, path) for path in ("/v1/traces", "/", "/v1/metrics")),
        (secured.proxy, "/v1/models"),
    ]
    for base, path in asked:
        for headers in (reader, {}, {**reader, "accept": "text/html"}):
            for method in ("GET", "POST", "TRACE"):
                answer = secured.client.request(method, f"{base}{path}", headers=headers)
                _held(answer.headers, f"{method} {base}{path} {answer.status_code}")


def test_certificates_instead_of_tokens(tmp_path: Path) -> None:
    """Where a certificate is enough, its owner sends and reads without a token, and nobody else does."""
    authority = Authority(tmp_path)
    ports = {
        f"{port}__TLS__{key}": value
        for port in ("RECEIVE", "CONSOLE", "TELEMETRY")
        for key, value in (
            ("CLIENT_CA_FILE", authority.file),
            ("INSTEAD_OF_TOKEN", "true"),
        )
    }
    made = Secured(tmp_path, **ports)
    files = authority.client()
    # The instance's own certificates come from an authority of its own, callers' from this one.
    known = ssl.create_default_context(cafile=made.authority.file)
    known.load_cert_chain(files.cert, files.key)
    credentials = grpc.ssl_channel_credentials(
        Path(made.authority.file).read_bytes(),
        Path(files.key).read_bytes(),
        Path(files.cert).read_bytes(),
    )
    with made.served, made.client, httpx.Client(verify=known, trust_env=False) as client:
        eventually(lambda: _listens(made.console), "the console answers")
        for url in (f"{made.console}/v1/ledger", f"{made.metrics}/metrics"):
            assert client.get(url).status_code == 200
            with pytest.raises(httpx.TransportError):
                made.client.get(url, headers=bearer("t-read"))
        url = f"{made.receive}/v1/traces"
        assert client.post(url, content=TWO, headers=PROTO).status_code == 200
        with pytest.raises(httpx.TransportError):
            made.client.post(url, content=TWO, headers={**PROTO, **bearer("t-write")})
        with grpc.secure_channel(made.grpc, credentials) as through:
            call(through, TWO)
        forged = {"origin": "https://evil.example"}
        assert client.get(f"{made.console}/v1/ledger", headers=forged).status_code == 403


def test_answers_to_what_is_no_http(tmp_path: Path) -> None:
    """What the server answers by itself has the headers too."""
    with Served(tmp_path / "data") as served:
        eventually(lambda: _listens(served.console), "the console answers")
        for url in (served.console, served.metrics, served.receive):
            for noise in (b"HELLO\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000):
                head = _answer(url, noise).partition(b"\r\n\r\n")[0].decode()
                assert head.startswith("HTTP/1.1 400 ")
                lines = (line.partition(": ") for line in head.split("\r\n")[1:])
                _held({name: value for name, _, value in lines}, head)


def _answer(url: str, said: bytes) -> bytes:
    parts = httpx.URL(url)
    with socket.create_connection((parts.host, parts.port or 0), timeout=PATIENCE_S) as wire:
        wire.sendall(said[:70_000])
        return wire.recv(65_536)


def _held(headers: httpx.Headers | dict[str, str], what: str) -> None:
    for name, value in HEADERS.items():
        shown = headers.get(name, "")
        if name == "content-security-policy":
            assert "default-src 'none'" in shown, what
            assert "frame-ancestors 'none'" in shown, what
            assert "unsafe" not in shown, what
        else:
            assert shown == value, (what, name)

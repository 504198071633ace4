"""Test that wrong certificates are told at start, and that HTTP speaks TLS too."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import httpx
import msgspec
import pytest
from starlette.types import Receive, Scope, Send

from collector.config import TlsConfig
from collector.errors import ConfigError
from collector.servers import Listening, run_all
from collector.tls import certificates, server_context
from tests.collector.receivers.authority import Authority, ClientFiles


def test_no_tls() -> None:
    """Without files there is no TLS."""
    assert certificates(TlsConfig(), section="receive.tls") is None
    assert server_context(TlsConfig(), section="receive.tls") is None


def test_certificates_are_read(tmp_path: Path) -> None:
    """The files are read as they are."""
    authority = Authority(tmp_path)
    tls = authority.server(client_ca=authority.file)
    found = certificates(tls, section="receive.tls")

    assert found is not None
    assert found.chain == Path(tls.cert_file).read_bytes()
    assert found.key == Path(tls.key_file).read_bytes()
    assert found.client_ca == Path(authority.file).read_bytes()


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"cert_file": ""}, "receive.tls.cert_file: is missing"),
        ({"key_file": ""}, "receive.tls.key_file: is missing"),
        ({"key_file": "/no/such/file"}, "receive.tls.key_file: cannot read /no/such/file"),
        ({"client_ca_file": "/no/such/file"}, "receive.tls.client_ca_file: cannot read"),
    ],
)
def test_missing_files(tmp_path: Path, wrong: dict[str, str], key: str) -> None:
    """A file that is missing is named by its key."""
    tls = msgspec.structs.replace(Authority(tmp_path).server(), **wrong)
    with pytest.raises(ConfigError, match=f"^{key}"):
        certificates(tls, section="receive.tls")


def test_files_that_are_no_certificates(tmp_path: Path) -> None:
    """A file with something else in it, and a key of another certificate, are named."""
    authority = Authority(tmp_path)
    noise = tmp_path / "noise.pem"
    noise.write_text("nothing")
    tls = authority.server()
    for wrong in ({"cert_file": str(noise)}, {"key_file": authority.client().key}):
        with pytest.raises(ConfigError, match=r"^receive\.tls\.cert_file: .* are not a PEM"):
            certificates(msgspec.structs.replace(tls, **wrong), section="receive.tls")
    with pytest.raises(ConfigError, match=r"^receive\.tls\.client_ca_file: .* has no PEM"):
        certificates(msgspec.structs.replace(tls, client_ca_file=str(noise)), section="receive.tls")


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


async def _get(address: str, authority: Authority, shown: ClientFiles | None) -> str:
    trust = ssl.create_default_context(cafile=authority.file)
    if shown is not None:
        trust.load_cert_chain(shown.cert, shown.key)
    async with httpx.AsyncClient(verify=trust, trust_env=False) as client:
        return (await client.get(f"https://{address}/")).text


def test_http_over_tls(tmp_path: Path) -> None:
    """The HTTP port speaks TLS as well, and lets nobody in whose certificate it does not trust."""
    authority = Authority(tmp_path)
    tls = server_context(authority.server(client_ca=authority.file), section="receive.tls")
    port = Listening("receive.http", "127.0.0.1:0", _hello, tls=tls)

    async def ask() -> None:
        serving = asyncio.create_task(run_all([port]))
        assert await _get(port.address, authority, authority.client()) == "hello"
        with pytest.raises(httpx.TransportError):
            await _get(port.address, authority, None)
        port.stop()
        await serving

    asyncio.run(ask())

"""Make certificates for tests."""

from __future__ import annotations

from pathlib import Path

import grpc
import msgspec
import trustme

from collector.config import TlsConfig


class Authority:
    """An authority whose files lie in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ca = trustme.CA()
        self.file = self._write("ca.pem", self._ca.cert_pem.bytes())

    def server(self, *, client_ca: str = "") -> TlsConfig:
        """Make the settings of a server on this machine."""
        made = self._ca.issue_cert("localhost", "127.0.0.1")
        return TlsConfig(
            cert_file=self._write("server.pem", b"".join(b.bytes() for b in made.cert_chain_pems)),
            key_file=self._write("server.key", made.private_key_pem.bytes()),
            client_ca_file=client_ca,
        )

    def client(self) -> ClientFiles:
        """Make the files of a client."""
        made = self._ca.issue_cert("agent@shop.example")
        return ClientFiles(
            cert=self._write("client.pem", b"".join(b.bytes() for b in made.cert_chain_pems)),
            key=self._write("client.key", made.private_key_pem.bytes()),
        )

    def credentials(self, client: ClientFiles | None = None) -> grpc.ChannelCredentials:
        """Make what a gRPC client trusts and shows."""
        return grpc.ssl_channel_credentials(
            Path(self.file).read_bytes(),
            Path(client.key).read_bytes() if client else None,
            Path(client.cert).read_bytes() if client else None,
        )

    def _write(self, name: str, content: bytes) -> str:
        path = self._directory / name
        path.write_bytes(content)
        return str(path)


class ClientFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Paths of PEM files."""

    cert: str
    key: str

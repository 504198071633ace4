"""Serve OTLP/gRPC on a port that lives and dies with the others."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio

from collector.address import Address
from collector.errors import ConfigError
from collector.receivers.grpc_health import GrpcHealth
from collector.receivers.otlp_grpc import METHODS, OtlpGrpc
from collector.servers import bound, shown
from collector.tls import Certificates

GRACE_S = 5.0
"""Time for calls under way when the port stops; then they are cancelled."""
STREAMS = 100
"""Calls at a time on one connection."""


class GrpcPort:
    """One gRPC server on one port."""

    def __init__(
        self,
        key: str,
        address: str,
        otlp: OtlpGrpc,
        *,
        max_message: int,
        most: int = 512,
        certificates: Certificates | None = None,
    ) -> None:
        """Take the port at once, so that a taken one is an error before anything starts.

        Args:
            key: The configuration key of the address.
            address: ``host:port``.
            otlp: What answers the calls of senders.
            max_message: Largest message in bytes, as sent.
            most: Connections at a time; more are closed.
            certificates: For TLS; none for plain text.

        Raises:
            ConfigError: the address cannot be bound; the text names the key.
        """
        self._key = key
        self._reserved = bound(key, address)
        self.address = shown(address, self._reserved)
        """As bound; the port is real even when 0 was asked for."""
        self._otlp = otlp
        self._health = GrpcHealth({method[1:].partition("/")[0] for method in METHODS})
        self._options = _options(max_message, most=most)
        self._certificates = certificates
        self._told = asyncio.Event()
        self._server: grpc.aio.Server | None = None

    async def open(self) -> None:
        """Take calls from now on.

        Raises:
            ConfigError: somebody took the port meanwhile.
        """
        server = grpc.aio.server(options=self._options)
        server.add_generic_rpc_handlers((self._otlp, self._health))
        try:
            # The library takes no socket of ours; one that is bound and does not listen keeps the
            # port without being in its way.
            host, port = self._reserved.getsockname()[:2]
            numeric = str(Address(host=host, port=port))
            if self._certificates is None:
                server.add_insecure_port(numeric)
            else:
                server.add_secure_port(numeric, _credentials(self._certificates))
        except RuntimeError as error:
            await server.stop(None)
            raise ConfigError(
                f"{self._key}: cannot listen on {self.address}; "
                f"stop what uses it or set {self._key} to another address"
            ) from error
        finally:
            self.close()
        await server.start()
        self._server = server

    async def run(self) -> None:
        """Serve until told to stop, then finish the calls under way."""
        try:
            await self._told.wait()
        finally:
            self._health.stop()
            if self._server is not None:
                await self._server.stop(GRACE_S)
            await self._otlp.settled()

    def stop(self) -> None:
        """Take no more calls and finish those under way."""
        self._told.set()

    def close(self) -> None:
        """Let go of the port, when it was not opened."""
        self._reserved.close()


def _credentials(certificates: Certificates) -> grpc.ServerCredentials:
    return grpc.ssl_server_credentials(
        [(certificates.key, certificates.chain)],
        root_certificates=certificates.client_ca or None,
        require_client_auth=bool(certificates.client_ca),
    )


def _options(max_message: int, *, most: int) -> list[tuple[str, Any]]:
    return [
        ("grpc.max_receive_message_length", max_message),
        # It would decompress on the event loop and without a bound.
        ("grpc.per_message_decompression", 0),
        # Otherwise a second process could share the port, and take half of the calls.
        ("grpc.so_reuseport", 0),
        ("grpc.max_concurrent_streams", STREAMS),
        # It counts calls that have ended, and refuses a busy sender that keeps to the number above.
        ("grpc.http.overload_protection", 0),
        ("grpc.max_allowed_incoming_connections", most),
        ("grpc.server_handshake_timeout_ms", 10_000),
        ("grpc.http2.settings_timeout", 10_000),
        ("grpc.max_metadata_size", 32 * 1024),
        ("grpc.absolute_max_metadata_size", 64 * 1024),
        # Senders that ping often are not sent away: 10 seconds is the least that clients allow.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        # Find out about those who vanished, and let go of the idle; they come back by themselves.
        ("grpc.keepalive_time_ms", 120_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.max_connection_idle_ms", 900_000),
    ]

"""Open the ports that take OTLP."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from collector.address import parse_address
from collector.callers import Callers, programs
from collector.config import Config
from collector.connections import Bounds, allowed
from collector.receivers.admission import Accept, Admission, Count
from collector.receivers.otlp_http import CROWDED, otlp_http
from collector.servers import Listening, Port
from collector.tls import certificates, server_context
from collector.tokens import Tokens


def otlp_ports(
    config: Config,
    *,
    tokens: Tokens,
    accept: Accept,
    count: Count,
    clock_ns: Callable[[], int],
    log: logging.Logger,
) -> dict[str, Port]:
    """Bind the ports, by their configuration keys; nothing is served yet.

    Args:
        config: Addresses, limits and TLS.
        tokens: What senders must show, where there are any.
        accept: As ``Admission`` takes it.
        count: As ``Admission`` takes it.
        clock_ns: Unix time in nanoseconds.
        log: Told of unexpected errors, once a kind.

    Raises:
        ConfigError: an address or a certificate cannot be used; the text names the key.
    """
    limits = config.receive

    certified = limits.tls.instead_of_token
    admission = Admission(accept=accept, count=count, limits=limits, clock_ns=clock_ns, log=log)
    ports: dict[str, Port] = {
        "receive.http": Listening(
            "receive.http",
            limits.http,
            otlp_http(
                admission,
                limits=limits,
                callers=programs(
                    host=parse_address(limits.http).host, tokens=tokens, certified=certified
                ),
            ),
            bounds=Bounds(most=allowed(share=1 / 2, at_most=1_024)),
            refused=lambda: count("requests_rejected_total", 1.0, CROWDED),
            tls=server_context(limits.tls, section="receive.tls"),
        )
    }
    if limits.grpc:
        # Its core writes each caller's mistakes to standard error, without end.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        from collector.receivers.grpc_port import GrpcPort  # noqa: PLC0415 - only where it is used
        from collector.receivers.otlp_grpc import OtlpGrpc  # noqa: PLC0415

        ports["receive.grpc"] = GrpcPort(
            "receive.grpc",
            limits.grpc,
            OtlpGrpc(
                admission,
                limits=limits,
                callers=Callers(host="", tokens=tokens, any_name=True, certified=certified),
            ),
            max_message=limits.max_body,
            most=allowed(share=1 / 4, at_most=512),
            certificates=certificates(limits.tls, section="receive.tls"),
        )
    return ports

"""Test that what we send to is tried, and that nothing secret is shown."""

from __future__ import annotations

import socket

from collector.doctor.peers import peers


def test_one_that_listens_and_one_that_does_not() -> None:
    """A port that takes connections is well; one that does not is named by its key."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = listening.getsockname()[1]
        with socket.create_server(("127.0.0.1", 0)) as other:
            gone = other.getsockname()[1]
        found = list(
            peers(
                [
                    ("telemetry.otlp_endpoint", f"http://127.0.0.1:{there}/v1"),
                    ("alerts.webhook", f"http://ann:hush@127.0.0.1:{gone}/secret"),
                ]
            )
        )
    assert [one.status for one in found] == ["ok", "fail"]
    assert "alerts.webhook" in found[1].fix
    assert "hush" not in found[1].says
    assert "secret" not in found[1].says


def test_a_port_that_is_not_written() -> None:
    """The scheme's own port is meant."""
    tried = []
    urls = [("proxy.anthropic", "https://api.example.com"), ("alerts.webhook", "http://[::1]/x")]
    list(peers(urls, connect=lambda host, port: tried.append((host, port))))
    assert tried == [("api.example.com", 443), ("::1", 80)]

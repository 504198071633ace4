"""A configuration that would have us talk to ourselves is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.config_file import load
from collector.errors import ConfigError
from collector.loop_checks import is_here
from tests.e2e.served import Served

PROXY = {"PROXY__ADDRESS": "127.0.0.1:4320"}
SHADOW = {**PROXY, "PROXY__SHADOW__SHARE": "0.1", "PROXY__SHADOW__PROVIDER": "anthropic"}
KAFKA = {"KAFKA__BOOTSTRAP": "broker:9092"}
OPEN = {"RECEIVE__HTTP": "0.0.0.0:4318", "AUTH__TOKEN": "long-enough-for-anybody"}


def read(**settings: str) -> None:
    """Load a configuration of these variables."""
    load(None, {f"OUTRIDER__{key}": value for key, value in settings.items()})


@pytest.mark.parametrize(
    ("settings", "key", "port"),
    [
        (
            {"TELEMETRY__OTLP_ENDPOINT": "http://127.0.0.1:4318"},
            "telemetry.otlp_endpoint",
            "receive.http",
        ),
        (
            {"TELEMETRY__OTLP_ENDPOINT": "http://localhost:4317/"},
            "telemetry.otlp_endpoint",
            "receive.grpc",
        ),
        (
            {"TELEMETRY__OTLP_ENDPOINT": "http://localhost:9464"},
            "telemetry.otlp_endpoint",
            "telemetry.metrics",
        ),
        (
            {**OPEN, "TELEMETRY__OTLP_ENDPOINT": "http://127.0.0.1:4318"},
            "telemetry.otlp_endpoint",
            "receive.http",
        ),
        (
            {"RECEIVE__HTTP": "127.0.0.1:80", "TELEMETRY__OTLP_ENDPOINT": "http://0.0.0.0"},
            "telemetry.otlp_endpoint",
            "receive.http",
        ),
        (
            {"RECEIVE__HTTP": "[::1]:4318", "TELEMETRY__OTLP_ENDPOINT": "http://[::1]:4318"},
            "telemetry.otlp_endpoint",
            "receive.http",
        ),
        ({"ALERTS__WEBHOOK": "http://127.0.0.1:8090/hook"}, "alerts.webhook", "console.address"),
        (
            {**PROXY, "PROXY__EXPORT__ENDPOINT": "http://127.0.0.1:4318"},
            "proxy.export.endpoint",
            "receive.http",
        ),
        (
            {**PROXY, "PROXY__ANTHROPIC": "http://localhost:4320"},
            "proxy.anthropic",
            "proxy.address",
        ),
        ({**PROXY, "PROXY__OPENAI": "http://127.0.0.1:4320/v1"}, "proxy.openai", "proxy.address"),
        (
            {**SHADOW, "PROXY__SHADOW__BASE_URL": "http://127.0.0.1:4320"},
            "proxy.shadow.base_url",
            "proxy.address",
        ),
    ],
)
def test_a_loop_is_refused(settings: dict[str, str], key: str, port: str) -> None:
    """Whatever is sent, no port of this instance may be where to; the error names both keys."""
    with pytest.raises(ConfigError, match=rf"^{key}: that is {port} \(.*itself without end"):
        read(**settings)


@pytest.mark.parametrize("topic", ["TRACES", "LOGS"])
def test_dead_letters_are_not_read_again(topic: str) -> None:
    """What cannot be read must not be written to where it is read from."""
    with pytest.raises(
        ConfigError, match=rf"^kafka\.dead_letters: 'x' is read as kafka\.{topic.lower()}"
    ):
        read(**KAFKA, KAFKA__DEAD_LETTERS="x", **{f"KAFKA__{topic}": "x"})


@pytest.mark.parametrize(
    "settings",
    [
        {"TELEMETRY__OTLP_ENDPOINT": "http://127.0.0.1:14318"},
        {"TELEMETRY__OTLP_ENDPOINT": "http://collector:4318"},
        {"TELEMETRY__OTLP_ENDPOINT": "http://127.0.0.2:4318"},
        {"TELEMETRY__OTLP_ENDPOINT": "http://192.0.2.7:4318"},
        {**OPEN, "TELEMETRY__OTLP_ENDPOINT": "http://192.0.2.7:4318"},
        {**OPEN, "TELEMETRY__OTLP_ENDPOINT": "http://collector:4318"},
        {**PROXY, "PROXY__ANTHROPIC": "http://127.0.0.1:8000"},
        {"PROXY__ANTHROPIC": "http://127.0.0.1:4318"},
        {"KAFKA__DEAD_LETTERS": "otlp_spans"},
        {**KAFKA, "KAFKA__DEAD_LETTERS": ""},
    ],
)
def test_what_is_no_loop(settings: dict[str, str]) -> None:
    """Other machines, other ports and what is switched off are nobody's fault."""
    read(**settings)


def test_an_address_of_this_machine_is_known() -> None:
    """Without asking a name server."""
    assert is_here("127.0.0.1")
    assert not is_here("192.0.2.7")
    assert not is_here("collector.example")


def test_a_start_is_refused_as_well(tmp_path: Path) -> None:
    """`serve` ends with the line that `check` prints."""
    served = Served(tmp_path / "data")
    served.settings["TELEMETRY__OTLP_ENDPOINT"] = served.receive
    assert "telemetry.otlp_endpoint: that is receive.http" in served.refusal()

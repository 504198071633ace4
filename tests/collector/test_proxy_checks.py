"""The ``proxy`` section's export and shadow are checked before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.config_file import load
from collector.errors import ConfigError

SHADOW = {"share": "0.1", "provider": "openai", "model": "next", "key": "${env:CANDIDATE_KEY}"}


def read(tmp_path: Path, **keys: dict[str, str]) -> None:
    """Load a configuration with these keys in its ``proxy`` section."""
    lines = ["proxy:"]
    for section, values in keys.items():
        lines.append(f"  {section}:")
        lines += [f"    {key}: {value}" for key, value in values.items()]
    path = tmp_path / "outrider.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    load(path, {"CANDIDATE_KEY": "sk-candidate", "BROKEN": "a\nb"})


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"model": "''", "base_url": "https://candidate.example/v9"},
        {"base_url": "http://127.0.0.1:8000", "key": "''"},
        {"key": "''", "caller_key": "true"},
        {"share": "0", "provider": "''"},
    ],
)
def test_shadows_that_can_be(tmp_path: Path, changed: dict[str, str]) -> None:
    """A candidate is another model, another endpoint or both."""
    read(tmp_path, shadow=SHADOW | changed)


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"provider": "''"}, "proxy.shadow.provider"),
        ({"provider": "mistral"}, "proxy.shadow.provider"),
        ({"model": "''"}, "proxy.shadow.model"),
        ({"base_url": "candidate.example"}, "proxy.shadow.base_url"),
        ({"base_url": "http://user@candidate.example"}, "proxy.shadow.base_url"),
        ({"key": "''"}, "proxy.shadow.key"),
        ({"key": "${env:BROKEN}"}, "proxy.shadow.key"),
        ({"caller_key": "true"}, "proxy.shadow.caller_key"),
        ({"variant": "production"}, "proxy.shadow.variant"),
        ({"variant": "' '"}, "proxy.shadow.variant"),
        ({"share": "2"}, "proxy.shadow.share"),
        ({"max_per_day": "0"}, "proxy.shadow.max_per_day"),
    ],
)
def test_shadows_that_cannot_be(tmp_path: Path, changed: dict[str, str], key: str) -> None:
    """The error names the key, and says no secret."""
    with pytest.raises(ConfigError, match=key) as caught:
        read(tmp_path, shadow=SHADOW | changed)
    assert "sk-candidate" not in str(caught.value)


def test_an_export_that_can_be(tmp_path: Path) -> None:
    """A secret stands in the environment."""
    headers = "{authorization: 'Bearer ${env:CANDIDATE_KEY}'}"
    read(tmp_path, export={"endpoint": "https://otlp.example/x", "headers": headers})


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"endpoint": "collector:4318"}, "proxy.export.endpoint"),
        ({"endpoint": "http://u:p@collector:4318"}, "proxy.export.endpoint"),
        ({"protocol": "http/json"}, "proxy.export.protocol"),
        ({"headers": "{'a b': c}"}, "proxy.export.headers"),
        ({"headers": "{a: '${env:BROKEN}'}"}, "proxy.export.headers"),
    ],
)
def test_exports_that_cannot_be(tmp_path: Path, changed: dict[str, str], key: str) -> None:
    """The error names the key."""
    with pytest.raises(ConfigError, match=key):
        read(tmp_path, export=changed)

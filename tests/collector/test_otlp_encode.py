"""Test the small parts of OTLP messages."""

from __future__ import annotations

from collector.otlp_encode import flag, number, resource_proto, text, texts


def test_values() -> None:
    """Each kind of value goes into its own field of the protocol."""
    assert text("k", "v").value.string_value == "v"
    assert number("k", 3).value.int_value == 3
    assert flag("k").value.bool_value is True
    assert [v.string_value for v in texts("k", ["a", "b"]).value.array_value.values] == ["a", "b"]


def test_resource() -> None:
    """A resource keeps its attributes in order."""
    resource = resource_proto({"service.name": "shop", "service.version": "2"})
    assert [pair.key for pair in resource.attributes] == ["service.name", "service.version"]

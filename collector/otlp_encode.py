"""Build the small parts of OTLP protobuf messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource


def text(key: str, value: str) -> KeyValue:
    """Build a string attribute."""
    return KeyValue(key=key, value=AnyValue(string_value=value))


def texts(key: str, values: Iterable[str]) -> KeyValue:
    """Build an attribute that is a list of strings."""
    items = [AnyValue(string_value=value) for value in values]
    return KeyValue(key=key, value=AnyValue(array_value=ArrayValue(values=items)))


def number(key: str, value: int) -> KeyValue:
    """Build an integer attribute."""
    return KeyValue(key=key, value=AnyValue(int_value=value))


def flag(key: str, *, value: bool = True) -> KeyValue:
    """Build a boolean attribute."""
    return KeyValue(key=key, value=AnyValue(bool_value=value))


def resource_proto(attributes: Mapping[str, str]) -> Resource:
    """Build a resource from string attributes."""
    return Resource(attributes=[text(key, value) for key, value in attributes.items()])

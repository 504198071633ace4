"""Describe one Prometheus alerting rule, and write rules as the files that are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import yaml

from alerts.stream_view import Severity

Format = Literal["prometheus", "operator"]

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One alert."""

    alert: str
    """Its name; in lower case the anchor of its runbook."""
    expr: str
    """PromQL."""
    severity: Severity
    summary: str
    """One line; a template."""
    description: str
    """What a person needs at night; a template."""
    dashboard: str = ""
    """Template of the link to where it can be looked at."""
    after_s: float = 0.0
    """How long the expression has to hold."""
    keep_s: float = 0.0
    """How long the alert goes on after it holds no more."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that are evaluated together."""

    name: str
    rules: tuple[Rule, ...]


def rule_file(groups: Sequence[Group], *, runbooks: str) -> str:
    """Write the file that Prometheus loads under ``rule_files``.

    Args:
        groups: The rules.
        runbooks: Where the runbooks are; each rule adds ``#`` and its name.
    """
    return _yaml(_body(groups, runbooks))


def rule_resource(groups: Sequence[Group], *, runbooks: str, name: str) -> str:
    """Write the PrometheusRule that the Prometheus operator takes.

    Args:
        groups: The rules.
        runbooks: Where the runbooks are.
        name: Name of the resource.
    """
    return _yaml(
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "outrider"}},
            "spec": _body(groups, runbooks),
        }
    )


def duration(seconds: float) -> str:
    """Write a duration as PromQL takes it: ``45m``, ``90s``; at least a second."""
    whole = max(1, round(seconds))
    for size, unit in _UNITS:
        if whole % size == 0:
            return f"{whole // size}{unit}"
    raise AssertionError("every whole number is a number of seconds")


def quoted(value: str) -> str:
    """Write a label value as a PromQL string."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _body(groups: Sequence[Group], runbooks: str) -> dict[str, Any]:
    return {
        "groups": [
            {"name": group.name, "rules": [_rule(rule, runbooks) for rule in group.rules]}
            for group in groups
        ]
    }


def _rule(rule: Rule, runbooks: str) -> dict[str, Any]:
    body: dict[str, Any] = {"alert": rule.alert, "expr": rule.expr}
    if rule.after_s:
        body["for"] = duration(rule.after_s)
    if rule.keep_s:
        body["keep_firing_for"] = duration(rule.keep_s)
    body["labels"] = {"severity": rule.severity}
    body["annotations"] = {"summary": rule.summary, "description": rule.description}
    if rule.dashboard:
        body["annotations"]["dashboard"] = rule.dashboard
    body["annotations"]["runbook_url"] = f"{runbooks}#{rule.alert.lower()}"
    return body


class _Dumper(yaml.SafeDumper):
    """Write texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    return text

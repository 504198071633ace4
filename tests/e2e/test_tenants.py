"""What one tenant sends never touches what another has, whatever ids it chooses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import said, span, trace_id, traces


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Give a fresh instance."""
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        yield instance


def call(
    name: str, words: str, *, trace: str, parent: str = "", id: str = "", at: float = 0.0
) -> bytes:
    """Write a model call."""
    named: dict[str, Any] = {"gen_ai__conversation__id": id} if id else {}
    return traces(
        span(
            name,
            trace=trace,
            parent=parent,
            at=at,
            gen_ai__operation__name="chat",
            gen_ai__input__messages=[said("user", words)],
            gen_ai__output__messages=[said("assistant", f"Yes: {words}")],
            outrider__tenant="somebody else",
            **named,
        )
    )


def told(instance: Instance) -> dict[str, list[list[str]]]:
    """Return what each tenant's conversations say."""
    found: dict[str, list[list[str]]] = {}
    for row in instance.export("conversations"):
        texts = [message["text"] for message in row["messages"] if message["role"] == "user"]
        found.setdefault(row["identity"]["tenant"], []).append(texts)
    return {tenant: sorted(talks) for tenant, talks in found.items()}


@pytest.mark.parametrize("id", ["", "the same"])
def test_the_same_ids(instance: Instance, id: str) -> None:
    """Spans of the same trace, span and conversation ids are two tenants' own, and both are kept."""
    instance.send([call("a", "anna's", trace="t", id=id)], tenant="acme")
    instance.send([call("a", "boris'", trace="t", id=id)], tenant="brill")
    instance.later(1_000)
    assert told(instance) == {"acme": [["anna's"]], "brill": [["boris'"]]}
    assert instance.total("spans_duplicate_total") == 0
    heads = instance.export("conversations")
    assert {tuple(head["trace_ids"]) for head in heads} == {(trace_id("t").hex(),)}
    assert len({head["conversation_id"] for head in heads}) == 1


@pytest.mark.parametrize("first", ["acme", "brill"])
def test_a_child_of_somebody_elses_span(instance: Instance, first: str) -> None:
    """A span that names another tenant's as its parent joins nothing of it, whichever comes first."""
    mine = call("a", "anna's", trace="t", id="anna")
    theirs = call("b", "boris'", trace="t", parent="a")
    bodies = [(mine, "acme"), (theirs, "brill")]
    for body, tenant in bodies if first == "acme" else reversed(bodies):
        instance.send([body], tenant=tenant)
    instance.later(1_000)
    assert told(instance) == {"acme": [["anna's"]], "brill": [["boris'"]]}


def test_a_resend_after_the_decision(instance: Instance) -> None:
    """A tenant's own resend is a duplicate; another's span of these ids is a new one."""
    instance.send([call("a", "anna's", trace="t")], tenant="acme")
    instance.later(1_000)
    instance.send([call("a", "anna's", trace="t")], tenant="acme")
    instance.send([call("a", "boris'", trace="t")], tenant="brill")
    instance.later(1_000)
    assert told(instance) == {"acme": [["anna's"]], "brill": [["boris'"]]}
    assert instance.total("spans_duplicate_total") == 1


def test_a_restart(tmp_path: Path) -> None:
    """Open conversations of two tenants with the same ids are two after a restart as well."""
    clock = Clock()
    with Instance(tmp_path / "data", clock=clock) as before:
        before.send([call("a", "anna's", trace="t")], tenant="acme")
        before.send([call("a", "boris'", trace="t")], tenant="brill")
        before.settle()
        before.abandon()
    with Instance(tmp_path / "data", clock=clock) as after:
        after.send([call("b", "anna's second", trace="t", at=1.0)], tenant="acme")
        after.later(1_000)
        found = {
            tenant: {text for texts in talks for text in texts}
            for tenant, talks in told(after).items()
        }
        assert found == {"acme": {"anna's", "anna's second"}, "brill": {"boris'"}}

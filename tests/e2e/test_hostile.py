"""Nothing that arrives stops the pipeline or costs the good beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from collector.journal_records import Entry
from tests.e2e.instance import START_NS, Clock, Instance
from tests.e2e.otlp import logs, record, said, span, trace_id, traces

GOOD = said("user", "Where is my kettle?")
REPLY = said("assistant", "In Ghent.")


@pytest.fixture
def clock() -> Clock:
    """Give a clock the test sets."""
    return Clock()


@pytest.fixture
def instance(tmp_path: Path, clock: Clock) -> Iterator[Instance]:
    """Give a fresh instance."""
    with Instance(tmp_path / "data", clock=clock) as instance:
        yield instance


def talk(conversation: str, *, name: str = "chat", at: float = 0.0, **attributes: Any) -> bytes:
    """Write one whole conversation of one call."""
    attributes.setdefault("gen_ai__input__messages", [GOOD])
    return traces(
        span(
            name,
            trace=conversation,
            at=at,
            gen_ai__operation__name="chat",
            gen_ai__conversation__id=conversation,
            gen_ai__output__messages=[REPLY],
            outrider__conversation__end=True,
            **attributes,
        )
    )


def decided(instance: Instance) -> set[str]:
    """Return the ids of the conversations that were decided and stored."""
    return {row["conversation_id"] for row in instance.export("conversations")}


@pytest.mark.parametrize(
    "messages",
    [
        '[{"role":"user","parts":[{"type":"text","content":"a@b.example"}],"n":1e400,"pad":"'
        + "x" * 600
        + '"}]',
        '[{"role":"user","parts":[{"type":"text","content":"hi"}],"n":' + "9" * 5_000 + "}]",
        "not JSON",
        "7",
        "null",
        '[["a"],[null],7]',
        '[{"role":7,"parts":{"a":1}}]',
        '[{"role":"user","parts":[{"type":"text","content":"\\ud800"}]}]',
        "[" * 5_000,
        '[{"role":"assistant","parts":[{"type":"tool_call","name":7,"arguments":[1,null]}]}]',
        '[{"role":"user","parts":[{"type":"text","content":"nul \\u0000 here"}]}]',
    ],
)
def test_strange_messages_cost_nothing_beside_them(instance: Instance, messages: str) -> None:
    """The conversation that carries them is decided, and so is the next."""
    instance.send([talk("strange", gen_ai__input__messages=messages), talk("good")])
    instance.later(5)
    assert decided(instance) == {"strange", "good"}
    assert instance.total("episodes_failed_total") == 0


@pytest.mark.parametrize("tokens", ["99999999999999999999999", "-3", "NaN", "many", ""])
def test_strange_token_counts_cost_nothing(instance: Instance, tokens: str) -> None:
    """Counts that no integer column takes are cut or ignored."""
    instance.send([talk("strange", gen_ai__usage__input_tokens=tokens), talk("good")])
    instance.later(5)
    assert decided(instance) == {"strange", "good"}


def test_strange_times_cost_nothing(instance: Instance, clock: Clock) -> None:
    """A span from the year 2200 is scored, and does not make what follows late."""
    instance.send([talk("c", at=5.4e9)])
    instance.later(5)
    instance.export("scores")
    instance.later(5_000)
    instance.later(1)
    instance.send([talk("c", name="later", at=5_010)])
    instance.later(5)
    assert [row["episode"] for row in instance.export("conversations")] == [1, 2]


def test_a_conversation_without_times_is_scored(instance: Instance) -> None:
    """Some exporters write no start."""
    instance.send([talk("c", at=-START_NS / 1e9)])
    instance.later(5)
    assert decided(instance) == {"c"}


def test_cycles_of_parents_end(instance: Instance) -> None:
    """A span that is its own parent, and two that are each other's."""
    spans = [
        span("a", parent="a", gen_ai__operation__name="chat", gen_ai__conversation__id="c"),
        span("b", parent="d", gen_ai__operation__name="chat", gen_ai__conversation__id="c"),
        span("d", parent="b", gen_ai__operation__name="invoke_agent"),
    ]
    instance.send([traces(*spans), talk("good")])
    instance.later(1_000)
    assert decided(instance) == {"c", "good"}


def test_log_records_without_a_trace_are_no_kin(instance: Instance) -> None:
    """What has neither trace nor conversation in common is never joined."""
    for name in ("anna", "boris", "carla"):
        entry = record(
            "gen_ai.client.inference.operation.details",
            gen_ai__operation__name="chat",
            outrider__tenant=name,
            gen_ai__input__messages=[said("user", f"I am {name}")],
            gen_ai__output__messages=[REPLY],
        )
        entry.trace_id = b""
        instance.send([logs(entry)], signal="logs")
    instance.later(1_000)
    heads = instance.export("conversations")
    assert sorted(head["identity"]["tenant"] for head in heads) == ["anna", "boris", "carla"]


def test_a_request_that_cannot_be_processed_stays_and_the_rest_goes_on(
    instance: Instance, clock: Clock
) -> None:
    """What a bug of ours makes unreadable is kept in the journal and counted."""
    broken = Entry(
        received_ns=clock(),
        receiver="test",
        signal="end",
        encoding="json",
        items=0,
        body=b"not JSON",
    )
    row = instance.path.journal.append(broken).result()
    instance.send([talk("good")])
    instance.later(5)
    assert decided(instance) == {"good"}
    instance.later(700)
    instance.later(1)
    assert instance.path.journal.ids() == [row]
    assert instance.total("requests_failed_total") == 1


def test_a_scorer_that_leaves_gives_a_failure(instance: Instance) -> None:
    """Even ``SystemExit`` from a scorer is a failure row and nothing more."""
    judge = instance.path.pipeline._concluding._decider._judge  # noqa: SLF001 - the place where a plugin stands

    def leave(*_: Any, **__: Any) -> None:
        raise SystemExit(3)

    first, *rest = judge._scorers  # type: ignore[attr-defined]  # noqa: SLF001 - the same
    judge._scorers = (msgspec.structs.replace(first, function=leave), *rest)  # type: ignore[attr-defined]  # noqa: SLF001
    instance.send([talk("c")])
    instance.later(5)
    rows = [r for r in instance.export("scores") if r["scorer"] == first.name]
    assert [r["verdict"] for r in rows] == ["failure"]
    assert instance.total("score_failures_total", error="SystemExit") == 1


def test_the_trace_of_a_conversation_is_findable(instance: Instance) -> None:
    """A sanity check of the helper: the id in the store is the one that was sent."""
    instance.send([talk("c")])
    instance.later(5)
    (head,) = instance.export("conversations")
    assert head["trace_ids"] == [trace_id("c").hex()]

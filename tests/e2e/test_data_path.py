"""What goes in as spans comes out as conversations and scores, once, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from collector.config import AssembleConfig, Config
from collector.model import Conversation
from collector.totals import SeriesKey
from tests.e2e.checks import (
    ScoreKey,
    check_counts,
    check_exports,
    counted_once,
    expected,
    keyed,
)
from tests.e2e.instance import Clock, Instance
from tests.e2e.stitching import pairs, truth
from tests.e2e.traffic import as_json_requests, as_requests, synthetic


@pytest.fixture
def clock() -> Clock:
    """Give a clock the test sets."""
    return Clock()


@pytest.fixture
def instance(tmp_path: Path, clock: Clock) -> Iterator[Instance]:
    """Give a fresh instance."""
    with Instance(tmp_path / "data", clock=clock) as instance:
        yield instance


def named(conversation: Conversation, number: int) -> Conversation:
    """Let the customer say who they are, as customers do; twins in every word cannot be told apart."""
    messages = list(conversation.messages)
    first = next(n for n, m in enumerate(messages) if m.role == "user")
    text = f"{messages[first].text} I am customer {number}."
    messages[first] = msgspec.structs.replace(messages[first], text=text)
    return msgspec.structs.replace(conversation, messages=tuple(messages))


def stored(instance: Instance) -> dict[ScoreKey, tuple[Any, ...]]:
    """Read every score, those of episodes that go on included; exports begin with the decision."""
    while instance.path.shipping.unstored:
        instance.step()
    return keyed(instance.path.store.query("SELECT * FROM scores FINAL"))


def check_balance(instance: Instance) -> None:
    """Hold received = settled + in flight, for spans."""
    received = instance.total("spans_received_total")
    settled = instance.total("stage_items_total", stage="assemble")
    assert received == settled + instance.path.journal.spans_in_flight()


def check_once(instance: Instance, conversations: Sequence[Conversation]) -> None:
    """Hold that every conversation was decided, scored, counted and written down once."""
    check_exports(instance.export, conversations)
    check_counts(instance.total, conversations)
    check_balance(instance)


def test_replayed_conversations_are_scored_as_their_transcripts(instance: Instance) -> None:
    """Live traffic and ``outrider score`` agree on every key, and nothing is lost or doubled."""
    conversations = synthetic(60, seed=1)
    instance.send(as_requests(conversations, clock=instance.clock))
    instance.later(5)
    check_once(instance, conversations)


def test_json_traffic_gives_the_same(instance: Instance) -> None:
    """OTLP JSON and protobuf are the same conversations."""
    conversations = synthetic(20, seed=2)
    instance.send(as_json_requests(conversations, clock=instance.clock), encoding="json")
    instance.later(5)
    check_once(instance, conversations)


def test_every_request_sent_twice_changes_nothing(instance: Instance) -> None:
    """Exporters resend after a time-out; the second copy is counted and dropped."""
    conversations = synthetic(30, seed=3)
    bodies = as_requests(conversations, clock=instance.clock)
    instance.send(body for body in bodies for _ in range(2))
    instance.later(5)
    check_once(instance, conversations)
    assert instance.total("spans_duplicate_total") * 2 == instance.total("spans_received_total")


def test_requests_sent_again_after_the_decision_change_nothing(instance: Instance) -> None:
    """A resend hours later is recognised by what was decided."""
    conversations = synthetic(30, seed=4)
    bodies = as_requests(conversations, clock=instance.clock)
    instance.send(bodies)
    instance.later(5)
    instance.export("scores")
    instance.send(bodies)
    instance.later(3_600)
    instance.send(bodies)
    instance.later(3_600)
    check_once(instance, conversations)
    assert instance.path.assembler.open_episodes == 0


def test_everything_is_freed_in_the_end(instance: Instance) -> None:
    """Once decided, stored and past the late window, no request stays in the journal."""
    conversations = synthetic(20, seed=5)
    instance.send(as_requests(conversations, clock=instance.clock))
    instance.later(5)
    instance.export("scores")
    assert instance.path.journal.pending > 0
    instance.later(601)
    instance.later(1)
    assert instance.path.journal.pending == 0
    assert instance.path.journal.bytes_used == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_crash_between_any_two_steps_changes_nothing(
    tmp_path: Path, clock: Clock, seed: int
) -> None:
    """Whatever was committed when the process died, the next one ends in the same place."""
    conversations = synthetic(40, seed=10 + seed)
    bodies = as_requests(conversations, clock=clock, interleave=5, batch=7)
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    position = 0
    while position < len(bodies):
        instance = Instance(tmp_path / "data", clock=clock)
        for _ in range(chance.randint(1, 5)):
            amount = chance.randint(1, 12)
            instance.send(bodies[position : position + amount])
            position += amount
            if chance.random() < 0.7:
                instance.step()
            clock.leap(chance.random() * 2)
        instance.abandon()
    with Instance(tmp_path / "data", clock=clock) as instance:
        instance.later(5)
        check_once(instance, conversations)
        totals = counted_once(instance.path.journal.totals())
    with Instance(tmp_path / "calm", clock=clock) as instance:
        instance.send(bodies)
        instance.later(5)
        instance.export("scores")
        assert counted_once(instance.path.journal.totals()) == pytest.approx(totals)


def played(
    directory: Path, bodies: Sequence[bytes], *, seed: int, crashes: bool
) -> tuple[dict[ScoreKey, tuple[Any, ...]], dict[SeriesKey, float]]:
    """Send requests with pauses drawn from a seed, some twice; return all scores and totals."""
    chance, clock, position = random.Random(seed), Clock(), 0  # noqa: S311 - a seeded test
    instance = Instance(directory, clock=clock)
    while position < len(bodies):
        amount = chance.randint(1, 12)
        again = chance.randrange(position + 1)
        instance.send(bodies[position : position + amount])
        instance.send(bodies[again : again + 2])
        position += amount
        step, crash, pause_s = (chance.random() for _ in range(3))
        if step < 0.7 or not crashes:
            instance.step()
        if crash < 0.5 and crashes:
            instance.abandon()
            instance = Instance(directory, clock=clock)
        clock.leap(pause_s * 2)
    with instance:
        instance.later(30)
        instance.later(2_000)
        assert instance.path.assembler.open_episodes == 0
        check_balance(instance)
        scores = keyed(instance.export("scores"))
        return scores, counted_once(instance.path.journal.totals())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_crash_changes_nothing_where_histories_alone_tell(tmp_path: Path, seed: int) -> None:
    """Without ids, some ended and some not: crashes and resends lead to the same conversations."""
    conversations = [named(c, number) for number, c in enumerate(synthetic(40, seed=500 + seed))]
    bodies = as_requests(conversations, clock=Clock(), interleave=8, batch=5, strip_ids=True)
    if seed % 2:
        bodies = [b.replace(b"conversation.end", b"conversation.xyz") for b in bodies]
    scores, totals = played(tmp_path / "calm", bodies, seed=seed, crashes=False)
    assert scores
    scores_after, totals_after = played(tmp_path / "data", bodies, seed=seed, crashes=True)
    assert scores_after == scores
    assert totals_after == pytest.approx(totals)


def test_conversations_without_ids_are_put_back_together(instance: Instance) -> None:
    """One trace per call, fifty at a time, no ids: the histories tell who belongs together."""
    conversations = [named(c, number) for number, c in enumerate(synthetic(150, seed=6))]
    options: dict[str, Any] = {"seed": "s", "strip_ids": True}
    instance.send(as_requests(conversations, clock=instance.clock, interleave=50, **options))
    instance.later(1_000)
    rows = instance.export("conversations")
    precision, recall = pairs(rows, truth(conversations, **options))
    assert precision >= 0.999
    assert recall >= 0.97
    check_balance(instance)


def test_two_variants_of_one_conversation_are_never_joined(instance: Instance) -> None:
    """A shadow run of the same conversations stays apart, with ids and without."""
    conversations = synthetic(30, seed=7)
    options: dict[str, Any]
    variant_of: dict[str, str] = {}
    for strip_ids in (False, True):
        for variant in ("production", "candidate"):
            options = {"seed": str(strip_ids), "strip_ids": strip_ids, "variant": variant}
            instance.send(as_requests(conversations, clock=instance.clock, **options))
            known = truth(conversations, **options)
            variant_of |= dict.fromkeys(known, variant)
    instance.later(1_000)
    found = {
        trace_id: row["identity"]["variant"]
        for row in instance.export("conversations")
        for trace_id in row["trace_ids"]
    }
    assert found == variant_of


def test_only_production_is_observed(instance: Instance) -> None:
    """Shadow traffic never reaches the detectors' input."""
    instance.send(as_requests(synthetic(5, seed=8), clock=instance.clock, variant="candidate"))
    instance.later(5)
    assert instance.export("scores")
    assert instance.export("observations") == []


def test_the_end_of_a_conversation_can_be_posted(tmp_path: Path, clock: Clock) -> None:
    """``POST /v1/conversations/{id}/end`` decides without the idle timeout, a crash in between."""
    (conversation,) = synthetic(1, seed=9)
    bodies = [
        body.replace(b"outrider.conversation.end", b"outrider.conversation.xyz")
        for body in as_requests([conversation], clock=clock)
    ]
    instance = Instance(tmp_path / "data", clock=clock)
    instance.send(bodies)
    instance.later(30)
    assert instance.path.assembler.open_episodes == 1
    instance.end(conversation.id)
    instance.settle()
    instance.abandon()
    with Instance(tmp_path / "data", clock=clock) as instance:
        instance.later(30)
        (head,) = instance.export("conversations")
        assert head["end_reason"] == "explicit"


def test_finished_turns_are_scored_before_the_conversation_ends(
    tmp_path: Path, clock: Clock
) -> None:
    """Turn and tool-call verdicts do not wait for the idle timeout, and count once; a crash between."""
    conversations = [c for c in synthetic(30, seed=12) if c.tool_calls][:8]
    bodies = [
        body.replace(b"outrider.conversation.end", b"outrider.conversation.xyz")
        for body in as_requests(conversations, clock=clock)
    ]
    instance = Instance(tmp_path / "data", clock=clock)
    instance.send(bodies)
    instance.later(3)
    early = stored(instance)
    assert early
    assert {level for _, _, level, _ in early} <= {"turn", "tool_call"}
    assert instance.total("episodes_total") == 0
    assert early.items() <= expected(conversations).items()
    instance.abandon()
    with Instance(tmp_path / "data", clock=clock) as instance:
        instance.later(3)
        assert stored(instance) == early
        instance.later(1_000)
        check_once(instance, conversations)


def test_content_out_of_memory_is_read_again(tmp_path: Path, clock: Clock) -> None:
    """With no room for content at all, the result is the same."""
    conversations = synthetic(25, seed=11)
    config = Config(assemble=AssembleConfig(content_budget=0))
    with Instance(tmp_path / "data", clock=clock, config=config) as instance:
        instance.send(as_requests(conversations, clock=clock, interleave=10))
        instance.later(5)
        check_once(instance, conversations)

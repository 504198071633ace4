"""Episodes end when they should, late spans revise them, and nothing is held for ever."""

from __future__ import annotations

import sys

from tests.build import agent, request, result, user
from tests.collector.assembly import Bench, facts, without_end

ASK, TELL = user("Where is my kettle?"), agent("In Ghent.")


def test_an_episode_ends_after_its_idle_timeout() -> None:
    """Quiet decides; activity puts the decision off."""
    bench = Bench(idle_timeout=100)
    bench.add(facts(conversation_id="c"))
    assert bench.wait(99) == []
    bench.add(facts(at=1, conversation_id="c"))
    assert bench.wait(99) == []
    (due,) = bench.wait(1)
    assert (due.kind, due.reason, len(due.held)) == ("episode", "idle", 2)


def test_an_explicit_end_on_a_span_decides_after_the_grace() -> None:
    """``outrider.conversation.end`` leaves time for stragglers only."""
    bench = Bench(end_grace=1)
    bench.add(facts(conversation_id="c", ends_conversation=True))
    assert bench.wait(0.5) == []
    assert bench.add(facts(at=1, conversation_id="c")) == "new"
    (due,) = bench.wait(1)
    assert (due.reason, len(due.held)) == ("explicit", 2)


def test_an_end_that_came_as_a_request_is_kept_until_the_decision() -> None:
    """After a crash the end must be read again with the spans it ends."""
    bench = Bench(end_grace=1, late_window=10)
    bench.add(facts(conversation_id="c"))
    (talk,) = bench.stitcher.of_id("c")
    assert bench.assembler.end(talk, 77, now=bench.now, sent_ns=0)
    assert bench.pins.holds(77)
    (due,) = bench.wait(2)
    assert due.reason == "explicit"
    (decided,) = bench.assembler.expired(bench.now + 11, limit=10)
    assert 77 in decided.pinned


def test_an_end_of_nothing_open_changes_nothing() -> None:
    """Ending twice is harmless."""
    bench = Bench(end_grace=1)
    bench.add(facts(conversation_id="c"))
    (talk,) = bench.stitcher.of_id("c")
    bench.assembler.end(talk, 77, now=bench.now, sent_ns=0)
    bench.wait(2)
    assert not bench.assembler.end(talk, 78, now=bench.now, sent_ns=0)


def test_a_lone_run_without_an_id_ends_soon_after_its_root() -> None:
    """An agent's finished trace needs no idle timeout."""
    bench = Bench(lone_trace_timeout=5, idle_timeout=900)
    bench.add(facts(under="root", given=[ASK], said=[TELL]))
    assert bench.wait(60) == []
    bench.add(facts("agent", name="root", seconds=70))
    (due,) = bench.wait(5)
    assert (due.reason, len(due.held)) == ("lone_trace", 2)


def test_a_hand_written_loop_ends_soon_after_its_final_reply() -> None:
    """Each step is a trace of its own; while a tool is asked for, the next step is waited for."""
    bench = Bench(lone_trace_timeout=5, idle_timeout=900)
    ask = agent("", request("find_order", number=12))
    bench.add(facts(on="t1", given=[ASK], said=[ask]))
    assert bench.wait(600) == []
    bench.add(facts(on="t2", at=600, given=[ASK, ask, result("find_order", "Ghent")], said=[TELL]))
    assert bench.wait(4) == []
    (due,) = bench.wait(1)
    assert (due.reason, len(due.held)) == ("lone_trace", 2)


def test_the_next_turn_of_a_hand_written_loop_is_its_next_episode() -> None:
    """The history finds the conversation that was decided a minute ago."""
    bench = Bench(lone_trace_timeout=5)
    bench.add(facts(on="t1", given=[ASK], said=[TELL]))
    (first,) = bench.wait(5)
    bench.add(facts(on="t2", at=60, given=[ASK, TELL, user("Thanks")], said=[agent("Bye.")]))
    (second,) = bench.wait(5)
    assert (second.talk, second.number) == (first.talk, 2)


def test_a_trace_without_an_agent_is_plain() -> None:
    """A web request that called no model is stored, not scored."""
    bench = Bench(lone_trace_timeout=5)
    bench.add(facts("other"))
    (due,) = bench.wait(5)
    assert due.kind == "plain"
    assert len(bench.pins) == 0
    assert bench.stitcher.is_empty


def test_a_resend_is_a_duplicate_before_and_after_the_decision() -> None:
    """The same span twice is one span, whenever it comes again."""
    bench = Bench(idle_timeout=10)
    span = facts(conversation_id="c")
    assert bench.add(span) == "new"
    assert bench.add(span) == "duplicate"
    bench.wait(10)
    assert bench.add(span) == "duplicate"
    assert bench.wait(100) == []


def test_the_richer_of_two_descriptions_wins() -> None:
    """A span sent when it started and again when it ended is one span, the ended one."""
    bench = Bench(idle_timeout=10)
    ended = facts(conversation_id="c", given=[ASK], said=[TELL])
    bench.add(without_end(ended), richness=1)
    assert bench.add(ended, richness=2) == "replaced"
    assert bench.add(without_end(ended), richness=1) == "duplicate"
    (due,) = bench.wait(10)
    assert [h.facts for h in due.held] == [ended]


def test_the_end_of_a_span_that_was_decided_open_revises() -> None:
    """A stream that outlives its conversation's decision corrects it."""
    bench = Bench(idle_timeout=10, turn_quiet=2)
    ended = facts(conversation_id="c", given=[ASK], said=[TELL])
    bench.add(without_end(ended), richness=1)
    bench.wait(10)
    assert bench.add(ended, richness=2) == "replaced"
    (due,) = bench.wait(2)
    assert due.kind == "revision"


def test_a_late_span_revises_its_episode() -> None:
    """A span that began before the episode was over belongs to it."""
    bench = Bench(end_grace=1, turn_quiet=2)
    bench.add(facts(conversation_id="c", seconds=30, ends_conversation=True))
    bench.wait(1)
    late = facts("tool", at=5, conversation_id="c")
    assert bench.add(late) == "late"
    assert bench.add(late) == "duplicate"
    (due,) = bench.wait(2)
    assert (due.kind, due.number, len(due.held)) == ("revision", 1, 1)
    assert bench.add(late) == "duplicate"


def test_later_activity_opens_the_next_episode() -> None:
    """The customer comes back: same conversation, second episode."""
    bench = Bench(idle_timeout=10)
    bench.add(facts(conversation_id="c"))
    bench.wait(10)
    assert bench.add(facts(at=500, conversation_id="c")) == "new"
    (due,) = bench.wait(10)
    assert (due.talk.id, due.number) == ("c", 2)


def test_after_the_late_window_a_late_span_is_too_late() -> None:
    """Its episode's content is gone; it is stored and counted."""
    bench = Bench(idle_timeout=10)
    bench.add(facts(conversation_id="c", seconds=30))
    (due,) = bench.wait(10)
    talk = due.talk
    assert len(list(bench.assembler.expired(bench.now, limit=10))) == 1
    bench.remembered.talks[talk.key] = talk
    assert bench.add(facts("tool", at=5, conversation_id="c")) == "too_late"
    assert bench.assembler.open_episodes == 0


def test_the_oldest_episode_over_the_cap_is_decided_early() -> None:
    """Memory is bounded; what is cut short says so."""
    bench = Bench(max_open_episodes=2)
    for number in range(3):
        bench.add(facts(on=f"t{number}", at=number, conversation_id=f"c{number}"))
    (due,) = bench.assembler.overflow()
    assert (due.talk.id, due.reason) == ("c0", "truncated")


def test_an_episode_that_never_rests_is_cut() -> None:
    """``max_episode`` bounds what an endless stream can hold."""
    bench = Bench(idle_timeout=100, max_episode=250)
    for number in range(5):
        bench.add(facts(at=number, conversation_id="c"))
        dues = bench.wait(60)
        if dues:
            break
    assert [due.reason for due in dues] == ["truncated"]


def test_content_over_the_budget_leaves_memory_and_the_index_stays() -> None:
    """The longest-idle conversations are read again when they are decided."""
    bench = Bench(idle_timeout=100, content_budget=2_500)
    for number in range(4):
        bench.add(facts(on=f"t{number}", at=number, conversation_id=f"c{number}"))
    assert bench.assembler.content_size <= 2_500
    dues = bench.wait(100)
    assert [due.held[0].facts is None for due in dues] == [True, True, False, False]


def test_decided_and_stored_requests_are_freed_after_the_late_window() -> None:
    """A conversation pins its own requests, and only until its window is over."""
    bench = Bench(idle_timeout=10)
    bench.add(facts(conversation_id="c"))
    bench.add(facts(at=1, conversation_id="c"))
    bench.wait(10)
    assert len(bench.pins) == 2
    assert list(bench.assembler.expired(bench.now - 1, limit=10)) == []
    assert len(list(bench.assembler.expired(bench.now, limit=10))) == 1
    assert sorted(bench.pins.take_free()) == []
    bench.pins.unpin_all([1, 2])
    assert sorted(bench.pins.take_free()) == [1, 2]
    assert bench.stitcher.is_empty


def test_over_the_limit_the_oldest_decided_episodes_go_early() -> None:
    """The late window is bounded by number as well as by time."""
    bench = Bench(idle_timeout=10)
    for number in range(3):
        bench.add(facts(on=f"t{number}", at=number, conversation_id=f"c{number}"))
    bench.wait(10)
    gone = [decided.episode_id for decided in bench.assembler.expired(0.0, limit=2)]
    assert len(gone) == 1


def test_a_trace_of_thousands_of_conversations_is_handled_in_linear_time() -> None:
    """A batch job's one trace holds them all; each span looks at its own kin only."""
    bench = Bench(idle_timeout=10)
    looked = 0

    def count(*_: object) -> None:
        nonlocal looked
        looked += 1

    sys.setprofile(count)
    try:
        for number in range(1_000):
            bench.add(facts(name=f"a{number}", under=f"r{number}", at=number))
            bench.add(facts("agent", name=f"r{number}", at=number, conversation_id=f"c{number}"))
    finally:
        sys.setprofile(None)
    assert looked < 2_000 * 300
    dues = bench.wait(10)
    assert len(dues) == 1_000
    assert all(len(due.held) == 2 for due in dues)

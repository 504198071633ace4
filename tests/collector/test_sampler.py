"""Test which conversations are stored in full."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from collector.config import SampleConfig
from collector.model import Episode, ScoreRecord, VerdictName
from collector.sampler import Sampler, randomness, threshold, trace_randomness
from tests.build import conversation, identity, user

IDS = [f"conv-{n}" for n in range(4_000)]


def sampler(rate: float, **more: Any) -> Sampler:
    """Build a sampler whose new-version rule is off unless asked for."""
    return Sampler(SampleConfig(rate=rate, **{"keep_new_version": 0, **more}))


def verdict(name: VerdictName) -> ScoreRecord:
    """Build a score of a verdict."""
    return ScoreRecord(
        score_id="s",
        conversation_id="conv-1",
        episode=1,
        level="conversation",
        target="",
        scorer="looping",
        scorer_version="1",
        verdict=name,
    )


def kept_ids(by: Sampler) -> set[str]:
    """Return the ids that a sampler keeps by their hash."""
    return {
        name
        for name in IDS
        if by.decide(conversation(user("Hi"), id=name), (), had_error=False).kept
    }


def test_rate_is_met_and_lower_rates_nest() -> None:
    """The share kept is the rate, and what a lower rate keeps a higher one keeps too."""
    kept = {rate: kept_ids(sampler(rate)) for rate in (0.0, 0.05, 0.3, 1.0)}
    assert kept[0.0] == set()
    assert kept[1.0] == set(IDS)
    assert 0.03 < len(kept[0.05]) / len(IDS) < 0.07
    assert 0.26 < len(kept[0.3]) / len(IDS) < 0.34
    assert kept[0.05] < kept[0.3]


def test_all_episodes_of_a_conversation_agree() -> None:
    """The hash is of the conversation's id and nothing else, in this release and the next."""
    chooser = sampler(0.5)
    for name in IDS[:50]:
        decisions = {
            chooser.decide(
                conversation(user("Hi"), id=name, episode=Episode(number=number)),
                (),
                had_error=False,
            ).kept
            for number in (1, 2, 3)
        }
        assert len(decisions) == 1
    assert randomness("conv-1") == 0x54BF0F0155AB03


def test_kept_by_hash_carries_the_rate() -> None:
    """An episode that only its hash decided says the rate as its probability."""
    found = sampler(0.25).decide(conversation(user("Hi")), (), had_error=False)
    assert (found.probability, found.rule) == (0.25, "hash")
    nothing = sampler(0.0).decide(conversation(user("Hi")), (), had_error=False)
    assert not nothing.kept
    assert nothing.probability > 0


def test_failing_and_failed_are_always_kept() -> None:
    """A failing verdict, a failed scorer and a failed span keep an episode for certain."""
    chooser = sampler(0.0)
    one = conversation(user("Hi"))
    for scores, had_error, rule in (
        ((verdict("fail"),), False, "failing"),
        ((verdict("failure"),), False, "error"),
        ((), True, "error"),
        ((verdict("fail"),), True, "failing"),
    ):
        found = chooser.decide(one, scores, had_error=had_error)
        assert msgspec.structs.asdict(found) == {"kept": True, "probability": 1.0, "rule": rule}
    assert not chooser.decide(one, (verdict("pass"), verdict("skip")), had_error=False).kept


def test_rules_can_be_switched_off() -> None:
    """Without its rule a failing or failed episode is left to its hash."""
    chooser = sampler(0.0, keep_failing=False, keep_errors=False)
    found = chooser.decide(
        conversation(user("Hi")), (verdict("fail"), verdict("failure")), had_error=True
    )
    assert (found.kept, found.rule) == (False, "hash")


def test_first_episodes_of_a_version_are_kept() -> None:
    """The first episodes of each agent version are kept, also over a restart."""
    config = SampleConfig(rate=0.0, keep_new_version=3)
    v1 = conversation(user("Hi"), who=identity("shop", agent_version="1"))
    v2 = conversation(user("Hi"), who=identity("shop", agent_version="2"))
    chooser = Sampler(config)
    rules = [chooser.decide(v1, (), had_error=False).rule for _ in range(5)]
    assert rules == ["new_version"] * 3 + ["hash"] * 2
    assert chooser.decide(v2, (), had_error=False).rule == "new_version"
    again = Sampler(config, seen_versions={("shop", "1"): 2})
    assert [again.decide(v1, (), had_error=False).rule for _ in range(2)] == ["new_version", "hash"]


def test_plain_traces_are_kept_by_their_own_id() -> None:
    """A plain trace is chosen as any collector would by its last 56 bits."""
    chooser = sampler(1.0, plain_trace_rate=0.5)
    assert chooser.keep_trace("0" * 18 + "80000000000000")
    assert not chooser.keep_trace("f" * 18 + "7fffffffffffff")
    assert trace_randomness("f" * 18 + "00000000000001") == 1
    # The thresholds of the OpenTelemetry specification: 10 % is e666..., 100 % is 0.
    assert f"{threshold(0.1):014x}".startswith("e6666666")
    assert threshold(1.0) == 0


def test_versions_without_end_are_not_all_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent whose version changes with every call must not fill memory or the store."""
    monkeypatch.setattr("collector.sampler.MAX_VERSIONS", 3)
    sampler = Sampler(SampleConfig(rate=0.0, keep_new_version=1))
    kept = [
        sampler.decide(
            conversation(who=identity(agent_version=str(number))), [], had_error=False
        ).kept
        for number in range(6)
    ]
    assert kept == [True] * 3 + [False] * 3

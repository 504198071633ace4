"""Test the conversations by what the scorers find in them."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from collector.builder import conversation_of
from collector.demo.dialogue import SECOND, ModelCall, Played
from collector.demo.instructions import INSTRUCTIONS
from collector.demo.mistakes import BROKEN_VERSION, HEALTHY_VERSION, RATES, Regression
from collector.demo.support import Support
from collector.demo.tool_list import TOOLS
from collector.model import Identity
from scorers.registry import configured
from scorers.runner import Runner

NOON = 1_790_000_000 * SECOND


def played(n: int, version: str, *, seed: int = 11, broken: bool = True) -> Iterator[Played]:
    """Play conversations one after another."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    support = Support(regression=Regression() if broken else None)
    for number in range(n):
        own = random.Random(rng.getrandbits(64))  # noqa: S311 - repeatable, not secret
        yield support.serve(own, version=version, start_ns=NOON + number * 30 * SECOND)


def judged(conversations: Iterator[Played]) -> list[tuple[frozenset[str], set[str]]]:
    """Return what is wrong with each conversation, and what the scorers say is."""
    runner = Runner(configured({}), clock_ns=lambda: 0, seconds=time.perf_counter)
    verdicts = []
    for one in conversations:
        scores, _ = runner.run(
            conversation_of(
                one.messages,
                id=one.id,
                identity=Identity(agent="pinewick-support"),
                system_prompt=INSTRUCTIONS,
                tools=TOOLS,
            )
        )
        assert not [score for score in scores if score.verdict == "failure"]
        verdicts.append((one.truths, {s.scorer for s in scores if s.verdict == "fail"}))
    return verdicts


@pytest.mark.parametrize("version", [HEALTHY_VERSION, BROKEN_VERSION])
def test_scorers_find_what_is_wrong(version: str) -> None:
    """Each scorer finds nearly all that is there, and hardly anything that is not."""
    verdicts = judged(played(1_200, version))
    for scorer in RATES:
        wrong = [found for truths, found in verdicts if scorer in truths]
        sound = [found for truths, found in verdicts if scorer not in truths]
        recall = sum(scorer in found for found in wrong) / len(wrong)
        assert recall > 0.95, f"{scorer}: {recall} of {len(wrong)}"
        assert sum(scorer in found for found in sound) < 0.003 * len(sound), scorer


def test_the_healthy_version_is_as_good_as_people() -> None:
    """No scorer fails more than three conversations of a hundred."""
    failed = Counter(name for _, found in judged(played(1_200, HEALTHY_VERSION)) for name in found)
    assert all(count <= 0.03 * 1_200 for count in failed.values()), failed
    # who goes round in circles also makes calls that are not needed
    assert set(failed) == {*RATES, "unneeded_call"}


def test_the_seed_decides() -> None:
    """The same seed plays the same conversations, another one others."""
    one, same = (list(played(20, BROKEN_VERSION)) for _ in range(2))
    assert one == same
    assert one != list(played(20, BROKEN_VERSION, seed=12))


def test_without_the_regression_the_versions_are_alike() -> None:
    """Then the new version says and does what the old one would have."""
    old = list(played(50, HEALTHY_VERSION, broken=False))
    new = list(played(50, BROKEN_VERSION, broken=False))
    assert [one.messages for one in old] == [one.messages for one in new]
    assert {one.agent_version for one in new} == {BROKEN_VERSION}


def test_times_are_plausible() -> None:
    """Steps follow each other; the model takes 0.4 to 4 s, people 5 to 60."""
    for one in played(200, HEALTHY_VERSION):
        now = one.started_ns
        for number, turn in enumerate(one.turns):
            pause = (turn.started_ns - now) / SECOND
            assert 5 <= pause <= 60 if number else pause == 0
            now = turn.started_ns
            for step in turn.steps:
                assert step.started_ns >= now
                now = step.ended_ns
                seconds = (step.ended_ns - step.started_ns) / SECOND
                assert 0.4 < seconds <= 4 if isinstance(step, ModelCall) else 0.04 <= seconds < 9
            assert turn.ended_ns > now
            now = turn.ended_ns


def test_tokens_grow_with_the_history() -> None:
    """Each call is given all that was said before, and most of it from the cache."""
    for one in played(50, HEALTHY_VERSION):
        calls = [s for turn in one.turns for s in turn.steps if isinstance(s, ModelCall)]
        given = [call.input_tokens for call in calls]
        assert given == sorted(set(given))
        assert [call.given for call in calls] == [call.reply for call in calls]
        assert all(call.cached_tokens <= call.input_tokens for call in calls)
        assert all(call.cached_tokens > 0.7 * call.input_tokens for call in calls[1:])


def test_people_do_not_all_talk_alike() -> None:
    """Hardly two opening messages are the same, and most conversations have several turns."""
    conversations = list(played(500, HEALTHY_VERSION))
    openings = Counter(one.messages[0].text for one in conversations)
    assert len(openings) > 400
    assert sum(len(one.turns) > 1 for one in conversations) > 300
    assert len({one.intent for one in conversations}) == 10

"""Check how replies are held against instructions."""

from __future__ import annotations

import msgspec
import pytest

from collector.errors import ConfigError
from collector.model import Conversation, Identity
from scorers.registry import configured
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.instructions import instructions
from tests.build import agent, conversation, user

SHORT = {"kind": "length_constraints:number_words", "arguments": {"num_words": 6}}
PLAIN = {"kind": "punctuation:no_comma"}


def judge(talk: Conversation, *declared: object, **options: object) -> ScorerResult:
    """Judge the first turn with these instructions declared."""
    info = instructions.configured(declared=list(declared), **options)
    result: ScorerResult = info.function(talk, talk.turns[0], **info.options)
    return result


def talk(reply: str, prompt: str = "") -> Conversation:
    """Build a conversation of one turn."""
    plain = conversation(user("Where is my parcel?"), agent(reply))
    return msgspec.structs.replace(plain, system_prompt=prompt)


def test_followed() -> None:
    """A reply that follows all instructions passes."""
    result = judge(talk("It comes on Monday."), SHORT, PLAIN)
    assert isinstance(result, Score)
    assert (result.value, result.verdict) == (1.0, "pass")
    assert result.reason == "All 2 instructions are followed."


def test_not_followed() -> None:
    """A broken instruction fails the reply, and the reason says what was asked and what it did."""
    result = judge(talk("Well, it comes."), SHORT, PLAIN)
    assert isinstance(result, Score)
    assert (result.value, result.verdict) == (0.5, "fail")
    assert result.reason == (
        "1 of 2 instructions not followed: it should have no comma, but it has a comma."
    )
    assert result.evidence[0].quote == "Well, it comes."


def test_only_the_final_reply_counts() -> None:
    """What an agent says on the way to its reply is not held against the instructions."""
    whole = conversation(user("Where?"), agent("Well, let me look."), agent("On Monday."))
    result = judge(whole, PLAIN)
    assert isinstance(result, Score)
    assert result.verdict == "pass"


def test_of_other_agents() -> None:
    """An instruction that is for other agents does not hold for this one."""
    named = msgspec.structs.replace(talk("Well, no."), identity=Identity(agent="desk"))
    assert judge(named, {**PLAIN, "agents": ["cook"]}) == Skip(reason="no_instructions")
    result = judge(named, {**PLAIN, "agents": ["cook", "desk"]})
    assert isinstance(result, Score)
    assert result.verdict == "fail"


def test_from_the_prompt() -> None:
    """A demand of the system prompt is held, unless that is turned off."""
    said = talk("Well, it comes.", prompt="You are Pia. Never use commas.")
    result = judge(said)
    assert isinstance(result, Score)
    assert result.verdict == "fail"
    assert judge(said, from_prompt=False) == Skip(reason="no_instructions")


def test_nothing_to_judge() -> None:
    """Without a reply, or without an instruction, the turn is skipped with the reason."""
    assert judge(conversation(user("Hello?")), PLAIN) == Skip(reason="no_reply")
    assert judge(talk("Hello.")) == Skip(reason="no_instructions")


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"kind": "punctuation:no_coma"}, "did you mean punctuation:no_comma?"),
        ({"kind": "punctuation:no_comma", "agent": "desk"}, "agent"),
        ({"arguments": {}}, "kind"),
    ],
)
def test_mistakes_are_found_at_the_start(rule: object, told: str) -> None:
    """An instruction that cannot be checked is an error that names the key and what is wrong."""
    with pytest.raises(ConfigError) as error:
        configured({"instructions": {"declared": [rule]}})
    assert "scorers.instructions.declared" in str(error.value)
    assert told in str(error.value)

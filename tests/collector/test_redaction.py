"""Test how the gate is built: what each mode keeps, and where its key comes from."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from collector.configuration.keeping import RedactConfig
from collector.errors import ConfigError
from collector.hindsight import About, Label, Outcome
from collector.model import (
    Conversation,
    Decided,
    Document,
    Evidence,
    LlmCall,
    Sampling,
    ScoreRecord,
    Usage,
)
from collector.redaction import KEY_FILE, pseudonym_key, redactor_of, strict_redactor
from collector.telemetry import SpanEvent, SpanLink
from tests.build import agent, conversation, identity, request, result, span, tool, user

SAID = "Zephyrine"
"""A word that stands in every text below, and is no secret of any kind."""
SKIP = "no_final_reply"


def talk() -> Conversation:
    """Build a conversation in which everything that can be said says it."""
    return conversation(
        user(f"I am {SAID}"),
        agent(f"Hello {SAID}", request("find", who=SAID)),
        result("find", f"found {SAID}"),
        who=identity("shop"),
        system_prompt=f"Be kind to {SAID}",
        tools=(tool("find", description=SAID),),
        documents=(Document(id=SAID, text=SAID, score=0.5),),
        llm_calls=(LlmCall(model="m", error=f"no {SAID}", usage=Usage(input=3, output=4)),),
    )


def score(verdict: Any = "fail", reason: str = f'said "{SAID}"') -> ScoreRecord:
    """Build a score that quotes."""
    return ScoreRecord(
        score_id="1",
        conversation_id="c",
        episode=1,
        level="conversation",
        target="",
        scorer="looping",
        scorer_version="1",
        value=0.0,
        verdict=verdict,
        reason=reason,
        evidence=(Evidence(message=1, quote=SAID),),
    )


def test_metadata_only_keeps_nothing_of_what_was_said() -> None:
    """Who spoke, which tools ran, how many tokens and which verdict stay; no word of it does."""
    redactor = redactor_of(RedactConfig(content="metadata_only"))
    decided = Decided(
        episode_id="e",
        conversation=talk(),
        decided_ns=1,
        sampling=Sampling(kept=True, probability=1.0, rule="hash"),
        scores=(score(), score("skip", SKIP), score("failure", f"ValueError {SAID}")),
    )
    clean = redactor.decided(decided)
    assert SAID not in repr(clean)
    said = clean.conversation
    assert [m.role for m in said.messages] == ["user", "assistant", "tool"]
    assert said.messages[1].tool_requests[0].name == said.tool_calls[0].name == "find"
    assert said.llm_calls[0].usage == Usage(input=3, output=4)
    assert said.llm_calls[0].error == "error"
    assert [(s.verdict, s.value, s.reason) for s in clean.scores] == [
        ("fail", 0.0, ""),
        ("skip", 0.0, SKIP),
        ("failure", 0.0, ""),
    ]
    assert clean.scores[0].evidence[0].message == 1


def test_metadata_only_keeps_of_a_span_what_is_on_its_list() -> None:
    """An attribute that nobody knows is content, and so is every text of an event."""
    dirty = span(
        "chat m",
        status_message=SAID,
        attributes={
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.input.messages": f'[{{"content": "{SAID}"}}]',
            "gen_ai.prompt.0.content": SAID,
            "unheard.of": SAID,
            "customer.age": 41,
            "outrider.variant": "canary",
        },
        events=(
            SpanEvent(
                name="exception",
                time_ns=1,
                attributes={"exception.type": "KeyError", "exception.message": SAID},
            ),
        ),
        links=(
            SpanLink(trace_id="1" * 32, span_id="2" * 16, trace_state="", attributes={"why": SAID}),
        ),
        resource={"service.name": "shop", "owner": SAID},
    )
    clean = redactor_of(RedactConfig(content="metadata_only")).span(dirty)
    assert SAID not in repr(clean)
    assert clean.attributes == {
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 3,
        "outrider.variant": "canary",
    }
    assert clean.events[0].attributes == {"exception.type": "KeyError"}
    assert clean.resource == {"service.name": "shop"}


def test_metadata_only_keeps_no_text_of_outcomes_and_labels() -> None:
    """A number and a verdict stay; a text and a comment do not."""
    redactor = redactor_of(RedactConfig(content="metadata_only"))
    about = About(conversation_id="c")
    told = [
        redactor.outcome(Outcome(about=about, name="refunded", value=value))
        for value in (True, 3.5, SAID)
    ]
    assert [outcome.value for outcome in told] == [True, 3.5, ""]
    assert SAID not in repr(redactor.label(Label(about=about, scorer="s", comment=SAID)))


def test_full_keeps_content_and_still_cleans_labels_and_logs() -> None:
    """With everything kept in the store, what goes to metrics and logs is redacted as ever."""
    config = RedactConfig(content="full")
    said = conversation(user("mia@example.com"), id="mia@example.com")
    assert redactor_of(config).conversation(said) == said
    assert strict_redactor(config).text("mia@example.com") == "[email]"


def test_aliases_of_ids_hang_on_the_key() -> None:
    """Whoever lists all phone numbers cannot tell whose alias it is without the key."""
    first, again, other, none = (
        redactor_of(RedactConfig(), key).id("+14155550100") for key in (b"a", b"a", b"b", b"")
    )
    assert first == again
    assert len({first, other, none}) == 3


def test_the_hash_of_a_user_hangs_on_the_key_too() -> None:
    """It still groups what one user did; without the key nobody can try users out."""
    who = identity("shop", user_hash="0123456789abcdef")
    first, again, other = (
        redactor_of(RedactConfig(), key).identity(who).user_hash for key in (b"a", b"a", b"b")
    )
    assert first == again
    assert len({first, other, who.user_hash}) == 3
    assert len(first) == 16


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """A second start finds the key of the first; a configured one is taken instead."""
    made = pseudonym_key(RedactConfig(), tmp_path / "data")
    path = tmp_path / "data" / KEY_FILE
    assert pseudonym_key(RedactConfig(), tmp_path / "data") == made == path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert pseudonym_key(RedactConfig(pseudonym_key="mine"), tmp_path / "data") == b"mine"


def test_a_key_file_that_is_not_ours_is_an_error(tmp_path: Path) -> None:
    """A cut file is named, and not used."""
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(ConfigError, match=r"pseudonym.key: is not a key"):
        pseudonym_key(RedactConfig(), tmp_path)

"""Test that nothing that arrives makes redaction fail, and that nothing hides from it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collector.loose_json import spelled
from collector.model import Document, Evidence, LlmCall, ScoreRecord, ToolCall, ToolDefinition
from collector.redactor import Redactor
from collector.sensitive import DEFAULT_KINDS
from collector.telemetry import SpanEvent, SpanLink
from collector.value_redactor import SLICE_FROM, unescaped
from tests.build import agent, conversation, request, result, span, user

ALL = DEFAULT_KINDS
SECRETS = ("mia.planted@example.com", "sk-ant-api03-PlAnTeD123456789012345", "4111111111111111")
TRACES = ("planted", "4111111111111111")
"""What is left of a secret that got through, in lower case."""
HUGE = "9" * 5_000

secrets = st.sampled_from(SECRETS).map(" {} ".format)
texts = st.text(max_size=8) | st.sampled_from(
    ["\ud800", "x\udfff", "\\ud83d", "[", '{"', "\\", '"', "\x00", "[\udcff", "1e400", "\\u0040"]
)
leaves: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.binary(max_size=8)
    | texts
    | secrets
    | secrets.map(str.encode)
    | st.just(4111111111111111)
    | st.just(4111111111111111.0)
    | secrets.map(lambda text: b"[\xff" + text.encode())
)


def as_json(value: Any) -> st.SearchStrategy[str]:
    """Spell a value as JSON, as good and as bad as producers do."""
    text = spelled(value)
    escaped = text.replace("@", "\\u0040").replace("-", "\\u002d")
    return st.sampled_from(
        [
            text,
            escaped,
            f"[{text},1e400]",
            f"[{text},{HUGE}]",
            f'[{text},"{"x" * SLICE_FROM}","\\ud800"]',
            f'[1e400,{escaped},"{"x" * SLICE_FROM}"]',
            f'{{"a":{text},"a":1}}',
            f'[{{"a":{text},"a":"x"}},"{"x" * SLICE_FROM}"]',
            f'[{text},"{"x" * SLICE_FROM}"',
            f"{escaped}}}",
            "[" * 70 + text + "]" * 70,
            "[" * 5_000 + text + "]" * 5_000,
        ]
    )


values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts | secrets, inner, max_size=3)
        | inner.flatmap(as_json)
    ),
    max_leaves=8,
)


def nested(value: Any, depth: int) -> Any:
    """Put a value so many levels deep."""
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


def assert_clean(value: Any) -> None:
    """Assert that no secret is left, escaped or not."""
    text = spelled(value)
    for seen in (text, unescaped(text)):
        assert not [trace for trace in TRACES if trace in seen.lower()]


@settings(max_examples=150, deadline=None)
@given(values, st.sampled_from([0, 0, 0, 46, 60, 5_000]))
@example(f"[{'9' * SLICE_FROM},1e400,{HUGE}]", 0)
@example(b"[\xff bob@example.io", 0)
@example("[" * 900 + '"mia.planted@example.com"' + "]" * 900, 40)
def test_any_value_is_redacted(value: Any, depth: int) -> None:
    """Whatever a value is, redacting it ends, leaves no secret, and redacting again does nothing."""
    clean = Redactor(ALL).value(nested(value, depth))
    assert_clean(clean)
    assert spelled(Redactor(ALL).value(clean)) == spelled(clean)


@settings(max_examples=60, deadline=None)
@given(values)
def test_any_record_is_redacted(value: Any) -> None:
    """Spans, conversations and scores that hold anything anywhere are redacted."""
    text = value if isinstance(value, str) else spelled(value)
    attributes = {"value": value, text: text}
    redactor = Redactor(ALL)
    said = conversation(
        user(text),
        agent(text, request(text, id="1", value=value)),
        result(text, text, id="1"),
        system_prompt=text,
        tools=(ToolDefinition(name=text, description=text, parameters=value),),
        llm_calls=(LlmCall(provider=text, model=text, response_id=text, error=text),),
        documents=(Document(id=text, text=text),),
    )
    calls = (ToolCall(name=text, arguments=value, result=text),)
    whole = redactor.conversation(msgspec.structs.replace(said, tool_calls=calls))
    for record in (
        redactor.span(
            span(
                text,
                status_message=text,
                trace_state=text,
                scope_name=text,
                scope_version=text,
                attributes=attributes,
                resource=attributes,
                events=(SpanEvent(name=text, time_ns=1, attributes=attributes),),
                links=(
                    SpanLink(trace_id="1", span_id="1", trace_state=text, attributes=attributes),
                ),
            )
        ),
        whole,
        redactor.score(
            ScoreRecord(
                score_id="1",
                conversation_id=text,
                episode=1,
                level="conversation",
                target="",
                scorer="s",
                scorer_version="1",
                verdict="fail",
                reason=text,
                evidence=(Evidence(quote=text),),
            )
        ),
    ):
        assert not [trace for trace in TRACES if trace in unescaped(repr(record)).lower()]
    assert repr(redactor.conversation(whole)) == repr(whole)


def test_json_in_json_without_end_is_redacted() -> None:
    """However often JSON is put into a string of JSON, the innermost secret is found."""
    text: str = "mia.planted@example.com"
    for _ in range(12):
        text = json.dumps(["[" * 3, {"in": text}])
    clean = Redactor(ALL).text(text)
    assert_clean(clean)
    assert Redactor(ALL).text(clean) == clean


def test_a_text_too_far_in_is_redacted_fully_elsewhere() -> None:
    """What was only redacted as plain text, because it was deep, is not remembered as that."""
    inner = json.dumps({"authorization": "open sesame"})
    text = inner
    for _ in range(6):
        text = json.dumps({"in": text})
    redactor = Redactor(ALL)
    redactor.text(text)
    assert redactor.text(inner) == '{"authorization":"[token]"}'


def test_threads_do_not_disturb_each_other() -> None:
    """Labels are redacted on one thread while records are on another."""
    redactor = Redactor(ALL, memo_bytes=1_000)
    inner = json.dumps({"in": json.dumps({"authorization": "open sesame"})})

    def work(number: int) -> bool:
        texts = (redactor.text(json.dumps({"n": f"{number}-{n}", "in": inner})) for n in range(100))
        return any("sesame" in text for text in texts)

    with ThreadPoolExecutor(4) as threads:
        assert not any(threads.map(work, range(16)))


def test_what_is_redacted_meanwhile_does_not_disturb_counting() -> None:
    """Kinds that are met for the first time while another thread counts make neither fail."""
    kinds = {f"kind{n}": f"word{n};" for n in range(500)}
    redactor = Redactor((), kinds)
    with ThreadPoolExecutor(1) as threads:
        met = threads.submit(lambda: [redactor.text(text) for text in kinds.values()])
        while not met.done():
            redactor.redactions  # noqa: B018 - it is what would fail
    assert met.result() == [f"[{name}]" for name in kinds]
    assert redactor.redactions == dict.fromkeys(kinds, 1)


def test_a_field_that_stands_twice_hides_nothing() -> None:
    """The value that a reader would not see is not stored either."""
    assert Redactor(ALL).text('{"a": "mia@example.com", "a": "x"}') == '{"a":"x"}'


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("to=mia\\u0040example.com;", "to=[email];"),
        ("to=mia\\u004\\u0030example.com;", "to=[email];"),
        ('[{"to": "zo\\u00eb\\\\u0040example.com', '[{"to": "[email]'),
        ("C:\\u0041bc", "C:\\u0041bc"),
    ],
)
def test_escapes_in_plain_text_hide_nothing(text: str, clean: str) -> None:
    """In a text that is not JSON, escapes are resolved where they hide something only."""
    assert Redactor(ALL).text(text) == clean


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("x " + "\\u003" * 100_000 + "\\u0030", "x " + "\\u003" * 100_000 + "\\u0030"),
        ("[email] a@b.io " * 100_000, "[email] [email] " * 100_000),
    ],
)
def test_long_texts_made_for_it_cost_little(text: str, clean: str) -> None:
    """Escapes within escapes, and addresses between what was replaced, are done at once."""
    assert Redactor(ALL).text(text) == clean


def test_unreadable_numbers_stay_as_they_came() -> None:
    """A number that no machine holds neither stops the redaction beside it nor changes."""
    text = f'[{{"n":1e400,"m":{HUGE},"to":"mia@example.com"}},"{"x" * SLICE_FROM}"]'
    assert Redactor(ALL).text(text) == text.replace("mia@example.com", "[email]")

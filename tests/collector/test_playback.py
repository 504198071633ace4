"""Test how a recorded conversation is laid out as spans."""

from __future__ import annotations

from typing import Any

import msgspec
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.message_json import instructions_json, message_json, tools_json
from collector.model import Conversation, Document, Identity, LlmCall, Message
from collector.playback import resource_of, steps
from collector.replay_ids import Style, trace_ids
from tests.build import agent, conversation, request, result, tool, user

NOW = 1_700_000_000_000_000_000
WITH_IDS = Style(seed="s")
WITHOUT_IDS = Style(seed="s", strip_ids=True)
TWO_TURNS = conversation(
    agent("Welcome"),
    user("Cancel KL-1"),
    agent("Let me look", request("find")),
    result("find", "locked", is_error=True),
    agent("It is locked"),
    user("Oh"),
    agent("Sorry"),
    id="k-1",
    system_prompt="Be kind.",
    tools=(tool("find"),),
    llm_calls=[LlmCall(model="m-1")],
)


def played(told: Conversation, style: Style, *, step_ns: int = 0) -> list[Span]:
    """Lay a conversation out with a clock that moves ``step_ns`` at each look."""
    time_ns = NOW - step_ns

    def clock() -> int:
        nonlocal time_ns
        time_ns += step_ns
        return time_ns

    return [span for step in steps(told, style, clock_ns=clock) for span in step.spans]


def attributes(span: Span) -> dict[str, Any]:
    """Return a span's attributes as Python values."""
    return {pair.key: _value(pair.value) for pair in span.attributes}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind or "string_value")


def history(span: Span) -> str:
    """Return the input messages of a span as they stand."""
    said = attributes(span)["gen_ai.input.messages"]
    assert isinstance(said, str)
    return said


def written(*messages: Message) -> str:
    """Write messages as an input history."""
    return f"[{','.join(map(message_json, messages))}]"


def test_one_trace_a_turn_in_order_of_ending() -> None:
    """Each turn is a trace whose calls and tools end before the agent span above them."""
    spans = played(TWO_TURNS, WITH_IDS)
    assert [span.name for span in spans] == [
        "chat m-1",
        "execute_tool find",
        "chat m-1",
        "invoke_agent shop",
        "chat m-1",
        "invoke_agent shop",
    ]
    first, second = trace_ids(TWO_TURNS, seed="s")
    assert [span.trace_id.hex() for span in spans] == [first] * 4 + [second] * 2
    assert {span.parent_span_id for span in spans[:3]} == {spans[3].span_id}
    assert spans[3].parent_span_id == b""
    ends = [span.end_time_unix_nano for span in spans]
    assert ends == sorted(ends)
    assert spans[3].start_time_unix_nano < spans[0].start_time_unix_nano


def test_a_call_carries_the_whole_history() -> None:
    """A call span holds everything said before it, its reply, and what the model was given."""
    spans = played(TWO_TURNS, WITH_IDS)
    said = attributes(spans[2])
    assert history(spans[2]) == written(*TWO_TURNS.messages[:4])
    assert msgspec.json.decode(said["gen_ai.output.messages"])[0]["finish_reason"] == "stop"
    assert said["gen_ai.system_instructions"] == instructions_json("Be kind.")
    assert said["gen_ai.tool.definitions"] == tools_json(TWO_TURNS.tools)
    assert said["gen_ai.conversation.id"] == "k-1"
    assert said["gen_ai.agent.name"] == "shop"
    assert said["gen_ai.request.model"] == "m-1"
    assert said["gen_ai.usage.input_tokens"] > said["gen_ai.usage.output_tokens"] > 0
    assert attributes(spans[0])["gen_ai.response.finish_reasons"] == ["tool_call"]
    ids = {attributes(spans[n])["gen_ai.response.id"] for n in (0, 2, 4)}
    assert len(ids) == 3


def test_unknown_model_is_not_said() -> None:
    """Without a recorded model the call names none."""
    (chat, _) = played(conversation(user("Hi"), agent("Hello")), WITH_IDS)
    assert chat.name == "chat"
    assert not {"gen_ai.request.model", "gen_ai.response.model"} & attributes(chat).keys()


def test_tool_span_of_a_failed_call() -> None:
    """A tool span holds the call and its result; the producer's error flag makes it an error."""
    span = played(TWO_TURNS, WITH_IDS)[1]
    said = attributes(span)
    assert said["gen_ai.tool.call.id"] == "call_find"
    assert said["gen_ai.tool.call.arguments"] == "{}"
    assert said["gen_ai.tool.call.result"] == "locked"
    assert said["error.type"] == "tool_error"
    assert span.status.code == 2


def test_only_the_last_root_ends_the_conversation() -> None:
    """The explicit end stands once, on the root of the last turn."""
    ends = ["outrider.conversation.end" in attributes(s) for s in played(TWO_TURNS, WITH_IDS)]
    assert ends == [False] * 5 + [True]


def test_last_words_stand_on_the_last_root() -> None:
    """What came after the last reply is told by the last root, and only then has it input."""
    thanks = conversation(user("Hi"), agent("Hello"), user("Thanks"))
    spans = played(thanks, WITH_IDS)
    assert [span.name for span in spans] == [
        "chat",
        "invoke_agent shop",
        "invoke_agent shop",
    ]
    assert "gen_ai.input.messages" not in attributes(spans[1])
    assert history(spans[2]) == written(*thanks.messages)
    assert "gen_ai.input.messages" not in attributes(played(TWO_TURNS, WITH_IDS)[-1])


def test_unanswered_result_stands_on_the_last_root() -> None:
    """A tool result that nobody answered has its tool span and stands in the root's input."""
    cut = conversation(user("Go"), agent("", request("f")), result("f", "ok"))
    spans = played(cut, WITH_IDS)
    assert [span.name for span in spans] == ["chat", "execute_tool f", "invoke_agent shop"]
    assert history(spans[-1]) == written(*cut.messages)


def test_request_without_result_has_no_tool_span() -> None:
    """A tool that was asked for but never answered did not run."""
    cut = conversation(user("Go"), agent("", request("f")))
    assert [span.name for span in played(cut, WITH_IDS)] == ["chat", "invoke_agent shop"]


def test_conversation_without_a_call() -> None:
    """Without any reply there is one agent span that holds the input and what was given."""
    for style in (WITH_IDS, WITHOUT_IDS):
        (span,) = played(conversation(user("Anyone?"), system_prompt="Be kind."), style)
        assert span.name == "invoke_agent shop"
        assert history(span) == written(user("Anyone?"))
        assert attributes(span)["gen_ai.system_instructions"] == instructions_json("Be kind.")
        assert attributes(span)["outrider.conversation.end"] is True


def test_empty_conversation() -> None:
    """A conversation without messages is still sent, as one step."""
    (step,) = steps(conversation(), WITH_IDS, clock_ns=lambda: NOW)
    assert step.share == 1.0
    assert len(step.spans) == 1


def test_stripped_calls_are_traces_of_their_own() -> None:
    """Without ids every call is a lone root trace, without agent, tool or conversation id."""
    spans = played(TWO_TURNS, WITHOUT_IDS)
    assert [span.name for span in spans] == ["chat m-1"] * 3
    assert [s.trace_id.hex() for s in spans] == trace_ids(TWO_TURNS, seed="s", strip_ids=True)
    assert len({span.trace_id for span in spans}) == 3
    for span in spans:
        assert span.parent_span_id == b""
        assert not {"gen_ai.conversation.id", "gen_ai.agent.name"} & attributes(span).keys()
    assert '"is_error":true' in history(spans[1])
    ends = ["outrider.conversation.end" in attributes(span) for span in spans]
    assert ends == [False, False, True]


def test_stripped_last_words_are_an_agent_trace() -> None:
    """Without ids, last words come in an agent span of the same scope with the whole history."""
    thanks = conversation(
        user("Hi"),
        agent("Hello"),
        user("Thanks"),
        tools=(tool("f"),),
        llm_calls=[LlmCall(model="m-1")],
    )
    chat, last = played(thanks, WITHOUT_IDS)
    assert "outrider.conversation.end" not in attributes(chat)
    assert history(last) == written(*thanks.messages)
    for key in ("gen_ai.request.model", "gen_ai.tool.definitions"):
        assert attributes(last)[key] == attributes(chat)[key]
    assert attributes(last)["outrider.conversation.end"] is True
    assert last.trace_id != chat.trace_id


def test_documents_are_a_retrieval() -> None:
    """Given documents are a retrieval span, below the agent or, without ids, inside the call."""
    given = conversation(user("?"), agent("2 kg"), documents=[Document(text="It weighs 2 kg.")])
    retrieval, _, root = played(given, WITH_IDS)
    assert retrieval.parent_span_id == root.span_id
    documents = attributes(retrieval)["gen_ai.retrieval.documents"]
    assert msgspec.json.decode(documents) == [{"content": "It weighs 2 kg."}]
    retrieval, chat = played(given, WITHOUT_IDS)
    assert (retrieval.trace_id, retrieval.parent_span_id) == (chat.trace_id, chat.span_id)
    assert chat.start_time_unix_nano <= retrieval.start_time_unix_nano


def test_ids_are_a_function_of_the_seed() -> None:
    """The same seed gives the same ids; another seed or another variant gives others."""

    def ids(style: Style) -> list[tuple[bytes, bytes]]:
        return [(span.trace_id, span.span_id) for span in played(TWO_TURNS, style)]

    assert ids(WITH_IDS) == ids(WITH_IDS)
    assert len(set(ids(WITH_IDS))) == 6
    assert not set(ids(WITH_IDS)) & set(ids(Style(seed="t")))
    assert not set(ids(WITH_IDS)) & set(ids(Style(seed="s", variant="shadow")))


def test_times_follow_the_clock() -> None:
    """Spans start at the clock and never go back, however slowly it moves."""
    for step_ns in (0, 10_000_000_000):
        starts = [
            span.start_time_unix_nano for span in played(TWO_TURNS, WITHOUT_IDS, step_ns=step_ns)
        ]
        assert starts[0] == NOW
        assert starts == sorted(set(starts))
        assert starts[-1] >= NOW + 2 * step_ns
        assert starts[-1] <= NOW + 2 * step_ns + 1_000_000_000


def test_resource() -> None:
    """The resource names agent, version, environment and variant, the style's before the row's."""
    who = Identity(agent="shop", agent_version="v2", environment="eu")
    told = conversation(who=who)
    assert resource_of(told, WITH_IDS) == {
        "service.name": "shop",
        "service.version": "v2",
        "deployment.environment.name": "eu",
        "outrider.variant": "production",
    }
    style = Style(seed="s", variant="shadow", environment="us")
    assert resource_of(conversation(who=Identity()), style) == {
        "service.name": "replay",
        "deployment.environment.name": "us",
        "outrider.variant": "shadow",
    }


def test_declared_version_and_pair() -> None:
    """A declared version is the agent's version attribute, and a pair id is passed on."""
    who = Identity(agent="shop", agent_version="v2", pair_id="p-1")
    (chat, _) = played(conversation(user("Hi"), agent("Hello"), who=who), WITH_IDS)
    assert attributes(chat)["gen_ai.agent.version"] == "v2"
    assert attributes(chat)["outrider.pair.id"] == "p-1"


def test_steps_share_the_conversation() -> None:
    """There is one step a model call, and their shares sum to one."""
    for style in (WITH_IDS, WITHOUT_IDS):
        shares = [step.share for step in steps(TWO_TURNS, style, clock_ns=lambda: NOW)]
        assert len(shares) == 3
        assert abs(sum(shares) - 1) < 1e-9

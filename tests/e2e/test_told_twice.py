"""One span or call that comes by two ways, or again after a crash, is stored, scored and counted once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import anthropic
import msgspec
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from tests.collector.proxy.provider import Provider, plain
from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import answered, asked, said, span, traces
from tests.e2e.served import Served, eventually, free_ports
from tests.e2e.test_proxy import KEYS, WORDS, reply, takes_calls

ASK, LOOK = said("user", "Is my kettle in Ghent?"), asked("find_parcel", "c1", parcel="K-9")
RESULT, REPLY = answered("c1", "In Ghent."), said("assistant", "Yes, since Monday.")
SPANS = 4


def batches(*, ended: bool = True) -> list[bytes]:
    """Write a conversation as its SDK sends it: in two requests, the agent's span last."""

    def chat(name: str, given: list[Any], made: Any, at: float) -> Any:
        more: dict[str, Any] = {"gen_ai__output__messages": [made]} if ended else {}
        return span(
            name,
            parent="run",
            at=at,
            seconds=1.0 if ended else 0.0,
            gen_ai__operation__name="chat",
            gen_ai__request__model="m",
            gen_ai__usage__input_tokens=10,
            gen_ai__input__messages=given,
            **more,
        )

    tool = span(
        "execute_tool find_parcel",
        parent="run",
        at=2,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="find_parcel",
        gen_ai__tool__call__id="c1",
    )
    over: dict[str, Any] = {"outrider__conversation__end": True} if ended else {}
    run = span(
        "run",
        seconds=6.0 if ended else 0.0,
        gen_ai__operation__name="invoke_agent",
        gen_ai__conversation__id="talk-1",
        **over,
    )
    one, two = chat("one", [ASK], LOOK, 1), chat("two", [ASK, LOOK, RESULT], REPLY, 4)
    return [traces(one, tool), traces(two, run)]


def cut_anew(bodies: list[bytes]) -> list[bytes]:
    """Put the same spans into requests of one span each, as JSON, the last first."""
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    found = []
    for request in requests:
        for one in request.resource_spans[0].scope_spans[0].spans:
            alone = ExportTraceServiceRequest()
            alone.CopyFrom(request)
            del alone.resource_spans[0].scope_spans[0].spans[:]
            alone.resource_spans[0].scope_spans[0].spans.append(one)
            found.append(_json(alone))
    return found[::-1]


def _json(request: ExportTraceServiceRequest) -> bytes:
    """Write OTLP JSON, which has ids in hexadecimal."""
    spoken: Any = MessageToDict(request, use_integers_for_enums=True)
    for one in spoken["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        source = request.resource_spans[0].scope_spans[0].spans[0]
        one["traceId"], one["spanId"] = source.trace_id.hex(), source.span_id.hex()
        if source.parent_span_id:
            one["parentSpanId"] = source.parent_span_id.hex()
    return msgspec.json.encode(spoken)


def outcome(instance: Instance) -> dict[str, Any]:
    """Decide everything; return what is stored and counted, and hold that nothing stands twice."""
    instance.later(1_000)
    instance.later(1_000)
    (head,) = instance.export("conversations")
    scores = Counter(
        (row["scorer"], row["target"], row["verdict"]) for row in instance.export("scores")
    )
    assert max(scores.values()) == 1
    observed = [row["scorer"] for row in instance.export("observations")]
    assert len(observed) == len(set(observed))
    (stored,) = instance.path.store.query("SELECT count() AS n FROM otel_traces FINAL")
    return {
        "spans": stored["n"],
        "calls": [call["model"] for call in head["llm_calls"]],
        "tools": [(call["name"], call["result"]) for call in head["tool_calls"]],
        "said": [message["text"] for message in head["messages"]],
        "scores": scores,
        "revision": head["revision"],
        **{
            name: instance.total(name)
            for name in ("episodes_total", "scores_total", "llm_tokens_total", "tool_calls_total")
        },
    }


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what comes of it when everything comes once."""
    with Instance(tmp_path_factory.mktemp("calm") / "data", clock=Clock()) as instance:
        instance.send(batches())
        return outcome(instance)


@pytest.mark.parametrize(
    ("way", "decided", "crash"),
    [
        pytest.param("resent", True, True),
        pytest.param("by-a-collector", False, True),
        pytest.param("resent", False, True, marks=pytest.mark.slow),
        pytest.param("by-a-collector", True, True, marks=pytest.mark.slow),
        pytest.param("by-a-collector", True, False, marks=pytest.mark.slow),
    ],
)
def test_the_same_spans_again(
    tmp_path: Path, calm: dict[str, Any], way: str, decided: bool, crash: bool
) -> None:
    """As they were, or by a Collector that cuts and writes them anew; before or after the decision, across a crash or not."""
    clock = Clock()
    instance = Instance(tmp_path / "data", clock=clock)
    instance.send(batches())
    if decided:
        instance.later(1_000)
        instance.export("conversations")
    else:
        instance.settle()
    if crash:
        instance.abandon()
        instance = Instance(tmp_path / "data", clock=clock)
    with instance:
        if way == "resent":
            instance.send(batches())
        else:
            instance.send(cut_anew(batches()), encoding="json")
        assert outcome(instance) == calm
        assert instance.total("spans_duplicate_total") == SPANS
        assert calm["spans"] == SPANS


@pytest.mark.parametrize(
    ("first", "crash"),
    [
        ("start", True),
        pytest.param("start", False, marks=pytest.mark.slow),
        pytest.param("end", True, marks=pytest.mark.slow),
        pytest.param("end", False, marks=pytest.mark.slow),
    ],
)
def test_the_start_and_the_end_of_spans(
    tmp_path: Path, calm: dict[str, Any], first: str, crash: bool
) -> None:
    """A span that is sent when it starts and again when it ends is one, in whatever order they come."""
    clock = Clock()
    instance = Instance(tmp_path / "data", clock=clock)
    starts, ends = batches(ended=False), batches()
    instance.send(starts if first == "start" else ends)
    instance.settle()
    if crash:
        instance.abandon()
        instance = Instance(tmp_path / "data", clock=clock)
    with instance:
        instance.send(ends if first == "start" else starts)
        assert outcome(instance) == calm
        assert instance.total("spans_duplicate_total") == SPANS


@pytest.mark.parametrize(
    ("first", "named"),
    [
        ("proxy", True),
        pytest.param("proxy", False, marks=pytest.mark.slow),
        pytest.param("sdk", True, marks=pytest.mark.slow),
        pytest.param("sdk", False, marks=pytest.mark.slow),
    ],
)
def test_one_call_in_two_traces(tmp_path: Path, first: str, named: bool) -> None:
    """The proxy's span and the client's of one call are one by the response's id, also where only the client's names the conversation."""
    call: dict[str, Any] = {
        "gen_ai__operation__name": "chat",
        "gen_ai__request__model": "m",
        "gen_ai__response__id": "msg_1",
        "gen_ai__usage__input_tokens": 10,
        "gen_ai__input__messages": [ASK],
        "gen_ai__output__messages": [REPLY],
    }
    talk: dict[str, Any] = {"gen_ai__conversation__id": "talk-1"} if named else {}
    proxy = traces(span("chat m", trace="p1", at=1, **call), scope="outrider.proxy")
    sdk = traces(
        span("chat", parent="run", at=1, **call, **talk),
        span("run", gen_ai__operation__name="invoke_agent", seconds=3.0),
    )
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        for body in (proxy, sdk) if first == "proxy" else (sdk, proxy):
            instance.send([body])
            instance.later(1)
        found = outcome(instance)
    assert found["calls"] == ["m"]
    assert found["llm_tokens_total"] == 10
    assert found["episodes_total"] == 1


class Kept(SpanExporter):
    """Keep what a program would export, to send it when the test wants."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def export(self, spans: Any) -> SpanExportResult:
        """Keep them."""
        self.spans += spans
        return SpanExportResult.SUCCESS


def instrumented(url: str, kept: Kept) -> None:
    """Hold a conversation with the provider's own client, under an instrumentation, with a name of its own."""
    provider = TracerProvider(resource=Resource({"service.name": "bike-desk"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    instrumentor = AnthropicInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        tracer = provider.get_tracer("desk")
        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "talk-1"}
        with (
            tracer.start_as_current_span("run", attributes=about) as run,
            anthropic.Anthropic(base_url=url, api_key=KEYS[0], max_retries=0) as client,
        ):
            messages: list[Any] = [{"role": "user", "content": WORDS[0]}]
            for number in (1, 2):
                client.messages.create(model="claude-small", max_tokens=100, messages=messages)
                messages.append({"role": "assistant", "content": reply(number, 0)["content"]})
                messages.append({"role": "user", "content": WORDS[number]})
            run.set_attribute("outrider.conversation.end", True)
    finally:
        instrumentor.uninstrument()


def test_a_call_that_the_proxy_and_the_client_tell(tmp_path: Path) -> None:
    """A real client under instrumentation calls through the proxy; with crashes between the two tellings and a resend after them, each call is there once."""
    (port,) = free_ports(1)
    kept = Kept()
    with (
        Provider() as provider,
        Served(
            tmp_path / "data",
            PROXY__ADDRESS=f"127.0.0.1:{port}",
            PROXY__ANTHROPIC=provider.url,
            ASSEMBLE__LONE_TRACE_TIMEOUT="120s",
        ) as served,
    ):
        for number in (1, 2):
            provider.script("/v1/messages", plain(msgspec.json.encode(reply(number, 0))))
        eventually(lambda: takes_calls(port), "the proxy takes calls")
        instrumented(f"http://127.0.0.1:{port}", kept)
        eventually(
            lambda: served.value("spans_received_total", receiver="proxy") == 2,
            "the calls are captured",
        )
        served.kill()
        served.start()
        send(served, kept)
        served.settled(1)
        served.kill()
        served.start()
        send(served, kept)
        eventually(
            lambda: served.value("spans_duplicate_total") == len(kept.spans), "a resend is counted"
        )
        served.settled(1)
        (conversation,) = served.export("conversations")
        scores = Counter((row["scorer"], row["target"]) for row in served.export("scores"))
        series = served.series()
    assert conversation["conversation_id"] == "talk-1"
    assert len(conversation["llm_calls"]) == 2
    assert max(scores.values()) == 1
    totals = {name: value for (name, _), value in series.items() if name == "episodes_total"}
    assert totals == {"episodes_total": 1}
    tokens = sum(
        v
        for (n, pairs), v in series.items()
        if n == "llm_tokens_total" and ("kind", "input") in pairs
    )
    assert tokens == 20


def send(served: Served, kept: Kept) -> None:
    """Export what was kept, by the SDK's own exporter."""
    exporter = OTLPSpanExporter(endpoint=f"{served.receive}/v1/traces")
    assert exporter.export(kept.spans) is SpanExportResult.SUCCESS
    exporter.shutdown()  # type: ignore[no-untyped-call]  # as the SDK has it

"""What Outrider emits may come back by a Collector; it is counted and makes no conversation, label or loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.collector.proxy.provider import Provider, plain
from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import logs, record, said, span, traces
from tests.e2e.relay import Change, Relay, flattened, renamed
from tests.e2e.served import Served, eventually, free_ports
from tests.e2e.test_proxy import WORDS, converse, reply, takes_calls

CHANGES = [
    pytest.param(lambda _: None, id="as-it-is", marks=pytest.mark.slow),
    pytest.param(renamed, id="renamed"),
    pytest.param(flattened, id="without-scope", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("change", CHANGES)
def test_scores_that_come_back_are_no_labels(tmp_path: Path, change: Change) -> None:
    """Verdicts are emitted once; returned under whatever name, nobody takes them for a person's word."""
    served = Served(tmp_path / "data")
    with Relay(served.receive, change) as relay:
        served.settings["TELEMETRY__OTLP_ENDPOINT"] = relay.url
        with served:
            request = traces(
                span(
                    "chat",
                    gen_ai__operation__name="chat",
                    gen_ai__request__model="m",
                    gen_ai__conversation__id="talk-1",
                    gen_ai__input__messages=[said("user", "Refund my order K-7, please.")],
                    gen_ai__output__messages=[said("assistant", "Your refund is on its way.")],
                    outrider__conversation__end=True,
                )
            )
            answer = served.client.post(
                f"{served.receive}/v1/traces",
                content=request,
                headers={"content-type": "application/x-protobuf"},
            )
            assert answer.status_code == 200
            served.settled(1)
            eventually(
                lambda: served.value("evaluation_events_total", result="sent") > 0,
                "verdicts go out",
            )
            sent = served.value("evaluation_events_total", result="sent")
            eventually(
                lambda: served.value("log_records_dropped_total", reason="own_telemetry") == sent,
                "they come back and are counted",
            )
            served.settled(1)
            (conversation,) = served.export("conversations")
            assert conversation["labels"] == []
            assert served.value("episodes_total") == 1
            assert served.value("evaluation_events_total", result="sent") == sent


@pytest.mark.parametrize("change", CHANGES)
def test_calls_that_come_back_are_no_second_ones(tmp_path: Path, change: Change) -> None:
    """What the LLM proxy exports is dropped or a duplicate when it returns; each call is there once."""
    (port,) = free_ports(1)
    served = Served(tmp_path / "data", PROXY__ADDRESS=f"127.0.0.1:{port}")
    calls = len(WORDS) + 1
    with Provider() as provider, Relay(served.receive, change) as relay:
        served.settings |= {
            "PROXY__ANTHROPIC": provider.url,
            "PROXY__EXPORT__ENDPOINT": relay.url,
        }
        with served:
            for number in range(calls):
                provider.script("/v1/messages", plain(msgspec.json.encode(reply(number, 0))))
            eventually(lambda: takes_calls(port), "the proxy takes calls")
            converse(f"http://127.0.0.1:{port}", 0, stream=False)
            eventually(
                lambda: (
                    served.value("spans_dropped_total", reason="own_telemetry")
                    + served.value("spans_duplicate_total")
                    == calls
                ),
                "they come back and are counted",
            )
            served.settled(1)
            (conversation,) = served.export("conversations")
            assert len(conversation["llm_calls"]) == calls
            assert served.value("episodes_total") == 1
            assert served.value("proxy_export_total", result="sent") == calls


def test_a_judge_beside_the_agent_is_not_scored(tmp_path: Path) -> None:
    """Spans and log records marked `outrider.own` are counted and nothing else, whatever they say."""
    judged: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "judge-1",
        "gen_ai.input.messages": [said("user", "Is this answer right?")],
        "gen_ai.output.messages": [said("assistant", "No.")],
        "outrider.own": True,
    }
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        instance.send([traces(span("judge", **judged))])
        verdict = record(
            "gen_ai.evaluation.result",
            gen_ai__evaluation__name="looping",
            gen_ai__evaluation__score__label="pass",
            outrider__own=True,
        )
        instance.send([logs(verdict)], signal="logs")
        instance.later(1_000)
        assert instance.export("conversations") == []
        assert instance.total("spans_dropped_total", reason="own_telemetry") == 1
        assert instance.total("log_records_dropped_total", reason="own_telemetry") == 1
        assert instance.total("labels_total") == 0

"""Test sending requests to a receiver, with a fake transport and a fake clock."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from collector.replay import Report, Request, exit_status, send

Answer = httpx.Response | Exception


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Move the clock."""
        self.slept.append(round(seconds, 6))
        self.now += seconds

    def read(self) -> float:
        """Return the time."""
        return self.now


class Receiver:
    """Give the prepared answers in turn, then accept everything; remember what came."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.got: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.got.append(request)
        answer = self.answers.pop(0) if self.answers else httpx.Response(200)
        if isinstance(answer, Exception):
            raise answer
        return answer


def sent(receiver: Receiver, count: int = 1, **options: Any) -> tuple[Report, FakeTime]:
    """Send ``count`` requests of half a conversation and two spans each."""
    requests = [
        Request(conversation_ids=("a",), body=b"%d" % n, spans=2, share=0.5) for n in range(count)
    ]
    clock = FakeTime()
    with httpx.Client(transport=httpx.MockTransport(receiver)) as client:
        report = send(
            requests,
            url=options.pop("url", "http://shop.example"),
            client=client,
            sleep=clock.sleep,
            seconds=clock.read,
            wall_clock=clock.read,
            **options,
        )
    return report, clock


def test_everything_accepted() -> None:
    """Bodies go out in order as protobuf, with the token, and are counted."""
    receiver = Receiver()
    seen: list[Report] = []
    report, _ = sent(receiver, 4, token="sesame", on_progress=seen.append)  # noqa: S106 - invented
    assert report == Report(requests=4, spans=8, conversations=2.0)
    assert exit_status(report) == 0
    assert [request.content for request in receiver.got] == [b"0", b"1", b"2", b"3"]
    assert receiver.got[0].headers["content-type"] == "application/x-protobuf"
    assert receiver.got[0].headers["authorization"] == "Bearer sesame"
    assert [progress.requests for progress in seen] == [1, 2, 3, 4]


@pytest.mark.parametrize("url", ["http://shop.example", "http://shop.example/v1/traces/"])
def test_address(url: str) -> None:
    """The signal's path is appended unless the address already has it."""
    receiver = Receiver()
    sent(receiver, url=url)
    assert str(receiver.got[0].url) == "http://shop.example/v1/traces"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_retryable_status(status: int) -> None:
    """A retryable answer is tried again after a growing pause."""
    report, clock = sent(Receiver(httpx.Response(status), httpx.Response(status)))
    assert (report.requests, report.retries) == (1, 2)
    assert clock.slept == [0.1, 0.2]


@pytest.mark.parametrize(
    ("said", "pause"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("Tue, 14 Nov 2023 22:13:23 GMT", 3.0),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.1),
        ("soon", 0.1),
        ("nan", 0.1),
    ],
)
def test_retry_after(said: str, pause: float) -> None:
    """Retry-After is honoured as seconds or as a date, and nonsense is ignored."""
    _, clock = sent(Receiver(httpx.Response(503, headers={"retry-after": said})))
    assert clock.slept == [pause]


def test_connection_errors_are_retried() -> None:
    """A receiver that is away for a moment gets the same request again."""
    receiver = Receiver(httpx.ConnectError("refused"), httpx.ReadTimeout("slow"))
    report, _ = sent(receiver, 2)
    assert (report.requests, report.retries, report.stopped) == (2, 2, False)
    assert [request.content for request in receiver.got] == [b"0", b"0", b"0", b"1"]


def test_waiting_is_told() -> None:
    """A request that has to wait is told of once, with the reason, before the pause."""
    told: list[str] = []
    receiver = Receiver(httpx.ConnectError("refused"), httpx.ConnectError("refused"))
    sent(receiver, 2, on_wait=told.append)
    assert told == ["http://shop.example/v1/traces: refused"]


def test_a_certificate_that_is_not_trusted_is_final() -> None:
    """Waiting makes no certificate right, so sending stops at once."""
    error = httpx.ConnectError("certificate verify failed")
    error.__cause__ = ssl.SSLCertVerificationError("certificate verify failed")
    receiver = Receiver(error)
    report, clock = sent(receiver, 3)
    assert (report.stopped, len(receiver.got), clock.slept) == (True, 1, [])
    assert report.problem == "http://shop.example/v1/traces: certificate verify failed"


def test_pauses_are_bounded() -> None:
    """The pause between tries stops growing, and patience ends the sending."""
    receiver = Receiver(*[httpx.ConnectError("refused")] * 50)
    report, clock = sent(receiver, 3, patience_s=30.0)
    assert max(clock.slept) == 5.0
    assert sum(clock.slept) <= 30.0
    assert report.stopped
    assert report.requests == 0
    assert report.problem.startswith("http://shop.example/v1/traces: refused; gave up after")
    assert exit_status(report) == 1


def test_partial_success_is_reported() -> None:
    """Rejected spans are counted with the receiver's reason, and are not sent again."""
    partial = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=1, error_message="zero id")
    )
    report, _ = sent(Receiver(httpx.Response(200, content=partial.SerializeToString())), 2)
    assert (report.requests, report.spans, report.rejected_spans) == (2, 3, 1)
    assert report.problem == "zero id"
    assert exit_status(report) == 1


def test_strange_answer_is_noted() -> None:
    """A success whose body is not OTLP is counted, and noted as a problem."""
    report, _ = sent(Receiver(httpx.Response(200, content=b"\xff\xff")))
    assert report.requests == 1
    assert "not an ExportTraceServiceResponse" in report.problem


def test_refused_request_goes_on() -> None:
    """A final error for one request is counted with its reason, and the next is sent."""
    report, clock = sent(Receiver(httpx.Response(400, content=b"\x08\x03\x12\x07bad id")), 2)
    assert (report.requests, report.refused_requests, report.stopped) == (1, 1, False)
    assert report.problem == "http://shop.example/v1/traces: HTTP 400: bad id"
    assert report.status == 400
    assert clock.slept == []
    assert exit_status(report) == 1


@pytest.mark.parametrize("status", [401, 404])
def test_hopeless_answers_stop(status: int) -> None:
    """An answer that every request would get ends the sending at once."""
    receiver = Receiver(httpx.Response(status))
    report, _ = sent(receiver, 3)
    assert report.stopped
    assert len(receiver.got) == 1


def test_rate() -> None:
    """Sending keeps to so many conversations a second."""
    _, clock = sent(Receiver(), 5, rate=2.0)
    assert clock.slept == [0.25, 0.25, 0.25, 0.25]


def test_requests_are_taken_lazily() -> None:
    """A request is only taken once the one before it was answered."""
    receiver = Receiver()
    taken: list[int] = []

    def requests(note: Callable[[int], None]) -> Any:
        for n in range(3):
            note(len(receiver.got))
            yield Request(conversation_ids=(), body=b"%d" % n, spans=1, share=0.1)

    with httpx.Client(transport=httpx.MockTransport(receiver)) as client:
        send(requests(taken.append), url="http://shop.example", client=client)
    assert taken == [0, 1, 2]

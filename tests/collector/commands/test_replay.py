"""`outrider replay` sends transcripts as OTLP traffic."""

from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.cli import main
from tests.collector.commands.receiver import Answer, Received, serving

EXAMPLE = Path(__file__).parents[3] / "examples" / "support.jsonl"


def spans(requests: list[Received]) -> list[Span]:
    """Decode every span that was sent."""
    return [
        span
        for request in requests
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def replay(*arguments: str) -> tuple[int, list[Received]]:
    """Replay the example; return the exit code and what arrived."""
    arrived: list[Received] = []

    def accept(request: Received) -> Answer:
        arrived.append(request)
        return 200, b""

    with serving(accept) as url:
        return main(["replay", str(EXAMPLE), "--url", url, *arguments]), arrived


def attribute(span: Span, key: str) -> str:
    """Return a text attribute, empty when it is not there."""
    return next((a.value.string_value for a in span.attributes if a.key == key), "")


def test_sends_every_conversation() -> None:
    """Each conversation's spans carry its id, and the last one ends it."""
    code, arrived = replay()
    assert code == 0
    assert {r.path for r in arrived} == {"/v1/traces"}
    ids = {attribute(s, "gen_ai.conversation.id") for s in spans(arrived)} - {""}
    assert ids == {f"bike-{n}" for n in range(1, 6)}
    ends = [
        s for s in spans(arrived) if any(a.key.endswith("conversation.end") for a in s.attributes)
    ]
    assert len(ends) == 5


def test_strips_ids_on_request() -> None:
    """`--strip-ids` leaves nothing that names the conversation."""
    code, arrived = replay("--strip-ids", "--interleave", "5")
    assert code == 0
    assert spans(arrived)
    assert not any(attribute(s, "gen_ai.conversation.id") for s in spans(arrived))


def test_the_same_seed_sends_the_same_ids() -> None:
    """A second replay with the same seed is a resend, another seed is new traffic."""
    first = {s.span_id for s in spans(replay("--seed", "a")[1])}
    assert {s.span_id for s in spans(replay("--seed", "a")[1])} == first
    assert not {s.span_id for s in spans(replay("--seed", "b")[1])} & first


def test_sends_the_token_and_small_batches() -> None:
    """The token goes into the header, and `--batch` bounds a request."""
    _, arrived = replay("--token", "abc", "--batch", "2")
    assert {r.token for r in arrived} == {"Bearer abc"}
    assert all(len(spans([r])) <= 2 for r in arrived)


def test_a_refusal_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """A receiver that says no ends the replay with its reason and exit code 1."""
    with serving(lambda _: (401, b"no token")) as url:
        assert main(["replay", str(EXAMPLE), "--url", url]) == 1
    error = capsys.readouterr().err
    assert f"{url}/v1/traces: HTTP 401: no token" in error
    assert "--token" in error
    assert "auth.token" in error


def test_another_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not there names the URL and the key of the right address."""
    with serving(lambda _: (404, b"nothing here")) as url:
        assert main(["replay", str(EXAMPLE), "--url", url]) == 1
    error = capsys.readouterr().err
    assert f"{url}/v1/traces: HTTP 404" in error
    assert "receive.http" in error


def test_takes_address_and_token_from_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without arguments it sends where an instance with this configuration listens."""
    arrived: list[Received] = []

    def accept(request: Received) -> Answer:
        arrived.append(request)
        return 200, b""

    path = tmp_path / "c.yaml"
    with serving(accept) as url:
        path.write_text(f"receive: {{http: '{url.removeprefix('http://')}'}}")
        monkeypatch.setenv("OUTRIDER__AUTH__TOKEN", "abc")
        assert main(["replay", str(EXAMPLE), "--config", str(path)]) == 0
    assert {r.token for r in arrived} == {"Bearer abc"}


@pytest.mark.parametrize(
    ("flag", "value", "problem"),
    [
        ("--batch", "-1", "expected a whole number >= 1, got '-1'"),
        ("--interleave", "0", "expected a whole number >= 1, got '0'"),
        ("--batch", "many", "expected a whole number >= 1, got 'many'"),
        ("--rate", "0", "expected a number > 0, got '0'"),
        ("--rate", "nan", "expected a number > 0, got 'nan'"),
        ("--url", "localhost:4318", "did you mean http://localhost:4318?"),
        ("--url", "ftp://there", "expected http(s)://host:port, got 'ftp://there'"),
    ],
)
def test_a_wrong_argument_names_its_flag(
    flag: str, value: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be meant is an error before anything is sent."""
    with pytest.raises(SystemExit) as stop:
        main(["replay", str(EXAMPLE), flag, value])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert f"argument {flag}: " in error
    assert problem in error


def test_rejected_spans_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """A partial success is not a success."""
    partial = ExportTracePartialSuccess(rejected_spans=1, error_message="one has no id")
    body = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
    with serving(lambda _: (200, body)) as url:
        assert main(["replay", str(EXAMPLE), "--url", url, "--progress"]) == 1
    captured = capsys.readouterr()
    assert "one has no id" in captured.err
    assert captured.out == ""


def test_a_bad_line_does_not_stop_the_others(tmp_path: Path) -> None:
    """What can be read is sent, and the exit code says that not all could be."""
    path = tmp_path / "some.jsonl"
    path.write_text("{not json\n" + EXAMPLE.read_text())
    arrived: list[Received] = []

    def accept(request: Received) -> Answer:
        arrived.append(request)
        return 200, b""

    with serving(accept) as url:
        assert main(["replay", str(path), "--url", url]) == 1
    ids = {attribute(s, "gen_ai.conversation.id") for s in spans(arrived)} - {""}
    assert len(ids) == 5


def test_waiting_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever replays to a receiver that is away reads why nothing happens, once."""
    answers = iter([(503, b""), (503, b""), (200, b""), (503, b"")])
    with serving(lambda _: next(answers, (200, b""))) as url:
        assert main(["replay", str(EXAMPLE), "--url", url, "--batch", "5"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"outrider: {url}/v1/traces: HTTP 503; trying again for a minute; "
        "--url names another receiver"
    )

"""Send export requests to an OTLP/HTTP receiver as the specification wants it.

429, 502, 503, 504 and connection errors are tried again, after ``Retry-After`` where the
receiver says it; anything else is final, and so is a certificate that is not trusted. A resend is harmless: receivers know span ids.
"""

from __future__ import annotations

import email.utils
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Protocol

import httpx
import msgspec
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

RETRYABLE = frozenset({429, 502, 503, 504})
HOPELESS = frozenset({401, 403, 404, 405, 415})
"""Answers that every further request would get as well."""

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0


class Sendable(Protocol):
    """One request, as far as sending it goes."""

    @property
    def body(self) -> bytes:
        """Protobuf bytes."""

    @property
    def signal(self) -> str:
        """Last part of the path: ``traces`` or ``logs``."""

    @property
    def spans(self) -> int:
        """How many spans it carries."""

    @property
    def share(self) -> float:
        """How many conversations' worth it carries."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the requests so far."""

    requests: int = 0
    """Acknowledged requests."""
    spans: int = 0
    """Spans in them that the receiver accepted."""
    conversations: float = 0.0
    retries: int = 0
    rejected_spans: int = 0
    """Spans that acknowledged requests carried in vain (partial success)."""
    refused_requests: int = 0
    """Requests that got a final error."""
    problem: str = ""
    """The last thing that went wrong, in one line."""
    status: int = 0
    """HTTP status of the last final error."""
    stopped: bool = False
    """Whether sending ended before the requests did."""


def exit_status(report: Report) -> int:
    """Return 0 when everything was accepted, else 1."""
    return int(report.stopped or report.rejected_spans > 0 or report.refused_requests > 0)


def send(
    requests: Iterable[Sendable],
    *,
    url: str,
    client: httpx.Client,
    token: str = "",
    rate: float = 0.0,
    on_progress: Callable[[Report], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
    patience_s: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
    seconds: Callable[[], float] = time.monotonic,
    wall_clock: Callable[[], float] = time.time,
) -> Report:
    """Send requests one after another and report what became of them.

    Args:
        requests: taken lazily, so their times follow the sending.
        url: the receiver's base address; ``/v1/traces`` is appended unless it is there.
        client: its timeouts apply.
        token: bearer token, if any.
        rate: conversations a second; 0 sends as fast as the receiver takes them.
        on_progress: called with the report after each request.
        on_wait: called with the problem when a request is tried again for the first time.
        patience_s: how long one request is tried before sending stops.
        sleep: pause for seconds.
        seconds: monotonic clock.
        wall_clock: Unix seconds, for ``Retry-After`` dates.
    """
    headers = {"content-type": "application/x-protobuf"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    report = Report()
    began = seconds()
    for request in requests:
        ahead = report.conversations / rate - (seconds() - began) if rate else 0.0
        if ahead > 0:
            sleep(ahead)
        response, retries, problem = _post(
            client,
            _endpoint(url, request.signal),
            request.body,
            headers,
            on_wait=on_wait,
            patience_s=patience_s,
            sleep=sleep,
            seconds=seconds,
            wall_clock=wall_clock,
        )
        report = _counted(report, request, response, retries=retries, problem=problem)
        if on_progress is not None:
            on_progress(report)
        if report.stopped:
            break
    return report


def _post(
    client: httpx.Client,
    url: str,
    body: bytes,
    headers: dict[str, str],
    *,
    on_wait: Callable[[str], None] | None,
    patience_s: float,
    sleep: Callable[[float], None],
    seconds: Callable[[], float],
    wall_clock: Callable[[], float],
) -> tuple[httpx.Response | None, int, str]:
    """Return the final answer, or ``None`` and the problem when waiting does not or did not help."""
    deadline = seconds() + patience_s
    retries = 0
    while True:
        wait = min(_FIRST_PAUSE_S * 2**retries, _LONGEST_PAUSE_S)
        try:
            response = client.post(url, content=body, headers=headers)
        except httpx.TransportError as error:
            problem = f"{url}: {str(error) or type(error).__name__}"
            if _untrusted(error):
                return None, retries, problem
        else:
            if response.status_code not in RETRYABLE:
                return response, retries, ""
            problem = f"{url}: HTTP {response.status_code}"
            wait = _retry_after(response, wall_clock) or wait
        if seconds() + wait > deadline:
            return None, retries, f"{problem}; gave up after {retries + 1} tries"
        if not retries and on_wait is not None:
            on_wait(problem)
        sleep(wait)
        retries += 1


def _untrusted(error: BaseException | None) -> bool:
    """Say whether the receiver's certificate is why."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _counted(
    report: Report,
    request: Sendable,
    response: httpx.Response | None,
    *,
    retries: int,
    problem: str,
) -> Report:
    retries += report.retries
    if response is None:
        return msgspec.structs.replace(report, retries=retries, problem=problem, stopped=True)
    if not response.is_success:
        return msgspec.structs.replace(
            report,
            conversations=report.conversations + request.share,
            retries=retries,
            refused_requests=report.refused_requests + 1,
            problem=f"{response.url}: HTTP {response.status_code}: {_reason(response)}",
            status=response.status_code,
            stopped=response.status_code in HOPELESS,
        )
    rejected, message = _partial_success(response)
    return msgspec.structs.replace(
        report,
        requests=report.requests + 1,
        spans=report.spans + request.spans - rejected,
        conversations=report.conversations + request.share,
        retries=retries,
        rejected_spans=report.rejected_spans + rejected,
        problem=message or report.problem,
    )


def _endpoint(url: str, signal: str) -> str:
    base = url.rstrip("/")
    return base if base.endswith(f"/v1/{signal}") else f"{base}/v1/{signal}"


def _retry_after(response: httpx.Response, wall_clock: Callable[[], float]) -> float:
    """Return the seconds that the receiver asks for; 0 when it says nothing readable."""
    said = response.headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - wall_clock())
    except ValueError:
        return 0.0


def _partial_success(response: httpx.Response) -> tuple[int, str]:
    try:
        partial = ExportTraceServiceResponse.FromString(response.content).partial_success
    except DecodeError:
        return 0, "the receiver's answer is not an ExportTraceServiceResponse"
    return partial.rejected_spans, partial.error_message


def _reason(response: httpx.Response) -> str:
    """Return the printable part of an error body, which is a ``google.rpc.Status`` or text."""
    text = response.content.decode("utf-8", "replace")
    return "".join(c for c in text if c.isprintable())[:200].strip() or response.reason_phrase

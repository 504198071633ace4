"""Run one library over recordings, and compare what it sends with them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.capture.agent_tasks import agent_task
from tests.capture.comparison import Result, compare
from tests.capture.libraries import Library
from tests.capture.outrider import Receiver, Request
from tests.capture.provider import Job, Provider
from tests.capture.recordings import Cassette

DRIVERS = Path(__file__).parent / "drivers"
_WAYS = ("plain", "async", "helper")
_LONGEST_S = 540.0


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One job that is over."""

    cassette: str
    exchanges: int
    """Of its calls, how many the client made."""
    recorded: int
    complaint: str
    result: Result
    requests: list[Any]
    """What came over OTLP."""


class DriverError(Exception):
    """The driver itself did not come to its end."""


def play(library: Library, cassettes: Sequence[Cassette], python: Path) -> Iterator[Played]:
    """Play cassettes under a library that is installed beside an interpreter.

    Raises:
        DriverError: The driver ended early; the text is the end of what it said.
    """
    jobs = list(_jobs(library, cassettes))
    told: list[list[Request]] = []
    with Receiver() as receiver:

        def before(number: int) -> None:
            taken = receiver.take()
            if number:
                told.append(taken)

        with Provider(jobs, before=before) as provider:
            _drive(library, python, provider=provider.url, receiver=receiver.url)
    for job, requests in zip(jobs, told, strict=True):
        yield Played(
            cassette=job.cassette.name,
            exchanges=len(job.exchanges),
            recorded=len(job.cassette.recordings),
            complaint=job.complaint,
            result=compare(job.exchanges, requests),
            requests=requests,
        )


def _jobs(library: Library, cassettes: Sequence[Cassette]) -> Iterator[Job]:
    for cassette in cassettes:
        api = cassette.recordings[0].api
        if library.agent:
            made = agent_task(cassette)
            if made is not None:
                session = hashlib.sha256(cassette.name.encode()).hexdigest()[:16]
                yield Job(made[0], {"api": api, "session": session, **made[1]})
        else:
            yield Job(cassette, {"api": api, **_calls(cassette)})


def _calls(cassette: Cassette) -> dict[str, Any]:
    return {
        "way": _WAYS[zlib.crc32(cassette.name.encode()) % len(_WAYS)],
        "model": "gemini-2.0-flash",
        "calls": [recording.request for recording in cassette.recordings],
        "streams": [recording.streamed for recording in cassette.recordings],
    }


def _drive(library: Library, python: Path, *, provider: str, receiver: str) -> None:
    program, *arguments = library.driver
    environment = {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "HOME": str(python.parent.parent),
        "NO_PROXY": "*",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CAPTURE_PROVIDER": provider,
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_SERVICE_NAME": "shop",
        **dict(library.environment),
    }
    try:
        ended = subprocess.run(
            [str(python), str(DRIVERS / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=_LONGEST_S,
        )
    except subprocess.TimeoutExpired as error:
        raise DriverError(f"not done after {_LONGEST_S:.0f} s") from error
    if ended.returncode:
        raise DriverError(ended.stderr[-2_000:])

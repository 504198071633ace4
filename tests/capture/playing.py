"""Run one library over recordings, and compare what it sends with them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

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


class Failed(Exception):  # noqa: N818 - what it says
    """The driver itself did not come to its end."""


def play(library: Library, cassettes: Sequence[Cassette], python: Path) -> Iterator[Played]:
    """Play cassettes under a library that is installed beside an interpreter.

    Raises:
        Failed: The driver ended early; the text is the end of what it said.
    """
    jobs = [Job(cassette, _task(library, cassette, n)) for n, cassette in enumerate(cassettes)]
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


def _task(library: Library, cassette: Cassette, number: int) -> dict[str, Any]:
    api = cassette.recordings[0].api
    calls = [recording.request for recording in cassette.recordings]
    del library
    return {"api": api, "way": _WAYS[number % len(_WAYS)], "calls": calls}


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
        raise Failed(f"not done after {_LONGEST_S:.0f} s") from error
    if ended.returncode:
        raise Failed(ended.stderr[-2_000:])

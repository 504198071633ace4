"""Test the paths that take outcomes and labels."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from collector.api import api
from collector.errors import JournalFullError
from collector.hindsight import Label, Outcome
from collector.hindsight_port import BODY_BYTES, HindsightPort
from tests.collector.access import callers
from tests.collector.test_api import call

TOKEN = "t"  # noqa: S105 - opens nothing
NOW_NS = 1_790_000_000 * 1_000_000_000
OUTCOME = {"conversation_id": "c", "name": "refund_issued", "value": False}
LABEL = {"conversation_id": "c", "scorer": "tone", "verdict": "pass", "author": "ana"}


class Desk:
    """Stand where the journal is."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.noted: list[Outcome | Label] = []
        self._fault = fault
        self.rejected = 0.0

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Count what is rejected."""
        assert (name, labels["result"]) == ("stage_items_total", "rejected")
        self.rejected += amount

    async def note(self, words: Sequence[Outcome] | Sequence[Label]) -> None:
        """Take note of what was told."""
        if self._fault is not None:
            raise self._fault
        self.noted.extend(words)

    def post(self, path: str, body: Any, *, token: str = "", **headers: str) -> httpx.Response:
        """Send one request to the port in front of it."""
        app = api(
            problems=tuple,
            end=_nobody,
            export=lambda *_: iter(()),
            callers=callers(token),
            routes=HindsightPort(self.note, count=self.count, clock_ns=lambda: NOW_NS).routes(),
        )
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return call(app, path, method="POST", body=raw, **headers)


async def _nobody(_end: object) -> None:
    raise AssertionError("nothing ends here")


@pytest.mark.parametrize(("path", "word"), [("/v1/outcomes", OUTCOME), ("/v1/labels", LABEL)])
def test_one_many_and_lines(path: str, word: dict[str, Any]) -> None:
    """One, a list and JSON lines are taken note of and answered with their number."""
    desk = Desk()
    one = desk.post(path, word)
    assert (one.status_code, one.json()) == (202, {"accepted": 1})
    assert desk.post(path, [word, word]).json() == {"accepted": 2}
    lines = f"{json.dumps(word)}\n{json.dumps(word)}\n{json.dumps(word)}".encode()
    answer = desk.post(path, lines, **{"content-type": "application/x-ndjson; charset=utf-8"})
    assert answer.json() == {"accepted": 3}
    assert len(desk.noted) == 6
    assert {type(noted) for noted in desk.noted} == {Outcome if word is OUTCOME else Label}
    assert desk.post(path, []).json() == {"accepted": 0}


def test_the_good_ones_of_a_list_are_kept() -> None:
    """Those that cannot be used are told by their place in the list; the others are noted."""
    desk = Desk()
    answer = desk.post("/v1/outcomes", [OUTCOME, {**OUTCOME, "value": None}, OUTCOME, 7])
    assert answer.status_code == 202
    assert answer.json() == {
        "accepted": 2,
        "rejected": [
            {
                "index": 1,
                "error": "value: must be true, false, a finite number, or a text of at most"
                " 4096 characters",
            },
            {"index": 3, "error": "each must be a JSON object"},
        ],
    }
    assert len(desk.noted) == desk.rejected == 2


def test_nothing_that_can_be_used() -> None:
    """Without a good one the request is refused, and says of each what to do."""
    desk = Desk()
    answer = desk.post("/v1/labels", [{}, {**LABEL, "verdict": "ok"}])
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("none of the 2 can be used: scorer: is missing")
    assert [fault["index"] for fault in answer.json()["rejected"]] == [0, 1]
    single = desk.post("/v1/labels", {**LABEL, "verdict": "ok"})
    assert (single.status_code, single.json()) == (
        400,
        {"error": 'verdict: must be "pass" or "fail"'},
    )
    assert desk.noted == []
    assert desk.rejected == 3


@pytest.mark.parametrize("body", [b"", b"{", b"x" * (BODY_BYTES + 1)])
def test_no_request(body: bytes) -> None:
    """What is no JSON, or too large, is refused with a reason."""
    desk = Desk()
    answer = desk.post("/v1/outcomes", body)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert desk.noted == []


def test_not_acknowledged_before_it_is_durable() -> None:
    """What cannot be journalled gets 503 and when to try again."""
    answer = Desk(JournalFullError("full", retry_after_s=2.0)).post("/v1/outcomes", OUTCOME)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_who_may_tell() -> None:
    """The port's token is asked for, and pages of other sites may not post."""
    desk = Desk()
    assert desk.post("/v1/outcomes", OUTCOME, token=TOKEN).status_code == 401
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert desk.post("/v1/outcomes", OUTCOME, token=TOKEN, **bearer).status_code == 202
    assert desk.post("/v1/outcomes", OUTCOME, origin="https://evil.example").status_code == 403
    assert len(desk.noted) == 1


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_compressed(pack: Callable[[bytes], bytes]) -> None:
    """A body may be compressed as those of OTLP may; what it unpacks to has the same limit."""
    desk = Desk()
    encoding = "gzip" if pack is gzip.compress else "deflate"
    body = pack(json.dumps(OUTCOME).encode())
    assert desk.post("/v1/outcomes", body, **{"content-encoding": encoding}).status_code == 202
    assert len(desk.noted) == 1
    bomb = pack(b" " * (BODY_BYTES + 1))
    for wrong, said, why in ((bomb, encoding, "larger"), (body, "br", "is not supported")):
        answer = desk.post("/v1/outcomes", wrong, **{"content-encoding": said})
        assert answer.status_code == 400
        assert why in answer.json()["error"]
    assert desk.rejected == 2

"""Test the path that makes detectors learn anew."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import httpx
import pytest

from collector import rebaseline_port
from collector.api import api
from collector.errors import StoreUnavailableError
from collector.rebaseline_port import PATH, RebaselinePort
from tests.collector.access import callers


class Detectors:
    """Stand where the detectors are."""

    def __init__(self, *streams: str, fault: Exception | None = None, asleep: bool = False) -> None:
        self.ordered: list[tuple[str, str, str | None]] = []
        self.done: Future[tuple[str, ...]] = Future()
        self._streams = streams
        self._fault = fault
        self._asleep = asleep

    def relearn(self, agent: str, scorer: str, environment: str | None) -> Future[tuple[str, ...]]:
        """Obey, fail, or leave it undone."""
        self.ordered.append((agent, scorer, environment))
        if self._fault is not None:
            self.done.set_exception(self._fault)
        elif not self._asleep:
            self.done.set_result(self._streams)
        return self.done

    def told(self, body: Any) -> httpx.Response:
        """Post a body."""
        app = api(
            problems=list,
            end=_nothing,
            export=lambda _kind, _tenant: iter(()),
            callers=callers(),
            routes=RebaselinePort(self.relearn).routes(),
        )

        async def post() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                return await client.post(PATH, json=body)

        return asyncio.run(post())


async def _nothing(_: Any) -> None:
    """Take no note."""


def test_it_names_the_streams_that_learn_anew() -> None:
    """Agent and scorer are needed, the environment may be left out."""
    detectors = Detectors("kettle/production/looping@1")
    answer = detectors.told({"agent": "kettle", "scorer": "looping"})
    assert (answer.status_code, answer.json()) == (
        200,
        {"streams": ["kettle/production/looping@1"]},
    )
    Detectors("x").told({"agent": "kettle", "scorer": "looping", "environment": "staging"})
    assert detectors.ordered == [("kettle", "looping", None)]


def test_an_environment_is_handed_on() -> None:
    """An empty environment is one too."""
    for environment in ("staging", ""):
        detectors = Detectors("x")
        detectors.told({"agent": "kettle", "scorer": "looping", "environment": environment})
        assert detectors.ordered == [("kettle", "looping", environment)]


def test_a_name_that_nobody_has_is_404() -> None:
    """A misspelt agent is not taken for done."""
    answer = Detectors().told({"agent": "kettel", "scorer": "looping"})
    assert answer.status_code == 404
    assert "no detector" in answer.json()["error"]


@pytest.mark.parametrize("body", [None, [], {"agent": "kettle"}, {"agent": 1, "scorer": "looping"}])
def test_a_body_that_names_nobody_is_400(body: Any) -> None:
    """Nothing is ordered by accident."""
    detectors = Detectors("x")
    assert detectors.told(body).status_code == 400
    assert detectors.ordered == []


def test_a_store_that_is_down_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order that could not be stored, or not be obeyed in time, is 503, and the latter is withdrawn."""
    failing = Detectors(fault=StoreUnavailableError("no answer"))
    answer = failing.told({"agent": "kettle", "scorer": "looping"})
    assert answer.status_code == 503
    assert "not stored yet: no answer" in answer.json()["error"]
    monkeypatch.setattr(rebaseline_port, "WAIT_S", 0.01)
    asleep = Detectors(asleep=True)
    assert asleep.told({"agent": "kettle", "scorer": "looping"}).status_code == 503
    assert asleep.done.cancelled()

"""Test that bodies are read within their limits of size and time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request

from collector.errors import SlowError
from collector.receivers.intake import Intake, read_body
from collector.receivers.refusals import refusal_of


def test_a_body_that_does_not_arrive() -> None:
    """A sender that stops in the middle of its body is given up, and what it held is free again."""
    intake = Intake(1_000)
    held = 0

    async def run() -> None:
        nonlocal held
        never = asyncio.Event()
        messages = iter([{"type": "http.request", "body": b"{", "more_body": True}])

        async def receive() -> Any:
            nonlocal held
            for message in messages:
                return message
            held = intake.held
            return await never.wait()

        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        with intake.allowance() as allowance:
            await read_body(request, limit=100, allowance=allowance, within_s=0.001)

    with pytest.raises(SlowError, match=r"did not arrive within 0\.001 s") as caught:
        asyncio.run(run())
    assert (held, intake.held) == (1, 0)
    refusal = refusal_of(caught.value)
    assert refusal is not None
    assert (refusal.status, refusal.reason) == (408, "slow")
    assert refusal.headers == {"connection": "close"}

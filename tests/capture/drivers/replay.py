"""Make recorded calls again with the provider's own client.

A call's body is given to the client's method as its arguments; what the method does not know goes
into ``extra_body``. Each job is done in one of the ways that programs do it: the plain client,
the asynchronous one, or, for streams, the client's own helper.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from work import complain

KEY = "not-a-key"


def replay(job: dict[str, Any], instrument: Callable[[Any], None] = lambda _: None) -> None:
    """Make the calls of one job.

    Args:
        job: ``url``, ``api``, ``way`` (``plain``, ``async`` or ``helper``) and ``calls``.
        instrument: Called with each client, where a library wants that.
    """
    for number, body in enumerate(job["calls"]):
        base = f"{job['url']}/{number}"
        try:
            if job["way"] == "async":
                asyncio.run(_call_async(job["api"], base, dict(body), instrument))
            else:
                _call(job["api"], base, dict(body), instrument, helper=job["way"] == "helper")
        except Exception as error:  # noqa: BLE001 - a recorded refusal raises like a real one
            if type(error).__module__.split(".")[0] not in ("anthropic", "openai"):
                complain(f"{type(error).__name__}: {error}")


def _call(
    api: str,
    base: str,
    body: dict[str, Any],
    instrument: Callable[[Any], None],
    *,
    helper: bool,
) -> None:
    with _client(api, base, asynchronous=False) as client:
        instrument(client)
        methods = _methods(client, api)
        if helper and body.get("stream") and api == "messages":
            body.pop("stream")
            with methods.stream(**_fitting(methods.stream, body)) as stream:
                for _ in stream:
                    pass
                stream.get_final_message()
            return
        answer = methods.create(**_fitting(methods.create, body))
        if body.get("stream"):
            for _ in answer:
                pass


async def _call_async(
    api: str, base: str, body: dict[str, Any], instrument: Callable[[Any], None]
) -> None:
    async with _client(api, base, asynchronous=True) as client:
        instrument(client)
        methods = _methods(client, api)
        answer = await methods.create(**_fitting(methods.create, body))
        if body.get("stream"):
            async for _ in answer:
                pass


def _client(api: str, base: str, *, asynchronous: bool) -> Any:
    if api == "messages":
        import anthropic

        kind = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
        return kind(base_url=base, api_key=KEY, max_retries=0)
    import openai

    kind = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    return kind(base_url=f"{base}/v1", api_key=KEY, max_retries=0)


def _methods(client: Any, api: str) -> Any:
    if api == "messages":
        return client.messages
    return client.chat.completions if api == "chat" else client.responses


def _fitting(method: Any, body: dict[str, Any]) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    if any(p.kind is p.VAR_KEYWORD for p in known.values()):
        known = inspect.signature(inspect.unwrap(method)).parameters
    given = {key: value for key, value in body.items() if key in known}
    extra = {key: value for key, value in body.items() if key not in known}
    return given | ({"extra_body": extra} if extra else {})

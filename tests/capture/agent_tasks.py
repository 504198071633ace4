"""Make tasks for agents out of cassettes: an agent is given what the recorded one was given.

The recorded answers then make it call the same tools, which give it the recorded results.
"""

from __future__ import annotations

from typing import Any

from tests.capture.comparison import facts_of
from tests.capture.facts import Exchange, Fact
from tests.capture.recordings import Cassette, Recording


def agent_task(cassette: Cassette) -> tuple[Cassette, dict[str, Any]] | None:
    """Return the calls of a run from its first request to its last word, and what to tell an agent.

    ``None`` when the cassette holds no run of one agent with tools of its own, or none at all.
    """
    first = list(facts_of(_asked(cassette.recordings[0])))
    given = [fact for fact in first if fact.kind in ("user", "assistant", "tool call")]
    tools = [fact for fact in first if fact.kind == "tool definition"]
    if [fact.kind for fact in given] != ["user"] or not all(map(_is_function, tools)):
        return None
    run = _run(cassette.recordings, {tool.name for tool in tools})
    if run is None:
        return None
    return Cassette(name=cassette.name, recordings=run), {
        "model": cassette.recordings[0].request.get("model") or "gemini-2.0-flash",
        "system": "\n\n".join(fact.text for fact in first if fact.kind == "system"),
        "user": given[0].text,
        "tools": [
            {"name": t.name, "description": t.text or t.name, "parameters": t.value} for t in tools
        ],
        "results": _results(cassette.recordings),
        "stream": run[0].streamed,
    }


def _is_function(tool: Fact) -> bool:
    return isinstance(tool.value, dict) and tool.value.get("type") in ("object", "OBJECT")


def _run(recordings: tuple[Recording, ...], tools: set[str]) -> tuple[Recording, ...] | None:
    """Return the answers up to the first that calls no tool."""
    for number, recording in enumerate(recordings):
        said = list(facts_of(_answered(recording)))
        calls = [fact for fact in said if fact.kind == "tool call"]
        if recording.status >= 400 or not said or any(call.name not in tools for call in calls):
            return None
        if recording.streamed != recordings[0].streamed:
            return None
        if not calls:
            return recordings[: number + 1]
    return None


def _results(recordings: tuple[Recording, ...]) -> dict[str, list[str]]:
    """Return what each tool gave, in order."""
    names: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    for recording in recordings:
        for exchange in (_answered(recording), _asked(recording)):
            for fact in facts_of(exchange):
                if fact.kind == "tool call":
                    names[fact.id] = fact.name
                elif fact.kind == "tool result" and fact.id in names:
                    found.setdefault(names[fact.id], {})[fact.id] = fact.text
    return {name: list(texts.values()) for name, texts in found.items()}


def _asked(recording: Recording) -> Exchange:
    """Return a recording as an exchange without an answer."""
    return Exchange(
        api=recording.api, request=recording.request, status=200, content_type="", body=b""
    )


def _answered(recording: Recording) -> Exchange:
    """Return a recording as an exchange without a request."""
    nothing: dict[str, Any] = {}
    return Exchange(
        api=recording.api,
        request=nothing,
        status=recording.status,
        content_type=recording.headers.get("content-type", ""),
        body=recording.body,
    )

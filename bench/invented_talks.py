"""Invent long conversations of a support agent, as large on the wire as the real ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec

from collector.builder import conversation_of
from collector.model import (
    Conversation,
    Identity,
    LlmCall,
    Message,
    ToolDefinition,
    ToolRequest,
)
from collector.transcripts import calls_at

_WORDS = [
    "account",
    "address",
    "again",
    "agree",
    "already",
    "arrive",
    "before",
    "branch",
    "change",
    "check",
    "confirm",
    "customer",
    "date",
    "deliver",
    "depot",
    "detail",
    "different",
    "early",
    "exchange",
    "expect",
    "explain",
    "family",
    "final",
    "follow",
    "friend",
    "garden",
    "happen",
    "help",
    "house",
    "invoice",
    "kind",
    "late",
    "letter",
    "line",
    "month",
    "morning",
    "neighbour",
    "number",
    "offer",
    "open",
    "order",
    "paint",
    "parcel",
    "part",
    "pay",
    "person",
    "phone",
    "place",
    "policy",
    "price",
    "promise",
    "reason",
    "receive",
    "refund",
    "remember",
    "replace",
    "return",
    "right",
    "room",
    "rule",
    "send",
    "service",
    "shelf",
    "size",
    "small",
    "store",
    "table",
    "thank",
    "time",
    "today",
    "together",
    "tomorrow",
    "trouble",
    "understand",
    "wait",
    "warehouse",
    "week",
    "white",
    "window",
    "wood",
    "work",
    "write",
    "year",
]
_PROMPT_WORDS = 1_050
_TOOLS = 14
_TOOL_WORDS = 55
_SUBJECTS = ("order", "refund", "address", "invoice", "delivery", "account", "exchange")
_VERBS = ("find", "update", "cancel", "list")


def invented_talks(count: int, *, seed: int) -> Iterator[Conversation]:
    """Yield ``count`` conversations, the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    prompt = _sentences(rng, _PROMPT_WORDS)
    tools = tuple(_tool(rng, number) for number in range(_TOOLS))
    for number in range(count):
        messages = _messages(rng, tools)
        yield conversation_of(
            messages,
            id=f"invented-{seed}-{number:05d}",
            identity=Identity(agent="furniture-desk"),
            system_prompt=prompt,
            tools=tools,
            llm_calls=[
                LlmCall(model="loom-large-1", has_input=True, has_output=True)
                for _ in calls_at(messages)
            ],
        )


def _messages(rng: random.Random, tools: tuple[ToolDefinition, ...]) -> list[Message]:
    messages: list[Message] = []
    for _ in range(max(1, round(rng.lognormvariate(1.0, 0.7)))):
        messages.append(Message(role="user", text=_sentences(rng, rng.randrange(8, 60))))
        for _ in range(min(8, round(rng.expovariate(1 / 1.2)))):
            tool = rng.choice(tools)
            request = ToolRequest(
                id=f"call_{rng.getrandbits(64):016x}",
                name=tool.name,
                arguments={"id": f"#{rng.randrange(10**6):06d}", "note": _sentences(rng, 6)},
            )
            messages.append(Message(role="assistant", text="", tool_requests=(request,)))
            found = {_words(rng, 1): _words(rng, 3) for _ in range(rng.randrange(2, 30))}
            messages.append(
                Message(
                    role="tool",
                    text=msgspec.json.encode(found).decode(),
                    tool_call_id=request.id,
                    tool_name=tool.name,
                )
            )
        messages.append(Message(role="assistant", text=_sentences(rng, rng.randrange(15, 90))))
    return messages


def _tool(rng: random.Random, number: int) -> ToolDefinition:
    subject, verb = _SUBJECTS[number % len(_SUBJECTS)], _VERBS[number % len(_VERBS)]
    text = {"type": "string"}
    return ToolDefinition(
        name=f"{verb}_{subject}_{number}",
        description=_sentences(rng, _TOOL_WORDS),
        parameters={
            "type": "object",
            "properties": {
                "id": {**text, "description": _sentences(rng, 20)},
                "note": {**text, "description": _sentences(rng, 20)},
            },
            "required": ["id"],
        },
    )


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(count))


def _sentences(rng: random.Random, words: int) -> str:
    """Return about so many words in sentences of ten."""
    lines = [_words(rng, min(10, words - start)) for start in range(0, words, 10)]
    return " ".join(f"{line.capitalize()}." for line in lines)

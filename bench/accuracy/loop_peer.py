"""Measure deepeval's loop metric on the conversations that our ``looping`` is measured on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.environments import Environments
from bench.failure import UnavailableError
from collector.model import Conversation, ToolCall
from scorers.interval import Interval, wilson

PACKAGE = "deepeval"
_SCRIPT = Path(__file__).with_name("loop_peer_script.py")
_TIMEOUT_S = 900.0


def loop_scores(
    environments: Environments, conversations: Sequence[Conversation]
) -> tuple[str, list[float]]:
    """Return the version of deepeval and its score of each conversation: 0 a loop, 1 none.

    Raises:
        UnavailableError: it cannot be installed or does not run.
    """
    binaries, version = environments.installed(PACKAGE)
    ended = subprocess.run(
        [str(binaries / "python"), str(_SCRIPT)],
        input="\n".join(json.dumps(spans_of(one)) for one in conversations),
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
        env={"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "HOME": str(binaries.parent)},
        cwd=binaries.parent,
    )
    lines = ended.stdout.split()
    if ended.returncode or len(lines) != len(conversations):
        raise UnavailableError(
            ended.stderr.strip()[-400:] or "deepeval gave fewer scores than asked"
        )
    return version, [float(line) for line in lines]


def spans_of(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as the span tree that deepeval's tracing makes of an agent's run."""
    calls: dict[int, list[ToolCall]] = {}
    for call in conversation.tool_calls:
        calls.setdefault(call.asked_at, []).append(call)
    children: list[dict[str, Any]] = []
    for index, message in enumerate(conversation.messages):
        if message.role != "assistant":
            continue
        children.append(
            {"type": "llm", "name": "model", "input": index, "output": message.text, "children": []}
        )
        children += [
            {
                "type": "tool",
                "name": one.name,
                "input": one.arguments,
                "output": one.result,
                "children": [],
            }
            for one in calls.get(index, ())
        ]
    return {
        "type": "agent",
        "name": "agent",
        "input": "task",
        "output": "reply",
        "children": children,
    }


class Rival(msgspec.Struct, frozen=True, kw_only=True):
    """How deepeval's metric did when scores under a threshold are loops."""

    version: str
    below: float
    recall: Interval | None
    false_positive_rate: Interval | None


def rivals(
    environments: Environments, rows: Sequence[tuple[Conversation, Mapping[str, Any]]]
) -> list[Rival]:
    """Measure it at its default threshold and at the best that its scores allow.

    Raises:
        UnavailableError: it cannot be installed or does not run.
    """
    version, scores = loop_scores(environments, [talk for talk, _ in rows])
    looping = [bool(labels["looping"]) for _, labels in rows]
    found = []
    for below in (0.5, 0.75, 1.0):
        caught = sum(1 for s, bad in zip(scores, looping, strict=True) if bad and s < below)
        wrong = sum(1 for s, bad in zip(scores, looping, strict=True) if not bad and s < below)
        rival = Rival(
            version=version,
            below=below,
            recall=wilson(caught, sum(looping)),
            false_positive_rate=wilson(wrong, len(looping) - sum(looping)),
        )
        found.append(rival)
    return found

"""Render what the documents say about the scorers."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
import typing
from collections.abc import Mapping
from pathlib import Path

import msgspec

from collector.commands.markdown import markdown, table
from scorers.constraints.kinds import KINDS, arguments_of
from scorers.option import allowed
from scorers.registry import builtin
from scorers.rules import policy_rule
from scorers.scorer import ScorerInfo

EXAMPLE = Path(__file__).parents[2] / "examples" / "support.jsonl"
SHOWN = ("bike-4", "missed_escalation")
"""Conversation of the example and scorer whose verdict the README shows."""

SKIP_REASONS: Mapping[str, str] = {
    "context_too_long": "Documents and tool results together are too long to compare with.",
    "no_arguments": "The call's arguments were not recorded.",
    "no_claims": "The reply states nothing that can be checked.",
    "no_content": "What was said, or what the tools answered, was not recorded.",
    "no_context": "There are no documents or tool results to compare with.",
    "no_ids": "The arguments hold no id, code, e-mail or phone number.",
    "no_instructions": "No instruction was declared for the agent, and its system prompt states none that can be verified.",
    "no_position": "It is not known at which message the call was made.",
    "no_reply": "The turn has no final reply.",
    "no_request": "The user asks for nothing in the turn.",
    "no_results": "The tool results that it would take to judge were not recorded.",
    "no_rules": "No rule was written for the agent.",
    "no_schema": "No tools were declared, or the tool's schema is absent or not valid.",
    "no_tool_calls": "The agent called no tool.",
    "no_tools": "No tool was declared.",
    "no_tools_seen": "No tool was declared or called, so no action could have been taken.",
    "no_turns": "There is no turn: the user said nothing and was told nothing.",
    "not_the_agents": "The user made the call, not the agent.",
    "unreadable_arguments": "The schema cannot be applied to the arguments.",
}
"""What each reason means; a test holds that none is missing."""

_NO_TARGET = {"conversation": (), "turn": ("no_turns",), "tool_call": ("no_tool_calls",)}


def scorers_block() -> str:
    """Render every built-in scorer with its options and its docstring."""
    parts: list[str] = []
    for info in builtin():
        about = inspect.getdoc(info.function) or info.summary
        parts.append(f"\n## `{info.name}`\n\n{markdown(about)}\n\n")
        reasons = ", ".join(f"`{reason}`" for reason in skip_reasons(info))
        parts.append(f"Judges each {_level(info)}; version {info.version}. Skips: {reasons}.\n")
        if info.options:
            hints = typing.get_type_hints(info.function, include_extras=True)
            rows = ((f"`{k}`", allowed(hints[k]), f"`{v}`") for k, v in info.options.items())
            parts.append("\n" + table(("option", "expects", "default"), rows))
    return "".join(parts) + "\n"


def scorers_short_block() -> str:
    """Render every built-in scorer in one short table."""
    rows = ((f"`{i.name}`", _level(i), i.summary) for i in builtin())
    return table(("scorer", "judges each", "what it does"), rows)


def skip_reasons_block() -> str:
    """Render what each reason of a skip means, and who gives it."""
    given = {info.name: skip_reasons(info) for info in builtin()}
    rows = (
        (
            f"`{reason}`",
            meaning,
            ", ".join(f"`{name}`" for name, reasons in given.items() if reason in reasons),
        )
        for reason, meaning in SKIP_REASONS.items()
    )
    return table(("reason", "meaning", "scorers"), rows)


def constraints_block() -> str:
    """Render every kind of constraint that ``instructions`` can check."""
    rows = (
        (f"`{name}`", kind.about, ", ".join(f"`{one}`" for one in arguments_of(kind)) or "-")
        for name, kind in KINDS.items()
    )
    return table(("kind", "holds when", "arguments"), rows)


def policy_block() -> str:
    """Render what a rule of ``policy`` may hold, in the words under its fields."""
    node = next(
        one
        for one in ast.parse(inspect.getsource(policy_rule)).body
        if isinstance(one, ast.ClassDef) and one.name == policy_rule.PolicyRule.__name__
    )
    rows = (
        (f"`{field.target.id}`", markdown(" ".join(below.value.value.split())))
        for field, below in itertools.pairwise(node.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    )
    return table(("key", "meaning"), rows)


def sample_verdict_block() -> str:
    """Render a verdict that the scorers really give on the example."""
    from collector.commands.score import line_of
    from collector.transcripts import read
    from scorers.runner import Runner

    conversation_id, name = SHOWN
    runner = Runner(
        [info for info in builtin() if info.name == name], clock_ns=lambda: 0, seconds=lambda: 0.0
    )
    for conversation in read(EXAMPLE):
        if conversation.id == conversation_id:
            ((score,), _) = runner.run(conversation)
            return f"```json\n{msgspec.json.encode(line_of(score)).decode()}\n```\n"
    raise LookupError(f"{EXAMPLE} holds no {conversation_id}")


def skip_reasons(info: ScorerInfo) -> list[str]:
    """Read from the scorer's module for which reasons it skips."""
    tree = ast.parse(inspect.getsource(sys.modules[info.function.__module__]))
    found = set(_NO_TARGET[info.level])
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Skip"
        ):
            words = (k.value.value for k in node.keywords if isinstance(k.value, ast.Constant))
            found |= {word for word in words if isinstance(word, str)}
    return sorted(found)


def _level(info: ScorerInfo) -> str:
    return info.level.replace("_", " ")

"""Check each tool call against the tools that the model was offered."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from functools import lru_cache

from collector.model import Conversation, Evidence, ToolCall, ToolDefinition
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.argument_schemas import Problem, compiled
from scorers.rules.identity import Same
from scorers.scorer import scorer

_QUOTE_CHARS = 160
_MAX_NAMES = 200


@scorer(level="tool_call", version="1")
def tool_calls(conversation: Conversation, call: ToolCall) -> ScorerResult:
    """Check that the tool exists and that the arguments are what its JSON Schema asks for.

    Fails a call to a tool that was not offered, arguments that are not JSON, a missing, an
    unknown or a wrongly typed argument, and a value that the schema does not allow. Skips with
    ``no_schema`` when no tools were declared or the schema is absent or not valid, and with
    ``no_arguments`` when the arguments were not recorded.
    """
    if not conversation.tools:
        return Skip(reason="no_schema")
    offered = _offered(Same(conversation.tools)).get(call.name, [])
    found = _problems(offered, call) if offered else [_not_offered(conversation, call)]
    if isinstance(found, Skip):
        return found
    if found:
        return _failed(conversation, call, found[0], more=len(found) - 1)
    return Score(value=1.0, verdict="pass", reason="The call fits the tool's schema.")


@lru_cache(maxsize=2)
def _offered(same: Same[tuple[ToolDefinition, ...]]) -> dict[str, list[ToolDefinition]]:
    """Return the definitions by name; the calls of a conversation, judged in a row, share it."""
    found: dict[str, list[ToolDefinition]] = {}
    for definition in same.record:
        found.setdefault(definition.name, []).append(definition)
    return found


def _problems(offered: Sequence[ToolDefinition], call: ToolCall) -> list[Problem] | Skip:
    schemas = [schema for one in offered if (schema := compiled(one.parameters)) is not None]
    if len(schemas) < len(offered):
        return Skip(reason="no_schema")
    arguments = call.arguments
    if arguments is None and any(schema.required for schema in schemas):
        return Skip(reason="no_arguments")
    if arguments is None or arguments == "":
        arguments = {}
    if isinstance(arguments, str):
        return [Problem(text="has arguments that are not JSON", quote=arguments)]
    if not isinstance(arguments, dict):
        return [Problem(text="has arguments that are not an object")]
    try:
        # the same name offered twice: one of them has to take the call
        return min((schema.problems(arguments) for schema in schemas), key=len)
    except ValueError:
        return Skip(reason="unreadable_arguments")


def _not_offered(conversation: Conversation, call: ToolCall) -> Problem:
    names = [tool.name for tool in conversation.tools if tool.name]
    near = [name for name in names if call.name and (name in call.name or call.name in name)]
    near = near or difflib.get_close_matches(call.name[:80], names[:_MAX_NAMES], n=1)
    hint = f"; {near[0]} was" if near else ""
    return Problem(text=f"names a tool that was not offered{hint}")


def _failed(
    conversation: Conversation, call: ToolCall, problem: Problem, *, more: int = 0
) -> Score:
    others = f" ({more} more)" if more else ""
    at = call.asked_at if 0 <= call.asked_at < len(conversation.messages) else -1
    quote = problem.quote or call.name or json.dumps(call.arguments, ensure_ascii=False)
    return Score(
        value=0.0,
        verdict="fail",
        reason=f"The call to {call.name[:80]} {problem.text}{others}.",
        evidence=(
            Evidence(
                message=at, tool_call_id=call.id, span_id=call.span_id, quote=quote[:_QUOTE_CHARS]
            ),
        ),
    )

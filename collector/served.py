"""Tell tool calls that wait for the agent from those that the provider has served itself.

Anthropic's and OpenAI's own tools (web search, code execution, remote MCP) run inside one model
call, which then ends as any reply does. Their ids begin in ways of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.model import Message

SERVED = ("srvtoolu_", "mcptoolu_", "ws_", "fs_", "tsc_", "ci_", "mcp_", "mcpl_", "ig_")


def waits(output: Sequence[Message]) -> bool:
    """Say whether a reply asks for a tool that the agent has to run.

    A result within a reply is the provider's own; Google's names no call.
    """
    answered = [message.tool_call_id for message in output if message.role == "tool"]
    asked = [request.id for message in output for request in message.tool_requests]
    return asked.count("") > answered.count("") or any(
        id_ and not id_.startswith(SERVED) and id_ not in answered for id_ in asked
    )

"""Tell tool calls that wait for the agent from those that the provider has served itself.

Anthropic's and OpenAI's own tools (web search, code execution, remote MCP) run inside one model
call, which then ends as any reply does. Their ids begin in ways of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.model import Message

SERVED = ("srvtoolu_", "mcptoolu_", "ws_", "fs_", "tsc_", "ci_", "mcp_", "mcpl_", "ig_")


def waits(output: Sequence[Message]) -> bool:
    """Say whether a reply asks for a tool that the agent has to run."""
    answered = {message.tool_call_id for message in output if message.role == "tool"}
    return any(
        not request.id.startswith(SERVED) and (not request.id or request.id not in answered)
        for message in output
        for request in message.tool_requests
    )

"""Read the ``repr`` of chat messages that LlamaIndex and smolagents leave where others write JSON."""

from __future__ import annotations

from collector.dialects.literals import constructed
from collector.model import JsonValue

HEAD = "ChatMessage(role="
EXTRA = "additional_kwargs"
BLOCKS = "blocks"


def chat_message(text: str) -> JsonValue:
    """Return a message of provider shape; the text itself where it is none.

    What a tool was asked stands in a block, and in the provider's form beside it: it is one call.
    """
    found = constructed(text) if text.startswith(HEAD) else None
    if not isinstance(found, dict):
        return text
    extra = found.get(EXTRA)
    blocks = found.get(BLOCKS)
    message = {"role": found.get("role"), "content": found.get("content")}
    if isinstance(blocks, list):
        message["content"] = [_block(block) for block in blocks]
    if isinstance(extra, dict):
        message |= extra
    elif found.get("tool_calls"):
        message["tool_calls"] = found["tool_calls"]
    return message


def _block(block: JsonValue) -> JsonValue:
    """Return a block with its type where every provider has it."""
    if not isinstance(block, dict) or block.get("block_type") != "tool_call":
        return block
    return {
        "type": "tool_call",
        "id": block.get("tool_call_id"),
        "name": block.get("tool_name"),
        "arguments": block.get("tool_kwargs"),
    }

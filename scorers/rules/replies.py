"""Find what an agent said last in a turn."""

from __future__ import annotations

from collector.model import Conversation, Turn


def final_reply(conversation: Conversation, turn: Turn) -> int:
    """Return the index of the last words the agent had for the user in a turn, or -1.

    Only messages of the episode count, which may begin inside the turn.
    """
    first = max(turn.first_message, conversation.episode.first_message)
    for index in range(min(turn.end_message, len(conversation.messages)) - 1, first - 1, -1):
        message = conversation.messages[index]
        if message.role == "assistant" and message.text.strip():
            return index
    return -1

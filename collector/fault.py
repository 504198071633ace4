"""Tell of an unexpected error without repeating what the traffic said."""

from __future__ import annotations

import traceback


def told(error: BaseException) -> str:
    """Return the error's class and where it was raised, without its text.

    The text of an error often quotes the value it stumbled over, which nobody has redacted.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{type(error).__name__}\n{frames}".rstrip()

"""Write the demonstration's plain lines, in colour where a person looks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, TextIO

Colour = Literal["", "bold", "dim", "red", "green", "yellow"]
_CODES: dict[Colour, str] = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "32",
    "yellow": "33",
}


class Screen:
    """Lines on a stream, each out at once."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        """Use colour on a terminal, unless ``NO_COLOR`` is set."""
        self._stream = stream
        self._coloured = stream.isatty() and not environ.get("NO_COLOR")

    def line(self, text: str = "", colour: Colour = "") -> None:
        """Write a line."""
        if colour and self._coloured:
            text = f"\x1b[{_CODES[colour]}m{text}\x1b[0m"
        self._stream.write(f"{text}\n")
        self._stream.flush()


def moment(at_ns: int) -> str:
    """Write a moment of the story: ``Mon 10:13``, in UTC."""
    return datetime.fromtimestamp(at_ns // 1_000_000_000, UTC).strftime("%a %H:%M")


def percent(rate: float) -> str:
    """Write a rate: ``28 %``, ``1.6 %``."""
    return f"{100 * rate:.0f} %" if rate >= 0.0995 else f"{100 * rate:.1f} %"


def lasting(ns: int) -> str:
    """Write how long something took in the story: ``47 s``, ``12 min``, ``3 h 5 min``."""
    seconds = round(ns / 1_000_000_000)
    if seconds < 100:
        return f"{seconds} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"

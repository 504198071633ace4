"""Send what happens in a story, each event when it is due."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from collector.demo.pace import Pace
from collector.demo.story import Event
from collector.demo.tracing import Telling


def send(
    events: Iterable[Event], *, telling: Telling, pace: Pace, note: Callable[[Event], None]
) -> bool:
    """Tell of events, in their order; false when the pace was told to stop before their end.

    ``note`` is given each event after it was told.

    Raises:
        RetryableError: the receiver took nothing for as long as patience lasted.
    """
    for event in events:
        if not pace.wait(event.at_ns):
            return False
        telling.tell(event)
        note(event)
    return True

"""Hold what the alerting rules depend on, and write the selectors of our metrics."""

from __future__ import annotations

import msgspec

from alerts.metric import PREFIX
from alerts.rule import quoted

MINUTE_S = 60.0
HOUR_S = 3_600.0
DAY_S = 86_400.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules depend on."""

    job: str = "outrider"
    """Prometheus's name for the scrape of our metrics."""
    console: str = "http://127.0.0.1:8090"
    """Base URL of the console, without a slash at the end."""
    blind_after_s: float = 1_800.0
    """How long calls may come without a verdict."""
    idle_timeout_s: float = 900.0
    """``assemble.idle_timeout``: a conversation may wait this long for its verdicts."""
    journal_max_bytes: int = 4 * 1024 * 1024 * 1024
    """``journal.max_size``."""
    always_busy: bool = False
    """Whether there is traffic at every hour, so that silence is a fault."""


def job(settings: Settings) -> str:
    """Write the matcher of what is scraped from us."""
    return f"job={quoted(settings.job)}"


def metric(settings: Settings, name: str, *matchers: str) -> str:
    """Write the selector of one of our metrics."""
    return f"{PREFIX}{name}{{{','.join((job(settings), *matchers))}}}"


def rise(settings: Settings, name: str, window: str, *matchers: str) -> str:
    """Write by how much a counter rose in a window."""
    return f"increase({metric(settings, name, *matchers)}[{window}])"

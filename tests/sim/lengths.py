"""Name the short and the long form of a simulation: one in ``make test``, the other in ``make sim``."""

from __future__ import annotations

from typing import Any

import pytest

LONG = (pytest.mark.sim, pytest.mark.timeout(1_800))


def lengths(names: str, *, short: Any, long: Any) -> pytest.MarkDecorator:
    """Run a test in both forms, which differ in some arguments."""
    return pytest.mark.parametrize(
        names, [pytest.param(*short, id="short"), pytest.param(*long, id="long", marks=LONG)]
    )

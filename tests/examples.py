"""Say how many examples a property is tried with: a few in every run, many in the slow one."""

from __future__ import annotations

import pytest

EXAMPLES = pytest.mark.parametrize(
    "examples",
    [pytest.param(40, id="few"), pytest.param(2_000, id="many", marks=pytest.mark.slow)],
)
"""Give a test the argument ``examples``, which goes into ``settings(max_examples=...)``."""

"""A start on a journal that holds something is measured to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.recovery import line, recovery


@pytest.mark.slow
@pytest.mark.parametrize("concluded", [True, False])
def test_a_start_is_measured(tmp_path: Path, *, concluded: bool) -> None:
    """It receives before it has recovered, and every conversation is open again in the end."""
    found = recovery(tmp_path, size=1, concluded=concluded, chunk=3)
    assert found.episodes == 3
    assert found.requests > 0
    assert 0 < found.receives_s <= found.recovered_s
    assert "3 open conversations" in line(found)
    assert list(tmp_path.iterdir()) == []

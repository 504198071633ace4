"""Test that the demonstration leaves nothing behind."""

from __future__ import annotations

import time

import pytest

from collector.demo.scratch import scratch


@pytest.mark.parametrize("hurried", [False, True])
def test_leaves_nothing_behind(*, hurried: bool) -> None:
    """The directory and what is in it go, at once or soon."""
    with scratch(lambda: hurried) as path:
        (path / "data").mkdir()
        (path / "data" / "file").touch()
    while hurried and path.exists():
        time.sleep(0.05)
    assert not path.exists()

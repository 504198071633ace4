"""Test what a running instance is asked, and what is made of its silence."""

from __future__ import annotations

import pytest

from collector.doctor.instance import instance
from collector.serve_file import Running


@pytest.mark.parametrize(
    ("theirs", "statuses"), [("", ["fail"]), ("1.2.3", ["fail"]), ("1.2.2", ["warn", "fail"])]
)
def test_another_release_and_nobody_who_answers(theirs: str, statuses: list[str]) -> None:
    """A process of another release is told apart before it is asked; one that is silent is a failure."""
    running = Running(pid=7, console="127.0.0.1:9", version=theirs)
    found = list(instance(running, version="1.2.3"))
    assert [one.status for one in found] == statuses
    assert "does not answer" in found[-1].says
    if len(found) > 1:
        assert "release 1.2.2, and this is 1.2.3" in found[0].says

"""Test the line between the process that passes calls on and the one that captures."""

from __future__ import annotations

import os
import resource
import socket

import pytest

from collector.proxy.line import Reading

HIGH = 1_500


def test_a_process_with_a_thousand_files() -> None:
    """A line is read whatever number its socket has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= HIGH:
        pytest.fail("this machine lets a process open too few files to test it")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HIGH + 1), hard))
    near, far = socket.socketpair()
    os.dup2(far.fileno(), HIGH)
    far.close()
    with socket.socket(fileno=HIGH) as high:
        reading = Reading(high)
        assert reading.next(0.0) is None
        assert not reading.ended
        near.close()
        assert reading.next(5.0) is None
        assert reading.ended
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

"""Test that the log is not filled by what callers do."""

from __future__ import annotations

import logging

import pytest

from collector.seldom import INTERVAL_S, KINDS, seldom


def test_one_of_a_kind_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    """The first record of a kind is logged, later ones are counted and said with the next."""
    now = 100.0
    log = logging.getLogger("chatty")
    with seldom("chatty", seconds=lambda: now):
        for _ in range(5):
            log.error("accept failed\nsocket %s", "a")
        log.error("something else")
        now += INTERVAL_S
        log.error("accept failed\nsocket %s", "b")
    log.error("something else")

    assert caplog.messages == [
        "accept failed\nsocket a",
        "something else",
        "accept failed\nsocket b (4 more like this since the last)",
        "something else",
    ]


def test_errors_are_told_apart(caplog: pytest.LogCaptureFixture) -> None:
    """The same words about another error are another kind."""
    with seldom("chatty", seconds=lambda: 0.0):
        for error in (ValueError("a"), ValueError("b"), KeyError("a")):
            logging.getLogger("chatty").error("in the application", exc_info=error)

    assert len(caplog.records) == 2


def test_kinds_without_number(caplog: pytest.LogCaptureFixture) -> None:
    """Kinds are forgotten before they fill the memory."""
    with seldom("chatty", seconds=lambda: 0.0):
        for number in range(KINDS + 1):
            logging.getLogger("chatty").error("kind %d" % number)  # noqa: G002, UP031  # its own kind
        logging.getLogger("chatty").error("kind 0")
        logging.getLogger("chatty").error("kind 0")

    assert caplog.messages.count("kind 0") == 2

"""Test that log lines pass the gate."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from pathlib import Path

from collector.configuration.keeping import RedactConfig
from collector.log_gate import LogGate
from collector.redaction import strict_redactor

ROOT = Path(__file__).parents[2]


def test_messages_arguments_and_tracebacks_are_redacted() -> None:
    """What an error quotes is taken out, whether it is the message or stands in the traceback."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LogGate("%(levelname)s %(message)s", strict_redactor(RedactConfig()).text))
    log = logging.Logger("test")  # noqa: LOG001 - this test's own, which the others do not share
    log.addHandler(handler)
    log.error("no such user %s, card %s", "mia@example.com", "4111 1111 1111 1111")
    try:
        int("DE89 3704 0044 0532 0130 00")
    except ValueError:
        log.exception("it failed")
    said = stream.getvalue()
    assert said.startswith("ERROR no such user [email], card [card]\nERROR it failed\nTraceback")
    assert said.endswith("base 10: '[iban]'\n")


def test_serve_logs_through_the_gate() -> None:
    """Whatever the process logs from its start on, by whichever logger, is redacted."""
    program = (
        "import logging\n"
        "from collector.commands import serve\n"
        "from collector.configuration.keeping import RedactConfig\n"
        "from collector.redaction import strict_redactor\n"
        "serve._log('DEBUG', strict_redactor(RedactConfig(content='full')).text)\n"
        "logging.getLogger('collector.x').debug('to mia@example.com')\n"
        "logging.getLogger('elsewhere').warning('by sk-ant-api03-AbCdEf123456789012345')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [line.partition(": ")[2] for line in run.stderr.splitlines()]
    assert lines == ["to [email]", "by [key]"]

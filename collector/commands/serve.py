"""Run the whole process: receive, score, store and export until it is told to stop."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Callable
from types import FrameType

from collector.clock import SteadyClock
from collector.commands.command import (
    Command,
    add_config,
    add_data_dir,
    config_of,
    warn_of_stray_variables,
)
from collector.log_gate import LogGate


def run(arguments: argparse.Namespace) -> int:
    """Start serving and return the exit code when it ends."""
    # Until the process listens to signals itself; nothing was acknowledged that could be lost.
    signal.signal(signal.SIGTERM, _leave)
    config = config_of(arguments)  # before the imports, so that a wrong one is told at once
    warn_of_stray_variables()
    from collector.app import serve
    from collector.redaction import strict_redactor

    _log(config.telemetry.log_level.upper(), strict_redactor(config.redact).text)
    return serve(config, arguments.data_dir, clock=SteadyClock())


def _leave(_number: int, _frame: FrameType | None) -> None:
    """End a start that is no longer wanted as a stop ends."""
    raise SystemExit(0)


def _log(level: str, redact: Callable[[str], str]) -> None:
    """Log to standard error, redacted: our own packages at ``level``, libraries from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogGate("%(asctime)s %(levelname)s %(name)s: %(message)s", redact))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for name in ("outrider", "collector", "scorers", "alerts"):
        logging.getLogger(name).setLevel(level)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_config(parser)
    add_data_dir(parser)


SERVE = Command(
    name="serve",
    summary="receive traffic, score every conversation, store and export the results",
    description=(
        "Listen for OTLP on 127.0.0.1:4318 (HTTP) and 4317 (gRPC), score each conversation when it is finished, keep it in "
        "ClickHouse (embedded unless store.url is set) and export its quality on "
        "127.0.0.1:9464/metrics. Stop it with Ctrl-C; nothing that was acknowledged is lost."
    ),
    examples="""\
outrider serve                                  # defaults, data in ./outrider-data
outrider serve --config prod.yaml --data-dir /var/lib/outrider
OUTRIDER__ASSEMBLE__IDLE_TIMEOUT=3s outrider serve   # override one key""",
    arguments=declare,
    run=run,
)

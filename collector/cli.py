"""Start the command line: ``outrider COMMAND``.

Data goes to standard output, everything else to standard error. Exit codes: 0 done,
1 something failed, 2 the configuration or the command line is wrong, 130 interrupted,
141 the reader of our output went away.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from collector.commands.alerts import ALERTS
from collector.commands.check import CHECK
from collector.commands.command import Command, add_command, examples_of
from collector.commands.demo import DEMO
from collector.commands.doctor import DOCTOR
from collector.commands.evaluate import EVALUATE
from collector.commands.explain import EXPLAIN
from collector.commands.export import EXPORT
from collector.commands.migrate import MIGRATE
from collector.commands.rebaseline import REBASELINE
from collector.commands.replay import REPLAY
from collector.commands.rules import RULES
from collector.commands.score import SCORE
from collector.commands.serve import SERVE
from collector.errors import ConfigError, OutriderError
from collector.version import __version__

COMMANDS: tuple[Command, ...] = (
    SERVE,
    DEMO,
    SCORE,
    REPLAY,
    EXPORT,
    EVALUATE,
    EXPLAIN,
    RULES,
    ALERTS,
    REBASELINE,
    CHECK,
    DOCTOR,
    MIGRATE,
)

EXAMPLES = """\
outrider demo                                    # watch a bad release being found out
outrider serve                                   # receive, score, store, export
outrider score examples/support.jsonl            # score a transcript, no server
outrider replay examples/support.jsonl           # send it to a running instance as traffic
outrider export scores | jq 'select(.verdict == "fail")'
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    top = parser()
    if not (sys.argv[1:] if argv is None else argv):
        top.print_help(sys.stderr)
        return 2
    arguments = top.parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except ConfigError as error:
        return _failed(error, 2)
    except BrokenPipeError:
        # The interpreter flushes standard output once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except (OutriderError, OSError) as error:
        return _failed(error, 1)
    except KeyboardInterrupt:
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="outrider",
        description="Score live agent conversations, store them and export their quality.",
        epilog=f"{examples_of(EXAMPLES)}\n\n`outrider COMMAND --help` shows more of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"outrider {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        add_command(commands, command).set_defaults(run=command.run)
    version = commands.add_parser("version", help="print the version")
    version.set_defaults(run=_version)
    return top


def _version(arguments: argparse.Namespace) -> int:
    del arguments
    print(f"outrider {__version__}")
    return 0


def _failed(error: Exception, code: int) -> int:
    print(f"outrider: error: {' '.join(str(error).split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

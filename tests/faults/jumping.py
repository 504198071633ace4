"""Serve as `outrider serve` does, on a wall clock that a file sets forward or back."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from collector.app import serve
from collector.clock import SteadyClock
from collector.commands.command import add_config, add_data_dir, config_of


def wall_ns(offset: Path) -> int:
    """Return what the clock on the wall says: the real time and the seconds in a file."""
    return time.time_ns() + int(float(offset.read_text()) * 1e9)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("offset", type=Path, help="file with seconds, read at each look")
    add_config(parser)
    add_data_dir(parser)
    arguments = parser.parse_args()
    clock = SteadyClock(wall_ns=lambda: wall_ns(arguments.offset))
    return serve(config_of(arguments), arguments.data_dir, clock=clock)


if __name__ == "__main__":
    sys.exit(main())

"""Fold the stored observations again and say what would have fired."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from collector.commands.command import Command, config_of, token_for, trust
from collector.commands.console_client import add_console, ask
from collector.commands.detector_settings import add_settings, settings_from
from collector.commands.export import from_process, running_console
from collector.config import Config

if TYPE_CHECKING:
    from alerts.detectors.observed import Observed
    from alerts.stream_view import AlertEvent


def run(arguments: argparse.Namespace) -> int:
    """Print the events of the time that was asked for, and how many of each kind there were."""
    from alerts.detectors.detector import Detector
    from alerts.detectors.history import merged, replayed

    config = config_of(arguments)
    settings = settings_from(arguments, config)
    found: dict[str, int] = {}
    folded = 0
    with ExitStack() as stack:
        lines, resets = _read(arguments, config)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="outrider-")))
        producers = [_parsed(stack.enter_context(f)) for f in _by_producer(lines, directory)]

        def history() -> Iterator[Observed]:
            nonlocal folded
            for seen in merged(producers):
                if seen.observed_ns < arguments.until:
                    folded += 1
                    yield seen

        known = [reset for reset in resets if reset.at_ns < arguments.until]
        for event in replayed(Detector(settings), history(), known):
            if event.at_ns >= arguments.since:
                kind = f"{event.kind} {event.detail.severity}".strip()
                found[kind] = found.get(kind, 0) + 1
                print(msgspec.json.encode(event).decode() if arguments.json else _line(event))
    counted = ", ".join(f"{number} {kind}" for kind, number in sorted(found.items())) or "no event"
    print(f"{folded:,} observations folded: {counted}", file=sys.stderr)
    return 0


def _read(
    arguments: argparse.Namespace, config: Config
) -> tuple[Iterable[bytes], list[AlertEvent]]:
    """Return the observations, a JSON line each, and the events of references learned anew."""
    from alerts.console.alarm_log import MOST, AlarmsAnswer

    console = arguments.url or running_console(arguments.data_dir)
    if not console:
        return _from_store(arguments, config)
    token = arguments.token or token_for(config, "read")
    verify = trust(arguments.ca_file)
    path = f"/v1/alarms?limit={MOST}"
    events = ask(console, "GET", path, AlarmsAnswer, token=token, verify=verify).events
    if len(events) == MOST:
        print(
            f"outrider: warning: only the last {MOST} events are known here; references learned anew "
            "before them are not repeated (a stopped instance's --data-dir has them all)",
            file=sys.stderr,
        )
    resets = [event for event in reversed(events) if event.kind == "rebaselined"]
    return _lines(from_process(console, "observations", token=token, verify=verify)), resets


def _from_store(
    arguments: argparse.Namespace, config: Config
) -> tuple[Iterable[bytes], list[AlertEvent]]:
    from alerts.detectors.history import read_resets
    from collector.commands.export import opened_store
    from collector.stores.export import documents

    store = opened_store(config, arguments.data_dir)
    resets = read_resets(store.query) if store.has_tables() else []

    def rows() -> Iterator[bytes]:
        try:
            yield from documents(store, "observations")
        finally:
            store.close()

    return rows(), resets


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut what comes in pieces into lines."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _by_producer(lines: Iterable[bytes], directory: Path) -> list[BinaryIO]:
    """Put the observations of each producer into a file of its own, so that none is held in memory."""
    files: dict[str, BinaryIO] = {}
    for line in lines:
        producer = msgspec.json.decode(line, type=_Producer).producer
        if producer not in files:
            files[producer] = (directory / str(len(files))).open("w+b")
        files[producer].write(line + b"\n")
    for file in files.values():
        file.seek(0)
    return list(files.values())


class _Producer(msgspec.Struct):
    producer: str


def _parsed(file: BinaryIO) -> Iterator[Observed]:
    from alerts.detectors.observed import Observed

    decoder = msgspec.json.Decoder(Observed)
    return (decoder.decode(line) for line in file)


def _line(event: AlertEvent) -> str:
    from alerts.incident import printable

    detail = event.detail
    when = datetime.fromtimestamp(event.at_ns / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
    what = f"{event.kind} {detail.severity}".strip()
    said = f"usual {100 * detail.reference_rate:.1f} %"
    if event.kind == "fired" and detail.change is not None and detail.change.observations:
        rate = detail.change.failures / detail.change.observations
        since = datetime.fromtimestamp(detail.change.at_ns / 1e9, tz=UTC).strftime("%H:%M")
        said = f"{100 * rate:.1f} % of {detail.change.observations} since {since}, {said}"
    if detail.reason:
        said = detail.reason
    return printable(f"{when}  {what:14}  {event.stream}  {event.slice}  {said}")


def moment(text: str) -> int:
    """Read an argument that is a moment, ISO 8601, UTC unless it says otherwise; return Unix nanoseconds."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected such as 2026-03-01 or 2026-03-01T10:00, got {text!r}"
        ) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1_000_000_000)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--from",
        dest="since",
        type=moment,
        default=0,
        metavar="TIME",
        help="print events from then on (default: from the first observation)",
    )
    parser.add_argument(
        "--to",
        dest="until",
        type=moment,
        default=2**63 - 1,
        metavar="TIME",
        help="fold observations made before then (default: to the last one)",
    )
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print events as JSON lines")
    add_console(parser, right="read")


REPLAY = Command(
    name="replay",
    summary="say what would have fired, from the stored observations",
    description=(
        "Fold the stored observations again, from the first one that is kept, and print what would have "
        "been armed, fired and cleared in the time asked for. With the settings of then it is what "
        "happened; with others (--budget, --tolerance, another --config) it is what would have. "
        "Nothing is written and nobody is told. Scorers that were turned off meanwhile end their alarms "
        "live and not here."
    ),
    examples="""\
outrider alerts replay --from 2026-03-01 --to 2026-03-08
outrider alerts replay --budget 30d --tolerance 1%
outrider alerts replay --json --url http://127.0.0.1:8090 | jq 'select(.kind == "fired")'""",
    arguments=declare,
    run=run,
)

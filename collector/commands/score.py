"""Score recorded conversations without a server."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from collector.commands.command import Command, add_config, add_progress, add_scorers, config_of
from collector.commands.output import Progress, opened
from collector.commands.transcript_files import add_format, conversations
from collector.config import Config
from collector.config_file import nearest
from collector.errors import ConfigError
from collector.model import ScoreRecord
from scorers.scorer import ScorerInfo


def chosen_scorers(config: Config, names: Sequence[str] | None) -> tuple[ScorerInfo, ...]:
    """Return the enabled scorers, or those that were asked for by name.

    Raises:
        ConfigError: a name or an option does not exist.
    """
    from scorers.registry import configured

    scorers = configured(config.scorers)
    known = {info.name: info for info in scorers}
    for name in names or ():
        if name not in known:
            raise ConfigError(f"--scorer {name}: there is no such scorer{nearest(name, known)}")
    return tuple(known[name] for name in dict.fromkeys(names)) if names else scorers


def line_of(score: ScoreRecord) -> dict[str, Any]:
    """Return a verdict in the shape of the output and of ``outrider export scores``."""
    return {
        "conversation_id": score.conversation_id,
        "scorer": score.scorer,
        "scorer_version": score.scorer_version,
        "level": score.level,
        "target": score.target,
        "value": score.value,
        "verdict": score.verdict,
        "reason": score.reason,
        "evidence": score.evidence,
        "episode": score.episode,
    }


def run(arguments: argparse.Namespace) -> int:
    """Score every conversation of the files; 1 when a line could not be read."""
    from collector.redaction import redactor_of
    from scorers.runner import Runner

    config = config_of(arguments)
    runner = Runner(
        chosen_scorers(config, arguments.scorers),
        clock_ns=time.time_ns,
        seconds=time.perf_counter,
    )
    redactor = redactor_of(config.redact, config.redact.pseudonym_key.encode())
    progress = Progress(arguments.progress)
    encoder = msgspec.json.Encoder()
    bad: list[str] = []
    done = failing = 0
    with opened(arguments.output) as out:
        for conversation in conversations(arguments.files, arguments.format, bad, progress):
            scores, _ = runner.run(conversation)
            for score in scores:
                out.write(encoder.encode(line_of(redactor.score(score))) + b"\n")
            done += 1
            failing += any(score.verdict == "fail" for score in scores)
            progress.update(f"{done} conversations scored")
    progress.finish(f"{done} conversations scored, {failing} with a failing verdict")
    return 1 if bad else 0


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="transcripts; - is stdin"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="default: standard output")
    add_format(parser)
    add_scorers(parser)
    add_progress(parser)
    add_config(parser)


SCORE = Command(
    name="score",
    summary="score recorded conversations, one JSON line per verdict",
    description=(
        "Run the scorers on transcripts: OpenAI chat or Anthropic Messages rows, OTLP JSON, "
        "question-context-answer rows, Claude Code sessions, Langfuse and LangSmith exports, "
        "OpenInference, Phoenix and OpenTelemetry span exports; plain or gzipped, formats mixed. "
        "No server, no key."
    ),
    examples="""\
outrider score examples/support.jsonl
outrider score examples/support.jsonl --scorer false_success --scorer looping
outrider score monday.jsonl.gz ~/.claude/projects/*/*.jsonl -o scores.jsonl
zcat chats.jsonl.gz | outrider score - | jq 'select(.verdict == "fail")'""",
    arguments=declare,
    run=run,
)

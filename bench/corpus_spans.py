"""Lay whole conversations out as live traffic that repeats its history in every call."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.invented_talks import invented_talks
from bench.load import Load, Step, Talk, as_resource, make_load
from collector.model import Conversation
from collector.playback import resource_of, steps
from collector.replay_ids import Style
from collector.transcripts import read

IN_FLIGHT = 20
FILE = "conversations.jsonl.gz"

REAL = (
    "{count} whole agent conversations from public benchmarks, drawn by seed, as an instrumented agent"
    " would export them: every model call carries the instructions, the tools and the whole history."
)
INVENTED = (
    "{count} invented conversations of about the size of real ones (the corpora were not there), as an"
    " instrumented agent would export them: every model call carries the instructions, the tools and"
    " the whole history."
)


def corpus_spans(
    conversations: Sequence[Conversation],
    *,
    story: str,
    seed: int,
    name: str = "corpus",
    clock_ns: Callable[[], int] = time.time_ns,
) -> Load:
    """Lay conversations out, ``IN_FLIGHT`` of them at a time."""
    return make_load(
        name,
        [_talk(conversation, seed, clock_ns) for conversation in conversations],
        title="Corpus spans",
        story=story.format(count=len(conversations)),
        in_flight=IN_FLIGHT,
        seed=seed,
    )


def draw(corpora: Path, count: int, *, seed: int) -> tuple[list[Conversation], str]:
    """Draw conversations of the corpora, or invent them; say which in one sentence."""
    file = corpora / FILE
    if not file.is_file():
        return list(invented_talks(count, seed=seed)), INVENTED
    found = list(read(file))
    random.Random(seed).shuffle(found)  # noqa: S311 - repeatable, not secret
    return found[:count], REAL


def _talk(conversation: Conversation, seed: int, clock_ns: Callable[[], int]) -> Talk:
    style = Style(seed=str(seed))
    resource = as_resource(resource_of(conversation, style))
    played: Iterator[Step] = (
        Step(resource=resource, spans=step.spans)
        for step in steps(conversation, style, clock_ns=clock_ns)
    )
    return played

"""Turn outcomes and labels into rows.

A row's id comes from what it is about, so that a later word about the same replaces it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from collector.hindsight import About, Label, Outcome
from collector.stamps import stamp


def outcome_row(outcome: Outcome, *, received_ns: int) -> tuple[Any, ...]:
    """Build the row of one outcome, in the order of ``TABLES["outcomes"]``."""
    about, value = outcome.about, outcome.value
    is_truth = isinstance(value, bool)
    return (
        about.conversation_id,
        outcome.name,
        value if is_truth else None,
        stamp(received_ns if outcome.at_ns is None else outcome.at_ns),
        subject_of(outcome),
        None if is_truth or isinstance(value, str) else float(value),
        value if isinstance(value, str) else "",
        outcome.source,
        outcome.call_id,
        outcome.tool,
        outcome.id,
        *_about(about),
        stamp(received_ns),
    )


def label_row(label: Label, *, received_ns: int) -> tuple[Any, ...]:
    """Build the row of one label, in the order of ``TABLES["labels"]``."""
    about = label.about
    return (
        about.conversation_id,
        label.scorer,
        label.author,
        label.verdict,
        stamp(received_ns if label.at_ns is None else label.at_ns),
        subject_of(label),
        label.value,
        label.category,
        label.level,
        label.target,
        label.source,
        label.comment,
        label.id,
        *_about(about),
        stamp(received_ns),
    )


def subject_of(word: Outcome | Label) -> str:
    """Return 32 hex digits that are the same for whatever is about the same thing."""
    if isinstance(word, Outcome):
        names = [word.name]
        place = [word.call_id, word.tool, word.source]
    else:
        names = [word.scorer, word.author]
        place = [word.level, word.target, word.source]
    return _id(word.about, *names, *(["id", word.id] if word.id else place))


def _about(about: About) -> tuple[Any, ...]:
    return (
        about.trace_id,
        about.span_id,
        about.episode,
        about.tenant,
        about.environment,
        about.variant,
    )


def _id(about: About, *words: str) -> str:
    # A trace names the conversation only where nothing else does.
    whose = about.conversation_id or about.trace_id
    span = "" if about.conversation_id else about.span_id
    scope = (about.tenant, about.environment, about.variant, str(about.episode))
    text = "\x1f".join((whose, span, *scope, *words))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

"""Write the capture matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.capture.comparison import Fate
from tests.capture.facts import KINDS, Kind
from tests.capture.libraries import LIBRARIES
from tests.capture.tally import Tally

_HEAD = """\
# What arrives of what was said

Written by `make test-capture`. For each library, recorded HTTP calls to model providers are served
from a local port; the real client, or an agent of the real framework, makes them under the real
instrumentation, which sends OTLP to Outrider's own port. What stood in the HTTP bodies is then
looked for in the conversations that came of it.

A cell says how many facts arrived of how many stood in the recordings. A fact is one text of a
message, one tool definition with its description and schema, one tool call with its arguments, one
result, one count of tokens of a call, one finish reason, one failed call; a history that is repeated
counts once. `n not sent` are facts that stand nowhere in the bytes that the library sent, or that it
got wrong: looked up by program, in every attribute, event and log record. **`n lost`** are facts
that it sent and that we have not: a defect of ours. `n of later agents` are system prompts of agents
that a conversation was handed to: it keeps its first one. *Streaming* are all facts of calls whose answer
was a stream. *Ids* are the conversations that came with an id of their own; the others were put
together by their histories. *Twice* are model calls counted beyond those that were made.

Streamed answers are put together by the readers of Outrider's proxy; everything else about the
HTTP bodies is read by code of the tests' own. Reasoning text and images are not compared.
Providers' own tools (web search and the like) count as tool calls where they name their arguments.
A schema counts as the same with and without `additionalProperties: false`, and with Google's
spellings of keys and types. Content is turned on as each library's documentation says.
"""


def page(tallies: Mapping[str, Tally]) -> str:
    """Return the page of these libraries."""
    lines = [_HEAD, _row("Library", "Calls", *KINDS, "Streaming", "Ids", "Twice")]
    lines.append("|" + " --- |" * (len(KINDS) + 5))
    lines += [
        _row(
            library.name,
            str(tally.calls),
            *(_cell(_of(tally.by_kind, kind)) for kind in KINDS),
            _cell(tally.streamed),
            f"{tally.named}/{tally.conversations}",
            str(tally.twice or ""),
        )
        for library in LIBRARIES
        if (tally := tallies.get(library.name)) is not None
    ]
    lines += ["", "## Versions", "", _row("Library", "Packages"), "| --- | --- |"]
    lines += [
        _row(library.name, ", ".join(f"`{package}`" for package in library.packages))
        for library in LIBRARIES
    ]
    return "\n".join(lines) + "\n"


def _of(counts: Counter[tuple[Kind, Fate]], kind: Kind) -> Counter[Fate]:
    return Counter({fate: n for (of, fate), n in counts.items() if of == kind})


def _cell(counts: Counter[Fate]) -> str:
    total = counts.total()
    if not total:
        return "-"
    notes = [f"{counts['omitted']} not sent"] if counts["omitted"] else []
    notes += [f"{counts['later']} of later agents"] if counts["later"] else []
    notes += [f"**{counts['lost']} lost**"] if counts["lost"] else []
    said = f"{counts['arrived']}/{total}"
    return f"{said} ({', '.join(notes)})" if notes else said


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"

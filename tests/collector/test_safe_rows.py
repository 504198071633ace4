"""Spans become rows one by one when one of them cannot."""

from __future__ import annotations

from typing import Any

from collector.redactor import Redactor
from collector.safe_rows import SafeRows
from collector.telemetry import Span
from tests.build import span


class Fussy(Redactor):
    """Fail on one span, as a bug would."""

    def span(self, span: Span) -> Span:
        """Refuse what is called so."""
        if span.name == "bad":
            raise ValueError("a bug")
        return super().span(span)


def test_a_span_we_fail_on_is_left_out_counted_and_never_stored_raw() -> None:
    """The others beside it are stored."""
    counted: list[Any] = []
    rows = SafeRows(Fussy(("email",)), count=lambda *what: counted.append(what))
    names = ("one", "bad", "two")
    found = rows([span(name, id=f"{n:016x}") for n, name in enumerate(names)], 1.0)
    assert "bad" not in str(found)
    assert len(found["otel_traces"]) == 2
    assert counted == [("spans_dropped_total", 1.0, {"reason": "unstorable"})]

"""Say what the paths of the API that this package serves take and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from collector.api import EXPORTS, ID_CHARACTERS, Alive, Ended, EndOf, Index, Ready
from collector.hindsight_forms import LabelForm, OutcomeForm
from collector.hindsight_port import Taken
from collector.openapi import JSON, Operation
from collector.rebaseline_port import PATH, Rebaseline, Rebaselined

LINES = "application/x-ndjson"
OTLP = "http://127.0.0.1:4318"
"""Where OTLP is received unless ``receive.http`` says otherwise."""
_BINARY = {"type": "string", "format": "binary"}
_OTLP_ERRORS = (400, 405, 408, 413, 415, 503)


class PartialSuccess(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What of a request was not taken, and why."""

    rejected_spans: str = "0"
    rejected_log_records: str = "0"
    error_message: str = ""


class Exported(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to an OTLP request."""

    partial_success: PartialSuccess = PartialSuccess()


def operations() -> dict[str, Operation]:
    """Return them by method and path."""
    ident = {"id": {"type": "string", "minLength": 1, "maxLength": ID_CHARACTERS}}
    return {
        "GET /v1": Operation(answer=Index, errors=()),
        "GET /healthz": Operation(answer=Alive, open=True, errors=()),
        "GET /readyz": Operation(answer=Ready, also=(503,), open=True, errors=()),
        "POST /v1/conversations/{id}/end": Operation(
            answer=Ended, status=202, parameters=ident, body={JSON: EndOf}, errors=(400, 404, 503)
        ),
        "GET /v1/export/{kind}": Operation(
            media=LINES,
            parameters={"kind": {"type": "string", "enum": list(EXPORTS)}},
            errors=(404, 503),
        ),
        f"POST {PATH}": Operation(
            answer=Rebaselined, body={JSON: Rebaseline}, errors=(400, 404, 503)
        ),
        "POST /v1/outcomes": _told(OutcomeForm | list[OutcomeForm]),
        "POST /v1/labels": _told(LabelForm | list[LabelForm]),
    }


def otlp_operations() -> dict[str, Operation]:
    """Return those of OTLP over HTTP; it has a port of its own, and opentelemetry.io has the schemas."""
    return {
        f"POST /v1/{signal}": Operation(
            summary=f"Take OTLP {signal}; see the OTLP specification 1.11.",
            answer=Exported,
            body={
                JSON: {"type": "object", "properties": {of: _listed()}},
                "application/x-protobuf": _BINARY,
            },
            errors=_OTLP_ERRORS,
            problem=None,
            server=OTLP,
        )
        for signal, of in (("traces", "resourceSpans"), ("logs", "resourceLogs"))
    }


def _listed() -> Mapping[str, Any]:
    return {"type": "array", "items": {"type": "object"}}


def _told(kind: Any) -> Operation:
    return Operation(
        answer=Taken, status=202, body={JSON: kind, LINES: {"type": "string"}}, errors=(400, 503)
    )

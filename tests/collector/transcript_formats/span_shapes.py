"""One model call as every exporter writes it."""

from __future__ import annotations

import json
from typing import Any

TRACE, CALL, TOOL, ROOT = "ab" * 16, "c1" * 8, "c2" * 8, "c0" * 8
BEGAN, ENDED = "2026-03-01T10:00:00.000001Z", "2026-03-01T10:00:01+00:00"
BEGAN_NS = 1_772_359_200_000_001_000
FLAT: dict[str, Any] = {
    "openinference.span.kind": "LLM",
    "session.id": "s-1",
    "llm.model_name": "m-1",
    "llm.token_count.prompt": 12,
    "llm.token_count.completion": 3,
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Where is A-17?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "t1",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_order",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"order": "A-17"}',
    "llm.tools.0.tool.json_schema": json.dumps(
        {"name": "get_order", "parameters": {"type": "object", "properties": {}, "required": []}}
    ),
}
"""A model call as instrumentations send it."""
NESTED: dict[str, Any] = {
    "openinference": {"span": {"kind": "LLM"}},
    "session": {"id": "s-1"},
    "llm": {
        "model_name": "m-1",
        "token_count": {"prompt": 12, "completion": 3},
        "input_messages": [{"message": {"role": "user", "content": "Where is A-17?"}}],
        "output_messages": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "tool_call": {
                                "id": "t1",
                                "function": {"name": "get_order", "arguments": {"order": "A-17"}},
                            }
                        }
                    ],
                }
            }
        ],
        "tools": [{"tool": {"json_schema": json.loads(FLAT["llm.tools.0.tool.json_schema"])}}],
    },
}
"""The same as stores take it apart."""
COLUMNS: dict[str, Any] = {
    "attributes.session.id": "s-1",
    "attributes.llm.model_name": "m-1",
    "attributes.llm.token_count.prompt": 12.0,
    "attributes.llm.token_count.completion": 3.0,
    "attributes.llm.input_messages": [
        {"message.role": "user", "message.content": "Where is A-17?"}
    ],
    "attributes.llm.output_messages": [
        {
            "message.role": "assistant",
            "message.tool_calls": [
                {
                    "tool_call.id": "t1",
                    "tool_call.function.name": "get_order",
                    "tool_call.function.arguments": '{"order": "A-17"}',
                }
            ],
        }
    ],
    "attributes.llm.tools": [{"tool.json_schema": FLAT["llm.tools.0.tool.json_schema"]}],
    "attributes.retrieval.documents": None,
}
"""The same as Phoenix's data frames have it."""


def otlp(attributes: dict[str, Any], *, snake: bool) -> list[Any]:
    """Write attributes as OTLP does."""
    names = ("string_value", "int_value") if snake else ("stringValue", "intValue")
    return [
        {"key": key, "value": {names[isinstance(value, int)]: str(value)}}
        for key, value in attributes.items()
    ]


CALLS: dict[str, Any] = {
    "python sdk": {
        "name": "chat",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{CALL}", "trace_state": "[]"},
        "kind": "SpanKind.CLIENT",
        "parent_id": f"0x{ROOT}",
        "start_time": BEGAN,
        "end_time": ENDED,
        "status": {"status_code": "OK"},
        "attributes": FLAT,
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
    },
    "javascript sdk": {
        "name": "chat",
        "spanContext": {"traceId": TRACE, "spanId": CALL},
        "parentSpanContext": {"traceId": TRACE, "spanId": ROOT},
        "kind": 2,
        "startTime": [BEGAN_NS // 10**9, 1000],
        "endTime": [BEGAN_NS // 10**9 + 1, 0],
        "status": {"code": 1},
        "attributes": FLAT,
        "instrumentationScope": {"name": "openinference.x", "version": "1"},
        "resource": {"attributes": {"service.name": "shop"}},
    },
    "phoenix rest": {
        "id": "U3Bhbjox",
        "name": "chat",
        "context": {"trace_id": TRACE, "span_id": CALL},
        "span_kind": "LLM",
        "parent_id": ROOT,
        "start_time": BEGAN,
        "end_time": ENDED,
        "status_code": "OK",
        "status_message": "",
        "attributes": {k: v for k, v in FLAT.items() if k != "openinference.span.kind"},
        "events": [],
    },
    "phoenix nested": {
        "name": "chat",
        "context": {"trace_id": TRACE, "span_id": CALL},
        "parent_id": ROOT,
        "start_time": BEGAN,
        "attributes": NESTED,
    },
    "phoenix graphql": {
        "name": "chat",
        "context": {"traceId": TRACE, "spanId": CALL},
        "spanKind": "llm",
        "parentId": ROOT,
        "startTime": BEGAN,
        "statusCode": "OK",
        "attributes": json.dumps(NESTED),
    },
    "phoenix data frame": {
        "name": "chat",
        "span_kind": "LLM",
        "parent_id": ROOT,
        "start_time": BEGAN_NS // 10**6,
        "end_time": BEGAN_NS // 10**6 + 999,
        "status_code": "OK",
        "context.span_id": CALL,
        "context.trace_id": TRACE,
        "events": [],
        **COLUMNS,
    },
    "otlp": {
        "traceId": TRACE,
        "spanId": CALL,
        "parentSpanId": ROOT,
        "name": "chat",
        "startTimeUnixNano": str(BEGAN_NS),
        "endTimeUnixNano": str(BEGAN_NS + 1),
        "attributes": otlp(FLAT, snake=False),
    },
    "otlp, snake case": {
        "trace_id": TRACE,
        "span_id": CALL,
        "parent_span_id": ROOT,
        "name": "chat",
        "start_time_unix_nano": BEGAN_NS,
        "attributes": otlp(FLAT, snake=True),
        "status": {"code": 1},
    },
    "plain": {
        "trace_id": f"0x{TRACE}",
        "span_id": f"0x{CALL}",
        "parent_span_id": f"0x{ROOT}",
        "name": "chat",
        "start_time": BEGAN_NS,
        "attributes": {k: str(v) for k, v in FLAT.items()},
    },
    "jaeger": {
        "traceID": TRACE,
        "spanID": CALL,
        "operationName": "chat",
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": ROOT}],
        "startTime": BEGAN_NS // 1000,
        "duration": 999,
        "tags": [{"key": k, "type": "string", "value": v} for k, v in FLAT.items()],
    },
    "flat": {"trace_id": TRACE, "span_id": CALL, "parent_id": ROOT, "start_time": BEGAN, **FLAT},
}

"""Draw random conversations, from ordinary to hostile."""

from __future__ import annotations

from hypothesis import strategies as st

from collector.builder import conversation_of
from collector.model import (
    Conversation,
    Document,
    Episode,
    Identity,
    JsonValue,
    Message,
    ToolDefinition,
    ToolRequest,
)

WORDS = (
    "order 7731 has been cancelled",
    "Your refund of $1,204.50 is on its way.",
    "I have updated the booking QX88ZT.",
    "let me talk to a person",
    "Error: 503 Service Unavailable",
    '{"status": "failed", "message": "no"}',
    "[]",
    "Ünïcode \u2014 数字 \u0663\u0664 🛟",
    "lone \ud83d surrogate",
    "a" * 400,
    "((((((((((((((((!!!!!!!!!!",
    "2031-04-05 09:30",
    "not not never 0.00 00 0 -1 1e9",
    "",
)
NAMES = ("get_order", "cancel_order", "sendMail", "transfer_to_human", "x", "", "數字", "\udc00")
CALL_IDS = ("", "c1", "c2", "c2", "c1#2", "\udfff")

texts = st.one_of(st.sampled_from(WORDS), st.text(max_size=60))
keys = st.one_of(st.sampled_from(("order_id", "city", "n", "query", "")), st.text(max_size=8))
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(min_value=-(10**20), max_value=10**20),
        st.floats(),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=6,
)
requests = st.builds(
    ToolRequest,
    id=st.sampled_from(CALL_IDS),
    name=st.sampled_from(NAMES),
    arguments=st.one_of(st.dictionaries(keys, values, max_size=3), values),
)
messages = st.one_of(
    st.builds(Message, role=st.just("user"), text=texts),
    st.builds(
        Message,
        role=st.just("assistant"),
        text=texts,
        tool_requests=st.lists(requests, max_size=3).map(tuple),
    ),
    st.builds(
        Message,
        role=st.just("tool"),
        text=texts,
        tool_call_id=st.sampled_from(CALL_IDS),
        tool_name=st.sampled_from(NAMES),
        is_error=st.sampled_from((None, True, False)),
    ),
)
schemas: st.SearchStrategy[JsonValue] = st.one_of(
    st.sampled_from(
        (
            None,
            {},
            {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
            },
            {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}},
            {"type": "object", "properties": {"city": {"pattern": "^(a+)+$"}}},
            {"$ref": "#"},
            {"$ref": "https://schemas.example/tool"},
            {"type": "object", "properties": None},
        )
    ),
    values,
)
tools = st.builds(
    ToolDefinition, name=st.sampled_from(NAMES), description=texts, parameters=schemas
)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Draw a conversation of one episode, with or without an earlier one, tools and documents."""
    history = draw(st.lists(messages, max_size=14))
    first = draw(st.integers(min_value=0, max_value=len(history))) if draw(st.booleans()) else 0
    return conversation_of(
        history,
        id="random",
        identity=Identity(agent="shop"),
        episode=Episode(number=2 if first else 1, first_message=first),
        system_prompt=draw(texts),
        tools=draw(st.lists(tools, max_size=3)),
        documents=draw(st.lists(st.builds(Document, text=texts), max_size=2)),
    )

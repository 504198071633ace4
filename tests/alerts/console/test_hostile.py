"""Nothing that comes from a trace is ever markup, a script or an address of its own."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from alerts.console import words
from collector.model import (
    Decided,
    DecisionRecord,
    Document,
    Episode,
    Evidence,
    LlmCall,
    Message,
    ToolDefinition,
    ToolRequest,
)
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import (
    CHANGE,
    Front,
    Page,
    episode,
    event,
    fill,
    fill_events,
    fill_points,
    stream,
    verdict,
)
from tests.build import conversation, identity
from tests.collector.stores.episodes import START_NS

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    "</title></style></textarea></script><script>alert(1)</script>",
    "{{ 7*7 }}{% set x = 1 %}{# gone #}",
    "javascript:alert(1)//",
    "data:text/html,<script>alert(1)</script>",
    "<!-- <svg/onload=alert(1)> ]]>",
    "\u202egnp.exe\u2066\u202c",
    "a\x00b\x1b[31mc\x08",
    "../../etc/passwd?x=1&y=2#z%2e",
    "' OR 1=1 -- {agent:String}",
    "&lt;b&gt;&#x3c;script&#x3e;",
    "\u2028\u2029\ufeff",
)
TAGS = {
    *("html", "head", "meta", "title", "link", "script", "body", "header", "nav", "main"),
    *("section", "article", "h1", "h2", "h3", "h4", "p", "a", "b", "i", "strong", "small", "span"),
    *("div", "img", "svg", "rect", "form", "label", "select", "option", "input", "button"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "ol", "ul", "li", "dl", "dt", "dd"),
    *("details", "summary", "pre", "code", "mark", "q", "bdi", "time", "figure", "figcaption"),
    *("progress", "noscript"),
}
"""Every element that our templates write."""


def poisoned(text: str) -> Decided:
    """Build an episode that says a text wherever a trace can say one."""
    whole = episode(text)
    call = ToolRequest(id=text, name=text, arguments={text: [text, {"deep": text}]})
    said = conversation(
        Message(role="user", text=text),
        Message(role="assistant", text=text, tool_requests=(call,)),
        Message(role="tool", text=text, tool_call_id=text, tool_name=text, is_error=True),
        Message(role="assistant", text=f"before {text} after"),
        id=text,
        who=identity(text, agent_version=text, environment=text, tenant=text),
        episode=Episode(started_ns=START_NS, ended_ns=START_NS + 10),
        system_prompt=text,
        tools=(ToolDefinition(name=text, description=text),),
        documents=(Document(id=text, text=text),),
        llm_calls=(LlmCall(model=text, provider=text, error=text, trace_id=text),),
        trace_ids=(text,),
    )
    evidence = tuple(Evidence(message=n, quote=text) for n in (0, 2, 3))
    scores = (
        verdict(text, "looping", "fail", reason=text, evidence=evidence),
        verdict(text, "tool_calls", "fail", target=text, reason=text),
        verdict(text, "other", "skip", reason=text),
    )
    decision = DecisionRecord(
        conversation_id=text,
        episode=1,
        scorer="looping",
        scorer_version="1",
        decision="skipped",
        reason=text,
        decided_ns=START_NS,
    )
    return msgspec.structs.replace(
        whole, episode_id=text, conversation=said, scores=scores, decisions=(decision,)
    )


def poisoned_streams(text: str) -> tuple[Any, ...]:
    """Build streams of the same agent, one that fires and one that learns."""
    who = {"agent": text, "environment": text, "stream": text}
    return (
        stream(**who, agent_version=text, slice=text, firing=("page",), change=CHANGE),
        stream(**who, scorer="other", phase="learning", threshold=0.0, slice=text),
    )


def harmless(page: Page) -> None:
    """Hold that a page has our elements only, and none that does anything but what we meant."""
    assert {tag for tag, _ in page.tags} <= TAGS
    assert page.comments == []
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action"):
            if name in attributes:
                assert attributes[name].startswith(("/", "#", "?")), attributes[name]
                assert not attributes[name].startswith("//")
        if tag == "script":
            assert attributes.get("src", "").startswith("/static/") or attributes == {
                "type": "application/json",
                "id": "chart-data",
            }
    names = " ".join(page.attributes("class", "id", "name", "for"))
    assert not set(names) - set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. "
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_content_is_text(store: ClickHouseStore, text: str) -> None:
    """Wherever a trace says it, a page shows it as words and the JSON gives it back unchanged."""
    fill(store, poisoned(text))
    streams = poisoned_streams(text)
    fill_points(store, streams[0], [1.0, 2.0])
    fill_events(
        store,
        event(agent=text, agent_version=text, environment=text, scorer=text),
        event("b" * 32, kind="cleared", reason=text, agent=text),
    )
    front = Front(store, *streams)
    shown = " ".join(words.readable(text).split())
    where = words.conversation_href(text)
    paths = {
        "/": 4,
        words.href("/", agent=text, environment=text): 4,
        "/conversations": 4,
        words.href("/conversations", scorer=text, version=text, agent=text): 1,
        where: 12,
        "/ledger": 1,
        words.href("/ledger", id=text, version=text, agent=text): 1,
        "/alerts": 3,
    }
    for path, times in paths.items():
        page = front.page(path)
        harmless(page)
        assert page.text.count(shown) >= times or not shown, path
    quality = front.json("/v1/quality")
    assert quality["sections"][0]["agent"] == text
    assert front.json("/v1/alarms")["events"][0]["detail"]["agent"] == text
    assert front.json("/v1/conversations")["conversations"][0]["conversation_id"] == text
    told = front.json(f"/v1{where}")
    assert told["messages"][0]["text"] == text
    assert front.json(words.href("/v1/ledger", id=text))["decisions"][0]["reason"] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_links_lead_where_they_say(store: ClickHouseStore, text: str) -> None:
    """A link on the list leads to the conversation, whatever its id."""
    fill(store, poisoned(text))
    front = Front(store)
    (link,) = front.page("/conversations").links("/conversations/")

    assert " ".join(words.readable(text).split()) in front.page(link).text


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "range"),
        ("/", "since"),
        ("/conversations", "verdict"),
        ("/conversations", "cursor"),
        ("/conversations", "limit"),
        ("/conversations/x", "from"),
        ("/ledger", "until"),
        ("/alerts", "cursor"),
    ],
)
def test_hostile_requests(store: ClickHouseStore, path: str, name: str) -> None:
    """A request that makes no sense is answered by a page without markup of its own."""
    front = Front(store)
    for text in HOSTILE:
        answer = front.get(words.href(path, **{name: text}))
        assert answer.status_code == 400
        harmless(Page(answer.text))

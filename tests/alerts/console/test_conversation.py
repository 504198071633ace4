"""Test the page of one conversation."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.model import Decided, Episode, Evidence, Sampling, ToolCall
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import Front, episode, fill, verdict
from tests.build import agent, conversation, request, result, user
from tests.collector.stores.episodes import START_NS


def told(
    id: str,
    *verdicts: Any,
    messages: Any,
    first: int = 0,
    calls: tuple[ToolCall, ...] | None = None,
) -> Decided:
    """Build an episode that says what a test needs."""
    whole = episode(id, *verdicts)
    said = conversation(
        *messages,
        id=id,
        who=whole.conversation.identity,
        episode=Episode(started_ns=START_NS, ended_ns=START_NS + 10, first_message=first),
    )
    if calls is not None:
        said = msgspec.structs.replace(said, tool_calls=calls)
    return msgspec.structs.replace(whole, conversation=said)


def test_verdicts_on_their_words_and_calls(store: ClickHouseStore) -> None:
    """The quoted words are marked where they stand, and the verdicts link to them."""
    call = request("refund", order="A1")
    fill(
        store,
        told(
            "c",
            verdict(
                "c",
                "false_success",
                "fail",
                reason="It failed.",
                evidence=(
                    Evidence(message=3, quote="refunded you"),
                    Evidence(message=2, quote="locked"),
                ),
            ),
            verdict("c", "looping", "pass", reason="No call was repeated."),
            verdict("c", "faithfulness", "skip", reason="no_context"),
            messages=[
                user("Refund A1, please."),
                agent("", call),
                result("refund", "Error: order is locked", id=call.id),
                agent("I have refunded you. Bye."),
            ],
        ),
    )
    page = Front(store).page("/conversations/c%2F1")

    marks = [attrs["class"] for tag, attrs in page.tags if tag == "mark"]
    assert marks == ["fails", "fails"]
    assert {"#m3", "#c0"} <= set(page.links("#"))
    ids = page.attributes("id")
    assert {"m0", "m1", "m3", "c0", "v1"} <= set(ids)
    assert len(ids) == len(set(ids))
    for words in ("It failed.", "No call was repeated.", "no_context", "Error: order is locked"):
        assert words in page.text
    # Folded, but for what a failing verdict is about.
    (details,) = [
        attrs for tag, attrs in page.tags if tag == "details" and "call" in attrs["class"]
    ]
    assert "error" in details["class"]
    assert "open" in details


def test_words_that_do_not_stand_there(store: ClickHouseStore) -> None:
    """A quote that was redacted away is told of beside the message."""
    fill(
        store,
        told(
            "c",
            verdict("c", name="fail", evidence=(Evidence(message=0, quote="my number 555"),)),
            messages=[user("my number [phone]"), agent("Thanks.")],
        ),
    )
    page = Front(store).page("/conversations/c%2F1")
    assert "my number 555, which does not stand here word for word" in page.text


def test_the_newest_revision(store: ClickHouseStore) -> None:
    """The current revision's messages and verdicts are shown, and no earlier ones."""
    fill(
        store,
        episode("c", verdict("c", name="fail", reason="At first.")),
        episode("c", verdict("c", name="pass", reason="After all.", revision=1), revision=1),
    )
    front = Front(store)

    page = front.page("/conversations/c%2F1")
    assert "After all." in page.text
    assert "At first." not in page.text
    found = front.json("/v1/conversations/c%2F1")
    assert found["head"]["revision"] == 1
    assert [v["verdict"] for v in found["verdicts"]] == ["pass"]
    assert [m["role"] for m in found["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert found["tool_calls"][0]["name"] == "track"


def test_content_that_was_not_kept(store: ClickHouseStore) -> None:
    """Where the sampling left the content out, the page says so and shows the verdicts."""
    whole = episode("c", verdict("c", reason="All well."))
    fill(
        store,
        msgspec.structs.replace(
            whole, sampling=Sampling(kept=False, probability=0.25, rule="hash")
        ),
    )
    page = Front(store).page("/conversations/c%2F1")

    assert "was not kept: the sampling chose 25 %" in page.text
    assert "All well." in page.text


def test_content_that_has_expired(store: ClickHouseStore) -> None:
    """Where the retention took the content, the page says that it is gone."""
    fill(store, episode("c", verdict("c")))
    store.command(
        "ALTER TABLE conversations UPDATE messages = '' WHERE 1 SETTINGS mutations_sync = 1"
    )
    assert "is not there any more" in Front(store).page("/conversations/c%2F1").text


def test_a_very_long_conversation(store: ClickHouseStore) -> None:
    """Thousands of messages come in pages, each bounded, and a verdict links to the right one."""
    messages = [user(f"word {n}") if n % 2 == 0 else agent(f"reply {n}") for n in range(5_000)]
    fill(
        store,
        told(
            "c",
            verdict("c", name="fail", evidence=(Evidence(message=4_321, quote="reply 4321"),)),
            messages=messages,
        ),
    )
    front = Front(store)

    first = front.get("/conversations/c%2F1")
    assert len(first.content) < 500_000
    assert "4,800 more messages" in first.text
    assert 'href="?from=4200#m4321"' in first.text
    later = front.page("/conversations/c%2F1?from=4200")
    assert [attrs["class"] for tag, attrs in later.tags if tag == "mark"] == ["fails"]
    assert "word 4200" in later.text
    assert front.get("/conversations/c%2F1?from=9999").status_code == 200


def test_a_very_large_result(store: ClickHouseStore) -> None:
    """Megabytes of a result and of a message are cut with a note, and the page stays small."""
    call = request("dump")
    fill(
        store,
        told(
            "c",
            verdict("c"),
            messages=[
                user("a" * 3_000_000),
                agent("", call),
                result("dump", "x" * 5_000_000, id=call.id),
                agent("Done."),
            ],
        ),
    )
    answer = Front(store).get("/conversations/c%2F1")

    assert answer.status_code == 200
    assert len(answer.content) < 200_000
    assert answer.text.count("characters left out") >= 2
    assert "2,980,000 characters left out" in answer.text


def test_messages_beyond_all_measure(store: ClickHouseStore) -> None:
    """Messages that are too large to be read at all are told of."""
    fill(store, told("c", verdict("c"), messages=[user("a" * 17_000_000), agent("Done.")]))
    assert "too large to show (17.0" in Front(store).page("/conversations/c%2F1").text


def test_an_earlier_episode_is_context(store: ClickHouseStore) -> None:
    """Messages before the episode are folded away, with the calls that they tell of."""
    call = request("track", parcel="P")
    fill(
        store,
        told(
            "c",
            verdict("c"),
            messages=[
                user("Where?"),
                agent("", call),
                result("track", "lost", id=call.id),
                agent("Lost."),
                user("And now?"),
                agent("Found."),
            ],
            first=4,
            calls=(),
        ),
    )
    page = Front(store).page("/conversations/c%2F1")

    assert "3 messages of earlier episodes, as context" in page.text
    assert "m1-0" in page.attributes("id")


def test_a_call_that_only_spans_tell_of(store: ClickHouseStore) -> None:
    """A call that no message asks for is shown after the messages."""
    lone = ToolCall(id="t1", name="audit", arguments={"deep": {"a": 1}}, result="ok")
    fill(store, told("c", verdict("c"), messages=[user("Hi"), agent("Hello")], calls=(lone,)))
    page = Front(store).page("/conversations/c%2F1")

    assert "Calls that only spans tell of" in page.text
    assert '"deep": { "a": 1 }' in page.text


def test_no_such_conversation(store: ClickHouseStore) -> None:
    """An id that is not stored gets 404, as a page and as JSON, whatever characters it has."""
    front = Front(store)
    for path in ("/conversations/nothing", "/conversations/a%0Ab%2Fend", "/conversations/%00%22"):
        page = front.get(path)
        assert (page.status_code, page.headers["content-type"][:9]) == (404, "text/html")
        assert front.get(f"/v1{path}").json()["error"].startswith("no conversation")


def test_the_id_of_a_conversation(store: ClickHouseStore) -> None:
    """Where an id is a conversation's and not an episode's, it leads to its episodes."""
    fill(store, episode("one"), episode("two"), episode("two", number=2))
    front = Front(store)

    assert front.get("/conversations/one").headers["location"] == "/conversations/one%2F1"
    answer = front.get("/v1/conversations/one")
    assert answer.status_code == 307
    assert front.json(answer.headers["location"])["head"]["conversation_id"] == "one"
    where = front.get("/conversations/two").headers["location"]
    assert len(front.page(where).links("/conversations/two")) == 2
    several = front.json(front.get("/v1/conversations/two").headers["location"])
    assert len(several["conversations"]) == 2
    assert front.get("/conversations/three").status_code == 404

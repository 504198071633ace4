"""Test the list of conversations."""

from __future__ import annotations

import pytest

from collector.model import Evidence
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import Front, episode, fill, verdict
from tests.build import identity
from tests.collector.stores.episodes import SECOND, START_NS


def ids(front: Front, query: str = "") -> list[str]:
    """Return the ids of a page."""
    return [c["conversation_id"] for c in front.json(f"/v1/conversations?{query}")["conversations"]]


def test_failing_conversations(store: ClickHouseStore) -> None:
    """The failing ones come newest first, with why and the words it rests on."""
    evidence = (Evidence(message=3, quote="It is in transit."),)
    fill(
        store,
        episode("old", verdict("old", name="fail", reason="It went round.", evidence=evidence)),
        episode("fine", verdict("fine"), at_s=5),
        episode("new", verdict("new", name="fail"), verdict("new", "other", "fail"), at_s=9),
    )
    front = Front(store)

    assert ids(front) == ["new", "old"]
    page = front.page("/conversations")
    assert "It went round. It is in transit." in page.text
    assert page.text.index("new") < page.text.index("old")
    assert len(page.links("/conversations/")) == 2


def test_filters(store: ClickHouseStore) -> None:
    """Verdict, scorer, version, agent, environment, variant and time narrow the list down."""
    fill(
        store,
        episode("a", verdict("a", name="fail")),
        episode("b", verdict("b", "other", "fail"), version="v8", at_s=60),
        episode("c", verdict("c", name="skip"), who=identity("desk", environment="test"), at_s=120),
        episode("d", verdict("d", name="fail"), who=identity("shop", variant="shadow"), at_s=180),
    )
    front = Front(store)

    assert ids(front, "scorer=other") == ["b"]
    assert ids(front, "version=v7") == ["a"]
    assert ids(front, "verdict=skip") == ["c"]
    assert ids(front, "verdict=any&agent=desk&environment=test") == ["c"]
    assert ids(front, "verdict=any") == ["c", "b", "a"]
    assert ids(front, "variant=shadow") == ["d"]
    assert ids(front, f"since={START_NS + SECOND}") == ["b"]
    assert ids(front, f"until={START_NS + SECOND}") == ["a"]
    assert ids(front, "range=1h") == []
    assert ids(front, "conversation=a") == ["a"]
    assert ids(front, "conversation=d") == ["d"]
    assert ids(front, "scorer=nothing") == []


def test_a_revision_replaces(store: ClickHouseStore) -> None:
    """A conversation whose failure was taken back is not on the list."""
    fill(
        store,
        episode("r", verdict("r", name="fail")),
        episode("r", verdict("r", name="pass", revision=1), revision=1),
    )
    assert ids(Front(store)) == []
    assert ids(Front(store), "verdict=pass") == ["r"]


def test_paging(store: ClickHouseStore) -> None:
    """Pages follow one another without a gap or a repeat, also where many began at one moment."""
    fill(store, *(episode(f"c{n}", verdict(f"c{n}", name="fail"), at_s=n // 4) for n in range(11)))
    front = Front(store)
    seen: list[str] = []
    cursor = ""
    while True:
        page = front.json(f"/v1/conversations?limit=3&cursor={cursor}")
        seen += [c["conversation_id"] for c in page["conversations"]]
        cursor = page["cursor"]
        if not cursor:
            break
    assert sorted(seen) == sorted(f"c{n}" for n in range(11))
    assert len(seen) == 11
    (older,) = [link for link in front.page("/conversations?limit=3").links() if "cursor=" in link]
    assert "limit=3" in older


@pytest.mark.parametrize(
    "query", ["verdict=bad", "limit=900", "cursor=soon-x", "since=never", "range=1y"]
)
def test_nonsense(store: ClickHouseStore, query: str) -> None:
    """What makes no sense gets 400, as a page and as JSON."""
    front = Front(store)
    assert front.get(f"/v1/conversations?{query}").json()["error"]
    page = front.get(f"/conversations?{query}")
    assert (page.status_code, page.headers["content-type"][:9]) == (400, "text/html")

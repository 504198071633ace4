"""Test the page of quality and its numbers."""

from __future__ import annotations

import pytest

from alerts.console.extent import Extent, Who, resolved
from alerts.console.parameters import RANGES, Period
from alerts.console.quality import POINTS, step_of
from alerts.wilson import wilson
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import (
    CHANGE,
    HOUR,
    NOW_NS,
    Front,
    episode,
    fill,
    fill_points,
    stream,
    verdict,
)
from tests.build import identity
from tests.collector.stores.episodes import SECOND, START_NS


def test_rates_by_version(store: ClickHouseStore) -> None:
    """Each scorer has for each version its failures, its episodes and the interval of its rate."""
    ten = [
        episode(f"a{n}", verdict(f"a{n}", name="fail" if n < 3 else "pass"), at_s=n * 60)
        for n in range(10)
    ]
    fill(store, *ten, episode("b", verdict("b", name="fail"), at_s=3_000, version="v8"))

    (section,) = Front(store).json("/v1/quality")["sections"]
    assert (section["agent"], section["environment"], section["episodes"]) == ("shop", "prod", 11)
    (scorer,) = section["scorers"]
    old, new = scorer["versions"]
    low, high = wilson(3, 10)
    assert old == {
        "agent_version": "v7",
        "episodes": 10,
        "failing": 3,
        "rate": 0.3,
        "low": low,
        "high": high,
    }
    assert (new["agent_version"], new["failing"], new["episodes"]) == ("v8", 1, 1)
    line = scorer["lines"][0]
    assert (sum(line["episodes"]), sum(line["failing"])) == (10, 3)
    assert len({len(values) for key, values in line.items() if key != "agent_version"}) == 1


def test_an_episode_counts_once(store: ClickHouseStore) -> None:
    """Verdicts on several calls are one episode, which fails if any does; resends change nothing."""
    calls = [
        verdict("c", "tool_calls", name, target=f"t{n}")
        for n, name in enumerate(["pass", "fail", "fail"])
    ]
    fill(store, episode("c", *calls), episode("c", *calls))

    ((share,),) = (
        s["versions"] for s in Front(store).json("/v1/quality")["sections"][0]["scorers"]
    )
    assert (share["failing"], share["episodes"]) == (1, 1)


def test_a_revision_replaces(store: ClickHouseStore) -> None:
    """The newest revision of a verdict counts, also where it is none any more."""
    fill(
        store,
        episode("r", verdict("r", name="fail"), verdict("r", "other", "pass")),
        episode(
            "r",
            verdict("r", name="pass", revision=1),
            verdict("r", "other", "skip", revision=1),
            revision=1,
        ),
        episode("q", verdict("q", name="fail")),
    )

    (section,) = Front(store).json("/v1/quality")["sections"]
    assert [
        (s["scorer"], s["versions"][0]["failing"], s["versions"][0]["episodes"])
        for s in section["scorers"]
    ] == [("looping", 1, 2)]


def test_what_is_left_out(store: ClickHouseStore) -> None:
    """Skips, failures of scorers and variants other than production are no episodes of a rate."""
    fill(
        store,
        episode("s", verdict("s", name="skip")),
        episode("f", verdict("f", name="failure")),
        episode(
            "x",
            verdict("x", name="fail"),
            who=identity("shop", environment="prod", variant="shadow"),
        ),
        episode("p", verdict("p", name="pass")),
    )

    (section,) = Front(store).json("/v1/quality")["sections"]
    (scorer,) = section["scorers"]
    assert scorer["versions"][0]["episodes"] == 1


def test_filters(store: ClickHouseStore) -> None:
    """An agent, an environment and a stretch of time narrow the page down."""
    fill(
        store,
        episode("a", verdict("a")),
        episode("b", verdict("b"), who=identity("desk", environment="prod")),
        episode("c", verdict("c"), who=identity("desk", environment="test"), at_s=600),
    )
    front = Front(store)

    def shown(query: str) -> list[tuple[str, str]]:
        return sorted(
            (s["agent"], s["environment"]) for s in front.json(f"/v1/quality?{query}")["sections"]
        )

    assert shown("") == [("desk", "prod"), ("desk", "test"), ("shop", "prod")]
    assert shown("agent=desk") == [("desk", "prod"), ("desk", "test")]
    assert shown("agent=desk&environment=test") == [("desk", "test")]
    assert shown(f"since={START_NS + 60 * SECOND}") == [("desk", "test")]
    assert shown(f"until={START_NS + 60 * SECOND}") == [("desk", "prod"), ("shop", "prod")]
    assert shown("agent=nobody") == []


@pytest.mark.parametrize(
    ("first_h", "last_h", "name"),
    [
        (0.5, 0.1, "1h"),
        (5, 0.1, "6h"),
        (20, 1, "24h"),
        (300, 1, "24h"),
        (60, 50, "7d"),
        (500, 400, "30d"),
        (9_000, 8_000, "all"),
    ],
)
def test_the_time_that_is_chosen(first_h: float, last_h: float, name: str) -> None:
    """Without a choice the page shows a time in which there is something to see."""
    who = Who(
        agent="a",
        environment="",
        first_ns=NOW_NS - int(first_h * HOUR),
        last_ns=NOW_NS - int(last_h * HOUR),
    )
    period = resolved(Period(), Extent(who=[who]), now_ns=NOW_NS)
    assert period.name == name
    assert period.since_ns == (NOW_NS - RANGES[name] * SECOND if name != "all" else 0)


def test_traffic_ahead_of_the_clock() -> None:
    """A range ends with the last conversation where that is dated later than now."""
    who = Who(agent="a", environment="", first_ns=NOW_NS, last_ns=NOW_NS + 10 * HOUR)
    assert (
        resolved(Period(name="1h"), Extent(who=[who]), now_ns=NOW_NS).since_ns == NOW_NS + 9 * HOUR
    )


@pytest.mark.parametrize("span_s", [1, 3_600, 90_000, 3_000_000, 10**9])
@pytest.mark.parametrize("episodes", [1, 1_000, 10**6])
def test_the_width_of_a_point(span_s: int, episodes: int) -> None:
    """However long the time and however much the traffic, a line has a bounded number of points."""
    who = Who(agent="a", environment="", first_ns=0, last_ns=span_s * SECOND)
    assert span_s / step_of(Period(), Extent(who=[who]), episodes) <= POINTS + 1


def test_the_page(store: ClickHouseStore) -> None:
    """The page says what fires in words, links to the conversations, and shows the numbers."""
    fill(
        store, *(episode(f"e{n}", verdict(f"e{n}", name="fail"), at_s=3_600 + n) for n in range(4))
    )
    firing = stream(
        slice="version=v7",
        agent_version="v7",
        firing=("ticket", "page"),
        change=CHANGE,
        evidence=5e3,
    )
    fill_points(store, firing, [1.0, 50.0, 2_000.0])
    page = Front(store, stream(firing=("ticket",), change=CHANGE), firing).page("/?range=24h")

    assert "looping of shop v7 in prod fails 41 % of conversations since" in page.text
    assert "usual 1.8 %" in page.text
    assert "See 4 failing conversations" in page.text
    assert "also fires for all versions together" in page.text
    assert "4/4" in page.text
    (chart,) = page.data["charts"][0]
    assert chart["tracks"][0]["share"] == [0.001, 0.05, 2.0]
    assert chart["ticket"] == 0.08
    assert chart["changes"][0]["at"] == CHANGE.at_ns // 1_000_000
    link = next(link for link in page.links("/conversations?") if "since=" in link)
    assert len(Front(store).page(link).links("/conversations/")) == 4


def test_evidence_stands_where_it_was_reached(store: ClickHouseStore) -> None:
    """A point of evidence stands at the end of its ten minutes, and never after the traffic."""
    fill(store, episode("e", verdict("e")))
    view = stream(traffic_ns=START_NS + 25 * 60 * SECOND)
    fill_points(store, view, [1.0, 2.0, 3.0])
    page = Front(store, view).json("/v1/quality?range=all")

    (line,) = page["sections"][0]["scorers"][0]["evidence"]
    # Stretches are stored by their start, which here is not a round one.
    assert [(at - START_NS) // SECOND for at in line["at_ns"]] == [600, 1_200, 1_500]


def test_a_stretch_of_several(store: ClickHouseStore) -> None:
    """Where a point stands for several stretches, it stands at the end of the last."""
    fill(store, episode("e", verdict("e")), episode("f", verdict("f"), at_s=40 * 86_400))
    view = stream(traffic_ns=START_NS + 41 * 86_400 * SECOND)
    fill_points(store, view, [1.0, 2.0, 3.0])
    page = Front(store, view).json("/v1/quality?range=all")

    assert page["sections"][0]["step_s"] > 3_600
    (line,) = page["sections"][0]["scorers"][0]["evidence"]
    assert line["at_ns"][-1] == START_NS + 1_800 * SECOND
    assert line["evidence"][-1] == 3.0


def test_a_period_without_an_end(store: ClickHouseStore) -> None:
    """Only an end that was asked for is given."""
    front = Front(store)
    assert front.json("/v1/quality")["until_ns"] is None
    assert front.json(f"/v1/quality?until={NOW_NS}")["until_ns"] == NOW_NS


def test_links_carry_the_time(store: ClickHouseStore) -> None:
    """What the table counts is what its links find; a version's count is that of the time shown."""
    fill(
        store,
        episode("a", verdict("a", name="fail")),
        episode("b", verdict("b", name="fail"), at_s=7_000),
    )
    front = Front(store)
    page = front.page("/?range=1h")

    (link,) = (link for link in page.links("/conversations?") if "version=v7" in link)
    assert "1/1" in page.text
    assert len(front.page(link).links("/conversations/")) == 1
    assert "1 in this time, first seen" in page.text
    assert "2 in all, first seen" in front.page("/?range=all").text


def test_nothing_fires(store: ClickHouseStore) -> None:
    """While nothing fires the page says so, and how far the detectors have learned."""
    fill(store, episode("e", verdict("e")))
    learning = stream(
        phase="learning", learned=412, learned_hours=5, threshold=0.0, ticket_threshold=0.0
    )
    page = Front(store, learning).page("/")

    assert "Nothing is firing" in page.text
    assert "412 of 1,000 conversations, 5 of 24 hours of traffic" in page.text

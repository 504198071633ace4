"""What an alarm says, out of a real store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from alerts.incident import (
    FAILING,
    REASON_CHARACTERS,
    alarm_url,
    conversation_url,
    gather,
    headline,
    named,
    share,
    told,
)
from alerts.notice import Notice, notice_of, rfc3339
from alerts.stream_view import AlertEvent
from collector.model import Decided, Episode, Sampling, ScoreRecord, VerdictName
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.rows import rows_of
from tests.alerts.alarms import CHANGE, MINUTE, NOW_NS, alarm
from tests.alerts.embedded import embedded, emptied
from tests.build import agent, conversation, identity, user


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    """Open one store for all tests of this file."""
    with embedded(tmp_path_factory.mktemp("incident")) as store:
        yield store


@pytest.fixture
def store(opened: ClickHouseStore) -> ClickHouseStore:
    """Give it without conversations."""
    return emptied(opened, "scores", "conversations")


def episode(
    id: str,
    *verdicts: VerdictName,
    age_min: float = 5,
    version: str = "2.4.0",
    revision: int = 0,
    scorer: str = "false_success",
    reason: str = "The agent claims a refund that no call made.",
    **who: Any,
) -> Decided:
    """Build an episode of atlas with a verdict on each target."""
    started_ns = NOW_NS - int(age_min * MINUTE)
    return Decided(
        episode_id=f"{id}/1",
        conversation=conversation(
            user("Hi"),
            agent("Hello"),
            id=id,
            who=identity("atlas", agent_version=version, **{"environment": "prod", **who}),
            episode=Episode(started_ns=started_ns, ended_ns=started_ns + MINUTE),
        ),
        revision=revision,
        decided_ns=started_ns + 2 * MINUTE,
        sampling=Sampling(kept=False, probability=0.5, rule="hash"),
        scores=tuple(
            ScoreRecord(
                score_id=f"{id}-{target}-{revision}",
                conversation_id=id,
                episode=1,
                level="turn",
                target=str(target),
                scorer=scorer,
                scorer_version="1",
                revision=revision,
                verdict=verdict,
                value=1.0 if verdict == "pass" else target / 10,
                reason=f"{reason} [{target}]",
                scored_ns=started_ns + 2 * MINUTE,
            )
            for target, verdict in enumerate(verdicts)
        ),
    )


def put(store: ClickHouseStore, *episodes: Decided) -> None:
    """Store episodes, the first of them twice."""
    for one in [*episodes, *episodes[:1]]:
        store.insert(rows_of(one))


def test_the_newest_failures_since_the_change_are_named(store: ClickHouseStore) -> None:
    """An alarm names failing episodes of its agent, version and scorer, the newest first."""
    put(
        store,
        episode("newest", "pass", "fail", age_min=1),
        episode("newer", "fail", "fail", age_min=2),
        episode("before", "fail", age_min=30),
        episode("fine", "pass"),
        episode("older-version", "fail", version="2.3.0"),
        episode("elsewhere", "fail", environment="staging"),
        episode("shadow", "fail", variant="shadow"),
        episode("other-scorer", "fail", scorer="looping"),
        episode("mended", "fail", age_min=3),
        episode("mended", "pass", age_min=3, revision=1),
        episode("broken", "pass", age_min=4),
        episode("broken", "fail", age_min=4, revision=1),
        episode("vanished", "pass", "fail", age_min=5),
        episode("vanished", "pass", age_min=5, revision=1),
    )
    found = gather(alarm(), store.query).failing
    assert [f.conversation_id for f in found] == ["newest", "newer", "broken"]
    assert found[0].episode_id == "newest/1"
    assert found[0].started_ns == NOW_NS - MINUTE
    assert found[1].reason.endswith("[0]")  # the worse of two


def test_an_alarm_about_all_versions_names_any(store: ClickHouseStore) -> None:
    """Without a version in the alarm the failures of all of them are shown."""
    put(store, episode("a", "fail", version="1"), episode("b", "fail", version="2", age_min=2))
    found = gather(alarm(version=""), store.query).failing
    assert [(f.conversation_id, f.agent_version) for f in found] == [("b", "2"), ("a", "1")]


def test_what_is_named_is_bounded(store: ClickHouseStore) -> None:
    """Neither a thousand failures nor an endless reason make an alarm longer."""
    put(store, *(episode(f"c{n}", "fail", reason="é" * 9_000) for n in range(12)))
    found = gather(alarm(), store.query).failing
    assert len(found) == FAILING
    assert all(len(f.reason) == REASON_CHARACTERS for f in found)


def test_versions_that_appeared_about_then_are_named(store: ClickHouseStore) -> None:
    """The suspects are versions first seen around the change, not those long in use."""
    put(
        store,
        episode("a", age_min=600, version="2.3.0"),
        episode("b", age_min=6, version="2.3.0"),
        episode("c", age_min=22, version="2.4.0"),
        episode("d", age_min=6, version="2.4.0"),
        episode("e", age_min=14, version="2.4.1-rc"),
        episode("f", age_min=14, version="9", environment="staging"),
        episode("g", age_min=14, version="8", variant="shadow"),
    )
    found = gather(alarm(), store.query).versions
    assert [(v.agent_version, v.first_ns) for v in found] == [
        ("2.4.1-rc", NOW_NS - 14 * MINUTE),
        ("2.4.0", NOW_NS - 22 * MINUTE),
    ]


@pytest.mark.parametrize("event", [alarm(kind="cleared"), alarm(change=None)])
def test_without_a_change_nothing_is_looked_up(event: Any) -> None:
    """An alarm that ended has no failures to show."""

    def query(sql: str, parameters: object) -> list[dict[str, Any]]:
        raise AssertionError(sql)

    assert gather(event, query).failing == ()


def test_an_alarm_is_told_in_plain_sentences(store: ClickHouseStore) -> None:
    """The text says what, how often, since when, compared with what, and what was new then."""
    put(store, episode("c", "fail", age_min=12))
    text = told(gather(alarm(), store.query), url="http://console/")
    assert text == (
        "Page: false_success of atlas 2.4.0 (prod): 41 % of 118 conversations failed since 03:23 "
        "UTC, usual 1.8 %. The change lies between 03:13 and 03:28 UTC (2033-05-18). "
        "Versions first seen about then: 2.4.0 at 03:21. http://console/"
    )


def floored(event: AlertEvent) -> AlertEvent:
    """Let an alarm be about the floor."""
    return msgspec.structs.replace(event, slice="floor")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (alarm(kind="cleared"), "false_success of atlas 2.4.0 (prod): back to usual"),
        (alarm(kind="cleared", reason="silent"), "no more traffic, the page is over"),
        (alarm(kind="cleared", reason="retired"), ": no longer watched, the page is over"),
        (alarm(kind="cleared", reason="rebaselined"), "what is usual is learned anew, the page is"),
        (
            alarm(kind="rebaselined", version=""),
            "false_success of atlas (prod): told to learn anew",
        ),
        (alarm(kind="armed", version=""), "false_success of atlas (prod): the usual failure rate"),
        (alarm(change=None), "fails more often than the usual 1.8 %"),
        (floored(alarm(version="")), "of atlas (prod): 41 % of 118 conversations failed since"),
        (floored(alarm(change=None)), "usual 1.8 %, acceptable up to 3.0 %"),
        (alarm(environment=""), "false_success of atlas 2.4.0: 41 %"),
    ],
)
def test_every_kind_has_its_headline(event: Any, text: str) -> None:
    """What ended, what was learned and what has no change point can be said as well."""
    assert text in headline(event)


def test_a_name_is_never_markup() -> None:
    """Names that agents give cannot link, call for a team, or turn the text around."""
    name = "<!channel> @here <http://evil|x>\u202e\x00\n" + "a" * 500
    text = headline(alarm(agent=name, version=name))
    assert not set("<>\n\x00\u202e") & set(text)
    assert "@here" not in text
    assert len(text) < 400
    assert named("plain-1.2") == "plain-1.2"


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0 %"), (0.0025, "0.25 %"), (0.018, "1.8 %"), (0.41, "41 %"), (1, "100 %")],
)
def test_a_share_has_the_digits_that_matter(rate: float, text: str) -> None:
    """Small rates are not rounded to nothing, large ones carry no noise."""
    assert share(rate) == text


def test_links_survive_any_id() -> None:
    """An id or a name with slashes, quotes or line breaks stays one part of a URL."""
    assert (
        conversation_url("http://c", "a/b?c\n#é") == "http://c/conversations/a%2Fb%3Fc%0A%23%C3%A9"
    )
    detail = alarm(agent="a&b=c", environment="x y").detail
    assert alarm_url("http://c", detail) == "http://c/?agent=a%26b%3Dc&environment=x+y"


def test_the_document_holds_every_fact(store: ClickHouseStore) -> None:
    """What is posted carries the numbers, the interval, the failures with links and the text."""
    put(store, episode('c"1', "fail", age_min=12, reason="\x01\u2028</script>"))
    sent = msgspec.json.encode(notice_of(gather(alarm(), store.query), console="http://console"))
    body = msgspec.json.decode(sent)
    assert body["kind"] == "fired"
    assert body["severity"] == "page"
    assert body["slice"] == "version=2.4.0"
    assert body["at"] == "2033-05-18T03:32:20.000Z"
    assert body["change"] == {
        "low": "2033-05-18T03:13:20.000Z",
        "at": rfc3339(CHANGE.at_ns),
        "high": "2033-05-18T03:28:20.000Z",
    }
    assert body["rate_since"] == pytest.approx(0.41)
    assert body["observations_since"] == 118
    assert body["failing_conversations"] == [
        {
            "conversation_id": 'c"1',
            "episode_id": 'c"1/1',
            "reason": "\x01\u2028</script> [0]",
            "url": "http://console/conversations/c%221%2F1",
        }
    ]
    assert body["versions_since"] == [
        {"agent_version": "2.4.0", "first_seen": "2033-05-18T03:21:20.000Z"}
    ]
    assert body["text"].endswith(body["url"])


def test_the_document_of_an_end_has_no_change() -> None:
    """The end of an alarm is spelled in the same shape."""
    event = alarm(kind="cleared")
    body = msgspec.to_builtins(notice_of(gather(event, lambda *_: []), console="http://c"))
    assert body["kind"] == "cleared"
    assert body["change"] is None
    assert body["failing_conversations"] == ()


def test_the_document_is_the_one_described() -> None:
    """The example in the documentation is a document that could be posted."""
    docs = Path(__file__).parent.parent.parent / "docs" / "alerts.md"
    example = re.search(r"```json\n(.+?)\n```", docs.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    notice = msgspec.json.decode(example[1], type=Notice)
    assert msgspec.json.decode(msgspec.json.encode(notice)) == msgspec.json.decode(example[1])

"""What is learned of a conversation later joins it, whenever it comes and whatever happens."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector.config import Config
from collector.hindsight import About, Label, Outcome
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import logs, record, said, span, trace_id, traces
from tests.e2e.served import ROOT, Served, eventually

ADDRESS = "mia.planted@example.com"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Give a fresh instance."""
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        yield instance


def talk(id: str, *, trace: str = "t", named: bool = True) -> bytes:
    """Write a conversation of one call."""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small-1",
        "gen_ai.input.messages": [said("user", f"Refund order {id}, please.")],
        "gen_ai.output.messages": [said("assistant", "Your refund is on its way.")],
    }
    if named:
        attributes["gen_ai.conversation.id"] = id
    return traces(span("chat", trace=trace, **attributes))


def outcome(id: str, *, name: str = "refund_issued", value: Any = True) -> Outcome:
    """Tell an outcome."""
    return Outcome(about=About(conversation_id=id), name=name, value=value)


def label(id: str, *, author: str = "ana", verdict: Any = "fail") -> Label:
    """Tell a label."""
    return Label(
        about=About(conversation_id=id), scorer="false_success", verdict=verdict, author=author
    )


def told_event(name: str, value: Any, *, trace: str = "", **attributes: Any) -> Any:
    """Write an outcome as a log record."""
    return record(
        "outrider.outcome",
        trace=trace or "elsewhere",
        under="chat" if trace else "",
        outrider__outcome__name=name,
        outrider__outcome__value=value,
        **attributes,
    )


def joined(instance: Instance) -> dict[str, tuple[set[str], set[str]]]:
    """Return each conversation's outcomes and the authors of its labels."""
    return {
        line["conversation_id"]: (
            {told["name"] for told in line["outcomes"]},
            {told["author"] for told in line["labels"]},
        )
        for line in instance.export("conversations")
    }


def test_before_while_after_and_long_after(instance: Instance) -> None:
    """An outcome joins its conversation whenever it comes: even before, even days later."""
    instance.note(outcome("c", name="before"), outcome("other", name="of_nobody"))
    instance.note(label("c", author="early"))
    instance.send([talk("c")])
    instance.settle()
    instance.note(outcome("c", name="while"))
    instance.end("c")
    instance.later(5)
    assert joined(instance) == {"c": ({"before", "while"}, {"early"})}
    instance.note(outcome("c", name="after"))
    instance.later(3 * 86_400)
    instance.note(outcome("c", name="long_after"))
    instance.note(label("c", author="late"))
    instance.settle()
    assert joined(instance) == {
        "c": ({"before", "while", "after", "long_after"}, {"early", "late"}),
    }
    orphans = [o["name"] for o in instance.export("outcomes") if o["conversation_id"] == "other"]
    assert orphans == ["of_nobody"]
    # Nothing of it holds on to the journal, or keeps a conversation from being over.
    assert instance.path.journal.pending == 0
    assert instance.total("episodes_total") == 1


def test_the_last_word_holds(instance: Instance) -> None:
    """What was said, taken back and said again holds, in one request and over several."""
    instance.note(*(outcome("c", value=value) for value in (True, False, True)))
    for verdict in ("fail", "pass", "fail"):
        instance.note(label("c", verdict=verdict))
        instance.later(1)
    assert [told["value"] for told in instance.export("outcomes")] == [True]
    assert [told["verdict"] for told in instance.export("labels")] == ["fail"]


def test_a_crash_before_it_is_stored(tmp_path: Path) -> None:
    """What was journalled and not processed, or processed and not stored, comes out once."""
    clock = Clock()
    first = Instance(tmp_path / "data", clock=clock)
    first.note(outcome("c", name="processed"))
    first.settle()
    first.note(outcome("c", name="journalled"))
    first.note(label("c"))
    first.abandon()
    with Instance(tmp_path / "data", clock=clock) as second:
        second.note(outcome("c", name="processed"), outcome("c", name="processed"))
        second.settle()
        assert {o["name"] for o in second.export("outcomes")} == {"processed", "journalled"}
        assert len(second.export("outcomes")) == 2
        assert len(second.export("labels")) == 1
        for name in ("processed", "journalled"):
            assert second.total("outcomes_total", outcome=name) == 1
        assert second.total("labels_total") == 1
        assert second.total("stage_items_total", stage="outcomes", result="duplicate") == 2


def test_events(instance: Instance) -> None:
    """Log events join by the conversation's id or by the trace, and open no conversation."""
    early = told_event("early", value=True, trace="t")
    instance.send([logs(early)], signal="logs")
    instance.send([talk("c"), talk("d", trace="u", named=False)])
    instance.settle()
    label_event = record(
        "gen_ai.evaluation.result",
        trace="u",
        under="chat",
        gen_ai__evaluation__name="tone",
        gen_ai__evaluation__score__label="pass",
        outrider__label__author="ana",
    )
    named = told_event("named", 4.5, gen_ai__conversation__id="c")
    useless = told_event("", value=True, trace="t")
    instance.send([logs(label_event, named, useless, early)], signal="logs")
    # Our own verdicts, sent back by a collector, are nobody's labels.
    instance.send([logs(label_event, service="outrider")], signal="logs")
    instance.end("c")
    instance.later(60)
    assert joined(instance) == {
        "c": ({"early", "named"}, set()),
        trace_id("u").hex(): (set(), {"ana"}),
    }
    for result, amount in (("noted", 3), ("duplicate", 1), ("unusable", 1)):
        assert instance.total("stage_items_total", stage="assemble_logs", result=result) == amount
    assert instance.total("log_records_dropped_total", reason="unusable") == 1
    assert instance.total("episodes_total") == 2


def test_an_event_beside_an_open_conversation_counts_once_after_a_crash(tmp_path: Path) -> None:
    """A request that stays in the journal for its messages tells its outcomes once."""
    clock = Clock()
    message = record(
        "gen_ai.user.message", trace="t", under="chat", gen_ai__conversation__id="c", content="Hi"
    )
    first = Instance(tmp_path / "data", clock=clock)
    first.send([talk("c")])
    first.send([logs(message, told_event("n", value=True, trace="t"))], signal="logs")
    first.settle()
    first.abandon()
    with Instance(tmp_path / "data", clock=clock) as second:
        second.settle()
        second.end("c")
        second.later(5)
        assert joined(second) == {"c": ({"n"}, set())}
        assert second.total("outcomes_total") == 1
        assert second.total("stage_items_total", result="noted") == 1
        assert second.total("stage_items_total", result="duplicate") == 0


def test_no_secret_reaches_the_store(tmp_path: Path) -> None:
    """Words are redacted like everything, and still join the conversation with the telling id."""
    with Instance(tmp_path / "data", config=Config(), clock=Clock()) as instance:
        about = About(conversation_id=ADDRESS, tenant=ADDRESS)
        words: dict[str, Any] = {"source": f"desk {ADDRESS}", "id": ADDRESS}
        instance.note(Outcome(about=about, name=ADDRESS, value=ADDRESS, tool=ADDRESS, **words))
        instance.note(
            Label(
                about=about, scorer=ADDRESS, category=ADDRESS, author=ADDRESS, comment=ADDRESS,
                **words,
            )
        )  # fmt: skip
        instance.note(outcome(ADDRESS))
        instance.send([talk(ADDRESS)])
        instance.end(ADDRESS)
        instance.later(5)
        [line] = instance.export("conversations")
        assert "refund_issued" in {told["name"] for told in line["outcomes"]}
        for sql in ("SELECT * FROM outcomes", "SELECT * FROM labels"):
            rows = instance.path.store.query(sql)
            assert rows
            assert ADDRESS not in repr(rows)
        assert ADDRESS not in repr(instance.path.journal.totals())


# --- a process of its own


def post(served: Served, path: str, words: Any) -> httpx.Response:
    """Tell a running process."""
    return served.client.post(f"{served.console}{path}", json=words)


@pytest.mark.slow
def test_over_the_wire(tmp_path: Path) -> None:
    """A running process takes outcomes and labels, exports them, shows them and counts them."""
    with Served(tmp_path / "data", ASSEMBLE__END_GRACE="100ms") as served:
        told = {"conversation_id": "c", "name": "refund_issued", "value": False, "source": "ledger"}
        answer = post(served, "/v1/outcomes", [told, {**told, "value": None}, told])
        assert answer.status_code == 202
        assert answer.json()["accepted"] == 2
        assert [fault["index"] for fault in answer.json()["rejected"]] == [1]
        answer = post(
            served,
            "/v1/labels",
            {"conversation_id": "c", "scorer": "false_success", "verdict": "fail", "author": "ana"},
        )
        assert (answer.status_code, answer.json()) == (202, {"accepted": 1})
        served.client.post(
            f"{served.receive}/v1/traces",
            content=talk("c"),
            headers={"content-type": "application/x-protobuf"},
        ).raise_for_status()
        served.client.post(f"{served.console}/v1/conversations/c/end").raise_for_status()
        served.settled(1)
        [line] = served.export("conversations")
        assert [(o["name"], o["value"]) for o in line["outcomes"]] == [("refund_issued", False)]
        assert [(o["scorer"], o["verdict"]) for o in line["labels"]] == [("false_success", "fail")]
        assert len(served.export("outcomes")) == len(served.export("labels")) == 1
        page = served.client.get(f"{served.console}/conversations/c", follow_redirects=True)
        assert "refund_issued" in page.text
        assert served.value("outcomes_total", outcome="refund_issued", value="false") == 1
        assert served.value("labels_total", scorer="false_success", verdict="fail") == 1


@pytest.mark.slow
def test_the_documented_examples(tmp_path: Path) -> None:
    """What ``docs/outcomes.md`` says to send arrives as it says."""
    text = (ROOT / "docs" / "outcomes.md").read_text(encoding="utf-8")
    posts = re.findall(r"8090(/v1/\w+) \\\n  -d '(.+)'", text)
    [program] = re.findall(r"```python\n(.+?)```", text, re.DOTALL)
    with Served(tmp_path / "data") as served:
        assert [path for path, _ in posts] == ["/v1/outcomes", "/v1/labels"]
        for path, body in posts:
            answer = served.client.post(f"{served.console}{path}", content=body)
            assert (answer.status_code, answer.json()) == (202, {"accepted": 1})
        program = program.replace("http://127.0.0.1:4318", served.receive)
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
        eventually(lambda: served.value("outcomes_total") == 2, "both outcomes are counted")
        eventually(lambda: served.series().get(("outbox_rows", ())) == 0, "all of it is stored")
        # The ledger said the same thing twice, by post and by event; its newest word holds.
        [line] = served.export("outcomes")
        assert (line["conversation_id"], line["name"]) == ("bike-4", "refund_issued")
        assert (line["value"], line["source"]) == (False, "ledger")
        assert line["trace_id"] == ""
        [line] = served.export("labels")
        assert (line["scorer"], line["verdict"], line["author"]) == ("false_success", "fail", "ana")


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path: Path, endpoint: Endpoint) -> None:
    """Killed between the answer and the store again and again, each word is there once."""
    draw = random.Random(4)  # noqa: S311 - not a secret
    told: set[str] = set()
    with Served(
        tmp_path / "data", STORE__URL=endpoint.url, STORE__DATABASE="hindsight_kill"
    ) as served:
        for round_ in range(4):
            # The store takes nothing, so that whatever is acknowledged is in the journal alone.
            endpoint.fault("hang", match="INSERT INTO")
            for number in range(draw.randrange(3, 12)):
                name = f"n{round_}_{number}"
                word = {"conversation_id": f"c{number}", "name": name, "value": number}
                assert post(served, "/v1/outcomes", [word, word]).status_code == 202
                labelled = {"conversation_id": name, "scorer": "tone", "verdict": "pass"}
                assert post(served, "/v1/labels", labelled).status_code == 202
                told.add(name)
            served.kill()
            endpoint.fault("")
            served.start()
        eventually(
            lambda: (
                served.series().get(("outbox_rows", ())) == 0
                and served.value("labels_total") == len(told)
            ),
            "everything is stored",
        )
        outcomes, labels = served.export("outcomes"), served.export("labels")
        assert sorted(line["name"] for line in outcomes) == sorted(told)
        assert sorted(line["conversation_id"] for line in labels) == sorted(told)
        assert served.value("outcomes_total") == served.value("labels_total") == len(told)

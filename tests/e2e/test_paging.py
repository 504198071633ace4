"""A firing detector reaches a person, through Prometheus and Alertmanager or without them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.rule import rule_file
from alerts.rules import Settings, groups
from collector.stores.clickhouse import ClickHouseStore
from collector.totals import SeriesKey, series
from tests.alerts.alarms import NOW_NS, SECOND, alarm, rows
from tests.alerts.receiver import Receiver
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.monitoring import alertmanager, exported, prometheus
from tests.e2e.served import Served, eventually

ROOT = Path(__file__).parent.parent.parent
SHIPPED = ROOT / "deploy" / "alertmanager" / "alertmanager.yml"
STREAM = {
    "stream": "atlas/prod/false_success@1",
    "agent": "atlas",
    "agent_version": "2.4.0",
    "environment": "prod",
    "scorer": "false_success",
    "slice": "version=2.4.0",
}


def firing(severity: str, **more: str) -> SeriesKey:
    """Return the key of the gauge."""
    labels = {**STREAM, **more, "severity": severity, "attribution": "system"}
    return series("detector_firing", **labels)


def hurried_rules() -> dict[str, Any]:
    """Return the rules without the minutes for which an alert outlasts its cause."""
    rules: dict[str, Any] = yaml.safe_load(rule_file(groups(Settings()), runbooks="R"))
    for group in rules["groups"]:
        for rule in group["rules"]:
            rule.pop("keep_firing_for", None)
    return rules


def hurried_routes(receiver: Receiver) -> dict[str, Any]:
    """Return the shipped configuration with our receiver, and seconds for minutes."""
    config: dict[str, Any] = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    config["route"].update(group_wait="1s", group_interval="1s")
    for target in config["receivers"]:
        for hook in target["webhook_configs"]:
            hook["url"] = f"{receiver.url}/{hook['url'].rpartition('/')[2]}"
    return config


def alerts(receiver: Receiver, path: str, status: str) -> list[dict[str, Any]]:
    """Return the alerts of a status that arrived under a path."""
    return [
        alert
        for post in list(receiver.posts)
        if post.path == path
        for alert in post.body["alerts"]
        if alert["status"] == status
    ]


@pytest.mark.slow
def test_a_page_and_its_end_go_through_alertmanager(tmp_path: Path) -> None:
    """The gauge that rises pages once, with its labels and without a ticket beside it, and its fall ends that."""
    other = firing("ticket", agent="ledger", stream="ledger/prod/false_success@1")
    gauges = {firing("page"): 0.0, firing("ticket"): 0.0, other: 0.0}
    with (
        Receiver() as receiver,
        exported(gauges) as target,
        alertmanager(tmp_path / "am", hurried_routes(receiver)) as manager,
        prometheus(tmp_path / "prom", hurried_rules(), target=target, alertmanager=manager),
    ):
        gauges.update(dict.fromkeys(gauges, 1.0))
        eventually(lambda: bool(alerts(receiver, "/page", "firing")), "the page arrives")
        eventually(lambda: bool(alerts(receiver, "/ticket", "firing")), "the ticket arrives")
        page = alerts(receiver, "/page", "firing")[0]
        assert (
            page["labels"].items()
            >= {
                **STREAM,
                "alertname": "OutriderQualityDropped",
                "severity": "page",
                "attribution": "system",
            }.items()
        )
        assert not {"instance", "pod"} & page["labels"].keys()
        assert page["annotations"]["summary"].startswith("false_success of atlas 2.4.0 (prod)")
        gauges.update(dict.fromkeys(gauges, 0.0))
        eventually(lambda: bool(alerts(receiver, "/page", "resolved")), "the end arrives")
        eventually(lambda: bool(alerts(receiver, "/ticket", "resolved")), "the ticket's end too")
    # Whoever is paged gets no ticket about the same stream.
    assert {a["labels"]["agent"] for a in alerts(receiver, "/ticket", "firing")} == {"ledger"}
    assert {a["labels"]["agent"] for a in alerts(receiver, "/page", "firing")} == {"atlas"}


@pytest.mark.slow
def test_a_page_and_its_end_go_to_the_webhook(tmp_path: Path, endpoint: Endpoint) -> None:
    """Without Alertmanager an instance posts what its store holds, once, over a kill; it ends at once."""
    store = ClickHouseStore.server(endpoint.url, database="webhook", timeout_s=20)
    with (
        Receiver("hang", 503) as receiver,
        Served(
            tmp_path / "data",
            STORE__URL=endpoint.url,
            STORE__DATABASE="webhook",
            ALERTS__WEBHOOK=f"{receiver.url}/5ecret",
            ALERTS__MAX_AGE="36500d",
        ) as served,
    ):
        eventually(store.has_tables, "the tables are there")
        store.insert(rows(alarm("a", age_s=(NOW_NS - 10**18) / SECOND)))
        eventually(lambda: len(receiver.posts) == 1, "the alarm is posted")
        served.kill()  # in the middle of the post
        served.start()
        eventually(lambda: len(receiver.posts) >= 3, "it is posted again until it is taken")
        eventually(
            lambda: served.value("notifications_total", result="delivered") == 1, "it is counted"
        )
        store.insert(rows(alarm("c", kind="cleared", age_s=(NOW_NS - 10**18) / SECOND - 60)))
        eventually(lambda: len(receiver.posts) == 4, "the end is posted")
        assert [body["event_id"][0] for body in receiver.bodies] == ["a", "a", "a", "c"]
        assert receiver.bodies[0]["url"] == f"{served.console}/?agent=atlas&environment=prod"
        assert served.value("notifications_pending") == 0
        assert served.ready() == (200, [])
        served.signal(signal.SIGTERM)
        assert served.ended() == 0
    assert "5ecret" not in served.errors.read_text()
    store.close()

"""While the store is away or the disk space is used up, nothing acknowledged is lost and nothing stored twice."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.clickhouse_endpoint import Endpoint
from tests.e2e.checks import check_counts, check_exports
from tests.e2e.served import Scraping, Sending, Served, eventually, free_ports, summed
from tests.e2e.traffic import synthetic
from tests.faults.books import check_balance, check_once, planned, undisturbed


def down(served: Served) -> bool:
    """Say whether /readyz tells that the store is away and where the rows are."""
    status, problems = served.ready()
    return status == 503 and any("they stay in the journal" in problem for problem in problems)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"mode": "refuse"}, id="refuse"),
        pytest.param({"mode": "error", "code": 252}, id="too-many-parts", marks=pytest.mark.slow),
        pytest.param({"mode": "error", "status": 502}, id="bad-gateway", marks=pytest.mark.slow),
    ],
)
def test_scoring_goes_on_while_the_store_is_down(
    tmp_path: Path, endpoint: Endpoint, fault: dict[str, object]
) -> None:
    """Every verdict is reached and counted; a crash meanwhile and the return lose and double nothing."""
    database = f"down_{fault.get('code', fault['mode'])}"
    conversations = synthetic(40, seed=401)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    endpoint.fault(**fault)  # type: ignore[arg-type]  # the parameters above
    with Served(tmp_path / "data", STORE__URL=endpoint.url, STORE__DATABASE=database) as served:
        scraping, sending = Scraping(served), Sending(served, requests)
        scraping.start()
        sending.start()
        sending.finish()
        eventually(lambda: served.value("episodes_total") == len(conversations), "all is decided")
        eventually(lambda: down(served), "the store's absence shows")
        held = served.series()
        assert summed(held, "outbox_rows") > 0
        assert summed(held, "journal_requests") == len(requests)
        served.kill()
        served.start()
        eventually(lambda: down(served), "the store's absence shows again")
        series = served.series()
        check_counts(lambda name: summed(series, name), conversations)
        assert summed(series, "journal_requests") == len(requests)
        endpoint.fault("")
        check_once(served, conversations, want)
        scraping.finish()


def test_a_store_that_hangs_holds_nothing_up(tmp_path: Path) -> None:
    """The inserts under way are made again when the server is back; scoring never waited."""
    conversations = synthetic(20, seed=402)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    server = Endpoint(tmp_path / "engine")
    server.fault("hang")
    with Served(tmp_path / "data", STORE__URL=server.url) as served:
        sending = Sending(served, requests)
        sending.start()
        sending.finish()
        eventually(lambda: served.value("episodes_total") == len(conversations), "all is decided")
        assert served.value("outbox_rows") > 0
        server.kill()
        eventually(lambda: down(served), "the store's absence shows")
        with Endpoint(server.directory, port=server.port):
            check_once(served, conversations, want)


def test_a_full_journal_makes_senders_wait(tmp_path: Path, endpoint: Endpoint) -> None:
    """Without room a request gets 503 and Retry-After; it goes in once the store has taken the rest."""
    conversations = synthetic(40, seed=403)
    requests = planned(conversations)
    size = sum(len(request.body) for request in requests)
    endpoint.fault("refuse")
    settings = {
        "STORE__URL": endpoint.url,
        "STORE__DATABASE": "full",
        "JOURNAL__MAX_SIZE": str(size // 2),
        "ASSEMBLE__LATE_WINDOW": "0s",
    }
    with Served(tmp_path / "data", **settings) as served:
        scraping, sending = Scraping(served), Sending(served, requests)
        scraping.start()
        sending.start()
        eventually(lambda: len(sending.pauses) > 1, "the sender is told to wait")
        assert min(sending.pauses) >= 1
        answer = served.client.post(
            f"{served.receive}/v1/traces",
            content=requests[sending.acknowledged].body,
            headers={"content-type": "application/x-protobuf"},
        )
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        endpoint.fault("")
        sending.finish()
        series = served.settled(len(conversations))
        assert summed(series, "requests_rejected_total", reason="journal_full") > 0
        check_exports(served.export, conversations)
        check_counts(lambda name: summed(series, name), conversations)
        eventually(lambda: served.value("journal_requests") == 0, "the journal is empty")
        served.signal()
        assert served.ended() == 0
        check_balance(served.data_dir)
        scraping.finish()


def test_a_full_disk_shows_at_once(tmp_path: Path, endpoint: Endpoint) -> None:
    """Without room on the disk senders are told to wait, and readiness and metrics say so though no total can be written."""
    conversations = synthetic(4, seed=405)
    requests = planned(conversations)
    half = len(requests) // 2
    with Served(tmp_path / "data", STORE__URL=endpoint.url, STORE__DATABASE="disk") as served:
        before = Sending(served, requests[:half])
        before.start()
        before.finish()
        eventually(lambda: served.value("spans_in_flight") == 0, "all is processed")
        assert served.value("journal_writable") == 1
        assert served.process is not None
        unlimited = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (0, -1))
        after = Sending(served, requests[half:])
        after.start()
        eventually(lambda: len(after.pauses) > 1, "the sender is told to wait")
        assert served.value("journal_writable") == 0
        status, problems = served.ready()
        assert status == 503
        assert any("the journal cannot be written" in problem for problem in problems)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, unlimited)
        after.finish()
        series = served.settled(len(conversations))
        assert summed(series, "journal_writable") == 1
        assert summed(series, "requests_rejected_total", reason="unavailable") > 0
        assert served.ready() == (200, [])
        check_exports(served.export, conversations)


def test_a_second_process_is_refused(tmp_path: Path, endpoint: Endpoint) -> None:
    """A data directory or a port in use: one line that says so and what to do, exit code 2."""
    with Served(tmp_path / "data", STORE__URL=endpoint.url, STORE__DATABASE="two") as served:
        address = served.receive.removeprefix("http://")
        second = Served(tmp_path / "data")
        assert f"{tmp_path / 'data'}: is in use by process" in second.refusal()
        third = Served(tmp_path / "other", RECEIVE__HTTP=address)
        assert f"receive.http: cannot listen on {address}" in third.refusal()
        assert served.ready() == (200, [])


def test_receiving_does_not_wait_for_the_store(tmp_path: Path) -> None:
    """With nobody at the store's address a process receives, decides and says what is wrong."""
    (port,) = free_ports(1)
    conversations = synthetic(5, seed=404)
    with Served(tmp_path / "data", STORE__URL=f"http://127.0.0.1:{port}") as served:
        sending = Sending(served, planned(conversations))
        sending.start()
        sending.finish()
        eventually(lambda: served.value("episodes_total") == 5, "all is decided")
        eventually(lambda: down(served), "the store's absence shows")
        served.signal()
        assert served.ended() == 0

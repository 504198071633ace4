"""`outrider alerts replay` says what would have fired."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from alerts.detectors.detection import event_row
from alerts.detectors.detector import Detector
from alerts.detectors.observed import Observed
from alerts.detectors.rebaselining import Whose
from alerts.stream_view import AlertEvent
from collector.cli import main
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.detectors.traffic import HOUR_NS, START_NS
from tests.alerts.detectors.watch import FEW, row_of, story
from tests.collector.commands.receiver import Answer, Received, serving


@pytest.fixture(autouse=True)
def _small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn two hours, as the story is short, and find no configuration by accident."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTRIDER__DETECT__REFERENCE_WINDOW", "2h")
    monkeypatch.setenv("OUTRIDER__DETECT__REFERENCE_MIN", "200")
    monkeypatch.setenv("OUTRIDER__DETECT__FALSE_ALARM_BUDGET", "10d")


@pytest.fixture(scope="module")
def seen() -> list[Observed]:
    """Tell three healthy hours and half an hour of a bad version."""
    return story()


@pytest.fixture(scope="module")
def happened(seen: list[Observed]) -> list[AlertEvent]:
    """Fold them as a live process would."""
    detector = Detector(FEW)
    return [event for one in seen for event in detector.fold(one)]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory, seen: list[Observed]) -> Path:
    """Store them."""
    directory: Path = tmp_path_factory.mktemp("replay")
    store = ClickHouseStore.embedded(directory / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    store.insert({"observations": [row_of(one) for one in seen]})
    store.close()
    return directory


def replayed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """Run the command and return its events."""
    assert main(["alerts", "replay", "--json", "--scorers", "8", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def iso(hours: float) -> str:
    """Write a moment of the story."""
    return datetime.fromtimestamp((START_NS + hours * HOUR_NS) / 1e9, tz=UTC).isoformat()


def test_it_tells_what_happened(
    data_dir: Path, happened: list[AlertEvent], capsys: pytest.CaptureFixture[str]
) -> None:
    """With the settings of then the stored observations lead to the events of then."""
    found = replayed(capsys, "--data-dir", str(data_dir))
    assert found == msgspec.to_builtins(happened)
    assert [e["kind"] for e in found] == ["armed", *["fired"] * 4]


def test_other_settings_tell_what_would_have(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a tolerance of the whole drop nothing fires, and a longer budget has a higher threshold."""
    tolerant = replayed(capsys, "--data-dir", str(data_dir), "--tolerance", "60%")
    assert [e["kind"] for e in tolerant] == ["armed"]
    thresholds = [
        replayed(capsys, "--data-dir", str(data_dir), "--budget", budget)[0]["detail"]["threshold"]
        for budget in ("10d", "30d")
    ]
    assert thresholds[1] == pytest.approx(3 * thresholds[0])


def test_the_time_asked_for_is_shown(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Events before it are left out though they are folded, and what came after is not."""
    after = replayed(capsys, "--data-dir", str(data_dir), "--from", iso(2.5))
    assert {e["kind"] for e in after} == {"fired"}
    before = replayed(capsys, "--data-dir", str(data_dir), "--to", iso(3.0))
    assert [e["kind"] for e in before] == ["armed"]


def test_people_get_a_line_for_each(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without `--json` events are lines, and the sum is on standard error."""
    assert main(["alerts", "replay", "--data-dir", str(data_dir), "--scorers", "8"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 5
    assert "fired page" in out
    assert "kettle/production/false_success@1  version=2  " in out
    assert " % of " in out
    assert err.endswith(" observations folded: 1 armed, 2 fired page, 2 fired ticket\n")


def test_names_move_no_cursor(seen: list[Observed], capsys: pytest.CaptureFixture[str]) -> None:
    """What an agent calls itself is shown without the characters that a terminal obeys."""
    renamed = [msgspec.structs.replace(one, agent="ket\x1b[2Jtle") for one in seen]
    rows = b"\n".join(msgspec.json.encode(one) for one in renamed)
    bodies = {
        "/v1/export/observations": rows,
        "/v1/alarms?limit=500": b'{"streams":[],"events":[]}',
    }
    with serving(lambda request: (200, bodies[request.path])) as url:
        assert main(["alerts", "replay", "--url", url, "--scorers", "8"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith(f"{len(seen):,} observations folded")
    assert "  ket [2Jtle/production/" in out
    assert out.replace("\n", "").isprintable()


def test_a_running_instance_is_asked(
    seen: list[Observed], capsys: pytest.CaptureFixture[str]
) -> None:
    """Over HTTP too, in pieces and from several producers, with references learned anew."""
    detector = Detector(FEW)
    happened = [event for one in seen[:-20] for event in detector.fold(one)]
    happened += detector.rebaseline(
        Whose(agent="kettle", scorer="false_success"), at_ns=seen[-20].observed_ns - 1
    )
    happened += [event for one in seen[-20:] for event in detector.fold(one)]
    other = msgspec.structs.replace(seen[0], producer="there", scorer="looping", sequence=1)
    rows = b"".join(msgspec.json.encode(one) + b"\n" for one in (*seen, other))

    def answer(request: Received) -> Answer:
        assert request.token == "Bearer abc"  # noqa: S105 - an invented one
        if request.path == "/v1/export/observations":
            return 200, rows.rstrip(b"\n")
        assert request.path == "/v1/alarms?limit=500"
        return 200, msgspec.json.encode({"streams": (), "events": happened[::-1]})

    with serving(answer) as url:
        found = replayed(capsys, "--url", url, "--token", "abc")
    assert found == msgspec.to_builtins(happened)
    assert "rebaselined" in {e["kind"] for e in found}


def test_orders_after_the_time_asked_for_are_not_repeated(
    seen: list[Observed], capsys: pytest.CaptureFixture[str]
) -> None:
    """And where the API may have left out older ones, that is said."""
    detector = Detector(FEW)
    for one in seen:
        detector.fold(one)
    whose = Whose(agent="kettle", scorer="false_success")
    (*_, reset) = detector.rebaseline(whose, at_ns=START_NS + 4 * HOUR_NS)
    bodies = {
        "/v1/export/observations": b"".join(msgspec.json.encode(one) + b"\n" for one in seen),
        "/v1/alarms?limit=500": msgspec.json.encode({"streams": (), "events": [reset] * 500}),
    }
    with serving(lambda request: (200, bodies[request.path])) as url:
        assert main(["alerts", "replay", "--url", url, "--scorers", "8", "--to", iso(4)]) == 0
    out, err = capsys.readouterr()
    assert "rebaselined" not in out
    assert "warning: only the last 500 events are known here" in err


def test_what_is_no_console_is_told_from_one(capsys: pytest.CaptureFixture[str]) -> None:
    """An answer that is none of Outrider's is one line."""
    with serving(lambda _: (200, b"<html>")) as url:
        assert main(["alerts", "replay", "--url", url]) == 1
    error = capsys.readouterr().err
    assert "/v1/alarms?limit=500: this is no console of Outrider" in error
    assert error.count("\n") == 1


def test_a_stopped_instance_knows_its_orders(
    tmp_path: Path, seen: list[Observed], capsys: pytest.CaptureFixture[str]
) -> None:
    """References that were learned anew are read from the store, and an empty store has no event."""
    store = ClickHouseStore.embedded(tmp_path / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    store.close()
    assert replayed(capsys, "--data-dir", str(tmp_path)) == []
    detector = Detector(FEW)
    for one in seen:
        detector.fold(one)
    reset = detector.rebaseline(
        Whose(agent="kettle", scorer="false_success"), at_ns=seen[-1].observed_ns + 1
    )
    later = msgspec.structs.replace(seen[-1], sequence=seen[-1].sequence + 1)
    later = msgspec.structs.replace(later, observed_ns=later.observed_ns + 2)
    store = ClickHouseStore.embedded(tmp_path / "store")
    store.insert({"observations": [row_of(one) for one in (*seen, later)]})
    store.insert({"alert_events": [event_row(event) for event in reset]})
    store.close()
    found = replayed(capsys, "--data-dir", str(tmp_path))
    assert [e["event_id"] for e in found[-len(reset) :]] == [e.event_id for e in reset]


def test_without_a_store_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A data directory that holds nothing is one line."""
    assert main(["alerts", "replay", "--data-dir", str(tmp_path / "none")]) == 2
    assert "holds no store" in capsys.readouterr().err


def test_a_moment_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The error says how a moment is written."""
    with pytest.raises(SystemExit):
        main(["alerts", "replay", "--from", "yesterday"])
    assert "2026-03-01T10:00" in capsys.readouterr().err

"""An order to learn anew reaches the detectors of the process, and a replay repeats it."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from alerts.detectors.detector import Detector
from alerts.detectors.history import read_resets, replayed
from alerts.detectors.observed import Observed
from alerts.detectors.settings import settings_of
from collector.config import Config
from collector.stores.export import documents
from tests.e2e.instance import Clock, Instance
from tests.e2e.traffic import as_requests, synthetic


def test_what_was_learned_is_forgotten_and_replayed(tmp_path: Path) -> None:
    """The streams that were named begin again, as the store says and a replay of it shows."""
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        instance.send(as_requests(synthetic(20, seed=5), clock=instance.clock))
        instance.later(5)
        while instance.path.shipping.unstored:
            instance.step()
        stop = threading.Event()
        detection = threading.Thread(target=instance.path.background[0], args=(stop,))
        detection.start()
        try:
            while not (learning := instance.path.alarms()):
                assert detection.is_alive()
            one = learning[0]
            told = instance.path.relearn(one.agent, one.scorer, one.environment)
            assert told.result(60) == (one.stream,)
            assert instance.path.relearn("nobody", one.scorer, None).result(60) == ()
        finally:
            stop.set()
            detection.join()
        now = instance.path.alarms() or ()
        assert [view.learned for view in now if view.stream == one.stream] == [0]
        assert sum(view.learned for view in now) > 0
        store = instance.path.store
        rows = [msgspec.json.decode(row, type=Observed) for row in documents(store, "observations")]
        again = Detector(settings_of(Config().detect, scorers=12))
        events = list(replayed(again, rows, read_resets(store.query)))
        assert [event.kind for event in events] == ["rebaselined"]
        assert msgspec.json.encode(again.views()) == msgspec.json.encode(now)

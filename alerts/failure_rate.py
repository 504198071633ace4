"""Say what share of recent episodes failed, corrections included, with its uncertainty.

The counters keep each first verdict; this reads the store, where revisions replace them.
The unit is the episode, as it is for the alarms: an episode fails under a scorer if any of its
targets does, because verdicts on the turns or calls of one episode are not independent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from alerts.labels import Labels
from alerts.metrics import WHO
from alerts.wilson import wilson
from collector.errors import OutriderError
from collector.totals import SeriesKey, series

_LOG = logging.getLogger(__name__)

WINDOWS = {"1h": 3_600.0, "24h": 86_400.0}
"""Windows by their label, in seconds."""

KEEP_S = 900.0
"""How long the last good values are shown while the store does not answer."""

# The newest revision of each target's verdict; read from the table and not from its view of
# current verdicts, so that only the window's rows are touched.
_SQL = """
SELECT agent, agent_version, environment, variant, scorer,
       countIf(failed) AS failing, count() AS episodes
FROM (
  SELECT agent, agent_version, environment, variant, scorer, conversation_id, episode,
         max(verdict = 'fail') AS failed
  FROM (
    SELECT agent, agent_version, environment, variant, scorer, conversation_id, episode,
           argMax(verdict, revision) AS verdict
    FROM scores
    WHERE scored >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
    GROUP BY agent, agent_version, environment, variant, scorer, scorer_version,
             conversation_id, episode, level, target
  )
  WHERE verdict IN ('pass', 'fail')
  GROUP BY agent, agent_version, environment, variant, scorer, conversation_id, episode
)
GROUP BY agent, agent_version, environment, variant, scorer
"""

Query = Callable[[str, Mapping[str, Any]], list[dict[str, Any]]]
"""Run SQL with bound parameters and return the rows; raises ``OutriderError``."""


class FailureRates:
    """Hold the last rates that the store told.

    Args:
        query: reads the store.
        labels: caps label values, shared with the counters.
        clock: present Unix time in seconds.
        count: raises a counter.
        windows: seconds by label.
        keep_s: how long values outlive the store's silence.
    """

    def __init__(
        self,
        query: Query,
        *,
        labels: Labels,
        clock: Callable[[], float],
        count: Callable[[str, float, dict[str, str]], None],
        windows: Mapping[str, float] | None = None,
        keep_s: float = KEEP_S,
    ) -> None:
        self._query = query
        self._labels = labels
        self._clock = clock
        self._count = count
        self._windows = dict(WINDOWS if windows is None else windows)
        self._keep_s = keep_s
        self._values: dict[SeriesKey, float] = {}
        self._read_at = clock()

    def run(self, wait: Callable[[], bool]) -> None:
        """Refresh until told to stop.

        Args:
            wait: blocks for the interval and returns whether to stop, as
                ``lambda: stop.wait(30)`` does of a ``threading.Event``.
        """
        while True:
            self.refresh()
            if wait():
                return

    def refresh(self) -> None:
        """Read all windows; on an error the values stay and the error is counted."""
        now = self._clock()
        values: dict[SeriesKey, float] = {}
        try:
            for window, seconds in self._windows.items():
                rows = self._query(_SQL, {"since": int((now - seconds) * 1e9)})
                values.update(self._rates(window, rows))
        except OutriderError as error:
            self._count("failure_rate_errors_total", 1.0, {})
            _LOG.debug("failure rates could not be read: %s", error)
            return
        self._values, self._read_at = values, now

    def gauges(self) -> dict[SeriesKey, float]:
        """Return the last rates, or nothing when they are too old to be believed."""
        if self._clock() - self._read_at > self._keep_s:
            return {}
        return dict(self._values)

    def _rates(self, window: str, rows: list[dict[str, Any]]) -> dict[SeriesKey, float]:
        sums: dict[tuple[str, ...], tuple[int, int]] = {}
        for row in rows:
            # Capped values can coincide, so shares are made of sums.
            key = tuple(self._labels.admit(name, row[name]) for name in (*WHO, "scorer"))
            failing, episodes = sums.get(key, (0, 0))
            sums[key] = (failing + int(row["failing"]), episodes + int(row["episodes"]))
        values: dict[SeriesKey, float] = {}
        for key, (failing, episodes) in sums.items():
            labels = dict(zip((*WHO, "scorer"), key, strict=True))
            low, high = wilson(failing, episodes)
            values[series("failure_rate", **labels, window=window)] = failing / episodes
            values[series("failure_rate_low", **labels, window=window)] = low
            values[series("failure_rate_high", **labels, window=window)] = high
        return values

"""Watch verdicts by river's detectors: a JSON line of detector and verdicts in, alarms out.

Run by ``river_peer`` inside an environment that holds river and not Outrider. The detectors
have river's defaults.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Print the positions of the alarms of each line, as JSON."""
    from river import drift  # type: ignore[import-not-found]  # noqa: PLC0415 - only this environment has it

    made = {"ADWIN": drift.ADWIN, "PageHinkley": lambda: drift.PageHinkley(mode="up")}
    for line in sys.stdin:
        asked = json.loads(line)
        detector, alarms = made[asked["detector"]](), []
        for index, verdict in enumerate(asked["verdicts"]):
            detector.update(int(verdict))
            if detector.drift_detected:
                alarms.append(index)
        sys.stdout.write(json.dumps(alarms) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

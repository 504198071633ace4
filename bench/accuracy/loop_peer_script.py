"""Score traces by deepeval's loop metric: JSON lines of span trees in, a score a line out.

Run by ``loop_peer`` inside an environment that holds deepeval and not Outrider.
"""

from __future__ import annotations

import importlib
import json
import sys


def main() -> None:
    """Read a span tree from each line of standard input and print its score."""
    metrics, cases = map(importlib.import_module, ("deepeval.metrics", "deepeval.test_case"))
    for line in sys.stdin:
        case = cases.LLMTestCase(input="task", actual_output="reply")
        # what deepeval's own tracing would set, from its spans
        case._trace_dict = json.loads(line)  # noqa: SLF001
        metric = metrics.AgentLoopDetectionMetric(async_mode=False)
        print(metric.measure(case, _show_indicator=False), flush=True)


if __name__ == "__main__":
    main()

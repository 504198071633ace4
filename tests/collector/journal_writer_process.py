"""Append to a journal without end and print each acknowledgement; the crash test kills it.

Each line is ``<row id> <sha256 of the body>``, printed only after the row is durable. Conclusions
are written meanwhile, so that the process dies in the middle of these, too.
"""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

from collector.journal import Transaction
from collector.totals import series
from tests.collector.journals import entry, open_journal

SETTLED = series("stage_items_total", stage="pipeline", result="settled")


def main(directory: str, seed: str) -> None:
    """Run until killed."""
    journal = open_journal(Path(directory))
    chance = random.Random(seed)  # noqa: S311  # test data
    unconcluded = {item.id: item.items for item in journal.after(journal.processed_through, 10**9)}
    while True:
        bodies = [chance.randbytes(chance.randrange(1, 30_000)) for _ in range(8)]
        futures = [journal.append(entry(body, items=3)) for body in bodies]
        for future, body in zip(futures, bodies, strict=True):
            row_id = future.result()
            sys.stdout.write(f"{row_id} {hashlib.sha256(body).hexdigest()}\n")
            sys.stdout.flush()
            unconcluded[row_id] = 3
        journal.commit(
            Transaction(
                processed_through=max(unconcluded),
                totals={SETTLED: sum(unconcluded.values())},
                seen=[row_id.to_bytes(24, "big") for row_id in unconcluded],
            )
        )
        unconcluded = {}


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Print how many spans the embedded store of a stopped instance holds.

``python -m bench.stored DATA_DIR``
"""

from __future__ import annotations

import sys
from pathlib import Path

from collector.config import StoreConfig
from collector.stores.clickhouse import open_store


def main(data_dir: Path) -> int:
    """Count distinct spans."""
    store = open_store(StoreConfig(), data_dir)
    try:
        rows = store.query("SELECT count() AS spans FROM outrider.otel_traces FINAL")
        print(rows[0]["spans"])
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

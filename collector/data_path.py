"""Name the stages of one running instance."""

from __future__ import annotations

import msgspec

from collector.assembler import Assembler
from collector.handoff import Handoff
from collector.journal import Journal
from collector.pipeline import Pipeline
from collector.shipping import Shipping
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.writer import StoreWriter
from collector.tally import Tally


class DataPath(msgspec.Struct, kw_only=True):
    """Every stage, in the order of the data."""

    journal: Journal
    handoff: Handoff
    tally: Tally
    assembler: Assembler
    pipeline: Pipeline
    shipping: Shipping
    writer: StoreWriter
    store: ClickHouseStore

"""Ask the store without blocking the event loop, and only for so long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias, TypeVar

from collector.errors import MalformedError, PermanentError, RetryableError

Row: TypeAlias = dict[str, Any]
Query: TypeAlias = Callable[[str, Mapping[str, Any]], list[Row]]
"""Runs SQL with bound parameters and returns the rows; raises ``OutriderError``."""
_T = TypeVar("_T")

PATIENCE_S = 15.0
"""A page that takes longer than this is given up."""
_THREADS = 4
_RETRY_S = 2.0
LIMITS = "SETTINGS max_execution_time = 12, max_memory_usage = 2000000000"
"""Ends every query of a page: what nobody waits for any more must not go on."""


class Store(Protocol):
    """What the console needs of a store."""

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Run a query and return its rows."""

    def has_tables(self) -> bool:
        """Return whether anything can have been stored."""


StoreOf: TypeAlias = Callable[[str], Store]
"""Gives the store as a tenant sees it; as who sees all does for an empty one."""


class Reader:
    """Run questions to the store on threads of its own."""

    def __init__(self, store_of: StoreOf, *, patience_s: float = PATIENCE_S) -> None:
        self._store_of = store_of
        self._patience_s = patience_s
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="console")
        self._is_there = False

    async def read(self, question: Callable[[Query], _T], *, tenant: str, empty: _T) -> _T:
        """Return the answer to a question, or ``empty`` before the first row made the tables.

        Args:
            question: Asks the store.
            tenant: The only one whose rows there are for it; empty for all.
            empty: Said while nothing was stored yet.

        Raises:
            RetryableError: the store does not answer, or not in time.
            MalformedError: the question says that its caller asked for nonsense.
        """
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(self._threads, self._ask, question, tenant, empty)
        try:
            return await asyncio.wait_for(asyncio.shield(asked), self._patience_s)
        except TimeoutError:
            asked.add_done_callback(_forget)
            raise RetryableError(
                f"the store did not answer within {self._patience_s:g} s; try a shorter time range",
                retry_after_s=_RETRY_S,
            ) from None

    def _ask(self, question: Callable[[Query], _T], tenant: str, empty: _T) -> _T:
        try:
            store = self._store_of(tenant)
            if not self._is_there:
                if not store.has_tables():
                    return empty
                self._is_there = True
            return question(lambda sql, bound: store.query(f"{sql}\n{LIMITS}", bound))
        except MalformedError:
            raise
        except PermanentError as error:
            # The caller's words are bound parameters, so what is refused is not theirs to mend.
            raise RetryableError(f"the store refused the query: {error}") from error


def _forget(asked: asyncio.Future[Any]) -> None:
    """Take note of an error that comes too late, so that nobody warns of it."""
    if not asked.cancelled():
        asked.exception()

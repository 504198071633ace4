"""Ask a candidate a share of what production was asked, after it was answered, and keep its answer.

A shadow is a task of its own that begins when the user has the last byte, so that nothing of it
reaches the call. Its answer goes nowhere but to the recorder, under a variant and with the pair id
that production's call carries too. Whatever a candidate asks for, nobody executes.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import ssl
from collections.abc import Callable
from pathlib import Path

import msgspec

from collector.errors import MalformedError, OversizedError, UnsupportedError
from collector.proxy.about import About
from collector.proxy.body import body_of
from collector.proxy.daily_budget import DailyBudget
from collector.proxy.http_head import RequestHead
from collector.proxy.recorder import Recorded, Recorder
from collector.proxy.shadow_call import Answer, ask
from collector.proxy.shadow_request import body_for, head_for
from collector.proxy.upstream import Route, upstream

LARGEST = 2 * 1024 * 1024
"""Bytes of a request that is asked again: a larger one would hold up the tokens of others."""
PRODUCTION = ("", "production")
"""What a call's variant is when it is nobody's experiment."""
_LOG = logging.getLogger(__name__)
_Count = Callable[[str, float, dict[str, str]], None]


class ShadowOrders(msgspec.Struct, frozen=True, kw_only=True):
    """What the process that passes calls on is told about the candidate."""

    share: float
    provider: str
    model: str
    base_url: str
    key: str
    caller_key: bool
    variant: str
    timeout_s: float
    most_at_once: int
    most_a_day: int
    ledger: str
    """File in which the day's calls are counted."""


class Shadow:
    """All shadows of a proxy; lives on its event loop."""

    def __init__(
        self,
        orders: ShadowOrders,
        *,
        recorder: Recorder,
        context: ssl.SSLContext,
        count: _Count,
        random: Callable[[], float],
        random_bytes: Callable[[int], bytes],
    ) -> None:
        """Take what a shadow needs.

        Args:
            orders: Whom to ask, and how often.
            recorder: Takes the answers.
            context: Trusted certificates.
            count: Raises ``proxy_shadow_total{result}``.
            random: Gives a number from 0 to 1, to choose calls of no named conversation.
            random_bytes: Gives so many random bytes, for ids.
        """
        self._orders = orders
        self._recorder = recorder
        self._context = context
        self._count = count
        self._random = random
        self._random_bytes = random_bytes
        self._upstream = upstream(orders.provider, orders.base_url) if orders.base_url else None
        self._budget = DailyBudget(
            Path(orders.ledger), orders.most_a_day, clock_ns=recorder.clock_ns
        )
        self._tasks: set[asyncio.Task[None]] = set()

    def fork(
        self, head: RequestHead, route: Route, about: About
    ) -> Callable[[Recorded], Recorded] | None:
        """Return what is done when a call is over; ``None`` when it is not asked again.

        It gives the call back, with a pair id if a shadow begins. It never raises.
        """
        orders = self._orders
        if about.provider != orders.provider or about.variant not in PRODUCTION:
            return None
        if not self._chosen(about.conversation_id):
            return None

        def over(recorded: Recorded) -> Recorded:
            try:
                return self._begin(recorded, head, route)
            except Exception as error:  # noqa: BLE001 - no fault of ours may reach the call
                self._failed(error)
                return recorded

        return over

    async def close(self) -> None:
        """End every shadow under way."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _chosen(self, conversation_id: str) -> bool:
        if not conversation_id:
            return self._random() < self._orders.share
        said = b"shadow\0" + conversation_id.encode(errors="replace")
        return int.from_bytes(hashlib.sha256(said).digest()[:8]) < self._orders.share * 2**64

    def _begin(self, recorded: Recorded, head: RequestHead, route: Route) -> Recorded:
        if recorded.ending != "complete" or not 200 <= recorded.status < 300:
            return recorded
        reason = ""
        if len(self._tasks) >= self._orders.most_at_once:
            reason = "busy"
        elif not self._budget.left():
            reason = "budget"
        elif sum(map(len, recorded.request)) > LARGEST:
            reason = "too_large"
        if reason:
            self._over(reason)
            return recorded
        id_ = self._random_bytes(8).hex()
        pair_id = recorded.about.pair_id or id_
        about = msgspec.structs.replace(recorded.about, pair_id=pair_id)
        recorded = msgspec.structs.replace(recorded, about=about)
        candidate = self._upstream or route.upstream
        shadow = msgspec.structs.replace(
            about,
            server=candidate.host,
            # Each goes on from what production said, so that it continues no other shadow.
            conversation_id=f"{self._orders.variant}-{id_}",
            ends=True,
            variant=self._orders.variant,
            trace_id="",
            parent_id="",
            encoding="",
            chunked=False,
        )
        task = asyncio.get_running_loop().create_task(self._run(recorded, shadow, head, route))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return recorded

    async def _run(
        self, recorded: Recorded, shadow: About, head: RequestHead, route: Route
    ) -> None:
        try:
            result = await self._shadow(recorded, shadow, head, route)
        except asyncio.CancelledError:
            self._over("stopped")
            raise
        except TimeoutError:
            result = "timeout"
        except OversizedError:
            result = "too_large"
        except MalformedError:
            result = "broken"
        except OSError:
            result = "unreachable"
        except Exception as error:  # noqa: BLE001 - counted, and nobody's call
            self._failed(error)
            return
        self._over(result)

    async def _shadow(
        self, recorded: Recorded, shadow: About, head: RequestHead, route: Route
    ) -> str:
        orders = self._orders
        # On a thread of its own: the file may be slow, and tokens of others come meanwhile.
        body, problem = await asyncio.to_thread(self._prepare, recorded)
        if problem:
            return problem
        candidate = self._upstream or route.upstream
        request = head_for(
            head,
            route,
            candidate,
            length=len(body),
            key=orders.key,
            caller_key=orders.caller_key,
        )
        started_ns = self._recorder.clock_ns()
        async with asyncio.timeout(orders.timeout_s):
            answer = await ask(
                candidate,
                request + body,
                context=self._context,
                clock_ns=self._recorder.clock_ns,
            )
        self._keep(shadow, body, answer, started_ns)
        if not answer.whole:
            return "broken"
        return "ok" if 200 <= answer.status < 300 else "refused"

    def _prepare(self, recorded: Recorded) -> tuple[bytes, str]:
        """Return the request's body, or why there is none."""
        about = recorded.about
        try:
            raw, whole = body_of(
                recorded.request, chunked=about.chunked, encoding=about.encoding, limit=LARGEST
            )
            body, problem = body_for(raw, self._orders.model)
        except (MalformedError, UnsupportedError):
            return b"", "unreadable"
        if not whole:
            return b"", "unreadable"
        if not problem and not self._budget.take():
            problem = "budget"
        return body, problem

    def _keep(self, shadow: About, body: bytes, answer: Answer, started_ns: int) -> None:
        size = len(body) + answer.size
        if not self._recorder.reserve(size):
            self._recorder.dropped("buffer_full")
            return
        self._recorder.offer(
            Recorded(
                about=shadow,
                request=(body,),
                response=answer.pieces,
                status=answer.status,
                response_chunked=answer.chunked,
                response_encoding=answer.encoding,
                response_type=answer.type,
                ending="complete" if answer.whole else "upstream",
                started_ns=started_ns,
                first_byte_ns=answer.first_ns,
                ended_ns=self._recorder.clock_ns(),
                size=size,
            )
        )

    def _over(self, result: str) -> None:
        self._count("proxy_shadow_total", 1.0, {"result": result})

    def _failed(self, error: Exception) -> None:
        _LOG.error("a shadow failed: %s", type(error).__name__)
        self._over("error")

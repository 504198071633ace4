"""Follow one stream: learn its reference, weigh its evidence, fire and clear.

Everything a stream knows is in its ``StreamState``, which changes by observations alone: the
same observations in the same order lead to the same state, to the bit, whenever and in
however many pieces they are folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from alerts.detectors.evidence import BETS, Bets, weighed
from alerts.detectors.reference import HOUR_NS, Block, Null, learn, null_of
from alerts.detectors.settings import Settings
from alerts.detectors.trail import Stretch, extend, locate
from alerts.stream_view import Change, Severity, StreamView

CLEAR = 10.0
"""An alarm ends when the evidence is below the threshold divided by this; at the threshold it would flap."""
SHARES = 2
"""Half of an agent's budget is for its traffic as a whole, half for its slices."""
LEAST = 100.0
"""Lowest threshold: a stream of a few observations a day would else fire on two failures."""

FROM_THE_START = 100.0
"""How much likelier a version is worse from its first conversation on than from any later one."""


class Key(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """What a stream is a stream of."""

    agent: str
    environment: str
    scorer: str
    scorer_version: str
    agent_version: str | None = None
    """``None`` for all versions together."""
    null: Literal["drift", "floor"] = "drift"
    """What it is held against: what is usual, or the lowest rate that is acceptable."""

    @property
    def stream(self) -> str:
        """Name it without its slice."""
        agent, environment = (
            part.replace("%", "%25").replace("/", "%2F") for part in (self.agent, self.environment)
        )
        return f"{agent}/{environment}/{self.scorer}@{self.scorer_version}"

    @property
    def slice(self) -> str:
        """Name the part of the traffic, or the floor under all of it."""
        if self.null == "floor":
            return "floor"
        return "all" if self.agent_version is None else f"version={self.agent_version}"


class Fired(msgspec.Struct, kw_only=True):
    """An alarm that is on."""

    severity: Severity
    low_ns: int
    at_ns: int
    high_ns: int
    count: int
    """Observations before the change."""
    total: float
    """Their summed shortfall."""


class StreamState(msgspec.Struct, kw_only=True):
    """All that a stream remembers; its JSON is what the store keeps."""

    key: Key
    through: dict[str, int] = {}
    """The last sequence taken, by producer: reading again from further back changes nothing."""
    blocks: list[Block] = []
    """The reference while it is learned; empty when armed."""
    learned: int = 0
    hours: int = 0
    null: Null | None = None
    """Set when armed, and not changed after that."""
    page: float = 0.0
    """Threshold of a page."""
    ticket: float = 0.0
    masses: list[float] = msgspec.field(default_factory=lambda: [0.0] * BETS)
    evidence: float = 0.0
    logs: list[float] = msgspec.field(default_factory=lambda: [0.0] * BETS)
    """Summed log factors since armed, or since the last alarm ended."""
    trail: list[Stretch] = []
    count: int = 0
    """Observations since armed."""
    total: float = 0.0
    """Their summed shortfall."""
    first_ns: int = 0
    """Start of the first conversation observed since armed."""
    last_ns: int = 0
    """Start of the last conversation observed."""
    traffic_ns: int = 0
    """The latest start of any."""
    fired: list[Fired] = []


class Turned(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm that began or ended."""

    kind: Literal["fired", "cleared"]
    severity: Severity
    change: Change
    reason: str = ""


def restored(text: str) -> StreamState:
    """Read a state's JSON.

    Raises:
        msgspec.MsgspecError: it is not one.
        ValueError: it was written for other bets than ours.
    """
    state = msgspec.json.decode(text, type=StreamState)
    lengths = {len(state.masses), len(state.logs), *(len(s.weights) for s in state.trail)}
    if lengths != {BETS}:
        raise ValueError(f"a state has {BETS} bets, not {sorted(lengths)}")
    return state


def learned(
    state: StreamState,
    shortfall: float,
    started_ns: int,
    settings: Settings,
    weight: float = 1.0,
) -> bool:
    """Take an observation into the reference.

    Or, when that is complete and the observation begins another hour, arm instead and say so.
    """
    blocks = state.blocks
    complete = state.learned >= settings.reference_min and state.hours >= settings.reference_hours
    # Not the latest hour of any: a clock that was ahead once would hold it up for as long.
    if complete and started_ns // HOUR_NS > state.last_ns // HOUR_NS:
        arm(state, null_of(blocks, tolerance=settings.tolerance), settings)
        state.blocks = []
        return True
    learn(blocks, shortfall, started_ns, weight)
    state.learned += 1
    state.hours = len(blocks)
    state.last_ns = started_ns
    state.traffic_ns = max(state.traffic_ns, started_ns)
    return False


def arm(state: StreamState, null: Null, settings: Settings) -> None:
    """Fix the null hypothesis and the thresholds.

    A threshold is the budget in observations, since a stream crosses it falsely at most once in
    so many of them. Versions share one half of a scorer's budget without dividing it further:
    they share the traffic too, so that all of them together see as many observations as there
    are. The rate counts only hours that have traffic, which errs on the side of fewer alarms.
    """
    state.null = null
    state.page = threshold(null.per_hour, settings.page_hours, scorers=settings.scorers)
    state.ticket = threshold(null.per_hour, settings.ticket_hours, scorers=settings.scorers)


def threshold(per_hour: float, hours: float, *, scorers: int) -> float:
    """Return a budget of so many hours in observations of one stream."""
    return max(LEAST, per_hour * hours * scorers * SHARES)


def observe(
    state: StreamState,
    bets: Bets,
    shortfall: float,
    started_ns: int,
    *,
    before_ns: int,
    share: float = 1.0,
) -> list[Turned]:
    """Weigh one observation of an armed stream and return what it turned on or off.

    Args:
        state: Changed in place.
        bets: Of the stream's null.
        shortfall: 0..1, 1 is a failure.
        started_ns: When its conversation began.
        before_ns: Start of the conversation observed before it.
        share: Its weight over the largest weight, in (0, 1].
    """
    factors, logs = bets.factors(shortfall, share)
    low, high = sorted((before_ns or started_ns, started_ns))
    begins = state.count == 0 and state.key.agent_version is not None
    extend(
        state.trail,
        state.logs,
        low_ns=low,
        high_ns=high,
        count=state.count,
        total=state.total,
        prior=FROM_THE_START if begins else 1.0,
    )
    state.evidence = weighed(state.masses, factors, threshold=state.page)
    state.logs = [log + more for log, more in zip(state.logs, logs, strict=True)]
    state.count += 1
    state.total += shortfall
    state.first_ns = state.first_ns or started_ns
    state.last_ns = started_ns
    state.traffic_ns = max(state.traffic_ns, started_ns)
    return list(_turned(state))


def silenced(state: StreamState, reason: str = "silent") -> list[Turned]:
    """End the alarms of a slice that gets no traffic any more, and forget its evidence."""
    ended = [
        Turned(kind="cleared", severity=f.severity, change=change(state, f), reason=reason)
        for f in state.fired
    ]
    state.fired = []
    state.masses = [0.0] * BETS
    state.evidence = 0.0
    _restart(state)
    return ended


def change(state: StreamState, fired: Fired) -> Change:
    """Return where an alarm's change lies, and what was seen since."""
    return Change(
        low_ns=fired.low_ns,
        at_ns=fired.at_ns,
        high_ns=fired.high_ns,
        observations=state.count - fired.count,
        failures=max(0.0, state.total - fired.total),
    )


def view(state: StreamState) -> StreamView:
    """Show a stream as it stands."""
    key, null, blocks = state.key, state.null, state.blocks
    total = sum(block.total for block in blocks)
    weight = sum(block.weight for block in blocks)
    return StreamView(
        stream=key.stream,
        slice=key.slice,
        agent=key.agent,
        agent_version=key.agent_version or "",
        environment=key.environment,
        scorer=key.scorer,
        scorer_version=key.scorer_version,
        phase="armed" if null else "learning",
        learned=state.learned,
        learned_hours=state.hours,
        reference_rate=null.reference_rate if null else total / max(1.0, weight),
        null_rate=null.null_rate if null else 0.0,
        evidence=state.evidence,
        threshold=state.page,
        ticket_threshold=state.ticket,
        observations=state.count,
        failures=state.total,
        traffic_ns=state.traffic_ns,
        firing=tuple(f.severity for f in state.fired),
        change=change(state, state.fired[-1]) if state.fired else None,
    )


def _turned(state: StreamState) -> Iterator[Turned]:
    on = {fired.severity for fired in state.fired}
    levels: tuple[tuple[Severity, float], ...] = (
        ("ticket", state.ticket),
        ("page", state.page),
    )
    for severity, level in levels:
        if severity not in on and state.evidence >= level:
            found = locate(state.trail, state.logs)
            if found is None:  # an observation was just added
                raise AssertionError("a stream that fires has a trail")
            fired = Fired(
                severity=severity,
                low_ns=found.low_ns,
                at_ns=found.at_ns,
                high_ns=found.high_ns,
                count=found.count,
                total=found.total,
            )
            state.fired.append(fired)
            yield Turned(kind="fired", severity=severity, change=change(state, fired))
        elif severity in on and state.evidence < level / CLEAR:
            (fired,) = (f for f in state.fired if f.severity == severity)
            state.fired.remove(fired)
            yield Turned(
                kind="cleared",
                severity=severity,
                change=change(state, fired),
                reason="recovered",
            )
            if not state.fired:
                _restart(state)


def _restart(state: StreamState) -> None:
    """Let the next change be looked for from here on."""
    state.trail = []
    state.logs = [0.0] * BETS

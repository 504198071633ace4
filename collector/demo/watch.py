"""Show what the running instance sees, in the order of the story."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

from collector.demo.console import Alarms, Change, Console, Detail, Event, Quality, Stream, Version
from collector.demo.mistakes import BROKEN_VERSION, HEALTHY_VERSION
from collector.demo.screen import Screen, moment, percent
from collector.demo.story import HOUR, Plan

TELLING = ("false_success", "looping")
"""Scorers whose rates are shown; the first one's evidence is as well."""
EVERY = 3 * HOUR
EXAMPLES = 3
WAIT_POLLS = 5
"""Polls in which a page of all versions waits for the one that names the version to blame."""
WAIT_SEEN = 300
"""Conversations in which it does."""
REASON = 110
"""Characters of a reason."""


class Watch:
    """Poll an instance and write a line for whatever is new.

    The story's time is that of the conversations which the instance has scored, so a line
    never tells of what it has not seen yet.
    """

    def __init__(self, console: Console, screen: Screen, plan: Plan) -> None:
        self._console = console
        self._screen = screen
        self._plan = plan
        self._polls = 0
        self._came: dict[str, tuple[int, int]] = {}
        """Of every event the poll with which it came, and the conversations seen by then."""
        self._waiting: list[Event] = []
        """Events that were not told yet, the earliest first."""
        self._fired: dict[str, dict[str, str]] = defaultdict(dict)
        """Of each scorer, by severity, the version that was told of last; empty for all."""
        self._armed = self._live = False
        self._next = plan.start_ns + EVERY
        self.alarms = Alarms()
        """As of the last poll."""

    @property
    def seen_ns(self) -> int:
        """Return how far into the story the instance has seen."""
        return max((one.traffic_ns for one in self.alarms.streams), default=0)

    @property
    def seen(self) -> int:
        """Return how many conversations it has scored."""
        return max((one.learned + one.observations for one in self._whole()), default=0)

    def head(self) -> None:
        """Write the head of the table."""
        names = "  ".join(f"{name:>13}" for name in TELLING)
        text = f"{'time':<10} {'seen':>6}  {'version':<7}  {names}  evidence / threshold"
        self._screen.line(text, "bold")

    def poll(self) -> None:
        """Ask once, and tell what is new.

        Raises:
            RetryableError: the instance did not answer.
        """
        self.alarms = self._console.alarms()
        self._polls += 1
        fresh = [e for e in self.alarms.events if e.event_id not in self._came]
        self._came.update((e.event_id, (self._polls, self.seen)) for e in fresh)
        self._waiting = sorted((*self._waiting, *fresh), key=_order)
        self._unfold(self._ready())

    def tell_all(self) -> None:
        """Tell what still waits: nothing more will come."""
        self._unfold(len(self._waiting))

    def _unfold(self, ready: int) -> None:
        """Tell so many of the events that wait, and whatever else has happened by then."""
        # All before any of them is told: the one to blame may be among the later ones.
        named = {e.detail.scorer for e in self._waiting if _names(e)}
        happenings: list[tuple[int, Callable[[], None]]] = [
            (event.detail.traffic_ns, partial(self._tell, event, named))
            for event in self._waiting[:ready]
        ]
        del self._waiting[:ready]
        if not self._live and self.seen_ns >= self._plan.switch_ns:
            self._live = True
            happenings.append((self._plan.switch_ns, self._goes_live))
        if self.seen_ns >= self._next and not self._waiting:
            self._next += (1 + (self.seen_ns - self._next) // EVERY) * EVERY
            happenings.append((self.seen_ns, self.rates))
        for _, tell in sorted(happenings, key=lambda one: one[0]):
            tell()

    def _ready(self) -> int:
        """Return how many events can be told; what comes after one that has to wait does too."""
        named = {e.detail.scorer for e in self._waiting if _names(e)}
        for number, event in enumerate(self._waiting):
            polls, seen = self._came[event.event_id]
            if (
                _is_page(event)
                and not event.detail.agent_version
                and event.detail.scorer not in named
                and "page" not in self._fired[event.detail.scorer]
                and self._polls - polls < WAIT_POLLS
                and self.seen - seen < WAIT_SEEN
            ):
                return number
        return len(self._waiting)

    def rates(self) -> None:
        """Write how each version does."""
        quality = self._console.quality()
        for number, version in enumerate(_versions(quality)):
            shares = _shares(quality, version)
            rates = "  ".join(
                f"{percent(shares[name]) if name in shares else '-':>13}" for name in TELLING
            )
            first = f"{moment(self.seen_ns):<10} {self.seen:>6}" if not number else " " * 17
            worse = version == BROKEN_VERSION and shares.get(TELLING[0], 0.0) > 0.1
            state = self._state() if not number else ""
            text = f"{first}  {version:<7}  {rates}  {state}".rstrip()
            self._screen.line(text, "yellow" if worse else "")

    def _whole(self) -> list[Stream]:
        return [s for s in self.alarms.streams if s.scorer == TELLING[0] and s.slice == "all"]

    def _state(self) -> str:
        """Say how the first scorer's detector stands."""
        mine = [s for s in self.alarms.streams if s.scorer == TELLING[0]]
        if not mine:
            return ""
        most = max(mine, key=lambda one: one.evidence / one.threshold if one.threshold else 0.0)
        if most.phase == "learning":
            return f"learning, {most.learned_hours} h of 24"
        return f"{most.evidence:,.0f} / {most.threshold:,.0f}"

    def _goes_live(self) -> None:
        when = moment(self._plan.switch_ns)
        self._screen.line(
            f"{when:<10} version {BROKEN_VERSION} goes live: from here on it takes every new"
            " conversation",
            "bold",
        )

    def _tell(self, event: Event, named: set[str]) -> None:
        """Tell of an event; ``named`` are the scorers that a version's own page comes for."""
        detail = event.detail
        when = f"{moment(detail.traffic_ns):<10}"
        who = f"{detail.scorer} of {detail.agent}"
        who += f" {detail.agent_version}" if detail.agent_version else ", all versions"
        if event.kind == "armed":
            if not self._armed:
                self._armed = True
                text = (
                    f"{when} the detectors have learned what is usual; from here on they can fire"
                )
                self._screen.line(text, "green")
        elif event.kind == "cleared":
            self._fired[detail.scorer].pop(detail.severity, None)
            self._screen.line(f"{when} the {detail.severity} is over: {who}", "green")
        elif self._is_news(detail):
            self._fired[detail.scorer][detail.severity] = detail.agent_version
            if _is_page(event) and (detail.agent_version or detail.scorer not in named):
                self._explain(event, who)
            else:
                self._screen.line(f"{when} {detail.severity}: {who}", "yellow")

    def _is_news(self, detail: Detail) -> bool:
        """Say whether an alarm tells more of its scorer than an earlier one did.

        A page says more than a ticket, and one version more than all of them.
        """
        fired = self._fired[detail.scorer]
        if detail.severity == "ticket":
            return not fired
        return not fired.get("page") and fired.get("page") != detail.agent_version

    def _new(self, change: Change) -> list[Version]:
        """Return the versions whose first conversation was about when the quality changed."""
        about = range(change.low_ns - HOUR, change.high_ns + HOUR)
        quality = self._console.quality()
        return [v for s in quality.sections for v in s.versions if v.first_ns in about]

    def _explain(self, event: Event, who: str) -> None:
        """Write all that a person wants to know who is woken by it."""
        detail, change = event.detail, event.detail.change
        write = self._screen.line
        write()
        write(f"{moment(detail.traffic_ns):<10} ALARM  {who}", "red")
        if change is not None:
            usual = percent(detail.reference_rate)
            write(f"           {_failed(change)} failed; usual is {usual}")
            write(
                f"           it changed between {moment(change.low_ns)} and"
                f" {moment(change.high_ns)}, most likely at {moment(change.at_ns)}"
            )
            for version in self._new(change):
                first = moment(version.first_ns)
                write(f"           version {version.agent_version} was first seen at {first}")
        write(f"           evidence {detail.evidence:,.0f}, threshold {detail.threshold:,.0f}")
        for example in self._console.examples(detail, limit=EXAMPLES):
            write(f"           {self._console.link(example.episode_id)}")
            for finding in example.verdicts[:1]:
                reason = finding.reason
                short = reason if len(reason) <= REASON else f"{reason[: REASON - 3]}..."
                write(f"             {short}", "dim")
        write()


def _order(event: Event) -> tuple[int, bool, bool]:
    """Order by time; of those at once a page says more than a ticket, and one version more."""
    detail = event.detail
    return detail.traffic_ns, detail.severity != "page", not detail.agent_version


def _is_page(event: Event) -> bool:
    return event.kind == "fired" and event.detail.severity == "page"


def _names(event: Event) -> bool:
    """Say whether it is a page that names the version to blame."""
    return _is_page(event) and bool(event.detail.agent_version)


def _failed(change: Change) -> str:
    rate = percent(change.failures / change.observations if change.observations else 0.0)
    return f"{rate} of {change.observations} conversations since {moment(change.at_ns)}"


def _versions(quality: Quality) -> list[str]:
    found = {v.agent_version for s in quality.sections for v in s.versions if v.episodes}
    return [one for one in (HEALTHY_VERSION, BROKEN_VERSION) if one in found]


def _shares(quality: Quality, version: str) -> dict[str, float]:
    return {
        scorer.scorer: share.rate
        for section in quality.sections
        for scorer in section.scorers
        for share in scorer.versions
        if share.agent_version == version
    }

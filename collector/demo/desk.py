"""Be the agent at work: look things up, act, recover from errors, and sometimes err."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import msgspec

from collector.demo.dialogue import Dialogue
from collector.demo.guest import (
    BARE,
    CORRECTIONS,
    NUMBER_GIVEN,
    NUMBER_LOST,
    SHRUGS,
    THANKS,
    Guest,
)
from collector.demo.mistakes import Mistake
from collector.demo.replies import (
    ASIDES,
    ASK_NUMBER,
    FAILURES,
    HANDOVERS,
    LOOKUP_FAILED,
    NO_ACCOUNT,
    NOBODY_THERE,
    PARTINGS,
    UNKNOWN_NUMBER,
    WELCOMES,
)
from collector.demo.toolbox import RETRYABLE, Answer, Arguments

ATTEMPTS = 3
"""Times the agent tries a call whose error may pass."""


class Desk:
    """The agent in one conversation with one customer."""

    def __init__(
        self, talk: Dialogue, guest: Guest, rng: random.Random, *, mistake: Mistake
    ) -> None:
        self.talk = talk
        self.guest = guest
        self.rng = rng
        self._mistake = mistake
        self._repeated = False

    # --- mistakes

    def errs(self, mistake: Mistake) -> bool:
        """Say whether the agent makes a mistake here, and note it as a truth if it does."""
        if self._mistake == mistake:
            self.talk.truths.add(mistake)
            return True
        return False

    def tends_to(self, mistake: Mistake) -> bool:
        """Say whether the agent will make a mistake in this conversation."""
        return self._mistake == mistake

    # --- speaking

    def opens(self, openings: Sequence[str], **fields: str) -> None:
        """Let the customer come in, a few with a bare greeting first."""
        if self.rng.random() < 0.12:
            self.hears(BARE)
            self.says(WELCOMES)
        self.talk.customer_says(self.guest.opens(openings, **fields))

    def hears(self, phrases: Sequence[str], **fields: str) -> None:
        """Let the customer say one of several things."""
        self.talk.customer_says(self.guest.says(phrases, **fields))

    def says(self, *parts: Sequence[str], **fields: str) -> None:
        """Reply with one phrase of each part."""
        name = self.guest.customer.name.split()[0]
        known = {"name": name, "item": self.guest.item, "order": self.guest.order.id}
        said = [self.rng.choice(part).format(**(known | fields)) for part in parts]
        self.talk.agent_says(" ".join(one for one in said if one))

    def parts(self, words: Sequence[str] = THANKS) -> None:
        """Take leave, if the customer writes once more at all."""
        if self.rng.random() < 0.4:
            self.hears(words)
            self.says(PARTINGS)

    # --- looking

    def finds_order(self) -> dict[str, Any] | None:
        """Find the customer's order; ``None`` when it was not possible, and the customer knows."""
        if not self.guest.knows_number:
            if self.errs("invented_arguments"):
                self._guesses()
            else:
                self.says(ASK_NUMBER)
            if self.rng.random() < 0.35:
                return self._finds_by_email()
            if self.rng.random() < 0.1:
                self._mistypes()
            else:
                self.hears(NUMBER_GIVEN)
        answer = self.looks("find_order", order_id=self.guest.order.id)
        return self._read(answer)

    def _guesses(self) -> None:
        guess = f"PW-{self.rng.randrange(10**6, 10**7)}"
        self.talk.agent_calls("find_order", {"order_id": guess})
        self.says(UNKNOWN_NUMBER, ASK_NUMBER)

    def _mistypes(self) -> None:
        wrong = self.guest.mistyped()
        self.hears(NUMBER_GIVEN, order=wrong)
        answer = self.looks("find_order", order_id=wrong)
        if answer.error:
            self.says(UNKNOWN_NUMBER, ("Could you check the number?", "Could it be another one?"))
            self.hears(CORRECTIONS)
        else:
            # Somebody else's order, by chance; the customer would not know the articles.
            self.says(("That order is in another name, I am afraid it cannot be the right one.",))
            self.hears(CORRECTIONS)

    def _finds_by_email(self) -> dict[str, Any] | None:
        self.hears(NUMBER_LOST)
        found = self._read(self.looks("find_customer", email=self.guest.customer.email))
        if found is None:
            return None
        listed = self._read(self.looks("list_orders", customer_id=found["customer_id"]))
        if listed is None:
            return None
        mine = [one["order_id"] for one in listed["orders"]]
        if self.guest.order.id not in mine:
            self.says(NO_ACCOUNT)
            return None
        return self._read(self.looks("find_order", order_id=self.guest.order.id))

    def looks(self, name: str, **arguments: Any) -> Answer:
        """Call a tool that looks, again while an error may pass."""
        if self.tends_to("tool_calls") and "tool_calls" not in self.talk.truths:
            self.talk.truths.add("tool_calls")
            self.talk.agent_calls(name, self._spoilt(arguments))
        answer = self._tried(name, arguments)
        if self.tends_to("looping") and not self._repeated and not answer.error:
            self._repeated = True
            self.talk.truths.add("looping")
            for _ in range(self.rng.randrange(4, 8)):
                answer = self._tried(name, arguments)
        return answer

    def _read(self, answer: Answer) -> dict[str, Any] | None:
        """Return what a look-up found; on an error tell the customer."""
        if answer.error:
            self._gives_up(LOOKUP_FAILED)
            return None
        return result_of(answer)

    def _spoilt(self, arguments: Arguments) -> Arguments:
        """Return the arguments as a model gets them wrong."""
        name, value = next(iter(arguments.items()))
        rest = {key: one for key, one in arguments.items() if key != name}
        wrong: tuple[Arguments, ...] = (
            {f"{name}_value": value, **rest},
            {name: [value], **rest},
            {**arguments, "verbose": True},
        )
        return self.rng.choice(wrong)

    # --- acting

    def does(self, name: str, **arguments: Any) -> bool:
        """Act, and say whether it is done; if not, the customer was told.

        An agent that errs does not act, or its call fails, and it takes it for done.
        """
        if self.errs("false_success"):
            if self.rng.random() < 0.4:
                self.talk.agent_calls(name, arguments, fault="locked")
                # Going on after the error is the other half of the same mistake.
                self.talk.truths.add("ignored_tool_error")
            return True
        answer = self._tried(name, arguments, saying=self.rng.random() < 0.3)
        if answer.error:
            self._gives_up(FAILURES[answer.error])
        return not answer.error

    def _tried(self, name: str, arguments: Arguments, *, saying: bool = False) -> Answer:
        aside = self.rng.choice(ASIDES) if saying else ""
        answer = self.talk.agent_calls(name, arguments, saying=aside)
        for _ in range(ATTEMPTS - 1):
            if answer.error not in RETRYABLE:
                break
            answer = self.talk.agent_calls(name, arguments)
        return answer

    def _gives_up(self, phrases: Sequence[str]) -> None:
        """Tell of a failure, and bring a person in half the time."""
        if self.rng.random() < 0.5:
            self.hands_over("care", phrases)
        else:
            self.says(phrases)
            self.parts(SHRUGS)

    def hands_over(self, department: str, first: Sequence[str] = ("",)) -> None:
        """Bring a person in and say so."""
        summary = f"{self.guest.item}: needs a person"
        answer = self._tried("transfer_to_human", {"department": department, "summary": summary})
        self.says(first, NOBODY_THERE if answer.error else HANDOVERS)


def result_of(answer: Answer) -> dict[str, Any]:
    """Return a tool's result as it is read."""
    found: dict[str, Any] = msgspec.json.decode(answer.text)
    return found

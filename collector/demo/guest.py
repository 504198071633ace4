"""Be a customer: with an order, a reason to write, and a way of writing."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from collector.demo.shop import Customer, Line, Order

GREETINGS = (
    *(
        "Hi, ",
        "Hello, ",
        "Hi there, ",
        "Good morning, ",
        "Hey, ",
        "Hello! ",
        "Hi! ",
        "Good evening. ",
    ),
    *("", "", "", "", ""),
)
SIGNATURES = (
    "Thanks, {name}",
    "Best, {name}",
    "Kind regards, {name}",
    "Thank you in advance!",
    "Cheers",
)
BARE = (
    "Hi",
    "Hello",
    "hello?",
    "Hi, are you there?",
    "Good afternoon!",
    "hey",
    "Hi, I need some help.",
)
NUMBER_SAID = (
    *(
        " It is order {order}.",
        " The order number is {order}.",
        " Order {order}.",
        " My order: {order}",
    ),
    *(
        " (order {order})",
        " That was order {order}.",
        " Reference {order}.",
        " It's about {order}.",
    ),
)
NUMBER_GIVEN = (
    *(
        "It's {order}.",
        "{order}",
        "Sure: {order}",
        "The number is {order}.",
        "Here you go, {order}.",
    ),
    *("Yes, {order}.", "{order}, I think that is it.", "My confirmation says {order}."),
)
NUMBER_LOST = (
    "I don't have it at hand, sorry. My e-mail is {email}.",
    "No idea, I deleted the confirmation. Can you find it by my address {email}?",
    "I can't find it. I ordered with {email}.",
    "Where would I see that? My account is {email}.",
    "Lost it, sorry! {email} is what I used.",
)
CORRECTIONS = (
    "Oh, sorry, I mixed up two digits. It is {order}.",
    "My mistake, {order}.",
    "Let me look again... {order}.",
    "Ah, I mistyped. {order} is right.",
)
THANKS = (
    *(
        "Thanks!",
        "Great, thank you.",
        "Perfect, thanks a lot.",
        "Ok, thank you.",
        "Brilliant, cheers.",
    ),
    *("That helps, thanks.", "Thank you, have a nice day.", "Lovely, that's all I needed.", "Thx!"),
    *("Good, that is all.", "Much appreciated!", "Wonderful, thanks for the quick reply."),
)
SHRUGS = (
    *("Hm, ok.", "Oh. That's a pity.", "Well, ok then.", "Alright, I see.", "Not great, but ok."),
    *("Ok, I will try later.", "I understand. Thanks anyway.", "Fine. Thank you for trying."),
)


class Guest:
    """One customer in one conversation."""

    def __init__(
        self, customer: Customer, order: Order, rng: random.Random, *, knows_number: bool
    ) -> None:
        self.customer = customer
        self.order = order
        self.knows_number = knows_number
        """Whether the order number stands in the first message."""
        self._rng = rng
        self._hasty = rng.random() < 0.25
        self._formal = not self._hasty and rng.random() < 0.15

    @property
    def line(self) -> Line:
        """Return the article that the conversation is about."""
        return self.order.lines[0]

    @property
    def item(self) -> str:
        """Return the article as people call it: without the make's own name."""
        return self.line.name.split(" ", 1)[1]

    def opens(self, openings: Sequence[str], **fields: str) -> str:
        """Write a first message, with the order number if it is known."""
        number = self._rng.choice(NUMBER_SAID) if self.knows_number else ""
        greeting, opening = self._rng.choice(GREETINGS), self._rng.choice(openings)
        if greeting.endswith((". ", "! ")):
            opening = opening[:1].upper() + opening[1:]
        text = greeting + opening + number
        if self._formal:
            text += "\n" + self._rng.choice(SIGNATURES)
        return self.words(text, **fields)

    def says(self, phrases: Sequence[str], **fields: str) -> str:
        """Write one of several phrases."""
        return self.words(self._rng.choice(phrases), **fields)

    def mistyped(self) -> str:
        """Return the order number with two digits mixed up, or without its last one."""
        digits = self.order.id[3:]
        at = self._rng.randrange(len(digits) - 1)
        mixed = f"{digits[:at]}{digits[at + 1]}{digits[at]}{digits[at + 2 :]}"
        return f"PW-{mixed if mixed != digits else digits[:-1]}"

    def words(self, template: str, **fields: str) -> str:
        """Fill a phrase in and write it as this customer does."""
        first, order = self.customer.name.split()[0], self.order.id
        known = {"item": self.item, "name": first, "order": order, "email": self.customer.email}
        text = template.format(**(known | fields))
        if self._hasty:
            text = text.lower().removesuffix(".").replace("please", "pls").replace("'", "")
            return re.sub(r"\bpw-", "PW-", text)
        # Nobody writes an address with a capital.
        return text if "@" in text.split(" ")[0] else text[:1].upper() + text[1:]

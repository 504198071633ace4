"""Play one conversation of the support agent with one customer, from a seed of its own."""

from __future__ import annotations

import random

from collector.demo.desk import Desk
from collector.demo.dialogue import Dialogue, Played
from collector.demo.guest import Guest
from collector.demo.intents import INTENTS, Intent
from collector.demo.mistakes import Mistake, Mistakes, Regression
from collector.demo.shop import Shop
from collector.demo.toolbox import Toolbox

EAGER = (
    "I need help with my {item}.",
    "I have a question about my {item}.",
    "it's about the {item} I bought.",
    "something about my {item} isn't right.",
)
EAGER_REPLY = ("Sure.", "Of course.", "Thanks for reaching out.", "")


class Support:
    """The shop, its agent and the door through which customers come."""

    def __init__(self, *, regression: Regression | None, trouble: float = 1.0) -> None:
        """Open the shop.

        Args:
            regression: what the broken version does beside the usual mistakes; ``None``: nothing.
            trouble: scales how often tools fail by themselves.
        """
        self._shop = Shop()
        self._toolbox = Toolbox(self._shop, trouble=trouble)
        self._mistakes = Mistakes(
            {one.name: one.mistakes for one in INTENTS},
            {one.name: one.share for one in INTENTS},
            regression=regression,
        )

    def serve(self, rng: random.Random, *, version: str, start_ns: int) -> Played:
        """Play the conversation of the next customer, who writes at ``start_ns``."""
        (intent,) = rng.choices(INTENTS, weights=[one.share for one in INTENTS])
        mistake = self._mistakes.draw(intent.name, version, rng)
        talk = Dialogue(self._toolbox, rng, start_ns=start_ns)
        guest = self._guest(intent, mistake, talk, rng)
        desk = Desk(talk, guest, rng, mistake=mistake)
        if desk.errs("unnecessary_escalation"):
            desk.opens(EAGER)
            desk.hands_over("care", EAGER_REPLY)
        else:
            intent.play(desk)
        return talk.played(
            id=f"pw-{rng.getrandbits(48):012x}",
            intent=intent.name,
            agent_version=version,
            user=guest.customer.id,
        )

    def _guest(self, intent: Intent, mistake: Mistake, talk: Dialogue, rng: random.Random) -> Guest:
        customer = self._shop.admit(rng)
        stands, weights = zip(*intent.stands, strict=True)
        (stand,) = rng.choices(stands, weights=weights)
        today = talk.today
        order = self._shop.order(customer, stand, rng, today=today, age=rng.randint(*intent.ages))
        for _ in range(rng.choice((0, 0, 1, 2))):
            self._shop.order(customer, "delivered", rng, today=today, age=rng.randrange(40, 300))
        if intent.name == "voucher":
            order.voucher = self._shop.voucher(rng, today=today, expired=rng.random() < 0.5).code
        # Whoever makes a number up does so because nobody told it.
        knows = rng.random() < 0.62 and mistake != "invented_arguments"
        return Guest(customer, order, rng, knows_number=knows)

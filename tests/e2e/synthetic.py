"""Invent support conversations of a homeware shop, with the truth about each.

Every draw comes from the seed. Each scene tells one story; its truths are named like the
labels of transcript files: ``false_success``, ``looping``, ``tool_call_problem``,
``invented_argument``, ``missed_escalation``.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from collector.builder import conversation_of
from collector.model import Conversation, Identity, LlmCall, Message, ToolDefinition, ToolRequest
from collector.transcripts import calls_at
from tests.build import agent, tool, user

SYSTEM = (
    "You are the support agent of Kettle & Loom, a homeware shop. Look an order up before you "
    "change it. Hand over to a person when the customer asks for one."
)
STRING = {"type": "string"}
TOOLS: tuple[ToolDefinition, ...] = (
    tool("find_order", {"order_id": STRING}, "order_id", description="Look an order up."),
    tool(
        "cancel_order",
        {"order_id": STRING, "reason": STRING},
        "order_id",
        description="Cancel an order that has not been shipped.",
    ),
    tool(
        "refund_order",
        {"order_id": STRING, "amount": {"type": "number"}},
        "order_id",
        "amount",
        description="Pay money back.",
    ),
    tool("hand_over", {"summary": STRING}, "summary", description="Transfer to a human agent."),
)
GOODS = ("oak tray", "linen throw", "stone teapot", "copper pan", "wool rug", "glass carafe")
NAMES = ("Ines Okafor", "Tomas Vrba", "Leila Haddad", "Jonas Brandt", "Mei Tanaka")


class Scene:
    """One conversation being written."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.order = f"KL-{rng.randrange(10_000, 99_999)}"
        self.goods = rng.choice(GOODS)
        self.name = rng.choice(NAMES)
        self.amount = rng.randrange(1_500, 20_000) / 100
        self.messages: list[Message] = []

    def say(self, text: str) -> None:
        """Let the customer speak."""
        self.messages.append(user(text))

    def reply(self, text: str) -> None:
        """Let the agent speak."""
        self.messages.append(agent(text))

    def call(self, name: str, result: str, *, failed: bool = False, **arguments: object) -> None:
        """Let the agent call a tool and get its result."""
        asked = ToolRequest(
            id=f"call_{self.rng.getrandbits(64):016x}",
            name=name,
            arguments=msgspec.to_builtins(arguments),
        )
        self.messages.append(agent("", asked))
        self.messages.append(
            Message(
                role="tool",
                text=result,
                tool_call_id=asked.id,
                tool_name=name,
                is_error=True if failed else None,
            )
        )

    def look_up(self, status: str = "processing") -> None:
        """Look the order up."""
        found = {"order_id": self.order, "item": self.goods, "status": status, "for": self.name}
        self.call("find_order", msgspec.json.encode(found).decode(), order_id=self.order)

    def ask_to_cancel(self) -> None:
        """Open with a request to cancel, and look it up."""
        self.say(f"Hello, please cancel my order {self.order}, the {self.goods}.")
        self.look_up()


def _status(scene: Scene) -> tuple[str, ...]:
    if scene.rng.random() < 0.5:
        scene.reply("Welcome to Kettle & Loom! How can I help?")
    scene.say("Where is my order?")
    scene.reply("I am happy to look. What is the order number?")
    scene.say(f"It is {scene.order}.")
    scene.look_up("shipped")
    scene.reply(f"The {scene.goods} was shipped and is on its way to you.")
    if scene.rng.random() < 0.5:
        scene.say("Great, thanks!")
    return ()


def _cancelled(scene: Scene) -> tuple[str, ...]:
    scene.ask_to_cancel()
    scene.call("cancel_order", '{"status": "cancelled"}', order_id=scene.order, reason="customer")
    scene.reply(f"Your order {scene.order} has been cancelled.")
    return ()


def _retried(scene: Scene) -> tuple[str, ...]:
    scene.ask_to_cancel()
    scene.call("cancel_order", "Error: 503 try again", failed=True, order_id=scene.order)
    scene.call("cancel_order", '{"status": "cancelled"}', order_id=scene.order)
    scene.reply(f"Your order {scene.order} has been cancelled; it needed a second attempt.")
    return ()


def _claimed(scene: Scene) -> tuple[str, ...]:
    scene.ask_to_cancel()
    if scene.rng.random() < 0.5:
        scene.call("cancel_order", "Error: order is locked", failed=True, order_id=scene.order)
    scene.reply(f"Done! I have cancelled your order {scene.order} successfully.")
    return ("false_success",)


def _looped(scene: Scene) -> tuple[str, ...]:
    scene.say(f"Please refund order {scene.order}, the {scene.goods} came broken.")
    for _ in range(scene.rng.randrange(6, 10)):
        scene.call(
            "find_order", "Error: order service timed out", failed=True, order_id=scene.order
        )
    scene.reply("I am sorry, I cannot reach the order system right now.")
    return ("looping",)


def _wrong_call(scene: Scene) -> tuple[str, ...]:
    scene.say(f"Please refund {scene.amount:.2f} for order {scene.order}.")
    scene.look_up("delivered")
    scene.call(
        "refund_order", "Error: bad request", failed=True, order_id=scene.order, amount="all"
    )
    scene.reply("I could not refund it: the refund was not accepted.")
    return ("tool_call_problem",)


def _invented(scene: Scene) -> tuple[str, ...]:
    scene.say(f"What is the state of my {scene.goods}? I lost the order number.")
    wrong = f"KL-{scene.rng.randrange(100_000, 999_999)}"
    scene.call("find_order", "Error: no such order", failed=True, order_id=wrong)
    scene.reply("I could not find that order. Could you look for the number in your mail?")
    return ("invented_argument",)


def _refused_person(scene: Scene) -> tuple[str, ...]:
    scene.say(f"My {scene.goods} is broken. I want to speak to a human agent.")
    scene.reply("I can help you with that. What is the order number?")
    scene.say("No. Let me talk to a real person, please.")
    scene.reply("Please give me the order number, then I will check it for you.")
    return ("missed_escalation",)


def _handed_over(scene: Scene) -> tuple[str, ...]:
    scene.say(f"Order {scene.order} is wrong again. I want to speak to a human agent.")
    scene.call("hand_over", '{"status": "transferred"}', summary=f"wrong {scene.goods}")
    scene.reply("I am transferring you to a colleague now.")
    return ()


SCENES: tuple[Callable[[Scene], tuple[str, ...]], ...] = (
    _status,
    _cancelled,
    _retried,
    _claimed,
    _looped,
    _wrong_call,
    _invented,
    _refused_person,
    _handed_over,
)


def synthetic(n: int, seed: int, *, agent_name: str = "kettle-support") -> list[Conversation]:
    """Invent ``n`` conversations; every scene comes up about equally often."""
    return [conversation for conversation, _ in synthetic_labelled(n, seed, agent_name=agent_name)]


def synthetic_labelled(
    n: int, seed: int, *, agent_name: str = "kettle-support"
) -> list[tuple[Conversation, frozenset[str]]]:
    """Invent ``n`` conversations, each with the names of what is wrong with it."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    told: list[tuple[Conversation, frozenset[str]]] = []
    for number in range(n):
        scene = Scene(rng)
        truths = SCENES[number % len(SCENES)](scene)
        conversation = conversation_of(
            scene.messages,
            id=f"{agent_name}-{seed}-{number:05d}",
            identity=Identity(agent=agent_name),
            system_prompt=SYSTEM,
            tools=TOOLS,
            llm_calls=[
                LlmCall(model="loom-large-1", has_input=True, has_output=True)
                for _ in calls_at(scene.messages)
            ],
        )
        told.append((conversation, frozenset(truths)))
    return told

"""Write one conversation down while it is played, with the times and tokens of every step."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime

import msgspec

from collector import message_json
from collector.demo.instructions import INSTRUCTIONS
from collector.demo.tool_list import TOOLS
from collector.demo.toolbox import Answer, Arguments, Toolbox
from collector.model import Message, ToolRequest

SECOND = 1_000_000_000
GIVEN_CHARS = len(message_json.tools_json(TOOLS)) + len(INSTRUCTIONS)
CHARS_A_TOKEN = 4
CACHE_BLOCK = 128
"""Providers cache a prompt's beginning in blocks of so many tokens."""


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the model."""

    started_ns: int
    ended_ns: int
    given: int
    """How many messages it was given."""
    reply: int
    """Index of the message it returned."""
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a tool."""

    started_ns: int
    ended_ns: int
    request: ToolRequest
    result: str
    error: str
    """Kind of error; empty when it worked."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent did about one message of the customer."""

    started_ns: int
    ended_ns: int
    steps: tuple[ModelCall | ToolRun, ...]


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation from beginning to end."""

    id: str
    intent: str
    agent_version: str
    user: str
    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]
    truths: frozenset[str]
    """What is wrong with it, by the name of the scorer that should find it."""

    @property
    def started_ns(self) -> int:
        """Return when the customer's first message was taken up."""
        return self.turns[0].started_ns

    @property
    def ended_ns(self) -> int:
        """Return when the agent's last reply was out."""
        return self.turns[-1].ended_ns


class Dialogue:
    """A conversation that is going on; its clock moves with everything that is said or done."""

    def __init__(self, toolbox: Toolbox, rng: random.Random, *, start_ns: int) -> None:
        self._toolbox = toolbox
        self._rng = rng
        self._now_ns = start_ns
        self._turn_ns = start_ns
        self._steps: list[ModelCall | ToolRun] = []
        self._turns: list[Turn] = []
        self._messages: list[Message] = []
        self._chars = GIVEN_CHARS
        self._cached = 0
        self.truths: set[str] = set()

    @property
    def today(self) -> date:
        """Return the day on which the conversation stands."""
        return datetime.fromtimestamp(self._now_ns / SECOND, UTC).date()

    @property
    def long(self) -> bool:
        """Say whether so much was said that people tire of it."""
        return len(self._turns) > 5

    def customer_says(self, text: str) -> None:
        """Let the customer think for 5 to 60 seconds and write."""
        if self._messages:
            self._wait(min(60.0, 5.0 + self._rng.expovariate(1 / 14)))
        self._turn_ns = self._now_ns
        self._add(Message(role="user", text=text))

    def agent_calls(
        self, name: str, arguments: Arguments, *, saying: str = "", fault: str = ""
    ) -> Answer:
        """Let the agent call a tool, perhaps with a word to the customer, and get its answer."""
        call_id = f"call_{self._rng.getrandbits(64):016x}"
        request = ToolRequest(id=call_id, name=name, arguments=arguments)
        self._think(Message(role="assistant", text=saying, tool_requests=(request,)))
        answer = self._toolbox.call(name, arguments, today=self.today, rng=self._rng, fault=fault)
        started = self._now_ns
        self._wait(answer.seconds)
        run = ToolRun(
            started_ns=started,
            ended_ns=self._now_ns,
            request=request,
            result=answer.text,
            error=answer.error,
        )
        self._steps.append(run)
        self._add(
            Message(
                role="tool",
                text=answer.text,
                tool_call_id=call_id,
                tool_name=name,
                is_error=True if answer.error else None,
            )
        )
        return answer

    def agent_says(self, text: str) -> None:
        """Let the agent give its reply, which ends the turn."""
        self._think(Message(role="assistant", text=text))
        self._wait(0.004)
        turn = Turn(started_ns=self._turn_ns, ended_ns=self._now_ns, steps=tuple(self._steps))
        self._turns.append(turn)
        self._steps = []

    def played(self, *, id: str, intent: str, agent_version: str, user: str) -> Played:
        """Return the conversation, which is over."""
        return Played(
            id=id,
            intent=intent,
            agent_version=agent_version,
            user=user,
            messages=tuple(self._messages),
            turns=tuple(self._turns),
            truths=frozenset(self.truths),
        )

    def _think(self, message: Message) -> None:
        written = len(message.text) + sum(len(str(r.arguments)) + 20 for r in message.tool_requests)
        tokens = 6 + written // CHARS_A_TOKEN
        given = self._chars // CHARS_A_TOKEN
        started = self._now_ns
        self._wait(min(4.0, 0.45 + tokens / 70 + self._rng.lognormvariate(-1.2, 0.6)))
        self._steps.append(
            ModelCall(
                started_ns=started,
                ended_ns=self._now_ns,
                given=len(self._messages),
                reply=len(self._messages),
                input_tokens=given,
                cached_tokens=self._cached,
                output_tokens=tokens,
            )
        )
        self._cached = given // CACHE_BLOCK * CACHE_BLOCK
        self._add(message)
        self._wait(0.002)

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._chars += 40 + len(message.text) + 60 * len(message.tool_requests)

    def _wait(self, seconds: float) -> None:
        self._now_ns += int(seconds * SECOND)

"""Post a document to a webhook, and tell no one its URL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 10.0
"""Longest a whole post may take, whatever the receiver does meanwhile."""
LONGEST_WAIT_S = 3_600.0
"""Most that a receiver can ask for by Retry-After."""
_GLANCE_S = 0.1
"""Between looks at whether to stop while a post is under way."""
_LATER = frozenset({408, 425, 429})

Result = Literal["delivered", "later", "refused", "stopped"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one post."""

    result: Result
    """``later``: worth repeating; ``refused``: by the receiver, for what it is."""
    what: str
    """The status, or the kind of error; never the URL."""
    reached: bool = True
    """Whether the receiver answered at all."""
    retry_after_s: float = 0.0
    """What the receiver asked to wait; 0 when it did not."""


class Webhook:
    """Post to one URL; redirects are not followed and the answer's body is not read.

    The URL may hold a secret: no answer and no error names it. Each post runs on a thread of
    its own, so that neither a name server nor a receiver that trickles can hold up a stop.

    Args:
        url: ``http(s)://…``.
        token: bearer token; empty for none.
        clock_ns: present Unix time, for a Retry-After that is a date.
        timeout_s: longest a post may take.
    """

    channel = "webhook"
    """Its name in metrics and events."""

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        clock_ns: Callable[[], int],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._url = url
        self._token = token
        self._clock_ns = clock_ns
        self._timeout_s = timeout_s

    def post(self, body: bytes, *, key: str, stop: threading.Event) -> Answer:
        """Post JSON and wait for the status; gives up early when told to stop.

        Args:
            body: The document.
            key: The same whenever this document is posted again.
            stop: Set to give up.
        """
        import httpx  # noqa: PLC0415 - takes a while to load, and most never post

        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": key,
            "User-Agent": "outrider",
        }
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        answers: list[Answer] = []
        done = threading.Event()
        client = httpx.Client(timeout=self._timeout_s, follow_redirects=False)

        def send() -> None:
            try:
                with client.stream("POST", self._url, content=body, headers=headers) as response:
                    answers.append(self._answer(response))
            # Whatever goes wrong has one meaning, and its text may name the URL.
            except Exception as error:  # noqa: BLE001
                answers.append(Answer(result="later", what=type(error).__name__, reached=False))
            finally:
                done.set()

        thread = threading.Thread(target=send, name="webhook", daemon=True)
        thread.start()
        waited_s = 0.0
        while not done.wait(_GLANCE_S):
            waited_s += _GLANCE_S
            if stop.is_set():
                client.close()
                return Answer(result="stopped", what="stopped", reached=False)
            if waited_s >= self._timeout_s:
                client.close()
                return Answer(result="later", what="Timeout", reached=False)
        client.close()
        return answers[0]

    def _answer(self, response: httpx.Response) -> Answer:
        status = response.status_code
        if 200 <= status < 300:
            return Answer(result="delivered", what=str(status))
        if status in _LATER or status >= 500:
            wait_s = retry_after_s(response.headers.get("retry-after", ""), self._clock_ns())
            return Answer(result="later", what=str(status), retry_after_s=wait_s)
        return Answer(result="refused", what=str(status))


def retry_after_s(text: str, now_ns: int) -> float:
    """Read a Retry-After header, seconds or a date; 0 when it says nothing of use."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST_WAIT_S)
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    now = datetime.fromtimestamp(now_ns / 1e9, UTC)
    return min(max(0.0, (until - now).total_seconds()), LONGEST_WAIT_S)

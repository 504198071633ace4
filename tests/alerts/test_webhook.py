"""Post to a real receiver, in good and in bad health."""

from __future__ import annotations

import socket
import threading

import pytest

from alerts.webhook import LONGEST_WAIT_S, Answer, Webhook, retry_after_s
from tests.alerts.receiver import Receiver

NOW_NS = 2_000_000_000_000_000_000
SECRET = "/hooks/T0P-5ECRET"  # noqa: S105 - a path that must not be told


def post(receiver: Receiver, *, timeout_s: float = 10.0, token: str = "") -> Answer:
    """Post a small document once."""
    hook = Webhook(receiver.url + SECRET, token=token, clock_ns=lambda: NOW_NS, timeout_s=timeout_s)
    return hook.post(b'{"a":1}', key="k1", stop=threading.Event())


def test_a_post_is_json_with_its_key() -> None:
    """The receiver gets the document, the key that repeats with it, and the token."""
    with Receiver() as receiver:
        assert post(receiver, token="t0k").result == "delivered"  # noqa: S106
    (got,) = receiver.posts
    assert got.body == {"a": 1}
    assert got.path == SECRET
    assert got.headers["content-type"] == "application/json"
    assert got.headers["idempotency-key"] == "k1"
    assert got.headers["authorization"] == "Bearer t0k"


@pytest.mark.parametrize(
    ("status", "result"),
    [
        (200, "delivered"),
        (204, "delivered"),
        (302, "refused"),
        (400, "refused"),
        (401, "refused"),
        (404, "refused"),
        (408, "later"),
        (429, "later"),
        (500, "later"),
        (503, "later"),
    ],
)
def test_a_status_says_what_became_of_it(status: int, result: str) -> None:
    """Success is told from what is worth repeating and what is not."""
    with Receiver(status) as receiver:
        answer = post(receiver)
    assert (answer.result, answer.what, answer.reached) == (result, str(status), True)


def test_redirects_are_not_followed() -> None:
    """A receiver cannot send the document elsewhere."""
    with Receiver() as elsewhere, Receiver((307, {"Location": elsewhere.url})) as receiver:
        assert post(receiver).result == "refused"
        assert elsewhere.posts == []


def test_retry_after_is_read() -> None:
    """A receiver may say how long to leave it alone."""
    with Receiver((429, {"Retry-After": "7"})) as receiver:
        assert post(receiver).retry_after_s == 7.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0.0),
        ("soon", 0.0),
        ("-3", 0.0),
        ("12", 12.0),
        ("9" * 400, LONGEST_WAIT_S),
        ("Wed, 18 May 2033 03:33:50 GMT", 30.0),
        ("Wed, 18 May 2033 03:33:50", 30.0),
        ("Wed, 18 May 2011 03:33:50 GMT", 0.0),
    ],
)
def test_retry_after_takes_seconds_and_dates(text: str, seconds: float) -> None:
    """Both forms of the header are understood; nonsense asks for nothing."""
    assert retry_after_s(text, NOW_NS) == seconds


@pytest.mark.parametrize("step", ["hang", "trickle"])
def test_the_whole_post_has_a_time_limit(step: str) -> None:
    """Neither silence nor a trickle holds a post longer than its time."""
    with Receiver(step) as receiver:
        answer = post(receiver, timeout_s=0.4)
    assert (answer.result, answer.reached) == ("later", False)


def test_a_stop_ends_a_hanging_post() -> None:
    """A dead receiver does not hold up the end of the process."""
    stop = threading.Event()
    answers: list[Answer] = []
    with Receiver("hang") as receiver:
        hook = Webhook(receiver.url, clock_ns=lambda: NOW_NS)
        thread = threading.Thread(
            target=lambda: answers.append(hook.post(b"{}", key="k", stop=stop))
        )
        thread.start()
        assert receiver.arrived.wait(30)
        stop.set()
        thread.join(30)
        assert [a.result for a in answers] == ["stopped"]


def test_no_answer_names_the_url(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing that is returned or logged holds the URL, which may be a secret."""
    with Receiver("garbage", 404, 500) as receiver:
        answers = [post(receiver) for _ in range(3)]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}{SECRET}"
    for url in (closed, f"http://[{SECRET}", f"gopher://x{SECRET}", f"http://a b{SECRET}\n"):
        hook = Webhook(url, clock_ns=lambda: NOW_NS)
        answers.append(hook.post(b"{}", key="k", stop=threading.Event()))
    assert [a.reached for a in answers] == [False, True, True, False, False, False, False]
    assert all(a.result == "later" for a in answers if not a.reached)
    assert "5ECRET" not in repr(answers) + caplog.text

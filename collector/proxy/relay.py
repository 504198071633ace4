"""Be the process that passes calls on: nothing else runs in it that a token could wait for.

Started by ``relay_port.py`` as ``python -m collector.proxy.relay LISTENING LINE``, with two open
files: a socket that listens, and the line to the process that keeps what was captured.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import socket
import sys
import threading
from collections.abc import Callable

import httpx

from collector.clock import SteadyClock
from collector.proxy.line import Call, Counts, Orders, Reading, send
from collector.proxy.recorder import Recorder
from collector.proxy.server import ProxyServer
from collector.proxy.shadow import Shadow
from collector.proxy.upstream import Routes
from collector.tally import Tally

_ORDERS_S = 60.0
_WAIT_S = 0.2
_SHIP_S = 5.0
"""How long an end waits until the other side has taken everything."""


class Shipping:
    """Send over what was captured and counted, on a thread of its own."""

    def __init__(self, line: socket.socket, recorder: Recorder, tally: Tally) -> None:
        self._line = line
        self._recorder = recorder
        self._tally = tally
        self.over = threading.Event()
        """Set when nothing more will come."""

    def run(self) -> None:
        """Send until everything is over, or nobody listens."""
        try:
            while True:
                over = self.over.is_set()
                recorded = self._recorder.take(0.0 if over else _WAIT_S)
                if recorded is not None:
                    send(self._line, Call(recorded=recorded))
                    self._recorder.done(recorded)
                rises = [
                    (name, amount, dict(labels))
                    for (name, labels), amount in self._tally.drain().items()
                ]
                if rises:
                    send(self._line, Counts(rises=rises))
                if over and recorded is None:
                    return
        except OSError:
            return  # calls under way go on without us


def main(listening: socket.socket, line: socket.socket) -> int:
    """Pass calls on until the other side hangs up or a signal comes."""
    orders = Reading(line).next(_ORDERS_S)
    if not isinstance(orders, Orders):
        return 1
    tally = Tally()
    recorder = Recorder(
        max_call=orders.max_call,
        max_held=orders.max_held,
        max_waiting=orders.max_waiting,
        clock_ns=SteadyClock(),
        count=tally.count,
    )
    context = httpx.create_ssl_context()
    if orders.ca_file:
        context.load_verify_locations(cafile=orders.ca_file)
    context.set_alpn_protocols(["http/1.1"])
    shadow = None
    if orders.shadow is not None:
        shadow = Shadow(
            orders.shadow,
            recorder=recorder,
            context=context,
            count=tally.count,
            random=random.SystemRandom().random,
            random_bytes=os.urandom,
        )
    server = ProxyServer(
        orders.settings,
        listening=listening,
        routes=Routes(anthropic=orders.anthropic, openai=orders.openai),
        recorder=recorder,
        context=context,
        count=tally.count,
        shadow=shadow,
    )
    # Who holds the terminal or the process group may signal both; the other one says when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    shipping = Shipping(line, recorder, tally)
    shipper = threading.Thread(target=shipping.run, daemon=True)
    shipper.start()
    threading.Thread(target=_watch, args=(line, server.stop), daemon=True).start()
    gc.freeze()
    with asyncio.Runner(loop_factory=_event_loop) as runner:
        runner.run(server.serve())
    shipping.over.set()
    shipper.join(_SHIP_S)
    return 0


def _watch(line: socket.socket, stop: Callable[[], None]) -> None:
    """Wait until the other side hangs up, however it does."""
    try:
        while line.recv(1):
            pass
    except OSError:
        pass
    stop()


def _event_loop() -> asyncio.AbstractEventLoop:
    """Make the fast event loop where there is one."""
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


if __name__ == "__main__":
    sys.exit(main(*(socket.socket(fileno=int(number)) for number in sys.argv[1:3])))

"""Test how orders to learn anew wait."""

from __future__ import annotations

import gc
import weakref

from alerts.detectors.rebaselining import Orders, Whose


def test_orders_are_taken_as_they_were_given() -> None:
    """Each is taken once, but those that nobody waits for any more."""
    orders = Orders()
    given = [Whose(agent=name, scorer="looping") for name in ("kettle", "teapot", "mug")]
    _, given_up, _ = [orders.give(whose) for whose in given]
    assert given_up.cancel()
    taken = [orders.take() for _ in range(3)]
    assert [order and order.whose for order in taken] == [given[0], given[2], None]


def test_an_order_that_was_given_up_is_not_kept() -> None:
    """While nobody takes orders, what waits is what somebody waits for."""
    orders = Orders()
    done = orders.give(Whose(agent="kettle", scorer="looping"))
    kept = weakref.ref(done)
    done.cancel()
    del done
    orders.give(Whose(agent="kettle", scorer="looping"))
    gc.collect()
    assert kept() is None

"""Test whose traffic the receivers take, by the token that is shown, over HTTP and gRPC."""

from __future__ import annotations

import grpc

from collector.config import TokenConfig
from tests.collector.receivers.desk import TWO, Desk, send
from tests.collector.receivers.grpc_desk import call, channel, code, refused, said, served

NAMED = {
    "acme": TokenConfig(token="t-acme", tenant="acme"),  # noqa: S106 - invented, as below
    "reader": TokenConfig(token="t-reader", rights=("read",)),  # noqa: S106
    "changing": TokenConfig(token="t-changing"),  # noqa: S106
}


def bearer(token: str) -> dict[str, str]:
    """Write the header that shows a token."""
    return {"authorization": f"Bearer {token}"}


def test_over_http() -> None:
    """What came with a tenant's token is that tenant's; one that may only read sends nothing."""
    desk = Desk()
    app = desk.app(token="of all", named=NAMED)  # noqa: S106
    refusal = send(app, TWO, **bearer("t-reader"))
    assert refusal.status_code == 403
    assert b"no right to write" in refusal.content
    for token in ("of all", "t-acme"):
        assert send(app, TWO, **bearer(token)).status_code == 200
    assert [entry.tenant for entry in desk.entries] == ["", "acme"]
    assert len({entry.credential for entry in desk.entries}) == 2
    assert desk.rejected() == {"forbidden": 1}


def test_over_grpc() -> None:
    """The same over gRPC."""
    desk = Desk()
    with (
        served(desk, token="of all", named=NAMED) as serving,  # noqa: S106
        channel(serving) as through,
    ):
        error = refused(through, TWO, authorization="Bearer t-reader")
        assert code(error) == grpc.StatusCode.PERMISSION_DENIED
        assert "no right to write" in said(error)
        for token in ("of all", "t-acme"):
            call(through, TWO, authorization=f"Bearer {token}")
    assert [entry.tenant for entry in desk.entries] == ["", "acme"]
    assert desk.rejected() == {"forbidden": 1}


def test_a_changed_token_is_the_same_sender() -> None:
    """A sender is known by its token's name, so that a new token splits no conversation."""
    desk = Desk()
    for token in ("t-changing", "t-changed"):
        named = {"changing": TokenConfig(token=token)}
        assert send(desk.app(named=named), TWO, **bearer(token)).status_code == 200
    first, second = desk.entries
    assert first.credential == second.credential != ""

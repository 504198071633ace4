"""Addresses are host and port."""

import pytest

from collector.address import is_http_url, is_loopback, parse_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:4318", "127.0.0.1", 4318),
        ("localhost:0", "localhost", 0),
        ("[::1]:9464", "::1", 9464),
        (":8090", "0.0.0.0", 8090),
    ],
)
def test_splits_host_and_port(text: str, host: str, port: int) -> None:
    """Every usual way to write an address is read, and an empty host means all interfaces."""
    address = parse_address(text)
    assert (address.host, address.port) == (host, port)


@pytest.mark.parametrize(
    "text", ["4318", "localhost", "localhost:", "h:70000", "::1:4318", "http://h:1", "h:\u0664"]
)
def test_refuses_what_is_not_an_address(text: str) -> None:
    """An address without a port, with a scheme or a bare IPv6 host is refused."""
    with pytest.raises(ValueError, match=r"expected host:port|brackets"):
        parse_address(text)


def test_writes_an_address_as_it_reads_it() -> None:
    """An IPv6 address is written in brackets."""
    assert str(parse_address("[::1]:9464")) == "[::1]:9464"
    assert str(parse_address("127.0.0.1:80")) == "127.0.0.1:80"


def test_knows_loopback() -> None:
    """Only addresses of this machine are loopback."""
    assert is_loopback("127.0.0.2")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("shop.example")


@pytest.mark.parametrize("url", ["http://a", "https://a.example:8443/x", "http://[::1]:8123"])
def test_a_url_is_known(url: str) -> None:
    """Host, port and path may follow the scheme."""
    assert is_http_url(url)


@pytest.mark.parametrize(
    "text", ["", "a:8123", "ftp://a", "http://", "http://a:x", "http://a b", "http://a:99999"]
)
def test_other_texts_are_no_urls(text: str) -> None:
    """A missing scheme or host, a port that is none and blanks are not let through."""
    assert not is_http_url(text)

"""Test what counts as sensitive and what does not."""

from __future__ import annotations

import pytest

from collector.redactor import Redactor

ALL = ("key", "token", "card", "email", "phone")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("use sk-ant-api03-AbCdEf123456789012345 now", "use [key] now"),
        ("OPENAI=sk-proj-Ab12Cd34Ef56Gh78Ij90", "OPENAI=[key]"),
        ("aws AKIAABCDEFGHIJKLMNOP done", "aws [key] done"),
        ("git ghp_abcdefghijklmnopqrst1234", "git [key]"),
        ("slack xoxb-123456789012-abcdef", "slack [key]"),
        ("maps AIzaAbCdEfGhIjKlMnOpQrStUvWxYz012345678", "maps [key]"),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY----- b",
            "a [key] b",
        ),
        ("-----BEGIN PRIVATE KEY-----\ncut off", "[key]"),
        ("password: hunter2, next", "password: [key], next"),
        ("DB_PASSWORD=abc123 x", "DB_PASSWORD=[key] x"),
        ("api-key = 'a b c'", "api-key = '[key]'"),
        ("my password is tr0ub4dor ok", "my password is [key] ok"),
        ("redis://app:s3cr@cache/0", "redis://app:[key]@cache/0"),
        ("Authorization: Bearer abcdef0123456789abcd", "Authorization: Bearer [token]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [token]"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def.", "jwt [token]."),
        ("pay 4111 1111 1111 1111 today", "pay [card] today"),
        ("pay 5500-0000-0000-0004", "pay [card]"),
        ("amex 378282246310005", "amex [card]"),
        ("to <mia.lund+shop@mail.example.com>.", "to <[email]>."),
        ("write to zoë@exämple.org", "write to [email]"),
        ("call 415-555-0100.", "call [phone]."),
        ("call (212) 555-0199 or 1 212 555 0199", "call [phone] or [phone]"),
        ("ring +44 20 7946 0958 or +14155550100", "ring [phone] or [phone]"),
        ("ring 0044 20 7946 0958", "ring [phone]"),
        ("ring 020 7946 0958, 07700 900123", "ring [phone], [phone]"),
        ("ring 01 23 45 67 89", "ring [phone]"),
        ("Tel: 02079460958, fax no. 4155550101", "Tel: [phone], fax no. [phone]"),
        ("my phone number is 4155550100", "my phone number is [phone]"),
    ],
)
def test_sensitive_text_is_replaced(text: str, clean: str) -> None:
    """Each known shape is replaced by its kind and nothing around it is lost."""
    assert Redactor(ALL).text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "order 4155550100 and W-415-555-0100 and #W4155550100",
        "on 2024-01-02 10:30:00, 01.02.2024 or 01-02-2024, at 2024-01-02T10:30:00.123456789Z",
        "it costs $1,234,567.00 or 1 234 567,00",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736 at 1700000000000000000",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "a card-like 4111111111111112 that fails its check digit",
        "a task-based desk-top risk-adjusted-return-on-capital",
        "the password is incorrect, reset your password, the secret of success",
        "max_tokens=100, token count 12, tokens: many",
        "ISBN 978-3-16-148410-0, address 192.168.100.200, version 2024.11.30",
        "npm package@1.2.3 and @mention and a@b",
        'Headphones (item 4202497723), "Smartphone": "1801728040", cellular 234567890123',
        "to reset your password: https://shop.example/reset",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Order numbers, dates, prices, ids and prose about passwords stay as they are."""
    assert Redactor(ALL).text(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "a@" * 20_000,
        "sk-" * 20_000,
        "eyJ" * 20_000,
        "eyJaaaaaaaa." * 5_000,
        "1 " * 30_000,
        "+1" * 30_000,
        "password" * 8_000,
        "password: '" * 5_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
        "://a:" * 12_000 + "@",
        "bearer " * 9_000,
        "\\" * 60_000 + '" password',
        "(0" * 30_000,
        "[" * 60_000,
        "1" + " " * 60_000,
        ("123456" + " " * 3_000 + "x") * 20,
        "2024-01-02 " * 6_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.timeout(5)
def test_hostile_text_costs_linear_time(text: str) -> None:
    """Sixty kilobytes made to make patterns backtrack are done at once."""
    Redactor(ALL).text(text)

"""Test what counts as sensitive and what does not."""

from __future__ import annotations

import pytest

from collector.redactor import Redactor
from collector.sensitive import DEFAULT_KINDS

ALL = DEFAULT_KINDS


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
        ("pay 5500-0000-0000-0004 or 5500.0000.0000.0004", "pay [card] or [card]"),
        ("amex 378282246310005", "amex [card]"),
        ("to <mia.lund+shop@mail.example.com>.", "to <[email]>."),
        ("write to zoë@exämple.org", "write to [email]"),
        ("https://shop.example/?to=mia%40example.com&n=1", "https://shop.example/?to=[email]&n=1"),
        ("call 415-555-0100.", "call [phone]."),
        ("call (212) 555-0199 or 1 212 555 0199", "call [phone] or [phone]"),
        ("ring +44 20 7946 0958 or +14155550100", "ring [phone] or [phone]"),
        ("ring 0044 20 7946 0958", "ring [phone]"),
        ("ring 020 7946 0958, 07700 900123", "ring [phone], [phone]"),
        ("ring 01 23 45 67 89", "ring [phone]"),
        ("Tel: 02079460958, fax no. 4155550101", "Tel: [phone], fax no. [phone]"),
        ("my phone number is 4155550100", "my phone number is [phone]"),
        ("Meine Handynummer lautet 01711234567", "Meine Handynummer lautet [phone]"),
        ("mein Passwort ist Tulpe!77, ja", "mein Passwort ist [key], ja"),
        ("mi contraseña es kiwi#12", "mi contraseña es [key]"),
        (
            "hook https://hooks.slack.com/services/T01AB2CD3/B01AB2CD3/aBcDeFgHiJkLmNoP",
            "hook https://hooks.slack.com/services/[key]",
        ),
        ("bot 1234567890:AAabcdefghijklmnopqrstuvwxyz0123456", "bot [key]"),
        ("hvs.CAESIabcdefghijklmnop0123 and ya29.a0AfH6SMBxabcdefghij", "[key] and [key]"),
        ("pay to DE89 3704 0044 0532 0130 00 now", "pay to [iban] now"),
        ("gb29nwbk60161331926819.", "[iban]."),
        ("NL91ABNA0417164300, MT84MALT011000012345MTLCAST001S", "[iban], [iban]"),
        ("SSN 536-90-4399 or 536904399", "SSN [national_id] or [national_id]"),
        ("536-90-4399", "[national_id]"),
        ("my NI number is AB123456C", "my NI number is [national_id]"),
        ("AB 12 34 56 C", "[national_id]"),
        ("Steuer-ID 36 574 261 809", "Steuer-ID [national_id]"),
        ("2 95 10 99 126 111 93", "[national_id]"),
        ("CF RCCMNL83S18D969H", "CF [national_id]"),
        ("111222333 (BSN)", "[national_id] (BSN)"),
        ("personnummer 880320-0016", "personnummer [national_id]"),
        ("PESEL: 44051401359", "PESEL: [national_id]"),
        ("CPF 390.533.447-05", "CPF [national_id]"),
        ("Aadhaar 2341 2341 2346", "Aadhaar [national_id]"),
        ("DNI 54362315-K, NIE X-5253868-R", "DNI [national_id], NIE [national_id]"),
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
        "DE88370400440532013000 fails its check, and DE89 is no account",
        "SSN 000-12-3456, PESEL 44051401358, BSN 111222334 are nobody's",
        "number 44051401359 of 536904399, 111222333 without a word beside",
        "git clone git@github.example:shop/desk.git",
        "an amount of 11.4111111111111111 and 0.579999999999927",
        "at 192.168.100.200, 2001:db8::8a2e:370:7334",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Order numbers, dates, prices, ids and prose about passwords stay as they are."""
    assert Redactor(ALL).text(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "a@" * 20_000,
        "a%40" * 15_000,
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
        "DE89 " * 12_000,
        "DE89AAAA" * 7_500,
        "ssn 123456789 " * 4_000,
        "dni " * 15_000 + "1234567",
        "ghp_" + "a" * 20 + "." * 60_000,
        "RSSMRA85M01H501" * 4_000,
        "1234567:AA" * 6_000,
        "AB 12 34 56 " * 5_000,
        "mein passwort ist " * 3_500,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.timeout(5)
def test_hostile_text_costs_linear_time(text: str) -> None:
    """Sixty kilobytes made to make patterns backtrack are done at once."""
    Redactor(ALL).text(text)


def test_addresses_of_machines_are_replaced_when_asked_for() -> None:
    """IP addresses of both versions are a kind that is off by default; versions and times are none."""
    text = "from 192.168.100.200 and 2001:db8::8a2e:370:7334, v1.2.3.4-rc, 10:30:00, ::1"
    clean = "from [ip] and [ip], v1.2.3.4-rc, 10:30:00, ::1"
    assert Redactor(("ip",)).text(text) == clean


@pytest.mark.parametrize("name", ["ssn", "customer_ssn", "passport_number", "nationalId"])
def test_a_field_s_name_gives_a_person_s_number_away(name: str) -> None:
    """A number of no known form goes by the name of its field, in values and in JSON; words stay."""
    redactor = Redactor(ALL)
    assert redactor.value({name: "C01X00T47"}) == {name: "[national_id]"}
    assert redactor.text(f'{{"{name}":"C01X00T47"}}') == f'{{"{name}":"[national_id]"}}'
    assert redactor.value({name: "expired"}) == {name: "expired"}

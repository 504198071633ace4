"""Settings are listed, shown and hidden for people."""

import yaml

from collector.config import Config
from collector.config_file import load
from collector.settings import MASK, as_yaml, changed, section_meanings, settings


def test_lists_every_key_with_its_meaning() -> None:
    """Each field of the configuration is a setting with a type, a default and a docstring."""
    found = {s.key: s for s in settings()}
    assert found["assemble.idle_timeout"].default == "15m"
    assert found["receive.max_body"].default == "20MiB"
    assert found["redact.kinds"].default.startswith("[key, ")
    assert found["scorers"].default == "{}"
    assert all(s.meaning and s.kind != "a value" for s in found.values())
    assert set(section_meanings()) == {s.section for s in found.values()}


def test_what_is_printed_can_be_read_back() -> None:
    """The effective configuration is a valid file with the same meaning."""
    environ = {
        "OUTRIDER__ASSEMBLE__IDLE_TIMEOUT": "1500ms",
        "OUTRIDER__RECEIVE__MAX_BODY": "1000",
        "OUTRIDER__SCORERS__LOOPING__REPEATS": "7",
        "OUTRIDER__REDACT__PATTERNS": r"{booking: 'BK-\d+'}",
    }
    config = load(None, environ)
    printed = yaml.safe_load(as_yaml(config))
    assert printed["assemble"]["idle_timeout"] == "1500ms"
    assert printed["receive"]["max_body"] == "1000B"
    assert printed["scorers"] == {"looping": {"repeats": 7}}
    assert printed["redact"]["patterns"] == {"booking": r"BK-\d+"}


def test_shows_only_what_was_changed() -> None:
    """Nothing changed is nothing shown."""
    assert changed(Config()) == {}
    assert changed(load(None, {"OUTRIDER__STORE__TTL_DAYS": "7"})) == {"store.ttl_days": 7}


def test_never_shows_a_secret() -> None:
    """Passwords, tokens, credentials in a URL and secret scorer options are hidden."""
    config = load(
        None,
        {
            "OUTRIDER__AUTH__TOKEN": "hush-1",
            "OUTRIDER__STORE__PASSWORD": "hush-2",
            "OUTRIDER__STORE__URL": "https://ann:hush-3@db.example:8443/x",
            "OUTRIDER__SCORERS__OWN__API_KEY": "hush-4",
        },
    )
    text = as_yaml(config) + str(changed(config))
    assert "hush" not in text
    assert changed(config)["auth.token"] == MASK
    assert changed(config)["store.url"] == f"https://{MASK}@db.example:8443/x"

"""Settings are listed, shown and hidden for people."""

from pathlib import Path

import pytest
import yaml

from collector.config import Config
from collector.config_file import load
from collector.errors import ConfigError
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
            "OUTRIDER__SCORERS__OWN__API_KEY": "https://x.example/hush-4",
            "OUTRIDER__SCORERS__OWN__MAX_TOKENS": "400",
            "OUTRIDER__PROXY__SHADOW__KEY": "hush-5",
            "OUTRIDER__PROXY__EXPORT__HEADERS": "{authorization: hush-6}",
            "OUTRIDER__REDACT__PSEUDONYM_KEY": "hush-7",
            "OUTRIDER__JOURNAL__ENCRYPTION_KEY": "a5" * 32,
        },
    )
    assert changed(config)["scorers.own.max_tokens"] == 400
    text = as_yaml(config) + str(changed(config))
    assert "hush" not in text
    assert "a5a5" not in text
    assert MASK not in as_yaml(config)
    assert changed(config)["auth.token"] == MASK
    assert changed(config)["store.url"] == f"https://{MASK}@db.example:8443/x"


def test_a_printed_file_loads_where_its_secrets_are(tmp_path: Path) -> None:
    """Secrets are references: with their variables the file is the configuration, without not."""
    secrets = {
        "OUTRIDER__AUTH__TOKEN": "hush-1",
        "OUTRIDER__STORE__PASSWORD": "hush: '2'",
        "OUTRIDER__STORE__URL": "https://ann:hush-3@db.example:8443/x",
        "OUTRIDER__SCORERS__OWN__API_KEY": "hush-4",
        "OUTRIDER__PROXY__SHADOW__KEY": "hush-5",
        "OUTRIDER__PROXY__EXPORT__HEADERS__AUTHORIZATION": "hush-6",
    }
    config = load(None, secrets | {"OUTRIDER__ASSEMBLE__IDLE_TIMEOUT": "5m"})
    path = tmp_path / "outrider.yaml"
    path.write_text(as_yaml(config))
    assert load(path, secrets) == config
    for name in secrets:
        with pytest.raises(ConfigError, match=f"the environment variable {name} is not set"):
            load(path, {n: v for n, v in secrets.items() if n != name})


def test_a_secret_that_no_variable_overrides_has_a_name_of_its_own(tmp_path: Path) -> None:
    """An option whose name is no variable's is still a reference that works."""
    path = tmp_path / "outrider.yaml"
    path.write_text("scorers: {own: {headers: {X-Api_Key: hush}}}")
    config = load(path, {})
    path.write_text(as_yaml(config))
    assert load(path, {"SECRET_SCORERS__OWN__HEADERS__X_API_KEY": "hush"}) == config

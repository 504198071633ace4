"""A file and the environment become a checked configuration."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from collector.config import Config
from collector.config_file import addresses, load, with_addresses
from collector.errors import ConfigError


def read(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> Config:
    """Load a configuration from its text."""
    path = tmp_path / "outrider.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, environ or {})


def problem(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the error of a configuration, without the file's name in front."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text, environ)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path / 'outrider.yaml'}: ")


@pytest.mark.parametrize("text", ["", "# nothing\n", "receive:\n", "{}"])
def test_an_empty_file_means_the_defaults(tmp_path: Path, text: str) -> None:
    """A file or section without keys changes nothing."""
    assert read(tmp_path, text) == Config()
    assert load(None, {}) == Config()


def test_reads_units_lists_and_options(tmp_path: Path) -> None:
    """Durations and sizes take units, and scorer options keep their types."""
    config = read(
        tmp_path,
        """
        assemble: {idle_timeout: 3s, lone_trace_timeout: 2, content_budget: 64MiB}
        redact: {kinds: [email], patterns: {booking: 'BK-\\d+'}}
        scorers:
          looping: {repeats: 5, enabled: false}
        """,
    )
    assert config.assemble.idle_timeout == 3
    assert config.assemble.lone_trace_timeout == 2
    assert config.assemble.content_budget == 64 * 2**20
    assert config.redact.kinds == ("email",)
    assert config.redact.patterns == {"booking": r"BK-\d+"}
    assert config.scorers == {"looping": {"repeats": 5, "enabled": False}}


def test_environment_goes_over_the_file(tmp_path: Path) -> None:
    """A variable wins over the file, in every kind of section."""
    environ = {
        "OUTRIDER__ASSEMBLE__IDLE_TIMEOUT": "250ms",
        "OUTRIDER__JOURNAL__SEEN_LIMIT": "10",
        "OUTRIDER__SAMPLE__KEEP_FAILING": "false",
        "OUTRIDER__SAMPLE__RATE": "0.5",
        "OUTRIDER__REDACT__KINDS": "email, phone",
        "OUTRIDER__STORE__PASSWORD": "1234",
        "OUTRIDER__SCORERS__LOOPING__REPEATS": "7",
        "OUTRIDER__SCORERS__LOOPING__ENABLED": "true",
        "HOME": "/nowhere",
    }
    config = read(tmp_path, "assemble: {idle_timeout: 9s}\nscorers: {looping: {}}", environ)
    assert config.assemble.idle_timeout == 0.25
    assert config.journal.seen_limit == 10
    assert not config.sample.keep_failing
    assert config.sample.rate == 0.5
    assert config.redact.kinds == ("email", "phone")
    assert config.store.password == "1234"  # noqa: S105 - an invented one
    assert config.scorers["looping"] == {"repeats": 7, "enabled": True}


def test_a_list_from_the_environment_may_be_yaml() -> None:
    """A list can be written with commas, as YAML, or empty."""
    assert load(None, {"OUTRIDER__REDACT__KINDS": '["email"]'}).redact.kinds == ("email",)
    assert load(None, {"OUTRIDER__REDACT__KINDS": ""}).redact.kinds == ()


def test_takes_secrets_from_the_environment(tmp_path: Path) -> None:
    """``${env:NAME}`` is replaced anywhere in a text, and takes its key's type."""
    text = "auth: {token: 'x-${env:T}'}\njournal: {seen_limit: '${env:N:-5}'}\n"
    text += "scorers: {own: {words: ['${env:T}', two], limit: '${env:N:-5}'}}\n"
    config = read(tmp_path, text, {"T": "tok"})
    assert type(config.auth.token) is str
    assert msgspec.to_builtins(config.scorers) == {"own": {"words": ["tok", "two"], "limit": 5}}
    assert config.auth.token == "x-tok"  # noqa: S105 - an invented one
    assert config.journal.seen_limit == 5


def test_names_a_missing_variable(tmp_path: Path) -> None:
    """A reference to a variable that is not set names the key and the variable."""
    assert problem(tmp_path, "auth: {token: '${env:NO_TOKEN}'}").startswith(
        "auth.token: the environment variable NO_TOKEN is not set"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "assemble: {idle_timout: 3s}",
            "assemble.idle_timout: there is no such key in assemble; did you mean idle_timeout?",
        ),
        ("asemble: {}", "asemble: there is no such section; did you mean assemble?"),
        ("auth: {zzz: 1}", "auth.zzz: there is no such key in auth; it may be one of allow_"),
        ("assemble: {idle_timeout: soon}", "assemble.idle_timeout: expected a duration such as"),
        ("assemble: {turn_quiet: -3}", "assemble.turn_quiet: expected a duration >= 0, got -3"),
        ("assemble: {idle_timeout: 0}", "assemble.idle_timeout: expected a duration > 0, got 0"),
        ("assemble: {max_episode: 0s}", "assemble.max_episode: expected a duration > 0, got '0s'"),
        ("assemble: {late_window: .inf}", "assemble.late_window: expected a duration such as"),
        ("assemble: {late_window: .nan}", "assemble.late_window: expected a duration"),
        ("receive: {max_body: 0MiB}", "receive.max_body: expected a size >= 1, got '0MiB'"),
        ("journal: {max_size: 3 parsecs}", "journal.max_size: expected a size such as"),
        ("journal: {seen_limit: many}", "journal.seen_limit: expected a whole number, got 'many'"),
        ("sample: {rate: 2}", "sample.rate: expected a number <= 1, got 2"),
        ("sample: {keep_failing: 1}", "sample.keep_failing: expected true or false, got 1"),
        ("store: {password: 12}", "store.password: expected text, got 12; put it in quotes"),
        ("redact: {kinds: email}", "redact.kinds: expected a list, got 'email'"),
        ("receive: [1]", "receive: expected keys and values under it, got a list"),
        ("scorers: {looping: 3}", "scorers.looping: expected keys and values under it, got 3"),
        ("- a", "expected sections such as `receive:`, got a list"),
        ("auth: {token: a, token: b}", "line 1: the key 'token' is written twice"),
        ("auth: {token: a\n", "line 2: "),
        ("auth: !!python/object/apply:os.getcwd []", "line 1: could not determine a constructor"),
        ("receive: {http: localhost}", "receive.http: expected host:port"),
        ("redact: {kinds: [emial]}", "redact.kinds: there is no kind 'emial'; did you mean email?"),
        ("redact: {patterns: {a: '('}}", "redact.patterns.a: not a regular expression"),
        ("telemetry: {log_level: loud}", "telemetry.log_level: expected one of debug, info"),
        ("store: {batch_episodes: 0}", "store.batch_episodes: expected a number >= 1, got 0"),
        ("store: {url: 'db:8123'}", "store.url: expected http(s)://host:8123, got 'db:8123'"),
        ("store: {url: 'ann:hush@db:8123'}", "store.url: expected http(s)://host:8123, got 'db:"),
        (
            "telemetry: {otlp_endpoint: 'collector:4318'}",
            "telemetry.otlp_endpoint: expected http(s)://host:4318, got 'collector:4318'",
        ),
        ("alerts: {webhook: 'hooks/T0P'}", "alerts.webhook: expected an http(s):// URL; leave"),
        ("alerts: {console_url: 'c:8090'}", "alerts.console_url: expected http(s)://host:8090"),
        (
            "console: {address: '127.0.0.1:4318'}",
            "console.address: 127.0.0.1:4318 is already taken by receive.http",
        ),
        (
            "receive: {http: '0.0.0.0:4318'}",
            "receive.http: 0.0.0.0:4318 can be reached from other machines; set auth.token",
        ),
        (
            "receive: {grpc: '0.0.0.0:4317'}",
            "receive.grpc: 0.0.0.0:4317 can be reached from other machines; set auth.token",
        ),
        (
            "receive: {grpc: '127.0.0.1:4318'}",
            "receive.grpc: 127.0.0.1:4318 is already taken by receive.http",
        ),
        ("receive: {tls: {cert: x}}", "receive.tls.cert: there is no such key in receive.tls"),
    ],
)
def test_names_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    """Every error is one line with the key, what was given and what is expected."""
    assert message in problem(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("OUTRIDER__ASSEMBLE__IDLE_TIMOUT", "3s", "did you mean idle_timeout?"),
        ("OUTRIDER__ASSEMBLE__IDLE_TIMEOUT", "soon", "expected a duration"),
        ("OUTRIDER__JOURNAL__SEEN_LIMIT", "many", "expected a whole number, got 'many'"),
        ("OUTRIDER__NOPE__X", "1", "there is no such section"),
        ("OUTRIDER__", "1", "expected OUTRIDER__SECTION__KEY"),
    ],
)
def test_names_the_variable_that_is_wrong(name: str, value: str, message: str) -> None:
    """An error in an override names the variable, not the file."""
    with pytest.raises(ConfigError) as caught:
        load(None, {name: value})
    assert str(caught.value).startswith(f"{name}: ")
    assert message in str(caught.value)


def test_reports_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A file that cannot be read is named."""
    with pytest.raises(ConfigError, match=r"absent\.yaml: No such file"):
        load(tmp_path / "absent.yaml", {})


def test_a_token_permits_other_machines(tmp_path: Path) -> None:
    """With a token, or on the user's word, any address may be bound."""
    text = "receive: {http: '0.0.0.0:4318'}\nauth: {%s}"
    assert read(tmp_path, text % "token: abc").receive.http == "0.0.0.0:4318"
    assert read(tmp_path, text % "allow_insecure: true").receive.http == "0.0.0.0:4318"


def test_ports_the_system_chooses_do_not_collide(tmp_path: Path) -> None:
    """Port 0 may be given to several servers."""
    read(tmp_path, "receive: {http: '127.0.0.1:0'}\nconsole: {address: '127.0.0.1:0'}")


def test_a_webhook_is_never_repeated(tmp_path: Path) -> None:
    """The URL of a webhook may be a secret as a whole, so no error quotes it."""
    assert "T0P" not in problem(tmp_path, "alerts: {webhook: 'hooks/T0P'}")


def test_bound_addresses_take_the_place_of_those_asked_for(tmp_path: Path) -> None:
    """What the process bound is put into the configuration, by key; nothing else changes."""
    config = read(tmp_path, "receive: {http: '127.0.0.1:0', max_body: 1MiB}")
    bound = with_addresses(
        config, {"receive.http": "127.0.0.1:9", "console.address": "127.0.0.1:8"}
    )
    assert (bound.receive.http, bound.console.address) == ("127.0.0.1:9", "127.0.0.1:8")
    assert bound.receive.max_body == config.receive.max_body


def test_no_grpc(tmp_path: Path) -> None:
    """An empty address means that the port is not opened."""
    assert "receive.grpc" in addresses(Config())
    assert "receive.grpc" not in addresses(read(tmp_path, "receive: {grpc: ''}"))

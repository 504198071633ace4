"""`outrider check` finds what would keep `serve` from starting."""

import os
import socket
from pathlib import Path

import pytest
import yaml

from collector import serve_file
from collector.cli import main
from collector.directory_lock import DirectoryLock
from collector.serve_file import Running
from tests.collector.commands.receiver import serving


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let the system choose the ports, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    for key in ("RECEIVE__HTTP", "RECEIVE__GRPC", "CONSOLE__ADDRESS", "TELEMETRY__METRICS"):
        monkeypatch.setenv(f"OUTRIDER__{key}", "127.0.0.1:0")


def error(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line of the error."""
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text.removeprefix("outrider: error: ").strip()


@pytest.mark.usefixtures("ports")
def test_says_ok_and_what_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is not at its default is shown, secrets hidden."""
    monkeypatch.setenv("OUTRIDER__ASSEMBLE__IDLE_TIMEOUT", "5m")
    monkeypatch.setenv("OUTRIDER__AUTH__TOKEN", "hush")
    assert main(["check"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "ok"
    assert "  assemble.idle_timeout: 5m\n" in out
    assert "hush" not in out
    assert not Path("outrider-data").exists()


def test_prints_the_whole_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--print` is a file to start from, and the file is one that we read."""
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--print"]) == 0
    text = capsys.readouterr().out
    assert yaml.safe_load(text)["assemble"]["idle_timeout"] == "15m"
    (tmp_path / "outrider.yaml").write_text(text)
    assert main(["check", "--print"]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.usefixtures("ports")
def test_names_a_port_in_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A taken port is named with its key and the fix."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("OUTRIDER__CONSOLE__ADDRESS", address)
        assert main(["check"]) == 2
        assert error(capsys).startswith(f"console.address: {address} is in use; ")


@pytest.mark.usefixtures("ports")
def test_names_a_directory_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A data directory that another process holds is named."""
    lock = DirectoryLock(tmp_path / "data" / "lock")
    try:
        assert main(["check", "--data-dir", str(tmp_path / "data")]) == 2
        assert "is in use by process" in error(capsys)
    finally:
        lock.release()
    assert main(["check", "--data-dir", str(tmp_path / "data")]) == 0


@pytest.mark.usefixtures("ports")
def test_names_a_directory_that_is_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A data directory below a file cannot be made."""
    (tmp_path / "file").write_text("")
    assert main(["check", "--data-dir", str(tmp_path / "file" / "data")]) == 2
    assert "file: is not a directory" in error(capsys)


@pytest.mark.usefixtures("ports")
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has it")
def test_names_a_place_that_takes_no_directory(capsys: pytest.CaptureFixture[str]) -> None:
    """Permissions say nothing of it, so it is tried."""
    assert main(["check", "--data-dir", "/proc/outrider"]) == 2
    assert "/proc/outrider: " in capsys.readouterr().err


def test_names_an_unknown_scorer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scorers' names and options are checked too."""
    monkeypatch.setenv("OUTRIDER__SCORERS__LOPING__ENABLED", "false")
    assert main(["check"]) == 2
    assert "did you mean looping?" in error(capsys)


@pytest.mark.usefixtures("ports")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("{loping: 0.9}", "detect.floor.loping: no such scorer runs; these do: "),
        ("{looping: 1.0}", "expected a number < 1, got 1"),
        ("{looping: 0}", "expected a number > 0, got 0"),
    ],
)
def test_names_a_floor_that_cannot_be(
    value: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A floor is under a scorer that runs, and is a share between none and all."""
    monkeypatch.setenv("OUTRIDER__DETECT__FLOOR", value)
    assert main(["check"]) == 2
    assert said in error(capsys)
    monkeypatch.setenv("OUTRIDER__DETECT__FLOOR", "{looping: 0.9}")
    assert main(["check"]) == 0


@pytest.mark.usefixtures("ports")
def test_a_running_instance_is_no_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the instance of this data directory holds counts as free, and its process is named."""
    data = tmp_path / "data"
    lock = DirectoryLock(data / "lock")
    with serving(lambda _: (200, b"")) as url:
        console = url.removeprefix("http://")
        serve_file.write(data, Running(pid=os.getpid(), console=console))
        monkeypatch.setenv("OUTRIDER__CONSOLE__ADDRESS", console)
        assert main(["check", "--data-dir", str(data)]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"ok\n  process {os.getpid()} serves from {data} already")
        monkeypatch.setenv("OUTRIDER__CONSOLE__ADDRESS", "127.0.0.1:0")
        monkeypatch.setenv("OUTRIDER__TELEMETRY__METRICS", console)
        assert main(["check", "--data-dir", str(data)]) == 2
        assert error(capsys).startswith(f"telemetry.metrics: {console} is in use; ")
    lock.release()


@pytest.mark.usefixtures("ports")
def test_a_server_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ClickHouse server is reached, and the keys that lead to it are named when it is not."""
    monkeypatch.setenv("OUTRIDER__STORE__URL", "http://ann:hush@127.0.0.1:9")
    assert main(["check"]) == 2
    text = error(capsys)
    assert text.startswith("store.url: http://127.0.0.1:9 cannot be used: ")
    assert "store.password" in text
    assert "hush" not in text


@pytest.mark.usefixtures("ports")
@pytest.mark.parametrize(
    ("option", "value", "fix"),
    [
        ("LOOPING__REPEATS", "0", "looping.repeats: expected a whole number >= 1, got 0"),
        ("LOOPING__REPEATS", "few", "looping.repeats: expected a whole number >= 1, got 'few'"),
        ("FAITHFULNESS__THRESHOLD", "5", "faithfulness.threshold: expected a number >= 0 and"),
    ],
)
def test_names_an_option_out_of_range(
    option: str,
    value: str,
    fix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A scorer's option that makes no sense is found before the start."""
    monkeypatch.setenv(f"OUTRIDER__SCORERS__{option}", value)
    assert main(["check"]) == 2
    assert fix in error(capsys)


@pytest.mark.usefixtures("ports")
def test_warns_of_a_variable_that_sets_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A variable that misses an underscore is named with the right form; it is no error."""
    monkeypatch.setenv("OUTRIDER_ASSEMBLE_IDLE_TIMEOUT", "3s")
    assert main(["check"]) == 0
    captured = capsys.readouterr()
    assert captured.err == (
        "outrider: warning: OUTRIDER_ASSEMBLE_IDLE_TIMEOUT sets no key; "
        "did you mean OUTRIDER__ASSEMBLE__IDLE_TIMEOUT?\n"
    )
    assert "ok\n" in captured.out


@pytest.mark.usefixtures("ports")
@pytest.mark.parametrize(
    ("said", "key"),
    [
        ({"KAFKA__BOOTSTRAP": "broker"}, "kafka.bootstrap"),
        ({"KAFKA__SECURITY": "ssl", "KAFKA__CA_FILE": "no.pem"}, "kafka.ca_file"),
        ({"KAFKA__SECURITY": "ssl", "KAFKA__CERT_FILE": __file__}, "kafka.key_file"),
        ({"KAFKA__SECURITY": "sasl_plaintext", "KAFKA__USER": "ann"}, "kafka.user, kafka.password"),
        ({"KAFKA__SECURITY": "sasl_ssl", "KAFKA__SASL": "OAUTHBEARER"}, "kafka.token_file"),
        ({"KAFKA__TRACES": "one", "KAFKA__LOGS": "one"}, "kafka.traces, kafka.logs"),
        ({"PROXY__ADDRESS": "127.0.0.1:0", "PROXY__CA_FILE": "no.pem"}, "proxy.ca_file"),
        ({"AUTH__TOKENS__A__FILE": "no.token"}, "auth.tokens.a.file"),
    ],
)
def test_names_what_brokers_and_upstreams_are_reached_with(
    said: dict[str, str],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A file, user or password that is missing is found before the start, a file of tokens too; no broker is asked."""
    for name, value in ({"KAFKA__BOOTSTRAP": "127.0.0.1:9"} | said).items():
        monkeypatch.setenv(f"OUTRIDER__{name}", value)
    assert main(["check"]) == 2
    assert error(capsys).startswith(f"{key}: ")


@pytest.mark.usefixtures("ports")
def test_brokers_that_are_away_are_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are tried again for ever, so a start goes on without them."""
    monkeypatch.setenv("OUTRIDER__KAFKA__BOOTSTRAP", "127.0.0.1:9")
    assert main(["check"]) == 0

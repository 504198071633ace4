"""Hold how scorers are found and configured."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from collector.errors import ConfigError
from collector.model import Conversation
from scorers.registry import GROUP, builtin, configured
from scorers.result import ScorerResult, Skip
from scorers.scorer import scorer


@scorer(level="conversation", version="1")
def cheerful(conversation: Conversation, *, smiles: int = 1) -> ScorerResult:
    """Come from another distribution."""
    return Skip(reason="no_smiles")


@scorer(level="conversation", version="1")
def looping(conversation: Conversation) -> ScorerResult:
    """Take a name that is taken."""
    return Skip(reason="clash")


def plugin(attribute: str, module: str = __name__) -> EntryPoint:
    """Build the entry point of something in this file."""
    return EntryPoint(name=attribute, value=f"{module}:{attribute}", group=GROUP)


def test_names_are_unique_and_described() -> None:
    """Every built-in scorer has a name of its own, a version and a one-line summary."""
    names = [info.name for info in builtin()]
    assert len(set(names)) == len(names)
    assert all(info.version and info.summary.endswith(".") for info in builtin())


def test_nothing_configured_means_all_of_them() -> None:
    """Without options every built-in scorer runs with its defaults."""
    assert configured({}, plugins=()) == builtin()


def test_a_scorer_can_be_switched_off() -> None:
    """``enabled: false`` leaves one scorer out and no other."""
    chosen = configured({"looping": {"enabled": False}}, plugins=())
    assert {i.name for i in builtin()} - {i.name for i in chosen} == {"looping"}


def test_options_are_applied() -> None:
    """An option of the user replaces the default."""
    chosen = {i.name: i for i in configured({"looping": {"repeats": 9}}, plugins=())}
    assert chosen["looping"].options["repeats"] == 9


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"lopping": {}}, "scorers.lopping: there is no such scorer; did you mean looping?"),
        ({"zzz": {}}, "scorers.zzz: there is no such scorer; known: "),
        (
            {"looping": {"repeat": 3}},
            "scorers.looping.repeat: there is no such option; did you mean repeats?",
        ),
        ({"false_success": {"zzz": 3}}, "scorers.false_success.zzz: there is no such option"),
        (
            {"looping": {"repeats": "many"}},
            "scorers.looping.repeats: expected a whole number >= 1, got 'many'",
        ),
        ({"looping": {"repeats": 0}}, "expected a whole number >= 1, got 0"),
        ({"looping": {"repeats": True}}, "expected a whole number >= 1, got true"),
        ({"unnecessary_escalation": {"attempts": -3}}, "expected a whole number >= 1, got -3"),
        (
            {"faithfulness": {"threshold": 5}},
            "scorers.faithfulness.threshold: expected a number >= 0 and <= 1, got 5",
        ),
        (
            {"looping": {"enabled": "no"}},
            "scorers.looping.enabled: expected true or false, got 'no'",
        ),
    ],
)
def test_mistakes_are_named(options: dict[str, dict[str, object]], text: str) -> None:
    """An unknown scorer, an unknown option and a wrong type are each said in one line."""
    with pytest.raises(ConfigError) as caught:
        configured(options, plugins=())
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_distributions_bring_scorers() -> None:
    """An entry point adds a scorer, which takes options like the built-in ones."""
    chosen = configured({"cheerful": {"smiles": 3}}, plugins=[plugin("cheerful")])
    assert chosen[-1].name == "cheerful"
    assert chosen[-1].options == {"smiles": 3}


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (plugin("looping"), "a scorer named looping exists already"),
        (plugin("plugin"), "is not a scorer"),
        (plugin("nothing"), "cannot be loaded"),
        (plugin("x", "no_such_module_here"), "cannot be loaded"),
    ],
)
def test_bad_entry_points_are_named(entry: EntryPoint, text: str) -> None:
    """A clash of names and an entry point that is no scorer stop the start."""
    with pytest.raises(ConfigError, match=text):
        configured({}, plugins=[entry])

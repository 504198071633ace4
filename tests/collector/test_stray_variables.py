"""Variables that nearly set a key are found."""

from collector.stray_variables import stray_variables


def test_a_missing_underscore_is_found() -> None:
    """The variable is named with the one that was meant."""
    assert stray_variables(
        {
            "OUTRIDER_ASSEMBLE_IDLE_TIMEOUT": "3s",
            "OUTRIDER_ASSEMBLE__IDLE_TIMEOUT": "3s",
            "OUTRIDER_SCORERS_LOOPING__REPEATS": "3",
            "OUTRIDER_SCORERS_LOOPING_REPEATS": "3",
        }
    ) == {
        "OUTRIDER_ASSEMBLE_IDLE_TIMEOUT": "OUTRIDER__ASSEMBLE__IDLE_TIMEOUT",
        "OUTRIDER_ASSEMBLE__IDLE_TIMEOUT": "OUTRIDER__ASSEMBLE__IDLE_TIMEOUT",
        "OUTRIDER_SCORERS_LOOPING__REPEATS": "OUTRIDER__SCORERS__LOOPING__REPEATS",
        "OUTRIDER_SCORERS_LOOPING_REPEATS": "OUTRIDER__SCORERS__NAME__OPTION",
    }


def test_other_variables_are_left_alone() -> None:
    """Right ones are none, nor are names that only begin like ours."""
    assert not stray_variables(
        {"OUTRIDER__STORE__URL": "http://db", "OUTRIDER_DATABASE": "x", "STORE_URL": "x"}
    )

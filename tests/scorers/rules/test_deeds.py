"""Hold what an agent had done by the time it spoke."""

from __future__ import annotations

from collector.model import Episode, ToolCall
from scorers.rules.acts import Act
from scorers.rules.deeds import Account, Deed, deeds_of, names_in
from scorers.rules.tool_outcome import outcome_of
from tests.build import agent, conversation, request, result, user


def deed(name: str, act: Act, at: int, answer: str = "ok", **arguments: str) -> Deed:
    """Build one call asked for at a message."""
    call = ToolCall(name=name, asked_at=at, result=answer, arguments=dict(arguments))
    return Deed(call=call, acts=frozenset([act]), outcome=outcome_of(call))


def test_only_what_came_before_counts() -> None:
    """A call stands in the account once the agent has spoken after it."""
    account = Account([deed("cancel_parcel", "remove", 3)])
    account.advance(3)
    assert not account.any_done
    account.advance(4)
    assert account.any_done
    found = account.fitting("remove", 4)
    assert found is not None
    assert found.call.name == "cancel_parcel"
    assert account.fitting("pay", 4) is None
    assert account.fitting("any", 4) is found


def test_a_call_beside_the_claim_counts_when_it_works() -> None:
    """A failure beside the claim is not yet known to the agent, a success is as good as done."""
    account = Account(
        [deed("send_mail", "tell", 2), deed("cancel_parcel", "remove", 2, "Error: no")]
    )
    account.advance(2)
    assert account.fitting("tell", 2) is not None
    assert account.fitting("remove", 2) is None


def test_names_tell_whether_a_deed_concerns_a_thing() -> None:
    """A named thing of the same form as the arguments, that no call names, is not concerned."""
    account = Account([deed("cancel_parcel", "remove", 1, '{"refund": "RF-77"}', parcel="#P100")])
    account.advance(2)
    assert account.concerns("remove", {"#p100"}, 2)
    assert not account.concerns("remove", {"#p200"}, 2)
    assert account.concerns("remove", {"#p200", "#p100"}, 2)
    assert account.concerns("remove", {"visa_4242"}, 2)
    assert account.concerns("remove", {"rf-77"}, 2)


def test_identifiers_mix_letters_and_digits() -> None:
    """Words, plain numbers and short codes name nothing."""
    assert names_in("Parcel #A1234 of ada_77 on 2024-05-01 for 12000 to gate B7, thanks") == {
        "#a1234",
        "ada_77",
    }


def test_lookups_and_the_users_own_calls_are_no_deeds() -> None:
    """Only the agent's calls that may act are counted, earlier episodes' included."""
    talk = conversation(
        user("Cancel it"),
        agent("", request("cancel_parcel", id="a", parcel="#P1")),
        result("cancel_parcel", "Error: no", id="a"),
        user("Again"),
        agent("", request("get_parcel", id="b"), request("cancel_parcel", id="c")),
        episode=Episode(number=2, first_message=3),
    )
    found = deeds_of(talk)
    assert [(d.call.name, d.call.asked_at, d.done) for d in found] == [
        ("cancel_parcel", 1, False),
        ("cancel_parcel", 4, True),
    ]

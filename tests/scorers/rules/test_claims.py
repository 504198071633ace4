"""Hold which sentences claim that something has been done."""

from __future__ import annotations

import pytest

from scorers.rules.claims import claims_in


def verbs(text: str) -> list[str]:
    """Return the verbs of the claims in a text."""
    return [claim.verb for claim in claims_in(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've sent the invoice to Ada.", ["sent"]),
        ("I\u2019ve just **rebooked** your seat.", ["rebooked"]),
        ("Sure, I deleted the old tariff.", ["deleted"]),
        ("We have gone ahead and cancelled the parcel.", ["cancelled"]),
        ("Your parcel has now been rescheduled.", ["rescheduled"]),
        ("The tariff is now changed.", ["changed"]),
        ("Password updated successfully.", ["updated"]),
        ("I was able to successfully create the label.", ["create"]),
        ("The payment was successful.", ["succeeded"]),
        (
            "Here is what I did:\n1. Sent the invoice to Ada\n2. Closed the ticket",
            ["sent", "closed"],
        ),
        ("I have looked up the depot and messaged the driver.", ["messaged"]),
        ("I created the label and emailed it to you.", ["created", "emailed"]),
        ("The seat has been booked and paid.", ["booked", "paid"]),
        ("I've changed your plan to Basic.", ["changed"]),
        ("I have submitted a review of the depot.", ["submitted"]),
        ("I've made a reservation for two.", ["made"]),
    ],
)
def test_perfective_sentences_are_claims(text: str, expected: list[str]) -> None:
    """Active, passive, elliptic and listed deeds are claims, and so is what an "and" adds."""
    assert verbs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I will send the invoice.",
        "I can cancel the parcel for you.",
        "Would you like me to cancel it?",
        "Has your parcel been cancelled?",
        "Once the parcel has been returned, we refund you.",
        "If it has been cancelled, you get a mail.",
        "After I have updated the label, it prints.",
        "I have not cancelled the parcel.",
        "I haven't sent the invoice.",
        "I was unable to cancel it.",
        "No changes have been made.",
        "It should have been delivered and closed.",
        "The parcel was previously cancelled.",
        "The label I created is below.",
        "I have checked the depot and found your parcel.",
        "I've confirmed that the parcel is in Bern.",
        "I have created a summary of your options.",
        "I've informed you of the fee.",
        "I've made sure the dates fit.",
        "I have completed the search.",
        "The analysis has been completed.",
        "I've started looking into it.",
        "We have extended our opening hours.",
        "I've added the mug to the list of items.",
        "You have updated your address.",
        "The museum has been closed since 2019.",
        "Hello, how can I help?",
        "",
    ],
)
def test_what_is_not_done_here_and_now_is_no_claim(text: str) -> None:
    """Promises, offers, questions, conditions, negations, history and mere talk claim nothing."""
    assert verbs(text) == []


def test_work_on_a_proposal_is_no_claim() -> None:
    """What the agent changes in its own proposal is not done while it asks for a confirmation."""
    assert verbs("I've added the mug to your return. Please confirm that this is right.") == []
    assert verbs("I've added the mug to your return.") == ["added"]


def test_a_claim_quotes_its_sentence_as_it_stands() -> None:
    """The quote is the whole sentence with its marks, and nothing of its neighbours."""
    text = "Good news! I\u2019ve **cancelled** parcel 3.5 for you. Anything else?"
    claim = claims_in(text, message=4)[0]
    assert claim.quote == "I\u2019ve **cancelled** parcel 3.5 for you."
    assert claim.message == 4


def test_letters_that_grow_in_lowercase_do_not_move_quotes() -> None:
    """A capital whose lowercase form is longer leaves the offsets as they are."""
    text = "\u0130\u0130\u0130 hello. I have sent the invoice. Bye."
    assert claims_in(text)[0].quote == "I have sent the invoice."


def test_facts_are_told_from_own_deeds() -> None:
    """Only the first person and "successfully" make a claim that is no fact read elsewhere."""
    assert claims_in("I have sent it.")[0].sure
    assert claims_in("It was successfully sent.")[0].sure
    assert not claims_in("It has been sent.")[0].sure


@pytest.mark.parametrize(
    "piece", ["I have ", "has been ", "\n", " ", "i", "a, ", "successfully ", "- 1) "]
)
def test_hostile_messages_are_read(piece: str) -> None:
    """A message of a few hundred kilobytes of nothing but openings is read to a bounded list."""
    assert len(claims_in(piece * (300_000 // len(piece)))) < 1_000


def test_quoted_words_are_no_claims() -> None:
    """What the agent quotes is not what it says of itself."""
    assert claims_in('The page says "your order has been cancelled" then.') == []
    assert claims_in("The page says \u201cyour order has been cancelled\u201d then.") == []
    assert [c.verb for c in claims_in('I have sent "the order is cancelled" to Ana.')] == ["sent"]

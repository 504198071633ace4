"""Hold what a reply may say on the grounds of documents and of tool results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.model import Conversation, Document, Episode
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.faithfulness import faithfulness
from tests.build import agent, conversation, request, result, user

TOWN = """Lindholm is a harbour town in the north with 4,210 inhabitants. Its lighthouse was built
in 1887 by Karin Alm. The ferry to Storby leaves before noon every day. Dogs are not allowed on board."""


def rag(
    answer: str, question: str = "What do you know of Lindholm?", text: str = TOWN
) -> Conversation:
    """Build a question about a document and its answer."""
    return conversation(user(question), agent(answer), documents=(Document(text=text),))


def lookup(
    answer: str, found: str = '{"order": "55120", "total": "84.00", "items": 3, "card": "40021188"}'
) -> Conversation:
    """Build a request, one look-up and the reply."""
    return conversation(
        user("What about my order?"),
        agent("", request("get_order", "c")),
        result("get_order", found, "c"),
        agent(answer),
    )


def judged(talk: Conversation, **options: float) -> ScorerResult:
    """Judge the last turn."""
    outcome: ScorerResult = faithfulness.function(talk, talk.turns[-1], **options)
    return outcome


def verdict(talk: Conversation, **options: float) -> str:
    """Return the verdict, or the reason of a skip."""
    outcome = judged(talk, **options)
    return outcome.reason if isinstance(outcome, Skip) else getattr(outcome, "verdict", "failure")


def value(talk: Conversation) -> float:
    """Return the value of a score."""
    outcome = judged(talk)
    assert isinstance(outcome, Score)
    return outcome.value


@pytest.mark.parametrize(
    "answer",
    [
        "Lindholm is a harbour town with 4210 inhabitants.",
        "The lighthouse was built in 1887.",
        "Dogs are not allowed on board.",
        "Thank you for asking! The ferry to Storby leaves every day before noon.",
    ],
)
def test_what_the_documents_say_passes(answer: str) -> None:
    """Statements in the document's words pass, whatever the number's format."""
    assert verdict(rag(answer)) == "pass"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("The lighthouse was built in 1921 by Karin Alm, in 1921.", "1921"),
        ("The lighthouse there was designed by architect Tove Brandt.", "Tove"),
        ("Breakfast is served on the terrace from seven.", "breakfast"),
    ],
)
def test_what_they_do_not_say_fails(answer: str, words: str) -> None:
    """An added number, name or fact fails and is named in the reason."""
    outcome = judged(rag(answer))
    assert isinstance(outcome, Score)
    assert outcome.verdict == "fail"
    assert words.lower() in outcome.reason.lower()
    assert outcome.evidence[0].quote in answer


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The ferry leaves before noon every day.", "The ferry leaves after noon every day."),
        ("The lighthouse was built by Karin Alm.", "The lighthouse was not built by Karin Alm."),
        ("Lindholm has 4,210 inhabitants.", "Lindholm has 4,120 inhabitants."),
    ],
)
def test_a_turned_word_halves_the_value(right: str, wrong: str) -> None:
    """An opposite, a negation and another number each cost half or more."""
    assert value(rag(wrong)) <= 0.55 * value(rag(right))


def test_the_weakest_statement_counts() -> None:
    """One invented sentence among true ones fails, and it is the one that is quoted."""
    outcome = judged(
        rag("Lindholm is a harbour town in the north. Penguins nest under the old pier.")
    )
    assert isinstance(outcome, Score)
    assert outcome.verdict == "fail"
    assert outcome.evidence[0].quote == "Penguins nest under the old pier."


def test_a_name_from_the_question_is_no_invention() -> None:
    """What the user said may be said back."""
    question = "Does the ferry to Storby that Greta takes leave before noon?"
    said = value(rag("Yes, the ferry to Storby that Greta takes leaves before noon.", question))
    unsaid = value(rag("Yes, the ferry to Storby that Greta takes leaves before noon."))
    assert said > unsaid


@pytest.mark.parametrize(
    "answer",
    [
        "You're welcome! Is there anything else?",
        "I don't know that.",
        "The document does not mention it.",
        "Would you like to hear about the ferry?",
    ],
)
def test_talk_is_not_judged(answer: str) -> None:
    """Greetings, offers, questions back and admitted ignorance claim nothing."""
    assert verdict(rag(answer)) == "no_claims"


@pytest.mark.parametrize(
    "answer",
    [
        "Order 55120 has 3 items and costs $84.",
        "Your order 55120 is $84.00; two of them would be $168.00.",
        "Order 55120: 84.00 now and 30.00 later, together 114.00.",
        "It is the card ending in 1188.",
    ],
)
def test_figures_that_were_given_or_follow_pass(answer: str) -> None:
    """Given figures, sums, products and last digits pass after a look-up."""
    assert verdict(lookup(answer)) == "pass"


@pytest.mark.parametrize(
    ("answer", "figure"),
    [
        ("Your order 55129 is on its way, total $84.", "55129"),
        ("It costs $97.", "97"),
        ("Order 55120 costs $97 and shipping is $13.", "97"),
    ],
)
def test_figures_from_nowhere_fail(answer: str, figure: str) -> None:
    """A wrong reference, an only figure that is wrong, and two wrong amounts fail."""
    outcome = judged(lookup(answer))
    assert isinstance(outcome, Score)
    assert outcome.verdict == "fail"
    assert figure in outcome.reason
    assert figure in outcome.evidence[0].quote


def test_one_odd_amount_is_a_doubt_and_no_verdict() -> None:
    """A single amount that the agent may have worked out lowers the value and passes."""
    talk = lookup("Order 55120 has 3 items for 84.00 and the difference is $9.17.")
    assert verdict(talk) == "pass"
    assert value(talk) < 1


def test_hours_in_the_other_notation_pass() -> None:
    """``11:30 PM`` is ``23:30``."""
    assert verdict(lookup("It arrives at 11:30 PM.", "arrives 23:30")) == "pass"


def test_what_is_said_after_the_turn_does_not_count() -> None:
    """A figure that only a later message brings is still from nowhere."""
    first = lookup("It costs $97.")
    longer = conversation(*first.messages, user("Is it 97?"), agent("Yes."))
    assert faithfulness.function(longer, longer.turns[0]) == judged(first)


def test_threshold_is_an_option() -> None:
    """A strict user fails what a lenient one passes."""
    talk = rag("Lindholm is a lively harbour town with 4,210 friendly inhabitants.")
    assert verdict(talk, threshold=0.05) == "pass"
    assert verdict(talk, threshold=0.99) == "fail"


def test_nothing_to_judge() -> None:
    """Without context, reply or figures there is no verdict."""
    assert verdict(conversation(user("Hi"), agent("It costs $97."))) == "no_context"
    assert verdict(rag("Lindholm is a town.", text="")) == "no_context"
    assert verdict(conversation(user("Hi"))) == "no_reply"
    assert verdict(lookup("It is on its way.")) == "no_claims"
    old = lookup("It costs $97.")
    later = conversation(*old.messages, user("Hi"), episode=Episode(number=2, first_message=4))
    assert verdict(later) == "no_reply"


BRIDGE = """The Kestrel Bridge was opened on 14 May 2019 by Mayor Ida Holm and is 1,240 metres long. It cost 86 million euros,
more than the old bridge at Brim. Tolls of $4 are taken from cars. Heavy lorries may cross after 9 pm. The bridge
carries 45,700 cars a day. The deck is heated in winter. Repairs take three weeks each autumn. The architect Olaf Rehn
taught the engineer Mia Lund. The ferry had been slower than the train. Keepers, painters and divers look after it."""


@pytest.mark.parametrize(
    "answer",
    [
        "Mayor Ida Holm opened the Kestrel Bridge on May 14, 2019.",
        "It was opened on 2019-05-14 and is 1240 metres long.",
        "It cost €86m.",
        "About 45,000 cars use the bridge every day.",
        "Lorries can cross after 21:00.",
        "In winter the deck is warmed.",
        "Repairs take 3 weeks every autumn.",
        "Divers, painters and keepers look after it.",
        "Mia Lund was taught by Olaf Rehn.",
        "The train was faster than the ferry.",
    ],
)
def test_the_same_in_other_words_passes(answer: str) -> None:
    """A paraphrase, another form of a number, date, unit or hour, and another order pass."""
    assert verdict(rag(answer, text=BRIDGE)) == "pass"


@pytest.mark.parametrize(
    "answer",
    [
        "The bridge is 1,420 metres long.",
        "It cost 68 million euros.",
        "The bridge is 1,240 miles long.",
        "The Kestrel Bridge was opened on 14 May 2018.",
        "The Kestrel Bridge was opened on 14 March 2019.",
        "The Kestrel Bridge was opened by Mayor Eva Holm.",
        "Tolls of $4 are not taken from cars.",
        "Heavy lorries may cross before 9 pm.",
        "Light lorries may cross after 9 pm.",
        "The deck is cooled in winter.",
        "Repairs take six weeks each autumn.",
        "It cost less than the old bridge at Brim.",
        "The train had been slower than the ferry.",
        "The engineer Mia Lund taught the architect Olaf Rehn.",
        "The bridge was opened on 14 May 2019 and won the Alvar Prize.",
        'The engineer Mia Lund said: "Nobody laughed when we began."',
        "Penguins nest under steel arches every spring.",
    ],
)
def test_one_changed_thing_fails(answer: str) -> None:
    """A changed number, date, unit, name, denial, opposite, comparison or role, and what was made up, fail."""
    outcome = judged(rag(answer, text=BRIDGE))
    assert isinstance(outcome, Score)
    assert outcome.verdict == "fail"
    assert "context" in outcome.reason


ANSWERS = st.sampled_from(
    [
        "The bridge is 1,420 metres long and cost 86 million euros.",
        "Mayor Ida Holm opened the Kestrel Bridge in 2019. Penguins nest there.",
        "The deck is not heated in winter.",
        "Tolls are taken from lorries after 9 pm.",
    ]
)


@given(ANSWERS, st.sampled_from([" ", "  ", "\t", "   "]))
def test_spacing_makes_no_difference(answer: str, space: str) -> None:
    """More space between words of answer and document changes nothing."""
    wide = rag(answer.replace(" ", space), text=BRIDGE.replace(" ", space))
    assert value(wide) == value(rag(answer, text=BRIDGE))


@given(ANSWERS, st.sampled_from(["Bakeries sell rye loaves.", "Violins need rosin. Cellos too."]))
def test_documents_about_other_things_do_not_lower_the_value(answer: str, other: str) -> None:
    """What shares no word with the answer is no reason to doubt it."""
    alone = rag(answer, text=BRIDGE)
    both = conversation(*alone.messages, documents=(*alone.documents, Document(text=other)))
    assert value(both) >= value(alone)


@given(ANSWERS, st.sampled_from(["Yorick", "Umbra", "Xanthe"]))
def test_other_names_make_no_difference(answer: str, name: str) -> None:
    """Who the mayor is does not matter, as long as answer and document agree."""
    renamed = rag(answer.replace("Holm", name), text=BRIDGE.replace("Holm", name))
    assert value(renamed) == value(rag(answer, text=BRIDGE))


@given(st.permutations(["no harbour here.", "the lights here.", "some fish here."]))
def test_the_order_of_documents_makes_no_difference(ends: list[str]) -> None:
    """Documents are a set."""
    answer = agent("Lindholm has a harbour and lights.")
    documents = tuple(Document(text=f"Lindholm has {end}") for end in ends)
    talk = conversation(user("What is there?"), answer, documents=documents)
    same = conversation(*talk.messages, documents=tuple(sorted(documents, key=lambda d: d.text)))
    assert value(talk) == value(same)


def test_the_closest_passage_is_in_the_reason() -> None:
    """A person sees at once what the context says instead."""
    outcome = judged(rag("Repairs take six weeks each autumn.", text=BRIDGE))
    assert isinstance(outcome, Score)
    assert "Repairs take three weeks each autumn." in outcome.reason
    assert "six" in outcome.reason


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Tolls of $4 are not taken from cars.", "denial"),
        ("The bridge is 1,240 miles long.", "unit"),
        ("The deck is cooled in winter.", "'cooled' where it says 'heated'"),
        ("The Kestrel Bridge was opened by Mayor Eva Holm.", "Eva"),
        ("The train had been slower than the ferry.", "side"),
    ],
)
def test_the_reason_names_what_is_wrong(answer: str, told: str) -> None:
    """A person reads which part of the statement the context does not bear out."""
    outcome = judged(rag(answer, text=BRIDGE))
    assert isinstance(outcome, Score)
    assert told in outcome.reason


def test_results_of_the_turn_support_beside_documents() -> None:
    """A claim may rest on a tool's answer when documents are there too."""
    documents = (Document(text=BRIDGE),)
    talk = conversation(*lookup("Order 55120 costs 84.00.").messages, documents=documents)
    assert verdict(talk) == "pass"
    assert verdict(rag("Order 55120 costs 84.00.", text=BRIDGE)) == "fail"


def test_another_name_at_the_beginning() -> None:
    """A name that begins a statement is held like any other."""
    text = "Ana Lund founded the firm in 1987."
    assert verdict(rag("Ana Lund founded the firm in 1987.", text=text)) == "pass"
    assert verdict(rag("Ben Berg founded the firm in 1987.", text=text)) == "fail"


def test_a_denial_that_is_left_out() -> None:
    """A sentence of the context without its denial says the opposite, and the reason tells so."""
    outcome = judged(rag("Dogs are allowed in the hall.", text="Dogs are not allowed in the hall."))
    assert isinstance(outcome, Score)
    assert outcome.verdict == "fail"
    assert "the denial is left out" in outcome.reason

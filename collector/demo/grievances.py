"""Play conversations of people who are cross, or want a person."""

from __future__ import annotations

from collector.demo.desk import Desk

PERSON = (
    "I want to talk to a real person please.",
    "can I speak to a human? It's about my {item}.",
    "please connect me to an agent, it's complicated.",
    "I need to speak with someone about my {item}, not a bot.",
    "let me talk to a human please.",
    "could you transfer me to customer service?",
    "I would like to talk to a representative about my {item}.",
    "is there a person I can talk to?",
)
STALLS = (
    "I can help you with that myself! What is it about?",
    "I'm sure we can sort this out together. What is the problem?",
    "Happy to help. Please describe what happened.",
)
INSISTS = (
    "No. Let me speak to a human agent.",
    "I said I want to talk to a real person.",
    "Please just connect me to a person.",
)
STALLS_AGAIN = (
    "I understand. Please tell me the details and I will look into it.",
    "Let's try it together first. What happened to the {item}?",
    "I have all the information here. How can I help you with the {item}?",
)

CROSS = (
    "the {item} came two weeks late and nobody told me. I'm really annoyed.",
    "this is the third time something is wrong with an order of mine. The {item} came without its box.",
    "your courier threw the parcel with my {item} over the fence. Not ok.",
    "I am very unhappy with how long I had to wait for the {item}.",
    "the box of my {item} was open and wet when it came. It works, but still.",
    "nobody answers my mails about the {item}. That is poor service.",
)
LOGGED = (
    "That is not what we stand for. I've logged your complaint for our care team.",
    "You are right to be annoyed. I have logged a complaint for order {order}.",
    "That is not how it should be. Your complaint has been logged.",
    "I understand. I've recorded a complaint about it with our care team.",
    "Thank you for telling us so openly. Your complaint about the {item} has been recorded.",
)
READ_BY = ("Somebody reads each of them.", "They look at it within 2 working days.", "", "")
WANTS_MORE = (
    "That is not enough. I want to speak to a manager.",
    "I'd like to talk to a supervisor about this.",
    "Can I speak to a person about this?",
)
CALMER = (
    *("Ok, thank you.", "Good. I hope it helps.", "Fine, thanks.", "Alright. Please do better."),
    *("Thanks for taking it seriously.", "Well, thank you for listening."),
)
BRUSHED_OFF = (
    "I understand that you are upset. The complaint will be read carefully.",
    "I am sorry that you feel that way. We take every complaint seriously.",
    "Your complaint is in good hands, please be patient.",
)


def person(desk: Desk) -> None:
    """Bring somebody to a person who asks for one."""
    desk.opens(PERSON)
    if desk.errs("missed_escalation"):
        desk.says(STALLS)
        if desk.rng.random() < 0.7:
            desk.hears(INSISTS)
            desk.says(STALLS_AGAIN)
        return
    desk.hands_over(desk.rng.choice(("care", "billing", "warehouse")), ("Of course.", "Sure.", ""))


def complaint(desk: Desk) -> None:
    """Write a complaint down, and bring in a person if that is not enough."""
    desk.opens(CROSS)
    order = desk.finds_order()
    if order is None:
        return
    summary = f"{desk.guest.item}: unhappy with the delivery"
    if not desk.does("log_complaint", order_id=order["order_id"], summary=summary):
        return
    desk.says(LOGGED, READ_BY)
    if desk.tends_to("missed_escalation") or desk.rng.random() < 0.4:
        desk.hears(WANTS_MORE)
        if desk.errs("missed_escalation"):
            desk.says(BRUSHED_OFF)
        else:
            desk.hands_over("care", ("I understand.", "Of course.", ""))
        return
    desk.parts(CALMER)

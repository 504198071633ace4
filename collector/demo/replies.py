"""List what the agent says in every kind of conversation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from collector.demo.catalogue import COMPANY

WELCOMES = (
    f"Welcome to {COMPANY}! How can I help?",
    "Hello! What can I do for you today?",
    f"Hi, this is the {COMPANY} assistant. What is it about?",
    "Good to hear from you. How can I help?",
)
ASK_NUMBER = (
    "Could you give me the order number?",
    "What is your order number? It begins with PW.",
    "May I have the order number, please?",
    "Which order is it? The number is in your confirmation e-mail.",
    "I am happy to look. What is the order number?",
)
UNKNOWN_NUMBER = (
    "I could not find an order with that number.",
    "Hm, that order number is not found in our system.",
    "I'm sorry, there is no order under that number.",
)
NO_ACCOUNT = (
    "I'm sorry, I could not find that order in your account. Could you send me the number?",
    "I looked through your account and could not find it. Do you have the number somewhere?",
)
LOOKUP_FAILED = (
    "I'm sorry, I cannot reach our order system at the moment.",
    "Unfortunately our order system is not available right now. Please try again in a few minutes.",
    "I am sorry, the look-up failed; our system has a problem just now.",
)
ASIDES = (
    *("One moment, please.", "Let me do that for you.", "I'm on it.", "Just a second."),
    *("Bear with me for a moment.", "Let me take care of that."),
)
FAILURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "unavailable": (
            "I'm sorry, that did not work: the service is not available right now.",
            "Unfortunately the system is down at the moment, so I could not do it.",
        ),
        "locked": (
            "I'm sorry, I could not do that: the order is locked by another process just now.",
            "That failed because your order is being worked on. Please try again in an hour.",
        ),
        "timeout": (
            "I'm sorry, the payment provider is not answering, so I could not do it.",
            "Unfortunately the payment system timed out and no money has moved.",
        ),
        "window_closed": (
            "I'm sorry, the 30 days for returns are over, so I cannot pay that back.",
            "Unfortunately that order is past our 30 day window, and I am not able to take it back.",
        ),
        "conflict": (
            "I'm sorry, that is no longer possible: the parcel is already with the carrier.",
            "Unfortunately it has left our warehouse, so I cannot change it any more.",
        ),
        "out_of_stock": (
            "I'm sorry, that article is not available at the moment.",
            "Unfortunately we are out of stock, so I cannot send another one.",
        ),
        "too_much": ("I'm sorry, the system did not accept that amount.",),
        "not_found": ("I'm sorry, I could not find that in our system.",),
        "invalid_request": ("I'm sorry, something went wrong on my side and it did not work.",),
    }
)
HANDOVERS = (
    "I am transferring you to a colleague in our care team.",
    "I'm connecting you with a human agent now.",
    "You are being transferred to a person who can take it from here.",
    "I am handing this chat over to a colleague; the wait is about 3 minutes.",
)
NOBODY_THERE = (
    "I'm sorry, I could not reach a colleague. Please call our team between 08:00 and 20:00.",
    "Unfortunately the transfer failed. You can talk to our team by phone from 08:00 to 20:00.",
)
PARTINGS = (
    *("You're welcome! Have a good day.", "Glad I could help.", "My pleasure. Take care!"),
    *("You are welcome. Enjoy your time outside!", "Any time. Goodbye!", "Happy trails!"),
    *("You're welcome. Is there anything else?", "Thank you for your patience. Goodbye."),
)

"""Play conversations about goods that go back: broken ones and unwanted ones."""

from __future__ import annotations

from collector.demo.desk import Desk
from collector.demo.shop import money

BROKEN = (
    "my {item} arrived broken and I would like my money back.",
    "the {item} you sent me is damaged. I want a refund please.",
    "I unpacked the {item} today and it has a crack all over. Please refund me.",
    "a part of my {item} came off on the first day. Can I get a refund?",
    "I got the wrong article instead of the {item}. I'd like a refund.",
    "my {item} was faulty out of the box. How do I get my money back?",
    "sorry to bother you, but the {item} came in pieces. Can you refund it?",
    "the {item} is nothing like in the pictures, please give me my money back.",
    "the {item} gave up after one night. Refund please.",
    "I'm quite disappointed, the {item} broke after one night. I want to be refunded.",
)
CHOICE = (
    "I'm sorry about that. Would you like a refund or a new one?",
    "That should not happen, sorry. Shall we send a new one, or would you prefer your money back?",
    "Oh no! Do you want a replacement or the money back?",
)
MONEY = (
    *(
        "Money back please.",
        "A refund, please.",
        "I prefer the refund.",
        "Just the refund, thanks.",
    ),
    *("I'd rather have my money.", "Refund."),
)
NEW_ONE = ("A new one, please.", "I'd take a replacement.", "Replacement would be great.")
SORRY = (
    *("Oh dear, the poor {item}!", "That is annoying.", "Thank you for telling us."),
    *("That should not have happened.", "This is not the quality we stand for.", ""),
)
REFUNDED = (
    "I've refunded {amount} to your card ending in {card}.",
    "I have issued a refund of {amount} for order {order}.",
    "Your refund of {amount} has been processed; it goes to the card ending in {card}.",
    "Done! I have refunded {amount} to your card.",
    "I've just refunded {amount} for the {item}.",
    "The refund of {amount} has been issued to your card ending in {card}.",
)
ARRIVES = (
    *("You will see it in 3 to 5 working days.", "Please allow 3 to 5 working days.", ""),
    *("It takes 3 to 5 working days to arrive.", "Depending on your bank it takes 3 to 5 days."),
)
KEEP = (
    "You can keep the {item} or throw it away.",
    "There is no need to send the {item} back.",
    "",
    "",
)
WHEN = (
    *("How long will that take?", "When will I have the money?", "And when does it arrive?"),
    *("Ok. How many days does that take?", "Will it be there this week?"),
)
SOON = (
    "It takes 3 to 5 working days, depending on your bank.",
    "Usually 3 to 5 working days.",
    "Please count on 3 to 5 working days until you see it.",
)
SEND_BACK = (
    *("Do I need to send it back?", "Should I return the broken one?", "What shall I do with it?"),
)
NO_NEED = (
    "No, you can keep it or throw it away.",
    "No need, please recycle it if you can.",
    "You don't have to. Just dispose of it.",
)
REPLACED = (
    "I've ordered a replacement {item} for you; it leaves our warehouse tomorrow.",
    "A new {item} has been ordered and will be with you in 2 to 4 working days.",
    "Done, I have arranged a new {item}. It ships tomorrow.",
)

UNWANTED = (
    "I'd like to send the {item} back, it is too small. Can I have a return label?",
    "how do I return the {item}? I don't have a printer label.",
    "I need a return label for my {item}.",
    "the {item} is fine but I ordered two by accident. Please send me a label to return one.",
    "please email me a return label for the {item}, the colour isn't mine.",
    "can you send me a label? The {item} is not what I was looking for.",
    "I want to return my {item} unused. What do I need?",
)
LABELLED = (
    "I've created a return label and sent it to your e-mail address.",
    "Your return label has been sent to the e-mail address of your account.",
    "Done, I have emailed you a prepaid return label for order {order}.",
    "I have sent a prepaid label for the {item} to your inbox.",
)
HOW = (
    *("Just stick it on the parcel and drop it at any parcel shop.", "It is free of charge.", ""),
    *(
        "Once it is here, your money is back in 3 to 5 working days.",
        "Please use the original box.",
    ),
)
WHERE = ("Where can I drop it off?", "Which carrier is it?", "Do I have to pay for that?")
ANYWHERE = (
    "At any parcel shop; it costs you nothing.",
    "Any parcel shop takes it, free of charge.",
    "You can leave it at every parcel shop, it is prepaid.",
)


def refund(desk: Desk) -> None:
    """Pay for broken goods, or send new ones."""
    desk.opens(BROKEN)
    order = desk.finds_order()
    if order is None:
        return
    honest = not desk.tends_to("false_success")
    if desk.rng.random() < 0.3:
        desk.says(CHOICE)
        if honest and desk.rng.random() < 0.35:
            desk.hears(NEW_ONE)
            _replace(desk, order["order_id"])
            return
        desk.hears(MONEY)
    paid = money(desk.guest.line.paid)
    reason = desk.rng.choice(("damaged", "faulty"))
    if not desk.does("refund_order", order_id=order["order_id"], amount=paid, reason=reason):
        return
    desk.says(SORRY, REFUNDED, ARRIVES, KEEP, amount=f"{paid:.2f}", card=order["card"])
    if desk.rng.random() < 0.3:
        desk.hears(WHEN)
        desk.says(SOON)
    elif desk.rng.random() < 0.3:
        desk.hears(SEND_BACK)
        desk.says(NO_NEED)
    desk.parts()


def _replace(desk: Desk, order_id: str) -> None:
    if desk.does("order_replacement", order_id=order_id, sku=desk.guest.line.sku):
        desk.says(SORRY, REPLACED)
        desk.parts()


def label(desk: Desk) -> None:
    """Send a label for a return."""
    desk.opens(UNWANTED)
    order = desk.finds_order()
    if order is None or not desk.does("create_return_label", order_id=order["order_id"]):
        return
    desk.says(LABELLED, HOW)
    if desk.rng.random() < 0.3:
        desk.hears(WHERE)
        desk.says(ANYWHERE)
    desk.parts()

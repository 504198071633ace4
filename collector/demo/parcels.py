"""Play conversations about orders on their way: where they are, where they go, and whether at all."""

from __future__ import annotations

from datetime import date

from collector.demo.desk import Desk, result_of
from collector.demo.shop import address

WHERE = (
    "where is my {item}?",
    "I'm still waiting for my {item}, do you know when it comes?",
    "my parcel with the {item} hasn't arrived yet. Can you check?",
    "could you tell me the status of my {item}?",
    "I ordered a {item} last week and nothing is here. Where is it?",
    "any news on the {item} I ordered?",
    "we leave for the mountains on Friday and need the {item}. Will it be here in time?",
    "just wondering when the {item} will be delivered.",
    "has my {item} been shipped?",
)
ON_ITS_WAY = (
    "Your {item} is with {carrier}, tracking number {tracking}, and should arrive on {day}.",
    "Good news: {carrier} has it under {tracking} and expects to deliver on {day}.",
    "It is on its way with {carrier} ({tracking}); delivery is planned for {day}.",
    "The parcel {tracking} left us and {carrier} plans to bring it on {day}.",
)
ARRIVED = (
    "According to {carrier} it was delivered on {day} (tracking number {tracking}).",
    "{carrier} says that parcel {tracking} was handed in on {day}.",
)
IN_WORK = (
    "We are still packing it; it will leave in the next days.",
    "It is being prepared in our warehouse and ships soon.",
    "It is in our warehouse right now and will be picked up by the carrier soon.",
)
STOPPED = (
    "That order is cancelled, I'm afraid, so nothing is on its way.",
    "I see that this order was cancelled, so there is no parcel.",
)
BREEZY = (
    "Your {item} is on its way and should be with you in the next days!",
    "It is travelling nicely and will arrive this week.",
    "All good, the parcel is moving and you will have it in a day or two.",
)
TRACK_FAILED = (
    "I could not reach the carrier just now, but the parcel left us. Please try again later.",
    "Sorry, the tracking service is not answering at the moment; your parcel has left our warehouse.",
)
EXACTLY = ("What time will it be?", "Can they leave it with a neighbour?", "Morning or afternoon?")
CANNOT_SAY = (
    "That I cannot say, the carrier decides on the day.",
    "I'm sorry, I don't know; the carrier sends a message in the morning.",
    "The carrier lets you choose that in its own app.",
)

CANCEL = (
    "please cancel my order, I don't need the {item} any more.",
    "I ordered the {item} twice, can you cancel this one?",
    "can I still cancel the {item}?",
    "I changed my mind about the {item}. Cancel it please.",
    "it takes too long, I'd like to cancel the {item}.",
    "stop my order for the {item} please, I found one at home.",
    "cancel the order with the {item} if that is possible.",
)
CANCELLED = (
    "I've cancelled order {order} for you.",
    "Done, your order {order} has been cancelled.",
    "Order {order} is now cancelled.",
    "I have cancelled it.",
    "Your order for the {item} has been cancelled.",
)
MONEY_BACK = (
    "You get the full amount of {total} back in 3 to 5 working days.",
    "The {total} will be on your card within 3 to 5 working days.",
    "",
)
SURE = ("Just to be sure: shall I cancel the whole order?", "Do you want me to cancel all of it?")
YES = ("Yes please.", "Yes, all of it.", "Yes.", "Yep, cancel it.", "Please do.")

MOVED = (
    "I moved house. Please send my {item} to {street}, {city}, {postcode} instead.",
    "can you change the delivery address of my {item}? The new one is {street}, {city}, {postcode}.",
    "I typed the wrong address. It should go to {street}, {postcode} {city}.",
    "I'm away next week, please deliver to my sister: {street}, {city}, {postcode}.",
    "the parcel should go to my office at {street} in {city}, {postcode}. Possible?",
    "please update the address of my order to {street}, {city}, {postcode}.",
)
REDIRECTED = (
    "I've changed the delivery address to {street}, {city}, {postcode}.",
    "The address has been updated: it goes to {street}, {city}.",
    "Done, I have updated the address of order {order}.",
    "Your order will go to {street} in {city}; I have changed the address.",
)
DELAY = ("Will that delay it?", "Does it still come on time?", "Will I get a new confirmation?")
NO_DELAY = (
    "No, it still takes 2 to 4 working days.",
    "It makes no difference, 2 to 4 working days as before.",
    "It arrives within 2 to 4 working days, as planned.",
)


def status(desk: Desk) -> None:
    """Say where a parcel is."""
    desk.opens(WHERE)
    order = desk.finds_order()
    if order is None:
        return
    if order["status"] == "cancelled":
        desk.says(STOPPED)
    elif "tracking" not in order:
        desk.says(IN_WORK)
    elif desk.errs("ignored_tool_error"):
        tracking = {"tracking": order["tracking"]}
        desk.talk.agent_calls("track_shipment", tracking, fault="unavailable")
        desk.says(BREEZY)
    else:
        _track(desk, order["tracking"], order["carrier"])
        if desk.rng.random() < 0.25:
            desk.hears(EXACTLY)
            desk.says(CANNOT_SAY)
    desk.parts()


def _track(desk: Desk, tracking: str, carrier: str) -> None:
    answer = desk.looks("track_shipment", tracking=tracking)
    if answer.error:
        desk.says(TRACK_FAILED)
        return
    found = result_of(answer)
    if desk.errs("faithfulness"):
        tracking = f"{tracking[:2]}{desk.rng.randrange(10**7, 10**8)}X"
    phrases = ARRIVED if "delivered" in found else ON_ITS_WAY
    day = date.fromisoformat(found.get("delivered") or found["expected"])
    desk.says(phrases, carrier=carrier, tracking=tracking, day=written(day))


def cancel(desk: Desk) -> None:
    """Cancel an order while that is possible."""
    desk.opens(CANCEL)
    order = desk.finds_order()
    if order is None:
        return
    if desk.rng.random() < 0.2:
        desk.says(SURE)
        desk.hears(YES)
    reason = desk.rng.choice(("changed_mind", "ordered_twice", "too_slow", "other"))
    if desk.does("cancel_order", order_id=order["order_id"], reason=reason):
        desk.says(CANCELLED, MONEY_BACK, total=f"{order['total']:.2f}")
        desk.parts()


def redirect(desk: Desk) -> None:
    """Send an order to another address."""
    street, city, postcode = address(desk.rng)
    new = {"street": street, "city": city, "postcode": postcode}
    desk.opens(MOVED, **new)
    order = desk.finds_order()
    if order is None or not desk.does("change_address", order_id=order["order_id"], **new):
        return
    desk.says(REDIRECTED, **new)
    if desk.rng.random() < 0.3:
        desk.hears(DELAY)
        desk.says(NO_DELAY)
    desk.parts()


def written(day: date) -> str:
    """Write a day as the agent does."""
    return f"{day:%A}, {day.day} {day:%B}"

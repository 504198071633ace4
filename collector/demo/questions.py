"""Play conversations in which somebody wants to know or to have something: stock, vouchers, invoices."""

from __future__ import annotations

from datetime import date

from collector.demo.catalogue import GOODS
from collector.demo.desk import Desk, result_of
from collector.demo.guest import SHRUGS

IN_STOCK = (
    "do you have the {goods} in stock?",
    "is the {goods} available?",
    "how much is the {goods} and can you ship it this week?",
    "I'm looking for the {goods}. Do you still sell it?",
    "what does the {goods} cost at the moment?",
    "can I order the {goods} today?",
)
THERE = (
    "Yes, the {goods} is in stock: we have {count}, at {price} each.",
    "We have {count} of the {goods}; it costs {price}.",
    "The {goods} is {price} and {count} are on the shelf.",
)
DELIVERY = (
    *("Delivery takes 2 to 4 working days.", "If you order today it leaves tomorrow.", ""),
    *("You can order it on our page.", ""),
)
SOLD_OUT = (
    "The {goods} costs {price}, but it is out of stock. Shall I tell you when it is back?",
    "I'm sorry, the {goods} ({price}) is not available just now. Should we write to you when it is?",
)
PLEASE = ("Yes please, {email}.", "Yes, to {email} please.", "Please do: {email}")
REGISTERED = (
    "I've registered {email}; you will hear from us as soon as it is back.",
    "Done, I have added you to the list and we will write to {email}.",
)
BREEZY = (
    "Yes, the {goods} is in stock and ready to ship!",
    "Good choice! It is available and leaves our warehouse tomorrow.",
)
STOCK_FAILED = (
    "I'm sorry, I cannot see our stock right now. Please try again later.",
    "Unfortunately the catalogue is not answering, so I don't know at the moment.",
)
BESIDES = ("Do you have a shop where I can see it?", "Is it waterproof?", "How heavy is it?")
UNKNOWN = (
    "I'm sorry, that I don't know; the product page has the details.",
    "I can't tell from here, but the product page says more.",
)

VOUCHER = (
    "my voucher {code} doesn't work.",
    "I tried to use the code {code} and it was rejected. Why?",
    "can you check my voucher {code}?",
    "your site says {code} is not valid, but I got it from you.",
    "what is the voucher {code} worth?",
)
VALID = (
    "Your voucher is worth {value} and valid until {day}. Please enter it without spaces.",
    "It should work: {code} takes {value} off until {day}.",
    "The code is fine: {value}, valid until {day}. Please try it in another browser.",
)
RENEWED = (
    "It had expired, so I've extended it by three months.",
    "Your voucher had run out; I have renewed it for three months.",
    "Done, the voucher has been extended by three months.",
)
BREEZY_VOUCHER = (
    "Your voucher is fine, just enter it at the checkout!",
    "It works well, please type it in once more.",
)
VOUCHER_FAILED = (
    "I'm sorry, I cannot check vouchers at the moment. Please try again later.",
    "Unfortunately the voucher system is not answering right now.",
)

INVOICE = (
    "I need a copy of the invoice for the {item}.",
    "could you send me the invoice for my {item} again? It's for my taxes.",
    "I can't find the invoice of my {item}, please email it to me.",
    "please send the bill for the {item}, my employer pays for it.",
    "where do I get an invoice for the {item}?",
)
TO_WHERE = (
    "To which e-mail address shall I send it?",
    "Where should it go? I need an e-mail address.",
)
THERE_PLEASE = ("{email}", "To {email} please.", "My address is {email}.")
INVOICED = (
    "I've sent a copy of the invoice to {email}.",
    "The invoice has been sent to {email}.",
    "Done, I have emailed the invoice for order {order} to you.",
)
SPAM = ("Please check your spam folder as well.", "It should be there in a minute.", "", "")


def stock(desk: Desk) -> None:
    """Say whether something can be had, and for how much."""
    sku, goods, _ = desk.rng.choice(GOODS)
    desk.guest.knows_number = False
    desk.opens(IN_STOCK, goods=goods)
    if desk.errs("ignored_tool_error"):
        desk.talk.agent_calls("check_stock", {"query": goods}, fault="unavailable")
        desk.says(BREEZY, goods=goods)
        return
    answer = desk.looks("check_stock", query=goods)
    if answer.error:
        desk.says(STOCK_FAILED)
        desk.parts(SHRUGS)
        return
    (found,) = result_of(answer)["articles"]
    count, price = found["in_stock"], found["price"]
    if count:
        if desk.errs("faithfulness"):
            count, price = (
                count + desk.rng.randrange(50, 90),
                price + desk.rng.randrange(17, 60) + 0.27,
            )
        desk.says(THERE, DELIVERY, goods=goods, count=str(count), price=f"{price:.2f}")
        if desk.rng.random() < 0.3:
            desk.hears(BESIDES)
            desk.says(UNKNOWN)
    else:
        desk.says(SOLD_OUT, goods=goods, price=f"{price:.2f}")
        if desk.rng.random() < 0.6:
            email = desk.guest.customer.email
            desk.hears(PLEASE)
            if not desk.does("notify_when_back", sku=sku, email=email):
                return
            desk.says(REGISTERED, email=email)
    desk.parts()


def voucher(desk: Desk) -> None:
    """Find out what is wrong with a voucher, and renew it once."""
    code = desk.guest.order.voucher
    desk.opens(VOUCHER, code=code)
    if desk.errs("ignored_tool_error"):
        desk.talk.agent_calls("check_voucher", {"code": code}, fault="unavailable")
        desk.says(BREEZY_VOUCHER)
        return
    answer = desk.looks("check_voucher", code=code)
    if answer.error:
        desk.says(VOUCHER_FAILED)
        desk.parts(SHRUGS)
        return
    found = result_of(answer)
    if found["valid"]:
        value, day = found["value"], date.fromisoformat(found["expires"])
        if desk.errs("faithfulness"):
            value, day = value + 7.35, day.replace(day=29 - day.day % 9, month=1, year=day.year + 2)
        desk.says(VALID, value=f"{value:.2f}", day=f"{day.day} {day:%B} {day.year}", code=code)
        desk.parts()
        return
    order = desk.finds_order()
    if order is None or not desk.does("renew_voucher", code=code, order_id=order["order_id"]):
        return
    desk.says(RENEWED)
    desk.parts()


def invoice(desk: Desk) -> None:
    """Send a copy of an invoice."""
    desk.opens(INVOICE)
    order = desk.finds_order()
    if order is None:
        return
    email = desk.guest.customer.email
    desk.says(TO_WHERE)
    desk.hears(THERE_PLEASE)
    if desk.does("send_invoice", order_id=order["order_id"], email=email):
        desk.says(INVOICED, SPAM, email=email)
        desk.parts()

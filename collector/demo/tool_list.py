"""Declare the agent's tools as the model is offered them, with a JSON Schema each."""

from __future__ import annotations

from collector.model import JsonValue, ToolDefinition

ORDER: JsonValue = {"type": "string", "description": "Order number, such as PW-00000."}
SKU: JsonValue = {"type": "string", "description": "Article number."}
EMAIL: JsonValue = {"type": "string", "description": "The customer's e-mail address."}
TEXT: JsonValue = {"type": "string"}
WHY: JsonValue = {"type": "string", "enum": ["damaged", "faulty", "wrong_item", "not_as_described"]}


def _tool(name: str, description: str, /, **properties: JsonValue) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": dict(properties),
            "required": list(properties),
            "additionalProperties": False,
        },
    )


TOOLS: tuple[ToolDefinition, ...] = (
    _tool("find_customer", "Find a customer's account by e-mail address.", email=EMAIL),
    _tool("list_orders", "List the orders of a customer.", customer_id=TEXT),
    _tool("find_order", "Look an order up by its number.", order_id=ORDER),
    _tool("track_shipment", "Ask the carrier where a parcel is.", tracking=TEXT),
    _tool("check_stock", "Search the catalogue by name; gives price and stock.", query=TEXT),
    _tool(
        "cancel_order",
        "Cancel an order that has not been shipped.",
        order_id=ORDER,
        reason={"type": "string", "enum": ["changed_mind", "ordered_twice", "too_slow", "other"]},
    ),
    _tool(
        "refund_order",
        "Refund money to the card an order was paid with.",
        order_id=ORDER,
        amount={"type": "number", "exclusiveMinimum": 0},
        reason=WHY,
    ),
    _tool(
        "order_replacement",
        "Order a replacement for a damaged article, free of charge.",
        order_id=ORDER,
        sku=SKU,
    ),
    _tool(
        "change_address",
        "Change the delivery address of an order that has not been shipped.",
        order_id=ORDER,
        street=TEXT,
        city=TEXT,
        postcode=TEXT,
    ),
    _tool(
        "create_return_label",
        "Create a prepaid return label and email it to the customer.",
        order_id=ORDER,
    ),
    _tool("check_voucher", "Check the value and the expiry of a voucher.", code=TEXT),
    _tool(
        "renew_voucher",
        "Extend a voucher that has expired by three months, once.",
        code=TEXT,
        order_id=ORDER,
    ),
    _tool("send_invoice", "Send a copy of an invoice by email.", order_id=ORDER, email=EMAIL),
    _tool(
        "notify_when_back",
        "Register an e-mail address to be told when an article is back in stock.",
        sku=SKU,
        email=EMAIL,
    ),
    _tool("log_complaint", "Log a complaint for the care team.", order_id=ORDER, summary=TEXT),
    _tool(
        "transfer_to_human",
        "Transfer the chat to a human agent.",
        department={"type": "string", "enum": ["care", "billing", "warehouse"]},
        summary=TEXT,
    ),
)

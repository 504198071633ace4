"""List the rows whose label is wrong, found by looking at every row that a scorer misjudged."""

from __future__ import annotations

from collections.abc import Mapping

WRONG: Mapping[tuple[str, str], str] = {
    (
        "looping",
        "tau-grok-3-retail-111-0+hard_retry",
    ): "not one or two retries: the same call failed three times more in a row",
    (
        "missed_escalation",
        "tau-grok-3-retail-81-0+missed_trigger",
    ): "the agent offers a person before the user speaks again",
    (
        "tool_calls",
        "dojo-gpt-4o-2024-05-13-travel-user_task_16+control_tools",
    ): "the schema wants an array and the call gives a text",
    (
        "tool_calls",
        "dojo-gpt-4o-2024-05-13-spotlighting_with_delimiting-travel-user_task_16+control_tools",
    ): "the schema wants an array and the call gives a text",
    (
        "invented_arguments",
        "tau-gpt-4o-airline-20-3+control_tools",
    ): "the id of the payment stands nowhere before the call",
    (
        "invented_arguments",
        "tau-grok-3-retail-45-0+control_tools",
    ): "the number of the order stands nowhere before the call",
    (
        "invented_arguments",
        "dojo-gpt-4o-mini-2024-07-18-workspace-user_task_25+control_tools",
    ): "the address was made up from a person's name",
}
"""Scorer and id of the row -> why its label is wrong."""

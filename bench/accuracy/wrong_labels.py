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
    (
        "faithfulness",
        "factcheck_gpt-1990",
    ): "who is named as the source stands nowhere in the context",
    (
        "faithfulness",
        "factcheck_gpt-1992",
    ): "who is named as the source stands nowhere in the context",
    (
        "faithfulness",
        "factcheck_gpt-1993",
    ): "who is named as the source stands nowhere in the context",
    (
        "faithfulness",
        "factcheck_gpt-2230",
    ): "another source and another amount than the context gives",
    (
        "faithfulness",
        "factcheck_gpt-2366",
    ): "the place it is said to grow at stands nowhere in the context",
    (
        "faithfulness",
        "factcheck_gpt-2368",
    ): "the place it is said to grow at stands nowhere in the context",
    ("faithfulness", "factcheck_gpt-2387"): "the context is about other plants",
    ("faithfulness", "factcheck_gpt-2396"): "the context is about another plant",
    (
        "faithfulness",
        "summedits_news-63f9455b8d931ba6e664fb97_11",
    ): "the answer denies what the context says of the substance",
    ("faithfulness", "q2_memnet-49_3"): "the number counts something else in the context",
    ("faithfulness", "q2_dodeca-267_1"): "another month than in the context",
}
"""Scorer and id of the row -> why its label is wrong."""

"""Make recorded calls with a provider's client while an instrumentation watches.

``python clients.py INSTRUMENTATION API``
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from otel import set_up
from replay import replay
from work import work

INSTRUMENTORS = {
    ("openllmetry", "anthropic"): "opentelemetry.instrumentation.anthropic:AnthropicInstrumentor",
    ("openllmetry", "openai"): "opentelemetry.instrumentation.openai:OpenAIInstrumentor",
    ("openinference", "anthropic"): "openinference.instrumentation.anthropic:AnthropicInstrumentor",
    ("openinference", "openai"): "openinference.instrumentation.openai:OpenAIInstrumentor",
    ("otel_v2", "openai"): "opentelemetry.instrumentation.openai_v2:OpenAIInstrumentor",
    ("otel", "anthropic"): "opentelemetry.instrumentation.genai.anthropic:AnthropicInstrumentor",
    ("otel", "openai"): "opentelemetry.instrumentation.genai.openai:OpenAIInstrumentor",
}


def main(instrumentation: str, provider: str) -> None:
    """Instrument, and work."""
    if instrumentation == "logfire":
        _under_logfire(provider)
        return
    flush = set_up()
    if instrumentation != "none":
        module, _, name = INSTRUMENTORS[instrumentation, provider].partition(":")
        getattr(importlib.import_module(module), name)().instrument()
    work(replay, flush)


def _under_logfire(provider: str) -> None:
    import logfire

    logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
    watch: Callable[[Any], Any] = (
        logfire.instrument_anthropic if provider == "anthropic" else logfire.instrument_openai
    )
    work(lambda job: replay(job, watch), logfire.force_flush)


if __name__ == "__main__":
    main(*sys.argv[1:])

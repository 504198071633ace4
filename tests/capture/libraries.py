"""List the libraries whose telemetry is compared, with the versions that are installed for it."""

from __future__ import annotations

import msgspec

from tests.capture.recordings import Api

CONTENT = (
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ("TRACELOOP_TRACE_CONTENT", "true"),
)
LATEST = (
    ("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental"),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only"),
)


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """One instrumentation with the client that it watches."""

    name: str
    """What the matrix calls it."""
    packages: tuple[str, ...]
    """With their versions; what they need comes in the newest that fits."""
    driver: tuple[str, ...]
    """Program below ``drivers/`` and its arguments."""
    apis: tuple[Api, ...]
    """Whose recordings are played."""
    environment: tuple[tuple[str, str], ...] = CONTENT
    """What its documentation says turns content on."""
    agent: bool = False
    """Whether an agent of the library's plays the recorded part, instead of the calls as they are."""


_ANTHROPIC = "anthropic==2.14.0"
_OPENAI = "openai==3.57.0"

LIBRARIES: tuple[Library, ...] = (
    Library(
        name="OpenLLMetry, Anthropic",
        packages=("opentelemetry-instrumentation-anthropic==0.62.4", _ANTHROPIC),
        driver=("clients.py", "openllmetry", "anthropic"),
        apis=("messages",),
    ),
    Library(
        name="OpenLLMetry, Anthropic, old",
        packages=("opentelemetry-instrumentation-anthropic==0.40.14", "anthropic==0.59.0"),
        driver=("clients.py", "openllmetry", "anthropic"),
        apis=("messages",),
    ),
    Library(
        name="OpenLLMetry, OpenAI",
        packages=("opentelemetry-instrumentation-openai==0.62.4", _OPENAI),
        driver=("clients.py", "openllmetry", "openai"),
        apis=("chat", "responses"),
    ),
    Library(
        name="OpenLLMetry, OpenAI, old",
        packages=("opentelemetry-instrumentation-openai==0.40.14", "openai==1.109.1"),
        driver=("clients.py", "openllmetry", "openai"),
        apis=("chat", "responses"),
    ),
    Library(
        name="OpenInference, Anthropic",
        packages=("openinference-instrumentation-anthropic==3.1.0", _ANTHROPIC),
        driver=("clients.py", "openinference", "anthropic"),
        apis=("messages",),
    ),
    Library(
        name="OpenInference, OpenAI",
        packages=("openinference-instrumentation-openai==0.1.66", _OPENAI),
        driver=("clients.py", "openinference", "openai"),
        apis=("chat", "responses"),
    ),
    Library(
        name="OpenTelemetry, Anthropic",
        packages=("opentelemetry-instrumentation-genai-anthropic==1.3b0", _ANTHROPIC),
        driver=("clients.py", "otel", "anthropic"),
        apis=("messages",),
        environment=LATEST,
    ),
    Library(
        name="OpenTelemetry, OpenAI",
        packages=("opentelemetry-instrumentation-genai-openai==1.3b0", _OPENAI),
        driver=("clients.py", "otel", "openai"),
        apis=("chat", "responses"),
        environment=LATEST,
    ),
    Library(
        name="Logfire, Anthropic",
        packages=("logfire==5.4.0", _ANTHROPIC),
        driver=("clients.py", "logfire", "anthropic"),
        apis=("messages",),
    ),
    Library(
        name="Logfire, OpenAI",
        packages=("logfire==5.4.0", _OPENAI),
        driver=("clients.py", "logfire", "openai"),
        apis=("chat", "responses"),
    ),
    Library(
        name="OpenInference, LangChain",
        packages=(
            "openinference-instrumentation-langchain==0.1.80",
            "langchain==1.5.2",
            "langchain-anthropic==1.7.10",
            "langchain-openai==1.7.4",
        ),
        driver=("frameworks.py", "langchain"),
        apis=("messages", "chat", "responses"),
        agent=True,
    ),
    Library(
        name="OpenInference, OpenAI Agents",
        packages=("openinference-instrumentation-openai-agents==2.6.0", "openai-agents==0.24.0"),
        driver=("frameworks.py", "openai_agents"),
        apis=("chat", "responses"),
        agent=True,
    ),
    Library(
        name="OpenInference, Google ADK",
        packages=("openinference-instrumentation-google-adk==1.0.5", "google-adk==2.13.0"),
        driver=("frameworks.py", "google_adk"),
        apis=("gemini",),
        environment=(*CONTENT, ("GOOGLE_API_KEY", "not-a-key")),
        agent=True,
    ),
    Library(
        name="OpenInference, Google GenAI",
        packages=("openinference-instrumentation-google-genai==1.4.14", "google-genai==3.6.1"),
        driver=("frameworks.py", "google_genai"),
        apis=("gemini",),
    ),
    Library(
        name="pydantic-ai",
        packages=("pydantic-ai-slim[anthropic,openai]==2.68.0",),
        driver=("frameworks.py", "pydantic_ai"),
        apis=("messages", "chat", "responses"),
        agent=True,
    ),
    Library(
        name="OpenTelemetry, OpenAI v2",
        packages=(
            "opentelemetry-instrumentation-openai-v2==2.3b0",
            "openai==1.109.1",
            "wrapt==1.17.3",
        ),
        driver=("clients.py", "otel_v2", "openai"),
        apis=("chat",),
    ),
)

"""Let an agent of a framework do what a recorded one did.

``python frameworks.py FRAMEWORK``
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from otel import set_up
from work import work

KEY = "not-a-key"
TOKENS = 1024


class Toolbox:
    """Give the recorded results, one after another."""

    def __init__(self, results: dict[str, list[str]]) -> None:
        self._results = {name: list(texts) for name, texts in results.items()}

    def __call__(self, name: str) -> str:
        """Return what a tool gave."""
        waiting = self._results.get(name)
        return waiting.pop(0) if waiting else "ok"


def langchain(job: dict[str, Any]) -> None:
    """Run a LangChain agent."""
    from langchain.agents import create_agent
    from langchain_core.tools import StructuredTool

    tools = Toolbox(job["results"])
    made = [
        StructuredTool(
            name=tool["name"],
            description=tool["description"],
            args_schema=tool["parameters"],
            func=lambda _name=tool["name"], **_: tools(_name),
        )
        for tool in job["tools"]
    ]
    agent = create_agent(_langchain_model(job), made, system_prompt=job["system"] or None)
    given = {"messages": [{"role": "user", "content": job["user"]}]}
    config = {"metadata": {"session_id": job["session"]}}
    if job["stream"]:
        for _ in agent.stream(given, config, stream_mode="messages"):
            pass
    else:
        agent.invoke(given, config)


def _langchain_model(job: dict[str, Any]) -> Any:
    base, model = f"{job['url']}/-", job["model"]
    if job["api"] == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(
            model=model, base_url=base, api_key=KEY, max_retries=0, max_tokens=TOKENS
        )
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=model,
        base_url=f"{base}/v1",
        api_key=KEY,
        max_retries=0,
        use_responses_api=job["api"] == "responses",
        stream_usage=job["stream"],
    )


def openai_agents(job: dict[str, Any]) -> None:
    """Run an agent of OpenAI's SDK."""
    import agents
    from openai import AsyncOpenAI

    tools = Toolbox(job["results"])

    def made(tool: dict[str, Any]) -> Any:
        async def invoke(_context: Any, _arguments: str) -> str:
            return tools(tool["name"])

        return agents.FunctionTool(
            name=tool["name"],
            description=tool["description"],
            params_json_schema=tool["parameters"],
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )

    client = AsyncOpenAI(base_url=f"{job['url']}/-/v1", api_key=KEY, max_retries=0)
    kind = (
        agents.OpenAIResponsesModel
        if job["api"] == "responses"
        else agents.OpenAIChatCompletionsModel
    )
    agent = agents.Agent(
        name="desk",
        instructions=job["system"] or None,
        tools=[made(tool) for tool in job["tools"]],
        model=kind(model=job["model"], openai_client=client),
    )
    config = agents.RunConfig(workflow_name="desk", group_id=job["session"])

    async def run() -> None:
        if job["stream"]:
            async for _ in agents.Runner.run_streamed(
                agent, job["user"], run_config=config
            ).stream_events():
                pass
        else:
            await agents.Runner.run(agent, job["user"], run_config=config)

    asyncio.run(run())


def pydantic_ai(job: dict[str, Any]) -> None:
    """Run a pydantic-ai agent."""
    from pydantic_ai import Agent, Tool

    tools = Toolbox(job["results"])

    def made(tool: dict[str, Any]) -> Any:
        def call(**_: Any) -> str:
            return tools(tool["name"])

        return Tool.from_schema(call, tool["name"], tool["description"], tool["parameters"])

    agent = Agent(
        _pydantic_ai_model(job),
        name="desk",
        instructions=job["system"] or None,
        tools=[made(tool) for tool in job["tools"]],
        retries=0,
    )

    async def run() -> None:
        if job["stream"]:
            async with agent.run_stream(job["user"]) as result:
                await result.get_output()
        else:
            await agent.run(job["user"])

    asyncio.run(run())


def _pydantic_ai_model(job: dict[str, Any]) -> Any:
    base, model = f"{job['url']}/-", job["model"]
    if job["api"] == "messages":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AsyncAnthropic(base_url=base, api_key=KEY, max_retries=0)
        return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=anthropic))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = AsyncOpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0)
    kind = OpenAIResponsesModel if job["api"] == "responses" else OpenAIChatModel
    return kind(model, provider=OpenAIProvider(openai_client=openai))


def google_adk(job: dict[str, Any]) -> None:
    """Run an agent of Google's kit."""
    from google.adk.agents import LlmAgent, RunConfig
    from google.adk.agents.run_config import StreamingMode
    from google.adk.models.google_llm import Gemini
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    tools = Toolbox(job["results"])

    class Recorded(BaseTool):
        def __init__(self, tool: dict[str, Any]) -> None:
            super().__init__(name=tool["name"], description=tool["description"])
            self._parameters = tool["parameters"]

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters=self._parameters
            )

        async def run_async(self, **_: Any) -> Any:
            return {"result": tools(self.name)}

    agent = LlmAgent(
        name="desk",
        model=Gemini(model=job["model"], base_url=f"{job['url']}/-"),
        instruction=job["system"],
        tools=[Recorded(tool) for tool in job["tools"]],
    )
    mode = StreamingMode.SSE if job["stream"] else StreamingMode.NONE

    async def run() -> None:
        runner = InMemoryRunner(agent=agent, app_name="shop")
        await runner.session_service.create_session(
            app_name="shop", user_id="u-1", session_id=job["session"]
        )
        message = types.Content(role="user", parts=[types.Part(text=job["user"])])
        async for _ in runner.run_async(
            user_id="u-1",
            session_id=job["session"],
            new_message=message,
            run_config=RunConfig(streaming_mode=mode),
        ):
            pass

    asyncio.run(run())


def google_genai(job: dict[str, Any]) -> None:
    """Make the recorded calls with Google's client."""
    from google import genai
    from google.genai import types

    for number, body in enumerate(job["calls"]):
        given = dict(body)
        config = given.pop("generationConfig", {}) | {
            key: given[key] for key in ("systemInstruction", "tools", "toolConfig") if key in given
        }
        client = genai.Client(
            api_key=KEY, http_options=types.HttpOptions(base_url=f"{job['url']}/{number}")
        )
        wanted = {
            "model": job["model"],
            "contents": [types.Content.model_validate(item) for item in given["contents"]],
            "config": types.GenerateContentConfig.model_validate(config),
        }
        if job["streams"][number]:
            for _ in client.models.generate_content_stream(**wanted):
                pass
        else:
            client.models.generate_content(**wanted)


def instrumented(framework: str) -> None:
    """Turn the instrumentation of a framework on."""
    if framework == "langchain":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument()
    elif framework == "openai_agents":
        from openinference.instrumentation.openai_agents import (
            OpenAIAgentsInstrumentor,
        )

        OpenAIAgentsInstrumentor().instrument()
    elif framework == "pydantic_ai":
        from pydantic_ai import Agent

        Agent.instrument_all()
    elif framework == "google_adk":
        from openinference.instrumentation.google_adk import GoogleADKInstrumentor

        GoogleADKInstrumentor().instrument()
    elif framework == "google_genai":
        from openinference.instrumentation.google_genai import (
            GoogleGenAIInstrumentor,
        )

        GoogleGenAIInstrumentor().instrument()


FRAMEWORKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "langchain": langchain,
    "openai_agents": openai_agents,
    "pydantic_ai": pydantic_ai,
    "google_adk": google_adk,
    "google_genai": google_genai,
}


if __name__ == "__main__":
    flush = set_up()
    instrumented(sys.argv[1])
    work(FRAMEWORKS[sys.argv[1]], flush)

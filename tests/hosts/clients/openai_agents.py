"""An agent on the OpenAI Agents SDK with a stub model, with the SDK's defaults."""

import asyncio
import json
import os

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI

import stub_model


def place(server):
    if server["url"]:
        return MCPServerStreamableHttp(params={"url": server["url"]})
    return MCPServerStdio(params={"command": server["command"][0], "args": server["command"][1:]})


async def main():
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=stub_model.serve(), api_key="none")
    model = OpenAIChatCompletionsModel(model="stub", openai_client=client)
    async with place(json.loads(os.environ["MCPROVE_SERVERS"])[0]) as server:
        agent = Agent(name="host", instructions="Call search, then read.", model=model, mcp_servers=[server])
        result = await Runner.run(agent, "go")
        for item in result.new_items:
            print(item.type, str(getattr(item, "output", ""))[:120])


asyncio.run(main())

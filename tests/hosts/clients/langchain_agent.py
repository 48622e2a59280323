"""An agent on LangChain with its MCP adapters and a stub model, with their defaults."""

import asyncio
import json
import os

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient


class Stub(GenericFakeChatModel):
    """Calls `search`, then `read`, then ends."""

    def bind_tools(self, tools, **_):
        return self


def place(server):
    if server["url"]:
        return {"transport": "streamable_http", "url": server["url"]}
    return {"transport": "stdio", "command": server["command"][0], "args": server["command"][1:]}


def calls(number, name):
    return AIMessage(content="", tool_calls=[{"name": name, "args": {}, "id": f"call-{number}"}])


async def main():
    server = json.loads(os.environ["MCPROVE_SERVERS"])[0]
    tools = await MultiServerMCPClient({"files": place(server)}).get_tools()
    model = Stub(messages=iter([calls(0, "search"), calls(1, "read"), AIMessage(content="Done.")]))
    result = await create_agent(model, tools).ainvoke({"messages": [("user", "go")]})
    for message in result["messages"]:
        print(message.type, str(message.content)[:120])


asyncio.run(main())

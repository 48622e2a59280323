"""A program on the client of FastMCP, with its defaults: calls `search`, then `read`."""

import asyncio
import json
import os

from fastmcp import Client


async def main():
    server = json.loads(os.environ["MCPROVE_SERVERS"])[0]
    entry = {"url": server["url"]} if server["url"] else {"command": server["command"][0], "args": server["command"][1:]}
    async with Client({"mcpServers": {"files": entry}}) as client:
        await client.list_tools()
        for tool in ("search", "read"):
            try:
                print(tool, str(await client.call_tool(tool, {}))[:120])
            except Exception as error:  # noqa: BLE001: whatever the client raises is the outcome
                print(tool, type(error).__name__, error)


asyncio.run(main())

"""A plain client on the official Python SDK, with the SDK's defaults: lists the tools, calls `search` as often as CALLS says,
lists again if that is more than once, then calls `read`. ERA=modern speaks 2026-07-28."""

import json
import os
import time

import anyio
from mcp import Client, StdioServerParameters


def told(step):
    with open(os.environ["OUTCOMES"], "a") as file:
        file.write(json.dumps(step) + "\n")


async def attempt(name, work):
    began = time.monotonic()
    told({"step": name, "outcome": "begun"})
    try:
        result = await work()
        is_error = getattr(result, "is_error", None) is True
        tools = getattr(result, "tools", None)
        described = None if tools is None else [f"{tool.name}: {tool.description}" for tool in tools]
        outcome = {"outcome": "isError" if is_error else "result", "described": described}
    except Exception as error:  # noqa: BLE001: whatever the SDK raises is the outcome
        outcome = {"outcome": "error", "message": f"{type(error).__name__}: {error}"}
    told({"step": name, "ms": int((time.monotonic() - began) * 1000), **outcome})


async def main():
    server = json.loads(os.environ["MCPROVE_SERVERS"])[0]
    place = server["url"] or StdioServerParameters(command=server["command"][0], args=server["command"][1:])
    mode = "2026-07-28" if os.environ.get("ERA") == "modern" else "legacy"
    calls = int(os.environ.get("CALLS", "1"))
    told({"step": "connect", "outcome": "begun"})
    async with Client(place, mode=mode) as client:
        told({"step": "connect", "outcome": "result"})
        await attempt("list", client.list_tools)
        for call in range(1, calls + 1):
            await attempt(f"search {call}", lambda: client.call_tool("search", {}))
        if calls > 1:
            await attempt("list again", client.list_tools)
        await attempt("read", lambda: client.call_tool("read", {}))
    told({"step": "close", "outcome": "result"})


try:
    anyio.run(main)
except BaseException as error:  # noqa: BLE001: an exception that leaves the SDK is what is looked for
    told({"step": "process", "outcome": "uncaught", "message": f"{type(error).__name__}: {error}"})
    raise SystemExit(1) from None

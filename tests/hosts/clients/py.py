"""A plain client on the official Python SDK: lists the tools, calls `search`, then `read`, with the SDK's defaults."""

import json
import os
import time

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def told(step):
    with open(os.environ["OUTCOMES"], "a") as file:
        file.write(json.dumps(step) + "\n")


async def attempt(name, work):
    began = time.monotonic()
    told({"step": name, "outcome": "begun"})
    try:
        result = await work()
        is_error = getattr(result, "is_error", None) or getattr(result, "isError", None)
        outcome = {"outcome": "isError" if is_error else "result"}
    except Exception as error:  # noqa: BLE001: whatever the SDK raises is the outcome
        outcome = {"outcome": "error", "message": f"{type(error).__name__}: {error}"}
    told({"step": name, "ms": int((time.monotonic() - began) * 1000), **outcome})


async def talk(streams):
    async with ClientSession(streams[0], streams[1]) as session:
        await attempt("connect", session.initialize)
        await attempt("list", session.list_tools)
        await attempt("search", lambda: session.call_tool("search", {}))
        await attempt("read", lambda: session.call_tool("read", {}))


async def main():
    server = json.loads(os.environ["MCPROVE_SERVERS"])[0]
    if server["url"]:
        async with streamable_http_client(server["url"]) as streams:
            await talk(streams)
    else:
        command = server["command"]
        with open(os.devnull, "w") as devnull:
            parameters = StdioServerParameters(command=command[0], args=command[1:])
            async with stdio_client(parameters, errlog=devnull) as streams:
                await talk(streams)
    told({"step": "close", "outcome": "result"})


try:
    anyio.run(main)
except BaseException as error:  # noqa: BLE001: an exception that leaves the SDK is what is looked for
    told({"step": "process", "outcome": "uncaught", "message": f"{type(error).__name__}: {error}"})
    raise SystemExit(1) from None

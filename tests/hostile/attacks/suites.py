"""Suites and command lines that attacks share."""

from pathlib import Path

from harness import EVIL, talking

PYTHON, SCRIPT = EVIL.split()


def evil(*words):
    """The value of `server:` for a behaviour of evil.py, with a secret in its environment."""
    args = ", ".join(f'"{word}"' for word in [SCRIPT, *words])
    return f'{{command: "{PYTHON}", args: [{args}], env: {{TOKEN: "${{TOKEN}}"}}}}'


def over_http(headers=""):
    """The value of `server:` for the HTTP server of the attack."""
    return '{url: "{url}", transport: http' + (f", headers: {headers}" if headers else "") + "}"


def case(server, expect="{contains: [zebra]}", tool="echo", name="hi", timeout="20s"):
    """An assertion file with one call."""
    return (
        f"name: {name}\nserver: {server}\ntimeout: {timeout}\nassert:\n  tool: {tool}\n  args: {{text: zebra}}\n"
        f"  expect: {expect}\n"
    )


def suite(server, tests, head=""):
    """A suite file with calls of `echo`."""
    return f"{head}servers:\n  s: {server}\ntools:\n" + "".join(f"  - {test}\n" for test in tests)


def subject(*words):
    return ["--server", " ".join([EVIL, *words])]


CLIENTS = str(Path(__file__).resolve().parent / "clients.py")


def scenario(transport="stdio", faults="", timeout="20s", more=""):
    """A scenario of `mcprove host` with one server."""
    return (
        f"scenario: bad client\ntimeout: {timeout}\nservers:\n  files:\n    transport: {transport}\n"
        f"    offers: {{tools: [{{name: search, description: d}}]}}\n    faults: [{faults}]\nexpect: {{allow_unhit: true}}\n{more}"
    )


def client(behaviour, transport="stdio"):
    """The words after the scenario that start a client of `clients.py`."""
    return ["--", PYTHON, CLIENTS, behaviour, "{command...}" if transport == "stdio" else "{url}"]


def driven(server, *requests):
    """A conversation with `mcprove drive`: opens the server, and sends requests about session 1."""
    opened = {"id": 1, "method": "open", "params": {"server": server, "timeout_ms": 30_000}}
    asked = [{"id": at, "method": method, "params": {"session": 1, **params}} for at, (method, params) in enumerate(requests, 2)]
    return talking(opened, *asked, seconds=120)


def as_agent(*calls):
    """A conversation with `mcprove mcp`: calls of its tools, one after the other."""
    opened = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
              "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}}
    asked = [{"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name, "arguments": given}} for at, (name, given) in enumerate(calls, 1)]
    return talking(opened, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *asked, seconds=120)

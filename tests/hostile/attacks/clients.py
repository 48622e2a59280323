"""A client that attacks the servers it is given: `clients.py BEHAVIOUR COMMAND…`, or `clients.py BEHAVIOUR http://…`.

`mcprove host` starts it as the client of a scenario, `intercept` and `mock` have it on the other end of their pipes.
"""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse

MB = "m" * (1 << 20)
INIT = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ACTS = "\x1b[31mred\x1b]0;t\x07 \u202eabc ::error::x\n::error::own\n##[error]own"


def call(number, text="zebra", **more):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "search", "arguments": {"text": text}, **more}}


def line(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def messages(behaviour):
    """What is sent after the handshake."""
    token = os.environ.get("TOKEN", "")
    return {
        "good": lambda: [call(2)],
        "flood": lambda: (call(number, MB) for number in range(2, 1500)),
        "notifications": lambda: ({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": n, "progress": n, "message": MB}} for n in range(1500)),
        "small-flood": lambda: (call(number) for number in range(2, 60_000)),
        "growing": lambda: (line(call(number))[:-4] + b',"x":[' + b"0," * (4 << 20) + b"0]}}\n" for number in range(2, 30)),
        "endless-line": lambda: (b"x" * (1 << 20) for _ in range(1500)),
        "junk": lambda: (b"not json at all\n" * 4000 for _ in range(500)),
        "deep": lambda: [line(call(2))[:-4] + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n", call(3)],
        "acts": lambda: [call(2, ACTS), {"jsonrpc": "2.0", "id": ACTS, "method": ACTS, "params": {ACTS: ACTS}}],
        "secret": lambda: [call(2, f"token {token}"), {"jsonrpc": "2.0", "id": 3, "method": token, "params": {token: token}}],
        "long": lambda: [{"jsonrpc": "2.0", "id": 2, "method": "L" * (20 << 20)}, call(3, "L" * (20 << 20)), {"jsonrpc": "2.0", "id": "L" * (5 << 20), "method": "tools/list"}],
        "batch": lambda: [line([call(2)] * 50_000)],
        "ids": lambda: [line(call(2)).replace(b'"id": 2', b'"id": ' + odd) for odd in (b"1e999", b"-0", b"[1]", b"null", b"9" * 5000, b'{"a":1}', b"2.5")],
        "prints": lambda: [call(2)],
        "deaf": lambda: [call(2)],
        "forks": lambda: [call(2)],
    }[behaviour]()


def over_pipes(behaviour, command):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def drain():
        while server.stdout.read1(1 << 20):
            pass

    server.stdin.write(line(INIT) + line(READY))
    server.stdin.flush()
    threading.Thread(target=drain, daemon=True).start()
    try:
        for message in messages(behaviour):
            server.stdin.write(line(message))
            server.stdin.flush()
        time.sleep(0.3)
        server.stdin.close()
    except OSError:
        pass
    server.wait()


def over_http(behaviour, url):
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def ask(message):
        connection.request("POST", place.path or "/", line(message), headers)
        response = connection.getresponse()
        headers.setdefault("mcp-session-id", response.getheader("mcp-session-id") or "none")
        response.read()

    ask(INIT)
    ask(READY)
    for message in messages(behaviour):
        try:
            ask(message)
        except (OSError, http.client.HTTPException):
            connection.close()


def main():
    behaviour, where = sys.argv[1], sys.argv[2:]
    if behaviour == "prints":
        for _ in range(300):
            os.write(1, b"o" * (1 << 20) + b"\n")
            os.write(2, ACTS.encode() + b"e" * (1 << 20) + b"\n")
    if behaviour == "secret":
        print(os.environ.get("TOKEN"), flush=True)
        print(os.environ.get("TOKEN"), file=sys.stderr, flush=True)
    if behaviour == "acts":
        print(ACTS, flush=True)
        print(ACTS, file=sys.stderr, flush=True)
    if behaviour == "forks":
        for _ in range(20):
            subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL)
    if behaviour == "deaf":
        import signal

        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sig, signal.SIG_IGN)
        time.sleep(600)
    if where[0].startswith("http"):
        over_http(behaviour, where[0])
    else:
        over_pipes(behaviour, where)


if __name__ == "__main__":
    main()

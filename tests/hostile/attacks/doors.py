"""Class 10: what listens answers only those it is meant for."""

import http.client
import re
import socket
import threading
import time

from harness import Attack, read
from suites import subject  # noqa: F401

MANIFEST = "tools:\n  - {name: echo, description: d, inputSchema: {type: object}, responses: [{result: hi}]}\n"
INIT = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def address(process, place):
    """Waits for the address that the program prints."""
    for _ in range(500):
        for name in ("stderr", "stdout"):
            found = re.search(r"http://([\d.]+|localhost):(\d+)(\S*)", read(place.tmp.parent / name))
            if found:
                return "127.0.0.1", int(found.group(2)), found.group(3)
        if process.poll() is not None:
            raise RuntimeError("it ended")
        time.sleep(0.02)
    raise RuntimeError("no address")


def ask(where, method="POST", path="/mcp", body=INIT, headers=None):
    connection = http.client.HTTPConnection(where[0], where[1], timeout=5)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    headers = {"host": f"{where[0]}:{where[1]}", **JSON, **(headers or {})}
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name, value)
    connection.putheader("content-length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    return response.status, response.read(1 << 20)


def asking(status, **how):
    """Asks once, ends the program, and remembers the status."""

    def drive(process, place):
        where = address(process, place)
        try:
            got, body = ask(where, **how)
        except (OSError, http.client.HTTPException) as error:
            got, body = 0, str(error).encode()
        (place.tmp.parent / "got").write_text(f"{got} {body[:200]!r}")
        process.send_signal(2)

    def check(place, stdout, stderr, code):
        got = (place.tmp.parent / "got").read_text()
        return [] if int(got.split()[0]) in status else [f"answered {got}, not {sorted(status)}"]

    return {"drive": drive, "check": check}


REFUSED = {0, 400, 403, 404, 405, 406, 411, 413, 414, 415, 421, 431, 501}
HOSTILE = {
    "a rebound name": {"headers": {"host": "evil.example"}},
    "a rebound name with the port": {"headers": {"host": "evil.example:80"}},
    "a name that begins like this machine": {"headers": {"host": "localhost.evil.example"}},
    "a name that ends like this machine": {"headers": {"host": "evil-localhost"}},
    "an address with letters": {"headers": {"host": "127.0.0.1.nip.io"}},
    "no host": {"headers": {"host": None}},
    "another origin": {"headers": {"origin": "https://evil.example"}},
    "the origin null": {"headers": {"origin": "null"}},
    "an origin of a file": {"headers": {"origin": "file://"}},
    "an origin like this machine": {"headers": {"origin": "http://localhost.evil.example"}},
    "a form": {"headers": {"content-type": "application/x-www-form-urlencoded"}},
    "plain text": {"headers": {"content-type": "text/plain"}},
    "a multipart form": {"headers": {"content-type": "multipart/form-data; boundary=x"}},
    "no content type": {"headers": {"content-type": None}},
    "two content types": {"headers": {"content-type": "text/plain, application/json"}},
    "another path": {"path": "/admin"},
    "a path above": {"path": "/mcp/../admin"},
    "an encoded path": {"path": "/%2e%2e/admin"},
    "a whole URL": {"path": "http://evil.example/mcp"},
    "GET of another path": {"method": "GET", "path": "/admin", "body": b""},
    "PUT": {"method": "PUT"},
    "TRACE": {"method": "TRACE", "body": b""},
    "CONNECT": {"method": "CONNECT", "path": "evil.example:443", "body": b""},
    "OPTIONS of another origin": {"method": "OPTIONS", "headers": {"origin": "https://evil.example", "access-control-request-method": "POST"}, "body": b""},
}
DOORS = {
    "intercept": dict(argv=["intercept", "--url", "{url}", "--header", "Authorization: Bearer x", "--http", "127.0.0.1:0"], http="honest"),
    "mock": dict(argv=["mock", "--tools-from", "m.yaml", "--http", "127.0.0.1:0"], files={"m.yaml": MANIFEST}),
}
ATTACKS = []
for door, given in DOORS.items():
    for name, how in HOSTILE.items():
        if door == "mock" and name in ("another path", "a path above", "an encoded path", "GET of another path"):
            how = {**how}
        ATTACKS.append(Attack(f"{door}: {name}", given["argv"], dict(given.get("files", {})), http=given.get("http"), codes={0, 130}, seconds=30, raw_output=False, **asking(REFUSED, **how)))
    ATTACKS.append(Attack(f"{door}: an honest request", given["argv"], dict(given.get("files", {})), http=given.get("http"), codes={0, 130}, seconds=30, **asking({200})))
for name, how in HOSTILE.items():
    ATTACKS.append(Attack(f"ui: {name}", ["ui", "--no-open", "--server", "{evil} honest"], codes={0, 130}, seconds=30, **asking(REFUSED | {401}, **{"path": "/api/runs", **how})))
ATTACKS.append(Attack("ui: the page without its token", ["ui", "--no-open"], codes={0, 130}, seconds=30, **asking(REFUSED | {401}, method="GET", path="/api/runs", body=b"")))


def crowd(count, what):
    """Many connections that do little, and an honest one that must still be answered."""

    def drive(process, place):
        where = address(process, place)
        held = []
        for _ in range(count):
            try:
                one = socket.create_connection(where[:2], timeout=2)
                one.sendall(what)
                held.append(one)
            except OSError:
                break
        got = []

        def honest():
            try:
                got.append(ask(where)[0])
            except (OSError, http.client.HTTPException) as error:
                got.append(repr(error))

        asking_once = threading.Thread(target=honest)
        asking_once.start()
        asking_once.join(6)
        (place.tmp.parent / "got").write_text(str(got[0] if got else "nothing"))
        process.send_signal(2)
        for one in held:
            one.close()

    def check(place, stdout, stderr, code):
        got = (place.tmp.parent / "got").read_text()
        return [] if got == "200" else [f"an honest client got {got}"]

    return {"drive": drive, "check": check}


def sessions(count):
    def drive(process, place):
        where = address(process, place)
        connection = http.client.HTTPConnection(where[0], where[1], timeout=5)
        for _ in range(count):
            try:
                connection.request("POST", "/mcp", INIT, JSON)
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection(where[0], where[1], timeout=5)
        process.send_signal(2)

    return {"drive": drive}


for door, given in DOORS.items():
    def one(name, how, door=door, given=given, **more):
        return Attack(f"{door}: {name}", given["argv"], dict(given.get("files", {})), http=given.get("http"), codes={0, 130}, **{"seconds": 60, **how, **more})

    ATTACKS += [
        one("300 idle connections", crowd(300, b"")),
        one("300 heads that do not end", crowd(300, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")),
        one("100 bodies that do not come", crowd(100, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000000000\r\n\r\n{")),
        one("a head of a megabyte", crowd(1, b"POST /mcp HTTP/1.1\r\nx: " + b"h" * (1 << 20))),
        one("smuggled lengths", crowd(1, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n")),
        one("not HTTP at all", crowd(50, b"\x16\x03\x01\x02\x00\x01\x00" * 40)),
        one("20,000 sessions", sessions(20_000 if door == "mock" else 300), memory=100 << 20, seconds=120),
    ]

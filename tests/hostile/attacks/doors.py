"""Class 10: what listens answers only those it is meant for."""

import http.client
import json
import re
import socket
import threading
import time
import urllib.parse

from harness import SLOWNESS, Attack, read
from logins import browser, visit
from suites import case, evil

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
    "another name behind a bracket": {"headers": {"host": "[::1].evil.example"}},
    "another name behind a slash": {"headers": {"host": "127.0.0.1/evil.example"}},
    "another name behind user information": {"headers": {"host": "127.0.0.1:80@evil.example"}},
    "a port that is none": {"headers": {"host": "127.0.0.1:evil"}},
    "an origin with user information": {"headers": {"origin": "http://127.0.0.1:80@evil.example"}},
    "an origin behind a bracket": {"headers": {"origin": "http://[::1].evil.example"}},
    "an origin with a path": {"headers": {"origin": "http://127.0.0.1/evil.example"}},
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


def sent_raw(head, path="/mcp"):
    """Sends a head as it is, and remembers the status; `{host}` is the right one."""

    def drive(process, place):
        where = address(process, place)
        one = socket.create_connection(where[:2], timeout=5)
        host = f"{where[0]}:{where[1]}".encode()
        one.sendall(head.replace(b"{host}", host).replace(b"{path}", path.encode()))
        one.settimeout(5)
        try:
            said = one.recv(1 << 16)
        except OSError as error:
            said = repr(error).encode()
        (place.tmp.parent / "got").write_bytes(said)
        process.send_signal(2)

    def check(place, stdout, stderr, code):
        said = (place.tmp.parent / "got").read_bytes()
        status = int(said.split()[1]) if said.startswith(b"HTTP/1.") else 0
        return [] if status in REFUSED | {401} else [f"answered {said[:200]!r}"]

    return {"drive": drive, "check": check}


FIELDS = b"content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
LENGTH = b"content-length: %d\r\n" % len(INIT)
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(INIT), INIT)
HEADS = {
    "two hosts": b"POST {path} HTTP/1.1\r\nhost: {host}\r\nhost: evil.example\r\n" + FIELDS + LENGTH + b"\r\n" + INIT,
    "two origins": b"POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\norigin: http://evil.example\r\n" + FIELDS + LENGTH + b"\r\n" + INIT,
    "the URL of another host": b"POST http://evil.example{path} HTTP/1.1\r\nhost: {host}\r\n" + FIELDS + LENGTH + b"\r\n" + INIT,
    "a target with a space": b"POST {path} /admin HTTP/1.1\r\nhost: {host}\r\n" + FIELDS + LENGTH + b"\r\n" + INIT,
    "a field without a colon": b"POST {path} HTTP/1.1\r\nhost: {host}\r\nGarbage\r\n" + FIELDS + LENGTH + b"\r\n" + INIT,
    "a coding behind a control character": b"POST {path} HTTP/1.1\r\nhost: {host}\r\n" + FIELDS + b"transfer-encoding:\x0bchunked\r\n\r\n" + CHUNKED,
    "chunks with HTTP/1.0": b"POST {path} HTTP/1.0\r\nhost: {host}\r\n" + FIELDS + b"transfer-encoding: chunked\r\n\r\n" + CHUNKED,
}
for name, head in HEADS.items():
    for door, given in DOORS.items():
        ATTACKS.append(Attack(f"{door}: {name}", given["argv"], dict(given.get("files", {})), http=given.get("http"), codes={0, 130}, seconds=30, raw_output=False, **sent_raw(head)))
    ATTACKS.append(Attack(f"mcp: {name}", ["mcp", "--http", "127.0.0.1:0"], codes={0, 130}, seconds=30, **sent_raw(head)))
    ATTACKS.append(Attack(f"ui: {name}", ["ui", "--no-open"], codes={0, 130}, seconds=30, **sent_raw(head, "/api/state")))
# The parser of the others drops a fragment.
ATTACKS.append(Attack("intercept: a target with a fragment", DOORS["intercept"]["argv"], http="honest", codes={0, 130}, seconds=30, **sent_raw(b"POST {path}#x HTTP/1.1\r\nhost: {host}\r\n" + FIELDS + LENGTH + b"\r\n" + INIT)))
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


def endless(count):
    """Bodies that do not end, at once, for some seconds; an honest client is answered afterwards."""

    def drive(process, place):
        where = address(process, place)
        until = time.time() + 8

        def send():
            try:
                one = socket.create_connection(where[:2], timeout=2)
                one.sendall(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000000000000\r\n\r\n")
                while time.time() < until:
                    one.sendall(b" " * (1 << 20))
            except OSError:
                pass

        senders = [threading.Thread(target=send) for _ in range(count)]
        [sender.start() for sender in senders]
        [sender.join() for sender in senders]
        try:
            got = ask(where)[0]
        except (OSError, http.client.HTTPException) as error:
            got = repr(error)
        (place.tmp.parent / "got").write_text(str(got))
        process.send_signal(2)

    def check(place, stdout, stderr, code):
        got = (place.tmp.parent / "got").read_text()
        return [] if got == "200" else [f"an honest client got {got}"]

    return {"drive": drive, "check": check}


def poured(messages):
    """Writes messages to standard input as long as they are taken, at most 10 s."""

    def drive(process, place):
        import os

        os.set_blocking(process.stdin.fileno(), False)
        until = time.time() + 10
        rest = b""
        for message in messages():
            rest = message
            while rest and time.time() < until and process.poll() is None:
                try:
                    rest = rest[os.write(process.stdin.fileno(), rest):]
                except BlockingIOError:
                    time.sleep(0.01)
                except OSError:
                    return
            if time.time() >= until:
                break
        process.send_signal(15)

    return {"drive": drive}


def numbered(message, count):
    return lambda: (b"".join(json.dumps({**message, "id": at * 200 + each}).encode() + b"\n" for each in range(200)) for at in range(count // 200))


HANGS = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
SHOOK = lambda: [INIT + b"\n"]
MOCK = ["mock", "--tools-from", "m.yaml"]
for name, argv, messages in [
    ("calls of a tool that hangs", [*MOCK, "--fault", "echo=hang"], numbered(HANGS, 2_000_000)),
    ("calls of a slow tool", [*MOCK, "--fault", "echo=slow:60000"], numbered(HANGS, 2_000_000)),
    ("long calls of a tool that hangs", [*MOCK, "--fault", "echo=hang"], numbered({**HANGS, "params": {"name": "echo", "arguments": {"a": "x" * 200_000}}}, 4_000)),
]:
    ATTACKS.append(Attack(f"{argv[0]}: {name} without an end", argv, {"m.yaml": MANIFEST}, codes={0, 1, 2, 130, 143, -15}, seconds=60, memory=300 << 20, raw_output=True, output=1 << 30,
                          **poured(lambda messages=messages: (part for parts in (SHOOK(), messages()) for part in parts))))


for door, given in DOORS.items():
    def one(name, how, door=door, given=given, **more):
        return Attack(f"{door}: {name}", given["argv"], dict(given.get("files", {})), http=given.get("http"), codes={0, 130}, **{"seconds": 60, **how, **more})

    ATTACKS += [
        one("300 idle connections", crowd(300, b"")),
        one("3,000 heads that do not end", crowd(3_000, b"POST /mcp HTTP/1.1\r\nhost: 127"), memory=200 << 20),
        one("twelve bodies without an end", endless(12), memory=400 << 20),
        one("300 heads that do not end", crowd(300, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")),
        one("100 bodies that do not come", crowd(100, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000000000\r\n\r\n{")),
        one("a head of a megabyte", crowd(1, b"POST /mcp HTTP/1.1\r\nx: " + b"h" * (1 << 20))),
        one("smuggled lengths", crowd(1, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n")),
        one("not HTTP at all", crowd(50, b"\x16\x03\x01\x02\x00\x01\x00" * 40)),
        one("20,000 sessions", sessions(20_000 if door == "mock" else 300), memory=100 << 20, seconds=120),
    ]
# What came later: mcp over HTTP, the redirect of a login, the page with and without its key.
DOOR = dict(argv=["mcp", "--http", "127.0.0.1:0"])
for name, how in HOSTILE.items():
    ATTACKS.append(Attack(f"mcp: {name}", DOOR["argv"], codes={0, 130}, seconds=30, **asking(REFUSED, **how)))
ATTACKS += [
    Attack("mcp: an honest request", DOOR["argv"], codes={0, 130}, seconds=30, **asking({200})),
    Attack("mcp: 300 heads that do not end", DOOR["argv"], codes={0, 130}, **crowd(300, b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")),
    Attack("mcp: 20,000 sessions", DOOR["argv"], codes={0, 130}, memory=150 << 20, seconds=120, **sessions(20_000)),
    Attack("mcp on all addresses says so", ["mcp", "--http", "0.0.0.0:0"], codes={0, 2, 130}, seconds=30, says=["(?i)warning|refus|every|all"], drive=lambda process, place: (address(process, place), time.sleep(0.3), process.send_signal(2))),
]


def redirected(*visits, then=True):
    """Visits the page that a login ends on, with wrong requests first, and then with the right one."""

    def drive(process, place):
        back = browser(process, place)
        assert back, "no URL was printed"
        for query, how in visits:
            try:
                visit(back, query, **{"timeout": 3, **how})
            except (OSError, http.client.HTTPException):
                pass
        if then:
            status, _ = visit(back, urllib.parse.urlencode({"code": "code-0123456789", "state": back[3]}))
            (place.tmp.parent / "got").write_text(str(status))
        process.stdin.close()

    return drive


def open_connections(count):
    def drive(process, place):
        back = browser(process, place)
        assert back, "no URL was printed"
        held = [socket.create_connection(back[:2], timeout=2) for _ in range(count)]
        visit(back, urllib.parse.urlencode({"code": "code-0123456789", "state": back[3]}), timeout=8)
        for one in held:
            one.close()
        process.stdin.close()

    return drive


LOGIN = dict(argv=["login", "{url}", "--no-browser", "--timeout", "20s"], http="login_good", env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, seconds=40)
ATTACKS += [
    Attack("login: honest", codes={0}, drive=redirected(), **LOGIN),
    Attack("login: a page that guesses the state", codes={0}, drive=redirected(("code=evil&state=wrong", {}), ("code=evil", {}), ("state=", {})), **LOGIN),
    Attack("login: a page that says the login failed", codes={0}, drive=redirected(("error=access_denied&state=wrong", {}), ("error=access_denied", {})), **LOGIN),
    Attack("login: other pages and methods", codes={0}, drive=redirected(("", {"method": "POST"}), ("x=" + "q" * 20_000, {}), ("", {"method": "OPTIONS"})), **LOGIN),
    Attack("login: heads that are too long", codes={0}, drive=redirected(("x=" + "q" * 60_000, {}), ("", {"headers": {"x": "h" * 100_000}})), **LOGIN),
    Attack("login: 40 idle connections before the browser", codes={0}, drive=open_connections(40), **LOGIN),
    Attack("login: another issuer in the redirect", codes={2}, drive=lambda process, place: (lambda back: visit(back, urllib.parse.urlencode({"code": "c", "state": back[3], "iss": "http://evil.example"})))(browser(process, place)), **{**LOGIN, "http": "login_names_issuer"}),
]


def on_page(work):
    """Goes to the page of `mcprove ui` as its user, with the key."""

    def drive(process, place):
        where = address(process, place)
        token = re.search(r"token=(\w+)", where[2]).group(1)
        status, body = ask(where, path="/api/login", body=json.dumps({"token": token}).encode())
        assert status == 200, body
        key = {"authorization": f"Bearer {json.loads(body)['key']}"}
        said = []

        def api(method, path, given=None, most=256 << 20, timeout=30 * SLOWNESS):
            connection = http.client.HTTPConnection(where[0], where[1], timeout=timeout)
            connection.request(method, f"/api/{path}", json.dumps(given).encode() if given is not None else b"", {"host": f"127.0.0.1:{where[1]}", **key})
            response = connection.getresponse()
            text = response.read(most)
            said.append(text)
            return response.status, text

        work(api, where, key)
        (place.home / "out/answers").write_bytes(b"\n".join(said))
        process.send_signal(2)

    return drive


def connect(api, **server):
    status, text = api("POST", "connections", server)
    return json.loads(text) if status == 200 else {}


def calls_echo(times=1, watch=0.0):
    """Connects to the server of the suite, calls its tool, and listens to the events for a while."""

    def work(api, where, key):
        about = connect(api, known=0)
        number = about.get("about", {}).get("connection")
        if number is None:
            return
        for at in range(times):
            api("POST", f"connections/{number}/requests", {"method": "tools/call", "params": {"name": "echo", "arguments": {"text": "zebra"}}, "request": at + 1})
        time.sleep(watch)
        api("GET", "state")
        api("GET", f"connections/{number}/catalog")
        api("GET", f"connections/{number}/lint")
        connection = http.client.HTTPConnection(*where[:2], timeout=3)
        connection.request("GET", "/api/events?after=0", headers={"host": f"127.0.0.1:{where[1]}", **key})
        try:
            connection.getresponse().read(256 << 20)
        except (OSError, http.client.HTTPException):
            pass

    return on_page(work)


def page(name, work, **more):
    return Attack(f"ui: {name}", ["ui", "--no-open"], drive=on_page(work), codes={0, 130}, **{"seconds": 90, "report": 128 << 20, "raw_output": True, **more})


for flood in ["notification-flood", "request-flood", "growing-zeros", "growing-blocks", "ten-megabytes", "stderr-flood", "stdout-endless", "big-pages", "growing-in-list", "huge-server-name", "init-flood"]:
    ATTACKS.append(Attack(f"ui: {flood}", ["ui", "--no-open", "case.yaml"], {"case.yaml": case(evil(flood))}, drive=calls_echo(3, 6.0), codes={0, 130}, seconds=120, report=256 << 20, raw_output=True))
ATTACKS.append(Attack("ui: 60 replies of 10 MB", ["ui", "--no-open", "case.yaml"], {"case.yaml": case(evil("ten-megabytes"))}, drive=calls_echo(60, 20.0), codes={0, 130}, seconds=150, report=256 << 20, raw_output=True))
for behaviour in ["secret-everywhere", "secret-error", "secret-at-start", "secret-crash", "secret-unicode", "secret-base64", "secret-on-every-method", "secret-slash", "secret-url"]:
    ATTACKS.append(Attack(f"ui: {behaviour}", ["ui", "--no-open", "case.yaml"], {"case.yaml": case(evil(behaviour))}, drive=calls_echo(1, 1.0), codes={0, 130}, seconds=60, report=128 << 20))


def idle_listeners(api, where, key):
    """Pages that listen to the events and never read them, while a server floods."""
    held = []
    for _ in range(30):
        one = socket.create_connection(where[:2], timeout=5)
        one.sendall(f"GET /api/events?after=0 HTTP/1.1\r\nhost: 127.0.0.1:{where[1]}\r\nauthorization: {key['authorization']}\r\n\r\n".encode())
        held.append(one)
    about = connect(api, known=0)
    number = about["about"]["connection"]
    for at in range(40):
        api("POST", f"connections/{number}/requests", {"method": "tools/call", "params": {"name": "echo", "arguments": {"text": "zebra"}}, "request": at + 1})
    time.sleep(15)
    api("GET", "state")
    for one in held:
        one.close()


ATTACKS.append(Attack("ui: 30 pages that do not read while a server floods", ["ui", "--no-open", "case.yaml"], {"case.yaml": case(evil("ten-megabytes"))}, drive=on_page(idle_listeners), codes={0, 130}, seconds=120, report=128 << 20, raw_output=True))


def bodies(*given):
    """Sends bodies without the key."""

    def drive(process, place):
        where = address(process, place)
        for path, body in given:
            try:
                ask(where, path=path, body=body)
            except (OSError, http.client.HTTPException):
                pass
        (place.tmp.parent / "got").write_text(str(ask(where, path="/api/state", method="GET", body=b"")[0]))
        process.send_signal(2)

    return {"drive": drive, "check": lambda place, out, err, code: [] if (place.tmp.parent / "got").read_text() == "401" else ["it does not answer"]}


GROWS = b'{"token":[' + b"0," * (20 << 20) + b"0]}"
ATTACKS += [
    Attack("ui: a login that grows", ["ui", "--no-open"], codes={0, 130}, seconds=60, **bodies(("/api/login", GROWS))),
    Attack("ui: a login of 60 MB", ["ui", "--no-open"], codes={0, 130}, seconds=60, memory=150 << 20, **bodies(("/api/login", b'"' + b"x" * (60 << 20) + b'"'))),
    Attack("ui: a login of 100,000 levels", ["ui", "--no-open"], codes={0, 130}, seconds=60, **bodies(("/api/login", b"[" * 100_000))),
    Attack("ui: a request without a key that grows", ["ui", "--no-open"], codes={0, 130}, seconds=60, memory=150 << 20, **bodies(("/api/check", GROWS))),
    page("a check that grows", lambda api, where, key: api("POST", "check", {"schema": {}, "value": [0] * (15 << 20)})),
    page("a check with a schema that is a bomb", lambda api, where, key: api("POST", "check", {"schema": {"$ref": "#", "allOf": [{"$ref": "#"}] * 100}, "value": 1})),
    page("a suite outside of the folder", lambda api, where, key: api("POST", "suites", {"paths": ["/etc/passwd", "../outside/credentials"]})),
    page("the file of a client outside of the folder", lambda api, where, key: api("POST", "client-config", {"path": "../outside/credentials"})),
    page("a log outside of the folder", lambda api, where, key: [api("POST", "logs", {"name": name}) for name in ("../outside/credentials", "/etc/passwd", "..\\x.ndjson", "a/../b.ndjson")]),
    page("a run of what may not be run", lambda api, where, key: [api("POST", "runs", {"words": words}) for words in (["generate", "--output", "x"], ["run", "--junit", "../outside/precious"], ["fuzz", "--save", "/tmp/x", "--server", "true"], ["run", "--events", "x"], ["sh", "-c", "touch owned"], ["run", "--html=../outside/precious", "x.yaml"], ["bench", "--otlp", "../outside/precious", "x.yaml"], ["run", "--report", "case2.yaml", "x.yaml"])]),
    page("a log that is kept outside of the folder", lambda api, where, key: [api("POST", "runs/1/keep", {"name": name}) for name in ("../outside/precious", "x.yaml", ".x.ndjson", "a/b.ndjson")]),
    page("a test that is saved outside of the folder", lambda api, where, key: [api("POST", "tests/save", {"connection": 1, "method": "tools/call", "params": {}, "expect": [], "path": path, "write": True}) for path in ("../outside/x.yaml", "/etc/x.yaml", "x.sh", "a\u0000b.yaml")]),
    page("numbers out of range", lambda api, where, key: [api("GET", "runs/18446744073709551616"), api("DELETE", "connections/-1"), api("POST", "connections/9223372036854775807/requests", {"method": "x"}), api("GET", "events?after=-1", most=10)], seconds=60),
]
for name, prepare in [("a pipe", lambda place: __import__("os").mkfifo(place.home / "log.ndjson")), ("/dev/zero", lambda place: (place.home / "log.ndjson").symlink_to("/dev/zero")),
                      ("credentials", lambda place: (place.home / "log.ndjson").symlink_to(place.outside / "credentials")), ("of a sparse terabyte", lambda place: ((place.home / "log.ndjson").touch(), __import__("os").truncate(place.home / "log.ndjson", 1 << 40)))]:
    ATTACKS.append(Attack(f"ui: a log that is {name}", ["ui", "--no-open"], prepare=prepare, drive=on_page(lambda api, where, key: [api("GET", "history"), api("GET", "runs"), api("POST", "logs", {"name": "log.ndjson"})]), codes={0, 130}, seconds=60, raw_output=True))

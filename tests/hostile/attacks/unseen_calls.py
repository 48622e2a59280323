"""Class 11: what a client sends through `intercept` is recorded, or recorded as unreadable; an absence is not proven over it."""

import json

from harness import Attack
from suites import PYTHON, scenario, subject

INIT = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
READY = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
CALL = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"forbidden"}}}'
NESTED = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"forbidden","x":' + "[" * 300 + "]" * 300 + "}}}"
SENT = {
    "a bare carriage return": CALL.encode() + b"\r",
    "a call cut by a line feed": b'{"jsonrpc":"2.0","id":2,"method":"tools/call",\n"params":{"name":"echo","arguments":{"text":"forbidden"}}}\n',
    "invalid UTF-8": CALL.replace("forbidden", "forbidden\x00").encode().replace(b"\x00", b"\xff\xfe") + b"\n",
    "300 levels": NESTED.encode() + b"\n",
    "a huge number": CALL.replace('"forbidden"', "1e999999").encode() + b"\n",
    "a lone surrogate": CALL.replace("forbidden", "forbidden\\ud800").encode() + b"\n",
    "no jsonrpc": CALL.replace('"jsonrpc":"2.0",', "").encode() + b"\n",
    "a byte order mark": b"\xef\xbb\xbf" + CALL.encode() + b"\n",
    "the method twice": CALL.replace('"method"', '"method":"ping","method"').encode() + b"\n",
    "the method escaped": CALL.replace("tools/call", "tools\\/c\\u0061ll").encode() + b"\n",
    "the key escaped": CALL.replace('"method"', '"m\\u0065thod"').encode() + b"\n",
    "a batch": f"[{CALL}]\n".encode(),
    "two on a line": f"{READY}{CALL}\n".encode(),
    "text before it": f"log: {CALL}\n".encode(),
    "text after it": f"{CALL} // done\n".encode(),
    "NUL before it": b"\x00" + CALL.encode() + b"\n",
    "UTF-16": (CALL + "\n").encode("utf-16-le"),
    "jsonrpc 1.0": CALL.replace('"2.0"', '"1.0"').encode() + b"\n",
    "the name as a list": CALL.replace('"echo"', '["echo"]').encode() + b"\n",
    "20 MB around it": CALL.replace('"arguments"', '"pad":"' + "p" * (20 << 20) + '","arguments"').encode() + b"\n",
    "70 MB around it": CALL.replace('"arguments"', '"pad":"' + "p" * (70 << 20) + '","arguments"').encode() + b"\n",
    "no line end": CALL.encode(),
    "no id": CALL.replace('"id":2,', "").encode() + b"\n",
    "the id null": CALL.replace('"id":2', '"id":null').encode() + b"\n",
    "no name": CALL.replace('"name":"echo",', "").encode() + b"\n",
    "a trailing comma": CALL.replace("}}}", "},}}").encode() + b"\n",
    "single quotes": CALL.replace('"', "'").encode() + b"\n",
    "a comment": CALL.replace("{", "{/*x*/", 1).encode() + b"\n",
    "an id that is a list": CALL.replace('"id":2', '"id":[2]').encode() + b"\n",
    "the name twice": CALL.replace('"name"', '"name":"echo","name"').replace('"echo","arguments"', '"other","arguments"').encode() + b"\n",
    "the name twice, once escaped": CALL.replace('"echo",', '"echo","n\\u0061me":"other",').encode() + b"\n",
    "the name in another case": CALL.replace('"name"', '"name":"other","Name"').encode() + b"\n",
    "the params twice": CALL.replace('}}}', '}},"params":{"name":"other"}}').encode() + b"\n",
    "the params in another case": CALL.replace('"params"', '"Params"').replace("}}}", '}},"params":{"name":"other"}}').encode() + b"\n",
    "the params with a long s": CALL.replace('"params"', '"param\u017f"').encode() + b"\n",
    "the method in another case": CALL.replace('"method"', '"method":"ping","METHOD"').encode() + b"\n",
    "the method only in another case": CALL.replace('"method"', '"Method"').encode() + b"\n",
    "the method as a list": CALL.replace('"tools/call"', '["tools/call"]').encode() + b"\n",
    "the method twice in a batch": f"[{CALL}]\n".replace('"method"', '"method":"ping","method"').encode(),
    "an id of a megabyte": CALL.replace('"id":2', '"id":"' + "i" * (1 << 20) + '"').encode() + b"\n",
}
ABSENT = "name: nothing is called\ntrajectory:\n  - {type: absence, tools: [echo]}\n"


def told(name):
    """The call is in the log, readable or not; and the absence of it was not proven."""

    def check(place, stdout, stderr, code):
        wrong = []
        log = (place.home / "out/log.ndjson").read_text(errors="replace")
        frames = [json.loads(line) for line in log.splitlines() if '"frame"' in line[:40]]
        sent = [frame["frame"] for frame in frames if frame["frame"]["direction"] == "sent"]
        if len(sent) < 3:
            wrong.append(f"the log has {len(sent)} messages of the client")
        if code == 0:
            wrong.append("the absence of the call was proven")
        return wrong

    return check


ATTACKS = [
    Attack(f"{name} against --trajectory", ["intercept", "--trajectory", "t.yaml", "--events", "out/log.ndjson", "--timeout", "5s", *subject("passive")],
           {"t.yaml": ABSENT}, stdin=f"{INIT}\n{READY}\n".encode() + sent, codes={1, 2}, seconds=30, check=told(name), raw_output=True, output=256 << 20)
    for name, sent in SENT.items()
]


def not_passed_on(place, stdout, stderr, code):
    seen = (place.home / "seen").read_bytes() if (place.home / "seen").exists() else b""
    return ["what cannot be read was passed on"] if b"forbidden" in seen else []


UNREADABLE = ["a call cut by a line feed", "invalid UTF-8", "300 levels", "no jsonrpc", "text before it", "text after it", "NUL before it", "UTF-16", "a trailing comma", "single quotes", "a comment", "two on a line", "the name twice", "the name in another case", "the params twice", "the method in another case"]
ATTACKS += [
    Attack(f"{name} is not passed on under --strict", ["intercept", "--strict", "--events", "out/log.ndjson", "--timeout", "5s", *subject("passive")],
           stdin=f"{INIT}\n{READY}\n".encode() + SENT[name], seconds=30, check=not_passed_on, raw_output=True)
    for name in UNREADABLE
]
# Calls of a client of `mcprove host` that its rules could miss.
HOSTED = """
import os, subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(open("sent", "rb").read()); server.stdin.flush()
time.sleep(1); server.stdin.close(); server.wait()
"""
for name, sent in SENT.items():
    if len(sent) < 1 << 20:
        ATTACKS.append(
            Attack(f"{name} against not_called of host", ["host", "s.yaml", "--events", "out/log.ndjson", "--", PYTHON, "client.py", "{command...}"],
                   {"s.yaml": scenario(timeout="10s").replace("search", "echo").replace("allow_unhit", "not_called: [files.echo], allow_unhit"), "client.py": HOSTED,
                    "sent": f"{INIT}\n{READY}\n".encode() + sent}, codes={1, 2}, seconds=30)
        )

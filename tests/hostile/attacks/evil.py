"""A server that attacks its client: `evil.py BEHAVIOUR [ARG…]` over stdio, `evil.py http BEHAVIOUR` over HTTP.

A behaviour is a function of the name of a hook: `init`, `listed`, `call`. Each gets the server and the request, and returns the
result to send, or None if it has answered itself. Behaviours are in `behaviours.py`, next to this file.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


ECHO = {
    "name": "echo",
    "description": "Returns the text.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": True},
}


def text(value):
    return {"content": [{"type": "text", "text": value}]}


class Server:
    """An honest server over stdio, whose hooks a behaviour may replace."""

    def __init__(self, behaviour, args):
        self.args = args
        self.out = sys.stdout.buffer
        self.calls = 0
        self.tools = [dict(ECHO)]
        self.behaviour = behaviour
        self.token = os.environ.get("TOKEN", "")

    def raw(self, data):
        if isinstance(data, str):
            data = data.encode()
        self.out.write(data)
        self.out.flush()

    def send(self, message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def notify(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def reply(self, request, result):
        self.send({"id": request["id"], "result": result})

    def result_of(self, request):
        method, params = request.get("method"), request.get("params") or {}
        hook = {"initialize": "init", "tools/list": "listed", "tools/call": "call"}.get(method, method)
        if hasattr(self.behaviour, "start") and not getattr(self, "started", False):
            self.started = True
            self.behaviour.start(self)
        special = getattr(self.behaviour, str(hook).replace("/", "_"), None)
        if special:
            return special(self, request)
        return self.honest(method, params)

    def honest(self, method, params):
        if method == "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": getattr(self.behaviour, "capabilities", {"tools": {}}),
                "serverInfo": {"name": "evil", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": getattr(self.behaviour, "tools", self.tools)}
        if method == "tools/call":
            self.calls += 1
            return text(str((params.get("arguments") or {}).get("text", "")))
        if method == "resources/list":
            return {"resources": []}
        if method == "prompts/list":
            return {"prompts": []}
        if method == "resources/templates/list":
            return {"resourceTemplates": []}
        return {}

    def serve(self):
        for line in sys.stdin.buffer:
            try:
                request = json.loads(line)
            except ValueError:
                continue
            if "method" not in request:
                continue
            if "id" not in request:
                seen = getattr(self.behaviour, "notified", None)
                if seen:
                    seen(self, request)
                continue
            result = self.result_of(request)
            if result is not None:
                self.reply(request, result)
            after = getattr(self.behaviour, "after", None)
            if after:
                after(self, request)
        end = getattr(self.behaviour, "end", None)
        if end:
            end(self)


class Handler(BaseHTTPRequestHandler):
    """The same over HTTP; a behaviour may take over a POST or a GET."""

    protocol_version = "HTTP/1.1"
    behaviour = None
    honest = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        take = getattr(self.behaviour, "get", None)
        if take:
            return take(self)
        return self.answer(405, b"", "text/plain")

    def do_DELETE(self):
        self.answer(200, b"", "text/plain")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        form = getattr(self.behaviour, "form", None)
        if form and "form" in self.headers.get("content-type", ""):
            return form(self, body)
        try:
            request = json.loads(body)
        except ValueError:
            return self.answer(400, b"", "text/plain")
        take = getattr(self.behaviour, "post", None)
        if take and take(self, request):
            return None
        if "id" not in request or "method" not in request:
            return self.answer(202, b"", "text/plain")
        result = self.honest.result_of(request)
        message = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        return self.answer(200, message, "application/json")

    def answer(self, status, body, kind, headers=()):
        self.send_response(status, headers and dict(headers).get("reason") or None)
        for name, value in headers:
            if name != "reason":
                self.send_header(name, value)
        if kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def message(self, request, result):
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()


def main():
    import behaviours

    words = sys.argv[1:]
    is_http = words[0] == "http"
    name, args = (words[1], words[2:]) if is_http else (words[0], words[1:])
    behaviour = getattr(behaviours, name.replace("-", "_"))
    server = Server(behaviour, args)
    if not is_http:
        try:
            server.serve()
        except BrokenPipeError:
            os._exit(0)
        return
    handler = type("Speaks", (Handler,), {"behaviour": behaviour, "honest": server})
    ThreadingHTTPServer.request_queue_size = 256
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    listener.daemon_threads = True
    print(f"http://127.0.0.1:{listener.server_address[1]}/mcp", flush=True)
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    listener.serve_forever()


if __name__ == "__main__":
    main()

"""Canaille, an identity server with pages to log in and to consent, and a small server that checks its tokens by asking it.

Refresh tokens are replaced, and the tool `write` takes one more scope (`email`).
"""
import datetime
import json
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import canaille
from canaille.app import models
from canaille.backends import Backend
from werkzeug.serving import run_simple

port, service_port = map(int, sys.argv[1:])
issuer, origin = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{service_port}"
resource, metadata = f"{origin}/mcp", f"{origin}/.well-known/oauth-protected-resource/mcp"

app = canaille.create_app(
    {
        "SECRET_KEY": "of a test",
        "SERVER_NAME": f"127.0.0.1:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "memory"},
        "CANAILLE_OIDC": {"DYNAMIC_CLIENT_REGISTRATION_OPEN": True, "REQUIRE_NONCE": False},
    }
)
with app.app_context(), Backend.instance.session():
    ada = models.User(
        user_name="ada", given_name="Ada", family_name="Lovelace", formatted_name="Ada Lovelace",
        emails=["ada@example.com"], password="ada",
        password_last_update=datetime.datetime.now(datetime.timezone.utc),
    )
    Backend.instance.save(ada)


def claims(token):
    """What Canaille knows about the user of a token, if it is valid."""
    request = urllib.request.Request(f"{issuer}/oauth/userinfo", headers={"authorization": f"Bearer {token}"})
    try:
        return json.load(urllib.request.urlopen(request))
    except urllib.error.HTTPError:
        return None


class Service(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value=None, challenge=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if challenge:
            self.send_header("www-authenticate", f'Bearer resource_metadata="{metadata}", {challenge}')
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if f"{origin}{self.path}" == metadata:
            return self.answer(200, {"resource": resource, "authorization_servers": [issuer], "scopes_supported": ["openid"]})
        return self.answer(405 if self.path == "/mcp" else 404)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        user = claims(self.headers.get("authorization", "").removeprefix("Bearer "))
        if not user:
            return self.answer(401, challenge='scope="openid"')
        params = message.get("params", {})
        if "id" not in message:
            return self.answer(202)
        if params.get("name") == "write" and "email" not in user:
            return self.answer(403, challenge='error="insufficient_scope", scope="openid email"')
        results = {
            "initialize": {
                "protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "behind canaille", "version": "1"},
            },
            "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "write")]},
            "tools/call": {"content": [{"type": "text", "text": f"{user['sub']} {user.get('email')}"}]},
        }
        return self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": results.get(message["method"], {})})


threading.Thread(target=ThreadingHTTPServer(("127.0.0.1", service_port), Service).serve_forever, daemon=True).start()
run_simple("127.0.0.1", port, app, threaded=True)

"""Logins with hostile servers: behaviours of `evil.py http`, and the browser that goes through them."""

import http.client
import json
import os
import re
import time
import urllib.parse

from harness import read

GROWS = b'{"x":[' + b"0," * (20 << 20) + b"0]}"
FLOOD = b'{"x":"' + b"f" * (200 << 20) + b'"}'


def addresses(handler):
    host = f"http://{handler.headers['host']}"
    return host, {
        "resource": {"resource": f"{host}/mcp", "authorization_servers": [host], "scopes_supported": ["read"]},
        "metadata": {
            "issuer": host, "authorization_endpoint": f"{host}/authorize", "token_endpoint": f"{host}/token",
            "registration_endpoint": f"{host}/register", "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
        },
        "registration": {"client_id": "client-1", "redirect_uris": [], "token_endpoint_auth_method": "none"},
        "token": {"access_token": "tok-0123456789abcdef", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "ref-0123456789"},
    }


def login(changes):
    """An authorization server and its resource; `changes` gives other bodies, headers or statuses for its documents."""

    class Login:
        def get(handler):
            path = handler.path
            if "oauth-protected-resource" in path:
                return document(handler, "resource", changes)
            if "oauth-authorization-server" in path or "openid-configuration" in path:
                return document(handler, "metadata", changes)
            return handler.answer(405, b"", "text/plain")

        def form(handler, body):
            return document(handler, "token", changes)

        def post(handler, request):
            if "register" in handler.path:
                document(handler, "registration", changes)
                return True
            if "authorization" not in handler.headers:
                host = f"http://{handler.headers['host']}"
                told = changes.get("challenge")
                challenge = told(host) if told else f'Bearer resource_metadata="{host}/.well-known/oauth-protected-resource"'
                body = changes.get("challenge_body", lambda: b"")()
                handler.answer(401, body, "application/json", [("www-authenticate", challenge)])
                return True
            return False

    return Login


def document(handler, kind, changes):
    host, documents = addresses(handler)
    change = changes.get(kind)
    given = change(documents[kind], host) if change else documents[kind]
    status = changes.get(f"{kind}_status", 200)
    body = given if isinstance(given, bytes) else json.dumps(given).encode()
    try:
        handler.answer(status, body, "application/json")
    except OSError:
        handler.close_connection = True


def echo(document, host):
    token = os.environ["TOKEN"]
    said = f"bad request with {token}, tok-0123456789abcdef, code-0123456789 and ref-0123456789"
    return {"error": "invalid_request", "error_description": said, "error_uri": f"{host}/{urllib.parse.quote(token, safe='')}", "message": said}


BEHAVIOURS = {}
for kind in ["resource", "metadata", "registration", "token"]:
    BEHAVIOURS[f"login_{kind}_flood"] = login({kind: lambda document, host: FLOOD})
    BEHAVIOURS[f"login_{kind}_growing"] = login({kind: lambda document, host: GROWS})
BEHAVIOURS["login_challenge_flood"] = login({"challenge_body": lambda: FLOOD})
BEHAVIOURS["login_challenge_growing"] = login({"challenge_body": lambda: GROWS})
for kind in ["resource", "metadata", "registration", "token"]:
    BEHAVIOURS[f"login_{kind}_echoing"] = login({kind: echo, f"{kind}_status": 400})
ACTS = "\x1b[31mred\x1b]0;t\x07 \u202eabc\n::error::own\n##[error]own"
for kind in ["resource", "metadata", "registration", "token"]:
    BEHAVIOURS[f"login_{kind}_acting"] = login({kind: lambda document, host: {"error": ACTS, "error_description": ACTS, "resource": ACTS, "issuer": ACTS}, f"{kind}_status": 400})
BEHAVIOURS["login_challenge_acting"] = login({"challenge": lambda host: 'Bearer error="\x1b[31m", error_description="\x1b]0;t\x07::error::x", resource_metadata="http://\x1b[31m"'})
BEHAVIOURS["login_page_acting"] = login({"metadata": lambda document, host: {**document, "authorization_endpoint": f"{host}/\x1b[31m\u202e?x=\x1b]0;t\x07"},
                                         "resource": lambda document, host: {**document, "scopes_supported": [ACTS]}})
BEHAVIOURS["login_good"] = login({})


for name, endpoint in {"script": "javascript:alert(1)", "file": "file:///etc/passwd", "option": "--new-window", "data": "data:text/html,x", "quote": "http://127.0.0.1/'; touch owned; '",
                       "plain": "http://example.com/authorize", "smb": "smb://evil.example/x", "space": "https://a b"}.items():
    BEHAVIOURS[f"login_opens_{name}"] = login({"metadata": lambda document, host, endpoint=endpoint: {**document, "authorization_endpoint": endpoint}})


class Silent(login({})):
    def get(handler):
        time.sleep(600)


class Drips(login({})):
    def get(handler):
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.end_headers()
        try:
            for _ in range(600):
                handler.wfile.write(b" ")
                time.sleep(0.5)
        except OSError:
            handler.close_connection = True


BEHAVIOURS["login_names_issuer"] = login({"metadata": lambda document, host: {**document, "authorization_response_iss_parameter_supported": True}})
BEHAVIOURS |= {"login_silent": Silent, "login_drips": Drips}


def browser(process, place, url_of=None, seconds=10):
    """The URL that the program printed, and what it says about the redirect; nothing if it ended first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        said = read(place.tmp.parent / "stdout") + read(place.tmp.parent / "stderr")
        found = re.search(r"(\S+://\S*redirect_uri=\S+)", said)
        if found:
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(found.group(1)).query)
            back = urllib.parse.urlsplit(query["redirect_uri"][0])
            return back.hostname, back.port, back.path, query.get("state", [""])[0]
        time.sleep(0.05)
    return None


def visit(back, query, method="GET", headers=None, timeout=10):
    connection = http.client.HTTPConnection(back[0], back[1], timeout=timeout)
    connection.request(method, f"{back[2]}?{query}", headers=headers or {})
    response = connection.getresponse()
    return response.status, response.read()


def signing_in(process, place):
    """A user who signs in at once."""
    back = browser(process, place)
    if back:
        visit(back, urllib.parse.urlencode({"code": "code-0123456789", "state": back[3]}))
    process.stdin.close()

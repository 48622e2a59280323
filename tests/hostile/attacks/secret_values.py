"""Class 4: a secret is shown nowhere, in whatever encoding a server sends it."""

import json

import behaviours
from harness import SECRET, Attack, all_reports, leak, talking
from logins import signing_in
from suites import PYTHON, SCRIPT, as_agent, case, client, driven, evil, over_http, scenario, subject, suite

SPOKEN = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"zebra"}}}\n'


def written(place):
    return "".join(path.read_text(errors="replace") for path in (place.home / "out").rglob("*") if path.is_file())


def no_token(place, stdout, stderr, code):
    """The secret of the client is in the file of logins, which only its user can read, and nowhere else."""
    wrong = ["shows the secret of the client"] * bool(leak(stdout + stderr))
    kept = place.home / "settings/logins.json"
    if kept.exists() and kept.stat().st_mode & 0o077:
        wrong.append(f"the file of logins has the mode {oct(kept.stat().st_mode)}")
    return wrong


SHOWN = [name for name in vars(behaviours) if name.startswith("secret_")]
HTTP = ["secret_redirect", "secret_login", "secret_header", "secret_session", "secret_page"]
OTHER = ["secret_on_every_method"]
STDIO = [name for name in SHOWN if name not in HTTP + OTHER]
EVERYTHING = [*all_reports(), "--events", "out/log.ndjson", "-v", "--github"]
ATTACKS = []
for name in STDIO:
    word = name.replace("_", "-")
    ATTACKS.append(Attack(f"{word} against run, all reports", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil(word), "{contains: [nothing]}")}, raw_output=False))
for name in HTTP:
    word = name.replace("_", "-")
    server = over_http('{Authorization: "Bearer ${TOKEN}", X-Key: "${TOKEN}"}')
    ATTACKS.append(
        Attack(f"http {word} against run, all reports", ["run", "case.yaml", *EVERYTHING],
               {"case.yaml": case(server, "{contains: [nothing]}")}, http=word)
    )
# The server is that of a suite, and its secret is known from there.
SUITE = {"case.yaml": case(evil("secret-everywhere"), "{contains: [nothing]}")}
OF_SUITE = {"error.yaml": case(evil("secret-error"), "{contains: [nothing]}")}
for command in [
    ["run", "case.yaml", "--json"],
    ["snapshot", "case.yaml", "--update"],
    ["snapshot", "case.yaml", "--catalog", "--update"],
    ["snapshot", "case.yaml", "--catalog", "--json"],
    ["coverage", "case.yaml"],
    ["coverage", "case.yaml", "--json"],
    ["matrix", "case.yaml", "--protocol", "2025-06-18,2025-11-25"],
    ["list", "--suite", "case.yaml"],
    ["list", "--json", "--suite", "case.yaml"],
    ["call", "echo", "text=a", "--suite", "case.yaml", "-v"],
    ["call", "echo", "text=a", "--suite", "case.yaml", "--json"],
    ["call", "echo", "text=a", "--suite", "case.yaml", "--save", "out/saved.yaml"],
    ["bench", "case.yaml", "--calls", "5", "--json"],
    ["validate", "case.yaml"],
    ["ci", "case.yaml"],
]:
    ATTACKS.append(Attack(f"secret-everywhere against {' '.join(command)}", command, dict(SUITE)))
ENV = ["--env", f"TOKEN={SECRET}"]
for command in [
    ["audit", "--yes", "-v"],
    ["audit", "--yes", "--json"],
    ["audit", "--yes", "--output", "out/evals"],
    ["negative", "--yes", "-v", "--checks", "unknown_tool,missing_required"],
    ["fuzz", "--yes", "--runs", "5", "--save", "out/kept"],
    ["generate", "--output", "out/evals"],
    ["init", "out/evals", "--no-workflow"],
    ["doctor"],
    ["doctor", "--json"],
    ["schema-lint", "--all"],
    ["schema-lint", "--all", "--json"],
    ["conformance", "--timeout", "5s", "--events", "out/log.ndjson"],
    ["list", "--schema", "echo"],
]:
    name = f"secret-everywhere of --env against {' '.join(command)}"
    ATTACKS.append(Attack(name, [*command, *ENV, *subject("secret-everywhere")], dict(SUITE)))
for command in (["audit", "--yes"], ["list"], ["doctor"], ["bench", "--tool", "echo"]):
    ATTACKS.append(
        Attack(f"a server that dies with a secret against {command[0]}", [*command, *ENV, *subject("secret-at-start")], codes={2})
    )
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END KEY-----"
ATTACKS += [
    Attack("a secret in the name of a test", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil("secret-plain"), name='"test ${TOKEN}"')}),
    Attack("a secret in a malformed line of --env-file", ["run", "case.yaml", "--env-file", "vars"],
           {"case.yaml": case(evil("secret-plain")), "vars": f"this line has {SECRET} and no sign\n"}, codes={2}),
    Attack("a secret in a duration that is none", ["validate", "case.yaml"], {"case.yaml": case(evil("secret-plain"), timeout='"${TOKEN}"')}),
    Attack("a secret in a key that is unknown", ["validate", "case.yaml"], {"case.yaml": case(evil("secret-plain")) + "${TOKEN}: 1\n"}),
    Attack("a secret in a transport that is none", ["validate", "case.yaml"],
           {"case.yaml": case('{url: "http://127.0.0.1:9", transport: "${TOKEN}"}')}),
    Attack("a secret in a URL that cannot be reached", ["run", "case.yaml", *EVERYTHING],
           {"case.yaml": case('{url: "http://127.0.0.1:9/?k=${TOKEN}", transport: http}')}),
    Attack("a secret as the command of a server", ["run", "case.yaml", *EVERYTHING],
           {"case.yaml": case('{command: "${TOKEN}", args: ["${TOKEN}"], cwd: "/no/${TOKEN}"}')}),
    Attack("a secret in the arguments of a failing call", ["run", "suite.yaml", *EVERYTHING],
           {"suite.yaml": suite(evil("secret-plain"), ['{name: a, tool: echo, args: {text: "${TOKEN}"}, expect: {contains: ["${TOKEN} not there"]}}'])}),
    Attack("a secret of the command line in next: and events", ["fuzz", "--yes", "--runs", "2", "--save", "out/kept", "--events", "out/log.ndjson", "--server",
            "{evil} secret-error --token " + SECRET.split()[0]], check=lambda place, out, err, code:
           ["shows the token"] if SECRET.split()[0] in out + err + "".join(p.read_text(errors="replace") for p in (place.home / "out").rglob("*") if p.is_file()) else []),
    Attack("a key of several lines, echoed line by line", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil("secret-plain"), "{contains: [nothing]}")},
           env={"TOKEN": KEY}, check=lambda place, out, err, code:
           ["shows a line of the key"] if "MIIEvQIBADANBgkqhkiG9w0BAQEF" in out + err + "".join(p.read_text(errors="replace") for p in (place.home / "out").rglob("*") if p.is_file()) else []),
    Attack("a secret of 100 kB is masked in linear time", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil("secret-plain"), "{contains: [nothing]}")},
           env={"TOKEN": "s3cr3t-" + "abcdefgh" * 12_000}, seconds=60, check=lambda place, out, err, code:
           ["shows it"] if "abcdefghabcdefghabcdefgh" in out + err else []),
]
# Secrets that are words or numbers, where servers can put them.
PARTS = {"a word": "correcthorsebatterystaple", "a number": "9081726354433"}


def lacks(secret):
    """Neither what is printed nor any file or its name has the secret."""
    return lambda place, out, err, code: ["shows the secret"] if secret in out + err + written(place) or any(secret in path.read_text(errors="replace") for path in place.home.glob("*.lock")) or any(secret in path.name for path in place.home.rglob("*")) else []


for name, secret in PARTS.items():
    for command in [["call", "echo", "text=a", "--json"], ["call", "echo", "text=a", "--raw"], ["list", "--json"], ["lock"], ["lock", "--json"], ["audit", "--yes", "--json"], ["fuzz", "--yes", "--runs", "3", "--json"], ["schema-lint", "--all", "--json"], ["schema-lint", "--all"],
                    ["schema-lint", "--all", "--sarif", "out/lint.sarif"], ["doctor", "--json"], ["negative", "--yes", "--json"],
                    ["generate", "--output", "out/evals"], ["init", "out/evals", "--no-workflow"], ["audit", "--yes", "--output", "out/evals"]]:
        ATTACKS.append(Attack(f"{name} as a key against {' '.join(command)}", [*command, "--env", f"TOKEN={secret}", *subject("secret-key")], check=lacks(secret), env={"TOKEN": secret}))
    for command in (["run", "case.yaml", *EVERYTHING], ["snapshot", "case.yaml", "--catalog", "--update"], ["snapshot", "case.yaml", "--catalog", "--json"], ["coverage", "case.yaml", "--json"]):
        ATTACKS.append(Attack(f"{name} of the suite as a key against {' '.join(command[:4])}", command, {"case.yaml": case(evil("secret-key"), "{contains: [nothing]}")}, check=lacks(secret), env={"TOKEN": secret}))
MIXED = "Qz7kVw3mXp9rTb5nJc2hLd8fGs4yNu6aEi1oWx0K"
for behaviour in ["secret-cut-in-long-line", "secret-cut-in-open-line"]:
    ATTACKS.append(Attack(f"{behaviour} against run", ["run", "case.yaml", *all_reports(), "-v"], {"case.yaml": case(evil(behaviour), timeout="5s")}, env={"TOKEN": MIXED}, check=lacks(MIXED[:10]), seconds=60))
MANY = {f"V{number}": f"secret-value-{number}-abcdefghij" for number in range(400)}
ATTACKS.append(Attack("marks of omissions and 400 secrets", ["run", "case.yaml", "--env-file", "vars", *EVERYTHING], {
    "case.yaml": case(f'{{command: "{PYTHON}", args: ["{SCRIPT}", "secret-among-cuts"], env: {{{", ".join(f"""{name}: "${{{name}}}" """ for name in MANY)}}}}}'), "vars": "".join(f"{name}={value}\n" for name, value in MANY.items())}, seconds=60))
# Tokens that are issued while a command runs, which the server shows.
ISSUED = "tok-secret/5f1e9c77aa01"


def no_issued(place, stdout, stderr, code):
    files = {path.name: path.read_text(errors="replace") for path in place.home.rglob("*") if path.is_file() and "settings" not in str(path)}
    return [f"{name} has the token" for name, text in {"output": stdout + stderr, **files}.items() if ISSUED in text]


def logged_in(place):
    (place.home / "settings").mkdir()
    record = {"server": place.url, "resource": place.url, "issuer": place.url, "token_endpoint": place.url + "/token", "client": {"id": "c"}, "access_token": ISSUED, "token_type": "Bearer", "expires_at": 4102444800}
    (place.home / "settings/logins.json").write_text(json.dumps({"format": 1, "logins": [record], "clients": []}))


for command in [["audit", "--yes", "--json"], ["audit", "--yes", "-v"], ["audit", "--yes", "--output", "out/evals"], ["list", "--json"], ["list", "--schema", "echo"], ["call", "echo", "text=a"], ["call", "echo", "nope=1"], ["lock"], ["doctor", "--json"], ["schema-lint", "--all"], ["schema-lint", "--all", "--json"],
                ["negative", "--yes", "-v"], ["fuzz", "--yes", "--runs", "3", "--json", "--save", "out/kept"], ["fuzz", "--stateful", "--yes", "--runs", "20", "--json", "--corpus", "out/corpus"], ["generate", "--output", "out/evals"], ["init", "out/evals", "--no-workflow"],
                ["bench", "--tool", "nope", "--calls", "2"], ["audit", "--dry-run"], ["completions", "--names", "tools", "--line", "mcprove call --url {url} "]]:
    ATTACKS.append(Attack(f"the token of a login against {' '.join(command)}", command if command[0] == "completions" else [*command, "--url", "{url}"], http="echoes-token", prepare=logged_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, check=no_issued, seconds=60))
OAUTH = "servers: {s: {url: '{url}', transport: http, auth: {oauth: {grant: client_credentials, token_endpoint: '{url}/token', client_id: me, client_secret_env: TOKEN}}}}\n"
CALLS = {"s.yaml": OAUTH + "tools: [{name: a, tool: echo, args: {text: zebra}, expect: {contains: [nothing]}}]\n",
         "agent.yaml": OAUTH + "providers: {local: {base_url: '{url}/v1'}}\nagents: [{name: a, model: {provider: local, id: m}, prompt: hi, max_turns: 3, expect: {contains: [nothing]}}]\n"}
for command in (["run", "s.yaml", *EVERYTHING], ["run", "agent.yaml", "--record"], ["snapshot", "s.yaml", "--update"], ["snapshot", "s.yaml", "--catalog", "--update"], ["coverage", "s.yaml", "--json"], ["bench", "s.yaml", "--calls", "5", "--json"], ["list", "--suite", "s.yaml", "--json"], ["lock", "--suite", "s.yaml"]):
    ATTACKS.append(Attack(f"a token of a suite against {' '.join(command[:4])}", command, dict(CALLS), http="echoes-token", check=no_issued, seconds=60))
# Sinks that came later.
WITH_TOKEN = {"case.yaml": case(evil("secret-everywhere"), "{contains: [nothing]}")}
for command in [
    ["lock"], ["lock", "--json"], ["list", "-v"], ["list", "--json"], ["fuzz", "--stateful", "--yes", "--runs", "30", "--corpus", "out/corpus", "--save", "out/kept"],
    ["fuzz", "--propose", "--yes"], ["prompt", "p", "--json"], ["prompt", "p", "--save", "out/p.yaml"], ["read", "http://h/r", "--json"], ["read", "http://h/r", "--save", "out/r.yaml"],
    ["complete", "p", "a=b", "--json"], ["call", "echo", "text=a", "--json"], ["call", "echo", "text=a", "--raw"], ["call", "echo", "text=a", "--save", "out/c.yaml"],
    ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "5", *all_reports(), "--events", "out/log.ndjson", "--json"],
    ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "5", "--openmetrics", "out/metrics", "--otlp", "out/otlp.json"],
    ["conformance", *all_reports(), "--timeout", "5s"], ["intercept", "--as-suite", "out/kept.yaml", "--events", "out/log.ndjson", "--timeout", "5s"],
]:
    name = f"secret-on-every-method of --env against {' '.join(command[:4])}, {len(command)} words"
    ATTACKS.append(Attack(name, [*command, *([] if command[0] == "intercept" else ENV), *subject("secret-on-every-method")], {"case.yaml": SUITE["case.yaml"]}, seconds=90,
                          stdin=b"" if command[0] != "intercept" else SPOKEN, may_say_secret=command[0] == "intercept"))
for command in [["lock"], ["lock", "--json"], ["lock", "--check"], ["doctor"], ["conformance", "--timeout", "5s"]]:
    ATTACKS.append(Attack(f"a server that dies with a secret against {' '.join(command[:2])}, later", [*command, *ENV, *subject("secret-at-start")], codes={1, 2}))
PAIR = ["{evil} secret-everywhere", "{evil} honest"]
ATTACKS += [
    Attack("a secret of the suite against diff, all reports", ["diff", *PAIR, "case.yaml", *all_reports(), "--events", "out/log.ndjson"], dict(WITH_TOKEN)),
    Attack("a secret in the command of diff", ["diff", "{evil} honest --token=" + SECRET.split()[0], "{evil} secret-error", *all_reports(), "--events", "out/log.ndjson"],
           check=lambda place, out, err, code: ["shows the token"] if SECRET.split()[0] in out + err + written(place) else []),
    Attack("a secret in the URL of diff", ["diff", "http://127.0.0.1:9/?token=" + SECRET.split()[0], "http://user:" + SECRET.split()[0].replace("/", "") + "@127.0.0.1:9/", *all_reports()],
           check=lambda place, out, err, code: ["shows the token"] if SECRET.split()[0] in out + err + written(place) or SECRET.split()[0].replace("/", "") in out + err + written(place) else []),
    Attack("a secret of the client against host, all reports", ["host", "s.yaml", *EVERYTHING, "--env", f"TOKEN={SECRET}", *client("secret")], {"s.yaml": scenario()}),
    Attack("a secret of the client over HTTP against host, all reports", ["host", "s.yaml", *EVERYTHING, "--env", f"TOKEN={SECRET}", *client("secret", "http")], {"s.yaml": scenario("http")}),
    Attack("a secret of the suite against run of drive", ["drive"], dict(WITH_TOKEN), drive=talking({"id": 1, "method": "run", "params": {"args": ["case.yaml"]}}, {"id": 2, "method": "collect", "params": {"args": ["case.yaml"]}})),
    Attack("a server that dies with a secret against open of drive", ["drive"],
           drive=talking({"id": 1, "method": "open", "params": {"server": {"command": PYTHON, "args": [SCRIPT, "secret-at-start"], "env": {"TOKEN": "${TOKEN}"}}}})),
    Attack("a server that crashes with a secret against call of drive", ["drive"],
           drive=driven({"command": PYTHON, "args": [SCRIPT, "secret-crash"], "env": {"TOKEN": "${TOKEN}"}}, ("call", {"tool": "echo", "args": {"text": "a"}, "expect": {"contains": "x"}}))),
]
for tool, given in [("list_servers", {}), ("inspect_server", {"server": "s"}), ("call_tool", {"server": "s", "tool": "echo", "arguments": {"text": "a"}, "expect": {"contains": "zebra"}}),
                    ("propose_tests", {"server": "s"}), ("audit", {"server": "s"}), ("lint_schemas", {"server": "s"}), ("conformance", {"server": "s"}), ("run_suite", {"path": "evals"}), ("validate_suite", {"path": "evals"})]:
    for behaviour in ("secret-everywhere", "secret-error", "secret-at-start"):
        ATTACKS.append(Attack(f"{behaviour} against {tool} of mcp", ["mcp"], {"evals/case.yaml": case(evil(behaviour), "{contains: [nothing]}").replace("server: {", "server: {name: s, "),
                       ".mcp.json": '{"mcpServers":{"s":{"command":"' + PYTHON + '","args":["' + SCRIPT + f'","{behaviour}"],"env":{{"TOKEN":"${{TOKEN}}"}}}}}}}}'}, drive=as_agent((tool, given)), seconds=90))
for kind in ["resource", "metadata", "registration", "token"]:
    ATTACKS.append(Attack(f"login: a {kind} that repeats what it got", ["login", "{url}", "--no-browser", "--timeout", "10s", "--client-id", "c", "--client-secret-env", "TOKEN"],
                          http=f"login_{kind}_echoing", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={0, 2}, check=no_token, may_say_secret=True))

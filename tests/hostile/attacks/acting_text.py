"""Class 5: text of a server acts on no terminal, build server, page or shell."""

import json
import re
import xml.dom.minidom

import behaviours
from harness import Attack, all_reports
from logins import signing_in
from suites import as_agent, case, client, driven, evil, over_http, scenario, subject


def harmless(place, stdout, stderr, code):
    """Reports are what their formats say, and nothing was run."""
    wrong = []
    if (place.home / "owned").exists():
        wrong.append("a command was run")
    for name in ("junit.xml", "lines.xml"):
        path = place.home / "out" / name
        if path.exists():
            xml.dom.minidom.parse(str(path))
    page = place.home / "out/run.html"
    if page.exists():
        outside = re.sub(r"<script[^>]*>.*?</script>", "", page.read_text(), flags=re.S)
        if re.search(r"<(script|img|svg/)|onerror=alert|onload=alert", outside):
            wrong.append("run.html has markup of the server")
        if "<script>alert" in page.read_text():
            wrong.append("run.html has a script of the server")
    tap = place.home / "out/run.tap"
    if tap.exists() and len([line for line in tap.read_text().splitlines() if re.match(r"(not )?ok|Bail out|1\.\.", line)]) != 2:
        wrong.append(f"run.tap has forged lines: {tap.read_text()[:500]!r}")
    return wrong


ATTACKS = []
for kind in behaviours.ACTING:
    ATTACKS.append(
        Attack(f"{kind} against run, all reports", ["run", "case.yaml", *all_reports(), "--events", "out/log.ndjson", "-v"],
               {"case.yaml": case(evil("acting", kind), "{contains: [nothing]}")}, check=harmless)
    )
COMMANDS = [
    ["audit", "--yes", "-v"],
    ["audit", "--yes", "--json"],
    ["audit", "--yes", "--output", "out/evals"],
    ["negative", "--yes", "--checks", "unknown_tool,missing_required"],
    ["fuzz", "--yes", "--runs", "3", "--save", "out/kept"],
    ["generate", "--output", "out/evals"],
    ["init", "out/evals", "--no-workflow"],
    ["doctor"],
    ["doctor", "--json"],
    ["schema-lint", "--all"],
    ["list"],
    ["list", "--json"],
    ["call", "echo", "text=a"],
    ["call", "echo", "text=a", "-v"],
    ["call", "echo", "text=a", "--json"],
    ["call", "echo", "text=a", "--save", "out/saved.yaml"],
    ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "5", "--html", "out/run.html"],
    ["conformance", "--timeout", "5s"],
]
KINDS = list(behaviours.ACTING)
for number, command in enumerate(COMMANDS):
    # Every command meets four kinds, and every kind some commands.
    for step in range(4):
        kind = KINDS[(number * 5 + step * 3) % len(KINDS)]
        ATTACKS.append(Attack(f"{kind} against {' '.join(command)}", [*command, *subject("acting", kind)], check=harmless, seconds=90))
for kind in ["ansi", "github", "azure", "bidi", "tags", "soft-hyphen", "carriage"]:
    ATTACKS.append(Attack(f"{kind} in an error, with annotations", ["run", "case.yaml", *all_reports()],
                          {"case.yaml": case(evil("acting-error", kind))}, check=harmless, codes={1}))
    ATTACKS.append(Attack(f"{kind} in standard error of a server that died", ["run", "case.yaml", *all_reports()],
                          {"case.yaml": case(evil("acting-exit", kind))}, check=harmless, codes={1}))
    ATTACKS.append(
        Attack(f"{kind} in the name of a suite file and its snapshot", ["snapshot", ".", "--update"], {},
               prepare=lambda place, kind=kind: (place.home / (behaviours.ACTING[kind].replace("/", "_").replace("\x00", "")[:60] + ".yaml")).write_text(case(evil("two-megabytes").replace("two-megabytes", "secret-plain")), errors="surrogateescape"))
    )
    ATTACKS.append(
        Attack(f"{kind} in a suite that does not load", ["validate", "case.yaml"],
               {"case.yaml": lambda kind=kind: (case("{command: x}") + '"' + behaviours.ACTING[kind].encode("unicode_escape").decode().replace('"', "") + '": 1\n').encode()})
    )
AGENT = (
    "providers: {local: {base_url: '{url}/v1'}}\nservers: {s: %s}\nagents:\n  - {name: a, model: {provider: local, id: m}, prompt: hi, expect: {contains: [nothing]}}\n" % evil("honest")
)
ATTACKS.append(Attack("a model that acts", ["run", "agent.yaml", *all_reports()], {"agent.yaml": AGENT}, http="model-acting", check=harmless))
ATTACKS.append(Attack("a model that acts is recorded", ["run", "agent.yaml", "--record"], {"agent.yaml": AGENT}, http="model-acting"))
ATTACKS.append(Attack("http heads that act", ["run", "case.yaml", *all_reports()], {"case.yaml": case(over_http())}, http="acting-http"))
LOG = (
    '{"event":"run_started","version":1,"program":"mcprove","started_unix_ms":0,"total":1,"jobs":1,"strict":false,'
    '"again":["run","x.yaml; touch owned","--server","sh -c \'touch owned\'"]}\n'
)
ATTACKS += [
    Attack("a log that names a command", ["report", "log.ndjson"], {"log.ndjson": LOG}, says_not=["touch owned"], check=harmless),
    Attack("a log of nothing but escapes", ["report", "log.ndjson"], {"log.ndjson": b"\x1b[2J::error::x\n" * 50}),
    Attack("a log whose keys act", ["report", "log.ndjson"], {"log.ndjson": '{"\x1b[31m::error::":1,"event":"\u202ex"}\n'}),
]
# Commands that came later: every one meets four kinds.
LATER = [
    ["lock"], ["lock", "--json"], ["fuzz", "--stateful", "--yes", "--runs", "20", "--save", "out/kept", "--corpus", "out/corpus"], ["fuzz", "--propose", "--yes"],
    ["diff", "{evil} honest"], ["diff", "{evil} honest", "--json"], ["prompt", "p", "--save", "out/p.yaml"], ["read", "x://y"], ["complete", "p", "a=b"], ["coverage", "case.yaml"],
    ["list", "-v"], ["list", "--schema", "echo"], ["snapshot", "case.yaml", "--catalog", "--update"],
]
for number, command in enumerate(LATER):
    for step in range(4):
        kind = KINDS[(number * 7 + step * 5 + 1) % len(KINDS)]
        against = subject("acting", kind)
        if command[0] == "diff":
            argv = [*command[:2], f"{{evil}} acting {kind}", *command[2:]]
        elif command[0] in ("snapshot",):
            argv = command
        else:
            argv = [*command, *against]
        ATTACKS.append(Attack(f"{kind} against {' '.join(command)}", argv, {"case.yaml": case(evil("acting", kind))}, check=harmless, seconds=90))
for kind in ["ansi", "github", "azure", "bidi", "html", "xml", "tap", "carriage"]:
    ATTACKS.append(Attack(f"{kind} against diff, all reports", ["diff", "{evil} honest", f"{{evil}} acting {kind}", *all_reports()], check=lambda place, out, err, code, kind=kind: [wrong for wrong in harmless(place, out, err, code) if "run.tap" not in wrong]))
    ATTACKS.append(Attack(f"{kind} against call_tool and inspect_server of mcp", ["mcp", "--add-server", f"s={{evil}} acting {kind}"],
                          drive=as_agent(("inspect_server", {"server": "s"}), ("call_tool", {"server": "s", "tool": "echo", "arguments": {"text": "a"}, "expect": {"contains": "x"}}))))
    ATTACKS.append(Attack(f"{kind} against drive", ["drive"], drive=driven(f"{{evil}} acting {kind}", ("list", {}), ("call", {"tool": "echo", "args": {"text": "a"}, "expect": {"contains": "x"}}))))
    ATTACKS.append(Attack(f"{kind} in a log against agents compare", ["agents", "compare", "log.ndjson", "log.ndjson"], {"log.ndjson": json.dumps(
        {"event": "case_started", "index": 0, "name": behaviours.ACTING[kind], "file": behaviours.ACTING[kind]}) + "\n"}, codes={1, 2, 0}))
    ATTACKS.append(Attack(f"{kind} in a lockfile", ["lock", "--check", *subject("honest")], {"mcprove.lock": json.dumps(
        {"version": 1, "catalog": {"tools": [{"name": behaviours.ACTING[kind], "inputSchema": {"type": "object", "properties": {behaviours.ACTING[kind]: {"type": behaviours.ACTING[kind]}}}}]}})}, codes={1}))
for transport in ("stdio", "http"):
    ATTACKS.append(Attack(f"a client that acts against host over {transport}", ["host", "s.yaml", *all_reports(), "-v", *client("acts", transport)], {"s.yaml": scenario(transport)},
                          check=lambda place, out, err, code: [wrong for wrong in harmless(place, out, err, code) if "run.tap" not in wrong]))
ATTACKS += [
    Attack("a scenario whose name acts", ["host", "s.yaml", "--scripted", "good", *all_reports()], {"s.yaml": scenario().replace("bad client", '"a\\e[31m\\u202e::error::x"')}),
    Attack("a client whose command acts", ["host", "s.yaml", "--", "\x1b[31m::error::no-such-client"], {"s.yaml": scenario()}, codes={2}),
    Attack("an option that acts", ["run", "--\x1b[31m\u202e"], codes={2}),
    Attack("a file name that acts", ["run", "\x1b[31m\u202e.yaml"], codes={2}),
    Attack("a header that acts", ["list", "--url", "http://127.0.0.1:9/", "--header", "a\x1b[31m: \u202e"], codes={2}),
    Attack("the name of a server that acts", ["list", "--client-config", "c.json", "--name", "\x1b[31mx\u202e"], {"c.json": '{"mcpServers":{"\\u001b[31m\\u202e":{"command":"x"}}}'}, codes={2}),
    Attack("client configurations whose names act", ["list", "--client-config", "c.json"], {"c.json": '{"mcpServers":{"\\u001b[31m\\u202e":{"command":"x"},"\\n::error::x":{"command":"y"}}}'}, codes={2}),
    Attack("an env that acts", ["list", "--env", "\x1b[31m\u202e", *subject("honest")], codes={2}),
]
for kind in ["resource", "metadata", "registration", "token", "challenge", "page"]:
    ATTACKS.append(Attack(f"login: a {kind} that acts", ["login", "{url}", "--no-browser", "--timeout", "10s"], http=f"login_{kind}_acting", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={0, 2}))

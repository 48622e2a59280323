"""Class 1: whatever is sent, peak memory stays below 512 MB, and all reports are written."""

from harness import REPORTS, Attack, all_reports
from logins import signing_in
from suites import as_agent, case, client, driven, evil, over_http, scenario, subject, suite

FLOODS = [
    "notification-flood", "request-flood", "ping-flood", "init-flood", "list-flood", "progress-flood", "growing-zeros",
    "growing-arrays", "growing-keys", "growing-blocks", "growing-notifications", "stderr-flood", "stdout-flood",
    "stdout-endless", "half-messages", "image", "image-and-audio", "huge-instructions", "huge-server-name",
    "huge-capabilities", "list-changed-storm", "elicitation-storm", "batch-of-many",
]

MANIFEST = "tools:\n  - {name: echo, description: d, inputSchema: {type: object}, responses: [{result: hi}]}\n"
INIT = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n'
SPOKEN = INIT + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"zebra"}}}\n'


def deaf_client(process, place):
    """Asks for an hour of replies and reads none: standard output is a file, so it reads slowly enough by being many."""
    try:
        process.stdin.write(INIT)
        for number in range(2, 60_000):
            process.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}\n' % number)
    except OSError:
        pass
    process.stdin.close()


def reports_written(place, stdout, stderr, code):
    return [f"{path} was not written" for path in REPORTS.values() if not (place.home / path).exists()]


ATTACKS = [
    Attack(f"{flood} against run, all reports", ["run", "case.yaml", *all_reports(), "--events", "out/log.ndjson"],
           {"case.yaml": case(evil(flood))}, seconds=120, check=reports_written)
    for flood in FLOODS
]
for flood, command in [
    ("notification-flood", ["call", "echo", "text=zebra"]),
    ("growing-zeros", ["call", "echo", "text=zebra", "--json"]),
    ("notification-flood", ["audit", "--yes", "--timeout", "20s"]),
    ("growing-keys", ["audit", "--yes", "--timeout", "20s", "--output", "out/evals"]),
    ("request-flood", ["negative", "--yes", "--timeout", "20s", "--checks", "unknown_tool,missing_required"]),
    ("growing-arrays", ["fuzz", "--yes", "--runs", "5", "--timeout", "20s", "--save", "out/kept"]),
    ("growing-blocks", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "10", "--timeout", "20s"]),
    ("ten-megabytes", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "100", "--clients", "4", "--timeout", "20s"]),
    ("notification-flood", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "4", "--timeout", "20s"]),
    ("init-flood", ["doctor", "--timeout", "20s"]),
    ("list-flood", ["list", "--timeout", "20s"]),
    ("big-pages", ["list", "--timeout", "30s"]),
    ("big-pages", ["list", "--json", "--timeout", "30s"]),
    ("big-pages", ["generate", "--output", "out/evals", "--timeout", "30s"]),
    ("big-pages", ["schema-lint", "--all"]),
    ("many-pages", ["list", "--timeout", "30s"]),
    ("growing-in-list", ["list", "--json", "--timeout", "20s"]),
    ("growing-in-list", ["schema-lint", "--all"]),
    ("big-resources", ["list", "--timeout", "20s"]),
    ("big-resources", ["read", "file:///r1", "--timeout", "20s"]),
    ("big-resources", ["read", "file:///r1", "--json", "--timeout", "20s"]),
    ("big-resources", ["prompt", "p1", "--timeout", "20s"]),
    ("big-resources", ["audit", "--yes", "--timeout", "20s"]),
    ("image", ["call", "echo", "text=zebra", "--media", "out/media", "--timeout", "20s"]),
    ("notification-flood", ["conformance", "--timeout", "10s"]),
    ("growing-zeros", ["conformance", "--timeout", "10s"]),
]:
    output = 128 << 20 if "--json" in command else 1 << 20
    name = f"{flood} against {' '.join(command[:2])}{' as JSON' if '--json' in command else ''}"
    ATTACKS.append(Attack(name, [*command, *subject(flood)], seconds=150, output=output, raw_output="--json" in command))
for flood in ["sse-flood", "get-flood", "big-headers", "big-redirect", "big-login", "big-error-page"]:
    ATTACKS.append(
        Attack(f"http {flood} against run, all reports", ["run", "case.yaml", *all_reports()], {"case.yaml": case(over_http())},
               http=flood, seconds=120, check=reports_written)
    )
AGENT = (
    "providers: {local: {base_url: '{url}/v1'}}\nservers: {s: %s}\nagents:\n  - {name: a, model: {provider: local, id: m}, prompt: hi, max_turns: 20, time_budget: 15s, expect: {contains: [nothing]}}\n" % evil("honest")
)
for flood in ["model-flood", "model-growing", "calls-for-ever", "calls-often"]:
    ATTACKS.append(Attack(f"the provider {flood} against run, all reports", ["run", "agent.yaml", *all_reports()], {"agent.yaml": AGENT}, http=flood, seconds=90, report=64 << 20, check=reports_written))
TESTS = [f"{{name: t{number}, tool: echo, args: {{text: zebra}}, expect: {{contains: [zebra]}}}}" for number in range(150)]
ATTACKS += [
    # The log has the 300 MB that were sent, so its length is not judged.
    Attack("150 failing replies of 2 MB in one run, all reports", ["run", "suite.yaml", *all_reports(), "--events", "/dev/null"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS)}, seconds=240, check=reports_written),
    Attack("150 failing replies of 2 MB, all verbose", ["run", "suite.yaml", "-v"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS)}, seconds=240, output=8 << 20),
    Attack("a hook that prints for ever", ["run", "suite.yaml"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS[:1], "hooks: {beforeAll: sh -c 'yes zebra | head -c 3000000000'}\n")},
           seconds=90),
    Attack("a hook that prints one endless line", ["run", "suite.yaml"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS[:1], "hooks: {beforeAll: sh -c 'head -c 2000000000 /dev/zero'}\n")},
           seconds=90),
    Attack("an oversized argument of 4 GiB", ["run", "case.yaml"],
           {"case.yaml": case(evil("two-megabytes")).replace("{text: zebra}", "{text: {oversized: 4294967296}}")}),
    Attack("a snapshot of a reply of 20 MB", ["snapshot", "case.yaml", "--update"], {"case.yaml": case(evil("ten-megabytes"))}),
    Attack("a snapshot of a reply that grows", ["snapshot", "case.yaml", "--update"], {"case.yaml": case(evil("growing-blocks"))}),
]

# Commands that came later, each with the floods that it can be reached by.
for flood, command in [
    ("notification-flood", ["diff", "{evil} notification-flood", "{evil} notification-flood", "--timeout", "20s"]),
    ("ten-megabytes", ["diff", "{evil} ten-megabytes", "{evil} two-megabytes", "--timeout", "20s"]),
    ("growing-blocks", ["diff", "{evil} growing-blocks", "{evil} growing-keys", "--timeout", "20s"]),
    ("growing-zeros", ["diff", "{evil} growing-zeros", "{evil} growing-zeros", "--timeout", "20s"]),
    ("big-pages", ["diff", "{evil} big-pages", "{evil} honest", "--timeout", "20s"]),
]:
    ATTACKS.append(Attack(f"{flood} against {command[0]} of {command[2][7:]}", [*command, *all_reports(), "--events", "out/log.ndjson"], seconds=150))
for flood in ["notification-flood", "ten-megabytes", "growing-keys", "stderr-flood", "stdout-endless"]:
    ATTACKS.append(Attack(f"{flood} against fuzz --stateful", ["fuzz", "--stateful", "--yes", "--runs", "60", "--timeout", "20s", "--time", "40s", "--corpus", "out/corpus", *subject(flood)], seconds=150))
for flood in ["big-pages", "growing-in-list", "list-flood"]:
    for words in (["lock"], ["lock", "--json"], ["fuzz", "--propose", "--yes"], ["snapshot", "--catalog", "--update"], ["coverage", "case.yaml"]):
        against = subject(flood) if words[0] != "snapshot" else []
        argv = [*words, *(["case.yaml"] if words[0] == "snapshot" else []), "--timeout", "20s", *against]
        ATTACKS.append(Attack(f"{flood} against {' '.join(words)}", argv, {"case.yaml": case(evil(flood))}, seconds=150, output=128 << 20 if "--json" in words else 1 << 20, raw_output="--json" in words))
for words in (["prompt", "p1", "--json"], ["prompt", "p1", "--save", "out/saved.yaml"], ["read", "file:///r1", "--save", "out/saved.yaml"], ["read", "file:///r1", "--raw"], ["complete", "p1", "a=b"]):
    ATTACKS.append(Attack(f"big-resources against {' '.join(words)}", [*words, "--timeout", "20s", *subject("big-resources")], seconds=150, output=128 << 20, report=64 << 20, raw_output=True))
for behaviour in ["flood", "notifications", "small-flood", "growing", "endless-line", "junk", "deep", "prints", "batch"]:
    for transport in ["stdio", "http"] if behaviour not in ("prints", "endless-line", "junk") else ["stdio"]:
        ATTACKS.append(Attack(f"a client that does {behaviour} against host over {transport}", ["host", "s.yaml", *all_reports(), "--events", "out/log.ndjson", *client(behaviour, transport)],
                              {"s.yaml": scenario(transport)}, seconds=150, output=2 << 20))
for fault in ["oversized:67108864", "notification-flood:100000", "list-changed-storm:100000"]:
    ATTACKS.append(Attack(f"a scenario with {fault}", ["host", "s.yaml", "--scripted", "good", *all_reports()], {"s.yaml": scenario(faults=f"search={fault}", more="scripted: {calls: [{tool: search}, {tool: search}, {tool: search}]}\n")}, seconds=150))
CALLS = [("call", {"tool": "echo", "args": {"text": "zebra"}})]
for flood in ["notification-flood", "growing-zeros", "growing-blocks", "stderr-flood"]:
    ATTACKS.append(Attack(f"{flood} against drive", ["drive"], drive=driven("{evil} " + flood, *CALLS * 2), seconds=150, output=256 << 20, raw_output=True))
ATTACKS += [
    Attack("60 replies of 10 MB against drive", ["drive"], drive=driven("{evil} ten-megabytes", *CALLS * 60), seconds=240, output=2 << 30, raw_output=True),
    Attack("40 replies that grow against drive", ["drive"], drive=driven("{evil} growing-zeros", *CALLS * 40), seconds=300, output=4 << 30, raw_output=True),
    Attack("big-pages against list of drive", ["drive"], drive=driven("{evil} big-pages", ("list", {}), ("list", {})), seconds=150, output=256 << 20, raw_output=True),
]
for flood in ["notification-flood", "ten-megabytes", "growing-zeros", "growing-keys", "growing-blocks", "stderr-flood"]:
    ATTACKS.append(Attack(f"{flood} against call_tool of mcp", ["mcp", "--add-server", "s={evil} " + flood],
                          drive=as_agent(("call_tool", {"server": "s", "tool": "echo", "arguments": {"text": "zebra"}})), seconds=150))
for flood in ["big-pages", "growing-in-list", "big-resources", "huge-server-name"]:
    for tool in ["inspect_server", "propose_tests", "lint_schemas", "audit"]:
        ATTACKS.append(Attack(f"{flood} against {tool} of mcp", ["mcp", "--add-server", "s={evil} " + flood], drive=as_agent((tool, {"server": "s"})), seconds=150))
ATTACKS.append(Attack("150 failing replies of 2 MB against run_suite of mcp", ["mcp"], {"evals/suite.yaml": suite(evil("two-megabytes"), TESTS)},
                      drive=as_agent(("run_suite", {"path": "evals"})), seconds=240))
for flood in ["notification-flood", "growing-zeros", "stdout-endless", "stderr-flood", "ten-megabytes", "half-messages", "batch-of-many"]:
    ATTACKS.append(Attack(f"{flood} through intercept", ["intercept", "--events", "out/log.ndjson", "--as-suite", "out/kept.yaml", "--timeout", "40s", *subject(flood)],
                          stdin=SPOKEN, seconds=150, output=4 << 30, raw_output=True, report=64 << 20))
for flood in ["sse-flood", "get-flood", "big-headers", "big-error-page"]:
    ATTACKS.append(Attack(f"http {flood} against call", ["call", "echo", "text=zebra", "--timeout", "30s", "--url", "{url}"], http=flood, seconds=150))
    ATTACKS.append(Attack(f"http {flood} against bench", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "8", "--clients", "4", "--timeout", "30s", "--url", "{url}"], http=flood, seconds=150))
for flood in ["sse-flood", "get-flood", "big-error-page", "big-login"]:
    ATTACKS.append(Attack(f"http {flood} against conformance", ["conformance", "--timeout", "10s", "--url", "{url}"], http=flood, seconds=240))
ATTACKS += [
    Attack("a client that floods a mock", ["mock", "--tools-from", "m.yaml"], {"m.yaml": MANIFEST}, shell="head -c 1500000000 /dev/zero | tr '\\0' x | \"$0\" \"$@\"", seconds=60),
    # Its answers go to a file, so that all of them are written.
    Attack("a client that never reads a mock", ["mock", "--tools-from", "m.yaml"], {"m.yaml": MANIFEST}, drive=deaf_client, seconds=60, output=32 << 20),
    Attack("a client that floods a mock with faults", ["mock", "--tools-from", "m.yaml", "--fault", "echo=flaky:30"], {"m.yaml": MANIFEST}, shell="head -c 1500000000 /dev/zero | tr '\\0' x | \"$0\" \"$@\"", seconds=60),
    Attack("a client that floods mcp", ["mcp"], shell="head -c 1500000000 /dev/zero | tr '\\0' x | \"$0\" \"$@\"", seconds=60),
    Attack("a program that floods drive", ["drive"], shell="head -c 1500000000 /dev/zero | tr '\\0' x | \"$0\" \"$@\"", seconds=60),
    Attack("a request of 20 MB that grows against drive", ["drive"], stdin=b'{"id":1,"method":"open","params":{"server":[' + b"0," * (10 << 20) + b"0]}}\n", seconds=60),
    Attack("a request of 20 MB that grows against mcp", ["mcp"], stdin=SPOKEN[:SPOKEN.index(b"\n") + 1] + b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"list_servers","arguments":{"a":[' + b"0," * (10 << 20) + b"0]}}}\n", seconds=60, output=64 << 20),
]
for kind in ["resource", "metadata", "registration", "token", "challenge"]:
    ATTACKS.append(Attack(f"login: a {kind} of 200 MB", ["login", "{url}", "--no-browser", "--timeout", "20s"], http=f"login_{kind}_flood", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, seconds=90, codes={0, 2}))
    ATTACKS.append(Attack(f"login: a {kind} that grows", ["login", "{url}", "--no-browser", "--timeout", "20s"], http=f"login_{kind}_growing", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, seconds=90, codes={0, 2}))

# Faults read lines on their own, between a client and a server that never end one.
for flood in ["stdout-endless", "growing-zeros", "notification-flood"]:
    ATTACKS.append(Attack(f"{flood} through intercept with a fault", ["intercept", "--fault", "other=hang", "--events", "out/log.ndjson", "--timeout", "40s", *subject(flood)],
                          stdin=SPOKEN, seconds=150, output=4 << 30, raw_output=True, report=64 << 20))
ATTACKS.append(Attack("a client that does endless-line against host with a fault", ["host", "s.yaml", *all_reports(), *client("endless-line", "stdio")], {"s.yaml": scenario("stdio", faults="search=flaky:30")}, seconds=150, output=2 << 20))


def said_to_intercept(make, count):
    """A client that says much to a server through the relay."""

    def drive(process, place):
        try:
            process.stdin.write(SPOKEN)
            for number in range(count):
                process.stdin.write(make(number + 10))
            process.stdin.close()
        except OSError:
            pass

    return drive


LARGE = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"' + b"L" * (1 << 20) + b'"}}}\n'
GROWS = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","x":[' + b"0," * (2 << 20) + b"0]}}}\n"
for name, make, count in [("calls of 1 MB", lambda n: LARGE % n, 800), ("calls that grow", lambda n: GROWS % n, 60), ("ids of 1 MB", lambda n: (LARGE % n).replace(b'"id":', b'"id":"' + b"i" * (1 << 20)).replace(b',"method"', b'","method"'), 400)]:
    ATTACKS.append(Attack(f"a client that sends {name} through intercept", ["intercept", "--events", "out/log.ndjson", "--as-suite", "out/kept.yaml", "--timeout", "60s", *subject("honest")],
                          drive=said_to_intercept(make, count), seconds=150, output=4 << 30, raw_output=True, report=300 << 20))
for flood in ["unanswered-asks", "big-ids"]:
    ATTACKS.append(Attack(f"{flood} through intercept", ["intercept", "--events", "out/log.ndjson", "--timeout", "40s", *subject(flood)], stdin=SPOKEN, seconds=150, output=4 << 30, raw_output=True))
    ATTACKS.append(Attack(f"{flood} against run, all reports", ["run", "case.yaml", *all_reports(), "--events", "out/log.ndjson"], {"case.yaml": case(evil(flood))}, seconds=150, check=reports_written))

# Many tools, each with a reply of its own: what a scan keeps of them.
for behaviour in ["tools-of-replies", "tools-of-errors", "tools-of-lines", "pages-of-small-tools"]:
    for words in (["audit", "--yes"], ["audit", "--yes", "--output", "out/evals"], ["init", "out/evals", "--no-workflow"], ["negative", "--yes", "--checks", "missing_required"], ["list"], ["doctor"], ["lock"]):
        ATTACKS.append(Attack(f"{behaviour} against {' '.join(words)}", [*words, "--timeout", "20s", *subject(behaviour)], seconds=240, output=2 << 20, report=64 << 20))
for flood in ["sse-long-ids", "get-asks-for-ever"]:
    for words in (["list"], ["call", "echo", "text=zebra"]):
        ATTACKS.append(Attack(f"http {flood} against {' '.join(words[:2])}", [*words, "--timeout", "15s", "--url", "{url}"], http=flood, seconds=120))

"""Class 6: every text has a bound where it is shown."""

from harness import Attack, all_reports
from suites import as_agent, case, client, driven, evil, scenario, subject

PLACES = [
    "server", "instructions", "version", "tool-name", "description", "property", "enum", "many-tools", "list-error", "error",
    "error-text", "text", "structured", "many-lines", "stderr", "method", "stray", "content-type", "many-blocks", "id",
]
ATTACKS = [
    Attack(f"{where} of 20 MB against run, all reports", ["run", "case.yaml", *all_reports(), "--github"],
           {"case.yaml": case(evil("long-text", where))}, seconds=120, raw_output=True)
    for where in PLACES
]
for where, command in [
    ("tool-name", ["list"]), ("tool-name", ["audit", "--yes"]), ("tool-name", ["schema-lint", "--all"]),
    ("tool-name", ["generate", "--output", "out/evals"]), ("tool-name", ["doctor"]), ("tool-name", ["audit", "--yes", "--json"]),
    ("description", ["list"]), ("description", ["list", "-v"]), ("description", ["doctor"]), ("description", ["schema-lint", "--all"]),
    ("property", ["audit", "--yes"]), ("property", ["fuzz", "--yes", "--runs", "2"]), ("property", ["negative", "--yes", "--checks", "missing_required"]),
    ("enum", ["negative", "--yes"]), ("server", ["doctor"]), ("server", ["list"]), ("server", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "2"]),
    ("error", ["call", "echo", "text=a"]), ("error", ["audit", "--yes"]), ("error", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "2"]),
    ("error", ["fuzz", "--yes", "--runs", "2", "--save", "out/kept"]), ("version", ["doctor"]), ("list-error", ["list"]), ("list-error", ["audit", "--yes"]),
    ("stderr", ["call", "echo", "text=a"]), ("many-tools", ["list"]), ("many-tools", ["audit", "--yes"]), ("stray", ["call", "echo", "text=a"]),
    ("text", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "3", "--html", "out/run.html"]),
    ("server", ["conformance", "--timeout", "10s"]), ("error", ["conformance", "--timeout", "10s"]),
    ("tool-name", ["conformance", "--timeout", "10s"]), ("description", ["audit", "--yes", "--json"]), ("error", ["audit", "--yes", "--json"]),
    ("error-text", ["fuzz", "--yes", "--runs", "2", "--json"]), ("server", ["doctor", "--json"]),
]:
    ATTACKS.append(Attack(f"{where} of 20 MB against {' '.join(command)}", [*command, *([] if command[0] == "schema-lint" or "--timeout" in command else ["--timeout", "20s"]), *subject("long-text", where)], seconds=120))
BIG = "B" * (5 << 20)
ATTACKS += [
    Attack("the name of a test has 5 MB", ["run", "case.yaml", *all_reports()], {"case.yaml": case("{command: false}", name=BIG)}),
    Attack("a key of a suite has 5 MB", ["validate", "case.yaml"], {"case.yaml": case("{command: x}") + BIG + ": 1\n"}),
    Attack("a value that is wrong has 5 MB", ["validate", "case.yaml"], {"case.yaml": case("{command: x}", timeout=BIG)}),
    Attack("a command that is not there has 100 kB", ["run", "case.yaml", *all_reports()], {"case.yaml": case("{command: " + "c" * 100_000 + "}")}),
    Attack("10,000 mistakes in a suite", ["validate", "case.yaml"], {"case.yaml": case("{command: x}") + "".join(f"wrong{n}: 1\n" for n in range(10_000))}),
    Attack("a filter of 100 kB", ["run", "case.yaml", "--filter", "f" * 100_000], {"case.yaml": case("{command: x}")}),
    Attack("an unknown option of 100 kB", ["run", "--" + "x" * 100_000]),
]
for where, command in [
    ("tool-name", ["lock"]), ("description", ["lock"]), ("property", ["lock"]), ("server", ["lock"]), ("list-error", ["lock"]), ("enum", ["lock", "--check"]),
    ("tool-name", ["fuzz", "--stateful", "--yes", "--runs", "20"]), ("error", ["fuzz", "--stateful", "--yes", "--runs", "20", "--save", "out/kept"]), ("text", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "out/corpus"]),
    ("tool-name", ["fuzz", "--propose", "--yes"]), ("description", ["fuzz", "--propose", "--yes"]), ("stderr", ["list"]), ("method", ["call", "echo", "text=a"]), ("id", ["call", "echo", "text=a"]),
    ("instructions", ["doctor"]), ("instructions", ["list", "-v"]), ("structured", ["call", "echo", "text=a"]), ("many-blocks", ["call", "echo", "text=a"]), ("content-type", ["call", "echo", "text=a"]),
]:
    ATTACKS.append(Attack(f"{where} of 20 MB against {' '.join(command)}, later", [*command, "--timeout", "20s", *subject("long-text", where)], {"mcprove.lock": '{"version":1,"catalog":{"tools":[]}}'} if "--check" in command else {},
                          seconds=120, report=64 << 20, output=(21 << 20) if where in ("structured", "many-blocks") else 1 << 20))
for where in ["server", "tool-name", "property", "error", "error-text", "text", "structured", "many-blocks", "stderr", "list-error", "method"]:
    ATTACKS.append(Attack(f"{where} of 20 MB against diff, all reports", ["diff", "{evil} honest", f"{{evil}} long-text {where}", "--timeout", "20s", *all_reports()], seconds=120))
    ATTACKS.append(Attack(f"{where} of 20 MB against inspect_server and call_tool of mcp", ["mcp", "--add-server", f"s={{evil}} long-text {where}"], seconds=120,
                          drive=as_agent(("inspect_server", {"server": "s"}), ("call_tool", {"server": "s", "tool": "echo", "arguments": {"text": "a"}, "expect": {"contains": "x"}}))))
for where in ["server", "error", "stderr", "method"]:
    ATTACKS.append(Attack(f"{where} of 20 MB against a failing expectation of drive", ["drive"], seconds=120, output=128 << 20,
                          drive=driven(f"{{evil}} long-text {where}", ("call", {"tool": "echo", "args": {"text": "a"}, "expect": {"contains": "x"}}))))
for transport in ("stdio", "http"):
    ATTACKS.append(Attack(f"a client with names of 20 MB against host over {transport}", ["host", "s.yaml", *all_reports(), *client("long", transport)], {"s.yaml": scenario(transport)}, seconds=120))
ATTACKS += [
    Attack("a scenario whose name has 5 MB", ["host", "s.yaml", "--scripted", "good", *all_reports()], {"s.yaml": scenario().replace("bad client", BIG)}),
    Attack("a lockfile with a name of 20 MB", ["lock", "--check", *subject("honest")], {"mcprove.lock": '{"version":1,"catalog":{"tools":[{"name":"' + "L" * (20 << 20) + '"}]}}'}, codes={1, 2}),
    Attack("a tool that is called by 100 kB", ["call", "t" * 100_000, *subject("honest")], codes={2}),
    Attack("a URL of 100 kB", ["list", "--url", "http://127.0.0.1:9/" + "u" * 100_000], codes={2}),
    Attack("a gate of 100 kB", ["bench", "--tool", "echo", "--gate", "g" * 100_000, *subject("honest")], codes={2}),
    Attack("an id of 100 kB to explain", ["explain", "e" * 100_000], codes={2}),
]

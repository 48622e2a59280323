"""Class 13: a file that means more than it weighs is refused, with its place."""

import json
import os

from harness import Attack
from suites import PYTHON, SCRIPT, as_agent, case, scenario, subject, suite

HONEST = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "honest"]}}'
TEST = "{name: a, tool: echo, args: {text: zebra}, expect: {contains: [zebra]}}"
LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{n}: &a{n} [" + ",".join([f"*a{n - 1}"] * 9) + "]\n" for n in range(1, 30))
DEEP = "[" * 100_000 + "]" * 100_000


def sparse(name, size=1 << 40):
    def prepare(place):
        with open(place.home / name, "wb") as file:
            file.truncate(size)

    return prepare


def loop(place):
    (place.home / "suite").mkdir()
    (place.home / "suite/case.yaml").write_text(case(HONEST))
    (place.home / "suite/again").symlink_to(".")
    (place.home / "suite/more").symlink_to("../suite")


def wide_loop(place):
    folder = place.home / "suite"
    folder.mkdir()
    (folder / "case.yaml").write_text(case(HONEST))
    for number in range(12):
        (folder / f"d{number}").mkdir()
        for other in range(12):
            (folder / f"d{number}/l{other}").symlink_to(f"../d{other}")


def many_files(place):
    folder = place.home / "suite"
    folder.mkdir()
    for number in range(20_000):
        (folder / f"{number}.txt").write_text("x")
    (folder / "case.yaml").write_text(case(HONEST))


TEXTS = {
    "a million documents": "---\na: 1\n" * 1_000_000,
    "a billion laughs": LAUGHS + case(HONEST),
    "aliases of aliases as keys": "x: &x {a: 1}\n" + "".join(f"? *x\n: {n}\n" for n in range(1000)),
    "a merge chain": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)),
    "100,000 levels of lists": DEEP,
    "100,000 levels of maps": "".join("{a: " for _ in range(100_000)),
    "100,000 levels by indentation": "".join(" " * n + "a:\n" for n in range(3000)),
    "a key of 50 MB": "k" * (50 << 20) + ": 1\n",
    "a million keys": "".join(f"k{n}: 1\n" for n in range(1_000_000)),
    "a million cases": "servers: {s: {command: x}}\ntools:\n" + "  - {name: a, tool: b, expect: {contains: [c]}}\n" * 300_000,
    "an anchor without an end": "&" * 1_000_000,
    "a million anchors": "".join(f"- &a{n} x\n" for n in range(500_000)),
    "a string of escapes": '"' + "\\x41" * 5_000_000 + '"',
    "a block scalar of 100 MB": "a: |\n" + "  line\n" * 15_000_000,
    "a matrix of ten million": "variables: {a: 1}\nmatrix: {" + ", ".join(f"v{n}: [1,2,3,4,5,6,7,8,9,10]" for n in range(10)) + "}\n" + suite(HONEST, [TEST]),
    "variables that expand": "variables:\n  v0: xxxxxxxxxx\n" + "".join(f"  v{n}: '" + f"{{{{v{n - 1}}}}}" * 10 + "'\n" for n in range(1, 12)) + suite(HONEST, [TEST.replace("zebra}, e", "'{{v11}}'}, e")]),
    "imports of itself": "imports: [case.yaml]\n" + suite(HONEST, [TEST]),
    "NUL bytes": "\x00" * 1_000_000,
    "tabs": "\t" * 5_000_000,
    "a regular expression that grows": case(HONEST, "{matches: '((((a{100}){100}){100}){100})'}"),
    "a million items to contain": case(HONEST, "{contains: [" + ",".join(["zebra"] * 300_000) + "]}"),
}
ATTACKS = []
for name, text in TEXTS.items():
    for command in (["validate", "case.yaml"], ["run", "case.yaml", "--timeout", "10s"], ["lint", "case.yaml"]):
        ATTACKS.append(Attack(f"{name} against {command[0]}", command, {"case.yaml": text}, seconds=60))
DEEP_JSON = f'{{"command": "{PYTHON}", "args": ["{SCRIPT}", "deep-reply"]}}'
for path in ["$..*", "$..*..*", "$..*..*..*..*", "$..[?(@.a)]", "$[*][*][*][*]", "$..a..a..a..a..a", "$..[0:1000000000]", "$" + ".a" * 50_000]:
    ATTACKS.append(Attack(f"the JSON path {path[:30]} on deep data", ["run", "case.yaml"], {"case.yaml": case(DEEP_JSON, "{json_path: {" + json.dumps(path) + ": 1}}", timeout="10s")}, seconds=60))
for name, prepare in [("folders that loop through links", loop), ("144 links that loop", wide_loop), ("20,000 other files", many_files)]:
    for command in (["run", "suite", "--timeout", "10s"], ["validate", "suite"], ["lint", "suite"]):
        ATTACKS.append(Attack(f"{name} against {command[0]}", command, prepare=prepare, seconds=60))
for name, argv in {
    "a suite": ["run", "big"], "a log": ["report", "big"], "a manifest": ["mock", "--tools-from", "big"], "a client configuration": ["list", "--client-config", "big"],
    "a baseline": ["run", "case.yaml", "--baseline", "big"], "an env file": ["run", "case.yaml", "--env-file", "big"], "a snapshot": ["schema-lint", "big"],
    "arguments": ["call", "echo", "--args", "big", "--server", "{evil} honest"], "answers": ["call", "echo", "text=a", "--answers", "big", "--server", "{evil} honest"],
    "a trace": ["trust", "big"], "a load to compare": ["bench", "case.yaml", "--calls", "2", "--compare", "big"], "a record to judge": ["conformance", "big"],
    "a file to convert": ["convert", "big"], "seeds": ["fuzz", "--yes", "--runs", "1", "--seed-args", "big", "--server", "{evil} honest"],
}.items():
    ATTACKS.append(Attack(f"{name} of a sparse terabyte", argv, {"case.yaml": case(HONEST)}, prepare=sparse("big"), codes={1, 2, 4}, seconds=40))
    ATTACKS.append(Attack(f"{name} with 100,000 levels", argv, {"case.yaml": case(HONEST), "big": DEEP}, codes={1, 2, 4}, seconds=40))
    ATTACKS.append(Attack(f"{name} of 100 MB in one line", argv, {"case.yaml": case(HONEST), "big": lambda: b'{"a": "' + b"x" * (100 << 20) + b'"}'}, codes={0, 1, 2, 4}, seconds=60))
MANIFEST = "tools: []\nresource_templates:\n  - {uri_template: 'x://" + "{a}" * 40 + "', name: t, text: hi}\n"
ATTACKS += [
    Attack("a URI template with 40 variables", ["read", "x://" + "a" * 60, "--timeout", "10s", "--", "{mcprove}", "mock", "--tools-from", "m.yaml"], {"m.yaml": MANIFEST}, seconds=40),
    Attack("a log of 300,000 events", ["report", "log.ndjson"], {"log.ndjson": '{"event":"run_started","format":1,"program":"p","started_unix_ms":0,"total":0,"jobs":1}\n' + '{"event":"finding","finding":{"rule":"x","severity":"warning","message":"m"}}\n' * 300_000}, seconds=90),
    Attack("a log of 100,000 cases", ["report", "log.ndjson", "--html", "out/r.html", "--junit", "out/j.xml"], {"log.ndjson": '{"event":"run_started","format":1,"program":"p","started_unix_ms":0,"total":100000,"jobs":1}\n' + "".join(f'{{"event":"case_started","index":{n},"name":"c","file":"f","line":1,"trial":1}}\n{{"event":"case_finished","index":{n},"verdict":"failed","findings":[{{"rule":"x","severity":"error","message":"m"}}],"duration_us":1}}\n' for n in range(100_000))}, seconds=120, output=32 << 20, report=64 << 20),
]
_ = os
# Files of commands that came later.
BIG_LOCK = '{"version":1,"catalog":{"tools":[' + ",".join(f'{{"name":"t{n}","inputSchema":{{"type":"object","properties":{{"a{n}":{{"type":"string"}}}}}}}}' for n in range(100_000)) + "]}}"
GROWING = b'{"version":1,"catalog":{"tools":[' + b"0," * (20 << 20) + b"0]}}"
LOCKS = {"100,000 tools": BIG_LOCK, "values that grow": GROWING, "100,000 levels": DEEP, "a bomb": '{"version":1,"catalog":{"tools":[{"name":"echo","inputSchema":{"$ref":"#","allOf":[' + ",".join(['{"$ref":"#"}'] * 20_000) + "]}}]}}",
         "numbers as names": '{"version":1,"catalog":{"tools":{"a":1}},"tokens":-1}', "nothing": "", "NUL bytes": "\0" * 1_000_000}
for name, text in LOCKS.items():
    for words in (["lock"], ["lock", "--check"], ["lock", "--check", "--json"]):
        ATTACKS.append(Attack(f"a lockfile of {name} against {' '.join(words)}", [*words, *subject("honest")], {"mcprove.lock": text}, seconds=60, output=64 << 20 if "--json" in words else 1 << 20, report=64 << 20))
SCENARIOS = {
    "a billion laughs": LAUGHS + scenario(), "a million documents": "---\nscenario: a\n" * 300_000, "20,000 scenarios": "---\n".join(scenario().replace("bad client", f"s{n}") for n in range(20_000)),
    "1,000 servers": "scenario: a\nservers:\n" + "".join(f"  s{n}: {{offers: {{tools: [{{name: a}}]}}}}\n" for n in range(1000)) + "expect: {allow_unhit: true}\n",
    "100,000 tools": scenario().replace("[{name: search, description: d}]", "[" + ",".join(f"{{name: t{n}}}" for n in range(100_000)) + "]"),
    "100,000 calls": scenario(more="scripted: {calls: [" + ",".join(["{tool: search}"] * 100_000) + "]}\n"), "100,000 levels": DEEP, "a key of 5 MB": scenario() + "k" * (5 << 20) + ": 1\n",
    "10,000 faults": scenario(faults=",".join(["search=flaky:30"] * 10_000)), "a list of a thousand pages": scenario().replace("tools:", "page_size: 1, tools:"),
    "a result of 50 MB": scenario().replace("description: d", "description: d, responses: [{result: " + "r" * (50 << 20) + "}]"),
}
for name, text in SCENARIOS.items():
    # A line for each of 20,000 results is what was asked for.
    ATTACKS.append(Attack(f"a scenario of {name}", ["host", "s.yaml", "--scripted", "good"], {"s.yaml": text}, seconds=60, output=4 << 20 if name == "20,000 scenarios" else 1 << 20))
LINE = '{"event":"case_started","index":%d,"name":"a","file":"f.yaml","line":1}\n{"event":"case_finished","index":%d,"verdict":"passed","duration_us":1}\n'
LOGS = {
    "a line of 100 MB": b'{"event":"run_started","program":"' + b"p" * (100 << 20) + b'"}\n', "a line that grows": b'{"event":"run_started","context":[' + b"0," * (20 << 20) + b"0]}\n",
    "500,000 cases": "".join(LINE % (n, n) for n in range(500_000)).encode(), "a line of 100,000 levels": DEEP.encode() + b"\n", "ten million empty lines": b"\n" * 10_000_000,
    "a frame of 60 MB": b'{"event":"case_started","index":0,"name":"a","file":"f"}\n{"event":"frame","index":0,"session":0,"frame":{"direction":"received","text":"' + b"x" * (60 << 20) + b'"}}\n',
}
for name, text in LOGS.items():
    for command in (["report", "log"], ["report", "log", "--html", "out/run.html", "--report", "out/run.json"], ["agents", "compare", "log", "log"], ["trust", "log"], ["run", "case.yaml", "--last-failed", "log"], ["bench", "case.yaml", "--calls", "2", "--compare", "log"], ["conformance", "log"],
                    ["diff", "{evil} honest", "{evil} honest", "--recording", "log"]):
        ATTACKS.append(Attack(f"a log of {name} against {' '.join(command[:3])}", command, {"log": text, "case.yaml": case(HONEST)}, seconds=90, report=300 << 20, output=64 << 20 if command[-1] == "log" and command[0] == "report" else 1 << 20))
MANIFESTS = {
    "a template with 40 variables": "resource_templates: [{uri_template: 'x:" + "".join(f"{{v{n}}}" for n in range(40)) + "', name: a}]\ntools: [{name: echo}]\n",
    "a list of variables": "resource_templates: [{uri_template: 'x:{" + ",".join(f"v{n}" for n in range(20_000)) + "}', name: a}]\ntools: [{name: echo}]\n",
    "100,000 tools": "tools: [" + ",".join(f"{{name: t{n}}}" for n in range(100_000)) + "]\n", "a pattern that grows": "tools: [{name: echo, responses: [{when: {args: {text: {matches: '((a{100}){100}){100}'}}}, result: a}]}]\n",
    "a billion laughs": LAUGHS + "tools: [{name: echo}]\n", "placeholders of placeholders": "tools: [{name: echo, responses: [{result: '" + "{{args.text}}" * 10_000 + "'}]}]\n",
}
CALL = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"' + b"a" * 100_000 + b'"}}}\n{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x:' + b"a/" * 5_000 + b'"}}\n'
INIT = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
for name, text in MANIFESTS.items():
    ATTACKS.append(Attack(f"a manifest with {name}", ["mock", "--tools-from", "m.yaml"], {"m.yaml": text}, stdin=INIT + CALL, seconds=60, output=128 << 20))
for name, text in {"a map of a million": "{" + ",".join(f'"k{n}":1' for n in range(1_000_000)) + "}", "a list that grows": "[" + "0," * (10 << 20) + "0]", "100,000 levels": DEEP, "laughs": LAUGHS}.items():
    for command in (["call", "echo", "--args", "big"], ["call", "echo", "text=a", "--answers", "big"], ["fuzz", "--yes", "--runs", "1", "--seed-args", "big"], ["list", "--client-config", "big"], ["fuzz", "--stateful", "--yes", "--runs", "1", "--seed-args", "big"]):
        ATTACKS.append(Attack(f"{name} as the file of {' '.join(command[:4])}", [*command, *([] if command[0] == "list" else subject("honest"))], {"big": text}, seconds=60, codes={0, 1, 2, 4}))
for name, text in [("a key of 50 MB", TEXTS["a key of 50 MB"]), ("a million cases", TEXTS["a million cases"]), ("a billion laughs", TEXTS["a billion laughs"]), ("100,000 levels of maps", TEXTS["100,000 levels of maps"])]:
    ATTACKS.append(Attack(f"{name} against validate_suite of mcp", ["mcp"], {"evals/case.yaml": text}, drive=as_agent(("validate_suite", {"path": "evals"})), seconds=120))
    for command in (["coverage", "case.yaml"], ["snapshot", "case.yaml"], ["convert", "case.yaml"], ["watch", "case.yaml"], ["diff", "{evil} honest", "{evil} honest", "case.yaml"], ["bench", "case.yaml", "--calls", "2"], ["ci", "case.yaml"], ["matrix", "case.yaml", "--protocol", "all"]):
        if command[0] != "watch":
            ATTACKS.append(Attack(f"{name} against {command[0]}", command, {"case.yaml": text}, seconds=60))

# Files that stand for more than they say: rows that use long values often, wide tables, patterns, paths and values of values.
ASKS = f"name: t\nserver: {HONEST}\n"
FILES = {
    "rows that use a value 100,000 times": {"case.yaml": ASKS + "assert: {tool: echo, args: {text: '" + "{{a}}" * 100_000 + "'}}\ncases: [" + ",".join("{a: '" + "c" * 100 + "'}" for _ in range(3000)) + "]\n"},
    "one row that uses a long value often": {"case.yaml": ASKS + "assert: {tool: echo, args: {text: '" + "{{a}}" * 100_000 + "'}}\ncases: [{a: '" + "c" * 1_000_000 + "'}]\n"},
    "20,000 rows of 3,000 arguments": {"case.yaml": ASKS + "assert: {tool: echo, args: {" + ", ".join(f"x{n}: '{{{{a}}}}'" for n in range(3000)) + "}}\ncases: [" + ",".join(f"{{a: {n}}}" for n in range(20_000)) + "]\n"},
    "tests that each have such a table": {"case.yaml": f"servers: {{s: {HONEST}}}\ntools:\n" + "".join(f"  - {{name: t{n}, tool: echo, args: {{text: '" + "{{a}}" * 10_000 + "'}, expect: {contains: [x]}, cases: [{a: '" + "c" * 1000 + "'}]}\n" for n in range(100))},
    "a table of five million rows": {"case.yaml": ASKS + "assert: {tool: echo}\ncases: rows.csv\n", "rows.csv": "a,b\n" + "1,2\n" * 5_000_000},
    "a table of 100,000 columns": {"case.yaml": ASKS + "assert: {tool: echo}\ncases: rows.csv\n", "rows.csv": ",".join(f"c{n}" for n in range(100_000)) + "\n" + ("," * 99_999 + "\n") * 200},
    "a JSON table that grows": {"case.yaml": ASKS + "assert: {tool: echo}\ncases: rows.json\n", "rows.json": "[" + "{}," * 3_000_000 + "{}]"},
    "3,000 patterns that grow": {"case.yaml": ASKS + "assert: {tool: echo, expect: {matches_regex: [" + ",".join(f"'(\\w{{1,200}}x{n}){{1,40}}'" for n in range(3000)) + "]}}\n"},
    "3,000 matchers that grow": {"case.yaml": ASKS + "assert:\n  tool: echo\n  expect:\n" + "".join(f"    - {{target: result, matcher: {{regex: '(\\w{{1,40}}x{n}){{1,4}}'}}}}\n" for n in range(3000))},
    "a path of 5,000 filters": {"case.yaml": ASKS + "assert: {tool: echo, expect: {json_path: {'$" + "[?@" * 5000 + ".x" + "]" * 5000 + "': []}}}\n"},
    "a path of 5,000 brackets": {"case.yaml": ASKS + "assert: {tool: echo, expect: {json_path: {'$[?" + "(" * 5000 + "@.x" + ")" * 5000 + "]': []}}}\n"},
    "a path of 10 filters": {"case.yaml": ASKS + "assert: {tool: echo, expect: {json_path: {'$" + "[?@" * 10 + ".x" + "]" * 10 + "': []}}}\n"},
    "values of values": {"case.yaml": "variables: {V0: {value: xxxx}, " + ",".join(f"V{n}: {{value: '${{V{n - 1}}}${{V{n - 1}}}'}}" for n in range(1, 41)) + f"}}\nservers: {{s: {HONEST}}}\ntools: [{{name: a, tool: echo, args: {{text: '${{V40}}'}}, expect: {{contains: [x]}}}}]\n"},
    "a long value in 10,000 places": {"case.yaml": "variables: {V: {value: " + "v" * 100_000 + f"}}}}\nservers: {{s: {HONEST}}}\ntools: [{{name: a, tool: echo, args: {{" + ", ".join(f"x{n}: '${{V}}'" for n in range(10_000)) + "}, expect: {contains: [x]}}]\n"},
}
for name, files in FILES.items():
    for command in (["validate", "case.yaml"], ["run", "case.yaml", "--timeout", "10s"], ["lint", "case.yaml"]):
        ATTACKS.append(Attack(f"{name} against {command[0]}", command, files, seconds=60, codes={0, 1, 2, 4}))
# Mechanisms that multiply: a table, a variable, a matrix, a path or a program that means more than it says.
ROWS = lambda count, row: ",".join([row] * count)
EXPECT = "[{{target: result, transform: {{jq: {}}}, matcher: {{length: 1}}}}]"
CELS = "[{{target: result, matcher: {{cel: {}}}}}]"
GROWING_FILES = {
    "rows into a text of references": case(HONEST).replace("zebra", "{{a}}" * 100_000) + "cases: [" + ROWS(3_000, "{a: '" + "c" * 100 + "'}") + "]\n",
    "rows into many arguments": case(HONEST).replace("text: zebra", ", ".join(f"x{n}: '{{{{a}}}}'" for n in range(3_000))) + "cases: [" + ROWS(20_000, "{a: 1}") + "]\n",
    "variables that double": "variables: {V0: {value: xxxx}, " + ", ".join(f"V{n}: {{value: '${{V{n - 1}}}${{V{n - 1}}}'}}" for n in range(1, 41)) + "}\n" + suite(HONEST, [TEST.replace("text: zebra", "text: '${V40}'")]),
    "a matrix of rows": case(HONEST) + "matrix: {servers: {" + ",".join(f"s{n}: x" for n in range(1_000)) + "}, protocol: all}\ncases: [" + ROWS(1_000, "{a: 1}") + "]\n",
    "expressions that are large": case(HONEST, "{matches_regex: [" + ",".join(f"'(\\w{{1,200}}x{n}){{1,40}}'" for n in range(1_900)) + "]}"),
    "400,000 texts": case(HONEST, "{contains: [" + ",".join(f"c{n}" for n in range(400_000)) + "]}"),
    "a deep JSON path": case(HONEST, "{json_path: {'$" + "[?@" * 5_000 + ".x" + "]" * 5_000 + "': []}}"),
    "a JSON path of 22 filters": case(HONEST, "{json_path: {'$" + "[?@" * 22 + ".x" + "]" * 22 + "': []}}"),
    "a JSON path that starts again": case(HONEST, "{json_path: {'$" + "[?$" * 7 + ".x" + "]" * 7 + "': []}}"),
}
for name, text in GROWING_FILES.items():
    for command in (["validate", "case.yaml"], ["run", "case.yaml", "--timeout", "5s"], ["run", "case.yaml", "--dry-run"]):
        ATTACKS.append(Attack(f"{name} against {command[0]} {command[-1]}", command, {"case.yaml": text}, codes={2}, seconds=20))
for name, table in {"five million rows": "a,b\n" + "1,2\n" * 5_000_000, "100,000 columns": ",".join(f"c{n}" for n in range(100_000)) + "\n" + ("," * 99_999 + "\n") * 20}.items():
    ATTACKS.append(Attack(f"a table of {name}", ["validate", "case.yaml"], {"case.yaml": case(HONEST) + "cases: t.csv\n", "t.csv": table}, codes={2}, says=["t.csv"], seconds=20))
for program in ["[range(1e9)]", "def f: f; f", '"x" * 1000000000', 'reduce range(60) as $i ("xx"; . + .)', "last(repeat(1))", "[limit(100000000; repeat({a:[1,2,3]}))]",
                "reduce range(100000) as $i (0; [.])", "def f(x): x | f([x]); f(1)", "[.[999999999] = 1]", "[range(3000)] | combinations(9)"]:
    ATTACKS.append(Attack(f"the jq program {program}", ["run", "case.yaml", "--timeout", "5s"], {"case.yaml": case(HONEST, EXPECT.format(json.dumps(program)))}, codes={1}, says=["cannot be transformed"], seconds=60))
for expression in ["[1,2,3,4,5,6,7,8,9,10].map(a, " * 9 + "1" + ")" * 9 + ".size() == 1", "['x']" + ".map(a, a + a)" * 36 + ".size() == 2"]:
    ATTACKS.append(Attack(f"the expression {expression[:40]}", ["run", "case.yaml", "--timeout", "5s"], {"case.yaml": case(HONEST, CELS.format(json.dumps(expression)))}, codes={1}, seconds=60))
ATTACKS.append(Attack("an env file of eight million lines", ["run", "case.yaml", "--env-file", "big"], {"case.yaml": case(HONEST), "big": "A=1\n" * 8_000_000}, codes={2}, says=["50000"], seconds=40))
ATTACKS.append(Attack("a scenario of 50,000 servers", ["host", "s.yaml", "--scripted", "good"], {"s.yaml": SCENARIOS["1,000 servers"] .replace("servers:\n", "servers:\n" + "".join(f"  x{n}: {{offers: {{tools: [{{name: a}}]}}}}\n" for n in range(50_000)))}, codes={2}, says=["500"], seconds=60))

"""Class 13: a file that means more than it weighs is refused, with its place."""

import json
import os

from harness import Attack
from suites import PYTHON, SCRIPT, case, suite

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

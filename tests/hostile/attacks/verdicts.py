"""Class 3: no verdict that is not earned. Each is a failure under `--strict`, with evidence."""

import json

import behaviours
from harness import Attack
from suites import case, evil, over_http, subject, suite

STDIO = [
    "twice-is-error", "twice-result", "twice-id", "twice-text", "escaped-twice", "two-on-a-line", "trailing-junk",
    "two-replies", "error-and-result", "is-error-text", "is-error-number", "content-null", "content-object", "text-number",
    "version-one", "version-number", "nan", "single-quotes", "comment", "trailing-comma", "id-float",
    "id-list", "id-next", "id-last", "cut-line", "utf16", "latin1", "segfault-after", "segfault-at-end",
    "shell-segfault-at-end", "inexact-number",
]
HTTP = [
    "status-201", "status-202", "status-300", "status-400", "status-401", "status-403", "status-401-login", "status-402",
    "status-407", "status-418", "status-429", "status-451", "status-502", "status-599", "status-500-stream",
    "status-401-stream", "length-and-encoding", "kind-text", "kind-none", "kind-jsonp", "kind-twice", "kind-same-twice", "early-http", "reply-on-notification", "status-204", "status-304",
]
ATTACKS = [
    Attack(f"{name} passes no strict run", ["run", "case.yaml", "--strict"], {"case.yaml": case(evil(name), timeout="5s")}, codes={1})
    for name in STDIO
]
ATTACKS += [
    Attack(f"http {name} passes no strict run", ["run", "case.yaml", "--strict"], {"case.yaml": case(over_http(), timeout="5s")},
           http=name, codes={1})
    for name in HTTP
]
ATTACKS += [
    Attack(f"an integer of more than 64 bits in a suite, as {kind}", ["run", "case.yaml", "--strict"], {"case.yaml": case(evil("honest"), expect)}, codes={1, 2}, says=["18446744073709551617"])
    for kind, expect in [("a value", "{json_path: {$.n: 18446744073709551617}}"), ("a list", "{json_path: {$.n: [1, 18446744073709551617]}}")]
]
SIX = [f"{{name: t{number}, tool: echo, args: {{text: zebra}}, expect: {{contains: [zebra]}}}}" for number in range(8)]
ATTACKS += [
    Attack(f"http {name}: the sixth call of a session", ["run", "suite.yaml", "--isolation", "file"], {"suite.yaml": suite(over_http(), SIX)},
           http=name, codes={1}, says=["with a JSON-RPC result in its body"])
    for name in ["status-401-late", "status-403-late", "status-500-late"]
]
for name in ["status-401", "status-403", "status-400", "status-502"]:
    for command in (["audit", "--yes"], ["fuzz", "--yes", "--runs", "3"], ["negative", "--yes"], ["call", "echo", "text=zebra"],
                    ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "10"]):
        ATTACKS.append(
            Attack(f"http {name} against {command[0]}", [*command, "--timeout", "5s", "--url", "{url}"], http=name, codes={1, 2})
        )
for name in ["segfault-after", "segfault-at-end"]:
    ATTACKS.append(
        Attack(f"{name}: the next case of a shared server", ["run", "suite.yaml", "--strict", "--isolation", "file"],
               {"suite.yaml": suite(evil(name), SIX)}, codes={1}, says=["SIGSEGV"])
    )
    ATTACKS.append(Attack(f"{name} against audit", ["audit", "--yes", "--strict", *subject(name)], codes={1}, says=["SIGSEGV"]))

# A status that refuses a call is no proper refusal where the body may be a result, however it comes.
for shape in behaviours.REFUSAL_SHAPES:
    for status in (401, 403):
        name = f"shape-{shape}-{status}"
        for command in (["audit", "--yes"], ["fuzz", "--yes", "--runs", "3"], ["call", "echo", "text=zebra"]):
            # A fuzzed server that refuses everything properly is handled; one that may not have is a defect.
            ATTACKS.append(Attack(f"http {name} against {command[0]}", [*command, "--timeout", "6s", "--url", "{url}"], http=name, codes={1, 2}, seconds=90))

# Logs that no run wrote: what they say twice, or without a beginning, is not believed.
HEAD = {"event": "run_started", "format": 1, "program": "p", "started_unix_ms": 0, "total": 1, "jobs": 1}
START = {"event": "case_started", "index": 0, "name": "c", "file": "f.yaml", "line": 1, "trial": 1}
FAILED = {"event": "case_finished", "index": 0, "verdict": "failed", "findings": [{"rule": "x", "severity": "error", "message": "m"}], "duration_us": 1}
PASSED = {"event": "case_finished", "index": 0, "verdict": "passed", "duration_us": 1}
END = {"event": "run_finished", "duration_us": 1}
LOGS = {
    "two ends, the bad one first": [HEAD, START, FAILED, PASSED, END],
    "two ends, the good one first": [HEAD, START, PASSED, FAILED, END],
    "the same end twice": [HEAD, START, PASSED, PASSED, END],
    "an end of no case": [HEAD, START, PASSED, {**FAILED, "index": 1}, END],
    "an end of a case of the run before": [HEAD, START, FAILED, END, {**HEAD, "total": 0}, PASSED, END],
    "a case twice": [HEAD, START, FAILED, START, PASSED, END],
    "an end before the beginning": [HEAD, PASSED, START, PASSED, END],
}
for name, events in LOGS.items():
    log = "".join(json.dumps(event) + "\n" for event in events)
    for more in ([], ["--junit", "out/junit.xml"], ["--report", "out/run.json"]):
        ATTACKS.append(Attack(f"a log with {name}{' as ' + more[0] if more else ''}", ["report", "log.ndjson", *more], {"log.ndjson": log}, codes={1, 2, 4}))
# What cannot be judged, or asks for nothing, is no pass.
SAID = "result.content[0].text"
for matcher, codes, said in [
    ("{not: {cel: 'undefinedvar == 1'}}", {2}, "stands for nothing"), ("{not: {cel: 'value.nope.deep == 1'}}", {1}, "cannot be judged"), ("{not-cel: 'value.size() + 1'}", {1}, "other than true or false"),
    ("{not: {allOf: [{contains: zebra}, {cel: 'value.nope'}]}}", {1}, "cannot be judged"), ("{cel: 'siez(value) > 0'}", {2}, "did you mean `size`"), ("{schema: {typ: number}}", {2}, "did you mean `type`"),
]:
    ATTACKS.append(Attack(f"{matcher} is no pass", ["run", "case.yaml"], {"case.yaml": case(evil("honest"), f'[{{target: "{SAID}", matcher: {matcher}}}]')}, codes=codes, says=[said]))
for expect in ["{in_order: ['']}", "{contains: []}", "{matches_regex: []}", "{min_progress: 0}", f'[{{target: "{SAID}", matcher: {{length: {{gte: 0}}}}}}]', f'[{{target: "{SAID}", matcher: {{cel: "true"}}}}]',
               f'[{{target: "{SAID}", matcher: {{schema: {{title: x}}}}}}]']:
    ATTACKS.append(Attack(f"lint finds {expect}", ["lint", "case.yaml"], {"case.yaml": case(evil("honest"), expect)}, codes={1}, says=["warning"]))

"""Class 9: every number of every file is checked with its place; hooks end with the run; too few descriptors are named."""

import os
import signal
import subprocess
import time

from harness import Attack
from suites import PYTHON, SCRIPT, case, scenario, subject, suite

HONEST = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "honest"]}}'
TEST = "{name: a, tool: echo, args: {text: zebra}, expect: {contains: [zebra]}}"
VALUES = ["9223372036854775807", "18446744073709551616", "-1", "1e308", ".inf", ".nan", "0", "4294967296"]
PLACES = {
    "parallel": "parallel: %s\n" + suite(HONEST, [TEST]),
    "timeout of a case": case(HONEST, timeout="%s"),
    "timeout in hours": case(HONEST, timeout="%sh"),
    "timeout of a server": suite(HONEST[:-1] + ", timeout: %s}", [TEST]),
    "retries": case(HONEST).replace("  expect:", "  retry: {times: %s}\n  expect:"),
    "max_results": case(HONEST, "{min_results: %s, max_results: %s}"),
    "trials": "trials: %s\n" + suite(HONEST, [TEST]),
    "delay": case(HONEST).replace("  expect:", "  cancel_after: %s\n  expect:"),
    "oversized": case(HONEST).replace("{text: zebra}", "{text: {oversized: %s}}"),
    "max latency": case(HONEST, "{max_latency_ms: %s}"),
    "port of a URL": case("{url: 'http://127.0.0.1:%s/mcp', transport: http}", timeout="3s"),
    "weights": "performance: {weights: {a: %s}, gates: ['p95 < %sms']}\n" + suite(HONEST, [TEST]),
    "fuzz runs": suite(HONEST, [TEST[:-1] + ", fuzz: {runs: %s}}"]),
    "a JSON path index": case(HONEST, "{json_path: {'$.content[%s].text': zebra}}"),
}


def interrupted_after(seconds):
    """Waits for the end, and interrupts what serves for ever."""

    def drive(process, place):
        process.stdin.close()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)

    return drive


ATTACKS = []
AGENT = (
    "providers: {local: {base_url: '{url}/v1'}}\nservers: {s: %s}\nagents:\n  - {name: a, model: {provider: local, id: m}, prompt: hi, time_budget: 10s, expect: {contains: [hi]}}\n" % HONEST
)
for word in ["asks-to-wait", "asks-to-wait-long", "model-counts"]:
    for words in (["run", "agent.yaml"], ["run", "agent.yaml", "--record"]):
        ATTACKS.append(Attack(f"a provider that {word} against {' '.join(words)}", words, {"agent.yaml": AGENT}, http=word, codes={0, 1, 2}, seconds=40))
for number, (name, text) in enumerate(PLACES.items()):
    for at, value in enumerate(VALUES):
        if (number + at) % 2 == 0:
            ATTACKS.append(
                Attack(f"{name} is {value}", ["run", "case.yaml", "--timeout", "10s"], {"case.yaml": text.replace("%s", value)}, seconds=40)
            )
for name, argv in {
    "--jobs": ["run", "case.yaml", "--jobs"], "--trials": ["run", "case.yaml", "--trials"], "--timeout": ["run", "case.yaml", "--timeout"],
    "--runs": ["fuzz", "--yes", "--server", "{evil} honest", "--runs"], "--calls": ["bench", "case.yaml", "--calls"],
    "--clients": ["bench", "case.yaml", "--duration", "1s", "--clients"], "--rate": ["bench", "case.yaml", "--duration", "1s", "--rate"],
    "--shard": ["run", "case.yaml", "--shard"], "--limit": ["run", "case.yaml", "--limit"], "--seed": ["fuzz", "--yes", "--runs", "2", "--server", "{evil} honest", "--seed"],
    "--in-flight": ["bench", "case.yaml", "--calls", "5", "--in-flight"], "--check-every": ["bench", "case.yaml", "--calls", "5", "--check-every"],
}.items():
    for value in ["9223372036854775807", "-1", "1e308", "0", "99999999999999999999999"]:
        if name == "--calls" and value == "9223372036854775807":
            continue  # A load that is asked for so many calls makes them.
        given = {"--limit": f"message={value}", "--shard": f"{value}/{value}"}.get(name, value)
        ATTACKS.append(Attack(f"{name} {given}", [*argv[:-1], f"{argv[-1]}={given}"], {"case.yaml": case(HONEST)}, seconds=40))
for limit in [5, 6, 7, 8, 10, 12, 14, 16, 20, 24]:
    for command in ("run case.yaml", "audit --yes --server '{evil} honest'", "bench case.yaml --calls 5"):
        ATTACKS.append(
            Attack(f"{limit} descriptors for {command.split()[0]}", [], {"case.yaml": case(HONEST)},
                   shell=f"ulimit -n {limit}; exec \"$0\" {command}", codes={0, 1, 2}, seconds=30)
        )


def interrupted(sig, after="sleep"):
    def drive(process, place):
        for _ in range(400):
            if any(after in line for line in __import__("harness").processes_in(place.home)):
                break
            time.sleep(0.02)
        os.kill(process.pid, sig)

    return drive


for when, hook in [("beforeAll", "beforeAll"), ("afterAll", "afterAll"), ("beforeEach", "beforeEach"), ("afterEach", "afterEach")]:
    for sig in (signal.SIGINT, signal.SIGTERM):
        ATTACKS.append(
            Attack(f"{sig.name} in a hanging {when}", ["run", "suite.yaml"],
                   {"suite.yaml": suite(HONEST, [TEST], f"hooks: {{{hook}: sh -c 'trap \"\" TERM INT; sleep 50; sleep 50'}}\n")},
                   drive=interrupted(sig), codes={130, 2}, seconds=12)
        )
# Numbers of commands and files that came later.
HUGE = ["9223372036854775807", "18446744073709551616", "-1", "1e308", "0", "0.0000001", "nan"]
OPTIONS = {
    "fuzz --stateful --runs": ["fuzz", "--stateful", "--yes", "--time", "3s", *subject("honest"), "--runs"],
    "fuzz --time": ["fuzz", "--yes", "--runs", "2", *subject("honest"), "--time"],
    "fuzz --stateful --seed": ["fuzz", "--stateful", "--yes", "--runs", "10", *subject("honest"), "--seed"],
    "diff --seed": ["diff", "{evil} honest", "{evil} honest", "--seed"],
    "diff --trials": ["diff", "{evil} honest", "{evil} honest", "--dry-run", "--trials"],
    "diff --timeout": ["diff", "{evil} honest", "{evil} honest", "--timeout"],
    "lock --timeout": ["lock", *subject("honest"), "--timeout"],
    "host --timeout": ["host", "s.yaml", "--scripted", "good", "--timeout"],
    "host --trials": ["host", "s.yaml", "--scripted", "good", "--dry-run", "--trials"],
    "ui --port": ["ui", "--no-open", "--port"],
    "login --redirect-port": ["login", "http://127.0.0.1:9/", "--no-browser", "--redirect-port"],
    "agents --k": ["agents", "compare", "log", "log", "--k"],
    "agents --alpha": ["agents", "compare", "log", "log", "--alpha"],
    "bench --ramp": ["bench", "case.yaml", "--ramp"],
    "bench --warm-up": ["bench", "case.yaml", "--calls", "3", "--warm-up"],
    "bench --session-per": ["bench", "case.yaml", "--calls", "3", "--session-per"],
    "bench --start-at": ["bench", "case.yaml", "--calls", "3", "--start-at"],
    "bench --pid": ["bench", "case.yaml", "--calls", "3", "--pid"],
    "bench --gate": ["bench", "case.yaml", "--calls", "3", "--gate"],
    "mock --http": ["mock", "--tools-from", "m.yaml", "--http"],
    "intercept --timeout": ["intercept", *subject("honest"), "--timeout"],
    "conformance --timeout": ["conformance", *subject("silent-and-gone"), "--timeout"],
    "ci --threshold": ["ci", "case.yaml", "--threshold"],
}
FILES = {"case.yaml": case(HONEST), "s.yaml": scenario(), "log": "", "m.yaml": "tools: [{name: a}]\n"}
for number, (name, argv) in enumerate(OPTIONS.items()):
    for at, value in enumerate(HUGE):
        if (number + at) % 3 == 0:
            given = {"bench --ramp": f"{value}@{value}s,..{value}@1s", "bench --gate": f"p95 < {value}ms", "mock --http": f"127.0.0.1:{value}"}.get(name, value)
            if "time" in name or name == "bench --warm-up":
                given = f"{value}s" if at % 2 else f"{value}h"
            if name in ("bench --warm-up", "bench --start-at", "mock --http", "ui --port", "bench --ramp") and at < 1:
                given = given.replace("9223372036854775807", "92233720368547758070")
            ATTACKS.append(Attack(f"{name} {given}", [*argv[:-1], f"{argv[-1]}={given}"], dict(FILES), seconds=20, drive=interrupted_after(8), codes={0, 1, 2, 4, 130}))
KEYS = {
    "seed": scenario(more="seed: %s\n"), "timeout": scenario(timeout="%s"), "timeout in hours": scenario(timeout="%sh"),
    "detected": scenario().replace("allow_unhit", "detected: %sh, allow_unhit"), "retries": scenario().replace("allow_unhit", "retries: %s, allow_unhit"),
    "rate": scenario().replace("allow_unhit", "rate: %s, allow_unhit"), "after": scenario(more="scripted: {calls: [{tool: search, after: %ss}]}\n"),
    "slow": scenario(faults="search=slow:%s"), "oversized": scenario(faults="search=oversized:%s"), "notification-flood": scenario(faults="search=notification-flood:%s"),
    "rate-limit": scenario(faults="search=rate-limit:%s"), "flaky": scenario(faults="search=flaky:%s"),
}
for number, (name, text) in enumerate(KEYS.items()):
    for at, value in enumerate(HUGE):
        if (number + at) % 3 == 0:
            ATTACKS.append(Attack(f"{name} of a scenario is {value}", ["host", "s.yaml", "--scripted", "good"], {"s.yaml": text.replace("%s", value)}, seconds=40))
for limit in [5, 6, 7, 8, 10, 12, 16, 24]:
    for command in ("diff '{evil} honest' '{evil} honest'", "host s.yaml --scripted good", "lock --server '{evil} honest'", "ui --no-open", "mcp"):
        ATTACKS.append(Attack(f"{limit} descriptors for {command.split()[0]}", [], dict(FILES), shell=f'ulimit -n {limit}; exec "$0" {command}',
                              drive=interrupted_after(6), codes={0, 1, 2, 130}, seconds=30))
# A limit on the size of files: what cannot be written is an error, and the other reports are there.
for blocks in [0, 1, 16]:
    for name, command in {
        "run": "run case.yaml --html out/run.html --tap out/run.tap", "run --events": "run case.yaml --events out/log.ndjson --tap out/run.tap", "lock": "lock --server '{evil} honest'",
        "generate": "generate --output out/evals --server '{evil} honest'", "report": "report log --html out/run.html", "schema-lint": "schema-lint --all --server '{evil} honest' --sarif out/lint.sarif",
    }.items():
        ATTACKS.append(Attack(f"files of at most {blocks} blocks for {name}", [], dict(FILES), shell=f'ulimit -f {blocks}; exec "$0" {command}', codes={0, 1, 2}, seconds=40))
ATTACKS.append(Attack("a report that may not be so large is named, and the others are written", [], {"case.yaml": case(HONEST)}, shell='ulimit -f 16; exec "$0" run case.yaml --html out/run.html --tap out/run.tap', codes={2},
                      says=["run.html", "File too large"], check=lambda place, out, err, code: [] if (place.home / "out/run.tap").exists() else ["the other report is missing"], seconds=40))

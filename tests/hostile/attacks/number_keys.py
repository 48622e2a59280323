"""Class 9: every number of every file is checked with its place; hooks end with the run; too few descriptors are named."""

import os
import signal
import time

from harness import Attack
from suites import PYTHON, SCRIPT, case, suite

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
ATTACKS = []
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

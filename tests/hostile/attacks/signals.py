"""Class 12: one signal ends a run that waits, two end everything; an answer that was in time is one."""

import os
import signal
import time

import harness
from harness import Attack
from suites import PYTHON, SCRIPT, as_agent, case, client, driven, scenario, subject, suite

HANGS = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "hangs"]}}'
TEST = "{name: a, tool: echo, args: {text: zebra}, expect: {contains: [zebra]}}"


def started(process, place):
    for _ in range(100):
        if any("evil.py" in line or "sleep" in line or "clients.py" in line for line in harness.processes_in(place.home)):
            time.sleep(0.4)
            return
        if process.poll() is not None:
            return
        time.sleep(0.02)


def sending(*signals, apart=0.3):
    def drive(process, place):
        started(process, place)
        for sig in signals:
            try:
                os.kill(process.pid, sig)
            except OSError:
                return
            time.sleep(apart)

    return drive


BLOCKED = {
    "a call of run": (["run", "case.yaml"], {"case.yaml": case(HANGS, timeout="5m")}),
    "six cases of run": (["run", "suite.yaml", "--timeout", "5m"], {"suite.yaml": suite(HANGS, [TEST.replace("name: a", f"name: a{n}") for n in range(6)])}),
    "a call of matrix": (["matrix", "case.yaml", "--protocol", "all"], {"case.yaml": case(HANGS, timeout="5m")}),
    "a call of snapshot": (["snapshot", "case.yaml", "--update"], {"case.yaml": case(HANGS, timeout="5m")}),
    "a call of audit": (["audit", "--yes", "--timeout", "5m", *subject("hangs")], {}),
    "a call of negative": (["negative", "--yes", "--timeout", "5m", *subject("hangs")], {}),
    "a call of fuzz": (["fuzz", "--yes", "--timeout", "5m", *subject("hangs")], {}),
    "a call of bench": (["bench", "--tool", "echo", "--args", '{"text":"a"}', "--timeout", "5m", *subject("hangs")], {}),
    "a load of bench": (["bench", "--tool", "echo", "--args", '{"text":"a"}', "--duration", "10m", *subject("honest")], {}),
    "a search of bench": (["bench", "--tool", "echo", "--args", '{"text":"a"}', "--find-limit", *subject("honest")], {}),
    "a call of call": (["call", "echo", "text=a", "--timeout", "5m", *subject("hangs")], {}),
    "a list": (["list", "--timeout", "5m", *subject("hangs-at-list")], {}),
    "doctor": (["doctor", "--timeout", "5m", *subject("hangs-at-start")], {}),
    "conformance": (["conformance", "--timeout", "5m", *subject("hangs")], {}),
    "schema-lint": (["schema-lint", "--all", *subject("hangs-at-list")], {}),
    "generate": (["generate", "--output", "out/evals", "--timeout", "5m", *subject("hangs-at-list")], {}),
    "coverage": (["coverage", "case.yaml", "--timeout", "5m"], {"case.yaml": case(HANGS.replace("hangs", "hangs-at-list"), timeout="5m")}),
    "watch": (["watch", "case.yaml"], {"case.yaml": case(HANGS, timeout="5m")}),
}
ATTACKS = []
for name, (argv, files) in BLOCKED.items():
    ATTACKS.append(Attack(f"SIGINT in {name}", argv, files, drive=sending(signal.SIGINT), codes={130} | ({0} if name == "watch" else set()), seconds=14))
for number, (name, (argv, files)) in enumerate(BLOCKED.items()):
    sig = [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT][number % 3]
    ATTACKS.append(Attack(f"{sig.name} in {name}", argv, files, drive=sending(sig), codes={130, 0, -3, 131, -15, -1, 143, 129}, seconds=14))
    ATTACKS.append(Attack(f"SIGINT twice in {name}", argv, files, drive=sending(signal.SIGINT, signal.SIGINT, apart=0.05), codes={130, 0, -2}, seconds=8))


def stopped(process, place):
    """Stops the program while the answer comes, and lets it go on after its deadline."""
    for _ in range(500):
        if (place.home / "called").exists() or process.poll() is not None:
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(5)
    os.kill(process.pid, signal.SIGCONT)


SLOW = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "answers-after-a-second"]}}'
ATTACKS += [
    Attack("an answer that came while the program was stopped", ["run", "case.yaml"], {"case.yaml": case(SLOW, timeout="3s")}, drive=stopped, codes={0}, seconds=30),
    Attack("an answer to call that came while the program was stopped", ["call", "echo", "text=a", "--timeout", "3s", *subject("answers-after-a-second")], drive=stopped, codes={0}, seconds=30),
]
# Commands that came later.
LATER = {
    "diff": (["diff", "{evil} hangs", "{evil} honest", "--timeout", "5m"], {}),
    "the list of diff": (["diff", "{evil} hangs-at-list", "{evil} hangs-at-start", "--timeout", "5m"], {}),
    "lock": (["lock", "--timeout", "5m", *subject("hangs-at-list")], {}),
    "fuzz --stateful": (["fuzz", "--stateful", "--yes", "--timeout", "5m", *subject("hangs")], {}),
    "a long fuzz --stateful": (["fuzz", "--stateful", "--yes", "--runs", "10000", *subject("honest")], {}),
    "fuzz --propose": (["fuzz", "--propose", "--yes", "--timeout", "5m", *subject("hangs-at-list")], {}),
    "host": (["host", "s.yaml", *client("deaf")], {"s.yaml": scenario(timeout="5m")}),
    "host with processes": (["host", "s.yaml", *client("forks")], {"s.yaml": scenario(timeout="5m")}),
    "host over http": (["host", "s.yaml", *client("deaf", "http")], {"s.yaml": scenario("http", timeout="5m")}),
    "bench of sessions": (["bench", "--tool", "echo", "--args", '{"text":"a"}', "--duration", "10m", "--clients", "4", "--session-per", "call", *subject("honest")], {}),
    "a bench that hangs": (["bench", "--tool", "echo", "--args", '{"text":"a"}', "--rate", "50/s", "--duration", "10m", *subject("hangs")], {}),
    "mock": (["mock", "--tools-from", "m.yaml"], {"m.yaml": "tools: [{name: a}]\n"}),
    "intercept": (["intercept", "--events", "out/log.ndjson", *subject("hangs-at-start")], {}),
    "drive": (["drive"], {}),
    "mcp": (["mcp"], {}),
    "mcp over http": (["mcp", "--http", "127.0.0.1:0"], {}),
    "ui": (["ui", "--no-open", *subject("hangs")], {}),
    "prompt": (["prompt", "p", "--timeout", "5m", *subject("hangs-at-start")], {}),
    "complete": (["complete", "p", "a=b", "--timeout", "5m", *subject("hangs-at-start")], {}),
    "agents": (["run", "agent.yaml", "--timeout", "5m"], {"agent.yaml": f"servers: {{s: {HANGS}}}\nagents:\n  - {{name: a, model: script, prompt: hi, script: [{{call: {{tool: echo, args: {{text: a}}}}}}, {{say: hi}}], expect: {{contains: [hi]}}}}\n"}),
}
ENDED = {0, 130, 131, 143, 129, -2, -15, -1, -3}
for number, (name, (argv, files)) in enumerate(LATER.items()):
    for sig in (signal.SIGINT, [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT][number % 3]):
        ATTACKS.append(Attack(f"{sig.name} in {name}", argv, files, drive=sending(sig), codes=ENDED, seconds=14))
    ATTACKS.append(Attack(f"SIGINT twice in {name}", argv, files, drive=sending(signal.SIGINT, signal.SIGINT, apart=0.05), codes=ENDED, seconds=8))
    ATTACKS.append(Attack(f"SIGKILL in {name}", argv, files, drive=sending(signal.SIGKILL), codes={-9, 0}, seconds=14))


def busy(*talk, sig):
    """Kills the program while it works on a request."""

    def drive(process, place):
        import threading

        asking = threading.Thread(target=lambda: quietly(talk[0], process, place), daemon=True)
        asking.start()
        started(process, place)
        time.sleep(0.5)
        os.kill(process.pid, sig)

    return drive


def quietly(talk, process, place):
    try:
        talk(process, place)
    except Exception:  # noqa: BLE001 - it is killed on purpose
        pass


for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    ATTACKS += [
        Attack(f"{sig.name} while drive waits for a call", ["drive"], drive=busy(driven("{evil} hangs", ("call", {"tool": "echo", "args": {"text": "a"}})), sig=sig), codes=ENDED | {-9}, seconds=14, raw_output=True),
        Attack(f"{sig.name} while drive runs a suite", ["drive"], {"case.yaml": case(HANGS, timeout="5m")}, codes=ENDED | {-9}, seconds=14,
               drive=busy(harness.talking({"id": 1, "method": "run", "params": {"args": ["case.yaml"]}}), sig=sig)),
        Attack(f"{sig.name} while mcp calls a tool", ["mcp", "--add-server", "s={evil} hangs"], drive=busy(as_agent(("call_tool", {"server": "s", "tool": "echo", "arguments": {"text": "a"}})), sig=sig), codes=ENDED | {-9}, seconds=14),
        Attack(f"{sig.name} while mcp audits", ["mcp", "--add-server", "s={evil} hangs"], drive=busy(as_agent(("audit", {"server": "s"})), sig=sig), codes=ENDED | {-9}, seconds=14),
    ]


def leaves(*talk):
    """Closes the input of the program while it works on a request."""

    def drive(process, place):
        import threading

        threading.Thread(target=lambda: quietly(talk[0], process, place), daemon=True).start()
        started(process, place)
        time.sleep(0.5)
        process.stdin.close()

    return drive


ATTACKS += [
    Attack("an agent that goes away while mcp audits", ["mcp", "--add-server", "s={evil} hangs"], drive=leaves(as_agent(("audit", {"server": "s"}))), codes={0}, seconds=14),
    Attack("an agent that goes away while mcp calls a tool", ["mcp", "--add-server", "s={evil} hangs"], drive=leaves(as_agent(("call_tool", {"server": "s", "tool": "echo", "arguments": {"text": "a"}}))), codes={0}, seconds=14),
    Attack("SIGINT in login", ["login", "{url}", "--no-browser", "--timeout", "5m"], http="login_good", drive=lambda process, place: (time.sleep(1.5), os.kill(process.pid, signal.SIGINT)), env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={130}, seconds=10),
    Attack("SIGTERM in login", ["login", "{url}", "--no-browser", "--timeout", "5m"], http="login_good", drive=lambda process, place: (time.sleep(1.5), os.kill(process.pid, signal.SIGTERM)), env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={130, 143, -15}, seconds=10),
    Attack("SIGINT in a login whose server says nothing", ["login", "{url}", "--no-browser", "--timeout", "5m"], http="login_silent", drive=lambda process, place: (time.sleep(1.5), os.kill(process.pid, signal.SIGINT)), env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={130}, seconds=10),
    Attack("a login whose server says nothing ends in time", ["login", "{url}", "--no-browser", "--timeout", "4s"], http="login_silent", env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={2}, seconds=20),
    Attack("a login whose server drips ends in time", ["login", "{url}", "--no-browser", "--timeout", "4s"], http="login_drips", env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={2}, seconds=20),
    Attack("a login that nobody goes through ends in time", ["login", "{url}", "--no-browser", "--timeout", "3s"], http="login_good", env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={2}, seconds=12),
]

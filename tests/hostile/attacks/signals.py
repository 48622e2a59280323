"""Class 12: one signal ends a run that waits, two end everything; an answer that was in time is one."""

import os
import signal
import time

import harness
from harness import Attack
from suites import PYTHON, SCRIPT, case, subject, suite

HANGS = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "hangs"]}}'
TEST = "{name: a, tool: echo, args: {text: zebra}, expect: {contains: [zebra]}}"


def started(process, place):
    for _ in range(500):
        if any("evil.py" in line or "sleep" in line for line in harness.processes_in(place.home)):
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
    started(process, place)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(5)
    os.kill(process.pid, signal.SIGCONT)


SLOW = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "answers-after-a-second"]}}'
ATTACKS += [
    Attack("an answer that came while the program was stopped", ["run", "case.yaml"], {"case.yaml": case(SLOW, timeout="3s")}, drive=stopped, codes={0}, seconds=30),
    Attack("an answer to call that came while the program was stopped", ["call", "echo", "text=a", "--timeout", "3s", *subject("answers-after-a-second")], drive=stopped, codes={0}, seconds=30),
]

"""Class 2: schemas that cost more than they weigh, against every command that looks into schemas."""

import behaviours
from harness import Attack, all_reports
from suites import as_agent, case, driven, evil, subject

SCANS = {
    "schema-lint": ["schema-lint", "--all"],
    "audit": ["audit", "--yes", "--timeout", "10s"],
    "negative": ["negative", "--yes", "--timeout", "10s"],
    "fuzz": ["fuzz", "--yes", "--runs", "5", "--timeout", "10s"],
    "generate": ["generate", "--output", "out/evals", "--timeout", "10s"],
    "list": ["list", "--timeout", "10s"],
    "call": ["call", "echo", "text=zebra", "--timeout", "10s"],
    "bench": ["bench", "--tool", "echo", "--calls", "10", "--timeout", "10s"],
    "init": ["init", "out/evals", "--no-workflow", "--timeout", "10s"],
}
ATTACKS = []
for number, bomb in enumerate(behaviours.BOMBS):
    # Every bomb meets three commands, so that each command meets a third of them.
    for at, (name, command) in enumerate(SCANS.items()):
        if (number + at) % 3 == 0:
            ATTACKS.append(Attack(f"{bomb} as input schema against {name}", [*command, *subject("input-bomb", bomb)], seconds=90))
for bomb in behaviours.BOMBS:
    ATTACKS.append(
        Attack(f"{bomb} as output schema against run", ["run", "case.yaml", "--strict", *all_reports()],
               {"case.yaml": case(evil("output-bomb", bomb))}, seconds=90)
    )
RESULTS = [name for name in vars(behaviours) if name.startswith("result_of_")]
for name in RESULTS:
    word = name.replace("_", "-")
    ATTACKS.append(Attack(f"{word} against run, all reports", ["run", "case.yaml", *all_reports()], {"case.yaml": case(evil(word), "{not_error: true}", timeout="10s")}, seconds=60))
    ATTACKS.append(Attack(f"{word} against call", ["call", "echo", "text=zebra", "--timeout", "10s", *subject(word)], seconds=60, output=64 << 20))
    ATTACKS.append(Attack(f"{word} against audit", ["audit", "--yes", "--timeout", "10s", *subject(word)], seconds=60))
    ATTACKS.append(Attack(f"{word} against conformance", ["conformance", "--timeout", "5s", *subject(word)], seconds=120))
# Commands that came later. Every bomb meets two of them.
LATER = {
    "lock": ["lock", "--timeout", "10s"],
    "lock as JSON": ["lock", "--json", "--timeout", "10s"],
    "diff": ["diff", "{evil} input-bomb {bomb}", "{evil} input-bomb {bomb}", "--timeout", "10s"],
    "diff of two offers": ["diff", "{evil} honest", "{evil} input-bomb {bomb}", "--timeout", "10s"],
    "fuzz --stateful": ["fuzz", "--stateful", "--yes", "--runs", "40", "--timeout", "10s", "--time", "20s"],
    "fuzz --propose": ["fuzz", "--propose", "--yes", "--timeout", "10s"],
    "snapshot --catalog": ["snapshot", "case.yaml", "--catalog", "--update", "--timeout", "10s"],
    "coverage": ["coverage", "case.yaml", "--timeout", "10s"],
    "conformance": ["conformance", "--timeout", "10s"],
    "doctor": ["doctor", "--timeout", "10s"],
    "list --schema": ["list", "--schema", "echo", "--timeout", "10s"],
}
for number, bomb in enumerate(behaviours.BOMBS):
    for at, (name, words) in enumerate(LATER.items()):
        if (number + at) % 5 == 0:
            argv = [word.replace("{bomb}", bomb) for word in words]
            files = {"case.yaml": case(evil("input-bomb", bomb))}
            against = [] if name.startswith(("diff", "snapshot")) else subject("input-bomb", bomb)
            shown = {"output": 128 << 20, "raw_output": True} if name in ("lock as JSON", "list --schema") else {}
            ATTACKS.append(Attack(f"{bomb} as input schema against {name}", [*argv, *against], files, seconds=90, report=64 << 20, **shown))
for result in ["result-of-many-errors", "result-of-any-of", "result-of-enum", "result-of-names", "result-of-json"]:
    for protocol in ([], ["--protocol", "2025-11-25"]):
        ATTACKS.append(Attack(f"{result} against conformance{' of one revision' if protocol else ''}, later", ["conformance", "--timeout", "10s", *protocol, *subject(result)], seconds=240))
for bomb in behaviours.BOMBS[::4]:
    ATTACKS.append(Attack(f"{bomb} against inspect_server, propose_tests and audit of mcp", ["mcp", "--add-server", f"s={{evil}} input-bomb {bomb}"],
                          drive=as_agent(*[(tool, {"server": "s"}) for tool in ("inspect_server", "propose_tests", "audit")]), seconds=150))
    ATTACKS.append(Attack(f"{bomb} against list and call of drive", ["drive"], seconds=90, output=256 << 20, raw_output=True,
                          drive=driven(f"{{evil}} output-bomb {bomb}", ("list", {}), ("call", {"tool": "echo", "args": {"text": "a"}, "expect": {"not_error": True}}))))
    ATTACKS.append(Attack(f"{bomb} is locked, and the lock is compared", [], {}, seconds=90,
                          shell=f'"$0" lock --server "{{evil}} input-bomb {bomb}" --timeout 10s && "$0" lock --check --server "{{evil}} honest" --timeout 10s', report=64 << 20))
    ATTACKS.append(Attack(f"{bomb} in a form that a server asks for", ["call", "echo", "text=a", "--answers", "a.yaml", "--timeout", "10s", *subject("form-bomb", bomb)],
                          {"a.yaml": "elicitation: {action: accept, content: {text: a}}\n"}, seconds=60))

"""Class 2: schemas that cost more than they weigh, against every command that looks into schemas."""

import behaviours
from harness import Attack, all_reports
from suites import case, evil, subject

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

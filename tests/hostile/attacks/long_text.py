"""Class 6: every text has a bound where it is shown."""

from harness import Attack, all_reports
from suites import case, evil, subject

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
    ATTACKS.append(Attack(f"{where} of 20 MB against {' '.join(command)}", [*command, "--timeout", "20s", *subject("long-text", where)] if command[0] not in ("schema-lint",) else [*command, *subject("long-text", where)], seconds=120))
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

"""Class 5: text of a server acts on no terminal, build server, page or shell."""

import re
import xml.dom.minidom

import behaviours
from harness import Attack, all_reports
from suites import case, evil, over_http, subject


def harmless(place, stdout, stderr, code):
    """Reports are what their formats say, and nothing was run."""
    wrong = []
    if (place.home / "owned").exists():
        wrong.append("a command was run")
    for name in ("junit.xml", "lines.xml"):
        path = place.home / "out" / name
        if path.exists():
            xml.dom.minidom.parse(str(path))
    page = place.home / "out/run.html"
    if page.exists():
        outside = re.sub(r"<script[^>]*>.*?</script>", "", page.read_text(), flags=re.S)
        if re.search(r"<(script|img|svg/)|onerror=alert|onload=alert", outside):
            wrong.append("run.html has markup of the server")
        if "<script>alert" in page.read_text():
            wrong.append("run.html has a script of the server")
    tap = place.home / "out/run.tap"
    if tap.exists() and len([line for line in tap.read_text().splitlines() if re.match(r"(not )?ok|Bail out|1\.\.", line)]) != 2:
        wrong.append(f"run.tap has forged lines: {tap.read_text()[:500]!r}")
    return wrong


ATTACKS = []
for kind in behaviours.ACTING:
    ATTACKS.append(
        Attack(f"{kind} against run, all reports", ["run", "case.yaml", *all_reports(), "--events", "out/log.ndjson", "-v"],
               {"case.yaml": case(evil("acting", kind), "{contains: [nothing]}")}, check=harmless)
    )
COMMANDS = [
    ["audit", "--yes", "-v"],
    ["audit", "--yes", "--json"],
    ["audit", "--yes", "--output", "out/evals"],
    ["negative", "--yes", "--checks", "unknown_tool,missing_required"],
    ["fuzz", "--yes", "--runs", "3", "--save", "out/kept"],
    ["generate", "--output", "out/evals"],
    ["init", "out/evals", "--no-workflow"],
    ["doctor"],
    ["doctor", "--json"],
    ["schema-lint", "--all"],
    ["list"],
    ["list", "--json"],
    ["call", "echo", "text=a"],
    ["call", "echo", "text=a", "-v"],
    ["call", "echo", "text=a", "--json"],
    ["call", "echo", "text=a", "--save", "out/saved.yaml"],
    ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "5", "--html", "out/run.html"],
    ["conformance", "--timeout", "5s"],
]
KINDS = list(behaviours.ACTING)
for number, command in enumerate(COMMANDS):
    # Every command meets four kinds, and every kind some commands.
    for step in range(4):
        kind = KINDS[(number * 5 + step * 3) % len(KINDS)]
        ATTACKS.append(Attack(f"{kind} against {' '.join(command)}", [*command, *subject("acting", kind)], check=harmless, seconds=90))
for kind in ["ansi", "github", "azure", "bidi", "tags", "soft-hyphen", "carriage"]:
    ATTACKS.append(Attack(f"{kind} in an error, with annotations", ["run", "case.yaml", *all_reports()],
                          {"case.yaml": case(evil("acting-error", kind))}, check=harmless, codes={1}))
    ATTACKS.append(Attack(f"{kind} in standard error of a server that died", ["run", "case.yaml", *all_reports()],
                          {"case.yaml": case(evil("acting-exit", kind))}, check=harmless, codes={1}))
    ATTACKS.append(
        Attack(f"{kind} in the name of a suite file and its snapshot", ["snapshot", ".", "--update"], {},
               prepare=lambda place, kind=kind: (place.home / (behaviours.ACTING[kind].replace("/", "_").replace("\x00", "")[:60] + ".yaml")).write_text(case(evil("two-megabytes").replace("two-megabytes", "secret-plain")), errors="surrogateescape"))
    )
    ATTACKS.append(
        Attack(f"{kind} in a suite that does not load", ["validate", "case.yaml"],
               {"case.yaml": lambda kind=kind: (case("{command: x}") + '"' + behaviours.ACTING[kind].encode("unicode_escape").decode().replace('"', "") + '": 1\n').encode()})
    )
ATTACKS.append(Attack("http heads that act", ["run", "case.yaml", *all_reports()], {"case.yaml": case(over_http())}, http="acting-http"))
LOG = (
    '{"event":"run_started","version":1,"program":"mcprove","started_unix_ms":0,"total":1,"jobs":1,"strict":false,'
    '"again":["run","x.yaml; touch owned","--server","sh -c \'touch owned\'"]}\n'
)
ATTACKS += [
    Attack("a log that names a command", ["report", "log.ndjson"], {"log.ndjson": LOG}, says_not=["touch owned"], check=harmless),
    Attack("a log of nothing but escapes", ["report", "log.ndjson"], {"log.ndjson": b"\x1b[2J::error::x\n" * 50}),
    Attack("a log whose keys act", ["report", "log.ndjson"], {"log.ndjson": '{"\x1b[31m::error::":1,"event":"\u202ex"}\n'}),
]

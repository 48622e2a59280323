"""Class 1: whatever is sent, peak memory stays below 512 MB, and all reports are written."""

from harness import REPORTS, Attack, all_reports
from suites import case, evil, over_http, subject, suite

FLOODS = [
    "notification-flood", "request-flood", "ping-flood", "init-flood", "list-flood", "progress-flood", "growing-zeros",
    "growing-arrays", "growing-keys", "growing-blocks", "growing-notifications", "stderr-flood", "stdout-flood",
    "stdout-endless", "half-messages", "image", "image-and-audio", "huge-instructions", "huge-server-name",
    "huge-capabilities", "list-changed-storm", "elicitation-storm", "batch-of-many",
]


def reports_written(place, stdout, stderr, code):
    return [f"{path} was not written" for path in REPORTS.values() if not (place.home / path).exists()]


ATTACKS = [
    Attack(f"{flood} against run, all reports", ["run", "case.yaml", *all_reports(), "--events", "out/log.ndjson"],
           {"case.yaml": case(evil(flood))}, seconds=120, check=reports_written)
    for flood in FLOODS
]
for flood, command in [
    ("notification-flood", ["call", "echo", "text=zebra"]),
    ("growing-zeros", ["call", "echo", "text=zebra", "--json"]),
    ("notification-flood", ["audit", "--yes", "--timeout", "20s"]),
    ("growing-keys", ["audit", "--yes", "--timeout", "20s", "--output", "out/evals"]),
    ("request-flood", ["negative", "--yes", "--timeout", "20s", "--checks", "unknown_tool,missing_required"]),
    ("growing-arrays", ["fuzz", "--yes", "--runs", "5", "--timeout", "20s", "--save", "out/kept"]),
    ("growing-blocks", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "10", "--timeout", "20s"]),
    ("ten-megabytes", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "100", "--clients", "4", "--timeout", "20s"]),
    ("notification-flood", ["bench", "--tool", "echo", "--args", '{"text":"x"}', "--calls", "4", "--timeout", "20s"]),
    ("init-flood", ["doctor", "--timeout", "20s"]),
    ("list-flood", ["list", "--timeout", "20s"]),
    ("big-pages", ["list", "--timeout", "30s"]),
    ("big-pages", ["list", "--json", "--timeout", "30s"]),
    ("big-pages", ["generate", "--output", "out/evals", "--timeout", "30s"]),
    ("big-pages", ["schema-lint", "--all"]),
    ("many-pages", ["list", "--timeout", "30s"]),
    ("growing-in-list", ["list", "--json", "--timeout", "20s"]),
    ("growing-in-list", ["schema-lint", "--all"]),
    ("big-resources", ["list", "--timeout", "20s"]),
    ("big-resources", ["read", "file:///r1", "--timeout", "20s"]),
    ("big-resources", ["read", "file:///r1", "--json", "--timeout", "20s"]),
    ("big-resources", ["prompt", "p1", "--timeout", "20s"]),
    ("big-resources", ["audit", "--yes", "--timeout", "20s"]),
    ("image", ["call", "echo", "text=zebra", "--media", "out/media", "--timeout", "20s"]),
    ("notification-flood", ["conformance", "--timeout", "10s"]),
    ("growing-zeros", ["conformance", "--timeout", "10s"]),
]:
    output = 128 << 20 if "--json" in command else 1 << 20
    name = f"{flood} against {' '.join(command[:2])}{' as JSON' if '--json' in command else ''}"
    ATTACKS.append(Attack(name, [*command, *subject(flood)], seconds=150, output=output, raw_output="--json" in command))
for flood in ["sse-flood", "get-flood", "big-headers", "big-redirect", "big-login", "big-error-page"]:
    ATTACKS.append(
        Attack(f"http {flood} against run, all reports", ["run", "case.yaml", *all_reports()], {"case.yaml": case(over_http())},
               http=flood, seconds=120, check=reports_written)
    )
TESTS = [f"{{name: t{number}, tool: echo, args: {{text: zebra}}, expect: {{contains: [zebra]}}}}" for number in range(150)]
ATTACKS += [
    Attack("150 failing replies of 2 MB in one run, all reports", ["run", "suite.yaml", *all_reports(), "--events", "out/log.ndjson"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS)}, seconds=240, check=reports_written),
    Attack("150 failing replies of 2 MB, all verbose", ["run", "suite.yaml", "-v"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS)}, seconds=240, output=8 << 20),
    Attack("a hook that prints for ever", ["run", "suite.yaml"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS[:1], "hooks: {beforeAll: sh -c 'yes zebra | head -c 3000000000'}\n")},
           seconds=90),
    Attack("a hook that prints one endless line", ["run", "suite.yaml"],
           {"suite.yaml": suite(evil("two-megabytes"), TESTS[:1], "hooks: {beforeAll: sh -c 'head -c 2000000000 /dev/zero'}\n")},
           seconds=90),
    Attack("an oversized argument of 4 GiB", ["run", "case.yaml"],
           {"case.yaml": case(evil("two-megabytes")).replace("{text: zebra}", "{text: {oversized: 4294967296}}")}),
    Attack("a snapshot of a reply of 20 MB", ["snapshot", "case.yaml", "--update"], {"case.yaml": case(evil("ten-megabytes"))}),
    Attack("a snapshot of a reply that grows", ["snapshot", "case.yaml", "--update"], {"case.yaml": case(evil("growing-blocks"))}),
]

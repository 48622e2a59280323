"""Class 4: a secret is shown nowhere, in whatever encoding a server sends it."""

import behaviours
from harness import SECRET, Attack, all_reports
from suites import case, evil, over_http, suite

SHOWN = [name for name in vars(behaviours) if name.startswith("secret_")]
HTTP = ["secret_redirect", "secret_login", "secret_header", "secret_session", "secret_page"]
STDIO = [name for name in SHOWN if name not in HTTP]
EVERYTHING = [*all_reports(), "--events", "out/log.ndjson", "-v", "--github"]
ATTACKS = []
for name in STDIO:
    word = name.replace("_", "-")
    ATTACKS.append(Attack(f"{word} against run, all reports", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil(word), "{contains: [nothing]}")}, raw_output=False))
for name in HTTP:
    word = name.replace("_", "-")
    server = over_http('{Authorization: "Bearer ${TOKEN}", X-Key: "${TOKEN}"}')
    ATTACKS.append(
        Attack(f"http {word} against run, all reports", ["run", "case.yaml", *EVERYTHING],
               {"case.yaml": case(server, "{contains: [nothing]}")}, http=word)
    )
# The server is that of a suite, and its secret is known from there.
SUITE = {"case.yaml": case(evil("secret-everywhere"), "{contains: [nothing]}")}
OF_SUITE = {"error.yaml": case(evil("secret-error"), "{contains: [nothing]}")}
for command in [
    ["run", "case.yaml", "--json"],
    ["snapshot", "case.yaml", "--update"],
    ["snapshot", "case.yaml", "--catalog", "--update"],
    ["snapshot", "case.yaml", "--catalog", "--json"],
    ["coverage", "case.yaml"],
    ["coverage", "case.yaml", "--json"],
    ["matrix", "case.yaml", "--protocol", "2025-06-18,2025-11-25"],
    ["list", "--suite", "case.yaml"],
    ["list", "--json", "--suite", "case.yaml"],
    ["call", "echo", "text=a", "--suite", "case.yaml", "-v"],
    ["call", "echo", "text=a", "--suite", "case.yaml", "--json"],
    ["call", "echo", "text=a", "--suite", "case.yaml", "--save", "out/saved.yaml"],
    ["bench", "case.yaml", "--calls", "5", "--json"],
    ["validate", "case.yaml"],
    ["ci", "case.yaml"],
]:
    ATTACKS.append(Attack(f"secret-everywhere against {' '.join(command)}", command, dict(SUITE)))
ENV = ["--env", f"TOKEN={SECRET}"]
for command in [
    ["audit", "--yes", "-v"],
    ["audit", "--yes", "--json"],
    ["audit", "--yes", "--output", "out/evals"],
    ["negative", "--yes", "-v", "--checks", "unknown_tool,missing_required"],
    ["fuzz", "--yes", "--runs", "5", "--save", "out/kept"],
    ["generate", "--output", "out/evals"],
    ["init", "out/evals", "--no-workflow"],
    ["doctor"],
    ["doctor", "--json"],
    ["schema-lint", "--all"],
    ["schema-lint", "--all", "--json"],
    ["conformance", "--timeout", "5s", "--events", "out/log.ndjson"],
    ["list", "--schema", "echo"],
]:
    from suites import subject

    name = f"secret-everywhere of --env against {' '.join(command)}"
    ATTACKS.append(Attack(name, [*command, *ENV, *subject("secret-everywhere")], dict(SUITE)))
for command in (["audit", "--yes"], ["list"], ["doctor"], ["bench", "--tool", "echo"]):
    ATTACKS.append(
        Attack(f"a server that dies with a secret against {command[0]}", [*command, *ENV, *subject("secret-at-start")], codes={2})
    )
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END KEY-----"
ATTACKS += [
    Attack("a secret in the name of a test", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil("secret-plain"), name='"test ${TOKEN}"')}),
    Attack("a secret in a malformed line of --env-file", ["run", "case.yaml", "--env-file", "vars"],
           {"case.yaml": case(evil("secret-plain")), "vars": f"this line has {SECRET} and no sign\n"}, codes={2}),
    Attack("a secret in a duration that is none", ["validate", "case.yaml"], {"case.yaml": case(evil("secret-plain"), timeout='"${TOKEN}"')}),
    Attack("a secret in a key that is unknown", ["validate", "case.yaml"], {"case.yaml": case(evil("secret-plain")) + "${TOKEN}: 1\n"}),
    Attack("a secret in a transport that is none", ["validate", "case.yaml"],
           {"case.yaml": case('{url: "http://127.0.0.1:9", transport: "${TOKEN}"}')}),
    Attack("a secret in a URL that cannot be reached", ["run", "case.yaml", *EVERYTHING],
           {"case.yaml": case('{url: "http://127.0.0.1:9/?k=${TOKEN}", transport: http}')}),
    Attack("a secret as the command of a server", ["run", "case.yaml", *EVERYTHING],
           {"case.yaml": case('{command: "${TOKEN}", args: ["${TOKEN}"], cwd: "/no/${TOKEN}"}')}),
    Attack("a secret in the arguments of a failing call", ["run", "suite.yaml", *EVERYTHING],
           {"suite.yaml": suite(evil("secret-plain"), ['{name: a, tool: echo, args: {text: "${TOKEN}"}, expect: {contains: ["${TOKEN} not there"]}}'])}),
    Attack("a secret of the command line in next: and events", ["fuzz", "--yes", "--runs", "2", "--save", "out/kept", "--events", "out/log.ndjson", "--server",
            "{evil} secret-error --token " + SECRET.split()[0]], check=lambda place, out, err, code:
           ["shows the token"] if SECRET.split()[0] in out + err + "".join(p.read_text(errors="replace") for p in (place.home / "out").rglob("*") if p.is_file()) else []),
    Attack("a key of several lines, echoed line by line", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil("secret-plain"), "{contains: [nothing]}")},
           env={"TOKEN": KEY}, check=lambda place, out, err, code:
           ["shows a line of the key"] if "MIIEvQIBADANBgkqhkiG9w0BAQEF" in out + err + "".join(p.read_text(errors="replace") for p in (place.home / "out").rglob("*") if p.is_file()) else []),
    Attack("a secret of 100 kB is masked in linear time", ["run", "case.yaml", *EVERYTHING], {"case.yaml": case(evil("secret-plain"), "{contains: [nothing]}")},
           env={"TOKEN": "s3cr3t-" + "abcdefgh" * 12_000}, seconds=60, check=lambda place, out, err, code:
           ["shows it"] if "abcdefghabcdefghabcdefgh" in out + err else []),
]

"""Class 8: nothing is written or read where it must not be, and what is written can be read again."""

import os
import subprocess

from harness import MCPROVE, Attack, all_reports
from logins import signing_in
from suites import PYTHON, SCRIPT, as_agent, case, driven, evil, scenario, subject, suite

HONEST = f'{{command: "{PYTHON}", args: ["{SCRIPT}", "honest"]}}'
GOOD = case(HONEST)


def link(target, name):
    def prepare(place):
        path = place.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.replace("{outside}", str(place.outside)))

    return prepare


def fifo(name):
    def prepare(place):
        os.mkfifo(place.home / name)

    return prepare


def both(*steps):
    return lambda place: [step(place) for step in steps]


def unchanged(name, content):
    def check(place, stdout, stderr, code):
        text = (place.home / name).read_text()
        return [] if text == content else [f"{name} was overwritten: {text[:80]!r}"]

    return check


ATTACKS = []
# Outputs that are inputs, by every way to name them.
for flag in ["--junit", "--html", "--markdown", "--report", "--tap", "--sarif", "--badge", "--events", "--save-baseline"]:
    for way, path in [("by name", "case.yaml"), ("by another path", "./sub/../case.yaml"), ("through a link", "link.yaml"), ("through a hard link", "hard.yaml")]:
        def prepare(place, way=way):
            (place.home / "sub").mkdir()
            if way == "through a link":
                (place.home / "link.yaml").symlink_to("case.yaml")
            if way == "through a hard link":
                os.link(place.home / "case.yaml", place.home / "hard.yaml")

        suite_path = path if way != "by another path" else "case.yaml"
        ATTACKS.append(
            Attack(f"{flag} is the suite, {way}", ["run", "case.yaml", flag, path], {"case.yaml": GOOD}, prepare=prepare,
                   codes={0, 2}, check=unchanged("case.yaml", GOOD))
        )
for flag in ["--junit", "--html", "--report", "--events", "--tap", "--save-baseline"]:
    ATTACKS.append(Attack(f"{flag} is a link out of the folder", ["run", "case.yaml", flag, "out/report"], {"case.yaml": GOOD},
                          prepare=link("{outside}/precious", "out/report"), keeps_outside=False, codes={0, 2}))
    ATTACKS.append(Attack(f"{flag} is a pipe without a reader", ["run", "case.yaml", flag, "out/pipe"], {"case.yaml": GOOD},
                          prepare=fifo("out/pipe"), seconds=20))
    ATTACKS.append(Attack(f"{flag} is a device that is full", ["run", "case.yaml", flag, "/dev/full"], {"case.yaml": GOOD}, codes={2}, seconds=20))
    ATTACKS.append(Attack(f"{flag} is a folder", ["run", "case.yaml", flag, "out"], {"case.yaml": GOOD}, codes={2}, seconds=20))
# Links out of the folders that are written.
for name, argv, place_of_link in [
    ("audit --output", ["audit", "--yes", "--output", "out/evals"], "out/evals/echo.yaml"),
    ("audit --output --overwrite", ["audit", "--yes", "--output", "out/evals", "--overwrite"], "out/evals/echo.yaml"),
    ("generate --overwrite", ["generate", "--output", "out/evals", "--overwrite"], "out/evals/echo.yaml"),
    ("generate", ["generate", "--output", "out/evals"], "out/evals/echo.yaml"),
    ("init --overwrite", ["init", "out/evals", "--no-workflow", "--overwrite"], "out/evals/echo.yaml"),
    ("init", ["init", "out/evals", "--no-workflow"], "out/evals/echo.yaml"),
    ("call --save", ["call", "echo", "text=a", "--save", "out/saved.yaml"], "out/saved.yaml"),
    ("fuzz --save", ["fuzz", "--yes", "--runs", "2", "--save", "out/kept"], "out/kept/echo.yaml"),
]:
    ATTACKS.append(Attack(f"{name} through a link out of the folder", [*argv, *subject("honest")], prepare=link("{outside}/precious", place_of_link)))
    parent = os.path.dirname(place_of_link)
    if parent != "out":
        ATTACKS.append(Attack(f"{name} into a folder that is a link inside the tree", [*argv, *subject("honest")],
                              prepare=link("{outside}/missing", place_of_link)))
ATTACKS += [
    Attack("snapshot --update through a link", ["snapshot", "case.yaml", "--update"], {"case.yaml": GOOD},
           prepare=both(link("{outside}/precious", ".snapshots/case.snap"), link("{outside}/precious", "case.snap"), link("{outside}/precious", ".snapshots/hi.snap"))),
    Attack("snapshot --update into a folder that is a link", ["snapshot", "case.yaml", "--update"], {"case.yaml": GOOD}, prepare=link("{outside}", ".snapshots")),
    Attack("run --record through a link", ["run", "agent.yaml", "--record"],
           {"agent.yaml": f"servers: {{s: {HONEST}}}\nagents:\n  - {{name: a, model: script, prompt: hi, script: [{{say: hi}}], expect: {{contains: [hi]}}}}\n"},
           prepare=both(link("{outside}/precious", "cassettes/agent.draft"), link("{outside}/precious", "cassettes/agent.json.draft"))),
    Attack("convert --output through a link", ["convert", "case.yaml", "--output", "out/x.yaml"], {"case.yaml": GOOD}, prepare=link("{outside}/precious", "out/x.yaml")),
    Attack("intercept --as-suite through a link", ["intercept", "--as-suite", "out/x.yaml", *subject("honest")], prepare=link("{outside}/precious", "out/x.yaml"), keeps_outside=True),
]
# Pipes and devices where a file is read.
for name, argv, pipe in [
    ("a suite", ["run", "case.yaml"], "case.yaml"),
    ("a suite to validate", ["validate", "case.yaml"], "case.yaml"),
    ("a suite to lint", ["lint", "case.yaml"], "case.yaml"),
    ("an env file", ["run", "good.yaml", "--env-file", "vars"], "vars"),
    ("a baseline", ["run", "good.yaml", "--baseline", "base.json"], "base.json"),
    ("a log", ["report", "log.ndjson"], "log.ndjson"),
    ("a log of the last run", ["run", "good.yaml", "--last-failed", "log.ndjson"], "log.ndjson"),
    ("a manifest", ["mock", "--tools-from", "m.yaml"], "m.yaml"),
    ("a client configuration", ["list", "--client-config", "c.json"], "c.json"),
    ("a snapshot to lint", ["schema-lint", "tools.snap"], "tools.snap"),
    ("arguments", ["call", "echo", "--args", "a.json", *subject("honest")], "a.json"),
    ("answers", ["call", "echo", "text=a", "--answers", "a.yaml", *subject("honest")], "a.yaml"),
    ("seed arguments", ["fuzz", "--yes", "--seed-args", "s.yaml", *subject("honest")], "s.yaml"),
    ("a trajectory", ["intercept", "--trajectory", "t.yaml", *subject("honest")], "t.yaml"),
    ("a suite of trust", ["trust", "log2.ndjson", "--suite", "s.yaml"], "s.yaml"),
]:
    ATTACKS.append(Attack(f"{name} is a pipe", argv, {"good.yaml": GOOD, "log2.ndjson": ""}, prepare=fifo(pipe), codes={2}, seconds=15))
    ATTACKS.append(Attack(f"{name} is /dev/zero", argv, {"good.yaml": GOOD, "log2.ndjson": ""}, prepare=link("/dev/zero", pipe), codes={2}, seconds=15))
# Files outside of the suite, whose lines an error would quote.
for name, text in [
    ("imports", "imports: ['{outside}/credentials']\n" + suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"])),
    ("imports with dots", "imports: ['../outside/credentials']\n" + suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"])),
    ("env_file", "env_file: '{outside}/credentials'\n" + suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"])),
    ("cassette", f"servers: {{s: {HONEST}}}\nagents:\n  - {{name: a, model: script, cassette: '{{outside}}/credentials', prompt: hi, script: [{{say: hi}}], expect: {{contains: [hi]}}}}\n"),
    ("mock manifest", "servers: {s: {mock: '{outside}/credentials'}}\ntools: [{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}]\n"),
    ("fixture", "fixture: '{outside}'\n" + suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"])),
]:
    ATTACKS.append(Attack(f"{name} outside of the suite is not quoted", ["run", "suite.yaml"], {"suite.yaml": text}))
    ATTACKS.append(Attack(f"{name} outside of the suite is not quoted by validate", ["validate", "suite.yaml"], {"suite.yaml": text}))


# Repositories of somebody else.
for name, target in [("a credential file", "{outside}/credentials"), ("/dev/zero", "/dev/zero"), ("/proc/self/environ", "/proc/self/environ")]:
    for file in ["HEAD", "refs/heads/main", "packed-refs"]:
        def prepare(place, target=target, file=file):
            (place.home / ".git/refs/heads").mkdir(parents=True)
            if file != "HEAD":
                (place.home / ".git/HEAD").write_text("ref: refs/heads/main\n")
            (place.home / ".git" / file).symlink_to(target.replace("{outside}", str(place.outside)))

        ATTACKS.append(Attack(f".git/{file} is a link to {name}", ["run", "case.yaml", *all_reports(), "-v"], {"case.yaml": GOOD}, prepare=prepare, seconds=20,
                              check=lambda place, out, err, code: ["a report has the file"] * any(b"AKIA-outside" in p.read_bytes() for p in (place.home / "out").rglob("*") if p.is_file())))


# Fixtures.
def deep_fixture(place):
    # Deeper than a path may be long, so it is made from inside.
    script = "import os\nos.makedirs('fix')\nos.chdir('fix')\nfor _ in range(40000):\n    os.mkdir('d'); os.chdir('d')\n"
    subprocess.run([PYTHON, "-c", script], cwd=place.home, check=True)


def clean_deep(place, *_):
    subprocess.run(["rm", "-rf", "fix"], cwd=place.home, check=False)
    return []


FIXTURE = "server: {command: \"" + PYTHON + "\", args: [\"" + SCRIPT + "\", honest]}\n"
ATTACKS += [
    Attack("a fixture with 40,000 nested folders", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD}, prepare=deep_fixture, check=clean_deep, seconds=90, walks=False),
    Attack("a fixture that links to /proc", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD, "fix/a": "a"}, prepare=link("/proc", "fix/p"), seconds=30),
    Attack("a fixture that links to /dev/zero", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD, "fix/a": "a"}, prepare=link("/dev/zero", "fix/z"), seconds=30),
    Attack("a fixture with a pipe", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD, "fix/a": "a"}, prepare=fifo("fix/p"), seconds=30),
    Attack("a fixture that links to itself", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD, "fix/a": "a"}, prepare=link(".", "fix/self"), seconds=30),
    Attack("a fixture that links out of itself", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD, "fix/a": "a"}, prepare=link("{outside}", "fix/out"), seconds=30),
    Attack("a fixture of a sparse terabyte", ["run", "case.yaml", "--fixture", "fix"], {"case.yaml": GOOD, "fix/a": "a"},
           prepare=lambda place: os.truncate(place.home / "fix/a", 1 << 40), seconds=30, codes={0, 1, 2}),
    Attack("the copy of a fixture is private", ["run", "case.yaml", "--fixture", "fix"],
           {"case.yaml": case(f'{{command: "{PYTHON}", args: ["{SCRIPT}", "modes", "{{{{fixture}}}}"]}}', "{contains: ['0o700']}"), "fix/a": "a"},
           codes={0}),
    Attack("file_contains through a link that the server made", ["run", "case.yaml", "--fixture", "fix"],
           {"case.yaml": case(f'{{command: "{PYTHON}", args: ["{SCRIPT}", "makes-link", "{{{{fixture}}}}", "{{outside}}/precious"]}}',
                              "{file_contains: {path: '{{fixture}}/made', text: precious}}"), "fix/a": "a"}, codes={1, 2}),
]
# Names that a server chooses, and the files that are made of them.
YAML_CHECK = """
import sys, pathlib
try:
    import yaml
except ImportError:
    sys.exit(0)
for path in pathlib.Path('out/evals').rglob('*.yaml'):
    list(yaml.safe_load_all(path.read_text()))
"""


def loads_again(place, stdout, stderr, code):
    folder = place.home / "out/evals"
    if not any(folder.rglob("*.yaml")):
        return []
    valid = subprocess.run([MCPROVE, "validate", "out/evals"], cwd=place.home, capture_output=True, text=True, check=False)
    second = subprocess.run([PYTHON, "-c", YAML_CHECK], cwd=place.home, capture_output=True, text=True, check=False)
    wrong = []
    if valid.returncode not in (0, 4):
        wrong.append(f"what was written does not load: {(valid.stdout + valid.stderr)[:300]}")
    if second.returncode != 0:
        wrong.append(f"another parser does not read it: {second.stderr[-300:]}")
    return wrong


for kind in ["empty", "long", "nonchar", "duplicate", "yaml", "numbers", "dots", "devices", "slashes", "case", "newline", "colon", "anchor", "tag", "crlf", "bom", "nel", "emoji", "combining"]:
    for command in (["generate", "--output", "out/evals"], ["audit", "--yes", "--output", "out/evals"]):
        ATTACKS.append(Attack(f"names: {kind}, written by {command[0]}", [*command, *subject("odd-names", kind)], check=loads_again))


def stable(place, stdout, stderr, code):
    again = subprocess.run([MCPROVE, "snapshot", "case.yaml"], cwd=place.home, capture_output=True, text=True, check=False)
    return [] if again.returncode == 0 else [f"CHANGED right after --update: {again.stdout[:300]}"]


for kind in ["crlf", "cr", "nel", "bom", "trailing", "tabs", "nul", "separators", "emoji", "marker", "empty", "newlines"]:
    ATTACKS.append(Attack(f"a snapshot of a reply with {kind} is stable", ["snapshot", "case.yaml", "--update"],
                          {"case.yaml": case(f'{{command: "{PYTHON}", args: ["{SCRIPT}", "odd-text", "{kind}"]}}', "{not_error: true}")}, codes={0}, check=stable))
ATTACKS += [
    Attack("generate for 50,000 tools asks first", ["generate", "--output", "out/evals", *subject("fifty-thousand")], seconds=90,
           check=lambda place, out, err, code: [f"wrote {n} files without asking" for n in [len(list((place.home / 'out').rglob('*.yaml')))] if n > 1000]),
]
def summary(place):
    return [] if (place.home / "case.yaml").read_text() == GOOD.replace("{home}", str(place.home)) else ["the suite was changed"]


for name, prepare in [("a pipe", fifo("summary")), ("a full device", link("/dev/full", "summary")), ("the suite", link("case.yaml", "summary")), ("a folder", lambda place: (place.home / "summary").mkdir())]:
    ATTACKS.append(Attack(f"the summary of a step is {name}", ["ci", "case.yaml"], {"case.yaml": GOOD}, prepare=prepare, env={"GITHUB_STEP_SUMMARY": "{home}/summary", "GITHUB_ACTIONS": "true", "CI": "true"},
                          codes={2}, seconds=20, raw_output=True, check=lambda place, out, err, code: summary(place)))
# Files of commands that came later.
LOCK = '{"version":1,"tokens":{"total":1,"tools":{}},"catalog":{"tools":[]}}'
for words in (["lock"], ["lock", "--check"]):
    name = " ".join(words)
    ATTACKS += [
        Attack(f"{name}: the lockfile is a pipe", [*words, *subject("honest")], prepare=fifo("mcprove.lock"), codes={2}, seconds=15),
        Attack(f"{name}: the lockfile is /dev/zero", [*words, *subject("honest")], prepare=link("/dev/zero", "mcprove.lock"), codes={2}, seconds=15),
        Attack(f"{name}: the lockfile is a folder", [*words, *subject("honest")], prepare=lambda place: (place.home / "mcprove.lock").mkdir(), codes={2}, seconds=15),
        Attack(f"{name}: the lockfile is a link out of the folder", [*words, *subject("honest")], prepare=link("{outside}/credentials", "mcprove.lock"), codes={2}, seconds=15),
        Attack(f"{name}: the lockfile is a link to nothing", [*words, *subject("honest")], prepare=link("{outside}/missing", "mcprove.lock"), codes={0, 2}, seconds=15),
        Attack(f"{name}: the lockfile is of a sparse terabyte", [*words, *subject("honest")], prepare=lambda place: ((place.home / "mcprove.lock").touch(), os.truncate(place.home / "mcprove.lock", 1 << 40)), codes={2}, seconds=30),
        Attack(f"{name}: the lockfile is a suite", [*words, "--file", "case.yaml", *subject("honest")], {"case.yaml": GOOD}, codes={2}, seconds=15, check=unchanged("case.yaml", GOOD)),
    ]
ATTACKS += [
    Attack("lock into a folder that is a link", ["lock", "--file", "away/mcprove.lock", *subject("honest")], prepare=link("{outside}", "away"), codes={0, 2}, keeps_outside=False),
    Attack("a corpus that is a link", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "corpus", *subject("honest")], prepare=link("{outside}", "corpus"), keeps_outside=False, seconds=40),
    Attack("a corpus with links and pipes", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "corpus", *subject("honest")], {"corpus/x.ndjson": ""},
           prepare=both(link("{outside}/credentials", "corpus/a.ndjson"), link("/dev/zero", "corpus/b.ndjson"), fifo("corpus/c.ndjson")), seconds=40),
    Attack("a corpus of a sparse terabyte", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "corpus", *subject("honest")], {"corpus/x.ndjson": ""}, prepare=lambda place: os.truncate(place.home / "corpus/x.ndjson", 1 << 40), seconds=40),
    Attack("a corpus with 20,000 files", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "corpus", "--time", "20s", *subject("honest")],
           {"corpus/x.ndjson": ""}, prepare=lambda place: [(place.home / f"corpus/{n:016x}.ndjson").write_text('{"step":1,"call":"echo","args":{"text":"a"}}\n') for n in range(20_000)], seconds=60, walks=False),
    Attack("a corpus with steps that refer to each other", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "corpus", *subject("honest")],
           {"corpus/x.ndjson": '{"step":1,"call":"echo","args":{},"from":[{"at":"/text","step":1,"path":"/a"}]}\n{"step":4294967295,"call":"echo","args":{"text":"a"},"from":[{"at":"/text","step":4294967295,"path":""}]}\n{"step":18446744073709551615,"call":"echo"}\n'}, seconds=40),
    Attack("a corpus that calls what may not be called", ["fuzz", "--stateful", "--yes", "--replay", "--corpus", "corpus", *subject("writes-when-called")],
           {"corpus/x.ndjson": '{"step":1,"call":"delete_all","args":{}}\n'}, check=lambda place, out, err, code: ["it was called"] if (place.home / "deleted").exists() else [], seconds=40),
    Attack("a corpus that is a file", ["fuzz", "--stateful", "--yes", "--runs", "20", "--corpus", "case.yaml", *subject("honest")], {"case.yaml": GOOD}, codes={2}, check=unchanged("case.yaml", GOOD), seconds=40),
]
for name, argv, pipe in [
    ("a scenario", ["host", "s.yaml", "--scripted", "good"], "s.yaml"),
    ("the log of diff", ["diff", "{evil} honest", "{evil} honest", "--recording", "log.ndjson"], "log.ndjson"),
    ("a log to compare", ["agents", "compare", "log.ndjson", "log.ndjson"], "log.ndjson"),
    ("a load to compare", ["bench", "--tool", "echo", "--calls", "2", "--compare", "log.ndjson", *subject("honest")], "log.ndjson"),
    ("the configuration of mcp", ["mcp", "--client-config", "c.json"], "c.json"),
    ("the configuration in the folder of mcp", ["mcp"], ".mcp.json"),
    ("a baseline of diff", ["diff", "{evil} honest", "{evil} honest", "--baseline", "b.json"], "b.json"),
]:
    ATTACKS.append(Attack(f"{name} is a pipe", argv, prepare=fifo(pipe), codes={2} if pipe != ".mcp.json" else {0, 2}, seconds=15))
    ATTACKS.append(Attack(f"{name} is /dev/zero", argv, prepare=link("/dev/zero", pipe), codes={2} if pipe != ".mcp.json" else {0, 2}, seconds=15))
    # A log without a message is no recording: nothing to do.
    ATTACKS.append(Attack(f"{name} is a link to credentials", argv, prepare=link("{outside}/credentials", pipe), codes={2, 4} if pipe != ".mcp.json" else {0, 2}, seconds=15))
for name, target in [("outside", "{outside}/credentials"), ("dots", "../outside/credentials"), ("/dev/zero", "/dev/zero"), ("a process", "/proc/self/environ")]:
    text = f"scenario: s\nservers: {{a: {{manifest: '{target}'}}}}\nexpect: {{allow_unhit: true}}\n"
    ATTACKS.append(Attack(f"the manifest of a scenario is {name}", ["host", "s.yaml", "--scripted", "good"], {"s.yaml": text}, codes={2}, seconds=20))
for flag in ["--junit", "--html", "--report", "--events", "--save-baseline"]:
    ATTACKS.append(Attack(f"{flag} of host is the scenario", ["host", "s.yaml", "--scripted", "good", flag, "s.yaml"], {"s.yaml": scenario()}, codes={0, 2}, check=unchanged("s.yaml", scenario())))
    ATTACKS.append(Attack(f"{flag} of diff is the suite", ["diff", "{evil} honest", "{evil} honest", "case.yaml", flag, "case.yaml"], {"case.yaml": GOOD}, codes={0, 1, 2}, check=unchanged("case.yaml", GOOD)))
for flag in ["--openmetrics", "--otlp", "--export-k6", "--events"]:
    for to, target in [("a suite", "case.yaml"), ("a pipe", "out/pipe"), ("a full device", "/dev/full")]:
        ATTACKS.append(Attack(f"bench {flag} is {to}", ["bench", "case.yaml", "--calls", "2", flag, target], {"case.yaml": GOOD}, prepare=fifo("out/pipe"), codes={0, 1, 2}, check=unchanged("case.yaml", GOOD), seconds=30))
for name, argv, target in [
    ("call --media", ["call", "echo", "text=a", "--media", "out/media", *subject("image")], "out/media"),
    ("complete --save", ["complete", "p", "a=b", "--save", "out/s.yaml", *subject("honest")], "out/s.yaml"),
    ("prompt --save", ["prompt", "p", "--save", "out/s.yaml", *subject("big-resources")], "out/s.yaml"),
    ("fuzz --stateful --save", ["fuzz", "--stateful", "--yes", "--runs", "20", "--save", "out/kept", *subject("hidden-error")], "out/kept/echo.yaml"),
    ("man", ["man", "out"], "out/mcprove.1"),
]:
    ATTACKS.append(Attack(f"{name} through a link out of the folder, later", argv, prepare=link("{outside}/precious", target), seconds=60, report=64 << 20, output=128 << 20))
# What an agent may ask of mcp.
for path in ["../outside/x.yaml", "/etc/x.yaml", "evals/../../outside/x.yaml", "away/x.yaml", "link.yaml", "pipe.yaml", ".git/hooks/x.yaml", "a\x00b.yaml", "evals/" + "n" * 300 + ".yaml", "~/x.yaml", "evals/x.yaml/y.yaml", ".mcp.yaml"]:
    ATTACKS.append(Attack(f"write_test of mcp to {path[:30]!r}", ["mcp"], {"evals/x.yaml": GOOD}, drive=as_agent(("write_test", {"path": path, "content": GOOD, "overwrite": True})),
                          prepare=both(link("{outside}", "away"), link("{outside}/precious", "link.yaml"), fifo("pipe.yaml")), seconds=30))
for what, content in {
    "a server of its own": GOOD.replace(PYTHON, "touch").replace(SCRIPT, "owned"), "a hook": suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"], "hooks: {beforeAll: touch owned}\n"),
    "an import": "imports: ['../outside/credentials']\n" + suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"]),
    "a step with a server": GOOD + "setup:\n  - {server: {command: touch, args: [owned]}, tool: x}\n", "a matrix": GOOD + "matrix: {servers: [{command: touch, args: [owned]}]}\n",
    "a fixture": "fixture: '/etc'\n" + suite(HONEST, ["{name: a, tool: echo, args: {text: a}, expect: {contains: [a]}}"]), "a command in env": GOOD.replace("args:", "env: {LD_PRELOAD: /tmp/evil.so}, args:", 1),
    "another cwd": GOOD.replace("args:", "cwd: /etc, args:", 1), "docker": GOOD.replace("args:", "docker: evil, args:", 1), "100,000 levels": "[" * 100_000,
}.items():
    ATTACKS.append(Attack(f"write_test and run_suite of mcp with {what}", ["mcp", "--add-server", "s={evil} honest"], drive=as_agent(("write_test", {"path": "evals/x.yaml", "content": content}), ("run_suite", {"path": "evals"})),
                          check=lambda place, out, err, code: ["a command was run"] if any(place.home.rglob("owned")) else [], seconds=60))
for path in ["../outside/credentials", "/etc/passwd", "away", "link.yaml", "pipe.yaml", "/dev/zero"]:
    for tool in ["run_suite", "validate_suite"]:
        ATTACKS.append(Attack(f"{tool} of mcp on {path}", ["mcp"], {"evals/x.yaml": GOOD}, drive=as_agent((tool, {"path": path})),
                              prepare=both(link("{outside}", "away"), link("{outside}/credentials", "link.yaml"), fifo("pipe.yaml")), seconds=30))
# Logins.
for name in ["logins.json"]:
    ATTACKS += [
        Attack("login: the file of logins is a link", ["login", "{url}", "--no-browser", "--timeout", "10s"], http="login_good", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"},
               prepare=link("{outside}/precious", f"settings/{name}"), codes={0, 2}, keeps_outside=True, may_say_secret=True),
        Attack("login: the file of logins is a pipe", ["login", "{url}", "--no-browser", "--timeout", "10s"], http="login_good", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"},
               prepare=lambda place: ((place.home / "settings").mkdir(), os.mkfifo(place.home / "settings/logins.json")), codes={2}, seconds=20),
        Attack("login: the file of logins is /dev/zero", ["login", "--list"], env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, prepare=link("/dev/zero", "settings/logins.json"), codes={2}, seconds=20),
        Attack("login: the file of logins is a bomb", ["login", "--list"], {"settings/logins.json": "[" * 1_000_000}, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={0, 2}, seconds=20),
        Attack("login: the folder of settings cannot be written", ["login", "{url}", "--no-browser", "--timeout", "10s"], {"settings": "a file"}, http="login_good", drive=signing_in, env={"MCPROVE_CONFIG_DIR": "{home}/settings"}, codes={2}, seconds=20),
    ]
for what in ["script", "file", "option", "data", "quote", "plain", "smb", "space"]:
    ATTACKS.append(Attack(f"login: the page to sign in is {what}", ["login", "{url}", "--timeout", "3s"], {"bin/xdg-open": '#!/bin/sh\necho "$*" >> "$HOME/../opened"\n'}, http=f"login_opens_{what}",
                          prepare=lambda place: (place.home / "bin/xdg-open").chmod(0o755), env={"MCPROVE_CONFIG_DIR": "{home}/settings", "PATH": "{home}/bin:/usr/bin:/bin", "DISPLAY": ":0"}, codes={2}, seconds=20,
                          check=lambda place, out, err, code: [f"opened {text}" for text in [(place.home.parent / "opened").read_text() if (place.home.parent / "opened").exists() else ""] if text and not text.startswith(("http://127.0.0.1", "https://"))]))

"""Class 7: a suite chooses an image and nothing else of the docker client."""

import json

from harness import SECRET, Attack
from suites import PYTHON, SCRIPT, case

# A client that writes down how it was called, and serves in place of the container.
FAKE = f"""#!{PYTHON}
import json, os, sys
record = {{"argv": sys.argv[1:], "env": dict(os.environ), "files": []}}
for at, word in enumerate(sys.argv):
    if word == "--env-file":
        path = sys.argv[at + 1]
        record["files"].append([oct(os.stat(path).st_mode & 0o777), open(path).read()])
with open(os.environ["HOME"] + "/../calls.ndjson", "a") as log:
    log.write(json.dumps(record) + "\\n")
if "run" in sys.argv:
    os.execv("{PYTHON}", ["{PYTHON}", "{SCRIPT}", "honest"])
"""
BAD_FLAGS = ("--privileged", "--pid", "--network=host", "--cap-add", "--device", "--security-opt", "--userns", "--ipc")


def place_client(place):
    (place.home / "bin").mkdir()
    path = place.home / "bin/docker"
    path.write_text(FAKE)
    path.chmod(0o755)


def calls(place):
    log = place.home.parent / "calls.ndjson"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def contained(place, stdout, stderr, code):
    """What the client was told: no option of the suite, no value of a variable, its own environment."""
    wrong = []
    for call in calls(place):
        argv = call["argv"]
        if "run" not in argv:
            continue
        words = argv[: argv.index("--")] if "--" in argv else argv
        if any(word.startswith(BAD_FLAGS) for word in words):
            wrong.append(f"the suite gave an option: {argv}")
        if any(word.startswith("-v") and ":/host" in word or word.startswith("/:") for word in words):
            wrong.append(f"the suite mounted a folder: {argv}")
        if any(SECRET in word for word in argv):
            wrong.append("a value of a variable is on the command line")
        for name in ("LD_PRELOAD", "PYTHONPATH", "DOCKER_HOST", "CONTAINER_HOST", "DOCKER_CONFIG", "BASH_ENV"):
            if name in call["env"]:
                wrong.append(f"{name} of the suite reached the client")
        if call["env"].get("PATH", "").startswith("/evil"):
            wrong.append("PATH of the suite reached the client")
        for mode, _ in call["files"]:
            if mode != "0o600":
                wrong.append(f"the file of variables has the mode {mode}")
    return wrong


def refused(place, stdout, stderr, code):
    return contained(place, stdout, stderr, code) + ["a container was started"] * any("run" in call["argv"] for call in calls(place))


ENV = {"PATH": "{home}/bin:/usr/bin:/bin"}


def with_docker(image, env="{}", more=""):
    return case(f"{{command: server, args: [a], docker: {json.dumps(image)}, env: {env}}}", timeout="10s") + more


ATTACKS = [
    Attack(f"the image {image[:40]!r}", ["run", "case.yaml"], {"case.yaml": with_docker(image)}, prepare=place_client, env=ENV, codes={2}, check=refused)
    for image in [
        "--privileged", "-v/:/host", "--pid=host", "--network=host image", "-it image", "image --privileged", "image;touch owned",
        "image\n--privileged", "$(touch owned)", "", " ", "IMAGE", "image:tag:tag", "image@sha256:zz", "../image", "a" * 300, "image\x00x", "\u202eimage",
        "-", "--", "image -v /:/host",
    ]
]
ATTACKS += [
    Attack(f"the variable {name} of a suite", ["run", "case.yaml"],
           {"case.yaml": with_docker("good:1", json.dumps({name: value}))}, prepare=place_client, env=ENV, codes={0, 1, 2}, check=contained)
    for name, value in [
        ("LD_PRELOAD", "/tmp/evil.so"), ("PYTHONPATH", "/tmp"), ("DOCKER_HOST", "tcp://evil:1"), ("CONTAINER_HOST", "tcp://evil:1"),
        ("DOCKER_CONFIG", "/tmp"), ("PATH", "/evil"), ("BASH_ENV", "/tmp/x"), ("TOKEN", "${TOKEN}"), ("A", "x\nLD_PRELOAD=/tmp/evil.so"),
        ("A=B", "x"), ("--privileged", "x"), ("", "x"), ("A B", "x"), ("A\nB", "x"),
    ]
]
ATTACKS += [
    Attack("--docker wins over the suite", ["run", "case.yaml", "--docker", "mine:2"], {"case.yaml": with_docker("theirs:1")}, prepare=place_client, env=ENV,
           check=lambda place, out, err, code: contained(place, out, err, code) + ["the image of the suite was started"] * any("theirs:1" in call["argv"] for call in calls(place))
           + ["no container was started"] * (not any("mine:2" in call["argv"] for call in calls(place)))),
    Attack("--docker with an option", ["run", "case.yaml", "--docker=--privileged"], {"case.yaml": with_docker("theirs:1")}, prepare=place_client, env=ENV, codes={2}, check=refused),
    Attack("a hook next to a container is announced", ["run", "suite.yaml", "--docker", "mine:2"],
           {"suite.yaml": "servers: {s: {command: server}}\nhooks: {beforeAll: 'true'}\ntools: [{name: a, tool: echo, args: {text: zebra}, expect: {contains: [zebra]}}]\n"},
           prepare=place_client, env=ENV, says=["(?i)hook"]),
    Attack("a fixture with a colon in its path", ["run", "suite/case.yaml", "--fixture", "a:b"],
           {"suite/case.yaml": with_docker("good:1"), "a:b/f": "x"}, prepare=place_client, env=ENV, check=contained),
]

"""Attacks as data, and the one way in which each is run and judged.

An attack is a command of mcprove with the files and the server it meets. Whatever it is, the program must end by itself, with a
documented code, within a bound of memory and output; it must not panic, print or write what acts on a terminal or a build
server, show a secret, touch a file outside of its folder, or leave a process or a temporary file behind. What one attack has to
show besides is its `check`.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DEBUG = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"
MCPROVE = os.environ.get("MCPROVE", str(DEBUG / "mcprove"))
MISBEHAVE = os.environ.get("MISBEHAVE", str(DEBUG / "misbehave"))
EVIL = f"{sys.executable} {HERE / 'evil.py'}"

MEMORY = 512 << 20
OUTPUT = 1 << 20
# Of a report file: a reply is shown in full up to a bound, in each of its reports.
REPORT = 32 << 20
# A debug build takes this many times as long.
SLOWNESS = float(os.environ.get("SLOWNESS", "1"))
SECRET = "hush/5f&1e+9c=77aa~01 Zx"
CODES = {0, 1, 2, 4}

# A shell starts programs in the background with some of these ignored, and `nohup` with the other; that would be handed on.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# Reports of all formats but the event log, which is data that nobody prints.
REPORTS = {
    "--junit": "out/junit.xml",
    "--junit-lines": "out/lines.xml",
    "--markdown": "out/run.md",
    "--html": "out/run.html",
    "--report": "out/run.json",
    "--tap": "out/run.tap",
    "--sarif": "out/run.sarif",
    "--badge": "out/badge.json",
}


def all_reports():
    return [word for pair in REPORTS.items() for word in pair]


@dataclass
class Attack:
    """One attack: a command line, the files in its folder, and what must come of it."""

    name: str
    argv: list
    files: dict = field(default_factory=dict)
    codes: set = field(default_factory=lambda: set(CODES))
    says: list = field(default_factory=list)
    says_not: list = field(default_factory=list)
    check: Optional[Callable] = None
    prepare: Optional[Callable] = None
    # The behaviour of `evil.py http`; `{url}` in argv and files is its URL.
    http: Optional[str] = None
    stdin: bytes = b""
    env: dict = field(default_factory=dict)
    seconds: float = 60
    memory: int = MEMORY
    output: int = OUTPUT
    report: int = REPORT
    # Called with the running process, in place of waiting for it.
    drive: Optional[Callable] = None
    shell: Optional[str] = None
    may_say_secret: bool = False
    raw_output: bool = False
    keeps_outside: bool = True
    # False where the folder is too deep or too large to be looked through.
    walks: bool = True


@dataclass
class Outcome:
    """What came of an attack."""

    attack: Attack
    wrong: list
    memory: int
    seconds: float
    code: Optional[int]
    said: str


@dataclass
class Place:
    """The folders of an attack."""

    home: Path
    outside: Path
    tmp: Path
    url: str = ""


# Characters that act on a terminal, or that change what a reader sees.
ACTS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
COMMANDS = re.compile(r"^\s*(::[a-z-]+|##\[|##vso\[|##teamcity\[)", re.M)


def encodings(secret):
    """A secret as servers send it."""
    import base64
    import html
    import urllib.parse

    raw = secret.encode()
    yield secret
    yield json.dumps(secret)[1:-1]
    yield secret.replace("/", "\\/")
    yield "".join(f"\\u{ord(c):04x}" for c in secret)
    yield "".join(f"\\u{ord(c):04X}" for c in secret)
    yield urllib.parse.quote(secret, safe="")
    yield urllib.parse.quote(secret)
    yield urllib.parse.quote_plus(secret)
    yield re.sub("%[0-9A-F]{2}", lambda code: code.group().lower(), urllib.parse.quote(secret, safe=""))
    yield html.escape(secret)
    yield raw.hex()
    yield raw.hex().upper()
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    # What surrounds it shifts the letters: three ways to lie on the groups of three bytes.
    for shift in (1, 2):
        coded = base64.b64encode(b"x" * shift + raw + b"xxx").decode()
        yield coded[4 : 4 + (len(raw) - 3) * 4 // 3 - 4]
    yield base64.b32encode(raw).decode().rstrip("=")
    yield secret.encode("utf-16-le").hex()
    yield " ".join(map(str, raw))
    yield "-".join(f"{byte:02X}" for byte in raw)
    yield ", ".join(f"0x{byte:02x}" for byte in raw)
    yield " ".join(raw.hex()[at : at + 4] for at in range(0, 2 * len(raw), 4))
    yield "".join(f"%u{ord(c):04x}" for c in secret)
    yield "".join(f"&#{ord(c):08d};" for c in secret)
    yield secret.upper()
    yield "".join(f"\\{ord(c):x} " for c in secret).strip()
    yield "".join(f"\\{ord(c):06X}" for c in secret)
    yield re.sub(r"([^\w])", r"\\\1", secret)
    for inner in (b"Authorization: Basic " + base64.b64encode(b"u:" + raw), f"a=b&secret={urllib.parse.quote(secret, safe='')}".encode(), json.dumps({"token": secret}).replace("/", "\\/").encode()):
        yield base64.b64encode(inner).decode()[28:-4]
    # What is broken into lines is shown as it is, or as JSON.
    for break_ in ("\n    ", "\\n    "):
        yield break_.join(secret[at : at + 8] for at in range(0, len(secret), 8))
        yield f",{break_[:-2]}".join(map(str, raw))


LEAKS = sorted(set(encodings(SECRET)), key=len, reverse=True)


def leak(text):
    for shown in LEAKS:
        if shown in text:
            return shown
    return None


def digest(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
    return found


def processes_in(folder):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if Path(os.readlink(entry / "cwd")).is_relative_to(folder):
                    state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                    if state != "Z":
                        found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
    return found


def run(attack):
    """Runs an attack in folders of its own and judges what came of it."""
    base = Path(tempfile.mkdtemp(prefix="attack-"))
    place = Place(base / "home", base / "outside", base / "tmp")
    for folder in (place.home, place.outside, place.tmp):
        folder.mkdir()
    (place.outside / "precious").write_text("precious: keep me\n")
    (place.outside / "credentials").write_text("aws_secret_access_key = AKIA-outside-secret\n")
    server = None
    try:
        if attack.http:
            server = subprocess.Popen(
                [sys.executable, str(HERE / "evil.py"), "http", attack.http],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", env={**os.environ, "TOKEN": SECRET},
            )
            place.url = server.stdout.readline().decode().strip()
        return judged(attack, place)
    finally:
        if server:
            server.kill()
            server.wait()
            server.stdin.close()
            server.stdout.close()
        subprocess.run(["rm", "-rf", str(base)], check=False, stderr=subprocess.DEVNULL)


def filled(text, place):
    names = {"url": place.url, "evil": EVIL, "misbehave": MISBEHAVE, "home": str(place.home),
             "outside": str(place.outside), "mcprove": MCPROVE}
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text


def judged(attack, place):
    for name, content in attack.files.items():
        path = place.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content = content()
        path.write_bytes(filled(content, place).encode() if isinstance(content, str) else content)
    (place.home / "out").mkdir(exist_ok=True)
    if attack.prepare:
        attack.prepare(place)
    given = set(place.home.rglob("*")) if attack.walks else set()
    before = digest(place.outside)
    env = {
        "PATH": os.environ["PATH"], "HOME": str(place.home), "TMPDIR": str(place.tmp), "NO_COLOR": "1", "LANG": "C.UTF-8",
        "TOKEN": SECRET, "CI": "", **{name: filled(value, place) for name, value in attack.env.items()},
    }
    argv = [filled(str(word), place) for word in attack.argv]
    line = ["sh", "-c", filled(attack.shell, place), MCPROVE, *argv] if attack.shell else [MCPROVE, *argv]
    out, err = place.tmp.parent / "stdout", place.tmp.parent / "stderr"
    began = time.monotonic()
    undriven = []
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        process = subprocess.Popen(
            line, cwd=place.home, env=env, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, start_new_session=True,
        )
        late = threading.Timer(attack.seconds * SLOWNESS, lambda: os.killpg(process.pid, signal.SIGKILL))
        late.start()
        peak = {"bytes": 0}
        watcher = threading.Thread(target=watch, args=(process.pid, peak), daemon=True)
        watcher.start()
        try:
            if attack.drive:
                try:
                    attack.drive(process, place)
                except Exception as error:  # noqa: BLE001 - an attack that was not made has not been held
                    undriven = [f"not driven: {error!r}"]
                    process.kill()
            else:
                try:
                    process.stdin.write(attack.stdin)
                    process.stdin.close()
                except OSError:
                    pass
            process.wait()
        finally:
            late.cancel()
            if process.stdin and not process.stdin.closed:
                try:
                    process.stdin.close()
                except OSError:
                    pass
    took = time.monotonic() - began
    # The usage that the system reports for a child would have what this program took before it became the child.
    memory = peak["bytes"]
    stdout, stderr = read(out), read(err)
    said = stdout + stderr
    wrong = undriven
    code = process.returncode
    if took >= attack.seconds * SLOWNESS:
        wrong.append(f"late: {took:.0f} s")
    elif code not in attack.codes:
        wrong.append(f"code {code}, not {sorted(attack.codes)}")
    if re.search("cannot be used multiple times|required arguments were not provided|cannot be used with", said):
        wrong.append("not made: the command line is refused")
    if "panicked at" in said or "internal error" in said and code == 70:
        wrong.append("panic")
    if memory > attack.memory:
        wrong.append(f"{memory >> 20} MiB")
    size = out.stat().st_size + err.stat().st_size
    if size > attack.output:
        wrong.append(f"{size} bytes of output")
    if not attack.raw_output:
        acting = ACTS.search(said)
        if acting:
            wrong.append(f"prints {acting.group()!r}: {said[max(0, acting.start() - 60):acting.end() + 20]!r}")
        # Annotations that were asked for are commands of mcprove.
        own = re.sub(r"(?m)^::(error|warning|notice) (file|title)=.*$", "", said) if "--github" in argv else said
        command = COMMANDS.search(own)
        if command:
            wrong.append(f"prints a command: {own[command.start():command.end() + 40]!r}")
    wrong += [f"does not say {text!r}" for text in attack.says if not re.search(text, said)]
    wrong += [f"says {text!r}" for text in attack.says_not if re.search(text, said)]
    wrong += files_wrong(attack, place, given, said)
    if attack.keeps_outside and digest(place.outside) != before:
        wrong.append("changed files outside of its folder")
    if "AKIA-outside-secret" in said:
        wrong.append("quotes a file outside of its folder")
    wrong += left_behind(place)
    if attack.check:
        try:
            found = attack.check(place, stdout, stderr, code)
            wrong += [found] if isinstance(found, str) else list(found or [])
        except Exception as error:  # noqa: BLE001 - an attack that cannot be judged has not been held
            wrong.append(f"not judged: {error!r}")
    return Outcome(attack, wrong, memory, took, code, said)


def read(path, most=8 << 20):
    with open(path, "rb") as file:
        return file.read(most).decode("utf-8", errors="replace")


def talking(*requests, seconds=60):
    """Sends lines of JSON one after the other, each when the one before it has its answer, and closes the input."""

    def drive(process, place):
        answers, end = open(place.tmp.parent / "stdout", "rb"), time.monotonic() + seconds * SLOWNESS
        answered = 0
        with answers:
            for asked, request in enumerate(requests, 1):
                process.stdin.write((filled(json.dumps(request), place) + "\n").encode())
                process.stdin.flush()
                while "id" in request and answered < sum("id" in each for each in requests[:asked]):
                    if process.poll() is not None or time.monotonic() > end:
                        raise RuntimeError(f"no answer to request {asked}")
                    chunk = answers.read(1 << 20)
                    answered += chunk.count(b"\n")
                    if not chunk:
                        time.sleep(0.02)
        process.stdin.close()

    return drive


def watch(pid, peak):
    """The most memory of a process and of mcprove below it; the usage of a shell would be its own."""
    while True:
        ids = [pid]
        try:
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                if Path(os.readlink(f"/proc/{child}/exe")).name == Path(MCPROVE).name:
                    ids.append(int(child))
        except OSError:
            pass
        found = False
        for each in ids:
            try:
                for line in Path(f"/proc/{each}/status").read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        peak["bytes"] = max(peak["bytes"], int(line.split()[1]) << 10)
                        found = True
            except OSError:
                continue
        if not found:
            return
        time.sleep(0.01)


def files_wrong(attack, place, given, said):
    wrong = []
    shown = None if attack.may_say_secret else leak(said)
    if shown:
        at = said.index(shown)
        wrong.append(f"shows a secret: {said[max(0, at - 80):at + len(shown) + 10]!r}")
    if not attack.walks:
        return wrong
    for path in place.home.rglob("*"):
        if path in given or path.is_symlink() or not path.is_file():
            continue
        size, text = path.stat().st_size, read(path)
        name = path.relative_to(place.home)
        is_log = path.suffix in (".ndjson", ".png", ".wav", ".jpg", ".bin")
        if size > (256 << 20 if is_log else attack.report):
            wrong.append(f"{name} has {size} bytes")
        shown = None if attack.may_say_secret else leak(text)
        if shown:
            at = text.index(shown)
            wrong.append(f"{name} has a secret: {text[max(0, at - 80):at + len(shown) + 10]!r}")
        if is_log or attack.raw_output:
            continue
        acting = ACTS.search(text)
        if acting:
            wrong.append(f"{name} has {acting.group()!r}: {text[max(0, acting.start() - 60):acting.end() + 20]!r}")
        if COMMANDS.search(text):
            wrong.append(f"{name} has a command of a build server")
    return wrong


def left_behind(place):
    # What was killed takes a moment to go.
    for _ in range(60):
        left, files = processes_in(place.home), os.listdir(place.tmp)
        if not left and not files:
            return []
        time.sleep(0.1)
    wrong = [f"left the process {line[:100]!r}" for line in left[:3]]
    return wrong + [f"left {len(files)} temporary files: {files[:3]}"] * bool(files)

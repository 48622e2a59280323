"""Suites and command lines that attacks share."""

from harness import EVIL

PYTHON, SCRIPT = EVIL.split()


def evil(*words):
    """The value of `server:` for a behaviour of evil.py, with a secret in its environment."""
    args = ", ".join(f'"{word}"' for word in [SCRIPT, *words])
    return f'{{command: "{PYTHON}", args: [{args}], env: {{TOKEN: "${{TOKEN}}"}}}}'


def over_http(headers=""):
    """The value of `server:` for the HTTP server of the attack."""
    return '{url: "{url}", transport: http' + (f", headers: {headers}" if headers else "") + "}"


def case(server, expect="{contains: [zebra]}", tool="echo", name="hi", timeout="20s"):
    """An assertion file with one call."""
    return (
        f"name: {name}\nserver: {server}\ntimeout: {timeout}\nassert:\n  tool: {tool}\n  args: {{text: zebra}}\n"
        f"  expect: {expect}\n"
    )


def suite(server, tests, head=""):
    """A suite file with calls of `echo`."""
    return f"{head}servers:\n  s: {server}\ntools:\n" + "".join(f"  - {test}\n" for test in tests)


def subject(*words):
    return ["--server", " ".join([EVIL, *words])]

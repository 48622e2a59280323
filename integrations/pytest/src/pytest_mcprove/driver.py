"""A client of `mcprove drive`: one JSON object per line in both directions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from typing import Any

ANOTHER_PROGRAM = "if this is not mcprove, set MCPROVE to the full path of the program"


class DriveError(Exception):
    """A request that could not be done: a mistake in it, or a server that could not be reached."""

    def __init__(self, error: dict[str, Any]) -> None:
        self.kind: str = error.get("kind", "other")
        self.findings: list[dict[str, Any]] = error.get("findings", [])
        lines = [error.get("message", "")]
        if error.get("evidence"):
            lines.append(f"  it sent: {error['evidence']}")
        if error.get("help"):
            lines.append(f"  help: {error['help']}")
        super().__init__("\n".join(lines))


class ExpectationFailed(AssertionError):
    """A reply that is not as expected; its text is mcprove's message."""


def find_program(configured: str | None = None) -> str:
    """The program: `MCPROVE`, the configured one, the one of this Python environment, or that of the PATH."""
    named = os.environ.get("MCPROVE") or configured
    if named:
        return named
    suffix = ".exe" if sys.platform == "win32" else ""
    installed = os.path.join(sysconfig.get_path("scripts"), "mcprove" + suffix)
    if os.path.exists(installed):
        return installed
    return shutil.which("mcprove") or "mcprove"


class Driver:
    """A running `mcprove drive`."""

    def __init__(self, program: str | None = None, cwd: str | os.PathLike[str] | None = None) -> None:
        path = self._path = find_program(program)
        try:
            self._process = subprocess.Popen(
                [path, "drive"],
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        except OSError as error:
            help = "install mcprove, or set MCPROVE to the full path of the program"
            raise DriveError({"message": f"`{path}` could not be started: {error}", "help": help}) from None
        self._has_answered = False
        self._lock = threading.Lock()
        self._id = 0

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a request and waits for its result."""
        __tracebackhide__ = True
        with self._lock:
            self._id += 1
            try:
                line = json.dumps({"id": self._id, "method": method, "params": params}, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise type(error)(f"not sent, because it is not JSON: {error}") from None
            try:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            except (BrokenPipeError, ValueError):
                answer = ""
        if not answer:
            raise self._ended()
        reply = self._decode(answer)
        if "error" in reply:
            raise DriveError(reply["error"])
        return reply["result"]

    def _ended(self) -> DriveError:
        # Its output is closed, so it is about to end.
        self._close_input()
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        error = {"message": f"`{self._path} drive` ended (exit code {code}); its standard error says why"}
        if not self._has_answered:
            error["help"] = ANOTHER_PROGRAM
        return DriveError(error)

    def _decode(self, answer: str) -> dict[str, Any]:
        try:
            reply = json.loads(answer)
        except ValueError:
            reply = None
        if not isinstance(reply, dict) or reply.get("id") != self._id or not reply.keys() & {"result", "error"}:
            # Another program may never end.
            self._process.kill()
            shown = answer.strip()[:80]
            raise DriveError({"message": f"`{self._path} drive` sent `{shown}`, which is no reply", "help": ANOTHER_PROGRAM})
        self._has_answered = True
        return reply

    def open(self, server: str | dict[str, Any], **params: Any) -> Server:
        """Starts or reaches a server."""
        __tracebackhide__ = True
        return Server(self, self.request("open", server=server, **params))

    def close(self) -> None:
        """Ends the program, and with it all of its servers."""
        self._close_input()
        self._process.wait()
        self._process.stdout.close()

    def _close_input(self) -> None:
        try:
            self._process.stdin.close()
        except OSError:
            # It ended before it read everything: an interrupt reaches it, too.
            pass


class Server:
    """An open session with a server."""

    def __init__(self, driver: Driver, opened: dict[str, Any]) -> None:
        self._driver = driver
        self._session: int = opened["session"]
        self.name: str = opened["server"]["name"]
        self.version: str = opened["server"]["version"]
        self.protocol: str = opened["protocol"]
        self.capabilities: Any = opened["capabilities"]

    def call(self, tool: str, args: dict[str, Any] | None = None, **options: Any) -> Reply:
        """Calls a tool."""
        __tracebackhide__ = True
        return self._ask("call", options, tool=tool, args=args or {})

    def read(self, uri: str, **options: Any) -> Reply:
        """Reads a resource."""
        __tracebackhide__ = True
        return self._ask("read", options, uri=uri)

    def prompt(self, name: str, arguments: dict[str, str] | None = None, **options: Any) -> Reply:
        """Gets a prompt."""
        __tracebackhide__ = True
        return self._ask("prompt", options, name=name, arguments=arguments or {})

    def test(self, test: dict[str, Any]) -> Reply:
        """Runs an assertion as a suite would; raises if it fails."""
        __tracebackhide__ = True
        reply = Reply(self, self._driver.request("test", session=self._session, test=test))
        reply._raise_unless_passed()
        return reply

    def list(self) -> dict[str, Any]:
        """Tools, resources, resource templates and prompts."""
        __tracebackhide__ = True
        return self._driver.request("list", session=self._session)

    def close(self) -> None:
        """Ends the session and the process of the server."""
        __tracebackhide__ = True
        self._driver.request("close", session=self._session)

    def _ask(self, method: str, options: dict[str, Any], **params: Any) -> Reply:
        __tracebackhide__ = True
        expect = options.pop("expect", None)
        timeout = options.pop("timeout", None)
        if options:
            raise TypeError(f"unknown argument `{next(iter(options))}`; known are `expect` and `timeout`")
        if expect is not None:
            params["expect"] = expect
        if timeout is not None:
            if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < float("inf"):
                raise TypeError(f"`timeout` is a number of seconds, not {timeout!r}")
            params["timeout_ms"] = max(1, round(timeout * 1000))
        reply = Reply(self, self._driver.request(method, session=self._session, **params))
        # An error of the protocol is an answer, which may be expected later; silence is not.
        if expect is not None or reply.outcome not in ("result", "error"):
            reply._raise_unless_passed()
        return reply


class Reply:
    """The reply of a server."""

    def __init__(self, server: Server, fields: dict[str, Any]) -> None:
        self._server = server
        self._number: int | None = fields.get("reply")
        self.outcome: str = fields["outcome"]
        self.result: Any = fields.get("result")
        self.error: dict[str, Any] | None = fields.get("error")
        self.text: str = fields.get("text", "")
        self.is_error: bool = fields.get("is_error", False)
        self.structured: Any = fields.get("structured")
        self.duration: float = fields.get("duration_us", 0) / 1e6
        self.passed: bool = fields["passed"]
        self.message: str = fields["message"]
        self.findings: list[dict[str, Any]] = fields["findings"]

    def json(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)

    def expect(self, expect: Any = None, /, **checks: Any) -> Reply:
        """Judges the reply with mcprove's checks and matchers; raises if it is not as expected."""
        __tracebackhide__ = True
        if (expect is None) == (not checks):
            raise TypeError("give either an expectation or checks by name")
        wanted = checks if expect is None else expect
        driver, session = self._server._driver, self._server._session
        judged = driver.request("expect", session=session, reply=self._number, expect=wanted)
        if not judged["passed"]:
            raise ExpectationFailed(of_pytest(judged["message"]))
        return self

    def snapshot(self, name: str, target: str = "result") -> Reply:
        """Compares a part of the reply with what is stored under a name."""
        __tracebackhide__ = True
        return self.expect([{"target": target, "matcher": {"snapshot": name}}])

    def __repr__(self) -> str:
        shown = self.error if self.outcome == "error" else self.text
        return f"<Reply {self.outcome}: {shown!r}>"

    def _raise_unless_passed(self) -> None:
        __tracebackhide__ = True
        if not self.passed:
            raise ExpectationFailed(of_pytest(self.message))


def of_pytest(message: str) -> str:
    """A message about a reply, with what to do in Python tests."""
    message = message.replace("`mcprove run --update-snapshots`", "`pytest --mcprove-update-snapshots`")
    return message.replace("raise `timeout:` of the case (or `--timeout`) if", "give the call a longer `timeout` (in seconds) if")

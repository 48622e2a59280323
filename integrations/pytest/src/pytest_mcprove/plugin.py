"""The pytest plugin: suites are collected as items, and `mcp_server` drives a server."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any, Iterator

import pytest

from .driver import Driver, DriveError, Server

SUFFIXES = (".yaml", ".yml")

#: Where suites are looked for when nothing is configured.
DEFAULT_SUITES = ["mcprove.yml", "mcprove.yaml", "mcptest.yml", "mcptest.yaml", "evals"]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcprove", "tests of MCP servers")
    group.addoption(
        "--mcprove-update-snapshots",
        action="store_true",
        help="store the values of snapshot matchers instead of comparing with them",
    )
    parser.addini("mcprove_suites", "suite files and folders that are collected", type="linelist", default=[])
    parser.addini("mcprove_server", "the server of the `mcp_server` fixture: a command line", default="")
    parser.addini("mcprove_args", "arguments of `mcprove run`", type="args", default=[])
    parser.addini("mcprove_program", "the mcprove program", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mcprove: a test of an mcprove suite")
    config.addinivalue_line("markers", "mcp_server(server): the server of the `mcp_server` fixture")
    config.stash[RUNNER] = Runner(config)
    configured = config.getini("mcprove_suites")
    for suite in configured:
        path = config.rootpath / suite
        if not path.exists():
            raise pytest.UsageError(f"`mcprove_suites` names `{suite}`, which does not exist in {config.rootpath}")
        if path.is_dir() and not any(file.suffix in SUFFIXES for file in path.rglob("*")):
            raise pytest.UsageError(f"`mcprove_suites` names `{suite}`, which holds no `.yaml` or `.yml` files")
    # `testpaths` names what else is searched; suites that are configured are wanted, too.
    source = getattr(config, "args_source", None)
    if source is not None and source.name == "TESTPATHS":
        searched = [Path(arg).absolute() for arg in config.args]
        wanted = [config.rootpath / suite for suite in configured]
        config.args.extend(str(path) for path in wanted if not any(path.is_relative_to(folder) for folder in searched))


def pytest_unconfigure(config: pytest.Config) -> None:
    runner = config.stash.get(RUNNER, None)
    if runner is not None:
        runner.close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix not in SUFFIXES:
        return None
    runner = parent.config.stash[RUNNER]
    if runner.has_tests(file_path, is_named=parent.session.isinitpath(file_path)):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    outcome = yield
    if isinstance(item, SuiteItem) and call.when == "call" and item.result is not None:
        # Tests that share a server run in one go; each has the time it took by itself.
        outcome.get_result().duration = item.result["duration_us"] / 1e6


class SuiteFile(pytest.File):
    """A file of a suite."""

    def collect(self) -> Iterator[pytest.Item]:
        runner = self.config.stash[RUNNER]
        found = runner.found(self.path)
        if found["mistakes"]:
            raise SuiteMistakes(found["message"])
        names: dict[str, int] = {}
        for test in found["tests"]:
            name = test["name"]
            if test["variant"]:
                name += f"[{test['variant']}]"
            if test["trial"] > 1:
                name += f" (trial {test['trial']})"
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name += f" #{names[name]}"
            yield SuiteItem.from_parent(self, name=name, test=test)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (SuiteMistakes, DriveError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class SuiteItem(pytest.Item):
    """A test of a suite."""

    def __init__(self, *, test: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.test = test
        self.result: dict[str, Any] | None = None
        self.add_marker(pytest.mark.mcprove)
        for marker in filter(None, (marker_of(tag, self.config) for tag in test["tags"])):
            self.config.addinivalue_line("markers", f"{marker}: a tag of an mcprove suite")
            self.add_marker(marker)
        if test["skip"] is not None:
            self.add_marker(pytest.mark.skip(reason=test["skip"] or "skipped by the suite"))

    @property
    def key(self) -> tuple[str, str, str | None, int]:
        return (self.test["file"], self.test["name"], self.test["variant"], self.test["trial"])

    def runtest(self) -> None:
        self.result = self.config.stash[RUNNER].run(self)
        verdict = self.result["verdict"]
        if verdict == "skipped":
            pytest.skip(self.result["reason"] or "skipped by the suite")
        if verdict != "passed":
            raise SuiteFailure(self.result["message"])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (SuiteFailure, DriveError)):
            return f"{excinfo.value}\n\n{self.test['file']}:{self.test['line']}: {type(excinfo.value).__name__}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        return self.path, self.test["line"] - 1, self.name


class SuiteFailure(Exception):
    """A test that did not pass; its text is mcprove's message."""


class SuiteMistakes(Exception):
    """A file that cannot be run; its text lists the mistakes."""


class Runner:
    """Collects and runs suites with one `mcprove drive`."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._driver: Driver | None = None
        self._known: dict[Path, dict[str, Any]] | None = None
        self._results: dict[tuple[Any, ...], dict[str, Any]] = {}

    @property
    def driver(self) -> Driver:
        if self._driver is None:
            program = self.config.getini("mcprove_program") or None
            self._driver = Driver(program, cwd=self.config.rootpath)
        return self._driver

    def close(self) -> None:
        if self._driver is not None:
            self._driver.close()

    def has_tests(self, path: Path, is_named: bool) -> bool:
        """Whether a file belongs to a suite. mcprove decides: a folder also holds fixtures and imported files."""
        if self._known is None:
            self._known = {}
            configured = self.config.getini("mcprove_suites") or DEFAULT_SUITES
            suites = [suite for suite in configured if (self.config.rootpath / suite).exists()]
            if suites:
                self._collect(suites)
        if path not in self._known and is_named:
            self._collect([self._relative(path)])
        return path in self._known

    def found(self, path: Path) -> dict[str, Any]:
        return self._known[path]

    def run(self, item: SuiteItem) -> dict[str, Any]:
        """The result of an item. Tests of the same file run together where that is allowed, so that they share servers."""
        if item.key not in self._results:
            together = [item]
            if not hasattr(self.config, "workerinput") and not self.config.getoption("maxfail"):
                others = (other for other in item.session.items if isinstance(other, SuiteItem) and other.path == item.path)
                # What has a result is run again only if it is this one, as plugins do that repeat tests.
                together = [other for other in others if other is item or other.result is None]
            tests = [{"file": other.test["file"], "name": other.test["name"]} for other in together]
            answer = self.driver.request("run", args=self._args([item.test["file"]]), tests=tests)
            for result in answer["results"]:
                key = (result["file"], result["name"], result["variant"], result["trial"])
                self._results[key] = result
        try:
            return self._results.pop(item.key)
        except KeyError:
            raise SuiteFailure("mcprove did not report a result for this test") from None

    def _collect(self, suites: list[str]) -> None:
        try:
            answer = self.driver.request("collect", args=self._args(suites))
        except DriveError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        for test in answer["tests"]:
            self._entry(test["file"])["tests"].append(test)
        for finding in answer["findings"]:
            place = (finding.get("place") or {}).get("text")
            if finding["severity"] in ("note", "warning"):
                continue
            if place is None:
                raise pytest.Collector.CollectError(answer["message"])
            entry = self._entry(place["file"])
            entry["mistakes"].append(finding)
            entry["message"] += mistake_text(finding, place)

    def _entry(self, file: str) -> dict[str, Any]:
        path = Path(os.path.normpath(self.config.rootpath / file))
        return self._known.setdefault(path, {"tests": [], "mistakes": [], "message": ""})

    def _relative(self, path: Path) -> str:
        return os.path.relpath(path, self.config.rootpath)

    def _args(self, suites: list[str]) -> list[str]:
        args = [*suites, *self.config.getini("mcprove_args")]
        if self.config.getoption("mcprove_update_snapshots"):
            args.append("--update-snapshots")
        return args


RUNNER = pytest.StashKey[Runner]()


def marker_of(tag: str, config: pytest.Config) -> str:
    """The marker of a tag. Markers with arguments, such as `skip` and `timeout`, do something to a test, so a tag gets another name."""
    marker = re.sub(r"\W", "_", tag).lstrip("_")
    is_taken = any(line.startswith(f"{marker}(") for line in config.getini("markers"))
    return f"tag_{marker}" if is_taken else marker


def mistake_text(finding: dict[str, Any], place: dict[str, Any]) -> str:
    text = f"{place['file']}:{place['line']}:{place['column']}: {finding['rule']}: {finding['message']}\n"
    return text + (f"  help: {finding['help']}\n" if finding.get("help") else "")


@pytest.fixture
def mcp_open(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Opens servers: `mcp_open("python server.py")`. They are closed after the test."""
    config = request.config
    opened: list[Server] = []

    def open_server(server: str | list[str] | dict[str, Any], **params: Any) -> Server:
        __tracebackhide__ = True
        if isinstance(server, list):
            server = shlex.join(server)
        params.setdefault("file", str(request.path))
        params.setdefault("update_snapshots", config.getoption("mcprove_update_snapshots"))
        session = config.stash[RUNNER].driver.open(server, **params)
        opened.append(session)
        return session

    yield open_server
    for session in reversed(opened):
        try:
            session.close()
        except DriveError:
            # The test closed it itself.
            pass


@pytest.fixture
def mcp_server(request: pytest.FixtureRequest, mcp_open: Any) -> Server:
    """The server of `mcprove_server`, or of the marker `mcp_server`, fresh for each test."""
    marker = request.node.get_closest_marker("mcp_server")
    if marker is None:
        server = request.config.getini("mcprove_server")
    else:
        named = [*marker.args, *marker.kwargs.values()]
        if len(named) != 1 or marker.kwargs.keys() - {"server"}:
            pytest.fail('the marker `mcp_server` takes one server: `@pytest.mark.mcp_server("python server.py")`', pytrace=False)
        server = named[0]
    if not server:
        pytest.fail('no server: set `mcprove_server` in pyproject.toml, or mark the test with `@pytest.mark.mcp_server("…")`', pytrace=False)
    try:
        return mcp_open(server)
    except DriveError as error:
        problem = str(error)
    # Outside of `except`, because pytest would show both.
    pytest.fail(problem, pytrace=False)

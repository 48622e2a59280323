"""Instruction counts of the program, item by item, and the table of them that is committed."""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from program import progress
from table import table
from workshop import ROOT, Workshop

PAGE = ROOT / "bench/counts.md"
# How much more is a change of the program; what waits for servers looks now and then whether they have answered.
TOLERANCE = 0.05
WAITING_TOLERANCE = 0.15


def items(shop):
    """Name, words, number of things done, and whether it waits for a server."""
    few, many = 100, 1_000
    url = shop.url()
    yield "`--version`", ["--version"], 1, False
    yield "`--help`", ["--help"], 1, False
    yield "`run --help`", ["run", "--help"], 1, False
    yield "validate tests in one suite", ["validate", "--quiet", shop.suite(many)], many, False
    yield "validate assertion files", ["validate", "--quiet", shop.assertions(many)], many, False
    yield "plan tests in one suite", ["run", "--dry-run", "--quiet", shop.suite(many)], many, False
    yield "cases, a native server each", ["run", "--quiet", shop.assertions(few)], few, True
    yield "tests over one server", ["run", "--quiet", shop.suite(many)], many, True
    yield "tests over HTTP, one at a time", ["run", "--quiet", shop.suite(many, None, url)], many, True
    yield "tests over HTTP, 8 at a time", ["run", "--quiet", shop.suite(many, 8, url)], many, True
    yield "schema-lint of tools", ["schema-lint", shop.catalog(many)], many, False
    for name in ("html", "json", "junit"):
        words = ["report", shop.log(many), "--format", name, "-o", shop.folder / f"report.{name}"]
        yield f"report of cases as {name}", words, many, False


def main(description):
    parser = argparse.ArgumentParser(
        prog="bench/counts", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", metavar="TEXT", nargs="?", default="", help="only the items with this text in their name")
    parser.add_argument("--write", action="store_true", help="replace the table in bench/counts.md")
    parser.add_argument("--mcprove", metavar="PATH", default=os.environ.get("MCPROVE"),
                        help="count this binary instead of building one [also: MCPROVE]")
    asked = parser.parse_args()
    if shutil.which("valgrind") is None:
        parser.error("`valgrind` is not on the PATH; install it from your system's packages")
    if asked.write and asked.only:
        parser.error("`--write` wants all items")
    known = read_table()
    rows, worse = [], []
    with tempfile.TemporaryDirectory(prefix="mcprove-bench-") as folder:
        shop = Workshop(Path(folder), quick=False, mcprove=asked.mcprove)
        shop.build(["tiny-server"])
        for name, words, things, waits in items(shop):
            if asked.only not in name:
                continue
            progress(name)
            count = instructions([shop.mcprove, *words])
            change = f"{count / known[name] - 1:+.1%}" if name in known else ""
            if name in known and count > known[name] * (1 + (WAITING_TOLERANCE if waits else TOLERANCE)):
                worse.append(name)
            rows.append([name, f"{things:,}", f"{count:,}", f"{count // things:,}", "" if asked.write else change])
        shop.end()
    text = table(["item", "number", "instructions", "each", "change"], rows)
    print(text)
    if asked.write:
        PAGE.write_text(f"{HEAD}\n{text}\n")
        return 0
    for name in worse:
        print(f"\nmore than before: {name}")
    return 1 if worse else 0


HEAD = """# Instructions of mcprove

Counted by `bench/counts --write` with callgrind, for the whole run of each item; *each* is per test, case, file or tool. The kernel and
the servers are not counted.
"""


def instructions(words):
    """The instructions of a command without those of the programs it starts."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=no", *map(str, words)]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode not in (0, 1) or found is None:
        raise SystemExit(f"{run.stderr[-2000:]}\nbench/counts: failed: {' '.join(map(str, words))}")
    return int(found[1])


def read_table():
    """The committed counts by the names of their items."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: int(row[2].replace(",", "")) for row in cells[1:]}

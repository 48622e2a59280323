"""What was asked for, item by item, and the tables at the end."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import items
from measuring import take_turns
from table import growth_table, machine, races_table
from workshop import ROOT, Workshop


PAGE = ROOT / "docs/performance.md"
BEGIN, END = "<!-- figures of bench/run -->\n", "<!-- end of figures -->\n"


def main(description):
    asked = arguments(description)
    chosen = [item for item in items.ALL if not asked.items or item.NUMBER in asked.items]
    with tempfile.TemporaryDirectory(prefix="mcprove-bench-") as folder:
        shop = Workshop(Path(folder), quick=asked.quick, mcprove=asked.mcprove)
        shop.build()
        parts = [machine(shop, asked.repeats)]
        if asked.write or not asked.growth:
            parts.append(races_table(raced(chosen, shop, asked.repeats)))
            parts.extend(note for item in chosen for note in getattr(item, "notes", lambda _: [])(shop))
        if asked.write or asked.growth:
            parts.append(growth_table(grown(chosen, shop, min(asked.repeats, 3))))
        shop.end()
    text = "\n\n".join(parts) + "\n"
    print(text)
    if asked.write:
        put_into_page(text)
    return 0


def put_into_page(text):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def arguments(description):
    parser = argparse.ArgumentParser(
        prog="bench/run", description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="items:\n" + "\n".join(f"  {item.NUMBER:>2}  {item.TITLE}" for item in items.ALL),
    )
    parser.add_argument("items", metavar="ITEM", nargs="*", type=int, help="which items, by number; all when left out")
    parser.add_argument("--repeats", type=int, metavar="N", help="how often each command is measured [9; 3 with --quick]")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, to see that all of it works")
    parser.add_argument("--growth", action="store_true",
                        help="instead: what 1, 10 and 100 times the work costs, where that makes sense")
    parser.add_argument("--write", action="store_true", help="both, and put them into docs/performance.md")
    parser.add_argument("--mcprove", metavar="PATH", default=os.environ.get("MCPROVE"),
                        help="measure this binary instead of building one [also: MCPROVE]")
    asked = parser.parse_args()
    if unknown := set(asked.items) - {item.NUMBER for item in items.ALL}:
        parser.error(f"there is no item {min(unknown)}")
    asked.repeats = asked.repeats or (3 if asked.quick or asked.growth else 9)
    return asked


def raced(chosen, shop, repeats):
    """Each item's races, with what each command cost; items that cannot be run here say why."""
    for item in chosen:
        progress(f"{item.NUMBER}: {item.TITLE}")
        races = list(item.races(shop))
        commands = [command for race in races for command in race.commands()]
        # What takes minutes a round is not repeated as often.
        costs = take_turns(shop, commands, min(repeats, getattr(item, "MOST_REPEATS", repeats)))
        yield item, races, costs


def grown(chosen, shop, repeats):
    for item in chosen:
        for line in getattr(item, "growth", lambda _: [])(shop):
            progress(f"{item.NUMBER}: {line.what}")
            commands = [line.command(amount) for amount in line.amounts]
            yield item, line, take_turns(shop, commands, repeats)


def progress(text):
    print(f"bench/run: {text}", file=sys.stderr, flush=True)

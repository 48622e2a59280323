"""Items that peers can do, with the peers in the same run."""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

import items
from measuring import take_turns
from program import progress
from table import machine, races_table
from workshop import Workshop

PEERS = {"mcp-assert": "pip install mcp-assert", "mcptest": "cargo install mcptest"}


def main(description):
    parser = argparse.ArgumentParser(
        prog="bench/compare", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", metavar="PEER", nargs="+", choices=list(PEERS), help=", ".join(PEERS))
    parser.add_argument("--items", metavar="N,N", default="", help="only these items, by number")
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="how often each command is measured [7]")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, to see that all of it works")
    parser.add_argument("--mcprove", metavar="PATH", default=os.environ.get("MCPROVE"),
                        help="measure this binary instead of building one [also: MCPROVE]")
    asked = parser.parse_args()
    for peer in asked.peers:
        if shutil.which(peer) is None:
            parser.error(f"`{peer}` is not on the PATH; install it: {PEERS[peer]}")
    numbers = {int(number) for number in asked.items.split(",") if number}
    chosen = [item for item in items.ALL if not numbers or item.NUMBER in numbers]
    with tempfile.TemporaryDirectory(prefix="mcprove-bench-") as folder:
        shop = Workshop(Path(folder), quick=asked.quick, mcprove=asked.mcprove, peers=asked.peers)
        shop.build()
        print(machine(shop, asked.repeats))
        print()
        print(races_table(list(compared(chosen, shop, asked.repeats))))
        shop.end()
    return 0


def compared(chosen, shop, repeats):
    """The races of each item in which a peer takes part, with what each command cost."""
    for item in chosen:
        races = [race for race in item.races(shop) if race.peers]
        if not races:
            continue
        progress(f"{item.NUMBER}: {item.TITLE}")
        commands = [command for race in races for command in race.commands()]
        yield item, races, take_turns(shop, commands, min(repeats, getattr(item, "MOST_REPEATS", repeats)))

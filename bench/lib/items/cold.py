"""What the program costs before it does anything."""

from pathlib import Path

from measuring import Command, Race

NUMBER = 10
TITLE = "cold start and size"


def races(shop):
    for word in ("--version", "--help"):
        peers = {name: Command([path, word]) for name in ("mcp-assert", "mcptest") if (path := shop.peer(name))}
        yield Race(f"`mcprove {word}`", Command([shop.mcprove, word]), peers=peers, goal="≤ 3 ms")


def notes(shop):
    sizes = [f"mcprove {shop.mcprove.stat().st_size / 1e6:.1f} MB (goal: 12)"]
    for name in ("mcp-assert", "mcptest"):
        if path := shop.peer(name):
            sizes.append(f"{name} {Path(path).resolve().stat().st_size / 1e6:.1f} MB")
    return [f"Size of the program: {', '.join(sizes)}."]

"""Adversarial calls."""

from measuring import Command, Race

NUMBER = 5
TITLE = "fuzz: calls a second"


def races(shop):
    count = shop.amount(20_000)
    ours = [shop.mcprove, "fuzz", "--quiet", "--seed", 1, "--runs", count, "--", shop.tiny]
    loop = Command([shop.floor, "loop", "--count", count, "--", shop.tiny], done=count)
    peers = {}
    if peer := shop.peer("mcp-assert"):
        peers["mcp-assert"] = Command([peer, "fuzz", "--server", shop.tiny, "--seed", 1, "--runs", count], codes=(0, 1))
    yield Race(
        f"{count:,} calls to a native server; floor: as many harmless ones, one after the other",
        Command(ours, done=count, codes=(0, 1)), loop, peers, "≥ 3 × mcp-assert",
    )
    yield Race(f"{count:,} calls to the built-in mock, in memory", Command([shop.fuzz_memory, count], done=count),
               goal="≥ 20,000/s")

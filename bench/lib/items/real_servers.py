"""A fresh server of npm or PyPI for each case."""

import json

from measuring import Command, Race

NUMBER = 2
TITLE = "isolated: 25 assertions, a fresh server in Node and in Python each"
MOST_REPEATS = 2


def races(shop):
    count = max(5, shop.amount(25))
    for name, (words, call) in shop.real_servers().items():
        suite = shop.assertions(count, words, call)
        peers = {}
        if peer := shop.peer("mcp-assert"):
            peers["mcp-assert"] = Command([peer, "run", "--suite", suite])
        for jobs in (1, 2):
            bare = [shop.floor, "spawn", "--count", count, "--threads", jobs, "--call", json.dumps(call), "--", *words]
            yield Race(
                f"{count} cases, {name}, {jobs} at a time",
                ours=Command([shop.mcprove, "run", "--jobs", jobs, suite]),
                floor=Command(bare),
                peers=peers if jobs == 1 else {},
                goal="the noise",
            )

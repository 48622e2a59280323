"""A fresh native server for each case."""

from measuring import Command, Growth, Race

NUMBER = 1
TITLE = "isolated: 200 assertions, a fresh native server each"


def races(shop):
    count = shop.amount(200)
    suite = shop.assertions(count)
    for jobs in (1, 2):
        peers = {}
        if peer := shop.peer("mcp-assert"):
            peers["mcp-assert"] = Command([peer, "run", "--suite", suite])
        yield Race(
            f"{count} cases, a native server each, {jobs} at a time",
            ours=Command([shop.mcprove, "run", "--jobs", jobs, suite]),
            floor=Command([shop.floor, "spawn", "--count", count, "--threads", jobs, "--", shop.tiny]),
            peers=peers,
            goal="≤ 1.10",
        )


def growth(shop):
    amounts = [shop.amount(number) for number in (20, 200, 2_000)]
    yield Growth("run, a native server each", "cases", amounts,
                 lambda count: Command([shop.mcprove, "run", "--jobs", 2, shop.assertions(count)]))

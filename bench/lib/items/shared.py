"""One suite file whose tests share a server."""

from measuring import Command, Growth, Race

NUMBER = 3
TITLE = "shared: 10,000 tests with three checks each over one server"


def races(shop):
    count = shop.amount(10_000)
    loop = Command([shop.floor, "loop", "--count", count, "--", shop.tiny], done=count)
    pipeline = Command([shop.floor, "pipeline", "--count", count, "--", shop.tiny], done=count)
    ours = Command([shop.mcprove, "run", "--quiet", shop.suite(count)], done=count)
    peers = {}
    if peer := shop.peer("mcptest"):
        peers["mcptest"] = Command([peer, "run", shop.suite(count)])
    yield Race(f"{count:,} tests in file order; floor: one call after the other", ours, loop, peers, "≤ 1.25, ≤ 48 MB")
    yield Race("the same; floor: calls that do not wait for each other", ours, pipeline)
    yield Race(
        f"{count:,} tests, `parallel: auto`; floor: one call after the other",
        Command([shop.mcprove, "run", "--quiet", shop.suite(count, parallel="auto")], done=count), loop, goal="< 1.0",
    )


def growth(shop):
    amounts = [shop.amount(number) for number in (100, 1_000, 10_000)]
    yield Growth("run over one server", "tests", amounts,
                 lambda count: Command([shop.mcprove, "run", "--quiet", shop.suite(count)]))

"""Judging the input schemas of many tools."""

from measuring import Command, Growth, Race

NUMBER = 6
TITLE = "schema-lint of 10,000 tools"


def races(shop):
    count = shop.amount(10_000)
    peers = {}
    if peer := shop.peer("mcptest"):
        peers["mcptest"] = Command([peer, "schema-lint", shop.catalog(count)], codes=(0, 1))
    yield Race(f"{count:,} tools", lint(shop, count), peers=peers)


def growth(shop):
    yield Growth("schema-lint", "tools", [shop.amount(number) for number in (100, 1_000, 10_000)],
                 lambda count: lint(shop, count))


def lint(shop, count):
    return Command([shop.mcprove, "schema-lint", shop.catalog(count)], done=count, codes=(0, 1))

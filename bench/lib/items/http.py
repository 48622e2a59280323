"""Calls over HTTP, several in flight."""

from measuring import Command, Race

NUMBER = 4
TITLE = "HTTP: 10,000 calls over one server, 8 in flight"


def races(shop):
    count, flying, url = shop.amount(10_000), 8, shop.url()
    floor = Command([shop.floor, "http", "--count", count, "--threads", flying, "--", url], done=count)
    trials = max(1, count // 100)
    again = [shop.mcprove, "run", "--quiet", "--trials", trials, shop.suite(100, flying, url)]
    yield Race(f"{count:,} calls: 100 tests, {trials} times each", Command(again, done=count), floor, goal="≤ 1.3")
    whole = [shop.mcprove, "run", "--quiet", shop.suite(count, flying, url)]
    yield Race(f"{count:,} calls: as many tests, all of them read first", Command(whole, done=count), floor)

"""Graphs of calls next to as many tests of one call each."""

from measuring import Command, Race

NUMBER = 11
TITLE = "compositions: 1,000 nodes over one server"


def races(shop):
    count = shop.amount(1_000)
    tests = Command([shop.mcprove, "run", "--quiet", shop.suite(count)], done=count)
    graph = Command([shop.mcprove, "run", "--quiet", shop.composition(count, 1)], done=count)
    chains = Command([shop.mcprove, "run", "--quiet", shop.composition(count, 10)], done=count)
    yield Race(f"one graph of {count:,} nodes; floor: {count:,} tests of mcprove", graph, tests, goal="≤ 1.5")
    yield Race(f"chains of {count // 10:,} nodes, 10 graphs; floor: {count:,} tests of mcprove", chains, tests, goal="≤ 1.5")


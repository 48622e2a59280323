"""A case that gets a copy of a folder of its own."""

import shutil

from measuring import Command, Growth, Race

NUMBER = 9
TITLE = "fixture copy of 10,000 small files"


def races(shop):
    count = shop.amount(10_000)
    tree, copy = shop.tree(count), shop.folder / "copied"
    bare = Command([shop.floor, "copy", "--", tree, copy], before=lambda: shutil.rmtree(copy, ignore_errors=True))
    yield Race(f"one case with a copy of {count:,} files; floor: copied and removed on one thread", case(shop, count), bare)


def growth(shop):
    yield Growth("one case with a copy", "files", [shop.amount(number) for number in (100, 1_000, 10_000)],
                 lambda count: case(shop, count))


def case(shop, count):
    return Command([shop.mcprove, "run", "--fixture", shop.tree(count), shop.assertions(1)])

"""From files to a plan, with nothing started."""

from measuring import Command, Growth, Race

NUMBER = 7
TITLE = "load, validate and plan 10,000 assertion files, and one suite of 10,000 tests"


def races(shop):
    count = shop.amount(10_000)
    for what, make in (("assertion files", shop.assertions), ("tests in one suite", shop.suite)):
        for word, words in (("validate", ["validate"]), ("plan", ["run", "--dry-run"])):
            yield Race(f"{word} {count:,} {what}", Command([shop.mcprove, *words, "--quiet", make(count)], done=count))


def growth(shop):
    amounts = [shop.amount(number) for number in (100, 1_000, 10_000)]
    for what, make in (("assertion files", shop.assertions), ("tests in one suite", shop.suite)):
        yield Growth("validate", what, amounts,
                     lambda count, make=make: Command([shop.mcprove, "validate", "--quiet", make(count)]))

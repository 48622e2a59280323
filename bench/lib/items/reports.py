"""Reports made from the log of a run."""

from measuring import Command, Growth, Race

NUMBER = 8
TITLE = "every report format from a log of 10,000 cases"
FORMATS = ["badge", "github", "html", "json", "junit", "markdown", "ndjson", "sarif", "tap"]


def races(shop):
    count = shop.amount(10_000)
    for name in FORMATS:
        yield Race(f"{name} of {count:,} cases", report(shop, count, name))
    yield Race(f"what a run shows of {count:,} cases", Command([shop.mcprove, "report", shop.log(count)]))


def growth(shop):
    amounts = [shop.amount(number) for number in (100, 1_000, 10_000)]
    for name in ("html", "json", "junit", "markdown"):
        yield Growth(f"report as {name}", "cases", amounts, lambda count, name=name: report(shop, count, name))


def report(shop, count, name):
    words = [shop.mcprove, "report", shop.log(count), "--format", name, "-o", shop.folder / f"report.{name}"]
    return Command(words)

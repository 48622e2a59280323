"""Tables in Markdown, to be read as they are or pasted into a page."""

import datetime
import os
import platform
from pathlib import Path


def machine(shop, repeats):
    cpu = next((line.split(":", 1)[1].strip() for line in read("/proc/cpuinfo").splitlines() if "model name" in line), "?")
    load = os.getloadavg()[0]
    size = "a tenth of the work, " if shop.quick else ""
    return (
        f"Measured on {datetime.date.today():%d %B %Y}: {os.cpu_count()} cores ({cpu}), {platform.system()} {platform.release()}, "
        f"load {load:.1f} at the start, {size}medians of {repeats} runs, {shop.version()}"
    )


def races_table(raced):
    rows = []
    for item, races, costs in raced:
        for race in races:
            rows.append(race_row(item, race, costs))
    head = ["item", "what", "floor", "mcprove", "ratio", "goal", "cpu ratio", "memory", "peers"]
    return table(head, rows)


def race_row(item, race, costs):
    ours = costs[race.ours]
    floor = costs[race.floor] if race.floor else None
    ratio = f"{ours.wall / floor.wall:.2f}" if floor else ""
    cpu = f"{ours.cpu / floor.cpu:.2f}" if floor and floor.cpu > 0 else ""
    took = time_of(race.ours, ours)
    peers = ", ".join(peer_text(name, race, command, costs) for name, command in race.peers.items())
    return [
        str(item.NUMBER), race.what, time_of(race.floor, floor) if floor else "", took, ratio, race.goal, cpu,
        f"{ours.memory:.0f} MB", peers,
    ]


def peer_text(name, race, command, costs):
    cost = costs[command]
    return f"{name} {seconds(cost.wall)} ({cost.wall / costs[race.ours].wall:.2f} of ours), {cost.memory:.0f} MB"


def growth_table(grown):
    rows = []
    for item, line, costs in grown:
        first, *_ = costs.values()
        cells = [f"{seconds(cost.wall)}, {cost.memory:.0f} MB" for cost in costs.values()]
        by_amount = list(zip(line.amounts, (cost.wall for cost in costs.values())))
        steps = [(more - less) / (many - few) for (few, less), (many, more) in zip(by_amount, by_amount[1:])]
        each = " → ".join(seconds(step) for step in steps)
        rows.append([str(item.NUMBER), f"{line.what}: {', '.join(f'{amount:,}' for amount in line.amounts)} {line.unit}",
                     *cells, each])
    return table(["item", "what", "1×", "10×", "100×", "each further one"], rows)


def time_of(command, cost):
    return f"{seconds(cost.wall)}, {command.done / cost.wall:,.0f}/s" if command.done else seconds(cost.wall)


def seconds(time):
    if time < 0.000_01:
        return f"{time * 1e6:.1f} µs"
    if time < 0.001:
        return f"{time * 1e6:.0f} µs"
    if time < 0.01:
        return f"{time * 1e3:.1f} ms"
    return f"{time * 1e3:.0f} ms" if time < 1 else f"{time:.2f} s"


def table(head, rows):
    """A Markdown table with its columns aligned; columns that are empty everywhere are left out."""
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    lines = [[row[column] for column in used] for row in [head, *rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(used))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def read(path):
    return Path(path).read_text() if Path(path).exists() else ""

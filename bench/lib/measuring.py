"""Runs commands in turns and says what each cost."""

import statistics
import subprocess
from dataclasses import dataclass, field


@dataclass(eq=False)
class Command:
    """Something to run; `done` is how many things it does, where a rate is of interest."""

    words: list
    done: int = 0
    codes: tuple = (0,)
    cwd: str | None = None
    before: object = None
    """Called before each run, unmeasured."""

    def __post_init__(self):
        self.words = [str(word) for word in self.words]


@dataclass
class Race:
    """One row of the table: the same work, done by us, by the floor and by peers."""

    what: str
    ours: Command
    floor: Command | None = None
    peers: dict = field(default_factory=dict)
    goal: str = ""
    shows: str = "ratio"
    """What the goal is about: `ratio`, `time`, `rate` or `memory`."""

    def commands(self):
        return [command for command in [self.floor, self.ours, *self.peers.values()] if command]


@dataclass
class Growth:
    """How cost grows with the work: `command(amount)` does that much."""

    what: str
    unit: str
    amounts: list
    command: object


@dataclass
class Cost:
    """Medians over all runs: seconds of wall and of processor time, and MiB of memory."""

    wall: float
    cpu: float
    memory: float
    least: float
    most: float


def take_turns(shop, commands, repeats):
    """Runs all commands once to warm the caches, then `repeats` times in turns; what each cost."""
    taken = {id(command): [] for command in commands}
    for round_number in range(repeats + 1):
        for command in commands:
            measured = run_once(shop, command)
            if round_number > 0:
                taken[id(command)].append(measured)
    return {command: summed_up(taken[id(command)]) for command in commands}


def summed_up(runs):
    walls = [run[0] for run in runs]
    median = [statistics.median(column) for column in zip(*runs)]
    return Cost(*median, least=min(walls), most=max(walls))


def run_once(shop, command):
    if command.before:
        command.before()
    words = [str(shop.floor), "measure", "--", *command.words]
    run = subprocess.run(words, cwd=command.cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    *output, last = run.stdout.rsplit(b"\nmeasured ", 1)
    numbers = [int(number) for number in last.split()] if output else []
    if run.returncode != 0 or len(numbers) != 5 or numbers[0] not in command.codes:
        tail = run.stdout.decode(errors="replace")[-2000:]
        raise SystemExit(f"{tail}\nbench/run: failed: {' '.join(command.words)}")
    _, wall, user, system, kibibytes = numbers
    return wall / 1e6, (user + system) / 1e6, kibibytes / 1024

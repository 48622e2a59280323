"""What `mcprove list` costs above the handshake itself."""

from measuring import Command, Race

NUMBER = 12
TITLE = "`mcprove list`, cold, on a native server"


def races(shop):
    yield Race(
        "list a native server; floor: its start, handshake and one call",
        ours=Command([shop.mcprove, "list", "--", shop.tiny]),
        floor=Command([shop.floor, "spawn", "--count", 1, "--threads", 1, "--", shop.tiny]),
        goal="≤ 10 ms more than the floor",
        shows="time",
    )

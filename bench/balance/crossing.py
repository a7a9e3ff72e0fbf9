# SPDX-License-Identifier: BSD-3-Clause
"""Gathered and distributed decisions on a slow network, around their crossover.

Each node has one rank; all nodes are connected to one switch, as in the model of
decisions.
"""

from __future__ import annotations

import ctypes
import math
import tempfile
from pathlib import Path
from typing import NamedTuple

from balance.scattered import PLAIN
from balance.simulated import COUNTING, HERE, build, launch
from objects.programs import format_switch_platform
from smpi import CORE

#: Bandwidth in bytes per second, and latency of a link.
RATE, LATENCY = 1e7, "2.5us"
RANKS = (128, 256, 512, 1024, 2048, 4096)
FEW = (32, 64)
#: Opposite messages on a link do not slow each other, as in the model.
NETWORK = PLAIN | {"network/crosstraffic": "no"}
#: Polling interval in seconds. Each poll is an event, so many ranks poll less often.
POLL, RARELY = "1e-6", "5e-6"
#: Maximum number of ranks in the search for the crossover.
LARGEST = 1 << 16


class Crossing(NamedTuple):
    """Microseconds per decision by gathered loads and by messages; nan: timeout."""

    ranks: int
    gathered: float
    by_messages: float
    messages: int  # maximum number of messages per sender


def time_both(ranks: int) -> Crossing:
    """Time decisions by gathered loads and by messages."""
    gathered, _ = _simulate_decision(ranks, "gathered", 1)
    by_messages, sent = _simulate_decision(ranks, "by_messages", 1)
    return Crossing(ranks, gathered, by_messages, sent)


def time_message() -> float:
    """Return the microseconds of a message of one number."""
    return _simulate_decision(2, "message", 10)[0]


def predict(message_us: float) -> int:
    """Return the minimum number of ranks for which the library decides by messages."""
    gathers = ctypes.CDLL(str(CORE)).topoloom_gathers_loads
    costs = ctypes.c_double(1e-6 * message_us), ctypes.c_double(1 / RATE)
    return next(
        ranks for ranks in range(2, LARGEST) if not gathers(ranks, ranks, 1, *costs)
    )


def _simulate_decision(ranks: int, way: str, repeats: int) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(HERE / "decide.c", folder, COUNTING)
        platform, hosts = folder / "switch.xml", folder / "hosts"
        platform.write_text(
            format_switch_platform(f"{RATE:.0f}Bps", LATENCY).format(last=ranks - 1)
        )
        hosts.write_text("".join(f"n{rank}\n" for rank in range(ranks)))
        settings = NETWORK | {"smpi/iprobe": POLL if ranks < RANKS[-1] else RARELY}
        try:
            found = launch(platform, hosts, settings, ranks, program, way, repeats)
        except TimeoutError:
            return math.nan, 0
        time, sent = found.split()
        return float(time), int(sent)

# SPDX-License-Identifier: BSD-3-Clause
"""Sudheer 2012, chapter 3: bisections and diameters of machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from published.table import Ours
from topoloom import Machine, load_machine
from topoloom.machines import bisect_machine
from topoloom.machines.machine_facts import machine_facts

SOURCE, TABLE = "Sudheer 2012", "in text: Ch.3 machines"
#: Sides of the cubes for the ratios of diameters.
SIDES = range(2, 12)
#: 5 GHz; a link has 38 wires, 32 of them for data.
CLOCK = 5e9
WIRES = {"TeraFLOPS bisection": 38, "TeraFLOPS data bisection": 32}


def compute_values() -> Iterator[Ours]:
    """Yield bisections and diameters."""
    for row, wires in WIRES.items():
        tiles = Machine(f"mesh:8x10,bandwidth={wires / 8 * CLOCK:.0f}B/s,hosts=free")
        yield make_value(row, compute_bisection(tiles) / 1e9)
    row, note = (
        "Blue Waters bisection",
        "print takes 9.375 GB/s for a link, ours 9.4 GB/s",
    )
    torus = load_machine("blue-waters")
    yield make_value(row, compute_bisection(torus) / 1e12, note, within=0.01)
    yield make_value("Sequoia cores", load_machine("sequoia").slot_count)
    # Diameters in units of n - 1, and of n / 2 rounded down.
    yield make_value(
        "3-D mesh diameter", compute_slope("mesh", lambda n: n - 1), stated="3"
    )
    yield make_value(
        "3-D torus diameter", compute_slope("torus", lambda n: n // 2), stated="3"
    )


def make_value(row: str, value: float, note: str = "", **more: Any) -> Ours:
    """Make a value of the chapter."""
    return Ours(SOURCE, TABLE, row, "value", value, note, **more)


def compute_bisection(machine: Machine) -> float:
    """Return bytes per second between the halves, both directions together."""
    return bisect_machine(machine).at_least


def compute_slope(kind: str, of_side: Callable[[int], int]) -> float:
    """Return the unique ratio of cube diameters to a function of the side."""
    (ratio,) = {
        machine_facts(Machine(f"{kind}:{n}x{n}x{n}"))["diameter"] / of_side(n)
        for n in SIDES
    }
    return float(ratio)

# SPDX-License-Identifier: BSD-3-Clause
"""Kumar 2005: contention-free permutations of fat trees, chapter 4, and switches, 8."""

from __future__ import annotations

import math
from collections.abc import Iterator

from published.table import Ours
from topoloom import Machine
from topoloom.schedules import Step, meetings_any_ascent

SOURCE = "Kumar 2005"
PERMUTATIONS = "in text: 4 permutations"
BANDWIDTHS = "Table 4.1 (all-to-all multicast effective bandwidth per node, 256 KB)"
SWITCHES = "in text: 8"
#: The nodes of its machine are those of a 4-ary 5-tree, numbered as it is wired.
QSNET = "fattree:4:4:4:4:4"
#: What k-prefix measured with 256 nodes, in and out of a node together, MB/s.
BOTH_WAYS = 511
#: Table 2.8: what a message reaches within a tree of 1, 2, 3 and 4 levels, MB/s; a
#: sender waits for the word that each packet has come. And what a link carries.
REACHED, LINK = (300, 292, 267, 233), 340
ALPHA, MESSAGE = 11e-6, 256 * 1024
NODES = {
    "64": (64, ()),
    "128": (128, ()),
    "144": (144, ()),
    "192": (192, ()),
    "256": (256, ()),
    "128 (1 missing)": (128, (37,)),
    "128 (2 missing)": (128, (37, 90)),
    "240 (1 missing)": (240, (37,)),
}
SCHEDULES = {"k-Shift": "k-shift", "k-Prefix": "k-prefix", "Prefix-Send": "pairwise"}
NOTE = "ours: rates of Table 2.8; the nodes that were missing are not known"


def rows() -> Iterator[Ours]:
    """Compute what we know of both chapters."""
    yield from permutations()
    yield from bandwidths()
    yield from switches()


def meets(machine: Machine, step: Step, nodes: list[int]) -> bool:
    """Whether messages may meet, whichever routes they take up."""
    return meetings_any_ascent(machine, step, nodes).places > 0


def permutations() -> Iterator[Ours]:
    """Try all shifts; the lemma names those by 1, 2 and 3 times a power of 4."""
    for count in (64, 256):
        machine, nodes = Machine(QSNET), list(range(count))
        free = {
            by
            for by in range(1, count)
            if not meets(machine, Step.shift(count, by), nodes)
        }
        lemma = sorted(
            free & {times * 4**power for times in (1, 2, 3) for power in range(5)}
        )
        lemma_6 = " (Lemma 6)" if count == 64 else ""
        row = f"contention-free shifts{lemma_6}, {count} nodes"
        yield Ours(SOURCE, PERMUTATIONS, row, "value", ",".join(map(str, lemma)))
    steps = {k: Step.of_schedule(f"k-shift(k={k})", 64) for k in range(1, 33)}
    machine, nodes = Machine(QSNET), list(range(64))
    free_k = [
        k
        for k, taken in steps.items()
        if not any(meets(machine, step, nodes) for step in taken)
    ]
    row = "k-shift contention free k"
    yield Ours(SOURCE, PERMUTATIONS, row, "value", ",".join(map(str, free_k)))
    row = "k-prefix 256 nodes each way"
    yield Ours(SOURCE, PERMUTATIONS, row, "value", BOTH_WAYS / 2)


def bandwidths() -> Iterator[Ours]:
    """Predict Table 4.1 from what each step may meet."""
    machine = Machine(QSNET)
    for row, (count, missing) in NODES.items():
        nodes = [node for node in range(count + len(missing)) if node not in missing]
        for column, schedule in SCHEDULES.items():
            if column == "Prefix-Send" and (count & (count - 1) or len(missing) > 1):
                continue
            mbs = bandwidth(machine, Step.of_schedule(schedule, count), nodes)
            yield Ours(SOURCE, BANDWIDTHS, row, column, mbs, NOTE)


def levels_of(a: int, b: int) -> int:
    """Levels of the least subtree that holds both nodes."""
    return next(level for level in range(9) if a // 4**level == b // 4**level)


def bandwidth(machine: Machine, steps: list[Step], nodes: list[int]) -> float:
    """MB/s in and out of a node while all nodes multicast to all others."""
    seconds = 0.0
    for step in steps:
        most = meetings_any_ascent(machine, step, nodes).most
        levels = max(levels_of(nodes[a], nodes[b]) for a, b in step.messages)
        rate = min(REACHED[levels - 1], LINK / most) * 1e6
        seconds += step.rounds * (ALPHA + MESSAGE / rate)
    return 2 * (len(nodes) - 1) * MESSAGE / seconds / 1e6


def switches() -> Iterator[Ours]:
    """Size what hardware collectives need."""
    gigabits, round_trip, packet = 10, 200e-9, 256
    buffer = gigabits * 1e9 / 8 * round_trip
    yield Ours(SOURCE, SWITCHES, "buffer at one crosspoint", "value", buffer)

    def memory(ports: int, packets: int) -> int:
        return ports**2 * packets * packet // 1024

    yield Ours(SOURCE, SWITCHES, "8-port switch memory", "value", memory(8, 4))
    text = f"{memory(32, 2)}-{memory(32, 4)}"
    yield Ours(SOURCE, SWITCHES, "32-port switch memory", "value", text)
    tree = Machine("fattree:16:16")
    ends = {end for link in range(tree.link_count) for end in tree.link_ends(link)}
    count = len(ends) - tree.node_count
    yield Ours(SOURCE, SWITCHES, "switches, 256 nodes, 32 ports", "value", count)
    passed = tree.hops(0, tree.node_count - 1) - 1
    yield Ours(SOURCE, SWITCHES, "points of contention, 32 ports", "value", passed)
    # Four units have 8 ports each, the fifth adds up; a tree uses 16 down and one up.
    effective = math.ceil((16 + 1) / (32 / 4))
    yield Ours(SOURCE, SWITCHES, "effective combine units", "value", effective)

# SPDX-License-Identifier: BSD-3-Clause
"""Kumar 2005: contention-free permutations of fat trees (chapter 4), switches (8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from published.table import Ours
from topoloom import Machine
from topoloom.model import load_model
from topoloom.schedules import Call, Step, meetings_any_ascent
from topoloom.tasks.collectives.step_rates import StepRates

SOURCE = "Kumar 2005"
PERMUTATIONS = "in text: 4 permutations"
BANDWIDTHS = "Table 4.1 (all-to-all multicast effective bandwidth per node, 256 KB)"
LEVELS = "Table 2.8 (QsNet bandwidth vs fat-tree size)"
SWITCHES = "in text: 8"
#: Nodes of the source's machine are nodes of a 4-ary 5-tree in wiring order. Links have
#: 340 MB/s. The latency follows from 292 MB/s among 16 nodes (table 2.8): a sender
#: waits for the acknowledgment of each packet over 4 links in each direction.
LINK, AMONG_16 = 340e6, 292e6
LATENCY = 320 * (1 / AMONG_16 - 1 / LINK) / 8
QSNET = (
    f"fattree:4:4:4:4:4,bandwidth={LINK / 1e6:.0f}MB/s,latency={LATENCY * 1e9:.1f}ns"
)
MESSAGE = 256 * 1024
MODEL = load_model("qsnet").model
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
FULL = "by the levels that messages climb, and as if all met that may"
HOLES = "as if all messages met that may; which nodes were missing is not known"


def compute_values() -> Iterator[Ours]:
    """Compute the values of both chapters."""
    yield from predict_levels()
    yield from find_permutations()
    yield from compute_curve_levels()
    yield from predict_bandwidths()
    yield from count_switches()


def predict_levels() -> Iterator[Ours]:
    """Predict the bandwidth in trees of other heights from that of 16 nodes."""
    machine = Machine(QSNET)
    for count in (4, 64, 256):
        far = Step([(0, count - 1)])
        rate = StepRates(machine, range(count), 1 << 24, MODEL).rate(far, 1) / 2e6
        note = "all links are taken to be alike; those between cabinets are longer"
        yield Ours(SOURCE, LEVELS, str(count), "Elan-Main", rate, note, 0.1)


def can_share_a_link(machine: Machine, step: Step, nodes: Sequence[int]) -> bool:
    """Return whether some choice of uplinks makes messages share a link."""
    return meetings_any_ascent(machine, step, nodes).places > 0


def find_permutations() -> Iterator[Ours]:
    """Find contention-free shifts and k, and compare with the lemma.

    Lemma 6 names shifts by 1, 2 and 3 times a power of 4.
    """
    for count in (64, 256):
        machine, nodes = Machine(QSNET), list(range(count))
        free = {
            by
            for by in range(1, count)
            if not can_share_a_link(machine, Step.shift(count, by), nodes)
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
        if not any(can_share_a_link(machine, step, nodes) for step in taken)
    ]
    row = "k-shift contention free k"
    yield Ours(SOURCE, PERMUTATIONS, row, "value", ",".join(map(str, free_k)))


def compute_curve_levels() -> Iterator[Ours]:
    """Derive the levels of figures 4.3 and 4.4 from the curves of all distances."""

    def make_value(row: str, rate: float, stated: str = "") -> Ours:
        note = "by the levels that messages climb, with one packet in flight"
        return Ours(SOURCE, PERMUTATIONS, row, "value", rate / 1e6, note, 0.15, stated)

    for count, stated in ((64, "560"), (256, "460")):
        rates = compute_curve("shift", count)
        row = f"cyclic-shift peaks, {count} nodes"
        yield make_value(row, max(rates.values()), stated)
    rates = compute_curve("prefix", 256)
    yield make_value("prefix-send below k=16", max(rates[k] for k in range(1, 16)))
    yield make_value("prefix-send k>=16", max(rates[k] for k in range(16, 64)))
    yield make_value("prefix-send k>=64", max(rates[k] for k in range(64, 256)))
    main = 2 * MESSAGE / MODEL.time(MESSAGE)
    yield make_value("main-memory cyclic shift", main)


def compute_curve(kind: str, count: int) -> dict[int, float]:
    """Return bytes per second in and out of a node by the distance of all messages."""
    machine, nodes = Machine(QSNET), range(count)
    rates = StepRates(machine, nodes, MESSAGE, MODEL)
    make = {"shift": Step.shift, "prefix": Step.prefix}[kind]
    found = {}
    for distance in range(1, count):
        step = make(count, distance)
        most = meetings_any_ascent(machine, step, nodes).most
        found[distance] = rates.rate(step, most)
    return found


def predict_bandwidths() -> Iterator[Ours]:
    """Predict Table 4.1 from the possible contention of each step."""
    machine = Machine(QSNET)
    for row, (count, missing) in NODES.items():
        nodes = [node for node in range(count + len(missing)) if node not in missing]
        for column, schedule in SCHEDULES.items():
            if column == "Prefix-Send" and (count & (count - 1) or len(missing) > 1):
                continue
            mbs = predict_bandwidth(machine, schedule, nodes) / 1e6
            note = HOLES if missing else FULL
            yield Ours(SOURCE, BANDWIDTHS, row, column, mbs, note, 0.1)

    for row in ("64", "128", "144", "256"):
        count, _ = NODES[row]
        ring = Call("allgather", count, MESSAGE).schedule("ring")
        rate = 2 * (count - 1) * MESSAGE / ring.cost(MODEL).time / 1e6
        note = (
            "as a ring out of main memory, without contention; what it was is not known"
        )
        yield Ours(SOURCE, BANDWIDTHS, row, "Native MPI", rate, note, 0.15)


def predict_bandwidth(machine: Machine, schedule: str, nodes: list[int]) -> float:
    """Return bytes per second in and out of a node during an all-to-all multicast."""
    count = len(nodes)
    rates = StepRates(machine, nodes, MESSAGE, MODEL)
    is_relay = schedule.startswith("k-")
    stops = -(-count // 8) if is_relay else 1
    seconds = stops * MODEL.stage(MESSAGE)
    rounds = 0
    for step in Step.of_schedule(schedule, count):
        most = meetings_any_ascent(machine, step, nodes).most
        seconds += step.rounds * 2 * MESSAGE / rates.rate(step, most)
        rounds += step.rounds
    seconds += (rounds - 1) * MODEL.barrier(count)
    return 2 * (count - 1) * MESSAGE / seconds


def count_switches() -> Iterator[Ours]:
    """Count the switches of the simulated network, and those on the longest route."""
    tree = Machine("fattree:16:16")
    ends = {end for link in range(tree.link_count) for end in tree.link_ends(link)}
    count = len(ends) - tree.node_count
    yield Ours(SOURCE, SWITCHES, "switches, 256 nodes, 32 ports", "value", count)
    passed = tree.hops(0, tree.node_count - 1) - 1
    yield Ours(SOURCE, SWITCHES, "points of contention, 32 ports", "value", passed)

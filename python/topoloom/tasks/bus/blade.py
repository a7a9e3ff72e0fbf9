# SPDX-License-Identifier: BSD-3-Clause
"""Splits sixteen threads between the two processors of a blade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from topoloom._core import Allocation, CommGraph, Error, rank_bipartitions
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.tasks.bus.affinity import (
    AS_DESCRIBED,
    BEST,
    ELEMENTS,
    BandwidthRange,
    BusThreads,
    BusTiming,
    list_messages,
    rank_affinities,
)
from topoloom.tasks.bus.named_affinities import NAMED

if TYPE_CHECKING:
    from topoloom.documents.ring_buses import (
        BandwidthRangeFields,
        BladeDocument,
        HalvesFields,
    )

THREADS = 2 * ELEMENTS
#: Bytes per second per message if 1, 2 ... 8 messages of 64 KB cross the blade's link
#: at once, by sending processor. Source: Sudheer 2012, table 4.2.
LINK_RATES = (
    tuple(rate * 1e9 for rate in (5.9, 5.0, 3.6, 2.7, 2.0, 1.6, 1.3, 1.2)),
    tuple(rate * 1e9 for rate in (3.8, 3.4, 2.8, 2.6, 2.0, 1.6, 1.3, 1.2)),
)
BEST_HALVES, WORST_HALVES = "best", "worst"


def compute_message_bandwidth(sender: int, messages: int) -> float:
    """Return the bandwidth per message of concurrent messages between processors.

    More messages than in the measured table share the total bandwidth of its last row.
    """
    measured = LINK_RATES[sender]
    if messages <= len(measured):
        return measured[messages - 1]
    return measured[-1] * len(measured) / messages


class ThreadHalves(NamedTuple):
    """The threads of each processor, and the traffic between them.

    Attributes
    ----------
    threads
        The threads of each processor.
    crossing
        Bytes between the processors.
    alike
        The number of splits with equally many bytes between the processors.
    sent
        Number of messages that each processor sends to the other.
    """

    threads: tuple[tuple[int, ...], tuple[int, ...]]
    crossing: int
    alike: int
    sent: tuple[int, int]


class BladeAssignment(NamedTuple):
    """A named affinity within both processors of a blade.

    Attributes
    ----------
    name
        The name of the affinity.
    elements
        The element of every thread; 8 to 15 are on processor 1.
    inside
        Bandwidth of the slowest message within a processor; None without messages.
    slowest
        Bandwidth of the slowest message, within or between processors.
    """

    name: str
    elements: tuple[int, ...]
    inside: BandwidthRange | None
    slowest: BandwidthRange | None


@dataclass(frozen=True)
class Blade:
    """Two halves of the threads, and bandwidths of the named affinities within them."""

    halves: ThreadHalves
    best_crossing: int
    worst_crossing: int
    across: tuple[float | None, float | None]  # bandwidth in B/s by sender
    assignments: tuple[BladeAssignment, ...]

    def assignment(self, name: str) -> BladeAssignment:
        """Find an assignment by name."""
        known = {one.name: one for one in self.assignments}
        if name not in known:
            raise Error(describe_unknown_name("assignment", name, known))
        return known[name]

    def document(self) -> BladeDocument:
        """Return the fields of the ``--json`` output."""

        def make_rate_document(
            bandwidth: BandwidthRange | None,
        ) -> BandwidthRangeFields | None:
            if bandwidth is None:
                return None
            return cast("BandwidthRangeFields", bandwidth._asdict())

        return {
            "halves": cast("HalvesFields", self.halves._asdict()),
            "best_crossing": self.best_crossing,
            "worst_crossing": self.worst_crossing,
            "across": list(self.across),
            "assignments": [
                {
                    "name": one.name,
                    "elements": list(one.elements),
                    "inside": make_rate_document(one.inside),
                    "slowest": make_rate_document(one.slowest),
                }
                for one in self.assignments
            ],
        }


def split_blade(
    graph: CommGraph,
    allocation: Allocation,
    timing: BusTiming = AS_DESCRIBED,
    *,
    halves: str = BEST_HALVES,
) -> Blade:
    """Split 16 threads into the best or worst two `halves`, and assign each half.

    The best halves exchange the fewest bytes. The half that sends more is on processor
    0. Within a processor, threads are in ascending order. Messages between processors
    have the bandwidth measured on a Cell blade, and do not slow down other messages.
    """
    if graph.rank_count != THREADS:
        raise Error(f"a blade takes {THREADS} threads, not {graph.rank_count}")
    found = rank_bipartitions(graph)
    sets = {
        BEST_HALVES: (found.best, found.best_bytes, found.optima),
        WORST_HALVES: (found.worst, found.worst_bytes, found.pessima),
    }
    if halves not in sets:
        raise Error(describe_unknown_name("choice of halves", halves, sets))
    on_first, crossing, alike = sets[halves]
    first = np.array([on_first >> thread & 1 == 1 for thread in range(THREADS)])
    sides = (np.flatnonzero(first), np.flatnonzero(~first))
    source, target, size = list_messages(graph)
    sends = [
        int(((first[source] == own) & (first[target] != own)).sum())
        for own in (True, False)
    ]
    across = [
        compute_message_bandwidth(n, sent) if sent else None
        for n, sent in enumerate(sends)
    ]
    parts = []
    for side in sides:
        number = np.full(THREADS, -1)
        number[side] = np.arange(ELEMENTS)
        kept = (number[source] >= 0) & (number[target] >= 0)
        parts.append(
            CommGraph.from_edges(
                ELEMENTS, number[source[kept]], number[target[kept]], size[kept]
            )
        )
    best = [rank_affinities(part, allocation, timing).best.elements for part in parts]
    return Blade(
        ThreadHalves(
            (tuple(sides[0].tolist()), tuple(sides[1].tolist())),
            crossing,
            alike,
            (sends[0], sends[1]),
        ),
        found.best_bytes,
        found.worst_bytes,
        (across[0], across[1]),
        tuple(
            _assign_halves(name, chosen, sides, parts, allocation, timing, across)
            for name, chosen in {
                BEST: best,
                **{name: [at, at] for name, (_, at) in NAMED.items()},
            }.items()
        ),
    )


def _assign_halves(
    name: str,
    chosen: list[tuple[int, ...]],
    sides: tuple[np.ndarray, np.ndarray],
    parts: list[CommGraph],
    allocation: Allocation,
    timing: BusTiming,
    across: list[float | None],
) -> BladeAssignment:
    elements = np.empty(THREADS, np.int64)
    rates = []
    for number, (side, at, part) in enumerate(zip(sides, chosen, parts, strict=True)):
        elements[side] = np.asarray(at) + number * ELEMENTS
        if part.edge_count:
            threads = BusThreads(part, allocation, timing)
            rates.append(BandwidthRange(*threads.rates(at).slowest))
    inside = _find_slowest(rates)
    crossing = [BandwidthRange(rate, rate, rate) for rate in across if rate is not None]
    return BladeAssignment(
        name, tuple(elements.tolist()), inside, _find_slowest([*rates, *crossing])
    )


def _find_slowest(rates: list[BandwidthRange]) -> BandwidthRange | None:
    return BandwidthRange(*map(min, zip(*rates, strict=True))) if rates else None

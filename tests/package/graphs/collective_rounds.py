# SPDX-License-Identifier: BSD-3-Clause
"""Reference collectives: ranks store data and execute the published algorithms.

In each round, a rank chooses which data to send by the algorithm's rule. Messages carry
pieces, so that a wrong partner or size leaves a rank without data. A *piece* is a block
number; a rank stores the set of its contributors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Pieces = dict[int, set[int]]  # piece -> ranks that contributed


class SimulatedRanks:
    """Ranks that store pieces; counts the bytes and messages between ranks."""

    def __init__(self, size: int, sizes: list[int]) -> None:
        self.held: list[Pieces] = [{} for _ in range(size)]
        self.sizes = sizes  # bytes per piece
        self.sent: dict[tuple[int, int], tuple[int, int]] = {}

    def run_round(self, sends: Iterable[tuple[int, int, Iterable[int]]]) -> None:
        """Deliver (source, target, pieces) concurrently and merge contributions."""
        parcels = []
        for source, target, pieces in sends:
            parcel = {p: set(self.held[source][p]) for p in pieces}
            size, count = self.sent.get((source, target), (0, 0))
            size += sum(self.sizes[p] for p in parcel)
            self.sent[source, target] = (size, count + 1)
            parcels.append((target, parcel))
        for target, parcel in parcels:
            for piece, owners in parcel.items():
                self.held[target].setdefault(piece, set()).update(owners)


def split_evenly(amount: int, count: int) -> list[int]:
    """Split a number into parts that differ by at most one."""
    return [amount // count + (i < amount % count) for i in range(count)]


def bcast_binomial(size: int, bytes: int, root: int) -> SimulatedRanks:
    """Broadcast along a binomial tree, to the most distant ranks first."""
    ranks = SimulatedRanks(size, [bytes])
    ranks.held[root] = {0: {root}}
    distance = 1
    while distance < size:
        distance *= 2
    while distance > 1:
        distance //= 2
        ranks.run_round(
            [
                ((root + r) % size, (root + r + distance) % size, [0])
                for r in range(0, size - distance, 2 * distance)
            ]
        )
    return ranks


def bcast_scattered(size: int, bytes: int, root: int, ring: bool) -> SimulatedRanks:
    """Scatter pieces down a tree, then allgather them by a ring or by doubling."""
    piece = -(-bytes // size)
    sizes = [max(0, min(piece, bytes - i * piece)) for i in range(size)]
    ranks = SimulatedRanks(size, sizes)
    ranks.held[root] = {p: {root} for p in range(size)}
    distance = 1
    while distance < size:
        distance *= 2
    while distance > 1:
        distance //= 2
        sends = []
        for r in range(0, size - distance, 2 * distance):
            pieces = range(r + distance, min(r + 2 * distance, size))
            if sum(sizes[p] for p in pieces):
                sends.append(((root + r) % size, (root + r + distance) % size, pieces))
        ranks.run_round(sends)
    for r in range(size):  # ranks keep their own piece and empty pieces
        held = ranks.held[(root + r) % size]
        for p in range(size):
            if sizes[p] == 0:
                held[p] = {root}
        if r > 0:
            ranks.held[(root + r) % size] = {
                p: o for p, o in held.items() if p == r or sizes[p] == 0
            }
    collect = ring_allgather if ring else doubling_allgather
    collect(ranks, [(root + r) % size for r in range(size)])
    return ranks


def ring_allgather(ranks: SimulatedRanks, order: list[int]) -> None:
    """Forward pieces from the left neighbor to the right, own piece first."""
    size = len(order)
    for step in range(size - 1):
        ranks.run_round(
            [
                (order[r], order[(r + 1) % size], [(r - step) % size])
                for r in range(size)
            ]
        )


def doubling_allgather(ranks: SimulatedRanks, order: list[int]) -> None:
    """Exchange all pieces with a partner, doubling the distance each round."""
    size, distance = len(order), 1
    while distance < size:
        ranks.run_round(
            [
                (
                    order[r],
                    order[r ^ distance],
                    range(r // distance * distance, (r // distance + 1) * distance),
                )
                for r in range(size)
            ]
        )
        distance *= 2


def allgather(
    size: int, total: int, collect: Callable[[SimulatedRanks, list[int]], None]
) -> SimulatedRanks:
    """Give each rank its own block, then allgather the blocks with `collect`."""
    ranks = SimulatedRanks(size, split_evenly(total, size))
    for r in range(size):
        ranks.held[r] = {r: {r}}
    collect(ranks, list(range(size)))
    return ranks


def bruck_allgather(ranks: SimulatedRanks, order: list[int]) -> None:
    """Send blocks to the left, own block first; each round doubles their number."""
    size, distance = len(order), 1
    while distance < size:
        blocks = min(distance, size - distance)
        ranks.run_round(
            [
                (r, (r - distance) % size, [(r + i) % size for i in range(blocks)])
                for r in range(size)
            ]
        )
        distance *= 2


def gather_binomial(size: int, block: int, root: int) -> SimulatedRanks:
    """Gather blocks up a binomial tree, from the nearest ranks first."""
    ranks = SimulatedRanks(size, [block] * size)
    for r in range(size):
        ranks.held[(root + r) % size] = {r: {r}}
    distance = 1
    while distance < size:
        ranks.run_round(
            [
                ((root + r) % size, (root + r - distance) % size,
                 list(ranks.held[(root + r) % size]))
                for r in range(distance, size, 2 * distance)
            ]
        )  # fmt: skip
        distance *= 2
    return ranks


def reduce_binomial(size: int, bytes: int, root: int) -> SimulatedRanks:
    """Reduce one vector up a binomial tree."""
    ranks = SimulatedRanks(size, [bytes])
    for r in range(size):
        ranks.held[r] = {0: {r}}
    distance = 1
    while distance < size:
        ranks.run_round(
            [
                ((root + r) % size, (root + r - distance) % size, [0])
                for r in range(distance, size, 2 * distance)
            ]
        )
        distance *= 2
    return ranks


class FoldedRanks:
    """Ranks beyond a power of two send to a partner first, and get the result last."""

    def __init__(self, size: int, odd_stays: bool) -> None:
        self.power = 1
        while 2 * self.power <= size:
            self.power *= 2
        extra = size - self.power
        pairs = [(2 * i, 2 * i + 1) for i in range(extra)]
        self.leaving = [(a, b) if odd_stays else (b, a) for a, b in pairs]
        self.active = [stays for _, stays in self.leaving] + list(
            range(2 * extra, size)
        )


def allreduce_doubling(size: int, bytes: int) -> SimulatedRanks:
    """Exchange partial sums with partners at distance 1, 2, 4, ..."""
    ranks = SimulatedRanks(size, [bytes])
    for r in range(size):
        ranks.held[r] = {0: {r}}
    folded = FoldedRanks(size, odd_stays=True)
    ranks.run_round([(gone, stays, [0]) for gone, stays in folded.leaving])
    distance = 1
    while distance < folded.power:
        ranks.run_round(
            [
                (rank, folded.active[i ^ distance], [0])
                for i, rank in enumerate(folded.active)
            ]
        )
        distance *= 2
    ranks.run_round([(stays, gone, [0]) for gone, stays in folded.leaving])
    return ranks


def reduce_scatter_vector(
    size: int, bytes: int, odd_stays: bool
) -> tuple[SimulatedRanks, FoldedRanks, list[list[int]]]:
    """Reduce_scatter by halving: send half of the remaining pieces in each round."""
    folded = FoldedRanks(size, odd_stays)
    power = folded.power
    sizes = [bytes // power] * power
    sizes[-1] += bytes % power
    ranks = SimulatedRanks(size, sizes)
    for r in range(size):
        ranks.held[r] = {p: {r} for p in range(power)}
    ranks.run_round([(gone, stays, range(power)) for gone, stays in folded.leaving])
    answers = [list(range(power)) for _ in range(power)]
    distance = 1
    while distance < power:
        sends, kept = [], []
        for i, mine in enumerate(answers):
            half = len(mine) // 2
            low, high = mine[:half], mine[half:]
            away, stay = (low, high) if i & distance else (high, low)
            sends.append((folded.active[i], folded.active[i ^ distance], away))
            kept.append(stay)
        ranks.run_round(sends)
        answers = kept
        distance *= 2
    return ranks, folded, answers


def allreduce_rabenseifner(size: int, bytes: int) -> SimulatedRanks:
    """Reduce_scatter by halving, then allgather with the same partners in reverse."""
    ranks, folded, done = reduce_scatter_vector(size, bytes, odd_stays=True)
    distance = folded.power // 2
    while distance >= 1:
        ranks.run_round(
            [
                (folded.active[i], folded.active[i ^ distance], done[i])
                for i in range(folded.power)
            ]
        )
        done = [done[i] + done[i ^ distance] for i in range(folded.power)]
        distance //= 2
    ranks.run_round(
        [(stays, gone, range(folded.power)) for gone, stays in folded.leaving]
    )
    return ranks


def reduce_rabenseifner(size: int, bytes: int, root: int) -> SimulatedRanks:
    """Reduce_scatter by halving, then gather the pieces to the root by doubling."""
    ranks, folded, done = reduce_scatter_vector(size, bytes, odd_stays=False)
    active = list(folded.active)
    if root not in active:  # a folded root replaces the first active rank
        ranks.run_round([(active[0], root, done[0])])
        active[0] = root
    target = active.index(root)
    alive = set(range(folded.power))
    distance = folded.power // 2
    while distance >= 1:
        givers = [i for i in alive if (i & distance) != (target & distance)]
        ranks.run_round([(active[i], active[i ^ distance], done[i]) for i in givers])
        for i in givers:
            done[i ^ distance] = done[i ^ distance] + done[i]
            alive.remove(i)
        distance //= 2
    return ranks


def reduce_scatter_halving(size: int, total: int) -> SimulatedRanks:
    """In each round, halve the range of blocks; send the half of the partner."""
    folded = FoldedRanks(size, odd_stays=True)
    ranks = SimulatedRanks(size, split_evenly(total, size))
    for r in range(size):
        ranks.held[r] = {p: {r} for p in range(size)}
    ranks.run_round([(gone, stays, range(size)) for gone, stays in folded.leaving])
    partner = {stays: gone for gone, stays in folded.leaving}
    blocks = [[r] if r not in partner else [partner[r], r] for r in folded.active]
    span = [(0, folded.power)] * folded.power
    distance = folded.power // 2
    while distance >= 1:
        sends = []
        for i in range(folded.power):
            low, high = span[i]
            middle = (low + high) // 2
            away = (low, middle) if i & distance else (middle, high)
            pieces = [p for j in range(*away) for p in blocks[j]]
            sends.append((folded.active[i], folded.active[i ^ distance], pieces))
            span[i] = (middle, high) if i & distance else (low, middle)
        ranks.run_round(sends)
        distance //= 2
    ranks.run_round([(stays, gone, [gone]) for gone, stays in folded.leaving])
    return ranks


def scan_doubling(size: int, bytes: int) -> SimulatedRanks:
    """Exchange sums between neighboring groups of 1, 2, 4, ... ranks."""
    ranks = SimulatedRanks(size, [bytes])
    for r in range(size):
        ranks.held[r] = {0: {r}}
    distance = 1
    while distance < size:
        pairs = [(r, r ^ distance) for r in range(size) if r ^ distance < size]
        ranks.run_round([(a, b, [0]) for a, b in pairs])
        distance *= 2
    return ranks


def alltoall_bruck(size: int, block: int) -> SimulatedRanks:
    """Forward each piece by the powers of two in the distance from source to target."""
    ranks = SimulatedRanks(size, [block] * size * size)
    at = {(s, t): s for s in range(size) for t in range(size)}
    for (s, t), rank in at.items():
        ranks.held[rank][s * size + t] = {s}
    distance = 1
    while distance < size:
        parcels: dict[int, list[int]] = {r: [] for r in range(size)}
        for (s, t), rank in at.items():
            if (t - s) % size & distance:
                parcels[rank].append(s * size + t)
                at[s, t] = (rank + distance) % size
        ranks.run_round([(r, (r + distance) % size, p) for r, p in parcels.items()])
        distance *= 2
    return ranks

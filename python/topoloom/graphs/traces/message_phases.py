# SPDX-License-Identifier: BSD-3-Clause
"""Finds the phases of a run from the order in which ranks send and receive messages.

The calls of a rank are split into blocks. A collective is a block; other calls form a
block until the rank sends after it received. The blocks of all ranks in one collective
are a step, any other block is a step of its own. The level of a step is one more than
that of the last step that it had to wait for: the logical clock of L. Lamport
(Communications of the ACM 21, 1978). Messages of a level can be in flight together.
Levels in which the same pairs of ranks communicate, as in iterations, are one phase.

The rounds of a collective are not phases: ranks do not wait for the slowest, so rounds
overlap. For the alltoall of ``apps/transpose`` in SimGrid, times of rounds, added up,
order placements wrongly; the time of all its messages at once orders them rightly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

#: Every phase costs placement time. Further phases are joined, those with few bytes.
MAX_PHASES = 16


class MessageOrder:
    """The sends and receives of each rank, in the order in which they happened.

    Ranks and messages are any ids. A message that is never received delays no rank.
    """

    def __init__(self) -> None:
        self._current: dict[Hashable, int] = {}  # block by rank
        #: Whether the next event of a rank begins a collective, or calls after one.
        self._begins: dict[Hashable, bool] = {}
        self._is_collective: list[bool] = []  # by block, like the next two
        self._next: list[int | None] = []  # the rank's next block
        self._received: list[list[Hashable]] = []
        self._sent_in: dict[Hashable, int] = {}  # block by message

    def begin_call(self, rank: Hashable, is_collective: bool) -> None:
        """Note that a call of a rank begins, or that a collective ends."""
        self._begins.pop(rank, None)
        if is_collective or self._is_in_collective(rank):
            self._begins[rank] = is_collective

    def send(self, rank: Hashable, message: Hashable) -> None:
        """Add the start of a message."""
        block = self._get_block(rank)
        if self._received[block] and not self._is_collective[block]:
            block = self._begin_block(rank, False)
        self._sent_in[message] = block

    def receive(self, rank: Hashable, message: Hashable) -> None:
        """Add the end of a message."""
        self._received[self._get_block(rank)].append(message)

    def find_levels(self) -> dict[Hashable, int]:
        """Return the level of each message that was sent, from 0."""
        steps = self._join_collectives()
        later: dict[int, set[int]] = defaultdict(set)
        for block, following in enumerate(self._next):
            if following is not None:
                for before in (block, *self._list_senders(block)):
                    later[steps[before]].add(steps[following])
        levels = _find_levels(steps, later)
        return {m: levels[steps[block]] for m, block in self._sent_in.items()}

    def _is_in_collective(self, rank: Hashable) -> bool:
        return rank in self._current and self._is_collective[self._current[rank]]

    def _get_block(self, rank: Hashable) -> int:
        if rank in self._begins or rank not in self._current:
            return self._begin_block(rank, self._begins.pop(rank, False))
        return self._current[rank]

    def _begin_block(self, rank: Hashable, is_collective: bool) -> int:
        block = len(self._next)
        if rank in self._current:
            self._next[self._current[rank]] = block
        self._current[rank] = block
        self._is_collective.append(is_collective)
        self._next.append(None)
        self._received.append([])
        return block

    def _list_senders(self, block: int) -> list[int]:
        """List the blocks in which messages were sent that a block received."""
        sent_in = self._sent_in
        return [sent_in[each] for each in self._received[block] if each in sent_in]

    def _join_collectives(self) -> list[int]:
        """Return the step of each block: its first block, if several are joined."""
        step = list(range(len(self._next)))

        def find(block: int) -> int:
            while step[block] != block:
                step[block] = step[step[block]]
                block = step[block]
            return block

        for block in range(len(step)):
            for sender in self._list_senders(block):
                if self._is_collective[block] and self._is_collective[sender]:
                    first, second = sorted((find(block), find(sender)))
                    step[second] = first
        return [find(block) for block in range(len(step))]


class SentMessage(NamedTuple):
    """A message: its level, the ranks of sender and receiver, and its bytes."""

    level: int
    source: int
    target: int
    bytes: int


def number_phases(messages: Sequence[SentMessage]) -> list[int]:
    """Return the phase of each message, from 0 in the order of the levels.

    If there are more than `MAX_PHASES`, those with the fewest bytes are joined.
    """
    pairs: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for each in messages:
        pairs[each.level].add((each.source, each.target))
    found: dict[frozenset[tuple[int, int]], int] = {}
    phase_of = {
        level: found.setdefault(frozenset(pairs[level]), len(found))
        for level in sorted(pairs)
    }
    if len(found) > MAX_PHASES:
        sizes = Counter(dict.fromkeys(found.values(), 0))
        for each in messages:
            sizes[phase_of[each.level]] += each.bytes
        kept = {phase for phase, _ in sizes.most_common(MAX_PHASES - 1)}
        joined = min(set(found.values()) - kept)
        used = sorted({*kept, joined})
        phase_of = {
            level: used.index(phase if phase in kept else joined)
            for level, phase in phase_of.items()
        }
    return [phase_of[each.level] for each in messages]


def _find_levels(steps: Sequence[int], later: Mapping[int, set[int]]) -> dict[int, int]:
    """Return the length of the longest path to each step.

    Steps can wait for each other if a rank takes part in several collectives at a time.
    Then the first of them in the trace does not wait for the others.
    """
    waiting = Counter(
        step for before, after in later.items() for step in after if step != before
    )
    levels = dict.fromkeys(sorted(steps), 0)
    first_steps = [step for step in levels if not waiting[step]]
    done: set[int] = set()
    for first in [*first_steps, *levels]:
        ready = [first]
        while ready:
            step = ready.pop()
            if step in done:
                continue
            done.add(step)
            for following in later.get(step, set()) - done:
                levels[following] = max(levels[following], levels[step] + 1)
                waiting[following] -= 1
                if not waiting[following]:
                    ready.append(following)
    return levels

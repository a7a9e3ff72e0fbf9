# SPDX-License-Identifier: BSD-3-Clause
"""Expands a schedule into each rank's rounds of messages, copies and reductions."""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error, NetworkModel, Schedule, rank_program

#: Maximum number of messages; a file with so many messages has about 1 GB.
MAX_MESSAGES = 1 << 22

#: A cost model in which messages and work take no time.
FREE = NetworkModel.regimes([(0.0, 0.0, None)])


class BufferPlace(NamedTuple):
    """An offset in the memory `input`, `output` or `scratch`."""

    memory: str
    offset: int


class LocalWork(NamedTuple):
    """A copy, or a reduction that sets the target to source (op) target."""

    combines: bool
    source: BufferPlace
    target: BufferPlace
    bytes: int


class BufferedMessage(NamedTuple):
    """A message to or from a peer, and where its buffer is."""

    peer: int
    at: BufferPlace
    bytes: int


class Round(NamedTuple):
    """Messages, and the work before, during and after their transfer."""

    before: list[LocalWork]
    receives: list[BufferedMessage]
    sends: list[BufferedMessage]
    meanwhile: list[LocalWork]
    after: list[LocalWork]

    def messages(self) -> list[BufferedMessage]:
        """List all messages, receives first."""
        return self.receives + self.sends


class RankProgram(NamedTuple):
    """All rounds of one rank, and the scratch memory that it needs."""

    scratch: int  # bytes
    rounds: list[Round]


def make_rank_programs(schedule: Schedule) -> list[RankProgram]:
    """Make the programs of all ranks.

    Raises `topoloom.Error` if there are more than `MAX_MESSAGES` messages.
    """
    if schedule.cost(FREE).messages * schedule.ranks > MAX_MESSAGES:
        raise Error(
            f"{schedule.operation} among {schedule.ranks} ranks has more than "
            f"{MAX_MESSAGES:,} messages, too many to export; choose fewer ranks or "
            "another schedule"
        )
    return [_make_rank_program(schedule, rank) for rank in range(schedule.ranks)]


def _make_rank_program(schedule: Schedule, rank: int) -> RankProgram:
    scratch, rounds = rank_program(schedule, rank)
    return RankProgram(
        scratch,
        [
            Round(
                [
                    LocalWork(c, BufferPlace(*a), BufferPlace(*b), n)
                    for c, a, b, n in before
                ],
                [
                    BufferedMessage(peer, BufferPlace(*at), n)
                    for peer, at, n in receives
                ],
                [BufferedMessage(peer, BufferPlace(*at), n) for peer, at, n in sends],
                [
                    LocalWork(c, BufferPlace(*a), BufferPlace(*b), n)
                    for c, a, b, n in meanwhile
                ],
                [
                    LocalWork(c, BufferPlace(*a), BufferPlace(*b), n)
                    for c, a, b, n in after
                ],
            )
            for before, receives, sends, meanwhile, after in rounds
        ],
    )

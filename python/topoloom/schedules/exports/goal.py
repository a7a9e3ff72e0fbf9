# SPDX-License-Identifier: BSD-3-Clause
"""GOAL: sends, receives and local work of every rank, and what each must wait for.

Ranks do as our executor: the messages of a round start together, and the next round
waits for all of them. Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation
Assembly Language - A Flexible Way to Express Collective Communication", ICPP 2009; the
text form that LogGOPSim reads.
"""

from __future__ import annotations

from topoloom._core import NetworkModel
from topoloom.schedules.exports.asked import Asked, only
from topoloom.schedules.exports.rank_rounds import (
    FREE,
    RankRounds,
    Round,
    Work,
    rounds_of,
)

NAME = "goal"
SUMMARY = "one schedule as GOAL text, for LogGOPSim"
USE = "txt2bin -i FILE -o schedule.bin && LogGOPSim -f schedule.bin"


def write(*several: Asked) -> str:
    """Write what every rank does in the best schedule; work takes nanoseconds."""
    asked = only(several, NAME)
    model = asked.model or FREE
    lines = [f"num_ranks {asked.call.ranks}", ""]
    for rank, program in enumerate(rounds_of(asked.schedule)):
        lines += [f"rank {rank} {{", *_Rank(model).operations(program), "}", ""]
    return "\n".join(lines)


class _Rank:
    """Writes the operations of one rank."""

    def __init__(self, model: NetworkModel) -> None:
        self._model = model
        self._lines: list[str] = []
        self._count = 0

    def operations(self, program: RankRounds) -> list[str]:
        waits: list[str] = []
        for each in program.rounds:
            waits = self._round(each, waits)
        return self._lines

    def _round(self, each: Round, waits: list[str]) -> list[str]:
        """Write a round that waits for operations; return what the next one awaits."""
        if each.before:
            waits = [self._work(each.before, waits)]
        done = [
            self._add(f"recv {one.bytes}b from {one.peer} tag 0", waits)
            for one in each.receives
        ]
        done += [
            self._add(f"send {one.bytes}b to {one.peer} tag 0", waits)
            for one in each.sends
        ]
        if each.meanwhile:
            done.append(self._work(each.meanwhile, waits))
        if each.after or len(done) > 2:
            return [self._work(each.after, done)]
        return done or waits

    def _work(self, works: list[Work], waits: list[str]) -> str:
        seconds = sum(self._seconds(work) for work in works)
        return self._add(f"calc {round(seconds * 1e9)}", waits)

    def _seconds(self, work: Work) -> float:
        takes = self._model.reduce if work.combines else self._model.copy
        return takes(work.bytes)

    def _add(self, operation: str, waits: list[str]) -> str:
        self._count += 1
        label = f"l{self._count}"
        self._lines.append(f"{label}: {operation}")
        self._lines += [f"{label} requires {other}" for other in waits]
        return label

# SPDX-License-Identifier: BSD-3-Clause
"""Writes GOAL: every rank's sends, receives and local work, and their dependences.

As in Topoloom's executor, the messages of a round start together, and the next round
waits for all of them.

Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language - A
Flexible Way to Express Collective Communication", ICPP 2009; this is the text form that
LogGOPSim reads.
"""

from __future__ import annotations

from topoloom._core import NetworkModel
from topoloom.schedules.exports.rank_programs import (
    FREE,
    LocalWork,
    RankProgram,
    Round,
    make_rank_programs,
)
from topoloom.schedules.exports.request import ExportRequest, get_single_request

NAME = "goal"
USE = "txt2bin -i FILE -o schedule.bin && LogGOPSim -f schedule.bin"


def write(*requests: ExportRequest) -> str:
    """Write each rank's operations of the best schedule; times are in ns."""
    request = get_single_request(requests, NAME)
    model = request.model or FREE
    lines = [f"num_ranks {request.call.ranks}", ""]
    for rank, program in enumerate(make_rank_programs(request.schedule)):
        lines += [
            f"rank {rank} {{",
            *_RankWriter(model).write_operations(program),
            "}",
            "",
        ]
    return "\n".join(lines)


class _RankWriter:
    """Writes the operations of one rank."""

    def __init__(self, model: NetworkModel) -> None:
        self._model = model
        self._lines: list[str] = []
        self._count = 0

    def write_operations(self, program: RankProgram) -> list[str]:
        waits: list[str] = []
        for each in program.rounds:
            waits = self._add_round(each, waits)
        return self._lines

    def _add_round(self, each: Round, waits: list[str]) -> list[str]:
        """Write a round; return the operations that the next round waits for."""
        if each.before:
            waits = [self._add_work(each.before, waits)]
        done = [
            self._add_operation(f"recv {one.bytes}b from {one.peer} tag 0", waits)
            for one in each.receives
        ]
        done += [
            self._add_operation(f"send {one.bytes}b to {one.peer} tag 0", waits)
            for one in each.sends
        ]
        if each.meanwhile:
            done.append(self._add_work(each.meanwhile, waits))
        if each.after or len(done) > 2:
            return [self._add_work(each.after, done)]
        return done or waits

    def _add_work(self, works: list[LocalWork], waits: list[str]) -> str:
        seconds = sum(self._estimate_seconds(work) for work in works)
        return self._add_operation(f"calc {round(seconds * 1e9)}", waits)

    def _estimate_seconds(self, work: LocalWork) -> float:
        takes = self._model.reduce if work.combines else self._model.copy
        return takes(work.bytes)

    def _add_operation(self, operation: str, waits: list[str]) -> str:
        self._count += 1
        label = f"l{self._count}"
        self._lines.append(f"{label}: {operation}")
        self._lines += [f"{label} requires {other}" for other in waits]
        return label

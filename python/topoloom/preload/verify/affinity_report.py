# SPDX-License-Identifier: BSD-3-Clause
"""Compares the hosts and CPU affinity of ranks with a planned placement."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement
from topoloom.support.number_ranges import compress_ranges

if TYPE_CHECKING:
    from topoloom.documents.programs import (
        MisplacedRank,
        PlannedLocation,
        VerifiedProgram,
    )

VERDICTS = ("ok", "unbound", "cpus", "host")
_MAX_LINES = 10


@dataclass(frozen=True)
class RankAffinity:
    """Host and CPU affinity of a rank, compared with the plan."""

    host: str  # name that the host reports
    cpus: str  # affinity mask with operating-system CPU numbers: ``0-3,8``
    cpu: int  # CPU on which the rank ran
    #: ``ok``; ``unbound``: may run on more CPUs than planned; ``cpus``: runs on other
    #: CPUs; ``host``: runs on another host.
    verdict: str
    words: str  # description of a verdict other than ``ok``


@dataclass(frozen=True)
class AffinityReport:
    """Affinity of all ranks of a program, compared with a plan."""

    #: The plan. If it does not bind ranks, they may run on more CPUs than planned.
    placement: HostPlacement
    ranks: list[RankAffinity]  # by rank

    @property
    def wrong(self) -> list[int]:
        """Ranks that do not run on their planned host or CPUs."""
        accepted = {"ok"} if self.placement.bind else {"ok", "unbound"}
        return [
            rank for rank, one in enumerate(self.ranks) if one.verdict not in accepted
        ]

    @property
    def holds(self) -> bool:
        """Whether the rank count is as planned, and all ranks are on planned CPUs."""
        return len(self.ranks) == self.placement.rank_count and not self.wrong

    def describe(self) -> str:
        """Describe the result: a summary line, then one line per misplaced rank."""
        planned, ranks, wrong = self.placement.rank_count, len(self.ranks), self.wrong
        if ranks != planned:
            return f"the plan is for {planned} ranks, but the program has {ranks}"
        if not wrong:
            return self._describe_success()
        lines = [f"{len(wrong)} of {ranks} ranks are not where the plan puts them:"]
        lines += [f"  {self.ranks[rank].words}" for rank in wrong[:_MAX_LINES]]
        if len(wrong) > _MAX_LINES:
            lines.append(f"  ... and {len(wrong) - _MAX_LINES} more")
        return "\n".join(lines)

    def document(self) -> VerifiedProgram:
        """Make the JSON document of ``--json``."""
        elsewhere: list[MisplacedRank] = [
            {
                "rank": rank,
                "verdict": one.verdict,
                "host": one.host,
                "cpus": one.cpus,
                "planned": self._describe_plan(rank),
            }
            for rank, one in enumerate(self.ranks)
            if one.verdict != "ok"
        ]
        return {
            "holds": self.holds,
            "ranks": len(self.ranks),
            "planned_ranks": self.placement.rank_count,
            "elsewhere": elsewhere,
        }

    def _describe_plan(self, rank: int) -> PlannedLocation | None:
        if rank >= self.placement.rank_count:
            return None
        cpus = compress_ranges(self.placement.cpus(rank))
        return {"host": self.placement.host_name(rank), "cpus": cpus}

    def _describe_success(self) -> str:
        hosts = int((self.placement.ranks_per_host() > 0).sum())
        if any(map(_is_address, self.placement.hosts)):
            return "hosts planned by their addresses are not compared with names"
        one = len(self.ranks) == 1
        ranks = "the only rank is" if one else f"all {len(self.ranks):,} ranks are"
        unbound_count = sum(each.verdict == "unbound" for each in self.ranks)
        on = f"on {hosts} hosts" if hosts > 1 else "on one host"
        if unbound_count:
            return (
                f"{ranks} on the planned hosts ({hosts}), but {unbound_count:,} may "
                "run on more CPUs than planned"
            )
        if all(parts.cpus for parts in self.placement.parts_of_host):
            return f"{ranks} where the plan puts them: {on}, bound to their CPUs"
        if self.placement.slots_per_host == 1:
            return f"{ranks} where the plan puts them: {on}"
        return (
            f"{ranks} on the planned hosts ({hosts}); the machine does not say which "
            "CPUs"
        )


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def read_report(file: Path, placement: HostPlacement) -> AffinityReport:
    """Read the affinity report of a program.

    Raises `topoloom.Error` if the file is damaged.
    """
    seen: list[RankAffinity] = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
        try:
            rank, host, cpus, cpu, verdict, words = line.split(" ", 5)
            one = RankAffinity(host, cpus, int(cpu), verdict, words)
            is_valid = int(rank) == len(seen) and verdict in VERDICTS
        except ValueError:
            is_valid = False
        if not is_valid:
            raise Error(f"{file.name} is damaged at rank {len(seen)}")
        seen.append(one)
    return AffinityReport(placement, seen)

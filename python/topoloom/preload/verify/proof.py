# SPDX-License-Identifier: BSD-3-Clause
"""Where the ranks of a program were as it started, and where they were planned."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement
from topoloom.support.number_ranges import compress_ranges

VERDICTS = ("ok", "unbound", "cpus", "host")
_MAX_LINES = 10


@dataclass(frozen=True)
class Seen:
    """One rank as it was found.

    Attributes
    ----------
    host
        Its name for itself.
    cpus
        CPUs that it may run on, as the system numbers them: ``0-3,8``.
    cpu
        The one that it was on.
    verdict
        ``ok``; ``unbound``: may run on more CPUs than planned; ``cpus``: on others;
        ``host``: on another host.
    words
        The verdict in words, if it is not ``ok``.
    """

    host: str
    cpus: str
    cpu: int
    verdict: str
    words: str


@dataclass(frozen=True)
class Proof:
    """All ranks of a program as they were found.

    Attributes
    ----------
    placement
        The plan. Unless it binds, ranks may run on more CPUs than planned.
    seen
        The ranks in their order.
    """

    placement: HostPlacement
    seen: list[Seen]

    @property
    def wrong(self) -> list[int]:
        """Ranks that are not where the plan puts them."""
        well = {"ok"} if self.placement.bind else {"ok", "unbound"}
        return [rank for rank, one in enumerate(self.seen) if one.verdict not in well]

    @property
    def holds(self) -> bool:
        """Whether the program has the planned ranks where the plan puts them."""
        return len(self.seen) == self.placement.rank_count and not self.wrong

    def words(self) -> str:
        """Say it in a line, or in one more for each rank that is elsewhere."""
        planned, ranks, wrong = self.placement.rank_count, len(self.seen), self.wrong
        if ranks != planned:
            return f"the plan is for {planned} ranks, but the program has {ranks}"
        if not wrong:
            return self._praise()
        lines = [f"{len(wrong)} of {ranks} ranks are not where the plan puts them:"]
        lines += [f"  {self.seen[rank].words}" for rank in wrong[:_MAX_LINES]]
        if len(wrong) > _MAX_LINES:
            lines.append(f"  ... and {len(wrong) - _MAX_LINES} more")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        elsewhere = [
            {
                "rank": rank,
                "verdict": one.verdict,
                "host": one.host,
                "cpus": one.cpus,
                "planned": self._planned(rank),
            }
            for rank, one in enumerate(self.seen)
            if one.verdict != "ok"
        ]
        return {
            "holds": self.holds,
            "ranks": len(self.seen),
            "planned_ranks": self.placement.rank_count,
            "elsewhere": elsewhere,
        }

    def _planned(self, rank: int) -> dict[str, str] | None:
        if rank >= self.placement.rank_count:
            return None
        cpus = compress_ranges(self.placement.cpus(rank))
        return {"host": self.placement.host_name(rank), "cpus": cpus}

    def _praise(self) -> str:
        hosts = int((self.placement.ranks_per_host() > 0).sum())
        if any(map(_is_address, self.placement.hosts)):
            return "hosts planned by their addresses are not compared with names"
        one = len(self.seen) == 1
        ranks = "the only rank is" if one else f"all {len(self.seen):,} ranks are"
        loose = sum(each.verdict == "unbound" for each in self.seen)
        on = f"on {hosts} hosts" if hosts > 1 else "on one host"
        if loose:
            return (
                f"{ranks} on the planned hosts ({hosts}), but {loose:,} may run on "
                "more CPUs than planned"
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


def read_proof(file: Path, placement: HostPlacement) -> Proof:
    """Read what a program left in the folder of its witness.

    Raises
    ------
    topoloom.Error
        If the file is damaged.
    """
    seen: list[Seen] = []
    for line in file.read_text(errors="replace").splitlines()[1:]:
        try:
            rank, host, cpus, cpu, verdict, words = line.split(" ", 5)
            one = Seen(host, cpus, int(cpu), verdict, words)
            well = int(rank) == len(seen) and verdict in VERDICTS
        except ValueError:
            well = False
        if not well:
            raise Error(f"{file.name} is damaged at rank {len(seen)}")
        seen.append(one)
    return Proof(placement, seen)

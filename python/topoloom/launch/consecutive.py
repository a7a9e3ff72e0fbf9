# SPDX-License-Identifier: BSD-3-Clause
"""Placements whose ranks are consecutive on each host, as some launchers need them."""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement


def consecutive_runs(
    placement: HostPlacement, format_name: str, instead: str
) -> list[tuple[int, int]]:
    """List ``(host index, ranks)`` in rank order, each host once.

    Raises
    ------
    topoloom.Error
        If a host returns; it names two of its ranks and what to do `instead`.
    """
    runs = placement.runs()
    first_rank: dict[int, int] = {}
    rank = 0
    for host, count in runs:
        if host in first_rank:
            raise Error(
                f"{format_name} cannot express this placement: ranks "
                f"{first_rank[host]} and {rank} are both on host "
                f"'{placement.hosts[host]}', but not the ranks between them; {instead}"
            )
        first_rank[host] = rank
        rank += count
    return runs

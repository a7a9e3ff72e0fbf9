# SPDX-License-Identifier: BSD-3-Clause
"""MPICH (Hydra) `-rankmap`: the host of each rank as an index into the host list.

Indices start at 0 (Hydra's help shows 1, and crashes on an index past the list). Two
forms are the same to Hydra: `2,0,0,1` and `(vector,(2,1,1),(0,1,2),(1,1,1))`, blocks
of `(first host, hosts, ranks on each)`; the shorter one is written. With a standard
input, rank 0 must be on the first host: Hydra 5.0 hands the input to that one.
"""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement

NAME = "mpich-rankmap"
SUMMARY = "MPICH with -rankmap: index of the host of each rank, from 0"
USE = 'mpiexec -hosts {hosts} -rankmap "$(cat FILE)" -n {ranks} ./app'


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether hosts are filled in rank order: it names no slots."""
    return placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write the map as one line."""
    plain = ",".join(map(str, placement.host.tolist()))
    blocks = ",".join(f"({a},{n},{k})" for a, n, k in rank_blocks(placement.runs()))
    vector = f"(vector,{blocks})"
    return min(plain, vector, key=len) + "\n"


def rank_blocks(runs: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Join neighboring runs: ``(first host, hosts, ranks on each)``."""
    blocks: list[tuple[int, int, int]] = []
    for host, count in runs:
        if blocks:
            first, hosts, each = blocks[-1]
            if host == first + hosts and count == each:
                blocks[-1] = (first, hosts + 1, each)
                continue
        blocks.append((host, 1, count))
    return blocks

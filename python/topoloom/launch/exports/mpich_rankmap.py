# SPDX-License-Identifier: BSD-3-Clause
"""MPICH (Hydra) `-rankmap`: the host of each rank as an index into the host list.

Indices start at 0, although Hydra's help shows 1; Hydra crashes on an index past the
list. Hydra accepts two forms, and the shorter one is written: indices `2,0,0,1`, or
blocks of `(first host, hosts, ranks per host)`: `(vector,(2,1,1),(0,1,2),(1,1,1))`. If
there is standard input, rank 0 must be on the first host, because Hydra 5.0 forwards
the input there.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation


def write(placement: HostPlacement) -> str:
    """Write the rank map in one line."""
    plain = ",".join(map(str, placement.host.tolist()))
    blocks = ",".join(f"({a},{n},{k})" for a, n, k in join_runs(placement.host_runs()))
    vector = f"(vector,{blocks})"
    return min(plain, vector, key=len) + "\n"


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read indices of hosts, or blocks; Hydra repeats a map that is too short."""
    text = "".join(text.split())
    if vector := re.fullmatch(r"\(vector,((?:\([0-9]+,[0-9]+,[0-9]+\),?)+)\)", text):
        blocks = re.findall(r"\(([0-9]+),([0-9]+),([0-9]+)\)", vector[1])
        hosts = [
            int(first) + index
            for first, count, each in blocks
            for index in range(int(count))
            for _ in range(int(each))
        ]
    elif re.fullmatch(r"[0-9]+(,[0-9]+)*", text):
        hosts = [int(word) for word in text.split(",")]
    else:
        raise Error("expected indices of hosts, such as 2,0,0,1, or (vector,(0,2,4))")
    if max(hosts) >= len(job.hosts):
        raise Error(f"the allocation has no host {max(hosts)}; indices start at 0")
    return [RankLocation(hosts[rank % len(hosts)]) for rank in range(ranks)]


def join_runs(runs: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Combine runs on adjacent hosts to ``(first host, hosts, ranks per host)``."""
    blocks: list[tuple[int, int, int]] = []
    for host, count in runs:
        if blocks:
            first, hosts, each = blocks[-1]
            if host == first + hosts and count == each:
                blocks[-1] = (first, hosts + 1, each)
                continue
        blocks.append((host, 1, count))
    return blocks


FORMAT = ExportFormat(
    name="mpich-rankmap",
    summary="MPICH with -rankmap: index of the host of each rank, from 0",
    usage=(
        'mpiexec {variables}-hosts {hosts} -rankmap "$(cat FILE)" {cores}'
        "-n {ranks} ./app"
    ),
    write=write,
    keeps_slots=HostPlacement.fills_in_rank_order,
    starts_with=r"\(vector,|[0-9]+(,[0-9]+)*\Z",
    read=read,
    sharing="",
    hybrid=HybridOptions(
        "-genv {name} {value}", cores="-bind-to core:{cores}", binds=True
    ),
)

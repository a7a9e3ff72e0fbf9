# SPDX-License-Identifier: BSD-3-Clause
"""Blue Gene map file: each rank's coordinates in the block, and its core.

Lines are `x y z t` on Blue Gene/L and /P, `A B C D E T` on /Q. The file covers the
whole block: each node has equally many ranks, numbered by core: T is 0, 1, ..., and the
cores of a node are divided evenly among its ranks.
"""

from __future__ import annotations

import numpy as np

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation, list_numbered_lines
from topoloom.launch.torus_box import find_torus_box, format_shape
from topoloom.support.plain_text import is_number

NAME = "bluegene-map"
#: axes of Blue Gene/L and /P, and of /Q
AXES = (3, 5)


def write(placement: HostPlacement) -> str:
    """Write one line per rank; raise `topoloom.Error` if the block is not full."""
    shape, coordinates = find_torus_box(placement, NAME)
    if len(shape) not in AXES:
        raise Error(
            f"{NAME} has 3 or 5 coordinates, but the machine has {len(shape)} axes "
            f"({format_shape(shape)})"
        )
    counts = placement.ranks_per_host()
    process = placement.slot // placement.slots_per_rank
    used = int(process.max(initial=0)) + 1
    if counts.min() != used:
        short = int(np.argmin(counts))
        raise Error(
            f"{NAME} covers a whole block, but host '{placement.hosts[short]}' has "
            f"{counts[short]} of {used} cores in use; place as many ranks on each node"
        )
    pairs = zip(coordinates[placement.host].tolist(), process.tolist(), strict=True)
    return "".join(" ".join(map(str, [*at, number])) + "\n" for at, number in pairs)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read coordinates in the block and a core, one line per rank."""
    shape, coordinates = find_torus_box(job, NAME)
    host_at = {tuple(at): host for host, at in enumerate(coordinates.tolist())}
    located = []
    for number, line in list_numbered_lines(text):
        words = line.split()
        is_valid = len(words) == len(shape) + 1 and all(map(is_number, words))
        at = tuple(int(word) for word in words[:-1]) if is_valid else ()
        if at not in host_at:
            raise Error(f"line {number}: '{line[:40]}' is no node of the block")
        located.append(RankLocation(host_at[at], int(words[-1])))
    return located[:ranks]


FORMAT = ExportFormat(
    name=NAME,
    summary="Blue Gene: coordinates and core of each rank in its block",
    usage=(
        "runjob --mapping FILE --ranks-per-node {ranks_per_node} --np {ranks} "
        "{variables}: ./app"
        "   (Blue Gene/L and /P: mpirun -mapfile FILE -np {ranks} ./app)"
    ),
    write=write,
    starts_with=r"[0-9]+(\s+[0-9]+){3}(\s+[0-9]+){0,2}$",
    read=read,
    hybrid=HybridOptions("--envs {name}={value}"),
)

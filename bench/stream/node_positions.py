# SPDX-License-Identifier: BSD-3-Clause
"""Meshes by node positions compared with meshes by rank, simulated.

Each simulation has a limit of CPU time, so that the load of the machine does not
matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from objects.programs import DID_NOT_END, LIMIT, read_cpu_seconds
from smpi import simulate
from stream.node_aligned_routing import (
    BUCKET,
    CLUSTER,
    MACHINES,
    SETTINGS,
    shuffle_hosts,
)
from stream.shapes import build, print_row

#: Machines by number of ranks: tori and two-level fat trees of nodes with 4 or 16
#: cores.
TORI = {64: (4, 2, 2), 256: (4, 2, 2), 512: (4, 4, 2), 1024: (4, 4, 4)}
TREES = {64: (4, 4), 256: (4, 4), 512: (8, 4), 1024: (8, 8)}
#: SimGrid settings without its correction factors for TCP.
PLAIN = {"smpi/lat-factor": "0:1", "smpi/bw-factor": "0:1"}
HEAD = (
    "| machine | ranks | by rank | by place | by rank / by place |\n"
    "| --- | ---: | ---: | ---: | ---: |"
)


def simulate_table(folder: Path, sizes: Sequence[int]) -> str:
    """Simulate three-dimensional meshes with one message per pair; return Markdown."""
    program = build(folder)
    rows = [simulate_row(program, name, ranks) for ranks in sizes for name in MACHINES]
    return "\n".join([HEAD, *rows])


def simulate_row(program: Path, name: str, ranks: int) -> str:
    """Simulate a mesh of equal extents by rank, and one by node positions.

    In the latter, the last axis spans a node, and the axis before it two lines of
    nodes.
    """
    x, y, z = TORI[ranks]
    nodes = x * y * z
    share = ranks // nodes
    platform = program.with_name("machine.xml")
    platform.write_text(
        CLUSTER.format(last=nodes - 1, what=describe_platform(name, ranks))
    )
    ways = -3, f"{nodes // (2 * x)}x{2 * x}x{share}"
    times = [
        simulate_with_cpu_limit(platform, shuffle_hosts(nodes, share), program, way)
        for way in ways
    ]
    cells = [DID_NOT_END if time is None else f"{1e6 * time:.3f}" for time in times]
    by_rank, by_place = times
    ratio = f"{by_rank / by_place:.2f}" if by_rank and by_place else ""
    return print_row(name, f"{ranks:,}", *cells, ratio)


def describe_platform(name: str, ranks: int) -> str:
    """Format a SimGrid cluster whose nodes have a core per rank."""
    (x, y, z), (low, high) = TORI[ranks], TREES[ranks]
    if name == "torus":
        topology = f'lat="100ns" topology="TORUS" topo_parameters="{x},{y},{z}"'
    else:
        size = f"2;{low},{high};1,{low // 2};1,1"
        topology = f'lat="500ns" topology="FAT_TREE" topo_parameters="{size}"'
    return f'{topology} core="{ranks // (x * y * z)}"'


def simulate_with_cpu_limit(
    platform: Path, hosts: list[str], program: Path, way: object
) -> float | None:
    """Return seconds per message, or None after a timeout of CPU time."""
    limited = ("-wrapper", f"prlimit --cpu={LIMIT}", program)
    before = read_cpu_seconds()
    try:
        (read,) = simulate(
            *(platform, hosts, SETTINGS | PLAIN), *limited, "alltoall", 1, BUCKET, way
        )
    except SystemExit:
        if read_cpu_seconds() - before < 0.95 * LIMIT:
            raise
        return None
    return float(read["seconds"])

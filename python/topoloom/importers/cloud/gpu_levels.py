# SPDX-License-Identifier: BSD-3-Clause
"""GPUs of a host as one node with levels, or as a graph of their links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from topoloom.importers.machine_description import MachineDescription

#: Distances of two GPUs by what joins them.
NVLINK, SAME_SWITCH, SAME_CPU, ACROSS_CPUS = 1, 2, 3, 5
#: Bytes/s between CPUs, typical of x86 servers, and of PCIe 4.0 with 16 lanes.
CPU_TO_CPU, PCIE = 20e9, 31.5e9


def format_levels(distances: list[list[int]]) -> str | None:
    """Format levels of equally large groups of GPUs; None if groups differ."""
    count = len(distances)
    arities, values = [], []
    below = 1
    for value in sorted({d for row in distances for d in row} - {0}):
        group = sum(d <= value for d in distances[0])
        same = all(
            (distances[a][b] <= value) == (a // group == b // group)
            for a in range(count)
            for b in range(count)
        )
        if not same or group % below:
            return None
        arities.append(group // below)
        values.append(value)
        below = group
    if below != count:
        return None
    return f"{':'.join(map(str, arities))},distance={':'.join(map(str, values))}"


def describe_gpu_links(
    numa: Sequence[int], rates: Mapping[tuple[int, int], float]
) -> MachineDescription:
    """Build a graph of GPUs, their direct links, and the NUMA nodes above them.

    Parameters
    ----------
    numa
        The NUMA node of each GPU; PCIe joins both.
    rates
        Bytes/s per direction of the links between GPUs ``a < b``.
    """
    count = len(numa)
    nodes = {node: count + at for at, node in enumerate(sorted(set(numa)))}
    links = dict(rates)
    links |= {(gpu, nodes[node]): PCIE for gpu, node in enumerate(numa)}
    links |= {
        (a, b): CPU_TO_CPU for a in nodes.values() for b in nodes.values() if a < b
    }
    listed = [f"{u}-{v}@{rate:.12g}B/s" for (u, v), rate in sorted(links.items())]
    return MachineDescription(
        f"graph:{count}+{len(nodes)}:{','.join(listed)}",
        tuple(f"gpu{gpu}" for gpu in range(count)),
        remarks=(
            f"assumed: PCIe of {PCIE / 1e9:g} GB/s between a GPU and its NUMA node"
            + (
                f", {CPU_TO_CPU / 1e9:g} GB/s between NUMA nodes"
                if len(nodes) > 1
                else ""
            ),
        ),
    )

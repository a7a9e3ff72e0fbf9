# SPDX-License-Identifier: BSD-3-Clause
"""Groups of a job in few leaf groups of a fragmented fat tree (Arnold's problem).

Arnold (He et al., NeurIPS 2025, arXiv:2509.15940) reports up to 1.67 times smaller
spreads than the best of best fit, random fit, packing and recursive bisection. Its
clusters are not published; here, the free hosts of leaf groups are random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from resource import RUSAGE_SELF, getrusage
from typing import NamedTuple

import numpy as np

from peers.comparison import geometric_mean
from topoloom.allocations.spread.block_layouts import fill_in_order
from topoloom.allocations.spread.host_mesh import HostMesh, make_host_mesh
from topoloom.allocations.spread.leaf_group_choice import choose_leaf_groups


class Setting(NamedTuple):
    """A job, and the size of its clusters: leaf groups, and hosts per group."""

    mesh: Mapping[str, int]
    leaves: int
    hosts: int


#: GPUs per host; tp is inside a host.
PER_HOST = 8

SETTINGS = (
    Setting({"tp": 8, "dp": 12, "pp": 8}, 16, 16),
    Setting({"tp": 8, "dp": 32, "pp": 8}, 24, 32),
    Setting({"tp": 8, "dp": 32, "pp": 16}, 36, 32),
    Setting({"tp": 8, "cp": 4, "dp": 16, "pp": 8}, 36, 32),
    Setting({"tp": 8, "dp": 75, "pp": 16}, 72, 32),
)


class Spread(NamedTuple):
    """Results on the clusters of one setting; means are geometric.

    Attributes
    ----------
    weighted
        Whether the cost is the mean over axes of the largest spread, or the maximum.
    ratios
        Per cluster: spread of bin packing over ours, and of best fit over ours.
    proven
        Clusters with proven optimum, and the largest ratio to the lower bound.
    """

    setting: Setting
    weighted: bool
    clusters: int
    packed: Sequence[float]
    best_fit: Sequence[float]
    proven: int
    above: float
    seconds: float


def compare(setting: Setting, weighted: bool, clusters: int, seed: int) -> Spread:
    """Draw clusters with 1/8 to all hosts of each leaf group free, and compare."""
    random = np.random.default_rng(seed)
    axes = {name: 1.0 for name in setting.mesh if name != "tp"}
    mesh = make_host_mesh(setting.mesh, PER_HOST, axes, weighted)
    packed, best_fit, above, proven, seconds = [], [], 1.0, 0, 0.0
    for _ in range(clusters):
        free = _draw_cluster(random, setting, mesh.hosts)
        start = _read_cpu_seconds()
        found = choose_leaf_groups(mesh, free)
        seconds = max(seconds, _read_cpu_seconds() - start)
        ours = mesh.measure(found.chosen.cost)
        packed.append(mesh.measure(found.packed.cost) / ours)
        best_fit.append(_find_best_fit(mesh, free) / ours)
        proven += found.proven
        above = max(above, ours / mesh.measure(found.least_cost))
    return Spread(setting, weighted, clusters, packed, best_fit, proven, above, seconds)


def _draw_cluster(
    random: np.random.Generator, setting: Setting, needed: int
) -> list[int]:
    """Draw free hosts per leaf group until they suffice for the job."""
    while True:
        low, high = setting.hosts // 8, setting.hosts + 1
        free: list[int] = random.integers(low, high, setting.leaves).tolist()
        if sum(free) >= needed:
            return free


def _find_best_fit(mesh: HostMesh, free: Sequence[int]) -> float:
    """Return the spread of best fit: leaf groups with the fewest free hosts first."""
    leaves = sorted(range(len(free)), key=lambda leaf: free[leaf])
    spreads = mesh.spreads(fill_in_order(mesh, leaves, free))
    return mesh.measure(mesh.cost([int(one.max()) for one in spreads]))


def _read_cpu_seconds() -> float:
    return getrusage(RUSAGE_SELF).ru_utime


def compare_all(clusters: int, seed: int) -> list[Spread]:
    """Compare all settings under both costs."""
    return [
        compare(setting, weighted, clusters, seed)
        for weighted in (False, True)
        for setting in SETTINGS
    ]


def spread_table(rows: Sequence[Spread]) -> str:
    """Format the results as Markdown."""
    lines = [
        "| small | axes | hosts | leaf groups | bin packing / ours | least, most "
        "| best fit / ours | proven best | most above the bound | CPU seconds |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        axes = ", ".join(f"{name}={size}" for name, size in row.setting.mesh.items())
        hosts = int(np.prod(list(row.setting.mesh.values()))) // PER_HOST
        lines.append(
            f"| {'mean' if row.weighted else 'largest'} | {axes} | {hosts:,} "
            f"| {row.setting.leaves} x {row.setting.hosts} "
            f"| {geometric_mean(row.packed):.2f} "
            f"| {min(row.packed):.2f}, {max(row.packed):.2f} "
            f"| {geometric_mean(row.best_fit):.2f} "
            f"| {row.proven} of {row.clusters} | {100 * (row.above - 1):.0f} % "
            f"| {row.seconds:.1f} |"
        )
    return "\n".join(lines) + "\n"

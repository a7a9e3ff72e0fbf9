# SPDX-License-Identifier: BSD-3-Clause
"""Finds the segments of hosts that a job should ask its scheduler for.

A scheduler that is asked for segments of s hosts puts each into one leaf group, any of
them. The time of a job is that of the worst of several ways to do so, in the order in
which ranks are numbered; the smallest segment is wanted whose time is near the best,
since small ones are granted sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from topoloom._core import Allocation, Error, MachineText
from topoloom.frameworks.job import Job
from topoloom.frameworks.models import Step
from topoloom.graphs.axes import Traffic, order_axes, rank_order
from topoloom.graphs.layouts import order_layouts
from topoloom.launch.scheduler_requests import Shape, request_lines
from topoloom.nodes.hosts import nodes_of, slots_per_host, whole_hosts
from topoloom.support.units import counted
from topoloom.tasks.axes import format_step
from topoloom.tasks.machines.choose_for_mesh import leaf_groups
from topoloom.tasks.machines.segment_places import hosts_at, segment_places

#: A segment is large enough if the job takes at most this much longer than the best.
_NEAR = 0.01


@dataclass(frozen=True)
class WantedShape:
    """Segments that were compared, and the one to ask for.

    Attributes
    ----------
    shape
        What to ask for.
    seconds
        Of a step, by the hosts of a segment; bytes on the busiest link where the
        machine has no bandwidths.
    has_bandwidths
        Whether the machine has them.
    order
        The name of the order of a framework's job; empty for a mesh.
    """

    shape: Shape
    seconds: Mapping[int, float]
    has_bandwidths: bool
    order: str = ""

    @property
    def alike(self) -> bool:
        """Whether there are several segments, and all cost about the same."""
        times = self.seconds.values()
        return len(times) > 1 and max(times) <= min(times) * (1 + _NEAR)

    def text(self, scheduler: str) -> str:
        """Write the request, and above it what other segments would cost."""
        lines = [
            f"# segments of {counted(size, 'host')}: "
            f"{format_step(seconds, self.has_bandwidths)} per step"
            for size, seconds in self.seconds.items()
        ]
        if self.order:
            lines.insert(0, f"# order {self.order}")
        if self.alike:
            lines.append(
                "# all segments cost the same; if the machine's bandwidths are "
                "assumed, correct them and ask again"
            )
        return "\n".join([*lines, *request_lines(scheduler, self.shape)])


def wanted_shape(
    cluster: Allocation,
    mesh: Mapping[str, int] | Job,
    traffic: Sequence[Traffic] | Step,
    label: str = "",
    seed: int = 1,
    progress: Callable[[int, int], None] = lambda done, all: None,
) -> WantedShape:
    """Compare all segments that divide the hosts of a job.

    Parameters
    ----------
    cluster
        All hosts that a job may get; those of which a part is missing are left out. A
        rank takes a slot.
    mesh, traffic
        The axes and what they send, as of `topoloom.tasks.axes.map_axes`.
    label
        That of leaf groups; by default that of the usual operator.
    seed
        For ways to place segments that are random.
    progress
        Called with the number of sizes compared so far, and of all sizes.

    Raises
    ------
    topoloom.Error
        On machines without leaf groups, and for jobs that do not fill hosts or need
        more than there are.
    """
    machine = cluster.machine
    axes = mesh if isinstance(mesh, Mapping) else mesh.mesh
    ranks = prod(axes.values())
    per_host, leaves = slots_per_host(machine), _hosts_of_leaves(cluster)
    hosts = -(-ranks // per_host)
    if ranks % per_host:
        raise Error(f"{ranks} ranks do not fill hosts of {per_host} GPUs")
    if hosts > sum(map(len, leaves)):
        raise Error(
            f"the job needs {hosts} hosts, but the machine has only "
            f"{sum(map(len, leaves))}"
        )
    seconds, order = dict[int, float](), ""
    sizes = [size for size in range(hosts, 0, -1) if hosts % size == 0]
    for done, size in enumerate(sizes):
        progress(done, len(sizes))
        room = [len(leaf) // size for leaf in leaves]
        if sum(room) * size < hosts:
            continue
        # Segments of a multiple of this size are ways to place these, too.
        worst = max((seconds[each] for each in seconds if each % size == 0), default=0)
        strides = [each // (per_host * size) for each in _strides(axes)]
        for places in segment_places(room, hosts // size, strides, seed):
            chosen = hosts_at(leaves, places, size)
            allocation = Allocation(machine, nodes_of(machine, chosen))
            taken, order = _time(allocation, mesh, traffic)
            worst = max(worst, taken)
        seconds[size] = worst
    wanted = min(
        size
        for size, taken in seconds.items()
        if taken <= min(seconds.values()) * (1 + _NEAR)
    )
    topology = MachineText(machine.text).topology
    domain = topology.name == "rails" and machine.nodes_per_host < topology.sizes[0]
    shape = Shape(hosts, per_host, wanted, max(map(len, leaves)), domain, label)
    smallest_first = dict(sorted(seconds.items()))
    return WantedShape(shape, smallest_first, machine.has_bandwidths, order)


def _strides(axes: Mapping[str, int]) -> list[int]:
    """List how many ranks apart neighbors along the axes are."""
    return list(accumulate((axes[name] for name in rank_order(axes)), mul))


def _hosts_of_leaves(cluster: Allocation) -> list[list[int]]:
    hosts = np.sort(whole_hosts(cluster))
    leaf_of = leaf_groups(cluster.machine)[hosts]
    return [hosts[leaf_of == leaf].tolist() for leaf in np.unique(leaf_of)]


def _time(
    allocation: Allocation,
    mesh: Mapping[str, int] | Job,
    traffic: Sequence[Traffic] | Step,
) -> tuple[float, str]:
    """Return seconds of the default order, and of a framework's job its name."""
    if isinstance(mesh, Mapping):
        sends = traffic.traffic(mesh) if isinstance(traffic, Step) else traffic
        return order_axes(allocation, mesh, sends, lambda _: False).given.total, ""
    sends = traffic.traffic(mesh.axes) if isinstance(traffic, Step) else traffic
    layouts = mesh.layouts()[:1]
    found = order_layouts(allocation, layouts, sends, lambda _: False)
    return found.given.total, layouts[0].name

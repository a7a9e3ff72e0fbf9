# SPDX-License-Identifier: BSD-3-Clause
"""Finds the segments of hosts that a job should ask its scheduler for.

A scheduler that is asked for segments of s hosts puts each into one leaf group, and may
put every one into another. The time of a job is that of this worst case, in the order
in which ranks are numbered; the smallest segment is wanted whose time is near the best,
since small ones are granted sooner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from topoloom._core import Allocation, Error, Machine, MachineText
from topoloom.frameworks.job import Job
from topoloom.frameworks.models import Step
from topoloom.graphs.axes import Traffic, order_axes
from topoloom.graphs.layouts import order_layouts
from topoloom.launch.scheduler_requests import Shape, request_lines
from topoloom.nodes.hosts import Ids, nodes_of, slots_per_host
from topoloom.support.units import counted, format_count
from topoloom.tasks.machines.choose_for_mesh import leaf_groups

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
        Of a step, by the hosts of a segment.
    order
        The name of the order of a framework's job; empty for a mesh.
    """

    shape: Shape
    seconds: Mapping[int, float]
    order: str = ""

    def text(self, scheduler: str) -> str:
        """Write the request, and above it what other segments would cost."""
        lines = [
            f"# segments of {counted(size, 'host')}: {format_count(seconds)} s a step"
            for size, seconds in self.seconds.items()
        ]
        if self.order:
            lines.insert(0, f"# order {self.order}")
        return "\n".join([*lines, *request_lines(scheduler, self.shape)])


def wanted_shape(
    machine: Machine, mesh: Mapping[str, int] | Job, traffic: Sequence[Traffic] | Step
) -> WantedShape:
    """Compare all segments that divide the hosts of a job.

    Parameters
    ----------
    machine
        The whole cluster; a rank takes a slot.
    mesh, traffic
        The axes and what they send, as of `topoloom.tasks.axes.map_axes`.

    Raises
    ------
    topoloom.Error
        On machines without leaf groups, and for jobs that do not fill hosts or need
        more than there are.
    """
    axes = mesh if isinstance(mesh, Mapping) else mesh.mesh
    ranks = prod(axes.values())
    per_host, leaves = slots_per_host(machine), _hosts_of_leaves(machine)
    hosts = -(-ranks // per_host)
    if ranks % per_host:
        raise Error(f"{ranks} ranks do not fill hosts of {per_host} GPUs")
    if hosts > sum(map(len, leaves)):
        raise Error(
            f"the job needs {hosts} hosts, but the machine has only "
            f"{sum(map(len, leaves))}"
        )
    seconds, order = dict[int, float](), ""
    for size in range(1, hosts + 1):
        chosen = None if hosts % size else _segments(leaves, hosts, size)
        if chosen is None:
            continue
        allocation = Allocation(machine, nodes_of(machine, chosen))
        seconds[size], order = _time(allocation, mesh, traffic)
    wanted = min(
        size
        for size, taken in seconds.items()
        if taken <= min(seconds.values()) * (1 + _NEAR)
    )
    topology = MachineText(machine.text).topology
    domain = topology.name == "rails" and machine.nodes_per_host < topology.sizes[0]
    shape = Shape(hosts, per_host, wanted, max(map(len, leaves)), domain)
    return WantedShape(shape, seconds, order)


def _hosts_of_leaves(machine: Machine) -> list[list[int]]:
    leaf_of = leaf_groups(machine)
    return [np.flatnonzero(leaf_of == leaf).tolist() for leaf in np.unique(leaf_of)]


def _segments(leaves: Sequence[Sequence[int]], hosts: int, size: int) -> Ids | None:
    """Put segments on leaf groups in turn; None if they do not fit."""
    waiting = [list(leaf) for leaf in leaves]
    found: list[int] = []
    while len(found) < hosts:
        before = len(found)
        for leaf in waiting:
            if len(leaf) >= size and len(found) < hosts:
                found += leaf[:size]
                del leaf[:size]
        if len(found) == before:
            return None
    return np.array(found, np.int64)


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

# SPDX-License-Identifier: BSD-3-Clause
"""Finds the size of host segments that a job should request from its scheduler.

For a request of segments of s hosts, the scheduler places each segment in any one leaf
group, or in one group of a higher level. The time of a job is its worst time over
several such placements, in rank order. Among sizes near the best time, the smallest is
requested, because schedulers grant small segments sooner.
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
from topoloom.frameworks.training_step import TrainingStep
from topoloom.graphs.axes import Traffic, order_axes, rank_order
from topoloom.graphs.layouts import order_layouts
from topoloom.launch.scheduler_requests import (
    TopologyRequest,
    can_request,
    format_request_lines,
)
from topoloom.nodes.hosts import (
    list_fully_allocated_hosts,
    list_nodes_of_hosts,
    slots_per_host,
)
from topoloom.support.units import counted
from topoloom.tasks.axes import format_step
from topoloom.tasks.machines.choose_for_mesh import find_leaf_levels, list_leaf_groups
from topoloom.tasks.machines.nested_segments import HostGroups
from topoloom.tasks.machines.shape_times import NEAR, ShapeTimes, list_divisors


@dataclass(frozen=True)
class SegmentRequest:
    """The segments to request, and the predicted times of alternatives.

    Attributes
    ----------
    shape
        The shape to request from the scheduler.
    seconds
        Worst step time in seconds over placements of the segments, by hosts per
        segment. Without bandwidths, the values are bytes on the busiest link.
    taken
        Step time in seconds with `shape`.
    has_bandwidths
        Whether the machine has bandwidths.
    order
        The axis order of a framework's job; empty for a mesh.
    beyond
        A faster shape that the scheduler does not support, and its step time.
    """

    shape: TopologyRequest
    seconds: Mapping[int, float]
    taken: float
    has_bandwidths: bool
    order: str = ""
    beyond: tuple[TopologyRequest, float] | None = None

    @property
    def alike(self) -> bool:
        """Whether several segments were compared and cost about the same."""
        times = self.seconds.values()
        return len(times) > 1 and max(times) <= min(times) * (1 + NEAR)

    def text(self, scheduler: str) -> str:
        """Format the request, preceded by comments with the times of alternatives."""
        lines = [
            f"# segments of {counted(size, 'host')}: {self._format_step_time(seconds)}"
            for size, seconds in self.seconds.items()
        ]
        if self.order:
            lines.insert(0, f"# order {self.order}")
        if any(size > 1 for size in self.shape.above):
            lines.append(
                f"# {self.shape.describe()}: {self._format_step_time(self.taken)}"
            )
        elif self.alike:
            lines.append(
                "# all segments cost the same; if the machine's bandwidths are "
                "assumed, correct them and run this command again"
            )
        elif self.shape.above and self.beyond is None:
            lines.append("# groups above those of segments save nothing")
        if self.beyond is not None:
            shape, seconds = self.beyond
            lines.append(
                f"# {scheduler} cannot be asked for {shape.describe()}: "
                f"{self._format_step_time(seconds)}"
            )
        return "\n".join([*lines, *format_request_lines(scheduler, self.shape)])

    def _format_step_time(self, seconds: float) -> str:
        return f"{format_step(seconds, self.has_bandwidths)} per step"


def find_segment_request(
    cluster: Allocation,
    mesh: Mapping[str, int] | Job,
    traffic: Sequence[Traffic] | TrainingStep,
    labels: Sequence[str] = (),
    seed: int = 1,
    progress: Callable[[int, int], None] = lambda done, all: None,
    scheduler: str = "slurm",
) -> SegmentRequest:
    """Find the best segments by comparing all sizes that divide the hosts of a job.

    If groups above leaf groups reduce the time further, the smallest shape that the
    scheduler supports is searched for. Sizes are minimized level by level from leaf
    groups up; levels above have their largest fitting size.

    Parameters
    ----------
    cluster
        All hosts that a job may use; partly allocated hosts are ignored. Each rank has
        one slot.
    mesh, traffic
        The axes and their traffic, as in `topoloom.tasks.axes.map_axes`.
    labels
        Labels of the levels, starting with leaf groups; by default the labels of common
        operators.
    seed
        Seed of the random placements of segments.
    progress
        Called with the number of compared shapes and the number of planned shapes.
    scheduler
        The scheduler, which limits the shapes that can be requested.

    Raises
    ------
    topoloom.Error
        If the machine has no leaf groups, or the job does not fill hosts or requires
        too many.
    """
    machine = cluster.machine
    axes = mesh if isinstance(mesh, Mapping) else mesh.mesh
    ranks = prod(axes.values())
    per_host, leaves = slots_per_host(machine), _group_hosts_by_leaf(cluster)
    hosts = -(-ranks // per_host)
    if ranks % per_host:
        raise Error(f"{ranks} ranks do not fill hosts of {per_host} GPUs")
    if hosts > sum(map(len, leaves)):
        raise Error(
            f"the job needs {hosts} hosts, but the machine has only "
            f"{sum(map(len, leaves))}"
        )
    first = np.array([leaf[0] for leaf in leaves])
    above = find_leaf_levels(machine, first)
    strides = [stride // per_host for stride in _list_strides(axes)]
    times = ShapeTimes(
        HostGroups(leaves, above, strides, seed),
        hosts,
        lambda chosen: _predict_step_time(
            Allocation(machine, list_nodes_of_hosts(machine, chosen)), mesh, traffic
        ),
        progress,
    )
    topology = MachineText(machine.text).topology
    domain = topology.name == "rails" and machine.nodes_per_host < topology.sizes[0]
    shape = TopologyRequest(
        hosts, per_host, 1, max(map(len, leaves)), domain, tuple(labels)
    )
    nothing = (1,) * len(above)
    anywhere = [(size, *nothing) for size in reversed(list_divisors(hosts))]
    found = {sizes: times[sizes] for sizes in anywhere if times.fits(sizes)}
    seconds = {sizes[0]: taken for sizes, taken in found.items()}
    largest, wanted = max(seconds), _choose_smallest_shape(found)
    tight = {
        sizes: times[sizes]
        for sizes in map(times.extend_sizes, {(largest,), wanted[:1]})
    }
    best, beyond = min(tight, key=tight.__getitem__), None
    if tight[best] * (1 + NEAR) < found[wanted]:
        compared = {
            sizes: times[sizes] for sizes in times.list_plain_shapes()
        } | times.find_nested_shapes()
        for sizes, taken in compared.items():
            if can_request(scheduler, _make_request(shape, sizes)):
                found[sizes] = taken
        wanted = _choose_smallest_shape(found)
        if tight[best] * (1 + NEAR) < found[wanted]:
            beyond = _make_request(shape, best), tight[best]
    return SegmentRequest(
        _make_request(shape, wanted),
        dict(sorted(seconds.items())),
        found[wanted],
        machine.has_bandwidths,
        "" if isinstance(mesh, Mapping) else mesh.layouts()[0].name,
        beyond,
    )


def _make_request(shape: TopologyRequest, sizes: Sequence[int]) -> TopologyRequest:
    return shape._replace(segment=sizes[0], above=tuple(sizes[1:]))


def _choose_smallest_shape(found: Mapping[tuple[int, ...], float]) -> tuple[int, ...]:
    """Choose the shape with the smallest sizes among shapes near the best time."""
    near = min(found.values()) * (1 + NEAR)
    return min(
        (sizes for sizes, taken in found.items() if taken <= near),
        key=lambda sizes: (max(sizes), sizes),
    )


def _list_strides(axes: Mapping[str, int]) -> list[int]:
    """List the distances in ranks between neighbors along the axes."""
    return list(accumulate((axes[name] for name in rank_order(axes)), mul))


def _group_hosts_by_leaf(cluster: Allocation) -> list[list[int]]:
    hosts = np.sort(list_fully_allocated_hosts(cluster))
    leaf_of = list_leaf_groups(cluster.machine)[hosts]
    return [hosts[leaf_of == leaf].tolist() for leaf in np.unique(leaf_of)]


def _predict_step_time(
    allocation: Allocation,
    mesh: Mapping[str, int] | Job,
    traffic: Sequence[Traffic] | TrainingStep,
) -> float:
    """Predict the step time in seconds with the default order."""
    sends = traffic.traffic(mesh) if isinstance(traffic, TrainingStep) else traffic
    if isinstance(mesh, Mapping):
        return order_axes(allocation, mesh, sends, lambda _: False).given.total
    found = order_layouts(allocation, mesh.layouts()[:1], sends, lambda _: False)
    return found.given.total

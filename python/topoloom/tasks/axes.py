# SPDX-License-Identifier: BSD-3-Clause
"""Maps the axes of a training job onto a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from topoloom._core import Allocation, AxisOrder, CommGraph, Error
from topoloom.frameworks.jax_mesh import find_jax_order
from topoloom.frameworks.job import Job
from topoloom.frameworks.nccl_times import make_nccl_times
from topoloom.frameworks.training_step import TrainingStep, parse_step
from topoloom.graphs.axes import (
    MeshOrders,
    Traffic,
    check_fit,
    mesh_graph,
    order_axes,
    parse_traffic,
    rank_order,
)
from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
from topoloom.graphs.graph_file import save_graph
from topoloom.graphs.layouts import (
    Layout,
    LayoutOrders,
    layout_graph,
    order_layouts,
)
from topoloom.graphs.nccl_layouts import make_nccl_graph
from topoloom.graphs.phases import make_phase_array
from topoloom.graphs.profile import load_profile
from topoloom.graphs.traces.mesh import InferredMesh, infer_mesh
from topoloom.launch.scheduler_requests import SCHEDULERS
from topoloom.nodes.hosts import slots_per_host
from topoloom.placements import objective_value
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.gain import gain
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import format_bytes, format_count
from topoloom.tasks.search import Progress

if TYPE_CHECKING:
    from topoloom.documents.ai import AxesDocument, AxisOrderFields, BestAxisOrder

#: Output formats of an axis order: for programs, and for job schedulers.
FORMATS = ("jax", "name", "ranks", "settings", *SCHEDULERS)

#: Smallest relative gain that makes another placement preferable to a named order.
_LEAST_GAIN = 1e-4


class AxesProblem(NamedTuple):
    """The axes of a job, their traffic, and the trace from which they were inferred."""

    job: Mapping[str, int] | Job
    traffic: Sequence[Traffic] | TrainingStep
    inferred: InferredMesh | None = None

    @property
    def axes(self) -> Mapping[str, int]:
        """The sizes of the axes."""
        return self.job if isinstance(self.job, Mapping) else self.job.axes


@dataclass(frozen=True)
class MappedAxes:
    """Orders of the axes of a job, and the chosen one.

    Attributes
    ----------
    orders, chosen
        The orders that were compared, and the chosen one.
    axes
        The sizes of the axes.
    job
        The job of a framework; None for a mesh.
    default
        The orders of the framework's default, if another variant was chosen.
    others
        Predicted seconds of the best order of each other variant; the key names the
        axes whose sizes differ.
    gpus_per_node
        Ranks per node, if the graph contains the messages of NCCL. Orders and times do
        not depend on this number.
    is_split_by_jax
        Whether the default is JAX's order of a mesh, and requires its option
        ``allow_split_physical_axes``.
    has_nccl_times
        Whether seconds are those of NCCL, rather than at line rates.
    """

    orders: MeshOrders | LayoutOrders
    chosen: AxisOrder
    axes: Mapping[str, int]
    job: Job | None = None
    default: MappedAxes | None = None
    others: Mapping[str, float] = field(default_factory=dict)
    gpus_per_node: int | None = None
    is_split_by_jax: bool = False
    has_nccl_times: bool = False

    @cached_property
    def graph(self) -> tuple[CommGraph, list[CommGraph]]:
        """Make the communication graph, and the graph of each phase."""
        orders = self.orders
        if self.gpus_per_node is None:
            return orders.graph(self.chosen)
        if isinstance(orders, MeshOrders):
            names = rank_order(orders.mesh)
            layout = Layout("", (tuple((name, orders.mesh[name]) for name in names),))
        else:
            layout = orders.layout(self.chosen)
        devices = orders.device_of_rank(self.chosen)
        slots = orders.allocation.slot_count
        return make_nccl_graph(
            layout, orders.traffic, devices, slots, self.gpus_per_node
        )

    @property
    def phase_names(self) -> list[str]:
        """The axes along which ranks communicate, for each phase of `graph`."""
        orders, names = self.orders, list[str]()
        for one in orders.traffic:
            if isinstance(orders, MeshOrders):
                _, phases = mesh_graph(orders.mesh, [one])
            else:
                _, phases = layout_graph(orders.layout(self.chosen), [one])
            alone = self.gpus_per_node is not None and one.collective != "chain"
            names += [one.name] * (1 if alone else len(phases))
        return names

    def with_nccl_messages(self, gpus_per_node: int | None = None) -> MappedAxes:
        """Return a copy whose graph contains the messages of NCCL.

        A node has one GPU per slot of its host. If hosts have one slot, a node has
        `gpus_per_node` GPUs, by default `GPUS_PER_NODE`.

        Raises
        ------
        topoloom.Error
            If hosts have different numbers of slots, or not `gpus_per_node` slots.
        """
        allocation = self.orders.allocation
        owner = allocation.slots // slots_per_host(allocation.machine)
        _, counts = np.unique(owner, return_counts=True)
        least, most = int(counts.min()), int(counts.max())
        if least < most:
            raise Error(
                f"hosts have {least} to {most} slots; the messages of NCCL are for "
                "hosts with equal numbers of slots"
            )
        if slots_per_host(allocation.machine) == 1:
            return replace(self, gpus_per_node=gpus_per_node or GPUS_PER_NODE)
        if gpus_per_node not in (None, most):
            raise ParameterError(
                "gpus_per_node",
                f"is {gpus_per_node}, but hosts of the machine have {most}",
            )
        return replace(self, gpus_per_node=most)

    @property
    def default_seconds(self) -> float:
        """Predicted seconds of the default order, the baseline of gains."""
        return (self.default or self).orders.given.total

    @property
    def axis_direction(self) -> str:
        """Whether names of orders list the fastest or the slowest axis first."""
        fastest_first = self.job is None or self.job.framework == "megatron"
        return "fastest first" if fastest_first else "slowest first"

    def placement_file(self, **about: Any) -> PlacementFile:
        """Return the placement file of the chosen order; `about` adds fields to it."""
        graph, _ = self.graph
        placement = self.orders.placement(self.chosen)
        seconds = self.chosen.total
        if self.has_nccl_times:
            rings, phases = self.orders.graph(self.chosen)
            seconds = objective_value(
                *(rings, self.orders.allocation, placement),
                objective="time",
                phases=phases,
            )
        return PlacementFile.measured(
            graph,
            self.orders.allocation,
            placement,
            seconds,
            objective="time",
            mapper="axes",
            **about,
        )

    def save_pattern(self, path: str | Path) -> None:
        """Write the communication graph and its named phases."""
        graph, phases = self.graph
        extra = {"phases": make_phase_array(phases), "phase_names": self.phase_names}
        save_graph(path, graph, extra)

    def text(self, program: str) -> str:
        """Format the chosen order for one of `FORMATS` except the schedulers."""
        if program in ("name", "settings"):
            if self.job is None:
                raise Error(f"a mesh has no {program}; describe a framework's job")
            name = self.orders.text(self.chosen)
            return "\n".join(self.job.settings(name)) if program == "settings" else name
        if program == "jax":
            return json.dumps(_require_mesh(self.orders).devices(self.chosen).tolist())
        return "\n".join(map(str, self.orders.device_of_rank(self.chosen)))

    def document(self) -> AxesDocument:
        """Return the fields of the ``--json`` output."""
        orders = self.orders
        best = cast("BestAxisOrder", self._describe_order(orders.best))
        if isinstance(orders, MeshOrders):
            best["jax"] = orders.devices(orders.best).tolist()
        best["ranks"] = orders.device_of_rank(orders.best).tolist()
        document: AxesDocument = {
            "machine": orders.allocation.machine.text,
            "mesh": dict(self.axes),
            "times": "nccl" if self.has_nccl_times else "line rates",
            "default": self._describe_order(orders.given),
            "named": self._describe_order(orders.nested),
            "best": best,
        }
        if self.job is not None:
            document["framework"] = self.job.framework
            document["settings"] = self.job.settings(orders.text(self.chosen))
            document["default_seconds"] = self.default_seconds
            document["other_variants"] = dict(self.others)
        else:
            document["allow_split_physical_axes"] = self.is_split_by_jax
        return document

    def _describe_order(self, order: AxisOrder) -> AxisOrderFields:
        orders = self.orders
        described: AxisOrderFields = {
            "order": orders.text(order),
            "seconds": order.total,
            "gain_percent": gain(self.default_seconds, order.total),
            "traffic": [
                {
                    "axes": list(one.axes),
                    "collective": one.collective,
                    "seconds": seconds,
                }
                for one, seconds in zip(orders.traffic, order.seconds, strict=True)
            ],
        }
        if isinstance(orders, MeshOrders):
            described["back_and_forth"] = orders.back_and_forth(order)
        return described


def read_axes_problem(
    job: Mapping[str, int] | Job, *, traffic: str | None = None, model: str | None
) -> AxesProblem:
    """Read the axes and their traffic: volumes like ``tp=1GB``, or a training step."""
    if model is not None:
        return AxesProblem(job, parse_step(model))
    axes = job if isinstance(job, Mapping) else job.axes
    return AxesProblem(job, parse_traffic(traffic or "", axes))


def infer_axes_problem(trace: str | Path) -> AxesProblem:
    """Infer the mesh of a recorded job and its traffic along the axes.

    Raises
    ------
    topoloom.Error
        If the file has no profile, or its communicators do not form one mesh.
    """
    inferred = infer_mesh(load_profile(trace))
    return AxesProblem(inferred.mesh, inferred.traffic(), inferred)


def map_axes(
    allocation: Allocation,
    mesh: Mapping[str, int] | Job,
    traffic: Sequence[Traffic] | TrainingStep,
    *,
    named: bool = False,
    recorded: bool = False,
    progress: Progress | None = None,
) -> MappedAxes:
    """Find the fastest order of the axes; `named` allows only orders that have a name.

    The default of a mesh is JAX's order on a torus, and elsewhere the ranks on the
    slots in order, as always if the job was `recorded`. For a framework's job, only the
    framework's own orders are allowed. If the job leaves a setting open and `traffic`
    is a training step, its fastest value is chosen.
    """
    if isinstance(mesh, Mapping):
        sends = _list_traffic(traffic, mesh)
        check_fit(mesh, prod(mesh.values()), allocation)
        by_jax = None if recorded else find_jax_order(allocation, mesh)
        pieces = by_jax.pieces if by_jax else []
        nccl = make_nccl_times(allocation)
        orders = order_axes(allocation, mesh, sends, progress, pieces, nccl)
        chosen = orders.nested if named else orders.best
        return MappedAxes(
            *(orders, chosen, mesh),
            is_split_by_jax=by_jax is not None and by_jax.is_split,
            has_nccl_times=nccl is not None,
        )
    check_fit(mesh.mesh, mesh.ranks, allocation)
    variants = mesh.variants() if isinstance(traffic, TrainingStep) else [mesh]
    mapped = [_map_job(allocation, one, traffic, named, progress) for one in variants]
    best = min(mapped, key=lambda one: one.chosen.total)
    others = {
        _format_differing_axes(one.axes, best.axes): one.chosen.total
        for one in mapped
        if one is not best
    }
    default = None if best is mapped[0] else mapped[0]
    return replace(best, default=default, others=others)


def format_step(taken: float, has_bandwidths: bool) -> str:
    """Format the cost of a step: seconds, or bytes on the busiest link."""
    if has_bandwidths:
        return f"{format_count(taken)} s"
    return f"{format_bytes(taken)} on the busiest link"


def _map_job(
    allocation: Allocation,
    job: Job,
    traffic: Sequence[Traffic] | TrainingStep,
    named: bool,
    progress: Progress | None,
) -> MappedAxes:
    sends = _list_traffic(traffic, job)
    nccl = make_nccl_times(allocation)
    laid = order_layouts(allocation, job.layouts(), sends, progress, nccl)
    if laid.nested.total > (1 - _LEAST_GAIN) * laid.given.total:
        same = (laid.layouts[0], laid.layouts[0], laid.layouts[2])
        laid = replace(laid, nested=laid.given, layouts=same)
    if laid.best.total > (1 - _LEAST_GAIN) * laid.nested.total:
        same = (laid.layouts[0], laid.layouts[1], laid.layouts[1])
        laid = replace(laid, best=laid.nested, layouts=same)
    chosen = laid.nested if named else laid.best
    return MappedAxes(laid, chosen, job.axes, job, has_nccl_times=nccl is not None)


def _list_traffic(
    traffic: Sequence[Traffic] | TrainingStep, job: Mapping[str, int] | Job
) -> Sequence[Traffic]:
    return traffic.traffic(job) if isinstance(traffic, TrainingStep) else traffic


def _format_differing_axes(
    axes: Mapping[str, int], from_axes: Mapping[str, int]
) -> str:
    """Format the axes whose sizes differ, except edp, which follows from the others."""
    return ",".join(
        f"{axis}={size}"
        for axis, size in axes.items()
        if size != from_axes[axis] and axis != "edp"
    )


def _require_mesh(orders: MeshOrders | LayoutOrders) -> MeshOrders:
    if isinstance(orders, MeshOrders):
        return orders
    raise Error("a framework's job is not one mesh of devices; use the format ranks")

# SPDX-License-Identifier: BSD-3-Clause
"""The jobs: a model on a machine, and the predicted time of each axis order."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from time import perf_counter

import topoloom
from topoloom._core import AxisOrder
from topoloom.frameworks import MegatronJob, make_megatron_job
from topoloom.frameworks.jax_mesh import find_jax_order
from topoloom.frameworks.named_models import MODELS
from topoloom.frameworks.training_step import TrainingStep
from topoloom.graphs import LayoutOrders, MeshOrders, order_axes, order_layouts
from topoloom.graphs.axes import parse_mesh


@dataclass(frozen=True)
class Case:
    """A job on all nodes except `lost`, or on the `chosen` nodes in their order.

    With `experts`, the job is a Megatron job; ep and etp are the axes of experts.
    `but` describes how the machine deviates from a complete one.
    """

    machine: str
    model: str
    mesh: str
    experts: str | None
    sequence: int
    micro_batches: int
    lost: frozenset[int] = frozenset()
    but: str = ""
    chosen: tuple[int, ...] = ()

    @property
    def machine_name(self) -> str:
        """The machine's name in tables and figures."""
        return self.machine + (f", {self.but}" if self.but else "")

    @property
    def job(self) -> dict[str, int] | MegatronJob:
        """The job that the mapper places."""
        mesh = parse_mesh(self.mesh)
        if self.experts is None:
            return mesh
        return make_megatron_job(mesh, parse_mesh(self.experts) if self.experts else {})

    @property
    def sizes(self) -> str:
        """The sizes of the axes, as shown in tables."""
        return ", ".join(part for part in (self.mesh, self.experts) if part)

    def allocation(self) -> topoloom.Allocation:
        """Allocate the nodes of the job."""
        machine = topoloom.load_machine(self.machine)
        rest = [node for node in range(machine.node_count) if node not in self.lost]
        return topoloom.Allocation(machine, self.chosen or rest)


@dataclass(frozen=True)
class Result:
    """Seconds of a step's traffic, and of the searches."""

    case: Case
    orders: MeshOrders | LayoutOrders
    auto: float
    search: float

    def gain(self, order: AxisOrder) -> float:
        """Gain of an order over the default, in percent."""
        return 100 * (1 - order.total / self.orders.given.total)


def _draw_slots(nodes: int, among: int) -> tuple[int, ...]:
    """Draw nodes; return them in random order."""
    return tuple(Random(1).sample(range(among), nodes))


def _list_trays(racks: int, size: int = 4) -> frozenset[int]:
    """Remove one compute tray from each of the first racks."""
    gpus = ((72 * rack + 20 + gpu) for rack in range(racks) for gpu in range(size))
    return frozenset(gpus)


#: Allocate the first cube of 8x8x8 nodes.
_CUBE = frozenset(
    64 * x + 8 * y + z for x in range(4) for y in range(4) for z in range(4)
)

_LARGE, _SMALL, _DENSE = "Qwen3-235B-A22B", "Qwen3-30B-A3B", "Llama 3.1 405B"

_FOLDED, _SPLIT = "ep=8,etp=1", "ep=8"  # by default, etp equals tp

CASES = [
    Case("nvl72-row", _LARGE, "tp=2,cp=4,dp=16,pp=4", _FOLDED, 32768, 16),
    Case("nvl72-row", _LARGE, "tp=2,cp=4,dp=16,pp=4", _SPLIT, 32768, 16),
    Case(
        *("nvl72-row", _LARGE, "tp=2,cp=4,dp=16,pp=4", _FOLDED, 32768, 16),
        *(_list_trays(5), "a tray of 5 racks lost"),
    ),
    Case("nvl72-row", _DENSE, "tp=8,cp=2,dp=4,pp=8", "", 8192, 16),
    Case("dgx-h100-pod", _LARGE, "tp=2,cp=4,dp=32,pp=4", _FOLDED, 32768, 16),
    Case("dgx-h100-pod", _LARGE, "tp=2,cp=4,dp=32,pp=4", _SPLIT, 32768, 16),
    Case(
        *("dgx-h100-pod", _LARGE, "tp=2,cp=4,dp=24,pp=4", _FOLDED, 32768, 16),
        *(frozenset(range(11, 1024, 97)), "11 GPUs lost"),
    ),
    Case("dgx-h100-pod", _DENSE, "tp=8,cp=2,dp=4,pp=16", "", 8192, 16),
    Case(
        *("lumi-g+node:8", _DENSE, "tp=8,cp=2,dp=8,pp=8", "", 8192, 8),
        but="128 nodes of 8 groups",
        chosen=tuple(sorted(_draw_slots(128, 8 * 128))),
    ),
    Case(
        *("jupiter+node:4", _LARGE, "tp=2,cp=2,dp=64,pp=4", _FOLDED, 32768, 16),
        but="256 nodes in random order",
        chosen=_draw_slots(256, 256),
    ),
    Case("tpu-v4-cube", _SMALL, "tp=2,cp=2,ep=4,dp=2,pp=2", None, 32768, 8),
    Case("tpu-v4-cube", _SMALL, "tp=2,cp=4,ep=2,dp=2,pp=2", None, 32768, 8),
    Case("tpu-v5p-cube", _SMALL, "tp=4,cp=2,ep=2,dp=2,pp=2", None, 32768, 8),
    Case("tpu-v4-twisted-4x8x8", _SMALL, "tp=2,cp=4,ep=4,dp=2,pp=4", None, 32768, 8),
    Case("tpu-v4-8x8x8", _LARGE, "tp=4,cp=4,ep=8,dp=2,pp=2", None, 32768, 8),
    Case(
        *("tpu-v4-8x8x8", _LARGE, "tp=4,cp=4,ep=4,dp=7", None, 32768, 8),
        *(_CUBE, "a cube lost"),
    ),
    Case("tpu-v4-8x8x8", _DENSE, "tp=8,cp=2,dp=4,pp=8", None, 8192, 16),
]


def measure(case: Case, seconds: float) -> Result:
    """Order the axes at line rates, then run the auto mapper for `seconds`.

    The mapper starts from the rank numbers of the best order.
    """
    job = case.job
    step = TrainingStep(MODELS[case.model], case.sequence, case.micro_batches)
    traffic = step.traffic(job)
    allocation = case.allocation()
    start = perf_counter()
    orders: MeshOrders | LayoutOrders
    if isinstance(job, dict):
        by_jax = find_jax_order(allocation, job)
        pieces = by_jax.pieces if by_jax else []
        orders = order_axes(allocation, job, traffic, default=pieces)
    else:
        orders = order_layouts(allocation, job.layouts(), traffic)
    search = perf_counter() - start
    graph, phases = orders.graph(orders.best)
    placement = topoloom.place(
        graph, allocation, seconds=seconds, objective="time", phases=phases
    ).placement
    auto = topoloom.placements.objective_value(
        graph, allocation, placement, objective="time", phases=phases
    )
    return Result(case, orders, auto, search)

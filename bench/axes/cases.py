# SPDX-License-Identifier: BSD-3-Clause
"""The jobs: a model on a machine, and what each order of its axes takes."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import topoloom
from axes.mixes import MODELS, step
from topoloom.graphs.axes import MeshOrders, mesh_graph, order_axes, parse_mesh


@dataclass(frozen=True)
class Case:
    """A job; the machine lacks the nodes in `lost`, as `without` describes."""

    machine: str
    model: str
    mesh: str
    sequence: int
    micro_batches: int
    lost: frozenset[int] = frozenset()
    without: str = ""

    @property
    def where(self) -> str:
        """The machine, as tables and pictures name it."""
        return self.machine + (f", {self.without}" if self.without else "")

    def allocation(self) -> topoloom.Allocation:
        """All that is not lost."""
        machine = topoloom.load_machine(self.machine)
        nodes = [node for node in range(machine.node_count) if node not in self.lost]
        return topoloom.Allocation(machine, nodes)


@dataclass(frozen=True)
class Result:
    """Seconds of all traffic in a step, and of the searches."""

    case: Case
    orders: MeshOrders
    auto: float
    search: float

    @property
    def gain(self) -> float:
        """Percent that the best order takes less than the default."""
        return 100 * (1 - self.orders.best.total / self.orders.given.total)


def _trays(racks: int, size: int = 4) -> frozenset[int]:
    """Take one compute tray of the first racks."""
    gpus = ((72 * rack + 20 + gpu) for rack in range(racks) for gpu in range(size))
    return frozenset(gpus)


#: A cube of 8x8x8, the first.
_CUBE = frozenset(
    64 * x + 8 * y + z for x in range(4) for y in range(4) for z in range(4)
)

_LARGE, _SMALL, _DENSE = MODELS

CASES = [
    Case("nvl72-row", _LARGE, "tp=2,cp=4,ep=8,dp=2,pp=4", 32768, 16),
    Case(
        *("nvl72-row", _LARGE, "tp=2,cp=4,ep=8,dp=2,pp=4", 32768, 16),
        *(_trays(5), "a tray of 5 racks lost"),
    ),
    Case("nvl72-row", _DENSE, "tp=8,cp=2,dp=4,pp=8", 8192, 16),
    Case("dgx-h100-pod", _LARGE, "tp=2,cp=4,ep=8,dp=4,pp=4", 32768, 16),
    Case(
        *("dgx-h100-pod", _LARGE, "tp=2,cp=4,ep=8,dp=3,pp=4", 32768, 16),
        *(frozenset(range(11, 1024, 97)), "11 GPUs lost"),
    ),
    Case("dgx-h100-pod", _DENSE, "tp=8,cp=2,dp=4,pp=16", 8192, 16),
    Case("tpu-v4-cube", _SMALL, "tp=2,cp=2,ep=4,dp=2,pp=2", 32768, 8),
    Case("tpu-v4-cube", _SMALL, "tp=2,cp=4,ep=2,dp=2,pp=2", 32768, 8),
    Case("tpu-v5p-cube", _SMALL, "tp=4,cp=2,ep=2,dp=2,pp=2", 32768, 8),
    Case("tpu-v4-twisted-4x8x8", _SMALL, "tp=2,cp=4,ep=4,dp=2,pp=4", 32768, 8),
    Case("tpu-v4-8x8x8", _LARGE, "tp=4,cp=4,ep=8,dp=2,pp=2", 32768, 8),
    Case(
        *("tpu-v4-8x8x8", _LARGE, "tp=4,cp=4,ep=4,dp=7", 32768, 8),
        *(_CUBE, "a cube lost"),
    ),
    Case("tpu-v4-8x8x8", _DENSE, "tp=8,cp=2,dp=4,pp=8", 8192, 16),
]


def measure(case: Case, seconds: float) -> Result:
    """Order the axes, and let the auto mapper search for so long."""
    mesh = parse_mesh(case.mesh)
    traffic = step(MODELS[case.model], mesh, case.sequence, case.micro_batches)
    allocation = case.allocation()
    start = perf_counter()
    orders = order_axes(allocation, mesh, traffic)
    search = perf_counter() - start
    graph, phases = mesh_graph(mesh, traffic)
    placement = topoloom.place(
        graph, allocation, seconds=seconds, objective="time", phases=phases
    ).placement
    auto = topoloom.placements.objective_value(
        graph, allocation, placement, objective="time", phases=phases
    )
    return Result(case, orders, auto, search)

# SPDX-License-Identifier: BSD-3-Clause
"""Compares layouts of a training job by memory and communication time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Allocation, Error
from topoloom.frameworks.launch_arguments import (
    LaunchArguments,
    write_launch_arguments,
)
from topoloom.frameworks.layout_candidates import list_fitting_layouts
from topoloom.frameworks.layout_memory import LayoutMemory, count_memory
from topoloom.frameworks.layout_overlap import find_hideable_share
from topoloom.frameworks.nccl_times import make_nccl_times
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout
from topoloom.graphs.axes import Traffic, check_fit
from topoloom.graphs.layouts import order_layouts
from topoloom.nodes.hosts import slots_per_host
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import format_bytes

if TYPE_CHECKING:
    from topoloom.documents.ai import (
        LayoutFields,
        LayoutMemoryFields,
        LayoutsDocument,
    )

#: Megatron-Core's default order of the axes.
_ORDER = "tp-cp-ep-dp-pp"


class LayoutTime(NamedTuple):
    """Predicted time of one entry of the traffic, and what of it can be hidden.

    Attributes
    ----------
    traffic
        What a rank sends.
    seconds
        Predicted time per step.
    hideable
        Part of these seconds that the schedule allows to overlap with computation.
    """

    traffic: Traffic
    seconds: float
    hideable: float


class TimedLayout(NamedTuple):
    """A layout that fits, with the times of its axes."""

    layout: TrainingLayout
    memory: LayoutMemory
    times: list[LayoutTime]

    @property
    def seconds(self) -> float:
        """Predicted time of all communication in a step."""
        return sum(one.seconds for one in self.times)

    @property
    def exposed(self) -> float:
        """Part of the time that the schedule cannot hide."""
        return sum(one.seconds - one.hideable for one in self.times)


@dataclass(frozen=True)
class ComparedLayouts:
    """Layouts of a job on a machine.

    Attributes
    ----------
    step, allocation, memory
        The training step, the GPUs, and the bytes that one of them may hold.
    layouts
        Layouts that fit, the one with the least communication first.
    refused
        Named layouts that do not fit.
    has_nccl_times
        Whether seconds are those of NCCL, rather than at line rates.
    """

    step: LayoutStep
    allocation: Allocation
    memory: int
    layouts: list[TimedLayout]
    refused: list[tuple[TrainingLayout, LayoutMemory]]
    has_nccl_times: bool

    def launch_arguments(self, framework: str) -> LaunchArguments:
        """Write the best layout as arguments of one of `LAUNCHED_FRAMEWORKS`."""
        nccl = make_nccl_times(self.allocation)
        near = nccl.domain if nccl else slots_per_host(self.allocation.machine)
        best = self.layouts[0].layout
        return write_launch_arguments(framework, self.step, best, near)

    def document(self) -> LayoutsDocument:
        """Return what ``--json`` prints."""
        best = self.layouts[0].layout
        return {
            "machine": self.allocation.machine.text,
            "gpus": best.ranks,
            "gpu_memory": self.memory,
            "batch": self.step.batch,
            "sequence": self.step.step.sequence,
            "times": "nccl" if self.has_nccl_times else "line rates",
            "layouts": [self._describe(one) for one in self.layouts],
            "refused": [
                {"layout": layout.text, "memory": _describe_memory(memory)}
                for layout, memory in self.refused
            ],
        }

    def _describe(self, one: TimedLayout) -> LayoutFields:
        layout, batch = one.layout, self.step.batch
        names = [field.name for field in fields(layout) if field.name != "recompute"]
        return {
            "layout": layout.text,
            "sizes": {name: getattr(layout, name) for name in names},
            "recompute": "full" if layout.recompute else "none",
            "micro_batches": layout.count_micro_batches(batch),
            "bubble": layout.bubble(batch),
            "memory": _describe_memory(one.memory),
            "seconds": one.seconds,
            "exposed_seconds": one.exposed,
            "traffic": [
                {
                    "axes": list(time.traffic.axes),
                    "collective": time.traffic.collective,
                    "seconds": time.seconds,
                    "hideable_seconds": time.hideable,
                }
                for time in one.times
            ],
        }


def compare_layouts(
    allocation: Allocation,
    step: LayoutStep,
    gpu_memory: int,
    named: Sequence[TrainingLayout] = (),
    *,
    ranks: int | None = None,
    bubble: float = 0.1,
    recompute: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ComparedLayouts:
    """Compare layouts by the predicted time of what a step of Megatron-Core sends.

    Ranks are in Megatron's default order, on the slots of the allocation in order.

    Parameters
    ----------
    gpu_memory
        Bytes that a GPU may hold.
    named
        Layouts to compare; without any, all that fit `ranks` GPUs, by default all of
        the allocation, and that leave a stage idle for at most `bubble`, as a share of
        its computation.
    recompute
        Whether layouts that do not fit otherwise may recompute activations.
    progress
        Called with the number of layouts that were timed, and that of all.

    Raises
    ------
    topoloom.Error
        If a named layout is impossible, no layout fits, or the machine has no
        bandwidths.
    """
    if not allocation.machine.has_bandwidths:
        raise Error(
            f"machine {allocation.machine.text} has no bandwidths, so there are no "
            "times to compare; add bandwidth="
        )
    if ranks is not None and ranks > allocation.slot_count:
        raise ParameterError(
            "ranks", f"is {ranks}, but the allocation has {allocation.slot_count} slots"
        )
    if not bubble >= 0:
        raise ParameterError("bubble", f"must be 0 or more, not {bubble}")
    fitting: list[tuple[TrainingLayout, LayoutMemory]] = []
    refused: list[tuple[TrainingLayout, LayoutMemory]] = []
    for layout in named:
        step.check(layout)
        check_fit(layout.job.mesh, layout.ranks, allocation)
        needed = count_memory(step, layout)
        (fitting if needed.total <= gpu_memory else refused).append((layout, needed))
    smallest = min(refused, key=lambda one: one[1].total, default=None)
    if not named:
        all_ranks = ranks or allocation.slot_count
        fitting, smallest = list_fitting_layouts(
            step, all_ranks, gpu_memory, bubble, recompute
        )
    if not fitting:
        _raise_no_fit(smallest, gpu_memory)
    timed = []
    for count, (layout, needed) in enumerate(fitting, 1):
        times = _time_layout(allocation, step, layout)
        timed.append(TimedLayout(layout, needed, times))
        if progress is not None:
            progress(count, len(fitting))
    timed.sort(key=lambda one: one.seconds)
    has_nccl_times = make_nccl_times(allocation) is not None
    return ComparedLayouts(step, allocation, gpu_memory, timed, refused, has_nccl_times)


def _time_layout(
    allocation: Allocation, step: LayoutStep, layout: TrainingLayout
) -> list[LayoutTime]:
    traffic = step.count_traffic(layout)
    orders = order_layouts(
        allocation,
        [layout.job.layout(_ORDER)],
        traffic,
        lambda _: False,
        make_nccl_times(allocation),
    )
    return [
        LayoutTime(one, seconds, seconds * find_hideable_share(step, layout, one))
        for one, seconds in zip(traffic, orders.given.seconds, strict=True)
    ]


def _raise_no_fit(
    smallest: tuple[TrainingLayout, LayoutMemory] | None, gpu_memory: int
) -> None:
    if smallest is None:
        raise Error(
            "no layout divides the ranks, the model and the batch; choose another "
            "batch, or allow a larger bubble"
        )
    layout, needed = smallest
    parts = ", ".join(
        f"{name} {format_bytes(size)}" for name, size in needed._asdict().items()
    )
    remedies = "more GPUs or a shorter sequence"
    if not layout.recompute:
        remedies = "more GPUs, a shorter sequence, or recomputation"
    raise ParameterError(
        "gpu_memory",
        f"of {format_bytes(gpu_memory)} is too little for every layout: "
        f"{layout.text or 'one rank'} needs least, {format_bytes(needed.total)} per "
        f"GPU ({parts}), which is {format_bytes(needed.total - gpu_memory)} too much; "
        f"use {remedies}",
    )


def _describe_memory(memory: LayoutMemory) -> LayoutMemoryFields:
    return {
        "weights": round(memory.weights),
        "gradients": round(memory.gradients),
        "optimizer": round(memory.optimizer),
        "activations": round(memory.activations),
        "total": round(memory.total),
    }

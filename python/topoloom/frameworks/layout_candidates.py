# SPDX-License-Identifier: BSD-3-Clause
"""Lists the layouts of a training job that fit the memory of a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.layout_memory import LayoutMemory, count_memory
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout


class FittingLayouts(NamedTuple):
    """Layouts that fit, and the one that needs least memory of those that do not."""

    layouts: list[tuple[TrainingLayout, LayoutMemory]]
    smallest: tuple[TrainingLayout, LayoutMemory] | None


def list_fitting_layouts(
    step: LayoutStep, ranks: int, memory: float, bubble: float, recompute: bool
) -> FittingLayouts:
    """List the layouts of `ranks` GPUs with at most `memory` bytes each.

    Each expert is on one GPU (etp is 1). Of layouts with equal axes, one is left out if
    another has micro-batches as large, no more chunks, and no more recomputation: it
    sends no more bytes in no more calls.

    Parameters
    ----------
    bubble
        Largest idle time of a stage, as a share of its computation.
    recompute
        Whether layouts that do not fit otherwise may recompute activations.
    """
    fitting: dict[tuple[int, ...], list[tuple[TrainingLayout, LayoutMemory]]] = {}
    smallest = None
    for layout in _list_layouts(step, ranks):
        try:
            step.check(layout)
        except Error:
            continue
        if layout.bubble(step.batch) > bubble:
            continue
        choices = [layout, *([replace(layout, recompute=True)] if recompute else [])]
        for choice in choices:
            needed = count_memory(step, choice)
            if needed.total <= memory:
                sizes = (layout.tp, layout.cp, layout.pp, layout.ep)
                fitting.setdefault(sizes, []).append((choice, needed))
                break
            if smallest is None or needed.total < smallest[1].total:
                smallest = (choice, needed)
    found = [one for group in fitting.values() for one in _drop_dominated(group)]
    return FittingLayouts(found, smallest)


def _drop_dominated(
    group: list[tuple[TrainingLayout, LayoutMemory]],
) -> list[tuple[TrainingLayout, LayoutMemory]]:
    """Drop layouts that send more, or as much in more calls, than another one."""

    def is_dominated(layout: TrainingLayout) -> bool:
        return any(
            other != layout
            and other.micro >= layout.micro
            and other.vpp <= layout.vpp
            and other.recompute <= layout.recompute
            for other, _ in group
        )

    return [(layout, needed) for layout, needed in group if not is_dominated(layout)]


def _list_layouts(step: LayoutStep, ranks: int) -> Iterator[TrainingLayout]:
    """List all layouts with sizes that divide what they split."""
    model = step.step.model
    for tp in _list_divisors(ranks):
        if model.heads % tp:
            continue
        for cp in _list_divisors(ranks // tp):
            if step.step.sequence % cp:
                continue
            for pp in _list_divisors(ranks // (tp * cp)):
                dp = ranks // (tp * cp * pp)
                if pp > model.layers or step.batch % dp:
                    continue
                for ep in _list_expert_sizes(model.experts, ranks // pp):
                    layout = TrainingLayout(tp, cp, pp, 1, ep, 1, dp)
                    yield from _list_schedules(layout, model.layers, step.batch // dp)


def _list_schedules(
    layout: TrainingLayout, layers: int, sequences: int
) -> Iterator[TrainingLayout]:
    """List interleaved and other schedules, with micro-batches of 2^n sequences."""
    chunks = [1]
    if layout.pp > 1 and layers % layout.pp == 0:
        chunks = _list_divisors(layers // layout.pp)
    micro = 1
    while sequences % micro == 0:
        for vpp in chunks:
            yield replace(layout, vpp=vpp, micro=micro)
        micro *= 2


def _list_expert_sizes(experts: int, ranks: int) -> list[int]:
    return [size for size in _list_divisors(experts) if ranks % size == 0]


@cache
def _list_divisors(number: int) -> list[int]:
    return [size for size in range(1, number + 1) if number % size == 0]

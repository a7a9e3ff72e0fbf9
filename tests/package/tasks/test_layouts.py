# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of layouts: times and memory recomputed by hand."""

from __future__ import annotations

import re

import pytest

from topoloom import Allocation, Error, load_machine
from topoloom.frameworks.training_layout import (
    LayoutStep,
    TrainingLayout,
    parse_layout,
)
from topoloom.frameworks.training_step import parse_step
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import format_bytes
from topoloom.tasks.training.layouts import ComparedLayouts, compare_layouts

#: 4 GPUs in a ring, each link 1 GB/s in either direction; latency is negligible.
RING = "torus:4,bandwidth=1GB/s"

#: 12 x 1024^2 weights per layer.
SMALL = (
    "layers=4,hidden=1024,heads=8,kv_heads=8,head_size=128,ffn=4096,matrices=2,"
    "sequence=1024"
)


def compare(
    text: str, batch: int, machine: str, *layouts: str, **options: float
) -> ComparedLayouts:
    whole = Allocation.whole(load_machine(machine))
    memory = int(options.pop("memory", 10**12))
    named = [parse_layout(one, 4) for one in layouts]
    step = LayoutStep(parse_step(text), batch)
    return compare_layouts(whole, step, memory, named, **options)  # type: ignore[arg-type]


def test_times_on_a_ring_follow_from_bytes() -> None:
    found = compare(SMALL, 8, RING, "dp=4", "tp=4", "cp=4", "pp=4")
    seconds = {one.layout.text: one.seconds for one in found.layouts}
    weights, activations = 4 * 12 * 1024**2, 1024 * 1024 * 2
    assert seconds == pytest.approx(
        {
            # A scatter in fp32 and a gather in bf16; half of the bytes go each way.
            "dp=4": 6 * weights * 3 / 4 / 2 / 1e9,
            # 6 gathers and 4 scatters per layer and micro-batch.
            "tp=4": 4 * 8 * 10 * activations * 3 / 4 / 2 / 1e9,
            # Keys and values of 256 tokens, 3 times to 3 others; and all weights.
            "cp=4": (4 * 8 * 3 * (256 * 2 * 1024 * 2) * 3 / 2 + 6 * weights * 3 / 4 / 2)
            / 1e9,
            # Every link carries the activations of 8 micro-batches in each direction.
            "pp=4": 8 * activations / 1e9,
        },
        rel=1e-4,
    )
    assert [one.seconds for one in found.layouts] == sorted(seconds.values())


def test_the_example_of_the_page_follows_from_dimensions() -> None:
    whole = Allocation.whole(load_machine("dgx-h100-pod"))
    step = LayoutStep(parse_step("llama-3.1-70b,sequence=8192"), 512)
    layout = TrainingLayout(tp=8, pp=4, dp=8)
    (found,) = compare_layouts(whole, step, 72 * 10**9, [layout]).layouts
    weights = (
        20 * (8192 * (64 + 2 * 8 + 64) * 128 + 3 * 8192 * 28672) / 8 + 8192 * 128256 / 8
    )
    token = 8 * 8192 + 4 * (64 + 8) * 128 + 6 * 28672
    assert found.memory == pytest.approx(
        (2 * weights, 4 * weights, 12 * weights / 8, 8192 / 8 * token * 20 * 4)
    )
    times = {one.traffic.name: one.seconds for one in found.times}
    # 64 micro-batches, there and back, over a NIC of 50 GB/s.
    assert times["pp"] == pytest.approx(2 * 64 * 8192 * 8192 * 2 / 8 / 50e9, rel=1e-3)


def test_exposed_time_is_what_the_schedule_cannot_hide() -> None:
    found = compare(SMALL, 8, RING, "cp=4").layouts[0]
    weights = 4 * 12 * 1024**2
    # Without dp, ring attention and the replicas of weights share the axis.
    (both,) = found.times
    exposed = 6 * 40_000_000 * 3 / 4 / 2 / 1e9
    assert both.traffic.name == "cp"
    assert found.seconds > 6 * weights * 3 / 4 / 2 / 1e9
    assert found.exposed == pytest.approx(exposed, rel=1e-4)


def test_the_best_of_all_layouts_is_no_slower_than_any_named_one() -> None:
    best = compare(SMALL, 8, RING, bubble=1.0, memory=800_000_000).layouts
    assert [one.seconds for one in best] == sorted(one.seconds for one in best)
    named = ["dp=4", "tp=2", "tp=4", "pp=2", "pp=4", "cp=2", "pp=2,vpp=2", "cp=4"]
    others = compare(SMALL, 8, RING, *named, memory=800_000_000)
    assert best[0].seconds <= others.layouts[0].seconds
    assert all(one.memory.total <= 800_000_000 for one in best)


def test_named_layouts_that_do_not_fit_are_listed() -> None:
    found = compare(SMALL, 8, RING, "dp=4", "tp=4", memory=300_000_000)
    assert [one.layout.text for one in found.layouts] == ["tp=4"]
    assert [layout.text for layout, _ in found.refused] == ["dp=4"]


def test_no_fitting_layout_says_how_much_the_smallest_lacks() -> None:
    (least,) = compare(SMALL, 8, RING, "tp=4").layouts
    limit = 100 << 20
    missing = format_bytes(least.memory.total - limit)
    start = "gpu_memory of 100.0 MiB is too little for every layout: tp=4 needs least"
    with pytest.raises(ParameterError, match=re.escape(start)) as raised:
        compare(SMALL, 8, RING, memory=limit)
    assert f"optimizer {format_bytes(least.memory.optimizer)}" in str(raised.value)
    assert f"{missing} too much; use more GPUs, a shorter" in str(raised.value)
    assert "or recomputation" in str(raised.value)
    with pytest.raises(ParameterError, match=r"use more GPUs or a shorter sequence$"):
        compare(SMALL, 8, RING, memory=limit, recompute=True)
    with pytest.raises(Error, match="no layout divides the ranks, the model and the"):
        compare(SMALL, 1, "torus:7,bandwidth=1GB/s")


def test_a_machine_without_bandwidths_is_refused() -> None:
    with pytest.raises(Error, match="has no bandwidths"):
        compare(SMALL, 8, "torus:4", "dp=4")

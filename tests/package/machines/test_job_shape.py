# SPDX-License-Identifier: BSD-3-Clause
"""Links outside an allocation that it uses, and links shared with other jobs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from topoloom import Allocation, Machine
from topoloom.allocations import allocation_shape
from topoloom.allocations.compactness import measure_compactness

#: Only switches forward messages, so those of other jobs never cross this job's nodes.
TREES = ("tree:3:4", "tree:2:2:3", "fattree:3:4", "fattree:2:3:2,up=1:2:2")
OTHERS = ("dragonfly:3x2,nodes=2", "torus:4x3", "torus:3x2,nodes=2", "hyperx:3x4")


@st.composite
def draw_two_jobs(
    draw: st.DrawFn, texts: tuple[str, ...]
) -> tuple[Allocation, Allocation]:
    machine = Machine(draw(st.sampled_from(texts)))
    nodes = draw(st.permutations(range(machine.node_count)))
    cut = draw(st.integers(1, len(nodes) - 1))
    return Allocation(machine, nodes[:cut]), Allocation(machine, nodes[cut:])


@given(draw_two_jobs(TREES))
def test_on_trees_only_links_open_to_other_jobs_are_shared(
    jobs: tuple[Allocation, Allocation],
) -> None:
    for job, other in (jobs, jobs[::-1]):
        facts = measure_compactness(job, {"other": other}, 1)
        assert facts["links_shared"] == facts["links_shared_foreign"]
        assert facts["links_shared"] <= facts["links_foreign"]
        assert facts["shared_share"] <= facts["foreign_share"] + 1e-12


@given(draw_two_jobs(TREES + OTHERS))
def test_shared_links_are_links_that_both_jobs_use(
    jobs: tuple[Allocation, Allocation],
) -> None:
    job, other = map(allocation_shape, jobs)
    both = np.flatnonzero((job.loads > 0) & (other.loads > 0))
    facts = measure_compactness(jobs[0], {"other": jobs[1]}, 1)
    assert facts["links_shared"] == len(both)
    foreign = np.intersect1d(both, job.foreign_links)
    assert facts["links_shared_foreign"] == len(foreign)
    assert facts["links_foreign"] == len(job.foreign_links) == job.links_foreign


def test_jobs_on_the_same_switches_have_no_exclusive_links() -> None:
    for text in ("tree:2:4", "dragonfly:3x2,nodes=2", "torus:4,nodes=2"):
        machine = Machine(text)
        half = range(0, machine.node_count, 2)
        job = Allocation(machine, half)
        shape = allocation_shape(job)
        assert shape.links_foreign == shape.links_used - 2 * len(half)

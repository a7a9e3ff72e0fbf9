# SPDX-License-Identifier: BSD-3-Clause
"""Places several jobs on one machine to minimize interference.

The objective of a job is evaluated on the links that the job uses, including the
traffic of other jobs there. The joint objective is the worst job's objective (for
congestion, the busiest link); hop-bytes are summed. Ties are broken by hop-bytes.

Jobs with their own slots are first placed separately. Then each job in turn is placed
again, given the traffic of the others, and its new placement is kept if the joint
objective improves. The search ends when no job can improve it (best responses, as in
congestion games). Jobs that share a pool of slots are placed as a single graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    Objective,
    Placement,
    judge,
    objective_value,
    place,
)
from topoloom.support.units import counted

Loads = NDArray[np.float64]


class Job(NamedTuple):
    """A job: its name, communication graph and slots."""

    name: str
    graph: CommGraph
    allocation: Allocation


class JobPlacements(NamedTuple):
    """Placements of concurrent jobs, and the objective of each job."""

    jobs: list[Job]
    placements: list[Placement]
    loads: list[Loads]  # bytes per link of each job
    values: list[float]  # objective of each job, given the others
    value: float  # joint objective of all jobs
    hop_bytes: int

    @property
    def sort_key(self) -> tuple[float, int]:
        """The sort key of solutions: joint objective, then hop-bytes."""
        return self.value, self.hop_bytes


class JointPlacement(NamedTuple):
    """The joint placement, and the separate placements for comparison."""

    alone: list[float]  # objective of each job on an empty machine
    apart: JobPlacements  # separate placements, evaluated with all jobs running
    together: JobPlacements  # best joint placements, never worse than `apart`
    work: int


class Budget:
    """A budget of seconds and work shared by several searches."""

    def __init__(
        self,
        mapper: str = "auto",
        *,
        objective: str | Objective = "congestion",
        seed: int = 1,
        seconds: float | None = None,
        work: int | None = None,
        threads: int = 0,
        progress: Callable[[int], bool] | None = None,
    ) -> None:
        self.objective = (
            objective.name if isinstance(objective, Objective) else objective
        )
        self.work_done = 0
        self.mapper = mapper
        self.seed, self._threads = seed, threads
        self._seconds, self._work = seconds, work
        self._progress = progress
        self._start = monotonic()
        self._stopped = False

    @property
    def is_exhausted(self) -> bool:
        """Whether the budget is exhausted, or the callback stopped the search."""
        late = self._seconds is not None and self._seconds_left() <= 0
        spent = self._work is not None and self.work_done >= self._work
        return self._stopped or late or spent

    def place(
        self,
        graph: CommGraph,
        allocation: Allocation,
        share: float,
        background: Loads | None = None,
    ) -> Placement:
        """Place a graph within a share of the budget, or the rest if it is less."""
        seconds = work = None
        if self._seconds is not None:
            seconds = max(0.0, min(share * self._seconds, self._seconds_left()))
        if self._work is not None:
            work = max(0, min(int(share * self._work), self._work - self.work_done))
        found = place(
            graph,
            allocation,
            self.mapper,
            seed=self.seed,
            seconds=seconds,
            work=0 if self._stopped else work,
            threads=self._threads,
            objective=self.objective,
            background=background,
            progress=self._report_progress,
        )
        # Charge at most `work`: how far threads exceed it depends on their number.
        self.work_done += found.work if work is None else min(found.work, work)
        return found.placement

    def _seconds_left(self) -> float:
        return (self._seconds or 0.0) - (monotonic() - self._start)

    def _report_progress(self, work: int) -> bool:
        if self._progress is not None and not self._progress(self.work_done + work):
            self._stopped = True
        return not self._stopped


def place_jointly(jobs: Sequence[Job], budget: Budget) -> JointPlacement:
    """Place jobs jointly, each on its own slots.

    Raises
    ------
    topoloom.Error
        If two jobs have a slot in common, or a job has more ranks than slots.
    """
    _check_not_empty(jobs)
    _check_disjoint(jobs)
    share = 0.5 / len(jobs)
    alone, apart = _place_separately(jobs, budget, share)
    best, waiting = apart, len(jobs)
    for number in itertools.cycle(range(len(jobs))):
        if waiting == 0 or budget.is_exhausted:
            break
        job = jobs[number]
        placed = budget.place(
            job.graph, job.allocation, share, _sum_other_loads(best.loads, number)
        )
        placements = [*best.placements[:number], placed, *best.placements[number + 1 :]]
        tried = _evaluate_together(jobs, placements, budget.objective)
        if tried.sort_key < best.sort_key:
            best, waiting = tried, len(jobs)
        waiting -= 1
    return JointPlacement(alone, apart, best, budget.work_done)


def place_in_pool(
    graphs: Sequence[tuple[str, CommGraph]], pool: Allocation, budget: Budget
) -> JointPlacement:
    """Place jobs jointly in a shared pool of slots; `graphs` maps names to graphs.

    For the separate placements, each job gets the first free slots. Alone, it may use
    the whole pool.

    Raises
    ------
    topoloom.Error
        If the pool has too few slots.
    """
    ends = np.cumsum([graph.rank_count for _, graph in graphs])
    if ends[-1] > pool.slot_count:
        raise Error(
            f"the jobs have {ends[-1]} ranks together, but the allocation has only "
            f"{counted(pool.slot_count, 'slot')}"
        )
    parts = np.split(pool.slots[: ends[-1]], ends[:-1])
    share = 0.25 / len(graphs)
    alone, _ = _place_separately([Job(*job, pool) for job in graphs], budget, share)
    _, apart = _place_separately(_make_jobs(graphs, parts, pool), budget, share)
    one = budget.place(_unite_graphs([graph for _, graph in graphs]), pool, 0.5)
    slots = np.split(one.slots, ends[:-1])
    jobs = _make_jobs(graphs, slots, pool)
    placements = [
        Placement(job.allocation, own) for job, own in zip(jobs, slots, strict=True)
    ]
    together = _evaluate_together(jobs, placements, budget.objective)
    best = min(apart, together, key=lambda found: found.sort_key)
    return JointPlacement(alone, apart, best, budget.work_done)


def _place_separately(
    jobs: Sequence[Job], budget: Budget, share: float
) -> tuple[list[float], JobPlacements]:
    placements = [budget.place(job.graph, job.allocation, share) for job in jobs]
    alone = [
        objective_value(job.graph, job.allocation, placed, objective=budget.objective)
        for job, placed in zip(jobs, placements, strict=True)
    ]
    return alone, _evaluate_together(jobs, placements, budget.objective)


def _evaluate_together(
    jobs: Sequence[Job], placements: list[Placement], objective: str
) -> JobPlacements:
    found = [
        judge(job.graph, job.allocation, placed, hottest=0)
        for job, placed in zip(jobs, placements, strict=True)
    ]
    loads = [judgement.loads for judgement in found]
    values = []
    for number, (job, placed) in enumerate(zip(jobs, placements, strict=True)):
        beside = np.where(loads[number] > 0, _sum_other_loads(loads, number), 0.0)
        on = (job.graph, job.allocation, placed)
        values.append(objective_value(*on, objective=objective, background=beside))
    value = sum(values) if objective == "hop-bytes" else max(values)
    hop_bytes = sum(judgement.hop_bytes for judgement in found)
    return JobPlacements(list(jobs), placements, loads, values, value, hop_bytes)


def _sum_other_loads(loads: Sequence[Loads], job: int) -> Loads:
    """Sum the bytes per link over all jobs except one."""
    total: Loads = np.sum([own for k, own in enumerate(loads) if k != job], axis=0)
    return total


def _check_not_empty(jobs: Sequence[object]) -> None:
    if not jobs:
        raise Error("there are no jobs to place; give one or more")


def _check_disjoint(jobs: Sequence[Job]) -> None:
    for one, other in itertools.combinations(jobs, 2):
        machines = one.allocation.machine.text, other.allocation.machine.text
        if machines[0] != machines[1]:
            raise Error(
                f"{one.name} is on {machines[0]}, but {other.name} on {machines[1]}; "
                "place jobs of one machine together"
            )
        both = np.intersect1d(one.allocation.slots, other.allocation.slots)
        if len(both):
            node = both[0] // one.allocation.machine.slots_per_node
            raise Error(
                f"node {node} is in the allocations of both {one.name} and {other.name}"
            )


def _make_jobs(
    graphs: Sequence[tuple[str, CommGraph]],
    slots: Sequence[NDArray[np.uint32]],
    pool: Allocation,
) -> list[Job]:
    """Make jobs from graphs and slots; allocations keep the slot order of the pool."""
    machine = pool.machine
    jobs = []
    for (name, graph), own in zip(graphs, slots, strict=True):
        held = pool.slots[np.isin(pool.slots, own)]
        nodes = pool.nodes[np.isin(pool.nodes, held // machine.slots_per_node)]
        jobs.append(Job(name, graph, Allocation(machine, nodes, held)))
    return jobs


def _unite_graphs(graphs: Sequence[CommGraph]) -> CommGraph:
    """Make the disjoint union of several graphs."""
    ranks = np.cumsum([0] + [graph.rank_count for graph in graphs[:-1]])
    edges = np.cumsum([0] + [graph.edge_count for graph in graphs])
    firsts = [
        graph.first[:-1] + np.uint64(at)
        for graph, at in zip(graphs, edges[:-1], strict=True)
    ]
    peers = [
        graph.peer + np.uint32(at) for graph, at in zip(graphs, ranks, strict=True)
    ]
    return CommGraph.from_csr(
        np.concatenate([*firsts, [np.uint64(edges[-1])]]),
        np.concatenate(peers),
        **{
            name: np.concatenate([getattr(graph, name) for graph in graphs])
            for name in ("bytes", "messages", "load", "self_bytes", "self_messages")
        },
        proxied=np.concatenate(
            [
                graph.proxied + np.uint32(at)
                for graph, at in zip(graphs, ranks, strict=True)
            ]
        ),
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Loads jobs for joint placement, and saves their placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Allocation, Error, Machine
from topoloom.graphs.graph_file import load_graph
from topoloom.importers.machine_description import MachineDescription
from topoloom.nodes.node_parts import NodeParts
from topoloom.placements.placement_file import PlacementFile, save_placement
from topoloom.tasks.jobs.joint import (
    Budget,
    Job,
    JointPlacement,
    place_in_pool,
    place_jointly,
)
from topoloom.tasks.problem import AllocationSpec, check_fit, choose_allocation


class LoadedJobs(NamedTuple):
    """Jobs, their shared pool of slots, and host names.

    Attributes
    ----------
    jobs
        The jobs. The allocation of a job contains its own slots, or the whole pool.
    pool
        The slots that all jobs share; None if each job has its own slots.
    hosts
        Host names by node; empty if unknown.
    node
        Internal structure of nodes.
    switches
        Names of switches; empty if unknown.
    """

    jobs: list[Job]
    pool: Allocation | None
    hosts: dict[int, str]
    node: NodeParts
    switches: tuple[str, ...] = ()

    def place(self, budget: Budget) -> JointPlacement:
        """Place the jobs on their own slots, or in their pool."""
        if self.pool is None:
            return place_jointly(self.jobs, budget)
        return place_in_pool(
            [(job.name, job.graph) for job in self.jobs], self.pool, budget
        )


def load_jobs(
    texts: Sequence[str],
    machine: Machine,
    described: MachineDescription,
    where: AllocationSpec,
) -> LoadedJobs:
    """Load jobs from ``GRAPH@ALLOCATION``, or ``GRAPH`` if they share slots."""
    if not texts:
        raise Error("there are no jobs; name two or more")
    if len(texts) < 2:
        raise Error(f"'{texts[0]}' is only one job; name more, or use: topoloom map")
    parts = [text.rpartition("@") if "@" in text else (text, "", "") for text in texts]
    own = [bool(at) for _, at, _ in parts]
    if any(own) and not all(own):
        raise Error(
            f"'{texts[own.index(False)]}' has no allocation; write GRAPH@ALLOCATION "
            "for all jobs or for none"
        )
    if all(own) and (where.allocation or where.nodes):
        raise Error("jobs with @ALLOCATION cannot share an allocation; leave it out")
    listed = [
        choose_allocation(machine, described, AllocationSpec(text) if at else where)
        for _, at, text in (parts if all(own) else parts[:1])
    ]
    hosts = {
        node: host
        for each in listed
        if each.hosts is not None
        for node, host in zip(each.allocation.nodes.tolist(), each.hosts, strict=True)
    }
    names = _name_jobs([graph for graph, _, _ in parts])
    jobs = []
    for number, (file, _, _) in enumerate(parts):
        graph = load_graph(file)
        at = listed[number if all(own) else 0].allocation
        check_fit(graph, at, file)
        jobs.append(Job(names[number], graph, at))
    pool = None if all(own) else listed[0].allocation
    return LoadedJobs(jobs, pool, hosts, described.node, described.switches)


def _name_jobs(files: list[str]) -> list[str]:
    """Return unique job names: file names, numbered if several are equal."""
    stems = [Path(file).stem for file in files]
    count, seen = Counter(stems), Counter[str]()
    names = []
    for stem in stems:
        seen[stem] += 1
        names.append(stem if count[stem] == 1 else f"{stem}-{seen[stem]}")
    return names


def save_jobs(
    directory: Path,
    jobs: LoadedJobs,
    found: JointPlacement,
    budget: Budget,
    command: tuple[str, ...] = (),
) -> list[Path]:
    """Write a placement file for each job; return the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    together = found.together
    for job, placement, value in zip(
        together.jobs, together.placements, together.values, strict=True
    ):
        nodes = job.allocation.nodes.tolist()
        files.append(directory / f"{job.name}.json")
        save_placement(
            files[-1],
            PlacementFile.measured(
                job.graph,
                job.allocation,
                placement,
                value,
                hosts=tuple(jobs.hosts[n] for n in nodes) if jobs.hosts else None,
                node=jobs.node,
                switches=jobs.switches,
                objective=budget.objective,
                mapper=budget.mapper,
                seed=budget.seed,
                work=found.work,
                command=command,
            ),
        )
    return files

# SPDX-License-Identifier: BSD-3-Clause
"""Results for particles and mesh blocks do not depend on the balancer."""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import compile_with_balancing
from built_programs import ROOT
from mpis import MPICH, OPEN_MPI_4, Mpi, run_to_end

Job = tuple[Mpi, dict[str, Path]]


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def job(request: pytest.FixtureRequest) -> Job:
    """Build both programs for an MPI."""
    mpi: Mpi = request.param
    names = "particle_transport", "adaptive_mesh"
    sources = {name: ROOT / "apps" / name / f"{name}.cpp" for name in names}
    return mpi, {n: compile_with_balancing(mpi, sources[n]) for n in names}


def read_two_lines(job: Job, name: str, ranks: int, *words: object) -> list[str]:
    """Run a self-checking program; its first line must not depend on the balancer.

    The third line is the time per step.
    """
    mpi, programs = job
    done = run_to_end(mpi.command(ranks, programs[name], *words))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("right: ")
    *lines, time = done.stdout.splitlines()
    assert time.startswith("time: ")
    assert time.endswith(" s")
    return lines


@pytest.mark.parametrize("rod", [(0.8, 3), (1, 2)])
def test_particles_end_at_the_same_positions_as_on_one_rank(
    job: Job, rod: tuple[float, float]
) -> None:
    first_lines, busiest = set(), {}
    for ranks, method in [(1, "none"), (2, "ring"), (4, "ring"), (3, "sweep")]:
        first, second = read_two_lines(
            job, "particle_transport", ranks, 5000, 10, method, *rod
        )
        first_lines.add(first)
        busiest[method] = float(second.split("has ")[1].split()[0])
    assert len(first_lines) == 1
    assert busiest["sweep"] < 1.01 < busiest["ring"] < 2


def test_a_refined_mesh_equals_that_of_one_rank(job: Job) -> None:
    first_lines, busiest, edges = set(), {}, {}
    for ranks, policy in [
        (1, "none"),
        (3, "none"),
        (2, "repartition"),
        (4, "repartition"),
        (4, "few-bytes"),
    ]:
        first, second = read_two_lines(job, "adaptive_mesh", ranks, 8, 12, policy)
        first_lines.add(first)
        busiest[policy] = float(second.split("has ")[1].split()[0])
        edges[policy] = int(second.split("edges ")[1].split()[0])
    assert len(first_lines) == 1
    assert busiest["repartition"] < 1.05 < busiest["none"]
    assert edges["repartition"] < edges["few-bytes"]


@pytest.mark.parametrize(
    ("name", "words", "line"),
    [
        ("particle_transport", ["0"], "PARTICLES and BIRTHS from 1 to 10^9, METHOD"),
        ("particle_transport", ["9" * 20], "PARTICLES and BIRTHS from 1 to 10^9"),
        ("adaptive_mesh", ["1"], "BLOCKS from 2 to 64, STEPS from 1 on, POLICY"),
        ("adaptive_mesh", ["8", "2", "gredy"], "no policy 'gredy'"),
    ],
)
def test_an_invalid_command_line_is_refused_in_one_line(
    job: Job, name: str, words: list[str], line: str
) -> None:
    mpi, programs = job
    done = run_to_end(mpi.command(2, programs[name], *words))
    assert done.returncode != 0
    assert done.stderr.count(f"{name}: {line}") == 1

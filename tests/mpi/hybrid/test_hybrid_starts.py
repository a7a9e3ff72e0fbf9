# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI and MPICH start ranks of one or several cores on the cores of their slots.

Ranks report their CPUs on simulated hosts: with one or two hardware threads per core in
several numberings, with equal and unequal nodes, with shared slots, bound or not.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hybrid.bound_hosts import BoundHosts, read_ranks
from hybrid.cases import MACHINES, Case, draw_cases, find_errors
from hybrid.exported import StartCommand, apply_case, export_case
from several_hosts import Mpi, SeveralHosts

HOSTS = ("ha", "hb", "hc")
#: Open MPI 5.0 can crash before it starts a rank: seen once in about 400 starts. The
#: exit status is that of a shell, or of the launcher itself.
CRASHED = (128 + signal.SIGSEGV, -signal.SIGSEGV)


@pytest.fixture(scope="module")
def find_hosts(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], BoundHosts]:
    """Return a function that returns the hosts of a machine, made once."""
    made: dict[str, BoundHosts] = {}

    def find(machine: str) -> BoundHosts:
        if machine not in made:
            nodes = dict(zip(HOSTS, MACHINES[machine], strict=True))
            made[machine] = BoundHosts(nodes, tmp_path_factory.mktemp(machine))
        return made[machine]

    return find


def start_case(
    case: Case, target: str, mpi: Mpi, hosts: BoundHosts, folder: Path
) -> list[str] | None:
    """Start a case; list what is wrong. None if the format refuses it."""
    ranks = len(case.places)
    if target == "run":
        command = [mpi.mpirun, "-n", str(ranks), str(hosts.rank)]
        start: StartCommand | None = apply_case(case, command, HOSTS, folder)
    else:
        start = export_case(case, target, HOSTS, folder, hosts.rank)
        if start is not None:
            usage = _choose_version(start.words[-1], mpi, case, folder)
            launcher, _, arguments = usage.partition(" ")
            assert launcher in ("mpirun", "mpiexec")
            start = start._replace(words=["sh", "-c", f"{mpi.mpirun} {arguments}"])
    if start is None:
        return None
    done = _run(start, hosts)
    if done.returncode in CRASHED:
        done = _run(start, hosts)
    if done.returncode != 0:
        output = done.stderr or done.stdout
        return [f"status {done.returncode}: {output}"]
    reports = read_ranks(done.stdout, ranks)
    wrong = find_errors(case, HOSTS, reports, start.keeps_cores)
    return [f"{line}\n    {' '.join(start.words)}\n    {case}" for line in wrong]


def _run(start: StartCommand, hosts: BoundHosts) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        start.words,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **hosts.list_variables(), **start.environment},
        stdin=subprocess.DEVNULL,
    )


def _choose_version(usage: str, mpi: Mpi, case: Case, folder: Path) -> str:
    """Choose the options of this version of Open MPI, with the hosts of the job."""
    command, _, options = usage.partition("   (Open MPI 5: ")
    if not options or mpi.version < (5,):
        return command
    slots = folder / "slots"
    lines = zip(HOSTS, case.nodes, strict=True)
    slots.write_text("".join(f"{host} slots={len(n.cpus)}\n" for host, n in lines))
    for four in ("--use-hwthread-cpus ", "--oversubscribe "):
        command = command.replace(four, "")
    before, _, after = command.partition("--rankfile ")
    _, _, after = after.partition(" ")
    return f"{before}--hostfile {slots} {options.removesuffix(')')} {after}"


def check_cases(
    target: str,
    several_hosts: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    folder: Path,
    count: int,
) -> int:
    """Start drawn cases until `count` were not refused; all must be right."""
    wrong: list[str] = []
    started = 0
    for case in draw_cases(10_000, seed=len(target)):
        if started == count:
            break
        hosts = find_hosts(case.machine)
        found = start_case(case, target, several_hosts.mpi, hosts, folder)
        started += found is not None
        wrong += found or []
    print(f"{several_hosts.mpi.name}, {target}: {started} combinations started")
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:20])
    return started


@pytest.mark.parametrize("target", ["openmpi-rankfile", "hostfile", "run"])
def test_open_mpi_starts_some_cases_as_promised(
    open_mpi: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    tmp_path: Path,
    target: str,
) -> None:
    assert check_cases(target, open_mpi, find_hosts, tmp_path, 2) == 2


@pytest.mark.parametrize("target", ["mpich-hostfile", "run"])
def test_mpich_starts_some_cases_as_promised(
    mpich: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    tmp_path: Path,
    target: str,
) -> None:
    assert check_cases(target, mpich, find_hosts, tmp_path, 2) == 2


@pytest.mark.full
@pytest.mark.parametrize("target", ["openmpi-rankfile", "hostfile", "run"])
def test_open_mpi_starts_the_matrix_as_promised(
    open_mpi: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    tmp_path: Path,
    target: str,
) -> None:
    assert check_cases(target, open_mpi, find_hosts, tmp_path, 30) == 30


@pytest.mark.full
@pytest.mark.parametrize("target", ["mpich-hostfile", "run"])
def test_mpich_starts_the_matrix_as_promised(
    mpich: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    tmp_path: Path,
    target: str,
) -> None:
    assert check_cases(target, mpich, find_hosts, tmp_path, 30) == 30


def test_mpich_starts_some_rank_maps_as_promised(
    mpich_with_rankmap: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    tmp_path: Path,
) -> None:
    hosts = mpich_with_rankmap
    assert check_cases("mpich-rankmap", hosts, find_hosts, tmp_path, 2) == 2


@pytest.mark.full
def test_mpich_starts_a_matrix_of_rank_maps_as_promised(
    mpich_with_rankmap: SeveralHosts,
    find_hosts: Callable[[str], BoundHosts],
    tmp_path: Path,
) -> None:
    hosts = mpich_with_rankmap
    assert check_cases("mpich-rankmap", hosts, find_hosts, tmp_path, 30) == 30

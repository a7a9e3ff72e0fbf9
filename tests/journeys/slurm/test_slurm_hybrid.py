# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm starts ranks of one or several cores as exported commands promise."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hybrid.bound_hosts import BoundHosts, Node, read_ranks
from hybrid.cases import MACHINES, Case, draw_cases, find_errors
from hybrid.exported import StartCommand, apply_case, export_case
from real_slurm import RealSlurm, start_slurm

HOSTS = ("ha", "hb", "hc")
SALLOC = ("salloc", "-Q", "-N3", "--exclusive")
TARGETS = ("slurm-hostfile", "mpich-rank-order", "run")


def describe_node(node: Node) -> str:
    threads = len(node.cpus[0])
    return (
        f"CPUs={len(node.cpus) * threads} Sockets={node.packages} "
        f"CoresPerSocket={node.cores} ThreadsPerCore={threads}"
    )


def make_command(
    case: Case, target: str, hosts: BoundHosts, folder: Path
) -> StartCommand | None:
    """Make the command that starts a case; None if the format refuses it."""
    if target != "run":
        return export_case(case, target, HOSTS, folder, hosts.rank)
    command = ["srun", "-n", str(len(case.places)), str(hosts.rank)]
    return apply_case(case, command, HOSTS, folder)


def find_wrong_ranks(
    slurm: RealSlurm, start: StartCommand, case: Case, hosts: BoundHosts
) -> list[str]:
    """Start a case in a job of all nodes; list what is wrong."""
    variables = {**hosts.list_note_variables(), **start.environment}
    settings = [f"{name}={value}" for name, value in variables.items()]
    done = slurm.run_command(*SALLOC, "env", *settings, *start.words)
    if done.returncode != 0:
        return [done.stderr]
    ranks = read_ranks(done.stdout, len(case.places))
    wrong = find_errors(case, HOSTS, ranks, start.keeps_cores)
    return [f"{line}\n    {' '.join(start.words)}\n    {case}" for line in wrong]


def check_machine(machine: str, count: int, folder: Path) -> int:
    """Start drawn cases on a machine; return how many were not refused."""
    hosts = BoundHosts(dict(zip(HOSTS, MACHINES[machine], strict=True)), folder)
    wrong, started = list[str](), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        start_slurm(
            {host: describe_node(node) for host, node in hosts.hosts.items()},
            "",
            binds_tasks=True,
            variables={host: hosts.list_daemon_variables(host) for host in HOSTS},
        ) as slurm,
    ):
        patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        for case in draw_cases(count, machines=[machine]):
            for target in TARGETS:
                start = make_command(case, target, hosts, folder)
                if start is not None:
                    wrong += find_wrong_ranks(slurm, start, case, hosts)
                    started += 1
    print(f"Slurm, {machine}: {started} combinations started")
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:20])
    return started


@pytest.fixture(autouse=True)
def _slurm_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")


def test_srun_starts_ranks_on_the_cores_that_an_export_promises(
    tmp_path: Path,
) -> None:
    assert check_machine("some_smt", 2, tmp_path) >= 4


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_srun_starts_all_drawn_cases_as_exported(machine: str, tmp_path: Path) -> None:
    assert check_machine(machine, 16, tmp_path) >= 24

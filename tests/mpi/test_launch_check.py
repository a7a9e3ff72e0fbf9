# SPDX-License-Identifier: BSD-3-Clause
"""`export --check` compares the placement with a dry run of Open MPI."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from several_hosts import SeveralHosts

from topoloom import Allocation, Machine, Placement, PlacementFile, save_placement
from topoloom.launch.apply.dry_run import dry_run
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import host_placement
from topoloom.nodes.node_parts import NodeParts

HOSTS = ("beta", "alpha", "delta-2")
SLOTS = [5, 0, 2, 4, 1]
#: two packages of two cores with two threads each
NODE = NodeParts(("package", "node"), cpus=((0, 1), (2, 3), (4, 5), (6, 7)))
#: the same machine, without named levels
UNNAMED = replace(NODE, names=())


@pytest.fixture
def mpirun(open_mpi: SeveralHosts, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the mpirun of an Open MPI whose daemons reach any host."""
    agent = open_mpi.options[-1]
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", agent)
    monkeypatch.setenv("PRTE_MCA_plm_ssh_agent", "/nobody/may/call/this")
    return open_mpi.mpi.mpirun


def save_placement_file(path: Path, machine: str, slots: list[int]) -> None:
    whole = Machine(machine)
    nodes = np.arange(whole.node_count, dtype=np.uint32)
    allocation = Allocation(whole, nodes)
    placement = Placement(allocation, np.array(slots, dtype=np.uint32))
    save_placement(path, PlacementFile(whole, allocation, placement, HOSTS))


@pytest.mark.parametrize(
    ("target", "slots"), [("openmpi-rankfile", SLOTS), ("hostfile", [2, 3, 4, 0, 1])]
)
def test_open_mpi_starts_ranks_as_placed_with_the_written_file(
    mpirun: str, topoloom: Any, tmp_path: Path, target: str, slots: list[int]
) -> None:
    save_placement_file(tmp_path / "x.json", "mesh:3+node:2", slots)
    words = ["export", "x.json", "--to", target, "--check", "--check-with", mpirun]
    done = topoloom(*words, "-o", "out")
    assert done.status == 0, done.err
    assert done.err.startswith("checked: Open MPI ")
    assert "would start all 5 ranks as placed" in done.err
    assert Path("out").exists()


def test_a_core_that_no_host_has_fails_the_check(
    mpirun: str, topoloom: Any, tmp_path: Path
) -> None:
    save_placement_file(tmp_path / "x.json", "mesh:3+node:4096", [4095, 0])
    words = ["export", "x.json", "--to", "openmpi-rankfile", "--check-with", mpirun]
    done = topoloom(*words, "--check", "-o", "out")
    assert done.status == 1
    assert f"{mpirun} refuses the placement" in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("out").exists()


def test_arguments_after_two_dashes_go_to_the_launcher(
    mpirun: str, topoloom: Any, tmp_path: Path
) -> None:
    """With --host, Open MPI starts ranks in the order of its hosts."""
    save_placement_file(tmp_path / "x.json", "mesh:3+node:2", [2, 3, 4, 0, 1])
    words = ["export", "x.json", "--to", "hostfile", "--check", "--check-with", mpirun]
    done = topoloom(*words, "-o", "out", "--", "--no-such-option")
    assert done.status == 1
    assert "refuses the placement" in done.err
    options = ["-o", "out", "--", "--oversubscribe", "--host"]
    done = topoloom(*words, *options, "beta:2,alpha:2,delta-2:2")
    assert done.status == 1
    assert "rank 0 would start on beta, not on alpha" in done.err
    assert not Path("out").exists()
    done = topoloom(*words, *options, "alpha:2,delta-2:1,beta:2")
    assert done.status == 0, done.err
    assert "would start all 5 ranks as placed" in done.err
    done = topoloom("export", "x.json", "--to", "hostfile", "--", "--oversubscribe")
    assert done.status == 2
    assert "'--oversubscribe' is a launcher option for --check" in done.err


def test_hosts_of_gpus_are_checked_like_other_hosts(
    mpirun: str, topoloom: Any, tmp_path: Path
) -> None:
    topoloom("pattern", "generate", "ring", "-n", "4", "-o", "r.npz")
    machine = "rails:2:2:1"
    topoloom("map", "r.npz", "-m", machine, "--allocation", "n[0-1]", "-o", "x.json")
    words = ["--check", "--check-with", mpirun, "--hosts", "alpha,beta"]
    done = topoloom("export", "x.json", "--to", "openmpi-rankfile", *words)
    assert done.status == 0, done.err
    assert {line.split()[1][2:] for line in done.out.splitlines()} == {"alpha", "beta"}


def test_ranks_that_would_start_elsewhere_are_named(mpirun: str) -> None:
    machine = Machine("mesh:3+node:2")
    placed = host_placement(machine, range(3), SLOTS, HOSTS)
    rankfile = find_format("openmpi-rankfile")
    text = rankfile.write(placed)
    wrong_host = text.replace("rank 2=alpha slot=0", "rank 2=beta slot=1").replace(
        "rank 4=beta slot=1", "rank 4=alpha slot=0"
    )
    assert dry_run(rankfile, wrong_host, placed, mpirun).mismatches == [
        "rank 2 would start on beta, not on alpha",
        "rank 4 would start on alpha, not on beta",
    ]
    wrong_core = text.replace("rank 0=delta-2 slot=1", "rank 0=delta-2 slot=0").replace(
        "rank 3=delta-2 slot=0", "rank 3=delta-2 slot=1"
    )
    assert dry_run(rankfile, wrong_core, placed, mpirun).mismatches == [
        "rank 0 would be bound to core 0 of delta-2, not to core 1",
        "rank 3 would be bound to core 1 of delta-2, not to core 0",
    ]
    hostfile = find_format("hostfile")
    in_order = host_placement(machine, range(3), [2, 3, 4, 0, 1], HOSTS)
    swapped = hostfile.write(in_order).replace("alpha slots=2", "alpha slots=1")
    swapped = swapped.replace("delta-2 slots=1", "delta-2 slots=2")
    assert dry_run(hostfile, swapped, in_order, mpirun).mismatches == [
        "rank 1 would start on delta-2, not on alpha"
    ]


@pytest.mark.parametrize("node", [NODE, UNNAMED])
@pytest.mark.parametrize(("cores", "bind"), [(1, None), (1, "pu"), (2, None)])
def test_cores_of_packages_and_hardware_threads_are_compared(
    mpirun: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    bind: str | None,
    node: NodeParts,
) -> None:
    """The machine has 2 packages of 2 slots with one or two cores each."""
    synthetic = f"package:2 core:{2 * cores} pu:2"
    picture = tmp_path / "picture.xml"
    subprocess.run(
        ["lstopo-no-graphics", "-i", synthetic, "--of", "xml", picture],
        check=True,
        capture_output=True,
    )
    monkeypatch.setenv("HWLOC_XMLFILE", str(picture))
    monkeypatch.setenv("HWLOC_THISSYSTEM", "1")
    machine = Machine("mesh:2+node:2:2,distance=1:2")
    hosts = ["alpha", "beta"]
    slots = [7, 2, 0, 5]
    placed = host_placement(machine, range(2), slots, hosts, cores, node, bind)
    rankfile = find_format("openmpi-rankfile")
    text = rankfile.write(placed)
    assert ("slot=1:" in text) == (node is NODE and bind is None)
    assert dry_run(rankfile, text, placed, mpirun).mismatches == []
    other = host_placement(machine, range(2), [6, 2, 0, 5], hosts, cores, node, bind)
    (line,) = dry_run(rankfile, rankfile.write(other), placed, mpirun).mismatches
    assert line.startswith("rank 0 would be bound to ")


@pytest.mark.parametrize(
    ("synthetic", "cpus"),
    [
        ("package:2 core:2 pu:1(indexes=0,2,1,3)", ((0,), (2,), (1,), (3,))),
        ("package:2 core:2 pu:1", ((0,), (1,), (2,), (3,))),
        (
            "package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)",
            ((0, 4), (1, 5), (2, 6), (3, 7)),
        ),
        (
            "package:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)",
            ((0, 4), (2, 6), (1, 5), (3, 7)),
        ),
    ],
)
def test_numberings_of_cpus_by_the_system_are_understood(
    mpirun: str,
    monkeypatch: pytest.MonkeyPatch,
    synthetic: str,
    cpus: tuple[tuple[int, ...], ...],
) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", synthetic)
    monkeypatch.setenv("HWLOC_THISSYSTEM", "1")
    machine = Machine("mesh:2+node:2:2,distance=1:2")
    rankfile = find_format("openmpi-rankfile")
    node = NodeParts(("package", "node"), cpus=cpus)
    for bind in (None, "pu"):
        placed = host_placement(
            machine, range(2), [7, 2, 0, 5], ["alpha", "beta"], 1, node, bind
        )
        text = rankfile.write(placed)
        assert dry_run(rankfile, text, placed, mpirun).mismatches == []
        other = replace(placed, slot=np.array([2, 2, 0, 1]))
        wrong = rankfile.write(other)
        assert len(dry_run(rankfile, wrong, placed, mpirun).mismatches) == 1


def test_a_format_without_a_dry_run_is_not_checked(
    mpirun: str, topoloom: Any, tmp_path: Path
) -> None:
    save_placement_file(tmp_path / "x.json", "mesh:3+node:2", SLOTS)
    words = ["export", "x.json", "--to", "mpich-hostfile", "--check", "-o", "out"]
    done = topoloom(*words, "--check-with", mpirun)
    assert done.status == 2
    assert "mpich-hostfile cannot be checked" in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("out").exists()


def test_a_launcher_other_than_open_mpi_is_not_asked(
    mpich: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    save_placement_file(tmp_path / "x.json", "mesh:3+node:2", SLOTS)
    words = ["export", "x.json", "--to", "openmpi-rankfile", "--check"]
    done = topoloom(*words, "--check-with", mpich.mpi.mpirun)
    assert done.status == 2
    assert "is MPICH (Hydra), not Open MPI" in done.err

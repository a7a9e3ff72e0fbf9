# SPDX-License-Identifier: BSD-3-Clause
"""Launchers place ranks as exported files state, according to the ranks' reports."""

from __future__ import annotations

import shlex
import socket
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from several_hosts import Location, SeveralHosts, read_locations

from topoloom import Allocation, Machine, Placement, PlacementFile, save_placement

MACHINE = "mesh:4+node:2"
NODES = [3, 0, 2]
HOSTS = ("beta", "alpha", "delta-2")
SCATTERED = [7, 0, 4, 6, 1]  # slot of each rank; slot 5 is idle
CONSECUTIVE = [6, 7, 1, 4, 5]
HYBRID = [6, 0, 4]  # first slot of ranks of two cores


def save_placement_file(
    path: Path,
    slots: list[int],
    hosts: tuple[str, ...] = HOSTS,
    cores_per_rank: int = 1,
) -> Path:
    machine = Machine(MACHINE)
    allocation = Allocation(machine, np.array(NODES, dtype=np.uint32))
    shared = len(set(slots)) < len(slots)
    placement = Placement(allocation, np.array(slots, dtype=np.uint32), shared)
    file = PlacementFile(
        machine, allocation, placement, hosts, cores_per_rank=cores_per_rank
    )
    save_placement(path, file)
    return path


def list_hosts(slots: list[int]) -> list[str]:
    return [HOSTS[NODES.index(slot // 2)] for slot in slots]


def rankfile_options(hosts: SeveralHosts, rankfile: str, hostfile: str) -> list[str]:
    if hosts.mpi.version >= (5,):
        return ["--hostfile", hostfile, "--map-by", f"rankfile:file={rankfile}"]
    return ["--rankfile", rankfile]


@pytest.mark.parametrize("slots", [SCATTERED, CONSECUTIVE])
def test_a_rankfile_puts_each_rank_on_its_host_and_core(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path, slots: list[int]
) -> None:
    save_placement_file(tmp_path / "x.json", slots)
    assert (
        topoloom("export", "x.json", "--to", "openmpi-rankfile", "-o", "r").status == 0
    )
    Path("h").write_text("".join(f"{host} slots=2\n" for host in HOSTS))
    located = open_mpi.locate_ranks(*rankfile_options(open_mpi, "r", "h"), ranks=5)
    wanted = zip(list_hosts(slots), slots, strict=True)
    assert located == [Location(host, (slot % 2,)) for host, slot in wanted]


def test_a_rankfile_reaches_hosts_by_their_full_names(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    full = tuple(f"{host}.cluster.example" for host in HOSTS)
    save_placement_file(tmp_path / "x.json", SCATTERED, full)
    topoloom("export", "x.json", "--to", "openmpi-rankfile", "-o", "r")
    Path("h").write_text("".join(f"{host} slots=2\n" for host in full))
    located = open_mpi.locate_ranks(*rankfile_options(open_mpi, "r", "h"), ranks=5)
    assert [at.host.partition(".")[0] for at in located] == list_hosts(SCATTERED)


def test_open_mpi_refuses_a_rankfile_whose_ranks_do_not_ascend(
    open_mpi: SeveralHosts, tmp_path: Path
) -> None:
    (tmp_path / "r").write_text("rank 1=alpha slot=0\nrank 0=alpha slot=1\n")
    (tmp_path / "h").write_text("alpha slots=2\n")
    options = rankfile_options(open_mpi, f"{tmp_path}/r", f"{tmp_path}/h")
    done = open_mpi.run(*options, "-n", 2, "true")
    assert done.returncode != 0
    assert "already assigned" in done.stderr


def test_a_hostfile_fills_hosts_in_rank_order(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    save_placement_file(tmp_path / "x.json", CONSECUTIVE)
    assert topoloom("export", "x.json", "--to", "hostfile", "-o", "h").status == 0
    # Host alpha gets one rank, although it has two cores.
    located = open_mpi.locate_ranks("--hostfile", "h", "--map-by", "slot", ranks=5)
    assert [at.host for at in located] == list_hosts(CONSECUTIVE)


def test_export_warns_that_open_mpi_4_begins_on_its_own_host(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    own = socket.gethostname()
    save_placement_file(tmp_path / "x.json", CONSECUTIVE, ("beta", own, "delta"))
    written = topoloom("export", "x.json", "--to", "hostfile", "-o", "h")
    assert "Open MPI 4 starts the first ranks on mpirun's own host" in written.err
    assert "run mpirun on beta" in written.err
    located = open_mpi.locate_ranks("--hostfile", "h", "--map-by", "slot", ranks=5)
    keeps_order = open_mpi.mpi.version >= (5,)
    assert located[0].host == ("beta" if keeps_order else own)


def run_exported_command(
    hosts: SeveralHosts, topoloom: Any, folder: Path, target: str
) -> list[Location]:
    """Start ranks of two cores by the command that `export` prints."""
    save_placement_file(folder / "x.json", HYBRID, cores_per_rank=2)
    usage = topoloom("export", "x.json", "--to", target, "-o", "f").out
    program = f"""sh -c 'test "$OMP_NUM_THREADS" = 2 && exec {hosts.where}'"""
    command = usage.removeprefix("use it:  ").strip().replace("./app", program)
    launcher, _, arguments = command.partition(" ")
    assert launcher in ("mpirun", "mpiexec")
    started = f"{shlex.join(hosts.command())} {arguments}"
    done = subprocess.run(
        ["sh", "-c", started], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return read_locations(done.stdout, len(HYBRID))


def test_exported_open_mpi_commands_give_hybrid_ranks_their_cores(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    located = run_exported_command(open_mpi, topoloom, tmp_path, "hostfile")
    assert located == [Location(host, (0, 1)) for host in list_hosts(HYBRID)]


def test_exported_mpich_commands_give_hybrid_ranks_their_cores(
    mpich_with_rankmap: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    located = run_exported_command(
        mpich_with_rankmap, topoloom, tmp_path, "mpich-rankmap"
    )
    assert located == [Location(host, (0, 1)) for host in list_hosts(HYBRID)]


def test_open_mpi_starts_several_ranks_on_a_shared_slot(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    slots = [7, 7, 0, 6, 0]
    save_placement_file(tmp_path / "x.json", slots)
    written = topoloom("export", "x.json", "--to", "openmpi-rankfile", "-o", "r")
    assert "Open MPI 5 does not bind them" in written.err
    Path("h").write_text("".join(f"{host} slots=2\n" for host in HOSTS))
    if open_mpi.mpi.version >= (5,):
        options = ["--hostfile", "h", "--map-by", "rankfile:file=r:oversubscribe"]
    else:
        options = ["--oversubscribe", "--rankfile", "r"]
    assert all(option in written.out for option in options[-2:])
    located = open_mpi.locate_ranks(*options, ranks=5)
    assert [at.host for at in located] == list_hosts(slots)
    if open_mpi.mpi.version < (5,):
        assert [at.cores for at in located] == [(slot % 2,) for slot in slots]


def test_open_mpi_gives_a_host_without_a_count_one_slot_per_core(
    open_mpi: SeveralHosts, tmp_path: Path
) -> None:
    (tmp_path / "h").write_text("alpha\nbeta slots=1\n")
    options = ["--hostfile", tmp_path / "h", "--map-by", "slot"]
    located = open_mpi.locate_ranks(*options, ranks=2)
    assert [at.host for at in located] == ["alpha", "alpha"]


def test_the_two_kinds_of_hostfile_exclude_each_other(
    several_hosts: SeveralHosts, tmp_path: Path
) -> None:
    (tmp_path / "h").write_text("alpha slots=1\n")
    (tmp_path / "m").write_text("alpha:1\n")
    option = "-f" if several_hosts.mpi.is_hydra else "--hostfile"
    open_mpis = several_hosts.run(option, tmp_path / "h", "-n", 1, "true")
    mpichs = several_hosts.run(option, tmp_path / "m", "-n", 1, "true")
    assert (open_mpis.returncode != 0) == several_hosts.mpi.is_hydra
    assert (mpichs.returncode == 0) == several_hosts.mpi.is_hydra


def test_open_mpi_reads_a_slurm_host_file_with_its_sequential_mapper(
    open_mpi: SeveralHosts, topoloom: Any, tmp_path: Path
) -> None:
    save_placement_file(tmp_path / "x.json", SCATTERED)
    topoloom("export", "x.json", "--to", "slurm-hostfile", "-o", "s")
    policy = "seq:file=s" if open_mpi.mpi.version >= (5,) else "seq"
    options = ["--hostfile", "s", "--map-by", policy, "--bind-to", "none"]
    located = open_mpi.locate_ranks(*options, ranks=5)
    assert [at.host for at in located] == list_hosts(SCATTERED)


@pytest.mark.parametrize("slots", [SCATTERED, CONSECUTIVE])
def test_mpich_places_by_an_ordered_hostfile(
    mpich: SeveralHosts, topoloom: Any, tmp_path: Path, slots: list[int]
) -> None:
    save_placement_file(tmp_path / "x.json", slots)
    assert topoloom("export", "x.json", "--to", "mpich-hostfile", "-o", "h").status == 0
    located = mpich.locate_ranks("-f", "h", ranks=5)
    assert [at.host for at in located] == list_hosts(slots)


@pytest.mark.parametrize("slots", [SCATTERED, CONSECUTIVE])
def test_mpich_places_by_a_rank_map(
    mpich_with_rankmap: SeveralHosts, topoloom: Any, tmp_path: Path, slots: list[int]
) -> None:
    save_placement_file(tmp_path / "x.json", slots)
    rankmap = topoloom("export", "x.json", "--to", "mpich-rankmap").out.strip()
    options = ["-hosts", ",".join(HOSTS), "-rankmap", rankmap]
    located = mpich_with_rankmap.locate_ranks(*options, ranks=5)
    assert [at.host for at in located] == list_hosts(slots)


def test_mpich_reads_blocks_in_a_rank_map_as_written(
    mpich_with_rankmap: SeveralHosts,
) -> None:
    rankmap = "(vector,(1,2,2),(0,1,1))"
    located = mpich_with_rankmap.locate_ranks(
        "-hosts", "alpha,beta,gamma", "-rankmap", rankmap, ranks=5
    )
    wanted = ["beta", "beta", "gamma", "gamma", "alpha"]
    assert [at.host for at in located] == wanted


def test_mpich_counts_hosts_in_a_rank_map_from_0(
    mpich_with_rankmap: SeveralHosts,
) -> None:
    one_based = mpich_with_rankmap.run(
        "-hosts", "alpha,beta", "-rankmap", "1,2", "-n", 2, "true"
    )
    assert one_based.returncode != 0

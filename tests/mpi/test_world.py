# SPDX-License-Identifier: BSD-3-Clause
"""Ranks are renumbered inside unmodified programs, with unchanged results."""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
from pathlib import Path

import pytest
from mpis import (
    HALO3D,
    MPICH,
    MPIS,
    OPEN_MPI_4,
    OPEN_MPI_5,
    PROGRAMS,
    Mpi,
    build_program,
)
from own_process import topoloom
from several_hosts import SECONDS, SeveralHosts, read_locations
from test_record_programs import MELT

from topoloom import Machine, load_placement, save_graph
from topoloom.graphs import ring
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.launcher import Launch
from topoloom.nodes.node_parts import NodeParts
from topoloom.preload.verify import VerifyAgent
from topoloom.preload.world.wrappers import generate_wrappers

HERE = socket.gethostname()
#: launcher options that prefix lines with the rank
TAGGED = {
    "openmpi": ["--tag-output"],
    "mpich": ["-prepend-rank"],
    "openmpi5": ["--output", "tag"],
}
TAG = re.compile(r"\[(?:[^],]*,)?(\d+)\](?:<stdout>:)? ?")
BOTH = [OPEN_MPI_4, MPICH]


def place_on_one_host(slots: list[int], host: str = HERE) -> HostPlacement:
    """Put rank i on slot ``slots[i]`` of a host with unknown CPUs."""
    machine = Machine(f"mesh:1+node:{len(slots)}")
    return host_placement(machine, [0], slots, [host])


def make_derangement(ranks: int) -> list[int]:
    """Return a random permutation that moves every rank."""
    circle = list(range(ranks))
    random.Random(ranks).shuffle(circle)
    after = dict(zip(circle, circle[1:] + circle[:1], strict=True))
    return [after[rank] for rank in range(ranks)]


def run_renumbered(
    command: list[str], placed: HostPlacement | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command; if a placement is passed, renumber its ranks."""
    launch, agent = Launch(command), None
    if placed is not None:
        agent = VerifyAgent(placed, command, renumber=True)
        launch = agent.preload_into(launch)
    done = subprocess.run(
        launch.command,
        env=launch.environment or None,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    if agent is not None:
        agent.close()
    return done


def make_tagging_command(mpi: Mpi, ranks: int, *words: object) -> list[str]:
    command = mpi.command(ranks, *words)
    return [command[0], *TAGGED[mpi.name], *command[1:]]


def read_tagged_output(
    done: subprocess.CompletedProcess[str],
) -> tuple[set[int], list[str]]:
    """Return the launcher ranks of all printed lines, and the lines without prefix."""
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    printers = {int(match[1]) for line in lines if (match := TAG.match(line))}
    return printers, [TAG.sub("", line, count=1) for line in lines]


@pytest.mark.every_mpi
@pytest.mark.parametrize(
    ("mpi", "source"),
    [
        *((mpi, "world.c") for mpi in MPIS),
        *((mpi, name) for mpi in BOTH for name in ("world_f90.F90", "world_f08.F90")),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_no_call_reveals_that_ranks_are_renumbered(
    mpi: Mpi, source: str, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / source)
    slots = make_derangement(4)
    printers, expected = read_tagged_output(
        run_renumbered(make_tagging_command(mpi, 4, program, tmp_path / "a"))
    )
    assert printers == {0}
    again = run_renumbered(
        make_tagging_command(mpi, 4, program, tmp_path / "b"), place_on_one_host(slots)
    )
    assert read_tagged_output(again) == ({slots[0]}, expected)


@pytest.mark.parametrize("mpi", BOTH, ids=lambda mpi: mpi.name)
def test_every_call_still_moves_its_data(mpi: Mpi) -> None:
    program = build_program(mpi, PROGRAMS / "every_call.c")
    done = run_renumbered(
        mpi.command(4, program), place_on_one_host(make_derangement(4))
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_halo3d_exchanges_the_right_data() -> None:
    program = build_program(MPICH, HALO3D)
    words = [program, "--grid", "2x2x2", "--cells", 5, "--steps", 3]
    slots = make_derangement(8)
    printers, lines = read_tagged_output(
        run_renumbered(make_tagging_command(MPICH, 8, *words), place_on_one_host(slots))
    )
    assert printers == {slots[0]}
    assert any("halo3d: verified" in line for line in lines)


def test_a_lammps_melt_computes_the_same(tmp_path: Path) -> None:
    (tmp_path / "in.melt").write_text(MELT)
    words = ["lmp", "-in", tmp_path / "in.melt", "-log", "none"]
    slots = make_derangement(6)

    def drop_timing_lines(lines: list[str]) -> list[str]:
        start = next(i for i, line in enumerate(lines) if line.startswith("Step"))
        kept = [line for line in lines if "processor grid" in line]
        counts = r"(Nlocal|Nghost|Neighs|Histogram|Total #|Ave|Neighbor list)"
        kept += [line for line in lines if re.match(counts, line)]
        return kept + lines[start : start + 3]

    _, expected = read_tagged_output(
        run_renumbered(make_tagging_command(OPEN_MPI_4, 6, *words))
    )
    again = run_renumbered(
        make_tagging_command(OPEN_MPI_4, 6, *words), place_on_one_host(slots)
    )
    printers, lines = read_tagged_output(again)
    assert printers == {slots[0]}
    assert len(drop_timing_lines(lines)) > 10
    assert drop_timing_lines(lines) == drop_timing_lines(expected)


def test_bound_processes_get_the_rank_of_their_cpus() -> None:
    first, second = sorted(os.sched_getaffinity(0))[:2]
    program = build_program(MPICH, PROGRAMS / "where.c")
    mpirun, *rest = MPICH.command(2, program)
    node = NodeParts(cpus=((first,), (second,)))
    machine = Machine("mesh:1+node:2")
    crossed = host_placement(machine, [0], [1, 0], [HERE], node=node, bind="core")
    done = run_renumbered([mpirun, "-bind-to", "core", *rest], crossed)
    located = read_locations(done.stdout, 2)
    assert [at.cores for at in located] == [(second,), (first,)]


def read_refusal(mpi: Mpi, command: list[str], placed: HostPlacement) -> str:
    """Check that a program runs without renumbering; return the printed reason."""
    done = run_renumbered(command, placed)
    printers, _ = read_tagged_output(done)
    assert printers == {0}
    lines = [line for line in done.stderr.splitlines() if "not renumbered" in line]
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("mpi", BOTH, ids=lambda mpi: mpi.name)
def test_a_program_that_cannot_be_renumbered_runs_unmodified(mpi: Mpi) -> None:
    program = build_program(mpi, PROGRAMS / "where.c")
    command = make_tagging_command(mpi, 3, program)
    assert "the plan is for 4 ranks, but there are 3" in read_refusal(
        mpi, command, place_on_one_host([3, 2, 1, 0])
    )
    elsewhere = place_on_one_host([2, 1, 0], "elsewhere")
    assert f"on host {HERE}, which the plan does not name" in read_refusal(
        mpi, command, elsewhere
    )
    two = Machine("mesh:2+node:2")
    crowded = host_placement(two, [0, 1], [1, 0, 2], [HERE, "elsewhere"])
    assert "planned on host elsewhere: 1, but processes there: 0" in read_refusal(
        mpi, command, crowded
    )
    several = [*command, ":", "-n", "1", str(program)]
    assert "the job runs several programs" in read_refusal(
        mpi, several, place_on_one_host([3, 2, 1, 0])
    )


def test_a_program_of_sessions_is_refused_by_name() -> None:
    program = build_program(OPEN_MPI_5, PROGRAMS / "sessions.c")
    command = make_tagging_command(OPEN_MPI_5, 3, program)
    printed = read_refusal(OPEN_MPI_5, command, place_on_one_host([2, 1, 0]))
    assert "the program uses MPI sessions" in printed


def test_ranks_on_each_host_get_the_numbers_of_the_placement(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph("ring6.npz", ring(6, 1000))
    hosts = "alpha:2,beta:2,gamma:2"
    named = ["-hosts" if several_hosts.mpi.is_hydra else "--host", hosts]
    command = several_hosts.command(*named, "-n", 6, several_hosts.where)
    where = ["--machine", "mesh:4+node:2", "--hosts", "alpha,beta.x,gamma,delta"]
    options = ["--mapper", "random", "--seed", "3", "--graph", "ring6.npz"]
    words = ["--apply", "world", *where, *options, "-o", "x.json"]
    done = topoloom("run", *words, "--", *command)
    assert done.returncode == 0, done.stderr
    assert "all 6 ranks are on the planned hosts (3)" in done.stderr
    slots = load_placement("x.json").placement.slots.tolist()
    planned = [["alpha", "beta", "gamma"][slot // 2] for slot in slots]
    assert planned != sorted(planned)
    assert [at.host for at in read_locations(done.stdout, 6)] == planned


HEADER = """
typedef int MPI_Comm; int MPI_Send(const void *b, int n, MPI_Comm comm);
int PMPI_Send(const void *b, int n, MPI_Comm comm) __attribute__((nonnull));
extern int PMPI_Comm_free(MPI_Comm *comm);
int PMPI_Intercomm_create(MPI_Comm local_comm, int leader, MPI_Comm peer,
                          int ranges[][3], MPI_Comm *made);
int PMPI_Abort(MPI_Comm comm, int code);
"""


def test_each_call_with_a_communicator_is_wrapped_under_both_names() -> None:
    made = generate_wrappers(HEADER)
    names = re.findall(r"SHIM_EXPORT int (\w+)\(", made)
    both = ["Send", "Intercomm_create"]
    assert names == [f"{p}_{call}" for call in both for p in ("MPI", "PMPI")]
    assert "next(b, n, replace_world(comm))" in made
    assert (
        "next(replace_world(local_comm), leader, replace_world(peer), ranges, made)"
        in made
    )

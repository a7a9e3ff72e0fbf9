# SPDX-License-Identifier: BSD-3-Clause
"""Communicators are re-mapped by vectors, files and computed orders."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from built_libraries import compile_with_reordering
from mpis import MPICH, OPEN_MPI_4, PROGRAMS, SIMGRID, Mpi, run_to_end
from simulated_hosts import hosts_options

import smpi
from remap.nodes import Speeds, TwoGroups, platform
from topoloom import _core, schedules

RANKS = 4
#: Run a test on one MPI, because its parameters do not depend on the MPI.
BY_ONE_MPI = pytest.mark.parametrize(
    "mpi_and_program", [MPICH], indirect=True, ids=["mpich"]
)


def read_old_ranks(done: subprocess.CompletedProcess[str]) -> list[int]:
    """Read the old rank of each new rank."""
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = done.stdout.splitlines()
    word, *ranks = line.split()
    assert word == "ranks"
    return [int(rank) for rank in ranks]


@pytest.fixture(
    scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: str(mpi.name)
)
def mpi_and_program(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    mpi: Mpi = request.param
    return mpi, compile_with_reordering(mpi, PROGRAMS / "remap_ranks.c")


def run_order(
    mpi_and_program: tuple[Mpi, Path], *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    mpi, program = mpi_and_program
    return run_to_end(
        mpi.command(RANKS, program, "return", "order", *options), **variables
    )


@pytest.mark.every_mpi
@pytest.mark.parametrize("vector", [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
def test_a_vector_defines_a_communicator(
    mpi_and_program: tuple[Mpi, Path], vector: list[int], tmp_path: Path
) -> None:
    mpi, program = mpi_and_program
    given = run_to_end(mpi.command(RANKS, program, "fatal", "vector", *vector))
    assert read_old_ranks(given) == vector
    file = tmp_path / "order.txt"
    file.write_text("".join(f"{rank}  # a comment\n" for rank in vector))
    assert read_old_ranks(run_order(mpi_and_program, f"order=file({file})")) == vector


@pytest.mark.parametrize(
    ("vector", "line"),
    [
        ("0 1 1 3", "the order has rank 1 at 1 and at 2"),
        ("0 1 4 2", "the order has 4 at 2, but ranks are 0 to 3"),
        ("0 -1 3 2", "the order has -1 at 1, but ranks are 0 to 3"),
    ],
)
def test_a_vector_that_is_not_a_permutation_is_an_error_on_all_ranks(
    mpi_and_program: tuple[Mpi, Path], vector: str, line: str
) -> None:
    mpi, program = mpi_and_program
    words = (program, "return", "vector", *vector.split())
    done = run_to_end(mpi.command(RANKS, *words))
    assert done.stdout == f"failed {RANKS}\n"
    assert done.stderr == f"topoloom: topoloom_comm_remap: {line}\n"
    ended = run_to_end(mpi.command(RANKS, program, "fatal", *words[2:]))
    assert ended.returncode != 0
    assert ended.stderr.count(line) == 1


@BY_ONE_MPI
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0 1 2", "the order has 3 ranks, but the communicator 4"),
        ("0\n1\n\n1 2", "the order has rank 1 at 1 and at 2"),
        ("0 1\ntwo 3", "line 2: 'two' is not a rank"),
        ("0 1 2 99999999999", "line 1: '99999999999' is not a rank"),
        ("", "the order has 0 ranks, but the communicator 4"),
    ],
)
def test_a_file_without_a_permutation_is_an_error_on_all_ranks(
    mpi_and_program: tuple[Mpi, Path], text: str, line: str, tmp_path: Path
) -> None:
    file = tmp_path / "order.txt"
    file.write_text(text)
    done = run_order(mpi_and_program, f"order=file({file})")
    assert done.stdout == f"failed {RANKS}\n"
    assert done.stderr == f"topoloom: topoloom_comm_order: {file}: {line}\n"


@BY_ONE_MPI
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("", "give order=NAME, or several: NAME|NAME; there are: standard, "),
        ("order=fastest", "no order 'fastest'; there are: standard, "),
        ("order=file(/nowhere)", "cannot read the order file '/nowhere'"),
        ("order=tiled(3x2)", "'tiled(3x2)' is not a grid of 4 ranks"),
        ("order=random,root=4", "root=4 is none of 0 to 3"),
        ("order=random,seeds=4", "expected NAME=VALUE, not 'seeds'; names are order,"),
        ("order=standard|random", "several orders are compared by a collective; give"),
        ("order=random,operation=send", "no operation 'send'; use one of"),
    ],
)
def test_wrong_options_are_errors_on_all_ranks(
    mpi_and_program: tuple[Mpi, Path], options: str, line: str
) -> None:
    done = run_order(mpi_and_program, options)
    assert done.stdout == f"failed {RANKS}\n"
    assert done.stderr.startswith(f"topoloom: topoloom_comm_order: {line}")
    assert done.stderr.count("\n") == 1


def test_options_can_be_set_by_environment_variables(
    mpi_and_program: tuple[Mpi, Path],
) -> None:
    assert read_old_ranks(
        run_order(mpi_and_program, TOPOLOOM_ORDER="order=standard,root=1")
    ) == [
        1,
        2,
        3,
        0,
    ]


def test_all_ranks_agree_on_the_best_of_several_orders(
    mpi_and_program: tuple[Mpi, Path],
) -> None:
    options = "order=standard|random|standard,root=3,operation=allreduce,bytes=80"
    done = run_order(mpi_and_program, f"{options},repeats=3,report=1")
    ranks = read_old_ranks(done)
    assert sorted(ranks) == [0, 1, 2, 3]
    assert ranks[0] == 3
    assert done.stderr.count("topoloom: 4 ranks ordered: ") == 1


#: Second group of eight processes, as on the cluster RA.
SECOND = (1, 4, 6, 7)
#: Messages between groups are slow, but concurrent messages do not slow each other.
SLOW_ACROSS = Speeds(1, 1000, 8000), Speeds(4, 250, 2000)
#: Messages inside a group share one channel; the standard order has the fewest of them.
ONE_CHANNEL = Speeds(1, 1000, 1000), Speeds(2, 990, 4000)


@pytest.fixture
def simulated_program(tmp_path: Path) -> Path:
    """Build for SimGrid; return the program in a writable folder."""
    program = tmp_path / "remap_ranks"
    program.symlink_to(compile_with_reordering(SIMGRID, PROGRAMS / "remap_ranks.c"))
    return program


def simulate(program: Path, node: TwoGroups, options: str) -> list[int]:
    """Return the order of the processes of a simulated node."""
    file = program.with_name("node.xml")
    file.write_text(platform(node))
    hosts = program.with_name("hosts")
    hosts.write_text("".join(f"p{i}\n" for i in range(node.processes)))
    settings = {**smpi.SETTINGS, "smpi/scatter": "ompi_binomial"}
    words = [f"--cfg={name}:{value}" for name, value in settings.items()]
    words += [
        "--log=root.thresh:error",
        "-platform",
        str(file),
        "-hostfile",
        str(hosts),
    ]
    command = SIMGRID.command(
        node.processes, *words, program, "fatal", "order", options
    )
    return read_old_ranks(run_to_end(command))


@pytest.mark.parametrize("method", ["fastest-edge-first", "channel-aware"])
@pytest.mark.parametrize("root", [0, 5])
def test_orders_of_binomial_trees_follow_the_measured_groups(
    simulated_program: Path, method: str, root: int
) -> None:
    node = TwoGroups(8, SECOND, *SLOW_ACROSS)
    found = simulate(simulated_program, node, f"order={method},root={root},channels=2")
    group = np.isin(np.arange(8), SECOND)
    costs = np.where(np.equal.outer(group, group), 1.0, 2.0)
    assert found == schedules.binomial_order(costs, method, root=root, channels=2)


def test_equal_processes_stay_in_order(simulated_program: Path) -> None:
    node = TwoGroups(6, (3, 4, 5), ONE_CHANNEL[0], ONE_CHANNEL[0])
    found = simulate(simulated_program, node, "order=channel-aware")
    assert found == list(range(6))


@pytest.mark.parametrize(
    ("speeds", "best"),
    [(ONE_CHANNEL, "standard"), (SLOW_ACROSS, "fastest-edge-first")],
)
def test_the_order_that_suits_the_machine_is_measured_as_the_best(
    simulated_program: Path, speeds: tuple[Speeds, Speeds], best: str
) -> None:
    node = TwoGroups(8, SECOND, *speeds)
    orders = "channel-aware|standard|fastest-edge-first"
    measured = "operation=scatter,bytes=1000000,repeats=1"
    found = simulate(simulated_program, node, f"order={orders},{measured}")
    assert found == simulate(simulated_program, node, f"order={best}")


def run_on_nodes(program: Path, nodes: list[int], options: str) -> list[int]:
    """Return the order of processes on these simulated nodes."""
    given = hosts_options(program.parent, 1 + max(nodes), smpi.SETTINGS)
    program.with_name("hosts").write_text("".join(f"n{node}\n" for node in nodes))
    words = [*given, "--log=root.thresh:error", program, "fatal", "order", options]
    return read_old_ranks(run_to_end(SIMGRID.command(len(nodes), *words)))


def test_blocked_order_numbers_the_ranks_of_each_node_consecutively(
    simulated_program: Path,
) -> None:
    assert run_on_nodes(simulated_program, [2, 0, 1, 2, 0, 1, 0], "order=blocked") == [
        *(0, 3),
        *(1, 4, 6),
        *(2, 5),
    ]


def test_tiled_order_gives_every_node_a_compact_tile(
    simulated_program: Path,
) -> None:
    nodes = np.arange(32) % 4
    found = run_on_nodes(simulated_program, nodes.tolist(), "order=tiled(4x8)")
    node_of_cell = nodes[found].reshape(4, 8)
    tile = sorted(_core.node_tiles([4, 8], 8)[0])
    for node in range(4):
        assert sorted(np.ptp(np.argwhere(node_of_cell == node), axis=0) + 1) == tile

# SPDX-License-Identifier: BSD-3-Clause
"""Collectives on lines of grids give the same results as MPI's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from built_libraries import compile_with_collectives
from mpis import MPICH, MPIS, OPEN_MPI_4, PROGRAMS, SIMGRID, Mpi, run_to_end

from exchange.programs import PLATFORM
from topoloom import _core


@pytest.fixture(
    scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: str(mpi.name)
)
def mpi_and_program(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    mpi: Mpi = request.param
    assert mpi in MPIS
    source = PROGRAMS / "collectives/grid_cases.c"
    return mpi, compile_with_collectives(mpi, source)


@pytest.mark.parametrize(("ranks", "grids"), [(1, 6), (2, 8), (6, 5), (8, 3)])
def test_lines_give_the_results_of_mpi_on_split_communicators(
    mpi_and_program: tuple[Mpi, Path], ranks: int, grids: int
) -> None:
    mpi, program = mpi_and_program
    done = run_to_end(mpi.command(ranks, program, ranks, grids))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 failures" in "\n" + done.stdout


@pytest.mark.parametrize("schedule", ["chain(segment=64)", "binomial", "linear"])
def test_lines_with_a_named_schedule_give_the_results_of_mpi(
    mpi_and_program: tuple[Mpi, Path], schedule: str
) -> None:
    mpi, program = mpi_and_program
    setting = f"schedule={schedule}"
    done = run_to_end(mpi.command(6, program, 3, 2), TOPOLOOM_COLLECTIVES=setting)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "topoloom" not in done.stderr


@pytest.mark.parametrize(
    ("which", "line"),
    [
        (
            "cells",
            "grid_create: the grid has more cells than the communicator",
        ),
        ("extent", "grid_create: extents[1] is 0, but must be positive"),
        ("order", "grid_create: order has rank 1 for the cells 0 and 1"),
        ("rank", "grid_create: order[1] is 2, but ranks are 0 to 1"),
        ("dimension", "line_bcast: dimension is 2, but must be 0 to 1"),
        ("root", "line_bcast: root 2 is out of range: ranks are 0 to 1"),
        ("coordinate", "grid_rank: coords[1] is 2, but must be 0 to"),
    ],
)
def test_a_wrong_argument_ends_the_program_with_one_line(
    mpi_and_program: tuple[Mpi, Path], which: str, line: str
) -> None:
    mpi, program = mpi_and_program
    done = run_to_end(mpi.command(2, program, "wrong", which))
    assert done.returncode != 0
    assert f"topoloom: topoloom_{line}" in done.stderr


@pytest.fixture(scope="module")
def simulated_program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp(SIMGRID.name)
    source = PROGRAMS / "collectives/grid_cases.c"
    platform = folder / "platform.xml"
    platform.write_text(PLATFORM.format(last=63))
    return compile_with_collectives(SIMGRID, source), platform


def run_on_nodes(
    simulated_program: tuple[Path, Path], nodes: list[int], *words: object
) -> str:
    """Run one rank on each of these nodes; return the output."""
    program, platform = simulated_program
    hosts = platform.with_name("hosts")
    hosts.write_text("".join(f"n{node}\n" for node in nodes))
    command = SIMGRID.command(
        len(nodes), "-platform", platform, "-hostfile", hosts, program, *words
    )
    done = run_to_end(
        [*command[:1], "--cfg=smpi/simulate-computation:no", *command[1:]]
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("per_node", [1, 4, 6])
def test_lines_across_nodes_give_the_results_of_mpi(
    simulated_program: tuple[Path, Path], per_node: int
) -> None:
    nodes = [rank // per_node for rank in range(24)]
    assert "\n0 failures" in "\n" + run_on_nodes(simulated_program, nodes, per_node, 8)


@pytest.mark.parametrize(
    ("grid", "per_node"),
    [([4, 8], 4), ([6, 8], 12), ([4, 4, 4], 8), ([24, 2], 8), ([8, 6], 1)],
)
@pytest.mark.parametrize("shuffled", [False, True])
def test_tiled_gives_every_node_a_compact_tile(
    simulated_program: tuple[Path, Path], grid: list[int], per_node: int, shuffled: bool
) -> None:
    nodes = np.arange(np.prod(grid)) // per_node
    if shuffled:
        np.random.default_rng(1).shuffle(nodes)
    output = run_on_nodes(simulated_program, nodes.tolist(), "tiled", *grid)
    rank_of_cell = np.array([int(line) for line in output.split()])
    assert sorted(rank_of_cell) == list(range(len(nodes)))
    node_of_cell = nodes[rank_of_cell].reshape(grid)
    best = _core.node_tiles(grid, per_node)[0]
    for node in np.unique(nodes):
        cells = np.argwhere(node_of_cell == node)
        sides = np.ptp(cells, axis=0) + 1
        assert sorted(sides) == sorted(best)


def test_without_a_tile_that_divides_the_grid_more_neighbors_share_nodes(
    simulated_program: tuple[Path, Path],
) -> None:
    grid, per_node = [10, 7], 4
    nodes = np.arange(70) // per_node
    output = run_on_nodes(simulated_program, nodes.tolist(), "tiled", *grid)
    rank_of_cell = np.array([int(line) for line in output.split()])
    tiled = nodes[rank_of_cell].reshape(grid)
    assert _count_cut_edges(tiled) < _count_cut_edges(nodes.reshape(grid))


def _count_cut_edges(node: np.ndarray) -> int:
    return sum(int((np.diff(node, axis=axis) != 0).sum()) for axis in range(node.ndim))

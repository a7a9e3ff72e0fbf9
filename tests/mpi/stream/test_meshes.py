# SPDX-License-Identifier: BSD-3-Clause
"""Streams over virtual meshes: all routes end, and items arrive exactly once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built_libraries import compile_with_library
from mpis import MPICH, SIMGRID, check_output, run_to_end
from simulated_hosts import hosts_options
from streams import POLLS, SOURCES, STREAM, compile_with_streams

CASES = SOURCES / "mesh_cases.c"


def test_every_route_ends_and_avoids_holes(tmp_path: Path) -> None:
    program = tmp_path / "laws"
    words = ["gcc", "-std=c11", "-O2", f"-I{STREAM}", SOURCES / "mesh_laws.c"]
    subprocess.run([*words, "-o", program], check=True)
    done = subprocess.run([program, "60"], capture_output=True, text=True, check=False)
    assert check_output(done) == "every route ends\n"


@pytest.mark.parametrize("ranks", [9, pytest.param(17, marks=pytest.mark.full)])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_few_buckets_reach_all_simulated_ranks(
    dimensions: int, ranks: int, tmp_path: Path
) -> None:
    program = compile_with_streams(SIMGRID, CASES)
    options = hosts_options(tmp_path, ranks, POLLS)
    command = SIMGRID.command(ranks, *options, program, dimensions, dimensions)
    assert (
        check_output(run_to_end(command))
        == f"2 to {ranks} ranks: every item came once\n"
    )


@pytest.mark.parametrize(("ranks", "hosts"), [(10, 3), (64, 8)])
def test_meshes_are_aligned_with_nodes(ranks: int, hosts: int, tmp_path: Path) -> None:
    program = compile_with_streams(SIMGRID, CASES)
    options = hosts_options(tmp_path, hosts, POLLS)
    least, words = (2, ()) if ranks == 10 else (ranks, (ranks,))
    command = SIMGRID.command(ranks, *options, program, 1, 2, *words)
    expected = f"{least} to {ranks} ranks: every item came once\n"
    assert check_output(run_to_end(command)) == expected


@pytest.mark.parametrize(("dimensions", "hosts", "share"), [(2, 4, 4), (3, 9, 3)])
def test_items_are_sent_first_to_a_rank_of_the_same_node(
    dimensions: int, hosts: int, share: int, tmp_path: Path
) -> None:
    source, errors = SOURCES / "node_cases.c", STREAM.parent / "errors"
    program = compile_with_library(SIMGRID, "stream", source, f"-I{errors}")
    options = hosts_options(tmp_path, hosts, POLLS)  # ranks are assigned round-robin
    command = SIMGRID.command(hosts * share, *options, program, dimensions)
    done = run_to_end(command)
    assert check_output(done) == "first hops stay on the node\n"


@pytest.mark.parametrize("dimensions", [2, 3])
def test_few_buckets_reach_all_real_ranks(dimensions: int) -> None:
    program = compile_with_streams(MPICH, CASES)
    command = MPICH.command(4, program, dimensions, dimensions)
    assert check_output(run_to_end(command)) == "2 to 4 ranks: every item came once\n"

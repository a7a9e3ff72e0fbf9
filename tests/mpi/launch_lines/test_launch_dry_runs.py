# SPDX-License-Identifier: BSD-3-Clause
"""Launch lines place ranks where the launchers' own dry runs put them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from launcher_dry_runs import (
    NODES,
    Bound,
    DescribedNode,
    draw_hydra_words,
    draw_open_mpi_words,
    run_hydra,
    run_open_mpi_4,
    run_open_mpi_5,
)
from several_hosts import SeveralHosts

from topoloom.allocations.launch_line_slots import check_cores
from topoloom.launch.orders.launch_line import read_launch_line
from topoloom.launch.orders.node_cores import LaunchError, NodeCores, RankCores

LAUNCHERS = {4: run_open_mpi_4, 5: run_open_mpi_5}
#: Fewer runs than by default, since a map that is refused fails in each.
DRAWN_LAUNCHERS = {4: partial(run_open_mpi_4, tries=3), 5: run_open_mpi_5}


@pytest.fixture(autouse=True)
def allow_any_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for family in ("OMPI", "PRTE"):
        for suffix in ("", "_CONFIRM"):
            monkeypatch.setenv(f"{family}_ALLOW_RUN_AS_ROOT{suffix}", "1")


def place(
    name: str, words: Sequence[str], nodes: Sequence[DescribedNode], ranks: int
) -> list[RankCores] | None:
    """Place ranks; None if that is refused."""
    try:
        rules = read_launch_line(" ".join([name, *words]))
        placed = rules.place([node.cores for node in nodes], ranks)
        check_cores(placed)
    except LaunchError:
        return None
    return placed


def is_same(placed: Sequence[RankCores], real: Bound) -> bool:
    """Whether ranks are on the real nodes, and on cores that they are bound to."""
    return all(
        ours.node == node and (not cores or set(ours.cores) <= cores)
        for ours, (node, cores) in zip(placed, real, strict=True)
    )


OPEN_MPI_CASES = [
    ("--map-by slot --bind-to core", [0, 0], 20),
    ("--map-by node --bind-to core", [0, 0, 0], 7),
    ("--map-by node --rank-by slot --bind-to core", [3, 3], 9),
    ("--map-by socket --bind-to core", [0, 0], 19),
    ("--map-by ppr:2:l3cache --bind-to core", [0, 0], 12),
    ("--map-by ppr:1:numa:PE=3", [2], 4),
    ("--map-by numa:span --bind-to core", [0, 0], 8),
    ("--map-by l3cache --rank-by slot --bind-to core", [3, 3], 20),
    ("--map-by slot:PE=2", [0, 0], 13),
]


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize(("line", "numbers", "ranks"), OPEN_MPI_CASES)
def test_ranks_are_where_open_mpi_maps_them(
    version: int, line: str, numbers: list[int], ranks: int, tmp_path: Path
) -> None:
    nodes = [NODES[i] for i in numbers]
    placed = place(f"openmpi{version}", line.split(), nodes, ranks)
    real = LAUNCHERS[version](nodes, ranks, line.split(), tmp_path)
    assert placed is not None
    assert real is not None
    assert is_same(placed, real)


@pytest.mark.full
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("seed", range(10))
def test_drawn_mappings_are_those_of_open_mpi(
    version: int, seed: int, tmp_path: Path
) -> None:
    rng, compared = random.Random(seed), 0
    for _ in range(50):
        # The dry run of version 5 knows one kind of node.
        count = rng.randint(1, 4)
        nodes = [rng.choice(NODES) for _ in range(count)]
        nodes = nodes if version == 4 else nodes[:1] * count
        words = draw_open_mpi_words(rng, version)
        ranks = rng.randint(1, sum(len(node.cores.cores) for node in nodes))
        placed = place(f"openmpi{version}", words, nodes, ranks)
        if placed is None:
            continue
        real = DRAWN_LAUNCHERS[version](nodes, ranks, words, tmp_path)
        if real is not None:
            assert is_same(placed, real), (words, nodes, ranks)
            compared += 1
    assert compared > 10


@pytest.mark.parametrize(
    ("line", "number", "ranks"),
    [
        ("-bind-to core", 0, 5),
        ("-bind-to core -map-by socket", 0, 7),
        ("-bind-to core:3 -map-by numa", 2, 4),
        ("-bind-to l3cache", 3, 6),
    ],
)
def test_ranks_are_where_hydra_binds_them(
    line: str, number: int, ranks: int, tmp_path: Path
) -> None:
    nodes = [NODES[number]]
    placed = place("mpich", line.split(), nodes, ranks)
    real = run_hydra(nodes, ranks, line.split(), tmp_path)
    assert placed is not None
    assert real is not None
    assert is_same(placed, real)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_drawn_bindings_are_those_of_hydra(seed: int, tmp_path: Path) -> None:
    rng, compared = random.Random(seed), 0
    for _ in range(50):
        nodes, words = [rng.choice(NODES)], draw_hydra_words(rng)
        ranks = rng.randint(1, len(nodes[0].cores.cores))
        placed = place("mpich", words, nodes, ranks)
        real = run_hydra(nodes, ranks, words, tmp_path)
        if placed is None or real is None:
            continue
        # Where ranks outnumber the cores that they share, they have others here.
        if all(a == b or a[1].isdisjoint(b[1]) for a in real for b in real) and all(
            real.count(own) <= len(own[1]) for own in real
        ):
            assert is_same(placed, real), (words, nodes, ranks)
            compared += 1
    assert compared > 10


@pytest.mark.parametrize(("most", "ranks"), [(1, 3), (2, 7), (3, 5)])
def test_hydra_wraps_around_the_nodes(
    several_hosts: SeveralHosts, tmp_path: Path, most: int, ranks: int
) -> None:
    if not several_hosts.mpi.is_hydra:
        return
    hosts = ("alpha", "beta")
    file = tmp_path / "hosts"
    file.write_text("alpha:4\nbeta:4\n")
    located = several_hosts.locate_ranks("-f", file, "-ppn", most, ranks=ranks)
    rules = read_launch_line(f"mpich -ppn {most}")
    placed = rules.place([NodeCores((0, 1, 2, 3))] * 2, ranks)
    assert [at.host for at in located] == [hosts[rank.node] for rank in placed]

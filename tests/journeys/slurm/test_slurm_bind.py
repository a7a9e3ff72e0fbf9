# SPDX-License-Identifier: BSD-3-Clause
"""With a real Slurm, ranks report that they are bound to the CPUs of their slots."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_process import TOPOLOOM
from real_slurm import RealSlurm, describe_crossed_nodes, start_slurm

from topoloom import load_placement, save_graph
from topoloom.graphs import ring

#: One pytest worker, because the tests share Slurm daemons.
pytestmark = pytest.mark.xdist_group("slurm_bind")

RANK = """#!/bin/sh
echo $SLURM_PROCID $SLURMD_NODENAME $(grep Cpus_allowed_list /proc/self/status) "$1"
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    """Start a Slurm of two nodes with two cores each, without task binding."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
        with start_slurm(
            {"n[1-2]": "CPUs=2 Sockets=1 CoresPerSocket=2"}, ""
        ) as running:
            yield running


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_srun_starts_ranks_that_are_bound(
    slurm: RealSlurm, tmp_path: Path, ranks: int, seed: int
) -> None:
    (tmp_path / "m.toml").write_text(describe_crossed_nodes(2))
    (tmp_path / "rank").write_text(RANK)
    (tmp_path / "rank").chmod(0o755)
    save_graph(tmp_path / "ring.npz", ring(ranks, 1000))
    placing = ["--machine", "m.toml", "--bind", "core", "--graph", "ring.npz"]
    mapping = ["--mapper", "random", "--seed", str(seed), "-o", "x.json"]
    command = ["srun", "--mpi=none", "-n", str(ranks), "./rank", "two words"]
    words = [*TOPOLOOM, "run", *placing, *mapping, "--", *command]
    output = slurm.run_in_job("-N2 --exclusive", f"cd {tmp_path}; {shlex.join(words)}")
    rows = [line.split(maxsplit=4) for line in output.splitlines()]
    placed = load_placement(tmp_path / "x.json").placement.slots.tolist()
    assert sorted(
        (int(rank), host, cpu, last) for rank, host, _, cpu, last in rows
    ) == [
        (rank, f"n{slot // 2 + 1}", "10"[slot % 2], "two words")
        for rank, slot in enumerate(placed)
    ]


#: Stub of a Cray MPICH program, whose ranks are numbered as a file says.
CRAY_RANK = """#!/bin/sh
order=$(grep -v '^#' "$MPICH_RANK_REORDER_FILE" | tr ',' ' ')
set -- $order
shift $SLURM_PROCID
echo $1 $SLURMD_NODENAME $(grep Cpus_allowed_list /proc/self/status) \\
    $MPICH_RANK_REORDER_METHOD
"""


@pytest.mark.parametrize("bind", [["--bind", "core"], []])
def test_cray_mpich_places_ranks_if_srun_starts_tasks_in_blocks(
    slurm: RealSlurm, tmp_path: Path, bind: list[str]
) -> None:
    (tmp_path / "m.toml").write_text(describe_crossed_nodes(2))
    (tmp_path / "rank").write_text(CRAY_RANK)
    (tmp_path / "rank").chmod(0o755)
    save_graph(tmp_path / "ring.npz", ring(4, 1000))
    # The allocation lists nodes in another order than Slurm.
    placing = ["--machine", "m.toml", "--allocation", "n2,n1", *bind]
    mapping = ["--mapper", "random", "--seed", "1", "-o", "x.json"]
    command = ["srun", "--mpi=none", "-n", "4", "./rank"]
    words = [*placing, "--graph", "ring.npz", *mapping, "--", *command]
    script = f"""
        cd {tmp_path}
        export CRAY_MPICH_VERSION=8.1.29
        {shlex.join([*TOPOLOOM, "run", *words])}
    """
    output = slurm.run_in_job("-N2 --exclusive", script)
    rows = sorted(line.split() for line in output.splitlines())
    slots = load_placement(tmp_path / "x.json").placement.slots.tolist()
    hosts = [f"n{slot // 2 + 1}" for slot in slots]
    assert [row[:2] for row in rows] == [
        [str(rank), host] for rank, host in enumerate(hosts)
    ]
    assert {row[-1] for row in rows} == {"3"}
    if bind:
        assert [row[3] for row in rows] == ["10"[slot % 2] for slot in slots]
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"m.toml", "rank", "ring.npz", "x.json"}

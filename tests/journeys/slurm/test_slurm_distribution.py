# SPDX-License-Identifier: BSD-3-Clause
"""Launch lines of srun place ranks where a real Slurm with task/affinity does."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator

import pytest
from real_slurm import RealSlurm, start_slurm

from topoloom.launch.orders.launch_line import read_launch_line
from topoloom.launch.orders.node_cores import LaunchError, NodeCores, RankCores

#: One pytest worker, because the tests share Slurm daemons.
pytestmark = pytest.mark.xdist_group("slurm_distribution")

NODES, CORES = 4, 8
#: Runs the options given as $1 twice: with binding, which fails where this machine has
#: fewer cores but is logged, and without, to see the node of each rank.
SCRIPT = """srun --mpi=none --cpu-bind=cores {line} true 2>/dev/null || true
srun --mpi=none --cpu-bind=none {line} sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    """Start a Slurm of four nodes of two packages of four cores."""
    nodes = {f"n[1-{NODES}]": "CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
        patch.setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:1")
        with start_slurm(nodes, "", binds_tasks=True) as running:
            yield running


def place(line: str, ranks: int) -> list[RankCores]:
    nodes = [NodeCores(tuple(range(CORES)), {"package": CORES // 2})] * NODES
    return read_launch_line(f"srun {line}").place(nodes, ranks)


def run(slurm: RealSlurm, line: str) -> list[RankCores]:
    """Return the node of each rank, and the cores that Slurm binds it to."""
    names = f"n[1-{NODES}]"
    output = slurm.run_in_job(
        f"-N{NODES} -w {names} --exclusive", SCRIPT.format(line=line)
    )
    ranks_of: dict[int, list[int]] = {}
    for rank, node in re.findall(r"^(\d+) n(\d+)$", output, re.M):
        ranks_of.setdefault(int(node), []).append(int(rank))
    placed = {}
    for node, ranks in ranks_of.items():
        log = (slurm.home / f"slurmd-n{node}.log").read_text()
        found = re.findall(r"_lllp_generate_cpu_bind jobid .*mask_cpu\S*, (\S+)", log)
        masks = [int(mask, 16) for mask in found[-1].strip(",").split(",")]
        for rank, mask in zip(sorted(ranks), masks, strict=True):
            cores = tuple(i for i in range(CORES) if mask >> i & 1)
            placed[rank] = RankCores(node - 1, cores)
    return [placed[rank] for rank in range(len(placed))]


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("-m cyclic:block", 13),
        ("-m block:cyclic", 11),
        ("-c 2 -m cyclic:cyclic", 10),
        ("-m plane=3", 14),
        ("-m block:block,Pack", 9),
        ("--ntasks-per-node=3 -m cyclic:fcyclic", 7),
    ],
)
def test_srun_distributes_ranks_like_its_launch_line(
    slurm: RealSlurm, line: str, ranks: int
) -> None:
    line = f"-n {ranks} {line}"
    assert run(slurm, line) == place(line, ranks)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_srun_distributes_ranks_like_drawn_launch_lines(
    slurm: RealSlurm, seed: int
) -> None:
    rng = random.Random(seed)
    levels = ["block", "cyclic", "fcyclic"]
    for _ in range(15):
        cores, nodes = rng.choice([1, 1, 2, 3]), rng.randint(1, NODES)
        text = ":".join([rng.choice(levels[:2]), rng.choice(levels)])
        text += rng.choice(["", "", ":block", ":fcyclic", ",Pack", ",NoPack"])
        if rng.random() < 0.2:
            text = f"plane={rng.randint(1, 5)}"
        ranks = rng.randint(nodes, nodes * (CORES // cores))
        line = f"-n {ranks} -N {nodes} -c {cores} -m {text}"
        try:
            placed = place(line, ranks)
        except LaunchError:
            continue
        real = run(slurm, line)
        # A mask does not tell the order in which a rank got its cores.
        assert [RankCores(n, tuple(sorted(c))) for n, c in placed] == real, line

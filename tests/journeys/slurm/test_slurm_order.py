# SPDX-License-Identifier: BSD-3-Clause
"""Block order is the order in which a real srun starts ranks by default."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_process import TOPOLOOM
from real_slurm import RealSlurm, start_slurm

from topoloom import Allocation, Machine, load_placement, save_graph
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.graphs import ring
from topoloom.launch.exports.read_launch_file import LaunchFile, list_possible_formats
from topoloom.launch.host_placement import host_placement

#: One pytest worker, because the tests share Slurm daemons.
pytestmark = pytest.mark.xdist_group("slurm_order")

SAY = "echo $SLURM_PROCID $SLURMD_NODENAME"
CORES = [4, 4, 2, 4]


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    """Start a Slurm of four nodes; the third has fewer cores."""
    nodes = {
        "n[1-2,4]": "CPUs=4 Sockets=2 CoresPerSocket=2",
        "n3": "CPUs=2 Sockets=1 CoresPerSocket=2",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
        with start_slurm(nodes, "") as running:
            yield running


def list_hosts(output: str) -> list[str]:
    """List the hosts reported by the ranks, in rank order."""
    rows = [line.split() for line in output.splitlines() if line[:1].isdigit()]
    return [host for _, host in sorted(rows, key=lambda row: int(row[0]))]


@pytest.mark.parametrize(
    ("nodes", "order", "ranks"),
    [
        (4, LaunchOrder(), 3),
        (4, LaunchOrder(), 7),
        (4, LaunchOrder(), 11),
        (4, LaunchOrder(), 14),
        (3, LaunchOrder(), 9),
        (4, LaunchOrder(cores_per_rank=2), 5),
        (4, LaunchOrder(cores_per_rank=2), 7),
        (4, LaunchOrder(ranks_per_node=3), 5),
        (4, LaunchOrder(ranks_per_node=2), 8),
    ],
)
def test_srun_starts_ranks_in_block_order(
    slurm: RealSlurm, nodes: int, order: LaunchOrder, ranks: int
) -> None:
    machine = Machine("mesh:4+node:4")
    slots = [4 * node + i for node in range(nodes) for i in range(CORES[node])]
    allocation = Allocation(machine, range(nodes), slots)
    used, words = order.select_used_slots(allocation, ranks)
    if words:
        command = words.partition(" as ")[2].partition(" does")[0]
    else:
        command = f"srun -N {nodes} -n {ranks} -c {order.cores_per_rank}"
    names = ",".join(f"n{node + 1}" for node in range(nodes))
    script = f"{command} --mpi=none sh -c '{SAY}'"
    output = slurm.run_in_job(f"-N{nodes} -w {names} --exclusive", script)
    assert list_hosts(output) == [f"n{slot // 4 + 1}" for slot in used.slots.tolist()]


@pytest.mark.parametrize("ranks", [2, 7])
def test_a_job_is_mapped_on_the_slots_that_srun_uses(
    slurm: RealSlurm, tmp_path: Path, ranks: int
) -> None:
    save_graph(tmp_path / "ring.npz", ring(ranks, 1000))
    words = ["map", "ring.npz", "--machine", "detect", "--mapper", "block"]
    mapping = shlex.join([*TOPOLOOM, *words, "-o", "x.json"])
    script = f"cd {tmp_path}; {mapping}; srun --mpi=none -n {ranks} sh -c '{SAY}'"
    output = slurm.run_in_job("-N3 -w n1,n2,n4 --exclusive", script)
    assert "ranks use" in output
    placed = load_placement(tmp_path / "x.json")
    assert placed.hosts is not None
    name = dict(zip(placed.allocation.nodes.tolist(), placed.hosts, strict=True))
    per_node = placed.machine.slots_per_node
    slots = placed.placement.slots.tolist()
    started = output[output.index("allocation") :]
    assert list_hosts(started) == [name[slot // per_node] for slot in slots]


@pytest.mark.parametrize("option", ["", "-m cyclic", "-m plane=2", "-m block:fcyclic"])
def test_a_step_says_where_its_ranks_are(slurm: RealSlurm, option: str) -> None:
    """The environment of a step, and lines of ranks, are read as the placement."""
    run = f"srun -n 9 {option} --mpi=none"
    script = (
        f"{run} -l sh -c 'echo $SLURMD_NODENAME'; echo ====; "
        f"{run} sh -c 'test $SLURM_PROCID != 0 || env'"
    )
    output = slurm.run_in_job("-N4 -w n[1-4] --exclusive", script)
    machine = Machine("mesh:4+node:4")
    slots = [4 * node + i for node in range(4) for i in range(CORES[node])]
    hosts = [f"n{node + 1}" for node in range(4)]
    job = host_placement(machine, range(4), slots, hosts)
    found = [
        LaunchFile("f", text, [each]).read_slots(job, 9).slots.tolist()
        for text, name in zip(
            output.split("====\n"), ["rank-hosts", "slurm-environment"], strict=True
        )
        for each in list_possible_formats(text)
        if each.name == name
    ]
    assert len(found) == 2
    assert found[0] == found[1]

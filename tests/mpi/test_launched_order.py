# SPDX-License-Identifier: BSD-3-Clause
"""Launchers start ranks on the nodes that `launch_order` predicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from several_hosts import SeveralHosts

from topoloom import Allocation, Machine
from topoloom.allocations.launch_order import LaunchOrder

HOSTS = ("alpha", "beta", "gamma")


@pytest.mark.parametrize(
    ("cores", "most", "ranks"),
    [
        ([4, 4, 4], None, 7),
        ([4, 1, 4], None, 7),
        ([4, 4, 4], 3, 7),
        ([4, 4, 4], 1, 3),
        ([4, 4, 4], 4, 5),
    ],
)
def test_ranks_start_on_the_predicted_nodes(
    several_hosts: SeveralHosts,
    tmp_path: Path,
    cores: list[int],
    most: int | None,
    ranks: int,
) -> None:
    hydra = several_hosts.mpi.is_hydra
    order = LaunchOrder("mpich" if hydra else "openmpi", most)
    slots = [4 * node + i for node in range(3) for i in range(cores[node])]
    allocation = Allocation(Machine("mesh:3+node:4"), range(3), slots)
    used, words = order.select_used_slots(allocation, ranks)
    file = tmp_path / "hosts"
    line = "{}:{}\n" if hydra else "{} slots={}\n"
    file.write_text("".join(map(line.format, HOSTS, cores)))
    # The message contains the launcher options.
    _, _, *options = words.partition(" as ")[2].partition(" does")[0].split()[1:]
    where = ["-f", file] if hydra else ["--hostfile", file, "--bind-to", "none"]
    located = several_hosts.locate_ranks(*where, *options, ranks=ranks)
    expected = [HOSTS[slot // 4] for slot in used.slots.tolist()]
    assert [at.host for at in located] == expected

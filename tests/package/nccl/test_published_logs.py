# SPDX-License-Identifier: BSD-3-Clause
"""Rings and trees equal those in published NCCL logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from topoloom.nccl.channels import Tree, make_ring, make_tree
from topoloom.nccl.communicator import Communicator, NodePaths, make_communicator
from topoloom.support.toml_document import read_toml

LOGS = read_toml(Path(__file__).parent / "published_logs.toml")["log"]


def make_logged_communicator(log: dict[str, Any]) -> Communicator:
    """Create the communicator of a log with equal nodes."""
    nodes, gpus = log["nodes"], log["gpus"]
    known = make_communicator(range(nodes * gpus), gpus)
    rings = log.get("rings")
    chains = log.get("chains")
    if rings is None and chains is None:
        return known
    count = len(rings or chains)
    usual = [tuple((c + i) % gpus for i in range(gpus)) for c in range(count)]
    paths = NodePaths(
        tuple(map(tuple, rings or usual)), tuple(map(tuple, chains or usual))
    )
    return Communicator(known.nodes, (paths,) * nodes, log.get("alternate", False))


def format_tree(found: Tree, rank: int) -> str:
    """Format a tree as NCCL does: children, rank, parent."""
    down = [*found.down[rank], -1, -1, -1][:3]
    return f"{'/'.join(map(str, down))}->{rank}->{found.up[rank]}"


def format_log_id(log: dict[str, Any]) -> str:
    return f"{log['nodes']}x{log['gpus']} {log['address'].rsplit('/', 3)[-1]}"


@pytest.mark.parametrize("log", LOGS, ids=format_log_id)
def test_rings_equal_published_rings(log: dict[str, Any]) -> None:
    group = make_logged_communicator(log)
    for channel, order in log.get("printed_rings", {}).items():
        assert make_ring(group, int(channel))[: len(order)] == order, channel
    around = make_ring(group, 0)
    steps = dict(zip(around, [*around[1:], around[0]], strict=True))
    for source, target in log.get("steps", []):
        assert steps[source] == target


@pytest.mark.parametrize("log", LOGS, ids=format_log_id)
def test_trees_equal_published_trees(log: dict[str, Any]) -> None:
    group = make_logged_communicator(log)
    for channel, lines in log.get("printed_trees", {}).items():
        found = make_tree(group, int(channel))
        for line in lines:
            rank = int(line.split("->")[1])
            assert format_tree(found, rank) == line, channel


def test_published_logs_cover_many_node_counts_and_sizes() -> None:
    shapes = {(log["nodes"], log["gpus"]) for log in LOGS}
    assert shapes >= {(1, 8), (2, 8), (3, 8), (4, 8), (4, 4), (3, 1), (64, 1)}

# SPDX-License-Identifier: BSD-3-Clause
"""A job with fewer ranks than slots uses the launcher's slots, or requested ones."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from topoloom import load_placement

if TYPE_CHECKING:
    from tests.conftest import Command, Outcome

NODE = """format = "topoloom-machine"
version = 1
[topology]
kind = "torus"
size = [4, 4]
[node]
levels = [6, 2]
memory_size = "96 GiB"
"""


@pytest.fixture(autouse=True)
def _write_inputs(topoloom: Command) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "5x5", "-o", "p.npz")
    Path("m.toml").write_text(NODE)


def list_nodes(mapped: Outcome, slots: int = 12) -> list[int]:
    return sorted(Counter(slot // slots for slot in mapped.json["placement"]).values())


def test_ranks_are_distributed_like_srun_distributes_them(topoloom: Command) -> None:
    where = ["-m", "torus:8x8+node:12", "--nodes", 20]
    mapped = topoloom("map", "p.npz", *where, "--json")
    assert list_nodes(mapped) == [1] * 15 + [2] * 5
    printed = topoloom("map", "p.npz", *where, "--work", 1000).out
    line = (
        "allocation  20 nodes of 12 slots: 25 ranks use 1 or 2 slots of each, "
        "as srun -N 20 -n 25 does; --ranks-per-node 12 packs them"
    )
    assert line in printed
    compared = topoloom("compare", "p.npz", *where, "--mappers", "block").out
    assert line in compared
    assert "25 ranks on 20 of 64 nodes" in compared


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        (["--ranks-per-node", 12], [8, 8, 9]),
        (["--ranks-per-node", 5], [5, 5, 5, 5, 5]),
        (["--launcher", "openmpi"], [1, 12, 12]),
        (["--launcher", "mpich", "--ranks-per-node", 10], [5, 10, 10]),
        (["--cores-per-rank", 6, "--launcher", "openmpi"], [1] + [2] * 12),
        (["--memory-per-rank", "20GiB", "--launcher", "openmpi"], [1] + [4] * 6),
    ],
)
def test_options_set_the_number_of_ranks_per_node(
    topoloom: Command, options: list[object], counts: list[int]
) -> None:
    words = ["p.npz", "-m", "m.toml", "--nodes", 16, *options, "--json"]
    assert list_nodes(topoloom("map", *words, "--mapper", "auto")) == counts
    nodes = len(counts)
    assert topoloom("judge", *words).json["nodes"] == nodes
    assert topoloom("compare", *words, "--mappers", "block").json["nodes"] == nodes
    assert topoloom("bound", *words).json["nodes"] == nodes


def test_without_an_allocation_all_slots_within_the_limits_are_free(
    topoloom: Command,
) -> None:
    plain = topoloom("map", "p.npz", "-m", "m.toml", "--mapper", "block", "--json")
    assert plain.json["placement"] == list(range(25))
    words = ["p.npz", "-m", "m.toml", "--ranks-per-node", 4]
    limited = topoloom("map", *words, "--mapper", "block", "--json").json
    assert limited["placement"] == [12 * (i // 4) + i % 4 for i in range(25)]
    assert len(limited["allocation"]["nodes"]) == 16
    assert "allocation" not in topoloom("map", *words, "--work", 10).out


def test_placements_contain_only_hosts_of_used_nodes(topoloom: Command) -> None:
    where = ["-m", "torus:8+node:4", "-a", "n5,n2,n7,n3,n0", "--ranks-per-node", 10]
    refused = topoloom("map", "p.npz", *where)
    assert refused.status == 2
    topoloom("pattern", "generate", "ring", "-n", 3, "-o", "three.npz")
    topoloom("map", "three.npz", *where[:-2], "--mapper", "block", "-o", "x.json")
    placed = load_placement("x.json")
    assert placed.hosts == ("n5", "n2", "n7")
    assert placed.placement.slots.tolist() == [20, 8, 28]
    assert topoloom("judge", "three.npz", "x.json").status == 0


def test_ranks_of_several_cores_are_bound_to_all_of_them(topoloom: Command) -> None:
    topoloom("pattern", "generate", "ring", "-n", 4, "-o", "four.npz")
    where = ["-m", "torus:4+node:3:2", "-a", "n1,n2", "--cores-per-rank", 3]
    topoloom("map", "four.npz", *where, "--mapper", "block", "-o", "x.json")
    assert load_placement("x.json").cores_per_rank == 3
    assert topoloom("export", "x.json", "--to", "openmpi-rankfile").out == (
        "rank 0=n1 slot=0-2\nrank 1=n1 slot=3-5\n"
        "rank 2=n2 slot=0-2\nrank 3=n2 slot=3-5\n"
    )
    filled = topoloom("export", "x.json", "--to", "slurm-hostfile")
    assert (filled.out, filled.err) == ("n1\nn1\nn2\nn2\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ranks-per-node", 0], "--ranks-per-node must be 1 or more, not 0"),
        (["--cores-per-rank", -1], "--cores-per-rank must be 1 or more, not -1"),
        (["--memory-per-rank", "0"], "--memory-per-rank must be 1 or more, not 0"),
        (["--memory-per-rank", "much"], "cannot read an amount of bytes 'much'"),
        (["--ranks-per-node", 13], "--ranks-per-node is 13, but only 12 fit"),
        (["--ranks-per-node", 1], "25 ranks on 16 nodes with room for 1 each"),
        (["--cores-per-rank", 7], "25 ranks on 16 nodes with room for 1 each"),
        (
            ["--cores-per-rank", 13],
            "--cores-per-rank is 13, but a node of",
        ),
        (
            ["--memory-per-rank", "97GiB"],
            "--memory-per-rank is 97 GiB, more than the 96 GiB of a node",
        ),
        (["--launcher", "slrum"], "no launcher 'slrum' (did you mean 'slurm'?)"),
    ],
)
@pytest.mark.parametrize("allocation_options", [[], ["--nodes", 16]])
def test_impossible_launch_requests_are_refused_in_one_line(
    topoloom: Command, options: list[Any], message: str, allocation_options: list[Any]
) -> None:
    outcome = topoloom("map", "p.npz", "-m", "m.toml", *allocation_options, *options)
    assert (outcome.status, outcome.out) == (2, "")
    assert re.fullmatch(r"topoloom: .*\n", outcome.err)
    assert message in outcome.err


def test_launch_limits_are_refused_for_shared_slots(topoloom: Command) -> None:
    words = ["-m", "m.toml", "--imbalance", 0.1, "--ranks-per-node", 2]
    shared = topoloom("map", "p.npz", *words, "--nodes", 2)
    assert shared.status == 2
    assert "--imbalance and --capacities cannot be combined" in shared.err
    alone = topoloom("map", "p.npz", *words, "--nodes", 16, "--json")
    assert max(list_nodes(alone)) == 2


def test_launch_options_cannot_be_combined_with_a_placement(topoloom: Command) -> None:
    topoloom("map", "p.npz", "-m", "m.toml", "--mapper", "block", "-o", "x.json")
    for command in ("judge", "bound"):
        outcome = topoloom(command, "p.npz", "x.json", "--ranks-per-node", 2)
        assert outcome.status == 2
        assert "x.json contains the slots of the job; leave out" in outcome.err


def test_the_memory_of_nodes_is_printed_and_respected(topoloom: Command) -> None:
    assert re.search(
        r"memory per node +96.0 GiB", topoloom("machine", "show", "m.toml").out
    )
    topoloom("machine", "export", "m.toml", "-o", "again.toml")
    assert 'memory_size = "96 GiB"' in Path("again.toml").read_text()
    Path("m.toml").write_text(NODE.replace("96 GiB", "0"))
    message = topoloom("machine", "show", "m.toml").err
    assert message == "topoloom: m.toml: node.memory_size must be more than 0\n"

# SPDX-License-Identifier: BSD-3-Clause
"""In rail clusters a node is a GPU, and launchers use host names."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    PlacementFile,
    judge,
    load_allocation,
)
from topoloom.allocations.allocation_file import parse_allocation
from topoloom.allocations.described_allocation import described_allocation
from topoloom.allocations.launch_order import LAUNCHERS, PJM, LaunchOrder
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import save_machine
from topoloom.nodes.host_text import parse_nodes_per_host
from topoloom.nodes.hosts import host_count, make_host_machine
from topoloom.placements.previous_slots import find_previous_slots

#: machine -> GPUs per host
RAILS = {
    "rails:8:4:2": 8,
    "rails:8:4:2,host=4": 4,
    "rails:8:4:2+down:3": 8,
    "rails:4:3:1,rails=2,host=2": 2,
    "rails:6:2:2,host=1": 1,
    "rails:2:2:2+node:3": 2,
    "dgx-h100-pod": 8,
    "nvl72-row": 4,
}
MACHINES = list(RAILS)


def load_machine(text: str) -> Machine:
    return load_machine_and_description(text)[0]


def place_on_hosts(text: str, hosts: str) -> HostPlacement:
    """Place one rank on each slot of the listed hosts, in order."""
    given = load_allocation(load_machine(text), hosts)
    nodes, slots = given.allocation.nodes, given.allocation.slots
    return host_placement(given.allocation.machine, nodes, slots, given.hosts)


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ("dgx[0-1]", "GPU 3 of host dgx0, node 3, is down; leave the host out, or "),
        ("2\n3\n", "^line 2: node 3 is down; leave it out$"),
    ],
)
def test_a_host_with_a_failed_gpu_is_refused_by_name(hosts: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        parse_allocation(Machine("rails:8:4:2+down:3"), hosts)


@pytest.mark.parametrize("text", MACHINES)
def test_a_host_is_allocated_with_all_its_gpus(text: str) -> None:
    machine = load_machine(text)
    each = RAILS[text]
    assert machine.nodes_per_host == each == parse_nodes_per_host(machine.text)
    assert host_count(machine) * each == machine.node_count
    if "down" not in text:
        given = load_allocation(machine, "dgx[1-2]")
        assert given.allocation.nodes.tolist() == list(range(each, 3 * each))
        assert given.hosts == ("dgx1",) * each + ("dgx2",) * each


@pytest.mark.parametrize("text", ["torus:4x4", "tree:4:2+node:4", "fattree:4:2,up=1:2"])
def test_without_rails_a_node_is_a_host(text: str) -> None:
    assert Machine(text).nodes_per_host == parse_nodes_per_host(text) == 1


@pytest.mark.parametrize("text", [t for t in MACHINES if "down" not in t])
def test_every_export_lists_hosts_and_not_gpus(text: str) -> None:
    placed = place_on_hosts(text, "a[0-1]")
    each = placed.slots_per_host
    assert each == RAILS[text] * placed.machine.slots_per_node
    assert placed.hosts == ["a0", "a1"]

    def export_lines(name: str) -> list[str]:
        return find_format(name).write(placed).splitlines()

    assert export_lines("slurm-hostfile") == ["a0"] * each + ["a1"] * each
    assert export_lines("hostfile") == [f"a0 slots={each}", f"a1 slots={each}"]
    assert export_lines("mpich-hostfile") == [f"a0:{each}", f"a1:{each}"]
    assert export_lines("intel-machinefile") == [f"a0:{each}", f"a1:{each}"]
    assert export_lines("flux-taskmap") == [f"[[0,2,{each},1]]"]
    assert [line.split()[:3] for line in export_lines("bindings")[1:]] == [
        [str(rank), f"a{rank // each}", str(rank % each)] for rank in range(2 * each)
    ]
    assert json.loads(export_lines("jax")[0])["devices"] == list(range(2 * each))
    if placed.machine.slots_per_node == 1:
        gpus = ",".join(map(str, range(each)))
        assert export_lines("torchrun")[1:] == [
            f"0 a0 {each} {gpus}",
            f"1 a1 {each} {gpus}",
        ]
    else:
        with pytest.raises(Error, match="one rank for each GPU"):
            export_lines("torchrun")


@pytest.mark.parametrize("text", [t for t in MACHINES if "down" not in t])
@pytest.mark.parametrize("launcher", [name for name in LAUNCHERS if name != PJM])
def test_launchers_spread_ranks_over_hosts(text: str, launcher: str) -> None:
    """The order is the same as on a tree whose nodes are the hosts."""
    machine = load_machine(text)
    each = RAILS[text] * machine.slots_per_node
    plain = Allocation(Machine(f"tree:3+node:{each}"), [0, 1, 2])
    given = load_allocation(machine, "a[0-2]").allocation
    for ranks in (1, each, each + 1, 3 * each):
        for limit in (None, 1, each):
            if limit is not None and ranks > 3 * limit:
                continue
            order = LaunchOrder(launcher, limit)
            used, words = order.select_used_slots(given, ranks)
            expected, plain_words = order.select_used_slots(plain, ranks)
            assert used.slots.tolist() == expected.slots.tolist()
            assert words.replace("host", "node") == plain_words
            nodes = set(used.slots // machine.slots_per_node)
            assert set(used.nodes.tolist()) == nodes


@pytest.mark.parametrize("text", MACHINES)
def test_inter_node_bytes_are_the_bytes_between_hosts(text: str) -> None:
    """Sum the bytes between GPUs of different hosts."""
    machine = load_machine(text)
    nodes = machine.nodes_up[: 3 * RAILS[text]]
    allocation = Allocation(machine, nodes)
    ranks = len(allocation.slots)
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, ranks, (60, 2))
    amounts = rng.integers(1, 1000, 60)
    graph = CommGraph.from_edges(ranks, pairs[:, 0], pairs[:, 1], amounts)
    placement = Placement(allocation, rng.permutation(allocation.slots))
    host = placement.slots[pairs] // (machine.slots_per_node * RAILS[text])
    crossing = host[:, 0] != host[:, 1]
    leaving = np.bincount(host[crossing, 0], amounts[crossing], host_count(machine))
    entering = np.bincount(host[crossing, 1], amounts[crossing], host_count(machine))
    found = judge(graph, allocation, placement)
    assert found.inter_node_bytes == amounts[crossing].sum()
    assert found.inter_node_max == max(leaving.max(), entering.max())


@pytest.mark.parametrize("text", ["rails:8:4:2", "rails:8:4:2,host=4"])
def test_descriptions_have_one_name_per_host(text: str, tmp_path: Path) -> None:
    machine = Machine(text)
    names = [f"gb{number:02}" for number in range(1, host_count(machine) + 1)]
    by_node = [name for name in names for _ in range(machine.nodes_per_host)]
    save_machine(tmp_path / "m.toml", machine, by_node)
    written = (tmp_path / "m.toml").read_text()
    assert f'hosts = "gb[01-{host_count(machine):02}]"' in written
    again, described = load_machine_and_description(tmp_path / "m.toml")
    assert described.hosts == tuple(by_node)
    given = load_allocation(again, "gb[02,01]", described.hosts)
    each = machine.nodes_per_host
    assert given.allocation.nodes.tolist() == [*range(each, 2 * each), *range(each)]
    (tmp_path / "wrong.toml").write_text(written.replace("gb[01-", "gb[02-"))
    with pytest.raises(Error, match=r"\d+ host names for \d+ hosts"):
        load_machine_and_description(tmp_path / "wrong.toml")


def test_a_job_can_have_part_of_a_host(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        'format = "topoloom-machine"\nversion = 1\n[topology]\nkind = "rails"\n'
        'levels = [8, 2, 1]\nhosts = "dgx[1-2]"\n'
        '[[allocation]]\nhosts = "dgx2"\nslots = "4-7"\n'
        '[[allocation]]\nhosts = "dgx1"\nslots = "0-1"\n'
    )
    given = described_allocation(*load_machine_and_description(tmp_path / "m.toml"))
    assert given.allocation.nodes.tolist() == [12, 13, 14, 15, 0, 1]
    machine = given.allocation.machine
    slots = given.allocation.slots
    placed = host_placement(machine, given.allocation.nodes, slots, given.hosts)
    assert find_format("torchrun").write(placed).splitlines()[1:] == [
        "0 dgx2 4 4,5,6,7",
        "1 dgx1 2 0,1",
    ]


@pytest.mark.parametrize("text", MACHINES)
def test_host_distances_equal_the_distances_of_their_gpus(text: str) -> None:
    machine = load_machine(text)
    hosts, each = make_host_machine(machine), RAILS[text]
    assert hosts.node_count == host_count(machine)
    up = hosts.nodes_up.tolist()[:40]
    gpus = [list(range(host * each, host * each + each)) for host in up]
    if not machine.distances_are_hops or "down" in text or len(up) < 3:
        return
    apart = {}
    for a in range(len(up)):
        for b in range(a):
            slots = machine.slots_per_node
            far = [
                machine.distance(x * slots, y * slots) for x in gpus[a] for y in gpus[b]
            ]
            apart.setdefault(hosts.distance(up[a], up[b]), set()).add(sum(far))
    ordered = [apart[key] for key in sorted(apart)]
    assert all(max(near) <= min(far) for near, far in itertools.pairwise(ordered))


def test_commands_read_and_print_host_names_of_rails(
    topoloom: Any, tmp_path: Path
) -> None:
    topoloom("pattern", "generate", "ring", "-n", "16", "-o", "r.npz")
    done = topoloom(
        "map",
        "--mapper",
        "hilbert",
        "r.npz",
        "-m",
        "rails:8:4:2",
        "--nodes",
        "2",
        "-o",
        "x.json",
    )
    assert "inter-host bytes" in done.out
    document = json.loads(Path("x.json").read_text())
    assert len(document["allocation"]["nodes"]) == 16
    assert "2 of 8 hosts" in topoloom("judge", "r.npz", "x.json").out
    done = topoloom("export", "x.json", "--to", "hostfile", "--hosts", "a,b")
    assert done.out == "a slots=8\nb slots=8\n"
    done = topoloom("export", "x.json", "--to", "hostfile", "--hosts", "a,b,c")
    assert "3 host names for an allocation of 2 hosts of 8 GPUs" in done.err
    done = topoloom("allocate", "-m", "rails:8:4:2", "--choose", "d[0,4-7]", "-N", "2")
    assert "2 of 8: d[4-5]" in done.out
    done = topoloom(
        "allocate", "-m", "rails:8:4:2", "--choose", "d[0,4-7]", "--graph", "r.npz"
    )
    assert "2 of 8: d[4-5]" in done.out
    done = topoloom(
        "map", "r.npz", "-m", "rails:8:4:2", "--allocation", "d[7-8]", "-o", "y"
    )
    assert "host d8 would be host 8" in done.err


@pytest.mark.parametrize("text", [t for t in MACHINES if "down" not in t])
def test_a_gpu_is_identified_by_host_and_index(text: str) -> None:
    """Hosts are identified by name even if their numbers change."""
    machine = load_machine(text)
    yesterday = load_allocation(machine, "a[0-1]")
    slots = yesterday.allocation.slots
    before = PlacementFile(
        machine,
        yesterday.allocation,
        Placement(yesterday.allocation, slots),
        hosts=yesterday.hosts,
    )
    today = load_allocation(machine, "b[1],a[2]").allocation
    each = RAILS[text]
    names = ["b1"] * each + ["a1"] * each
    found = find_previous_slots(before, today, names, len(slots))
    count = each * machine.slots_per_node
    assert found.tolist() == [-1] * count + list(range(2 * count, 3 * count))

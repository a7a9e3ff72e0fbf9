# SPDX-License-Identifier: BSD-3-Clause
"""Node descriptions in TOML: named levels and costs, CPUs, devices."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from topoloom import Error, Machine
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import save_machine
from topoloom.nodes.node_parts import COSTS, DEVICE_KINDS, Device, NodeParts

HEAD = """format = "topoloom-machine"
version = 1
[topology]
kind = "torus"
size = [4]
[node]
"""
SPEEDS = (
    "bandwidth=12GB/s",
    "startup=2us",
    "latency=300ns",
    "memory=90GB/s",
    "memory-startup=0.25us",
)
LEVELS = 'levels = [2, 2, 2]\nnames = ["L3", "package", "node"]\n'
GPU = '{ name = "cuda0", kind = "gpu", slots = "0-3" }'


def load_node(body: str, folder: Path) -> tuple[Machine, NodeParts]:
    file = folder / "m.toml"
    file.write_text(HEAD + body)
    machine, described = load_machine_and_description(file)
    return machine, described.node


def test_named_levels_have_default_distances(tmp_path: Path) -> None:
    machine, node = load_node(LEVELS, tmp_path)
    assert machine.text == "torus:4+node:2:2:2,distance=2:8:16:16"
    assert node.names == ("L3", "package", "node")
    costs = COSTS["L3"], COSTS["package"], COSTS["node"], COSTS["hop"]
    assert tuple(machine.distance(0, slot) for slot in (1, 2, 4, 8)) == costs


def test_changing_one_cost_changes_one_distance(tmp_path: Path) -> None:
    machine, _ = load_node(LEVELS + "costs = { package = 5 }\n", tmp_path)
    assert [machine.distance(0, slot) for slot in (1, 2, 4, 8)] == [2, 5, 16, 16]
    machine, _ = load_node(LEVELS + "costs = { hop = 100 }\n", tmp_path)
    assert [machine.distance(0, slot) for slot in (1, 2, 4, 8)] == [2, 8, 16, 100]


def test_a_level_can_have_its_own_name(tmp_path: Path) -> None:
    body = 'levels = [4, 2]\nnames = ["tile", "node"]\ncosts = { tile = 3, L2 = 2 }\n'
    assert load_node(body, tmp_path)[0].text == "torus:4+node:4:2,distance=3:16:16"


def test_distances_of_unnamed_levels_are_kept(tmp_path: Path) -> None:
    machine, node = load_node("levels = [4, 2]\ndistance = [1, 2]\n", tmp_path)
    assert machine.text == "torus:4+node:4:2,distance=1:2"
    assert node == NodeParts()


def test_cpus_and_devices_are_read(tmp_path: Path) -> None:
    body = (
        'levels = [2, 2]\ncpus = ["0,4", "1, 5", "2", "8-11"]\n'
        'devices = [\n  { name = "cuda0", kind = "gpu", slots = "2-3", numa = 1 },\n'
        '  { name = "mlx5_0", kind = "nic", slots = "0,3", pci = "0000:17:00.0" },\n]\n'
    )
    assert load_node(body, tmp_path)[1] == NodeParts(
        cpus=((0, 4), (1, 5), (2,), (8, 9, 10, 11)),
        devices=(
            Device("cuda0", "gpu", (2, 3), numa=1),
            Device("mlx5_0", "nic", (0, 3), pci="0000:17:00.0"),
        ),
    )


def test_port_costs_are_written_with_the_fewest_runs(
    tmp_path: Path,
) -> None:
    for costs, text in (
        ("[0, 8]", ",port=0:8"),
        ("[0, 0, 0, 0, 8, 8, 8, 8]", ",port=0:8"),
        ("[0, 0, 8, 0]", ",port=0:0:8:0"),
        ("[3, 3]", ",port=3"),
        ("[0, 0]", ""),
    ):
        machine, _ = load_node(f"{LEVELS}port = {costs}\n", tmp_path)
        assert machine.text == f"torus:4+node:2:2:2,distance=2:8:16:16{text}"
    machine, _ = load_node("levels = [4, 2]\nport = [0, 3]\n", tmp_path)
    assert machine.text == "torus:4+node:4:2,port=0:3"
    assert [machine.distance(a, 8) for a in (0, 4)] == [1, 4]
    assert machine.distance(4, 12) == 7


def test_the_port_has_a_bandwidth_and_a_startup_cost(
    tmp_path: Path,
) -> None:
    body = 'levels = [2]\nport = [0, 3]\nbandwidth = "12 GB/s"\nstartup = "1.5 us"\n'
    machine, _ = load_node(body, tmp_path)
    assert machine.text == "torus:4+node:2,port=0:3,bandwidth=12GB/s,startup=1.5us"
    save_machine(tmp_path / "again.toml", machine)
    assert body in (tmp_path / "again.toml").read_text()
    assert load_machine_and_description(tmp_path / "again.toml")[0].text == machine.text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LEVELS + "bandwidth = 12\n", "node.bandwidth must be a string with a unit"),
        (LEVELS + 'bandwidth = "12 us"\n', "node.bandwidth: cannot read a bandwidth"),
        (LEVELS + 'bandwidth = "0 B/s"\n', "node.bandwidth: cannot read a bandwidth"),
        (LEVELS + 'startup = "1 GB/s"\n', "node.startup: cannot read a latency"),
        (LEVELS + 'starting = "1 us"\n', "did you mean 'node.startup'?"),
        (
            LEVELS + "distance = [1, 2, 3]\n",
            "node.distance and node.names are mutually exclusive",
        ),
        (
            LEVELS + "hop_weight = 3\n",
            "node.hop_weight and node.names are mutually exclusive",
        ),
        ("levels = [2]\ncosts = { L2 = 1 }\n", "node.costs needs node.names"),
        ('levels = [2, 2]\nnames = ["L2"]\n', "node.names must have an entry for each"),
        (
            'levels = [2]\nnames = ["hop"]\n',
            "node.names: 'hop' is not the name of a level",
        ),
        ("levels = [2]\nnames = [3]\n", "node.names: 3 is not the name of a level"),
        ('levels = [2]\nnames = ["tile"]\n', "node.costs has no entry for 'tile'"),
        (LEVELS + "costs = { packages = 3 }\n", "no cost 'node.costs.packages'"),
        (
            LEVELS + "costs = { L3 = -1 }\n",
            "node.costs.L3 must be an integer, 0 or",
        ),
        (LEVELS + "costs = { L3 = true }\n", "node.costs.L3 must be an integer"),
        (LEVELS + "costs = { hop = 0 }\n", "node.costs.hop must be an integer, 1"),
        (LEVELS + "costs = 3\n", "node.costs must be a table"),
        (
            LEVELS + "costs = { package = 1 }\n",
            "node.costs: 'package' (1) is above 'L3' (2): must not cost less",
        ),
        (
            LEVELS + "port = [0, -1]\n",
            "node.port must be a list of integers, 0 or",
        ),
        (LEVELS + "port = []\n", "node.port must be a list of integers, 0 or"),
        (
            LEVELS + "port = [0, 1, 1]\n",
            "node.port has 3 entries, which must divide the 8 slots",
        ),
        ('levels = [2]\ncpus = ["0"]\n', "node.cpus has 1 entries, but a node has 2"),
        ('levels = [2]\ncpus = ["0-2", "2"]\n', "node.cpus[1]: CPU 2 also belongs to"),
        (
            'levels = [2]\ncpus = ["0", ""]\n',
            "node.cpus[1]: '' is not a list of increasing",
        ),
        (
            'levels = [1]\ncpus = ["4-2"]\n',
            "node.cpus[0]: '4-2' is not a list of increasing",
        ),
        (
            'levels = [1]\ncpus = ["16384"]\n',
            "'16384' is not a list of increasing numbers below",
        ),
        ("levels = [1]\ncpus = [0]\n", "node.cpus[0] must be a string"),
        ("levels = [4]\ndevices = [1]\n", "node.devices[0] must be a table"),
        (
            f"levels = [2]\ndevices = [{GPU}]\n",
            "node.devices[0].slots: '0-3' is not a list of increasing",
        ),
        (
            f"levels = [4]\ndevices = [{GPU}, {GPU}]\n",
            "[1]: a duplicate device 'cuda0'",
        ),
        (
            f"levels = [4]\ndevices = [{GPU.replace('gpu', 'gup')}]\n",
            "no kind of device 'gup' (did you mean 'gpu'?)",
        ),
        (
            f"levels = [4]\ndevices = [{GPU.replace('slots', 'slot')}]\n",
            "no key 'node.devices[0].slot' (did you mean",
        ),
        (
            f"levels = [4]\ndevices = [{GPU.replace('cuda0', 'cuda 0')}]\n",
            "node.devices[0].name must be one word",
        ),
    ],
)
def test_errors_in_node_tables_name_the_key(
    body: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(Error) as caught:
        load_node(body, tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/m.toml: ")


def test_the_number_of_devices_is_limited(tmp_path: Path) -> None:
    many = ", ".join(GPU.replace("cuda0", f"cuda{i}") for i in range(1025))
    with pytest.raises(Error, match=r"node\.devices names over 1024 devices"):
        load_node(f"levels = [4]\ndevices = [{many}]\n", tmp_path)


@st.composite
def draw_node(draw: st.DrawFn) -> tuple[str, NodeParts]:
    """Draw the node tables of a machine file, and the expected parts."""
    levels = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    slots = math.prod(levels)
    costs = sorted(draw(st.lists(st.integers(0, 20), min_size=3, max_size=3)))
    text = f"+node:{':'.join(map(str, levels))}"
    text += f",distance={':'.join(map(str, costs[: len(levels)]))}"
    text += draw(st.sampled_from(["", ":3"]))
    runs = draw(
        st.sampled_from([n for n in range(slots + 1) if not n or not slots % n])
    )
    port = draw(st.lists(st.integers(0, 9), min_size=runs, max_size=runs))
    text += f",port={':'.join(map(str, port))}" if port else ""
    for speed in SPEEDS:
        text += draw(st.sampled_from(["", f",{speed}"]))
    known = st.sampled_from([(), tuple(f"level{i}" for i in range(len(levels)))])
    cpus = draw(st.permutations(range(3 * slots)))
    per_slot = tuple(tuple(sorted(cpus[i::slots][:2])) for i in range(slots))
    near = st.sets(st.integers(0, slots - 1), min_size=1)
    memory_size = draw(st.sampled_from([0, 512 * 10**9, 3 * 2**30, 1025]))
    devices = tuple(
        Device(
            f"dev{i}",
            draw(st.sampled_from(DEVICE_KINDS)),
            tuple(sorted(draw(near))),
            draw(st.none() | st.integers(0, 7)),
            draw(st.sampled_from(["", "0000:17:00.0"])),
        )
        for i in range(draw(st.integers(0, 3)))
    )
    cpus_or_none = draw(st.sampled_from([(), per_slot]))
    return text, NodeParts(draw(known), cpus_or_none, devices, memory_size)


@pytest.mark.parametrize(
    "network",
    [
        "torus:1",
        "tree:3",
        "tree:2:2,distance=3:7",
        "mesh:3,nodes=2",
        "mesh:3,nodes=2,hosts=free",
        "tree:3,bandwidth=1GB/s",
    ],
)
@given(given_node=draw_node())
@settings(
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ]
)
def test_a_written_node_is_the_same_node(
    network: str, given_node: tuple[str, NodeParts], tmp_path: Path
) -> None:
    text, node = given_node
    machine = Machine(network + text)
    save_machine(tmp_path / "m.toml", machine, node=node)
    again, described = load_machine_and_description(tmp_path / "m.toml")
    assert described.node == node
    for speed in SPEEDS:
        assert (f",{speed}" in again.text) is (f",{speed}" in text)
    for speed in (
        "port_bandwidth",
        "memory_bandwidth",
        "startup",
        "node_latency",
        "memory_startup",
    ):
        assert getattr(again, speed) == getattr(machine, speed)
    save_machine(tmp_path / "again.toml", again, node=described.node)
    assert load_machine_and_description(tmp_path / "again.toml")[1] == described
    for a in range(machine.slot_count):
        for b in range(machine.slot_count):
            assert again.distance(a, b) == machine.distance(a, b)


def test_port_costs_are_written_with_unnamed_levels(
    tmp_path: Path,
) -> None:
    machine = Machine("tree:3+node:4:2,port=0:0:3:3,distance=1:2:10")
    save_machine(tmp_path / "m.toml", machine)
    again, _ = load_machine_and_description(tmp_path / "m.toml")
    assert again.text == "tree:3+node:4:2,distance=1:2:10,port=0:3"


def test_a_hop_costs_more_than_the_cores_of_an_imported_node(tmp_path: Path) -> None:
    """A single node can become part of a network by editing its description."""
    node = NodeParts(("L3", "node"))
    machine = Machine("torus:1+node:4:2,distance=2:16")
    save_machine(tmp_path / "m.toml", machine, node=node)
    text = (tmp_path / "m.toml").read_text()
    (tmp_path / "m.toml").write_text(text.replace("size = [1]", "size = [4]"))
    machine, _ = load_machine_and_description(tmp_path / "m.toml")
    within, across = machine.distance(0, 7), machine.distance(0, 8)
    assert across >= within == 16

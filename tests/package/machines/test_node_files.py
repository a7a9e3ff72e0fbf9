# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine import --node` joins files of networks and of nodes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from json_documents import check_document

from topoloom import Error, Machine
from topoloom.cli.app import run
from topoloom.machines.machine_file import (
    describe_machine,
    load_machine_and_description,
)
from topoloom.machines.node_files import replace_nodes_from_files

CONF = """SwitchName=leaf1 Nodes=cpu[1-3]
SwitchName=leaf2 Nodes=gpu[1-2]
SwitchName=core Switches=leaf[1-2]
"""
SLURM = """NodeName=cpu[1-3] Sockets=2 CoresPerSocket=4
NodeName=gpu[1-2] Sockets=1 CoresPerSocket=6 Gres=gpu:2
NodeName=login1 CPUs=2
"""
NODE = """format = "topoloom-machine"
version = 1
[topology]
kind = "torus"
size = [1]
[node]
levels = [4, 2]
names = ["L3", "package"]
cpus = ["0", "1", "2", "3", "4", "5", "6", "7"]
"""


@pytest.fixture(autouse=True)
def network_and_node_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topology.conf").write_text(CONF)
    Path("slurm.conf").write_text(SLURM)
    Path("node.toml").write_text(NODE)
    Path("bare.toml").write_text(NODE[: NODE.index("[node]")].replace("[1]", "[4]"))


def list_level_sizes(
    *nodes: str, network: str = "topology.conf"
) -> list[tuple[int, ...]]:
    described = replace_nodes_from_files(describe_machine(network), nodes)
    Machine(described.text)
    return [kind.levels.sizes for kind in described.node.types]


def test_a_network_file_and_a_node_file_are_combined() -> None:
    joined = replace_nodes_from_files(describe_machine("topology.conf"), ["node.toml"])
    node = describe_machine("node.toml").node
    assert joined.node == node
    assert joined.hosts == ("cpu1", "cpu2", "cpu3", "gpu1", "gpu2")
    assert joined.switches == ("leaf1", "leaf2", "core")
    assert "+node:4:2,distance=2:8:16" in joined.text


def test_hosts_can_have_different_node_files() -> None:
    assert list_level_sizes("gpu[1-2]=+node:6", "node.toml") == [(6,), (4, 2)]
    assert list_level_sizes("gpu[1-2]=+node:6,distance=8", "cpu[1-3]=+node:9") == [
        (6,),
        (9,),
    ]
    assert list_level_sizes("slurm.conf") == [(4, 2), (6,)]
    assert list_level_sizes("0-1,5=+node:3", "+node:2", network="torus:3x2") == [
        (3,),
        (2,),
    ]


def test_the_command_writes_a_file_that_is_read_back() -> None:
    command = [
        "machine",
        "import",
        "topology.conf",
        "--node",
        "slurm.conf",
        "-o",
        "m.toml",
    ]
    assert run(command) == 0
    joined = replace_nodes_from_files(describe_machine("topology.conf"), ["slurm.conf"])
    _, read = load_machine_and_description("m.toml")
    assert (read.text, read.hosts, read.node) == (
        joined.text,
        joined.hosts,
        joined.node,
    )
    assert read.switches == joined.switches == ("leaf1", "leaf2", "core")


def test_remarks_on_nodes_are_kept_but_not_those_on_their_network() -> None:
    reserved = SLURM.replace("CoresPerSocket=4", "CoresPerSocket=4 CoreSpecCount=2")
    Path("slurm.conf").write_text(f"{reserved}DownNodes=cpu2 State=DRAIN\n")
    network = describe_machine("topology.conf")
    joined = replace_nodes_from_files(network, ["slurm.conf"])
    kept, reserved, _, down = joined.remarks
    assert (kept,) == network.remarks
    assert reserved == "2 cores per node reserved for the system on 3 nodes"
    assert down == "1 node of DownNodes= taken as usable; use +down:"


def test_slots_are_printed_by_node_type(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["machine", "import", "topology.conf", "--node", "slurm.conf", "--json"]
    assert run(command) == 0
    facts = check_document(capsys.readouterr().out)
    assert (facts["nodes"], facts["slots"]) == (5, 3 * 8 + 2 * 6)
    assert facts["slots_per_node"] == [6, 8]
    hosts = [table["hosts"] for table in facts["node_types"]]
    assert hosts == ["cpu[1-3]", "gpu[1-2]"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (["bare.toml"], "bare.toml: has no node description"),
        (["gpu[1-3]=node.toml"], "gpu[1-3]=node.toml: the machine has"),
        (["gpu[1-2]=node.toml"], "no description of hosts cpu[1-3]; add one"),
        (["cpu1=+node:2", "cpu1=+node:4", "+node:2"], "host cpu1 is also in"),
        (["node.toml", "+node:2"], "'+node:2' and node.toml are both for all other"),
        (["gpu1=slurm.conf", "+node:2"], "the nodes of slurm.conf differ, so"),
        (["gpu1=+node:2,memory=1GB/s", "+node:2,memory=2GB/s"], "leave one out"),
        (
            ["gpu1=+node:2,distance=1:5", "+node:2,distance=1:6"],
            "a hop weighs 6, but 5",
        ),
    ],
)
def test_mismatches_of_networks_and_nodes_are_one_line(
    nodes: list[str], message: str
) -> None:
    with pytest.raises(Error, match=re.escape(message)) as caught:
        list_level_sizes(*nodes)
    assert "\n" not in str(caught.value)

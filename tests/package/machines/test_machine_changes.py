# SPDX-License-Identifier: BSD-3-Clause
"""`+node:` and `+down:` after a machine name or file."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error, load_machine
from topoloom.machines import describe_machine, load_machine_and_allocation
from topoloom.machines.machine_file import load_machine_and_description

RACK = """format = "topoloom-machine"
version = 1
[topology]
kind = "tree"
levels = [3]
hosts = "n[1-3]"
[node]
levels = [2, 2]
names = ["L3", "node"]
cpus = ["0", "1", "2", "3"]
memory_size = "64 GB"
[[allocation]]
hosts = "n[2-3]"
slots = "0-1"
"""


@pytest.fixture
def rack_file(tmp_path: Path) -> str:
    (tmp_path / "rack.toml").write_text(RACK)
    return str(tmp_path / "rack.toml")


def test_the_nodes_of_a_named_machine_can_be_replaced() -> None:
    network, _, inside = load_machine("frontier").text.partition("+node:8:8,")
    assert load_machine("frontier+node:8").text == f"{network}+node:8,{inside}"
    other = load_machine("frontier+node:4:8,distance=1:2")
    assert other.text == f"{network}+node:4:8,distance=1:2,{inside}"


def test_replaced_nodes_keep_speeds_that_are_not_given() -> None:
    before, after = (
        load_machine(text) for text in ("frontier", "frontier+node:8,startup=2us")
    )
    assert after.startup == 2e-6
    assert after.node_latency == before.node_latency > 0
    assert after.memory_bandwidth == before.memory_bandwidth > 0
    assert after.memory_startup == before.memory_startup > 0


def test_failures_precede_nodes_in_the_text() -> None:
    assert load_machine("titan+down:17").text.count("+down:17+node:") == 1


def test_nodes_of_another_size_keep_names_but_not_cpus(rack_file: str) -> None:
    machine, described = load_machine_and_description(f"{rack_file}+node:8")
    assert machine.text == "tree:3+node:8"
    assert described.hosts == ("n1", "n2", "n3")
    assert described.node.cpus == ()
    assert described.node.memory_size == 64 * 10**9
    given = load_machine_and_allocation(f"{rack_file}+node:8")
    assert given.hosts == ("n2", "n3")
    assert given.allocation.slots.tolist() == list(range(8, 24))


def test_nodes_of_the_same_size_keep_their_cpus(rack_file: str) -> None:
    machine, described = load_machine_and_description(f"{rack_file}+node:4,distance=1")
    assert machine.text == "tree:3+node:4,distance=1"
    assert len(described.node.cpus) == 4
    assert described.node.names == ()
    given = load_machine_and_allocation(f"{rack_file}+node:4,distance=1")
    assert given.allocation.slots.tolist() == [4, 5, 8, 9]


def test_failures_add_up(rack_file: str) -> None:
    Path(rack_file).write_text(RACK.partition("[[")[0] + "[down]\nnodes = [0]\n")
    assert describe_machine(f"{rack_file}+down:1").text.startswith(
        "tree:3+down:0,1+node:"
    )
    assert load_machine(f"{rack_file}+down:1+node:2").text == "tree:3+down:0,1+node:2"


def test_failed_nodes_are_host_names_or_numbers(tmp_path: Path) -> None:
    rack, dgx = tmp_path / "rack.toml", tmp_path / "dgx.toml"
    head = 'format = "topoloom-machine"\nversion = 1\n[topology]\n'
    rack.write_text(f'{head}kind = "tree"\nlevels = [6]\nhosts = "n[01-06]"\n')
    assert describe_machine(f"{rack}+down:n04,5,n[01-02]").text == "tree:6+down:3,5,0,1"
    dgx.write_text(f'{head}kind = "rails"\nlevels = [2, 2, 1]\nhosts = "d[1-2]"\n')
    assert load_machine(f"{dgx}+down:d2").nodes_up.tolist() == [0, 1]
    with pytest.raises(Error, match=r"no host n7; name nodes \(17 or a host\)"):
        load_machine(f"{rack}+down:n7")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frontie+node:8", "no machine 'frontie' \\(did you mean 'frontier'\\?\\)"),
        ("frontier+node:x", "frontier\\+node:x: .*expected a number"),
        ("frontier+node:", "frontier\\+node:: .*expected numbers"),
        ("frontier+down:v9999999", "frontier\\+down:v9999999: .*9999999"),
        ("titan+node:2+node:3", "titan\\+node:2\\+node:3: .*is not expected"),
    ],
)
def test_invalid_machine_changes_are_named(name: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        load_machine(name)


def test_a_file_name_can_contain_a_plus_sign(tmp_path: Path) -> None:
    odd = tmp_path / "a+node:2.toml"
    odd.write_text(RACK)
    assert load_machine(odd).slots_per_node == 4

# SPDX-License-Identifier: BSD-3-Clause
"""Counts and hosts exclude failed parts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from topoloom import Machine
from topoloom.allocations.described_allocation import described_allocation
from topoloom.cli.app import run
from topoloom.importers.machine_description import MachineDescription
from topoloom.machines.machine_facts import machine_facts

NETWORKS = (
    "torus:3x4",
    "tree:4:3",
    "fattree:3:4",
    "dragonfly:3x2,nodes=2",
    "hyperx:3x4",
)


@given(st.sampled_from(NETWORKS), st.sets(st.integers(0, 11), max_size=4), st.data())
def test_counts_include_only_working_nodes_slots_and_hosts(
    network: str, failed_nodes: set[int], data: st.DataObject
) -> None:
    failed = f"+down:{','.join(map(str, sorted(failed_nodes)))}" if failed_nodes else ""
    slots = data.draw(st.integers(1, 3))
    machine = Machine(f"{network}{failed}+node:{slots}")
    facts = machine_facts(machine)
    up = machine.node_count - len(failed_nodes)
    assert facts["nodes"] == up
    assert facts["slots"] == up * slots
    assert facts.get("nodes_down", 0) == len(failed_nodes)
    assert facts["links"] == sum(each["links"] for each in facts["bandwidths"])
    if facts.get("parts"):
        return
    hosts = tuple(f"n{node}" for node in range(machine.node_count))
    whole = described_allocation(machine, MachineDescription(machine.text, hosts))
    assert whole.hosts is not None
    assert [int(host[1:]) for host in whole.hosts] == whole.allocation.nodes.tolist()
    assert not failed_nodes & set(whole.allocation.nodes.tolist())


def test_the_command_prints_how_many_nodes_are_down(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["machine", "show", "torus:4x4+down:3,7+node:2"]) == 0
    printed = capsys.readouterr().out
    assert "nodes             14, 2 down\n" in printed
    assert "slots             28\n" in printed
